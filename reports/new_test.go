package reports_test

import (
	"testing"
	"testing/fstest"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/reports"
	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

const twoDemands = `
- id: A-HOLDS
  text: A holds.
  binds: server
  in:
    2025-11-25: {level: MUST, at: basic#a}
  judged: trace
- id: B-OPEN
  text: B holds.
  binds: server
  in:
    2025-11-25: {level: MUST, at: basic#b}
  judged: trace
`

func TestNewFoldsALedger(t *testing.T) {
	cat, err := conformance.Load(fstest.MapFS{"a.yaml": {Data: []byte(twoDemands)}})
	if err != nil {
		t.Fatal(err)
	}
	l := conformance.NewLedger(cat)
	in := reports.Input{Tool: "t", Ledger: l, Roles: []trace.Side{trace.Server}, Revisions: []schemas.Revision{schemas.R20251125}}

	if s := reports.New(in).Scores[0]; s.Verdict != conformance.NothingKnown || s.Must.Passed != 0 {
		t.Errorf("an empty ledger scores %+v", s)
	}
	l.Add(conformance.Evidence{Requirement: "A-HOLDS", Revision: schemas.R20251125, Verdict: conformance.Pass})
	r := reports.New(in)
	if s := r.Scores[0]; s.Verdict != conformance.Incomplete || s.Must.Passed != 1 || s.Must.Untested != 1 || len(s.Missing) != 1 {
		t.Errorf("one of two passed scores %+v", s)
	}
	l.Add(conformance.Evidence{Requirement: "B-OPEN", Revision: schemas.R20251125, Verdict: conformance.Fail, Detail: "no", Event: 3})
	r = reports.New(in)
	if s := r.Scores[0]; s.Verdict != conformance.DoesNot || s.Must.Failed != 1 {
		t.Errorf("one broken scores %+v", s)
	}
	if q := r.Requirements[1]; q.ID != "B-OPEN" || len(q.Findings) != 1 || q.Findings[0].Event != 3 {
		t.Errorf("the finding is reported as %+v", q)
	}
	l.Add(conformance.Evidence{Requirement: "C-UNKNOWN", Revision: schemas.R20251125, Verdict: conformance.Pass})
	if r = reports.New(in); len(r.Harness) != 1 {
		t.Errorf("evidence on no requirement is reported as %v", r.Harness)
	}
}

// What conforms as far as it was seen does not, when more was to be seen.
func TestABrokenHarnessLetsNothingConform(t *testing.T) {
	cat, err := conformance.Load(fstest.MapFS{"a.yaml": {Data: []byte(twoDemands)}})
	if err != nil {
		t.Fatal(err)
	}
	l := conformance.NewLedger(cat)
	for _, id := range []string{"A-HOLDS", "B-OPEN"} {
		l.Add(conformance.Evidence{Requirement: id, Revision: schemas.R20251125, Verdict: conformance.Pass})
	}
	in := reports.Input{Tool: "t", Ledger: l, Roles: []trace.Side{trace.Server}}
	if s := reports.New(in).Scores[0]; s.Verdict != conformance.Conforms {
		t.Fatalf("without errors: %+v", s)
	}
	in.Harness = []string{"the run was ended early"}
	if s := reports.New(in).Scores[0]; s.Verdict != conformance.Incomplete || s.Must.Passed != 2 {
		t.Errorf("with one: %+v", s)
	}
}

func TestPlainTextMovesNoTerminal(t *testing.T) {
	if got := reports.Plain("a\n\tb\x1b[2J\x07\r\u202e\xff é"); got != "a\n\tb\\u001b[2J\\u0007\\u000d\\u202e\\ufffd é" {
		t.Errorf("%q", got)
	}
}
