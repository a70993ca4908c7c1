package reports

import (
	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

// Input is what a report is made of.
type Input struct {
	Tool      string
	Subject   Subject
	Ledger    *conformance.Ledger
	Roles     []trace.Side       // the sides that were judged
	Revisions []schemas.Revision // those to report on; empty means all that the ledger knows of
	Refused   []Refusal
	Scenarios []Scenario
	Harness   []string
}

// New folds the ledger into a report. The order of everything in it follows
// from the content, so that equal ledgers give equal documents.
func New(in Input) *Report {
	r := &Report{
		Format: Format, Version: Version, Tool: in.Tool, Subject: in.Subject,
		Scores: []Score{}, Requirements: []Requirement{},
		Refused:   append([]Refusal{}, in.Refused...),
		Scenarios: append([]Scenario{}, in.Scenarios...),
		Harness:   append([]string{}, in.Harness...),
	}
	revisions := in.Revisions
	if len(revisions) == 0 {
		revisions = in.Ledger.Revisions()
	}
	for _, rev := range revisions {
		for _, side := range in.Roles {
			s := in.Ledger.Score(rev, side)
			r.Scores = append(r.Scores, Score{
				Revision: rev, Role: side, Verdict: s.Verdict, Must: count(s.Must), Should: count(s.Should),
				Missing: append([]string{}, s.Missing...),
			})
			for _, j := range in.Ledger.Verdicts(rev, side) {
				if j.Verdict != conformance.NotApplicable && j.Requirement.Judged != conformance.No {
					r.Requirements = append(r.Requirements, requirement(j))
				}
			}
		}
	}
	for _, e := range in.Ledger.Errors() {
		r.Harness = append(r.Harness, e.Error())
	}
	r.doubt()
	return r
}

// doubt takes back that anything conforms when something went wrong on our side,
// or the run was ended early: what was not seen might have failed.
func (r *Report) doubt() {
	for i := range r.Scores {
		if len(r.Harness) > 0 && r.Scores[i].Verdict == conformance.Conforms {
			r.Scores[i].Verdict = conformance.Incomplete
		}
	}
}

func count(t conformance.Tally) Count {
	return Count{Passed: t.Passed, Failed: t.Failed, Untested: t.Untested, Applicable: t.Applicable}
}

func requirement(j conformance.Judgement) Requirement {
	q := j.Requirement
	out := Requirement{
		ID: q.ID, Revision: j.Revision, Level: j.Level, Binds: q.Binds, Side: j.Side, Area: q.Area, Text: q.Text,
		Link: q.In[j.Revision].Link(j.Revision), Disputed: q.Disputed, Core: q.Core(),
		Verdict: j.Verdict, Reason: j.Reason, Passes: j.Passed, Findings: []Finding{},
	}
	for _, f := range j.Findings {
		out.Findings = append(out.Findings, finding(f, q))
	}
	return out
}

func finding(f conformance.Finding, q *conformance.Requirement) Finding {
	out := evidence(f.Evidence)
	out.Count = f.Count
	if out.Fix == "" {
		out.Fix = q.Fix
	}
	for _, e := range f.More {
		out.More = append(out.More, Place{Event: e.Event, Scenario: e.Scenario})
	}
	for _, c := range f.Consequences {
		out.Consequences = append(out.Consequences, Consequence{Requirement: c.Requirement, Detail: c.Detail, Count: c.Count})
	}
	return out
}

func evidence(e conformance.Evidence) Finding {
	return Finding{
		Detail: e.Detail, Want: e.Want, Got: e.Got, Event: e.Event, Wire: e.Wire,
		Scenario: e.Scenario, Transport: e.Transport, Cause: e.Cause, Fix: e.Fix,
	}
}
