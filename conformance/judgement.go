package conformance

import (
	"slices"

	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

// Judgement is the verdict on one requirement in one revision, for one side.
type Judgement struct {
	Requirement *Requirement
	Revision    schemas.Revision
	Side        trace.Side
	Level       Level
	Verdict     Verdict
	Passed      int    // how often the wire showed it fulfilled
	Failed      int    // how often broken, consequences of other failures not counted
	Reason      string // why it is untested or not applicable
	Findings    []Finding
}

// Verdicts returns one judgement for every requirement that has a clause in
// revision r and binds side s, sorted by requirement.
func (l *Ledger) Verdicts(r schemas.Revision, s trace.Side) []Judgement {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := l.facts[r]
	f.Revision = r
	folded := l.fold(r)
	var js []Judgement
	for _, q := range l.catalogue.sorted {
		if q.BindsIn(r, s) {
			js = append(js, l.judge(q, s, f, folded))
		}
	}
	return js
}

func (l *Ledger) judge(q *Requirement, s trace.Side, f Facts, folded map[string][]Finding) Judgement {
	j := Judgement{Requirement: q, Revision: f.Revision, Side: s, Level: q.In[f.Revision].Level, Verdict: Untested}
	t := l.entries[entryKey{f.Revision, s, q.ID}]
	if t == nil {
		t = &entry{}
	}
	j.Passed = t.passed
	for _, g := range folded[q.ID] {
		if g.Binds == s {
			j.Findings = append(j.Findings, g)
			j.Failed += g.Count
		}
	}
	switch {
	case j.Failed > 0:
		j.Verdict = Fail
	case t.passed > 0:
		j.Verdict = Pass
	case !q.Applies(s, f):
		j.Verdict, j.Reason = NotApplicable, q.whyNot(f)
	case q.Judged == No:
		j.Reason = q.Why
	case t.failed > 0:
		j.Reason = "what was seen follows from another finding"
	case t.reason != "":
		j.Reason = t.reason
	case q.Occasion != "":
		j.Reason = "it did not come to this: " + q.Occasion
	default:
		j.Reason = "nothing on the wire exercised it"
	}
	return j
}

// whyNot says for people why q does not apply under f.
func (q *Requirement) whyNot(f Facts) string {
	if q.When != nil {
		if f.ServerCapabilities != nil && !Declares(f.ServerCapabilities, q.When.Server) {
			return "the server does not declare " + q.When.Server
		}
		if f.ClientCapabilities != nil && !Declares(f.ClientCapabilities, q.When.Client) {
			return "the client does not declare " + q.When.Client
		}
	}
	return "it belongs to another transport"
}

// Findings returns all findings, consequences folded under their causes, sorted
// by requirement, revision and side.
func (l *Ledger) Findings() []Finding {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []Finding
	for _, r := range schemas.Revisions() {
		for _, fs := range l.fold(r) {
			all = append(all, fs...)
		}
	}
	slices.SortFunc(all, func(a, b Finding) int { return compareEvidence(a.Evidence, b.Evidence) })
	return all
}

// fold returns the findings of one revision by requirement. A finding whose
// cause was itself found, on the same transport, goes under that cause; one
// whose cause was not found stands for itself.
func (l *Ledger) fold(r schemas.Revision) map[string][]Finding {
	var roots, caused []*Finding
	for k, t := range l.entries {
		if k.revision != r {
			continue
		}
		for _, f := range t.findings {
			g := *f
			if g.Cause == "" {
				roots = append(roots, &g)
			} else {
				caused = append(caused, &g)
			}
		}
	}
	byEvidence := func(a, b *Finding) int { return compareEvidence(a.Evidence, b.Evidence) }
	slices.SortFunc(roots, byEvidence)
	slices.SortFunc(caused, byEvidence)
	roots = once(roots)
	all := slices.Clone(roots)
	for _, f := range caused {
		i := slices.IndexFunc(roots, func(c *Finding) bool {
			return c.Requirement == f.Cause && c.Transport == f.Transport
		})
		if i < 0 {
			all = append(all, f)
		} else {
			roots[i].Consequences = append(roots[i].Consequences, *f)
		}
	}
	out := map[string][]Finding{}
	for _, f := range all {
		out[f.Requirement] = append(out[f.Requirement], *f)
	}
	return out
}

// once leaves one finding where a scenario's check and a rule found the same
// fault in the same event: the one that sorts first, so that the choice does
// not depend on the order in which they came.
func once(sorted []*Finding) []*Finding {
	type key struct {
		requirement, scenario string
		side                  trace.Side
		transport             trace.Transport
		event                 int64
	}
	seen := map[key]bool{}
	return slices.DeleteFunc(sorted, func(f *Finding) bool {
		k := key{f.Requirement, f.Scenario, f.Side, f.Transport, f.Event}
		double := f.Scenario != "" && f.Event != 0 && f.Count == 1 && seen[k]
		seen[k] = true
		return double
	})
}
