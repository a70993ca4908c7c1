package conformance

import (
	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

// Standing is what a score comes to.
type Standing string

// The standings.
const (
	Conforms     Standing = "conforms"
	Incomplete   Standing = "incomplete"
	DoesNot      Standing = "does not conform"
	NothingKnown Standing = "untested" // no requirement was judged at all
)

// Tally counts requirements of one level, mandatory or recommended.
type Tally struct {
	Passed     int
	Failed     int
	Untested   int
	Applicable int // the sum of the three
}

// Judged is how many were passed or failed.
func (t Tally) Judged() int { return t.Passed + t.Failed }

// Score says how one side does in one revision. Disputed requirements are not
// in it.
type Score struct {
	Revision schemas.Revision
	Side     trace.Side
	Verdict  Standing
	Must     Tally // MUST and MUST NOT
	Should   Tally // SHOULD and SHOULD NOT
	Disputed int   // judged, reported, not scored
	// Missing names the core requirements that were not judged and so keep the
	// score incomplete: those at MUST that depend neither on a capability nor on
	// an occasion that a party may never give.
	Missing []string
}

// Score folds the judgements of one revision and side.
func (l *Ledger) Score(r schemas.Revision, s trace.Side) Score {
	sc := Score{Revision: r, Side: s}
	for _, j := range l.Verdicts(r, s) {
		sc.count(j)
	}
	switch {
	case sc.Must.Judged()+sc.Should.Judged() == 0:
		sc.Verdict = NothingKnown
	case sc.Must.Failed > 0:
		sc.Verdict = DoesNot
	case len(sc.Missing) > 0:
		sc.Verdict = Incomplete
	default:
		sc.Verdict = Conforms
	}
	return sc
}

func (sc *Score) count(j Judgement) {
	switch {
	case j.Verdict == NotApplicable || j.Requirement.Judged == No:
		return
	case j.Requirement.Disputed != "":
		if j.Verdict != Untested {
			sc.Disputed++
		}
		return
	}
	t := &sc.Should
	if j.Level.Mandatory() {
		t = &sc.Must
		if j.Verdict == Untested && j.Requirement.Core() {
			sc.Missing = append(sc.Missing, j.Requirement.ID)
		}
	}
	t.Applicable++
	switch j.Verdict {
	case Pass:
		t.Passed++
	case Fail:
		t.Failed++
	default:
		t.Untested++
	}
}
