package suite

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/runner"
	"github.com/mcp-conform/mcp-conform/scenarios"
)

// told is what a case or the view over all of them has to say. At most one of
// fail and skip is set.
type told struct {
	fail string // text of the failure
	skip string // why there is no verdict
	note string // what failed and does not count
}

// tell says what came of a case.
func (p *plan) tell(c runner.Case) told {
	r := p.results[c.String()]
	switch {
	case r == nil && p.refused[c.Offer] != "":
		return told{skip: fmt.Sprintf("n/a: the target does not speak %s over %s: %s", c.Offer.Revision, c.Offer.Transport, p.refused[c.Offer])}
	case r == nil && p.err != nil:
		return told{fail: "not run: " + p.err.Error()}
	case r == nil:
		return told{fail: "the run has no result for " + c.String()}
	case r.Harness != nil:
		return told{fail: "the harness broke, which says nothing of the target: " + r.Harness.Error()}
	}
	var t told
	var counts, notes []string
	for _, f := range r.Findings {
		text := p.explain(f)
		if p.counts(f) {
			counts = append(counts, text)
		} else {
			notes = append(notes, text)
		}
	}
	t.fail, t.note = strings.Join(counts, "\n"), strings.Join(notes, "\n")
	if t.fail == "" && (r.Verdict == conformance.Untested || r.Verdict == conformance.NotApplicable) {
		t.skip = string(r.Verdict) + ": " + r.Reason
	}
	return t
}

// counts reports whether a finding makes a test fail: a broken MUST does, a
// broken SHOULD on request, and a demand whose text is in dispute never.
func (p *plan) counts(f conformance.Evidence) bool {
	q, ok := p.options.Catalogue.Get(f.Requirement)
	return ok && q.Disputed == "" && (p.config.Should || q.In[f.Revision].Level.Mandatory())
}

// requirements is the view over all conversations.
func (p *plan) requirements() told {
	var fails, notes []string
	role := p.config.Target.Role
	judged := 0
	for _, r := range p.out.Ledger.Revisions() {
		score := p.out.Ledger.Score(r, role)
		judged += score.Must.Judged() + score.Should.Judged()
		for _, j := range p.out.Ledger.Verdicts(r, role) {
			for _, f := range j.Findings {
				text := p.explain(f.Evidence)
				if p.counts(f.Evidence) {
					fails = append(fails, text)
				} else {
					notes = append(notes, text)
				}
			}
		}
	}
	for _, err := range p.out.Harness {
		fails = append(fails, "the harness broke, which says nothing of the target: "+err.Error())
	}
	for _, err := range p.out.Ledger.Errors() {
		fails = append(fails, "the harness broke: "+err.Error())
	}
	if p.err != nil {
		fails = append(fails, "the run was not finished: "+p.err.Error())
	}
	if judged == 0 {
		fails = append(fails, "nothing that the specification demands was judged: no evidence, no pass")
	}
	return told{fail: strings.Join(fails, "\n"), note: strings.Join(notes, "\n")}
}

// explain tells a finding so that nothing else is needed to understand it.
func (p *plan) explain(f conformance.Evidence) string {
	q, _ := p.options.Catalogue.Get(f.Requirement)
	clause := q.In[f.Revision]
	word := "FAIL"
	switch {
	case q.Disputed != "":
		word = "NOTE"
	case !p.counts(f):
		word = "WARN"
	}
	head := []string{word}
	for _, part := range []string{f.Scenario, string(f.Revision), string(f.Transport), p.place(f)} {
		if part != "" {
			head = append(head, part)
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n      %s (%s)  %s\n", strings.Join(head, "  "), q.ID, clause.Level, q.Text)
	for _, l := range []struct{ label, text string }{
		{"what", f.Detail}, {"want", f.Want}, {"got", f.Got}, {"wire", f.Wire}, {"cause", f.Cause},
		{"spec", clause.Link(f.Revision)}, {"open", q.Disputed}, {"fix", cmp.Or(f.Fix, q.Fix)},
	} {
		if l.text != "" {
			fmt.Fprintf(&b, "      %-5s %s\n", l.label, oneLine(l.text))
		}
	}
	return b.String()
}

// place is the line of the scenario that a finding comes from, as far as it
// comes from one.
func (p *plan) place(f conformance.Evidence) string {
	i := slices.IndexFunc(p.options.Scenarios, func(s scenarios.Scenario) bool { return s.ID == f.Scenario })
	switch {
	case i < 0:
		return ""
	case f.Line == 0:
		return p.options.Scenarios[i].File
	}
	return fmt.Sprintf("%s:%d", p.options.Scenarios[i].File, f.Line)
}

// oneLine keeps what a peer wrote from moving the cursor of whoever reads it.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
}
