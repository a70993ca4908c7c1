package runner

import (
	"bytes"
	"errors"
	"io"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/onsi/gomega"
	"github.com/onsi/gomega/gleak"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/internal/peer"
	"github.com/mcp-conform/mcp-conform/scenarios"
	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

func TestBuiltinScenariosAreClean(t *testing.T) {
	o := options(t, Target{})
	var known []string
	for _, q := range o.Catalogue.All() {
		known = append(known, q.ID)
	}
	if err := scenarios.Lint(o.Scenarios, known); err != nil {
		t.Error(err)
	}
	for _, s := range o.Scenarios {
		for _, id := range s.Requirements() {
			if !stands(o.Catalogue, &s, id) {
				t.Errorf("%s: %s stands in none of the revisions and transports of the scenario, or does not bind the %s", s.File, id, s.Target)
			}
		}
	}
}

func stands(c *conformance.Catalogue, s *scenarios.Scenario, id string) bool {
	q, ok := c.Get(id)
	if !ok {
		return false
	}
	for _, r := range schemas.Revisions() {
		for _, t := range []trace.Transport{trace.Stdio, trace.StreamableHTTP, trace.HTTPSSE} {
			if s.Runs(r, t) && q.Applies(s.Target, conformance.Facts{
				Revision: r, Transports: []trace.Transport{t},
				ServerCapabilities: everything, ClientCapabilities: everything,
			}) {
				return true
			}
		}
	}
	return false
}

var everything = []byte(`{"tools":{"listChanged":true},"prompts":{},"resources":{"subscribe":true},"logging":{},"completions":{},"sampling":{},"elicitation":{},"roots":{}}`)

// mustPass runs all built-in scenarios and returns how often each has passed.
// Nothing may fail or be left untested, and the harness must be clean.
func mustPass(t *testing.T, o Options) (*Outcome, map[string]int) {
	t.Helper()
	before := gleak.Goroutines()
	out, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	gomega.NewWithT(t).Eventually(gleak.Goroutines, 5*time.Second).ShouldNot(gleak.HaveLeaked(before))
	for _, err := range out.Harness {
		t.Error(err)
	}
	for _, f := range out.Ledger.Findings() {
		if f.Binds == o.Target.Role {
			t.Errorf("finding: %+v", f)
		}
	}
	passed := map[string]int{}
	for _, r := range out.Results {
		switch r.Verdict {
		case conformance.Pass:
			passed[r.Scenario]++
		case conformance.NotApplicable:
		default:
			t.Errorf("%s %s %s: %s: %s", r.Scenario, r.Offer.Revision, r.Offer.Transport, r.Verdict, r.Reason)
		}
	}
	return out, passed
}

func TestEveryScenarioPassesOnTheReferenceServer(t *testing.T) {
	o := options(t, Target{Role: trace.Server, Builtin: true})
	total := 0
	o.Progress = func(p Progress) {
		if total++; p.Done != total || p.Total < p.Done {
			t.Errorf("progress %d of %d after %d", p.Done, p.Total, total)
		}
	}
	out, passed := mustPass(t, o)
	if len(out.Offers) != 2*len(schemas.Revisions()) || out.Subject.Name == "" || len(out.Refused) > 0 || total != len(out.Results) {
		t.Errorf("offers %v, subject %+v, refused %v, %d results", out.Offers, out.Subject, out.Refused, len(out.Results))
	}
	// Some ask for a server that speaks no revision with a handshake.
	s, err := peer.NewServer(peer.Options{Revisions: []schemas.Revision{schemas.R20260728}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	h := httptest.NewServer(s.Handler())
	defer h.Close()
	_, alone := mustPass(t, options(t, Target{Role: trace.Server, URL: h.URL + "/mcp"}))
	for _, sc := range o.Scenarios {
		if sc.Target == trace.Server && passed[sc.ID]+alone[sc.ID] == 0 {
			t.Errorf("%s has passed nowhere", sc.ID)
		}
	}
}

func TestEveryScenarioPassesOnTheReferenceClient(t *testing.T) {
	o := options(t, Target{Role: trace.Client, Builtin: true})
	out, passed := mustPass(t, o)
	if len(out.Offers) != 2*len(schemas.Revisions()) || out.Subject.Name == "" {
		t.Errorf("offers %v, subject %+v, refused %v", out.Offers, out.Subject, out.Refused)
	}
	for _, sc := range o.Scenarios {
		if sc.Target == trace.Client && passed[sc.ID] == 0 {
			t.Errorf("%s has passed nowhere", sc.ID)
		}
	}
}

func TestTheVerdictsDoNotDependOnConcurrency(t *testing.T) {
	verdicts := func(n int) []Result {
		o := options(t, Target{Role: trace.Server, Builtin: true, Faults: []string{}})
		o.Revisions = []schemas.Revision{schemas.R20251125, schemas.R20260728}
		o.Concurrency = n
		out, err := Run(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		return out.Results
	}
	one, many := verdicts(1), verdicts(16)
	if len(one) == 0 || len(one) != len(many) {
		t.Fatalf("%d and %d results", len(one), len(many))
	}
	for i := range one {
		if one[i].Scenario != many[i].Scenario || one[i].Offer != many[i].Offer || one[i].Verdict != many[i].Verdict {
			t.Errorf("%+v\n%+v", one[i], many[i])
		}
	}
}

func TestTheTraceOfARunHoldsAllEvents(t *testing.T) {
	var file bytes.Buffer
	w, err := trace.NewWriter(&file, trace.Header{Tool: "test", Made: "run"})
	if err != nil {
		t.Fatal(err)
	}
	o := options(t, Target{Role: trace.Server, Builtin: true})
	o.Revisions, o.Transports, o.Trace = []schemas.Revision{schemas.R20251125}, []trace.Transport{trace.StreamableHTTP}, w
	if _, err := Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	r, err := trace.NewReader(&file, trace.ReaderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	conns, last := map[string]bool{}, int64(0)
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e.Seq != last+1 {
			t.Fatalf("event %d comes after %d", e.Seq, last)
		}
		last = e.Seq
		if e.Kind == trace.KindClosed && e.Exchange == "" {
			conns[e.Conn] = true
		}
	}
	// One to explore, one that is shared, and one for each scenario that harms.
	if len(conns) < 5 || last < 100 {
		t.Errorf("%d events of %d connections", last, len(conns))
	}
}

func TestNoScenarioForTheRoleIsNoRun(t *testing.T) {
	o := options(t, Target{Role: trace.Server, Builtin: true})
	o.Scenarios = nil
	if _, err := Run(t.Context(), o); err == nil {
		t.Error("a run without scenarios must not look clean")
	}
}
