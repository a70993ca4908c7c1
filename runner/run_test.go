package runner

import (
	"context"
	"os"
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/scenarios"
	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

func TestSmoke(t *testing.T) {
	all, err := scenarios.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	cat, err := conformance.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	var known []string
	for _, q := range cat.All() {
		known = append(known, q.ID)
	}
	if err := scenarios.Lint(all, known); err != nil {
		t.Error(err)
	}
	set, err := schemas.Load(schemas.Options{})
	if err != nil {
		t.Fatal(err)
	}
	target := Target{Role: trace.Server, Builtin: true}
	if u := os.Getenv("SMOKE_URL"); u != "" {
		target = Target{Role: trace.Server, URL: u}
	}
	if u := os.Getenv("SMOKE_CMD"); u != "" {
		target.Builtin = false
		target.Command = []string{"sh", "-c", u}
	}
	if os.Getenv("SMOKE_CLIENT") != "" {
		target.Role = trace.Client
	}
	out, err := Run(context.Background(), Options{Target: target, Scenarios: all, Catalogue: cat, Schemas: set})
	if err != nil {
		t.Error(err)
	}
	t.Log(out.Subject, out.Offers, out.Refused, out.Harness)
	for _, h := range out.Harness {
		t.Log("HARNESS", h)
	}
	for _, f := range out.Ledger.Findings() {
		if f.Side == target.Role {
			t.Log("FINDING", f.Requirement, f.Revision, f.Transport, f.Scenario, f.Detail, "want", f.Want, "got", f.Got, f.Wire, "x", f.Count, "cause", f.Cause)
		}
	}
	for _, rev := range out.Ledger.Revisions() {
		sc := out.Ledger.Score(rev, target.Role)
		t.Logf("SCORE %+v", sc)
	}
	for _, r := range out.Results {
		t.Log(r.Verdict, r.Scenario, r.Offer.Revision, r.Offer.Transport, r.Reason)
	}
}
