package runner

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/scenarios"
	"github.com/mcp-conform/mcp-conform/schemas"
)

// Case is one scenario under one offer: what a run has one result for.
type Case struct {
	Scenario *scenarios.Scenario
	Offer    Offer
}

// String is the name of the case: 2025-11-25/stdio/tools.list.
func (c Case) String() string {
	return fmt.Sprintf("%s/%s/%s", c.Offer.Revision, c.Offer.Transport, c.Scenario.ID)
}

// Cases lists what a run with these options holds if the target speaks all that
// it is asked for, by revision, transport and scenario. It touches no target:
// what the target turns out not to speak has no result, and its reason stands in
// [Outcome.Refused].
func Cases(o Options) ([]Case, error) {
	if err := o.Target.check(); err != nil {
		return nil, err
	}
	revisions, transports := o.Revisions, o.Transports
	if revisions == nil {
		revisions = schemas.Revisions()
	}
	if transports == nil {
		transports = o.Target.Transports()
	}
	var all []Case
	for _, r := range revisions {
		for _, t := range transports {
			for i := range o.Scenarios {
				s := &o.Scenarios[i]
				if s.Target == o.Target.Role && s.Runs(r, t) {
					all = append(all, Case{s, Offer{r, t}})
				}
			}
		}
	}
	slices.SortFunc(all, func(a, b Case) int {
		return cmp.Or(compareOffers(a.Offer, b.Offer), cmp.Compare(a.Scenario.ID, b.Scenario.ID))
	})
	return all, nil
}

func compareOffers(a, b Offer) int {
	return cmp.Or(cmp.Compare(a.Revision, b.Revision), cmp.Compare(a.Transport, b.Transport))
}

// caseKey names a case by values.
type caseKey struct {
	scenario string
	offer    Offer
}

// mostFindings bounds what one result keeps of what failed in its conversation.
// The ledger counts all of it; a flood of different failures in one scenario is
// explained well enough by the first of them.
const mostFindings = 20

// account takes evidence over into the ledger, and what failed also into the
// result of the case in which it happened.
func (r *run) account(o Offer, e conformance.Evidence) {
	r.out.Ledger.Add(e)
	q, ok := r.opts.Catalogue.Get(e.Requirement)
	if e.Verdict != conformance.Fail || e.Scenario == "" || !ok || !q.BindsIn(e.Revision, r.opts.Target.Role) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	k := caseKey{e.Scenario, o}
	known := r.failed[k]
	if len(known) == mostFindings || slices.ContainsFunc(known, func(f conformance.Evidence) bool {
		return f.Requirement == e.Requirement && f.Detail == e.Detail && f.Want == e.Want
	}) {
		return
	}
	r.failed[k] = append(known, e)
}

// complete gives each result what failed in its conversation: what rules found as
// well as its own checks. Rules may speak long after a scenario has ended (a
// request that is never answered, a process that does not exit), so that results
// are complete only when all connections are closed.
func (r *run) complete() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.out.Results {
		res := &r.out.Results[i]
		res.Findings = r.failed[caseKey{res.Scenario, res.Offer}]
		if len(res.Findings) > 0 && res.Verdict != conformance.Fail {
			f := res.Findings[0]
			res.Verdict = conformance.Fail
			res.Reason = fmt.Sprintf("%s: want %s, got %s", f.Requirement, f.Want, f.Got)
		}
	}
	slices.SortFunc(r.out.Results, compareResults)
}
