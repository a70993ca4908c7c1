package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/runner/wire"
	"github.com/mcp-conform/mcp-conform/scenarios"
	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

// Options say what to run against what.
type Options struct {
	Target      Target
	Scenarios   []scenarios.Scenario
	Revisions   []schemas.Revision // nil means all
	Transports  []trace.Transport  // nil means all that the target can be spoken to over
	Catalogue   *conformance.Catalogue
	Schemas     *schemas.Set
	Concurrency int            // conversations at a time, 4 unless given
	Patience    float64        // scales every time limit, 1 unless given
	Trace       *trace.Writer  // nil keeps no trace
	Progress    func(Progress) // nil for none; never called twice at a time
}

// Progress tells what has just been done.
type Progress struct {
	Done, Total int
	Result      Result // zero while exploring
}

// run is one run in progress.
type run struct {
	opts       Options
	revisions  []schemas.Revision
	transports []trace.Transport
	reach      *reach
	open       func(context.Context, *conn, trace.Sink) (wire.Wire, error)
	recorder   *recorder
	limits     limits
	slots      chan struct{}

	mu      sync.Mutex
	out     *Outcome
	surveys []*survey
	failed  map[caseKey][]conformance.Evidence
	conns   int
	done    int
	total   int
}

// Run judges a target. The outcome is never nil: with an error it holds what
// was judged before. The error is a [*UsageError], an [*UnreachableError], a
// [*HarnessError], or that of ctx.
func Run(ctx context.Context, o Options) (*Outcome, error) {
	r, err := newRun(o)
	if err != nil {
		return r.out, err
	}
	if err := r.reach.start(ctx, r.limits.scale(startLimit)); err != nil {
		return r.out, err
	}
	err = r.judge(ctx)
	if stop := r.reach.stop(ctx); stop != nil {
		r.harness(fmt.Errorf("ending the target: %w", stop))
	}
	r.complete()
	if ctx.Err() != nil {
		r.harness(fmt.Errorf("the run was ended early: %d of %d conversations had been held", r.done, r.total))
	}
	if err == nil && o.Trace != nil && o.Trace.Err() != nil {
		err = &HarnessError{fmt.Errorf("writing the trace: %w", o.Trace.Err())}
	}
	return r.out, err
}

func newRun(o Options) (*run, error) {
	r := &run{opts: o, revisions: o.Revisions, transports: o.Transports, reach: &reach{target: o.Target}, failed: map[caseKey][]conformance.Evidence{}}
	r.open = r.reach.open
	r.out = &Outcome{Subject: Subject{Role: o.Target.Role, Where: o.Target.where()}}
	if o.Catalogue == nil || o.Schemas == nil {
		return r, &HarnessError{errors.New("a run needs a catalogue and schemas")}
	}
	r.out.Ledger = conformance.NewLedger(o.Catalogue)
	if err := o.Target.check(); err != nil {
		return r, err
	}
	if !slices.ContainsFunc(o.Scenarios, func(s scenarios.Scenario) bool { return s.Target == o.Target.Role }) {
		return r, usage("no scenario is for a %s under test: widen the selection", o.Target.Role)
	}
	if r.revisions == nil {
		r.revisions = schemas.Revisions()
	}
	if r.transports == nil {
		r.transports = o.Target.Transports()
	}
	if o.Concurrency <= 0 {
		r.opts.Concurrency = 4
	}
	if o.Patience <= 0 {
		r.opts.Patience = 1
	}
	r.slots = make(chan struct{}, r.opts.Concurrency)
	r.recorder = &recorder{writer: o.Trace}
	r.limits = limits{answer: shortestAnswer, factor: r.opts.Patience}
	r.reach.limits = r.limits
	return r, nil
}

func (r *run) judge(ctx context.Context) error {
	if err := r.discover(ctx); err != nil {
		return err
	}
	lanes := r.plan()
	r.each(len(lanes), func(i int) { lanes[i].hold(ctx) })
	return ctx.Err()
}

// each calls do for 0 to n-1, as many at a time as the run allows.
func (r *run) each(n int, do func(i int)) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			r.slots <- struct{}{}
			defer func() { <-r.slots }()
			do(i)
		})
	}
	all.Wait()
}

// harness notes an error of the harness's own.
func (r *run) harness(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.out.Harness = append(r.out.Harness, err)
}

// finish adds a result and tells the caller.
func (r *run) finish(res Result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.out.Results = append(r.out.Results, res)
	r.done++
	if r.opts.Progress != nil {
		r.opts.Progress(Progress{Done: r.done, Total: r.total, Result: res})
	}
}

// connect opens a connection for an offer, with a judge that watches it. first is
// the scenario that will be run on it, nil for none: a client may say at once
// what it awaits.
func (r *run) connect(ctx context.Context, o Offer, first *scenarios.Scenario) (*conn, error) {
	r.mu.Lock()
	r.conns++
	c := newConn(fmt.Sprintf("c%d", r.conns), r.opts.Target.Role.Peer(), o)
	r.mu.Unlock()
	if first != nil {
		c.journal.awaited = awaited(first)
	}
	r.watch(c)
	w, err := r.open(ctx, c, r.recorder.sink(c))
	if err != nil {
		return nil, fmt.Errorf("opening a connection: %w", err)
	}
	c.wire = w
	c.attend(ctx)
	return c, nil
}

// close ends a connection. What its judge found counts if the offer stands.
func (r *run) close(ctx context.Context, c *conn, counts bool) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closing)
	defer cancel()
	if err := c.close(ctx); err != nil {
		r.harness(fmt.Errorf("closing connection %s: %w", c.id, err))
	}
	if counts {
		r.verdicts(c)
	}
}

func compareResults(a, b Result) int {
	return cmp.Or(cmp.Compare(a.Scenario, b.Scenario), compareOffers(a.Offer, b.Offer))
}
