package conformance

import (
	"slices"
	"testing"
)

// ruleCase is one trace and what the rules have to say of it; see
// script for the notation of traces and world.expect for that of verdicts.
type ruleCase struct {
	name  string
	trace string
	want  string
}

func allCases() []ruleCase {
	return slices.Concat(
		envelopeCases(), idCases(), lifecycleCases(), capabilityCases(), progressCases(), cancellationCases(),
		toolCases(), featureCases(), stdioCases(), httpCases(), statelessCases(), headerCases(), subscriptionCases(),
		inputCases(), fieldCases(), erratumCases(), streamCases(), sseCases(), paramCases(), authorizationCases(),
		elicitationCases(), samplingCases(), taskCases(), contentCases(), listCases(),
	)
}

func TestRules(t *testing.T) {
	w := newWorld(t)
	for _, c := range allCases() {
		t.Run(c.name, func(t *testing.T) {
			_, _, all := w.judge(t, c.trace)
			w.expect(t, all, c.want)
		})
	}
}

// passOnly lists requirements whose failure no trace can prove: it takes a
// scenario, because only its author knows what had to come.
func passOnly() []string {
	return []string{"LIFECYCLE-INITIALIZE-ANSWERED", "HTTP-SESSION-DELETED", "HTTP-CLIENT-POLLS"}
}

// Every requirement that a rule judges is seen passing and failing above.
func TestEveryRuleIsProven(t *testing.T) {
	w := newWorld(t)
	passed, failed := map[string]bool{}, map[string]bool{}
	for _, c := range allCases() {
		_, _, all := w.judge(t, c.trace)
		for _, e := range all {
			passed[e.Requirement] = passed[e.Requirement] || e.Verdict == Pass
			failed[e.Requirement] = failed[e.Requirement] || e.Verdict == Fail
		}
	}
	for _, id := range Ruled() {
		if !passed[id] {
			t.Errorf("no trace above makes %s pass", id)
		}
		if !failed[id] && !slices.Contains(passOnly(), id) {
			t.Errorf("no trace above makes %s fail", id)
		}
	}
}
