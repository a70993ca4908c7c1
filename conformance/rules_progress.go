package conformance

import (
	"encoding/json"
	"math/big"
	"strconv"
	"strings"

	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

func progressRules() []ruleEntry {
	return []ruleEntry{
		plain(progressToken, "PROGRESS-TOKEN-TYPE", "PROGRESS-TOKEN-UNIQUE"),
		stateful(func() Rule { return &progress{} }, "PROGRESS-TOKEN-ACTIVE", "PROGRESS-INCREASES", "PROGRESS-STOPS"),
		stateful(func() Rule { return &taskProgress{tasks: map[string]*taskToken{}} }, "PROGRESS-TASK-TOKEN", "PROGRESS-TASK-STOPS"),
	}
}

// progressToken: a token is a string or integer and unique among the sender's
// active requests (basic/utilities/progress, progress flow).
func progressToken(o *Observation) {
	if !o.is(schemas.Request) {
		return
	}
	token, ok := o.param("_meta", "progressToken")
	if !ok {
		return
	}
	o.Check(token[0] == '"' || isInteger(token), "PROGRESS-TOKEN-TYPE", o.From(), Fault{
		Detail: "a progress token is neither string nor integer", Want: "/params/_meta/progressToken: string or integer", Got: got(token, true),
	})
	if broadcast(o) {
		return
	}
	unique := true
	for _, r := range o.Session.of(o.From()).open {
		if r != o.Request && r.Token != "" && r.Token == o.Request.Token && r.Key != o.Request.Key {
			unique = false
		}
	}
	o.Check(unique, "PROGRESS-TOKEN-UNIQUE", o.From(), Fault{
		Detail: "a progress token is that of another active request", Want: "/params/_meta/progressToken: another", Got: got(token, true),
	})
}

// progress: notifications name the token of an active request of the other
// side, grow, and stop with the response (basic/utilities/progress).
type progress struct {
	told   bool // progress was told for some request that is answered by now
	broken bool
}

func (p *progress) Observe(o *Observation) {
	switch {
	case o.End:
		if p.told && !p.broken {
			for _, side := range []trace.Side{trace.Client, trace.Server} {
				if p.toldBy(o.Session, side) {
					o.Pass("PROGRESS-STOPS", side)
				}
			}
		}
	case o.is(schemas.Result, schemas.Error):
		if o.Request != nil && o.Request.Told != "" {
			p.told = true
		}
	case o.is(schemas.Notification) && o.Message.Method == "notifications/progress":
		if o.Exchange == nil || !o.Exchange.resumes() { // a resumed stream repeats
			p.notified(o)
		}
	}
}

// toldBy reports whether a side told progress for a request answered lately.
func (p *progress) toldBy(s *Session, side trace.Side) bool {
	for _, r := range s.of(side.Peer()).recent {
		if r.Told != "" {
			return true
		}
	}
	return false
}

func (p *progress) notified(o *Observation) {
	token, ok := o.param("progressToken")
	if !ok {
		return
	}
	r := o.Session.of(o.From().Peer()).byToken(schemas.IDKey(token))
	switch {
	case r == nil && (o.Session.Partial || o.Lacks(trace.LackOrder)):
		o.Untested("PROGRESS-TOKEN-ACTIVE", o.From(), "the capture may not show the request that gave the token")
	case r == nil:
		o.Fail("PROGRESS-TOKEN-ACTIVE", o.From(), Fault{
			Detail: "progress is told for a token that no active request gave", Want: "/params/progressToken: that of an active request", Got: got(token, true),
		})
	case r.AnsweredAt != 0:
		p.late(o, r)
	default:
		o.Pass("PROGRESS-TOKEN-ACTIVE", o.From())
		p.grows(o, r)
	}
}

// late judges progress for a request that is answered. Between two HTTP streams
// nothing keeps the order, and for a task of 2025-11-25 the token lives on.
func (p *progress) late(o *Observation, r *Request) {
	if o.Exchange != r.Exchange || o.Lacks(trace.LackOrder) || r.task {
		return
	}
	p.broken = true
	o.Fail("PROGRESS-STOPS", o.From(), Fault{
		Detail: "progress is told after the request was answered", Want: "no progress after the response", Got: "progress for " + clip(r.Method),
	})
}

func (p *progress) grows(o *Observation, r *Request) {
	raw, ok := o.param("progress")
	if !ok || !isNumber(raw) {
		return
	}
	if r.Told != "" {
		o.Check(compareNumbers(raw, json.RawMessage(r.Told)) > 0, "PROGRESS-INCREASES", o.From(), Fault{
			Detail: "the progress value does not grow", Want: "/params/progress: more than before", Got: got(raw, true) + " after " + r.Told,
		})
	}
	r.Told = string(raw)
}

func isNumber(raw json.RawMessage) bool {
	return len(raw) > 0 && (raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9')
}

// compareNumbers compares JSON numbers: exactly where that is cheap, which is
// everywhere but for absurd exponents.
func compareNumbers(a, b json.RawMessage) int {
	if len(a) < 64 && len(b) < 64 && !strings.ContainsAny(string(a)+string(b), "eE") {
		x, ok1 := new(big.Rat).SetString(string(a))
		y, ok2 := new(big.Rat).SetString(string(b))
		if ok1 && ok2 {
			return x.Cmp(y)
		}
	}
	x, _ := strconv.ParseFloat(string(a), 64)
	y, _ := strconv.ParseFloat(string(b), 64)
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

// taskProgress: the token of a request that becomes a task lives on with it,
// until the task has come to an end (2025-11-25 basic/utilities/progress,
// behavior requirements).
type taskProgress struct {
	tasks map[string]*taskToken
}

// taskToken is what is known of one task.
type taskToken struct {
	request *Request
	told    bool      // progress was told after the task was announced
	ended   bool      // its maker has said that it is completed, failed or cancelled
	in      *Exchange // where it said so
	late    bool
}

// mostTasks bounds the tasks of one session that are followed.
const mostTasks = 1024

func (p *taskProgress) Observe(o *Observation) {
	switch {
	case o.End:
		p.end(o)
	case o.is(schemas.Result) && o.Request != nil && o.Earlier == nil:
		p.result(o)
	case o.is(schemas.Notification) && o.Message.Method == "notifications/tasks/status":
		p.status(o, o.Message.Params)
	case o.is(schemas.Notification) && o.Message.Method == "notifications/progress":
		if o.Exchange == nil || !o.Exchange.resumes() {
			p.progress(o)
		}
	}
}

func (p *taskProgress) result(o *Observation) {
	switch {
	case o.Request.became != "":
		if len(p.tasks) < mostTasks {
			p.tasks[o.Request.became] = &taskToken{request: o.Request}
		}
		task, _ := schemas.Member(o.Message.Result, "task")
		p.status(o, task)
	case o.Request.Method == "tasks/get", o.Request.Method == "tasks/cancel":
		p.status(o, o.Message.Result)
	}
}

// status takes what the maker of a task says of it.
func (p *taskProgress) status(o *Observation, task json.RawMessage) {
	t := p.tasks[textParam(task, "taskId")]
	if t == nil || t.ended || t.request.From != o.From().Peer() {
		return
	}
	switch textParam(task, "status") {
	case "completed", "failed", "cancelled":
		t.ended, t.in = true, o.Exchange
	}
}

func (p *taskProgress) progress(o *Observation) {
	token, ok := o.param("progressToken")
	if !ok {
		return
	}
	t := p.about(o, schemas.IDKey(token))
	if t == nil {
		return
	}
	t.told = true
	o.Check(t.request.Token == schemas.IDKey(token), "PROGRESS-TASK-TOKEN", o.From(), Fault{
		Detail: "progress of a task is told for another token than that of its request", Want: "/params/progressToken: that of the request", Got: got(token, true),
	})
	if t.ended && t.in == o.Exchange && !o.Lacks(trace.LackOrder) { // between two HTTP streams nothing keeps the order
		t.late = true
		o.Fail("PROGRESS-TASK-STOPS", o.From(), Fault{
			Detail: "progress is told for a task that has ended", Want: "no progress", Got: "progress for " + clip(t.request.Method),
		})
	}
}

// about finds the task that progress is told of: the one that it names, or the
// one to which its token belongs.
func (p *taskProgress) about(o *Observation, token string) *taskToken {
	if id, ok := o.param("_meta", "io.modelcontextprotocol/related-task", "taskId"); ok {
		if t := p.tasks[strings.Trim(string(id), `"`)]; t != nil && t.request.From == o.From().Peer() {
			return t
		}
	}
	r := o.Session.of(o.From().Peer()).byToken(token)
	if r == nil || r.became == "" {
		return nil
	}
	return p.tasks[r.became]
}

func (p *taskProgress) end(o *Observation) {
	for _, t := range p.tasks {
		if t.told && t.ended && !t.late {
			o.Pass("PROGRESS-TASK-STOPS", t.request.From.Peer())
		}
	}
}
