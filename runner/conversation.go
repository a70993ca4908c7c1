package runner

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/runner/wire"
	"github.com/mcp-conform/mcp-conform/scenarios"
	"github.com/mcp-conform/mcp-conform/trace"
)

// limits are the times that a conversation may take.
type limits struct {
	answer time.Duration // the default for expect
	factor float64       // patience: scales what scenarios say
}

func (l limits) scale(d time.Duration) time.Duration { return time.Duration(float64(d) * l.factor) }

func (l limits) within(d time.Duration) time.Duration {
	if d == 0 {
		return l.scale(l.answer)
	}
	// A scenario's time is meant for a quick target; a slow one gets no less than
	// its own pace asks for.
	return max(l.scale(d), l.scale(l.answer)/4)
}

// conversation is one scenario on one connection.
type conversation struct {
	s         *scenarios.Scenario
	c         *conn
	catalogue *conformance.Catalogue
	limits    limits
	vars      scenarios.Vars
	sent      map[string]sent
	seen      map[string]*entry
	evidence  []conformance.Evidence
	line      int    // of the running step
	stopped   string // why later checks are untested
	begun     bool   // something was awaited
	noShow    bool   // an awaited event did not come: worth a second try
}

func newConversation(s *scenarios.Scenario, c *conn, cat *conformance.Catalogue, l limits, vars scenarios.Vars) *conversation {
	own := scenarios.Vars{
		scenarios.VarNonce:    jsonString(strings.ToLower(rand.Text()[:12])),
		scenarios.VarRevision: jsonString(string(c.offer.Revision)),
		scenarios.VarAlive:    jsonString(c.dress.signOfLife()),
	}
	for k, v := range vars {
		own[k] = v
	}
	return &conversation{s: s, c: c, catalogue: cat, limits: l, vars: own, sent: map[string]sent{}, seen: map[string]*entry{}}
}

// run holds the conversation. The error is the harness's own fault.
func (v *conversation) run(ctx context.Context) error {
	if v.c.used {
		v.c.journal.begin(awaited(v.s))
	}
	v.c.used = true
	defer v.c.journal.release()
	for i := range v.s.Steps {
		st := &v.s.Steps[i]
		v.line = st.Line
		if v.stopped != "" {
			v.without(st, v.s.ID+": "+v.stopped)
			continue
		}
		err := v.step(ctx, i)
		var none *noShow
		var no *refused
		switch {
		case err == nil:
		case ctx.Err() != nil: // first: the end of the run ends connections, which is nobody's fault
			v.stop(st, "the run was ended")
		case errors.As(err, &none) && v.c.us == trace.Server && v.c.hasEnded() && (st.Expect == nil || st.Expect.Reply != ""):
			v.stop(st, none.why) // a client that leaves owes no answers
		case errors.As(err, &none):
			v.fail(st, none.why)
			v.unanswered(st, none)
			v.noShow = true
		case errors.As(err, &no):
			v.stop(st, no.why)
		case errors.Is(err, wire.ErrClosed), errors.Is(err, wire.ErrNoExchange), errors.Is(err, wire.ErrNoEventID):
			v.stop(st, err.Error())
			v.noShow = true
		default:
			v.stop(st, "the harness broke")
			return fmt.Errorf("%s:%d: %w", v.s.File, st.Line, err)
		}
	}
	if v.c.us == trace.Server {
		v.c.journal.release()
		v.c.quiet(ctx, v.limits.scale(lingering), v.limits.scale(startLimit))
	}
	return nil
}

// awaited counts the requests that steps expect, by method.
func awaited(s *scenarios.Scenario) map[string]int {
	n := map[string]int{}
	for _, st := range s.Steps {
		if st.Expect != nil && st.Expect.Request != "" {
			n[st.Expect.Request]++
		}
	}
	return n
}

func (v *conversation) step(ctx context.Context, i int) error {
	st := &v.s.Steps[i]
	switch {
	case st.Use != nil:
		return v.use(ctx, st)
	case st.Send != nil:
		return v.send(ctx, st.Send)
	case st.Expect != nil:
		return v.expect(ctx, st, i)
	case st.Absent != nil:
		return v.absent(ctx, st)
	case st.Walk != nil:
		return v.walk(ctx, st)
	}
	return v.do(ctx, st)
}

// use opens the conversation, unless a shared connection is open already.
func (v *conversation) use(ctx context.Context, st *scenarios.Step) error {
	proposal, err := v.vars.ExpandText(st.Use.Revision)
	if err != nil {
		return err
	}
	if !v.c.dress.open {
		if v.c.us == trace.Client {
			err = v.c.handshake(ctx, st.Use.Capabilities, proposal, v.limits.within(0))
		} else {
			err = v.c.met(ctx, v.limits.scale(startLimit), v.c.ready)
		}
		if err != nil {
			return err
		}
		v.c.dress.open = true
	}
	v.vars[scenarios.VarRevision] = jsonString(string(v.c.dress.revision))
	v.pass(st, v.c.opened)
	if v.c.opened == nil {
		return nil
	}
	return v.look(st, v.c.opened, v.c.opened.Data)
}

func (v *conversation) expect(ctx context.Context, st *scenarios.Step, i int) error {
	p := st.Expect
	limit := v.limits.within(p.Within)
	if v.c.us == trace.Server && !v.begun {
		limit = v.limits.scale(startLimit) // a client has to start first
	}
	v.begun = true
	x, err := v.c.wait(ctx, limit, describe(p), v.matcher(p), v.hopeless(p))
	if _, missing := errors.AsType[*noShow](err); missing && p.Optional {
		v.without(st, v.s.ID+": the specification does not demand "+describe(p))
		return nil
	}
	if err != nil {
		return err
	}
	if p.As != "" {
		v.seen[p.As] = x
	}
	doc := json.RawMessage(x.Data)
	switch {
	case p.HTTP != "":
		doc = v.c.response(ctx, x, v.limits.within(p.Within))
	case p.Closed:
		doc = endView(x.End)
	}
	// What matches "*" is not reserved, so that manners may have been quicker.
	if p.Request != "" && !v.repliesLater(p.As, i) && v.c.journal.answer(x) {
		if err := v.c.behave(ctx, x); err != nil {
			return err
		}
	}
	if p.Assume != nil {
		o, err := (&scenarios.Check{Like: p.Assume}).Apply(doc, v.vars)
		if err != nil {
			return fmt.Errorf("assume: %w", err)
		}
		if !o.OK {
			v.stop(st, "the answer is permitted and leads elsewhere: "+excerpt(doc))
			return nil
		}
	}
	v.pass(st, x)
	return v.look(st, x, doc)
}

// repliesLater reports whether a later step answers the request with that label.
func (v *conversation) repliesLater(label string, i int) bool {
	for _, st := range v.s.Steps[i+1:] {
		if label != "" && st.Send != nil && st.Send.Reply == label {
			return true
		}
	}
	return false
}

// absent watches until the time is over and fails when the pattern shows.
func (v *conversation) absent(ctx context.Context, st *scenarios.Step) error {
	p := st.Absent
	// Impatience must not make a pass: what is watched for gets its time.
	x, err := v.c.wait(ctx, max(p.For, v.limits.scale(p.For)), describe(p), v.matcher(p), v.gone)
	if x != nil {
		e := v.shows(x)
		e.Verdict, e.Detail, e.Want, e.Got = conformance.Fail, describe(p)+" came", "nothing", excerpt(x.Data)
		v.say(st.Req, e)
		return nil
	}
	none, missing := errors.AsType[*noShow](err)
	switch {
	case !missing:
		return err
	case v.c.us == trace.Client && v.c.hasEnded():
		// A server that is gone is silent and proves nothing by it. A client may
		// just have left, which is as good as saying nothing more.
		v.stop(st, none.why)
		v.noShow = true
	default:
		v.pass(st, nil)
	}
	return nil
}

// walk follows nextCursor from page to page (server/utilities/pagination: the
// list ends with the page that has none).
func (v *conversation) walk(ctx context.Context, st *scenarios.Step) error {
	const most = 200 // pages; a list that has no end is cut off here
	params, err := v.vars.Expand(st.Walk.Params)
	if err != nil {
		return err
	}
	if len(params) == 0 {
		params = nil
	}
	for range most {
		s, err := v.c.request(ctx, st.Walk.Call, params)
		if err != nil {
			return err
		}
		x, err := v.c.reply(ctx, s, v.limits.within(st.Walk.Within))
		if err != nil {
			return err
		}
		if st.Walk.As != "" {
			v.seen[st.Walk.As] = x
		}
		if err := v.look(st, x, x.Data); err != nil {
			return err
		}
		var more bool
		if params, more = nextPage(params, x.msg.Result, v.c.dress.revision); !more {
			v.pass(st, x)
			return nil
		}
	}
	v.stopped = fmt.Sprintf("%s had not come to an end after %d pages", st.Walk.Call, most)
	return nil
}

func (v *conversation) do(ctx context.Context, st *scenarios.Step) error {
	if st.Do == scenarios.Ping {
		x, err := v.c.alive(ctx, v.limits.within(0))
		if err == nil {
			v.pass(st, x)
		}
		return err
	}
	act := wire.Act{Do: map[scenarios.Action]wire.Action{
		scenarios.Listen: wire.Listen, scenarios.Drop: wire.Drop, scenarios.Resume: wire.Resume,
		scenarios.EndSession: wire.EndSession, scenarios.CloseStdin: wire.CloseStdin, scenarios.Signal: wire.Terminate,
	}[st.Do], HTTP: &wire.HTTP{}}
	v.c.dress.sessionHeaders(act.HTTP)
	out := sent{bare: true}
	err := v.c.act(false, &out, func() (string, error) { return v.c.wire.Do(ctx, act) })
	if st.As != "" {
		v.sent[st.As] = out
	}
	if errors.Is(err, wire.ErrUnsupported) {
		return &refused{string(st.Do) + " is not possible over " + string(v.c.offer.Transport)}
	}
	if err == nil {
		v.pass(st, nil)
	}
	return err
}

// look makes the step's checks and captures on what it matched.
func (v *conversation) look(st *scenarios.Step, x *entry, doc json.RawMessage) error {
	for _, c := range st.Checks {
		o, err := c.Apply(doc, v.vars)
		if err != nil {
			return fmt.Errorf("check at line %d: %w", c.Line, err)
		}
		e := v.shows(x)
		e.Verdict, e.Want, e.Got, e.Line = conformance.Pass, o.Want, o.Got, c.Line
		if !o.OK {
			e.Verdict = conformance.Fail
			e.Detail = v.s.Title
		}
		v.say(c.Req, e)
	}
	for name, pointer := range st.Capture {
		val, ok := scenarios.Lookup(doc, pointer)
		if !ok {
			v.stop(st, fmt.Sprintf("there is nothing at %s to capture", pointer))
			return nil
		}
		v.vars[name] = val
	}
	return nil
}
