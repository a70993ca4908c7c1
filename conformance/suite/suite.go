// Package suite is the conformance test for Go projects: the scenarios of this
// module as ginkgo specs or as plain subtests, one a case, over the same engine
// that the binary uses.
//
//	var _ = suite.Describe(suite.Config{
//		Target: runner.Target{Role: trace.Server, Command: []string{"./my-server"}},
//	})
//
// or, without ginkgo,
//
//	func TestConformance(t *testing.T) {
//		suite.Test(t, suite.Config{Target: runner.Target{Role: trace.Server, URL: "http://localhost:8080/mcp"}})
//	}
//
// # One case, one spec
//
// A case is a scenario in one revision over one transport. It fails when one of
// the scenario's own checks fails or a rule finds something in the conversation;
// the text of the failure stands alone. What is only recommended is logged, and
// fails on request ([Config.Should]). What the target does not offer or declare
// is skipped with the reason, and so is what proved nothing: a skip is no pass.
// Behind the cases stands one more, "requirements": the view over all
// conversations, which fails for each MUST that failed anywhere, when the harness
// broke, and when nothing was judged at all.
//
// # Run first, tell afterwards
//
// The whole plan is run once, before the first case, and each case then tells
// its result. That is the simplest way that keeps what makes a run cheap and its
// verdicts sound: scenarios share connections, so that a process is not started
// for each; rules speak when a connection ends, long after the scenario that
// they speak of; and the engine bounds what goes on at the same time. It follows
// that a spec's own time says nothing (the measured seconds stand in its report),
// and that filters of ginkgo or go test choose what is told but not what is run:
// to run less, say so in [Config].
//
// The specs are known before anything runs, as ginkgo demands, from scenarios,
// revisions and transports. The container is ordered, so that ginkgo keeps it on
// one process when it runs in parallel: one run, not one for each process.
//
// This is the only package that knows ginkgo; nothing that ends up in the binary
// may import it.
package suite

import (
	"context"
	"errors"
	"fmt"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/runner"
	"github.com/mcp-conform/mcp-conform/scenarios"
	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

// Config says what to test. Only Target is needed.
type Config struct {
	Target     runner.Target
	Revisions  []schemas.Revision // nil means all
	Transports []trace.Transport  // nil means all that the target can be spoken to over
	// Scenarios narrows what is said to the target. The role is the target's. A
	// filter that takes nothing is an error.
	Scenarios scenarios.Filter
	// Should makes broken SHOULDs fail, which are only logged otherwise.
	Should      bool
	Concurrency int           // conversations at a time, 4 unless given
	Patience    float64       // scales every time limit, 1 unless given
	Trace       *trace.Writer // nil keeps no trace
}

// plan is a configured suite before, and after, its one run.
type plan struct {
	config  Config
	options runner.Options
	cases   []runner.Case

	out     *runner.Outcome
	err     error // what ended the run early
	results map[string]*runner.Result
	refused map[runner.Offer]string
}

// newPlan loads what to run and lists the cases; it touches no target.
func newPlan(c Config) (*plan, error) {
	all, err := scenarios.Builtin()
	if err != nil {
		return nil, err
	}
	catalogue, err := conformance.Builtin()
	if err != nil {
		return nil, err
	}
	set, err := schemas.Load(schemas.Options{})
	if err != nil {
		return nil, err
	}
	f := c.Scenarios
	f.Role = c.Target.Role
	if all, err = scenarios.Select(all, f); err != nil {
		return nil, err
	}
	p := &plan{config: c, options: runner.Options{
		Target: c.Target, Scenarios: all, Revisions: c.Revisions, Transports: c.Transports,
		Catalogue: catalogue, Schemas: set, Concurrency: c.Concurrency, Patience: c.Patience, Trace: c.Trace,
	}}
	if p.cases, err = runner.Cases(p.options); err != nil {
		return nil, err
	}
	if len(p.cases) == 0 {
		return nil, errors.New("no scenario is meant for these revisions and transports: widen them or the filter")
	}
	return p, nil
}

// run holds all conversations. The error says that there is nothing to tell;
// what ended a run early otherwise is told by the cases that it left out.
func (p *plan) run(ctx context.Context) error {
	p.out, p.err = runner.Run(ctx, p.options)
	if p.err != nil && len(p.out.Results) == 0 {
		return p.err
	}
	p.results, p.refused = map[string]*runner.Result{}, map[runner.Offer]string{}
	for i := range p.out.Results {
		r := &p.out.Results[i]
		p.results[name(r.Scenario, r.Offer)] = r
	}
	for _, r := range p.out.Refused {
		p.refused[r.Offer] = r.Reason
	}
	return nil
}

func name(scenario string, o runner.Offer) string {
	return fmt.Sprintf("%s/%s/%s", o.Revision, o.Transport, scenario)
}
