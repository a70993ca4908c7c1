package runner

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/scenarios"
	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

// say adds evidence on a requirement, if it applies to this conversation.
func (v *conversation) say(req string, e conformance.Evidence) {
	if req == "" {
		return
	}
	r, ok := v.catalogue.Get(req)
	if ok {
		if _, stands := r.In[v.c.dress.revision]; !stands {
			return
		}
		if len(r.Transports) > 0 && !slices.Contains(r.Transports, v.c.offer.Transport) {
			return
		}
	}
	e.Requirement = req
	e.Side = v.s.Target
	e.Revision = v.c.dress.revision
	e.Transport = v.c.offer.Transport
	e.Scenario = v.s.ID
	e.Line = cmp.Or(e.Line, v.line)
	v.evidence = append(v.evidence, e)
}

// shows begins evidence with the event that shows it.
func (v *conversation) shows(x *entry) conformance.Evidence {
	if x == nil {
		return conformance.Evidence{}
	}
	w := excerpt(x.Data)
	if x.HTTP != nil {
		w = fmt.Sprintf("HTTP %d", x.HTTP.Status)
	}
	arrow := "-> "
	if x.From == trace.Server {
		arrow = "<- "
	}
	return conformance.Evidence{Event: x.Seq, Wire: arrow + w}
}

// pass says that the step itself was the check and that it went well.
func (v *conversation) pass(st *scenarios.Step, x *entry) {
	e := v.shows(x)
	e.Verdict = conformance.Pass
	v.say(st.Req, e)
}

// fail ends the scenario: what the step awaited did not come.
func (v *conversation) fail(st *scenarios.Step, why string) {
	v.stopped = why
	v.without(&scenarios.Step{Checks: st.Checks}, v.s.ID+": "+why)
	v.say(st.Req, conformance.Evidence{
		Verdict: conformance.Fail, Detail: v.s.Title, Want: awaitedBy(st), Got: why, Cause: v.cause(),
	})
}

// unanswered says that a request of the harness was left without any answer. A
// refusal by HTTP status is an answer of its kind.
func (v *conversation) unanswered(st *scenarios.Step, none *noShow) {
	if none.refused || st.Req != "" {
		return // what the step is the check of says enough
	}
	asked := st.Do == scenarios.Ping || st.Walk != nil
	if st.Expect != nil && st.Expect.Reply != "" {
		asked = v.sent[st.Expect.Reply].called
	}
	if asked {
		v.say(requestAnswered, conformance.Evidence{
			Verdict: conformance.Fail, Detail: "a request is not answered", Want: awaitedBy(st), Got: none.why, Cause: v.cause(),
		})
	}
}

// cause is the requirement whose failure explains that an answer did not come, ""
// if none does: it could not be read, or it came with another id.
func (v *conversation) cause() string {
	if c := v.c.judge.Explains(); c != "" {
		return c
	}
	v.c.journal.mu.Lock()
	defer v.c.journal.mu.Unlock()
	if v.c.journal.find(func(x *entry) bool {
		return x.From != v.c.us && (x.msg.Kind == schemas.Result || x.msg.Kind == schemas.Error) && len(x.msg.ID) > 0 &&
			!v.c.journal.ours[schemas.IDKey(x.msg.ID)]
	}) != nil {
		return "IDS-RESPONSE-ECHO"
	}
	return ""
}

// requestAnswered is what every request is good for (JSON-RPC 2.0 section 5,
// basic/index of every revision).
const requestAnswered = "REQUEST-ANSWERED"

// stop ends the scenario without blaming the target.
func (v *conversation) stop(st *scenarios.Step, why string) {
	v.stopped = why
	v.without(st, v.s.ID+": "+why)
}

// without says that a step's checks could not be made.
func (v *conversation) without(st *scenarios.Step, why string) {
	v.say(st.Req, conformance.Evidence{Verdict: conformance.Untested, Detail: why})
	for _, c := range st.Checks {
		v.say(c.Req, conformance.Evidence{Verdict: conformance.Untested, Detail: why})
	}
}

func awaitedBy(st *scenarios.Step) string {
	switch {
	case st.Expect != nil:
		return describe(st.Expect)
	case st.Walk != nil:
		return "an answer to " + st.Walk.Call
	case st.Use != nil:
		return "an answer to initialize"
	}
	return "a sign of life"
}

// verdict folds the evidence of the scenario: a failure wins, and a scenario
// that proved nothing is untested.
func (v *conversation) verdict() (conformance.Verdict, string) {
	passed := false
	for _, e := range v.evidence {
		switch e.Verdict {
		case conformance.Fail:
			return conformance.Fail, fmt.Sprintf("%s: want %s, got %s", e.Requirement, e.Want, e.Got)
		case conformance.Pass:
			passed = true
		}
	}
	switch {
	case v.stopped != "":
		return conformance.Untested, v.stopped
	case !passed:
		return conformance.Untested, "no requirement of this revision and transport was exercised"
	}
	return conformance.Pass, ""
}
