package runner

import (
	"context"
	"fmt"
	"time"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/scenarios"
	"github.com/mcp-conform/mcp-conform/trace"
)

// lane is a series of scenarios under one offer that are run one after the
// other, on one connection while it lasts.
type lane struct {
	run       *run
	survey    *survey
	scenarios []*scenarios.Scenario
	conn      *conn
}

// plan makes the lanes: for each offer one for the scenarios that share a
// connection, and one for each that needs its own. What does not apply is
// reported at once.
func (r *run) plan() []*lane {
	var lanes []*lane
	var not []Result
	for _, s := range r.surveys {
		shared := &lane{run: r, survey: s}
		for i := range r.opts.Scenarios {
			sc := &r.opts.Scenarios[i]
			if sc.Target != r.opts.Target.Role || !sc.Runs(s.offer.Revision, s.offer.Transport) {
				continue
			}
			r.total++
			if why := s.lacks(sc.Needs, r.opts.Target.Role); why != "" {
				not = append(not, Result{Scenario: sc.ID, Offer: s.offer, Verdict: conformance.NotApplicable, Reason: why})
			} else if shares(sc) {
				shared.scenarios = append(shared.scenarios, sc)
			} else {
				lanes = append(lanes, &lane{run: r, survey: s, scenarios: []*scenarios.Scenario{sc}})
			}
		}
		if len(shared.scenarios) > 0 {
			lanes = append(lanes, shared)
		}
	}
	for _, res := range not {
		r.finish(res)
	}
	return lanes
}

// shares reports whether a scenario can use a connection that others have used:
// it begins by opening the conversation in the usual way, and harms nothing.
func shares(s *scenarios.Scenario) bool {
	first := s.Steps[0].Use
	return s.Target == trace.Server && !s.Fresh && first != nil && first.Capabilities == nil && first.Revision == ""
}

func (l *lane) hold(ctx context.Context) {
	for _, s := range l.scenarios {
		began := time.Now()
		v, err := l.attempt(ctx, s, l.run.limits)
		if err == nil && v.noShow && ctx.Err() == nil && !l.survey.mute {
			// What did not come may have come too late, or the connection was
			// harmed before: ask again where neither can be. Who let a long wait for
			// a list pass in silence had that time already.
			l.drop(ctx)
			patient := l.run.limits
			patient.factor *= 2
			v, err = l.attempt(ctx, s, patient)
		}
		res := Result{Scenario: s.ID, Offer: l.survey.offer, Seconds: time.Since(began).Seconds(), Harness: err}
		switch {
		case v == nil:
			res.Verdict, res.Reason = conformance.Untested, "no connection could be opened"
		default:
			res.Verdict, res.Reason = v.verdict()
			for _, e := range v.evidence {
				l.run.account(l.survey.offer, e)
			}
			if v.noShow {
				l.drop(ctx)
			}
		}
		if err != nil && ctx.Err() == nil {
			l.run.harness(fmt.Errorf("%s, %s over %s: %w", s.ID, l.survey.offer.Revision, l.survey.offer.Transport, err))
		}
		l.run.finish(res)
		if ctx.Err() != nil {
			break
		}
	}
	l.drop(ctx)
}

// attempt holds one conversation on the lane's connection, a new one if the
// last has ended.
func (l *lane) attempt(ctx context.Context, s *scenarios.Scenario, lim limits) (*conversation, error) {
	if l.conn != nil && l.conn.hasEnded() {
		l.drop(ctx)
	}
	if l.conn == nil {
		c, err := l.run.connect(ctx, l.survey.offer, s)
		if err != nil {
			return nil, err
		}
		l.conn = c
	}
	l.conn.enter(s)
	v := newConversation(s, l.conn, l.run.opts.Catalogue, lim, l.survey.vars(s.Needs))
	return v, v.run(ctx)
}

func (l *lane) drop(ctx context.Context) {
	if l.conn != nil {
		l.run.close(ctx, l.conn, true)
		l.conn = nil
	}
}
