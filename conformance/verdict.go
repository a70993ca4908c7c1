// Package conformance holds what the specification demands and judges traces by it.
//
// The catalogue (requirements/*.yaml) names every demand: whom it binds, at which
// level and place in each revision, and how it can be judged. A [Judge] watches
// the events of one trace: it finds the [Session], the [Request] and the HTTP
// [Exchange] that each belongs to and shows them as an [Observation] to its
// rules. A [Rule] is a small state machine of one session that rules on some
// requirements. What it says is [Evidence]; a [Ledger] folds the evidence of any
// number of judges and scenario checks into a [Judgement] for each requirement,
// into a [Finding] for each kind of fault, and into a [Score].
//
//	c, err := conformance.Builtin()
//	l := conformance.NewLedger(c)
//	j := conformance.NewJudge(conformance.JudgeOptions{Catalogue: c, Schemas: set, Header: h, Emit: l.Add})
//	… j.Observe(event) for each event, then j.Finish()
//	for _, f := range j.Seen().Facts {
//		l.Learn(f)
//	}
//	score := l.Score(schemas.R20251125, trace.Server)
//
// Three things keep verdicts honest. No evidence, no pass: a requirement that
// nothing on the wire exercised is untested. What the capture cannot show
// (trace.Header.Lacks) is untested, with the reason. And where the text of the
// specification is silent or reads two ways there is no rule, or one that lets
// both pass: a false failure costs more than a missed one.
//
// The package knows nothing of scenarios, processes or reports.
package conformance

import (
	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

// Verdict is what is known about one requirement.
type Verdict string

// The verdicts, from the worst to the one that says least.
const (
	Fail          Verdict = "fail"
	Pass          Verdict = "pass"
	Untested      Verdict = "untested" // nothing on the wire exercised it
	NotApplicable Verdict = "n/a"      // an undeclared optional capability, another transport or revision
)

// Level is the requirement's keyword (RFC 2119).
type Level string

// The levels that are scored. MAY demands nothing and is not in the catalogue.
const (
	Must      Level = "MUST"
	MustNot   Level = "MUST NOT"
	Should    Level = "SHOULD"
	ShouldNot Level = "SHOULD NOT"
)

// Mandatory reports whether the level is MUST or MUST NOT.
func (l Level) Mandatory() bool { return l == Must || l == MustNot }

// Evidence is what one rule or one scenario step has to say about one requirement.
type Evidence struct {
	Requirement string
	// Side is who fulfilled or broke it. Empty is allowed when the requirement
	// binds one side only: the ledger fills it in.
	Side      trace.Side
	Revision  schemas.Revision
	Verdict   Verdict // Pass, Fail, or Untested with the reason in Detail
	Transport trace.Transport
	Scenario  string // id of the scenario, "" when a capture was judged
	Line      int    // in the scenario's file: the check that says it; 0 for rules
	Detail    string // one sentence: what is wrong
	Want      string // "/params/maxTokens: integer, at least 1"
	Got       string // "absent"
	Event     int64  // Seq of the event that shows it, 0 if none (something missing)
	Wire      string // excerpt of that event for people, with secrets masked
	Cause     string // the requirement whose failure explains this one; "" if it stands alone
	Fix       string // a hint, "" for the catalogue's own
}

// Finding is failed evidence kept for the report: the first of its kind in
// full, with what was seen of the same kind again and what follows from it.
type Finding struct {
	Evidence
	Binds trace.Side // the side at fault
	Count int        // how often the same finding was seen
	// More holds the next few of the same kind, so that a report can show other
	// scenarios and events.
	More []Evidence
	// Consequences are findings that this one explains: one stray line on
	// standard output is one finding, however much went wrong after it.
	Consequences []Finding
}
