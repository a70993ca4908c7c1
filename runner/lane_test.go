package runner

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

const pingStep = "steps:\n  - use: open\n  - {do: ping, req: PING-ANSWERED}\n"

func TestScenariosShareAConnectionUnlessTheyMayHarmIt(t *testing.T) {
	s := &fakeServer{}
	res := judged(t, newTestRun(t, s, pingStep, "fresh: true\n"+pingStep, pingStep,
		"steps:\n  - {use: open, capabilities: {roots: {}}}\n  - {do: ping, req: PING-ANSWERED}\n"))
	for _, x := range res {
		if x.Verdict != conformance.Pass {
			t.Errorf("%+v", x)
		}
	}
	// One to explore, one shared by two, and two of their own.
	if len(res) != 4 || len(s.wires) != 4 {
		t.Errorf("%d results on %d connections", len(res), len(s.wires))
	}
	for _, w := range s.wires {
		if !w.closed {
			t.Errorf("connection %d was left open", w.number)
		}
	}
}

func TestADeadSharedConnectionIsReplaced(t *testing.T) {
	s := &fakeServer{on: reaction{"kill": func(w *fakeWire, _ schemas.Message) { w.end() }}}
	res := judged(t, newTestRun(t, s,
		"steps:\n  - use: open\n  - {do: ping, req: PING-ANSWERED}\n  - send: {notify: kill}\n", pingStep))
	if res[0].Verdict != conformance.Pass || res[1].Verdict != conformance.Pass {
		t.Errorf("%+v", res)
	}
}

func TestWhatDidNotComeIsAwaitedOnceMore(t *testing.T) {
	// The first connection that a scenario gets is deaf, the second is not.
	s := &fakeServer{on: reaction{"slow": func(w *fakeWire, m schemas.Message) {
		if w.number > 2 {
			w.answer(m)
		}
	}}}
	const ask = "steps:\n  - use: open\n  - send: {call: slow, as: p}\n  - {expect: {reply: p}, req: REQUEST-ANSWERED}\n"
	r := newTestRun(t, s, ask)
	if res := judged(t, r); res[0].Verdict != conformance.Pass || len(s.wires) != 3 {
		t.Errorf("%+v on %d connections", res, len(s.wires))
	}
	for _, f := range r.out.Ledger.Findings() {
		t.Errorf("the first attempt must not count: %+v", f)
	}
}

func TestAFailedCheckIsNotRepeated(t *testing.T) {
	s := &fakeServer{on: reaction{"ping": says(`{"jsonrpc":"2.0","id":ID,"result":{"x":1}}`)}}
	res := judged(t, newTestRun(t, s,
		"steps:\n  - use: open\n  - send: {call: ping, as: p}\n  - expect: {reply: p}\n    checks: [{req: PING-ANSWERED, at: /result, is: {}}]\n"))
	if res[0].Verdict != conformance.Fail || len(s.wires) != 2 {
		t.Errorf("%+v on %d connections", res, len(s.wires))
	}
}

func TestAStatelessConversationOverPipesBeginsWithDiscover(t *testing.T) {
	s := &fakeServer{revision: schemas.R20260728}
	res := judged(t, newTestRun(t, s, "fresh: true\nsteps:\n  - use: open\n  - send: {notify: note}\n  - {do: ping, req: DISCOVER-IMPLEMENTED}\n"))
	if res[0].Verdict != conformance.Pass || len(s.wires) != 2 {
		t.Fatalf("%+v on %d connections", res, len(s.wires))
	}
	heard := s.wires[1].heard
	if len(heard) != 3 || !strings.Contains(heard[0], "server/discover") || !strings.Contains(heard[1], `"note"`) {
		t.Errorf("the server heard %q", heard)
	}
}

func TestWhatATargetLacksMakesAScenarioNotApplicable(t *testing.T) {
	s := &fakeServer{}
	res := judged(t, newTestRun(t, s,
		"needs: {server: tools, tool: echo}\n"+pingStep, "needs: {tool: \"*\"}\n"+pingStep,
		"needs: {server: prompts}\n"+pingStep, "needs: {tool: none}\n"+pingStep, "needs: {prompt: \"*\"}\n"+pingStep,
		"needs: {session: true}\n"+pingStep, "needs: {local: true}\n"+pingStep, "needs: {alone: true}\n"+pingStep))
	for _, x := range res {
		want := conformance.NotApplicable
		if x.Scenario == "test.a" || x.Scenario == "test.b" {
			want = conformance.Pass
		}
		if x.Verdict != want || want == conformance.NotApplicable && x.Reason == "" {
			t.Errorf("%+v, want %s", x, want)
		}
	}
}

func TestListedNamesAreVariables(t *testing.T) {
	heard := make(chan string, 1)
	s := &fakeServer{on: reaction{"tools/call": func(w *fakeWire, m schemas.Message) {
		heard <- string(m.Params)
		w.answer(m)
	}}}
	judged(t, newTestRun(t, s, "needs: {tool: \"*\"}\nsteps:\n  - use: open\n  - send: {call: tools/call, as: c, params: {name: \"${tool}\"}}\n  - {expect: {reply: c}, req: PING-ANSWERED}\n"))
	if got := <-heard; got != `{"name":"echo"}` {
		t.Error(got)
	}
}

func TestDiscover(t *testing.T) {
	for name, c := range map[string]struct {
		on      reaction
		offered bool
		reason  string
	}{
		"offered":       {nil, true, ""},
		"counter-offer": {reaction{"initialize": says(`{"jsonrpc":"2.0","id":ID,"result":{"protocolVersion":"2024-11-05"}}`)}, false, "answered with version"},
		"error":         {reaction{"initialize": says(`{"jsonrpc":"2.0","id":ID,"error":{"code":1,"message":"no"}}`)}, false, `"message":"no"`},
		"death":         {reaction{"initialize": func(w *fakeWire, _ schemas.Message) { w.end() }}, false, "exit code 3"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newTestRun(t, &fakeServer{on: c.on}, pingStep)
			err := r.discover(t.Context())
			if c.offered != (err == nil) || c.offered != (len(r.out.Offers) == 1) {
				t.Fatalf("offers %v, error %v", r.out.Offers, err)
			}
			if c.offered {
				return
			}
			if _, ok := errors.AsType[*UnreachableError](err); !ok || !strings.Contains(err.Error(), c.reason) {
				t.Errorf("got %v, want %s", err, c.reason)
			}
			if len(r.out.Refused) != 1 || !strings.Contains(r.out.Refused[0].Reason, c.reason) {
				t.Errorf("refused: %+v", r.out.Refused)
			}
		})
	}
}

func TestSilenceInOneRevisionIsCutShortOnceAnotherWasAnswered(t *testing.T) {
	s := &fakeServer{on: reaction{"server/discover": says()}}
	r := newTestRun(t, s, pingStep)
	r.revisions = []schemas.Revision{schemas.R20251125, schemas.R20260728}
	r.limits.factor = 0.01 // the start limit shrinks to 600 ms, the cut to 50
	began := time.Now()
	if err := r.discover(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(r.out.Offers) != 1 || len(r.out.Refused) != 1 || !strings.Contains(r.out.Refused[0].Reason, "other revisions were answered") {
		t.Errorf("after %v: %+v", time.Since(began), r.out.Refused)
	}
}

func TestStatelessDiscoverNeedsTheRevisionInTheList(t *testing.T) {
	s := &fakeServer{revision: schemas.R20260728, on: reaction{
		"server/discover": says(`{"jsonrpc":"2.0","id":ID,"result":{"supportedVersions":["2027-01-01"],"capabilities":{}}}`)}}
	err := newTestRun(t, s, pingStep).discover(t.Context())
	if err == nil || !strings.Contains(err.Error(), "lists the versions [2027-01-01]") {
		t.Error(err)
	}
}

func TestCancellationKeepsWhatWasJudged(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s := &fakeServer{on: reaction{"stop": func(*fakeWire, schemas.Message) { cancel() }}}
	r := newTestRun(t, s, pingStep,
		"steps:\n  - use: open\n  - send: {call: stop, as: p}\n  - {expect: {reply: p, within: 1h}, req: REQUEST-ANSWERED}\n", pingStep)
	if err := r.judge(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if len(r.out.Results) != 2 || r.out.Results[0].Verdict != conformance.Pass || r.out.Results[1].Verdict != conformance.Untested {
		t.Errorf("%+v", r.out.Results)
	}
}

func TestAFaultOfTheScenarioIsAHarnessErrorAndNoVerdict(t *testing.T) {
	r := newTestRun(t, &fakeServer{}, "steps:\n  - use: open\n  - send: {call: \"${nobody}\", as: p}\n  - {expect: {reply: p}, req: REQUEST-ANSWERED}\n")
	if err := r.discover(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, l := range r.plan() {
		l.hold(t.Context())
	}
	res := r.out.Results[0]
	if res.Verdict != conformance.Untested || res.Harness == nil || len(r.out.Harness) != 1 ||
		!strings.Contains(r.out.Harness[0].Error(), "test/a.yaml:5") {
		t.Errorf("%+v %v", res, r.out.Harness)
	}
}

func TestTargetCheck(t *testing.T) {
	for name, c := range map[string]struct {
		target Target
		want   string
	}{
		"nothing":           {Target{Role: trace.Server}, "nothing to judge"},
		"no role":           {Target{Command: []string{"x"}}, "the target's role"},
		"bad URL":           {Target{Role: trace.Server, URL: "localhost:3000"}, "is no URL of a server"},
		"client with URL":   {Target{Role: trace.Client, URL: "http://x/", Command: []string{"x"}}, "takes no URL"},
		"client alone":      {Target{Role: trace.Client}, "needs a command"},
		"stdio and URL":     {Target{Role: trace.Server, URL: "http://x/", Transport: trace.Stdio}, "exclude each other"},
		"HTTP without URL":  {Target{Role: trace.Server, Command: []string{"x"}, Transport: trace.StreamableHTTP}, "needs a URL"},
		"built-in and more": {Target{Role: trace.Server, Builtin: true, URL: "http://x/"}, "takes neither"},
		"good":              {Target{Role: trace.Server, URL: "http://127.0.0.1:1/mcp"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			err := c.target.check()
			if c.want == "" && err == nil {
				return
			}
			if _, ok := errors.AsType[*UsageError](err); !ok || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

func TestWhoNeverAnswersAListIsAskedOnce(t *testing.T) {
	deaf := func(*fakeWire, schemas.Message) {}
	s := &fakeServer{on: reaction{"tools/list": deaf, "slow": deaf}}
	r := newTestRun(t, s, "steps:\n  - use: open\n  - send: {call: slow, as: p}\n  - {expect: {reply: p}, req: REQUEST-ANSWERED}\n")
	r.limits.factor = 0.001 // of a minute
	if err := r.discover(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, l := range r.plan() {
		l.hold(t.Context())
	}
	if res := r.out.Results; len(res) != 1 || res[0].Verdict != conformance.Fail || len(s.wires) != 2 {
		t.Errorf("%+v on %d connections: want one failure, one connection to explore and one to ask", res, len(s.wires))
	}
}

// What a server offers must not hang on whether it died before or after the
// harness said that the handshake is over.
func TestWhoDiesAfterTheHandshakeIsJudgedAllTheSame(t *testing.T) {
	s := &fakeServer{on: reaction{"initialize": func(w *fakeWire, m schemas.Message) {
		w.answer(m)
		w.end()
	}}}
	r := newTestRun(t, s, pingStep)
	res := judged(t, r)
	if len(res) != 1 || res[0].Verdict == conformance.Pass || len(r.out.Refused) > 0 {
		t.Errorf("%+v, refused %+v", res, r.out.Refused)
	}
	if v := verdictOf(r, "PING-ANSWERED"); v == conformance.Pass {
		t.Errorf("PING-ANSWERED: %s by who was gone", v)
	}
}

// A revision whose turn comes late, because another takes its time over a list,
// is asked as patiently as the rest.
func TestARevisionThatWaitsForItsTurnIsAskedAllTheSame(t *testing.T) {
	s := &fakeServer{on: reaction{
		"tools/list": func(*fakeWire, schemas.Message) {},
		"initialize": func(w *fakeWire, m schemas.Message) {
			v, _ := schemas.Member(m.Params, "protocolVersion")
			w.say(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":{"protocolVersion":` + string(v) + `,"capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}`)
		},
	}}
	r := newTestRun(t, s, pingStep)
	r.revisions = schemas.Revisions()[:4]
	r.slots = make(chan struct{}, 1)
	r.limits.factor = 0.01 // 600 ms for a list, 50 ms for an opening once one was answered
	if err := r.discover(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(r.surveys) != 4 {
		t.Errorf("%d of 4 revisions are offered; refused: %+v", len(r.surveys), r.out.Refused)
	}
}

// Neither must a verdict: a request that could not be sent any more was not
// answered, as little as one that was sent just before.
func TestWhoIsGoneAnswersNothingHoweverSoonItWent(t *testing.T) {
	for name, does := range map[string]reaction{
		"before the request": {"notifications/initialized": func(w *fakeWire, _ schemas.Message) { w.end() }},
		"after the request":  {"ping": func(w *fakeWire, _ schemas.Message) { w.end() }},
	} {
		t.Run(name, func(t *testing.T) {
			r := newTestRun(t, &fakeServer{on: does}, pingStep)
			if res := judged(t, r); res[0].Verdict != conformance.Fail || verdictOf(r, "PING-ANSWERED") != conformance.Fail {
				t.Errorf("%+v", res)
			}
		})
	}
}

func TestTheSilenceOfWhoIsGoneProvesNothing(t *testing.T) {
	s := &fakeServer{on: reaction{"kill": func(w *fakeWire, _ schemas.Message) { w.end() }}}
	r := newTestRun(t, s, "steps:\n  - use: open\n  - send: {notify: kill, as: n}\n  - {absent: {reply: n, for: 10ms}, req: ENVELOPE-NOTIFICATION-UNANSWERED}\n")
	if res := judged(t, r); res[0].Verdict != conformance.Untested {
		t.Errorf("%+v", res)
	}
}

func verdictOf(r *run, id string) conformance.Verdict {
	for _, j := range r.out.Ledger.Verdicts(r.revisions[0], r.opts.Target.Role) {
		if j.Requirement.ID == id {
			return j.Verdict
		}
	}
	return conformance.NotApplicable
}
