package conformance

import (
	"fmt"
	"maps"
	"slices"
)

// Rule is a state machine that watches one session and rules on some
// requirements, by calling Pass, Fail or Untested on the observation. There is
// one instance a session, so its fields are that session's state; they grow
// with what is open, not with the length of the session.
//
// A rule says nothing when an observation shows nothing: a verdict needs
// evidence, and silence never passes.
type Rule interface {
	Observe(o *Observation)
}

// stateless is a rule that remembers nothing.
type stateless func(o *Observation)

// Observe implements Rule.
func (f stateless) Observe(o *Observation) { f(o) }

// ruleEntry says which requirements a rule judges.
type ruleEntry struct {
	requirements []string
	make         func(j *Judge) Rule
	aside        bool // it looks at the exchanges of authorization as well
}

func plain(f func(o *Observation), requirements ...string) ruleEntry {
	return ruleEntry{requirements: requirements, make: func(*Judge) Rule { return stateless(f) }}
}

func stateful(make func() Rule, requirements ...string) ruleEntry {
	return ruleEntry{requirements: requirements, make: func(*Judge) Rule { return make() }}
}

// allRules lists every rule, area by area.
func allRules() []ruleEntry {
	return slices.Concat(
		envelopeRules(), schemaRules(), idRules(), lifecycleRules(), capabilityRules(), progressRules(),
		cancellationRules(), toolRules(), featureRules(), stdioRules(), httpRules(), statelessRules(),
		headerRules(), subscriptionRules(), inputRules(), streamRules(), sseRules(), paramRules(), authorizationRules(),
		elicitationRules(), samplingRules(), taskRules(), contentRules(), listRules(),
	)
}

// newRules makes the rules of a session, and names those that look at the
// exchanges of authorization as well.
func (j *Judge) newRules() (rules, aside []Rule) {
	for _, e := range allRules() {
		r := e.make(j)
		rules = append(rules, r)
		if e.aside {
			aside = append(aside, r)
		}
	}
	return rules, aside
}

// Ruled returns the requirements that the rules judge, sorted.
func Ruled() []string {
	set := map[string]bool{}
	for _, e := range allRules() {
		for _, id := range e.requirements {
			set[id] = true
		}
	}
	return slices.Sorted(maps.Keys(set))
}

// Lint holds the catalogue and the rules against each other: a requirement that
// is judged by traces needs a rule, and a rule needs its requirements.
func (c *Catalogue) Lint() []error {
	return c.lint(Ruled(), "rule", func(j Judged) bool { return j == ByTrace || j == ByBoth })
}

// LintScenarios does the same for scenarios: named holds every requirement that
// a scenario names.
func (c *Catalogue) LintScenarios(named map[string]bool) []error {
	return c.lint(slices.Sorted(maps.Keys(named)), "scenario", func(j Judged) bool { return j == ByScenario || j == ByBoth })
}

func (c *Catalogue) lint(named []string, what string, needs func(Judged) bool) []error {
	var errs []error
	have := map[string]bool{}
	for _, id := range named {
		have[id] = true
		r, ok := c.byID[id]
		if !ok {
			errs = append(errs, fmt.Errorf("a %s names the requirement %s, which is not in the catalogue: add it or correct the name", what, id))
		} else if !needs(r.Judged) {
			errs = append(errs, fmt.Errorf("%s:%d: %s says judged: %s, but a %s judges it: say so or remove it there", r.File, r.Line, id, r.Judged, what))
		}
	}
	for _, r := range c.sorted {
		if needs(r.Judged) && !have[r.ID] {
			errs = append(errs, fmt.Errorf("%s:%d: %s says judged: %s, but no %s names it: write one or correct judged", r.File, r.Line, r.ID, r.Judged, what))
		}
	}
	return errs
}
