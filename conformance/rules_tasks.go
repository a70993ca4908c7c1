package conformance

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

func taskRules() []ruleEntry {
	return []ruleEntry{
		stateful(func() Rule { return newTaskRule() },
			"TASKS-DECLARED", "TASKS-AUGMENT-DECLARED", "TASKS-TOOL-CALL-DECLARED", "TASKS-TOOL-FORBIDDEN", "TASKS-TOOL-FORBIDDEN-REFUSED",
			"TASKS-TOOL-REQUIRED", "TASKS-TOOL-REQUIRED-REFUSED", "TASKS-POLL-INTERVAL", "TASKS-UNDECLARED-IGNORED", "TASKS-CREATED-RESULT",
			"TASKS-ID-STRING", "TASKS-ID-UNIQUE", "TASKS-ID-PARAM", "TASKS-BEGIN-WORKING", "TASKS-TRANSITIONS", "TASKS-TERMINAL-FINAL",
			"TASKS-CREATED-AT", "TASKS-UPDATED-AT", "TASKS-TTL", "TASKS-STATUS-MESSAGE", "TASKS-RESULT-RELATED", "TASKS-RESULT-FINAL",
			"TASKS-RESULT-BLOCKS", "TASKS-CANCEL-TERMINAL", "TASKS-CANCEL-STATUS", "TASKS-UNKNOWN", "TASKS-LISTED"),
		plain(taskMeta, "TASKS-OPERATION-NO-RELATED", "TASKS-RELATED-META"),
		plain(onHTTP(taskStream), "TASKS-GET-NO-STREAM"),
	}
}

const metaRelatedTask = "io.modelcontextprotocol/related-task"

// taskRule follows the tasks of 2025-11-25 (basic/utilities/tasks): those that
// servers make of calls, and those that clients make of sampling and
// elicitation.
type taskRule struct {
	tasks   map[string]*task  // by receiver and id
	support map[string]string // what the list says of each tool: taskSupport
	ended   map[*Request]bool // open tasks/cancel requests for tasks known to have ended
	walks   map[trace.Side]*taskWalk
}

// task is what is known of one task.
type task struct {
	method   string // of the request that became it; "" when not seen
	since    int64  // Seq of the first event that named it
	status   string
	statusAt int64  // Seq of the event that told it
	updated  string // lastUpdatedAt, as told
	returned int64  // Seq of the result that tasks/result gave, 0 if none
	poll     time.Duration
	polled   time.Time // when tasks/get was last sent
	listed   bool      // the latest complete list had it
	missing  bool      // the latest complete list did not have it
}

// taskWalk is one walk through the pages of tasks/list.
type taskWalk struct {
	since int64 // Seq of its first request
	ids   map[string]bool
}

func newTaskRule() *taskRule {
	return &taskRule{tasks: map[string]*task{}, support: map[string]string{}, ended: map[*Request]bool{}, walks: map[trace.Side]*taskWalk{}}
}

func (r *taskRule) Observe(o *Observation) {
	switch {
	case o.Session.Modern || o.Message == nil || o.Revision != schemas.R20251125 || o.Lacks(trace.LackOrder):
	case o.is(schemas.Request):
		r.asked(o)
	case o.Request == nil || o.Earlier != nil:
		if o.is(schemas.Notification) && o.Message.Method == "notifications/tasks/status" {
			r.told(o, o.Message.Params, o.From(), 0, "/params")
		}
	case o.isResult("tools/list"):
		r.listTools(o)
	case o.is(schemas.Result, schemas.Error):
		r.answered(o)
	}
}

// declaresTasks reports whether a side makes tasks of requests of a method.
func declaresTasks(o *Observation, side trace.Side, method string) (yes, known bool) {
	return o.Session.declared(side, "tasks.requests."+strings.ReplaceAll(method, "/", "."))
}

func other(side trace.Side) trace.Side {
	if side == trace.Client {
		return trace.Server
	}
	return trace.Client
}

func (r *taskRule) find(side trace.Side, id string) *task { return r.tasks[string(side)+" "+id] }

func (r *taskRule) remember(side trace.Side, id string, seq int64) *task {
	t := r.find(side, id)
	if t == nil {
		t = &task{since: seq}
		if len(r.tasks) < mostTasks {
			r.tasks[string(side)+" "+id] = t
		}
	}
	return t
}

func (r *taskRule) listTools(o *Observation) {
	raw, _ := schemas.Member(o.Message.Result, "tools")
	var list []json.RawMessage
	_ = json.Unmarshal(raw, &list) // what is no list has no tools
	for _, one := range list {
		if len(r.support) >= mostTools {
			return
		}
		r.support[textParam(one, "name")] = textParam(one, "execution", "taskSupport")
	}
}

// supports says what the list says of the tool that a request calls, and false
// when it is not about a listed tool of a server that makes tasks.
func (r *taskRule) supports(o *Observation) (support string, known bool) {
	if o.Request.Method != "tools/call" {
		return "", false
	}
	if yes, _ := declaresTasks(o, trace.Server, "tools/call"); !yes {
		return "", false
	}
	support, known = r.support[textParam(o.Request.Params, "name")]
	return support, known
}

// asked judges requests: whether a task may be asked for, or has to be.
func (r *taskRule) asked(o *Observation) {
	from := o.From()
	t := r.find(other(from), textParam(o.Message.Params, "taskId"))
	switch {
	case t == nil:
	case o.Message.Method == "tasks/cancel":
		if yes, known := o.Session.declared(other(from), "tasks.cancel"); known && yes && terminal(t.status) {
			if len(r.ended) > recently { // a flood that nobody answers
				clear(r.ended)
			}
			r.ended[o.Request] = true
		}
	case o.Message.Method == "tasks/get":
		r.polls(o, t)
	}
	if support, known := r.supports(o); known && (support == "required" || o.Request.task) {
		if support == "required" {
			o.Check(o.Request.task, "TASKS-TOOL-REQUIRED", from, Fault{
				Detail: "a tool that has to be a task is called plainly", Want: "/params/task", Got: "absent",
			})
		}
		if o.Request.task {
			o.Check(support == "optional" || support == "required", "TASKS-TOOL-FORBIDDEN", from, Fault{
				Detail: "a tool that cannot be a task is called as one", Want: "no /params/task", Got: "taskSupport " + quoteOr(support, "absent"),
			})
		}
	}
	if !o.Request.task {
		return
	}
	yes, known := declaresTasks(o, other(from), o.Message.Method)
	if !known {
		return
	}
	f := Fault{Detail: "a task is asked for that the receiver does not declare", Want: "capabilities.tasks.requests of the other side", Got: clip(o.Message.Method) + " is not in it"}
	if o.isCall(trace.Client, "tools/call") {
		o.Check(yes, "TASKS-TOOL-CALL-DECLARED", from, f)
		f.Cause = "TASKS-TOOL-CALL-DECLARED"
	}
	o.Check(yes, "TASKS-AUGMENT-DECLARED", from, f)
}

// polls holds the time between two polls against the interval that was told.
// Half of it is let pass: clocks and captures are not exact.
func (r *taskRule) polls(o *Observation, t *task) {
	now := o.Event.Time
	if t.poll > 0 && !t.polled.IsZero() && !now.IsZero() && !o.Lacks(trace.LackTiming) {
		wait := now.Sub(t.polled)
		o.Check(wait >= t.poll/2, "TASKS-POLL-INTERVAL", o.From(), Fault{
			Detail: "a task is polled more often than its pollInterval says", Want: "a pause of " + t.poll.String(), Got: "less than half of it",
		})
	}
	t.polled = now
}

func terminal(status string) bool {
	return status == "completed" || status == "failed" || status == "cancelled"
}

// answered judges responses to requests that ask for tasks, or about them.
func (r *taskRule) answered(o *Observation) {
	if o.Request.task {
		r.created(o)
		return
	}
	id := textParam(o.Request.Params, "taskId")
	switch o.Request.Method {
	case "tools/call":
		if support, known := r.supports(o); known && support == "required" && (o.is(schemas.Result) || o.errorCode() == "-32601") {
			o.Check(o.is(schemas.Error), "TASKS-TOOL-REQUIRED-REFUSED", trace.Server, Fault{
				Detail: "a plain call is carried out of a tool that has to be a task", Want: "error -32601", Got: "a result",
			})
		}
	case "tasks/get":
		r.unknown(o, id)
		r.got(o, id)
	case "tasks/list":
		r.list(o)
	case "tasks/cancel":
		r.unknown(o, id)
		r.cancelled(o, id)
	case "tasks/result":
		r.unknown(o, id)
		r.returned(o, id)
	}
}

// created judges the answer to a request that asked for a task.
func (r *taskRule) created(o *Observation) {
	side := o.From()
	made, isTask := schemas.Member(o.Message.Result, "task")
	yes, known := declaresTasks(o, side, o.Request.Method)
	support, listed := r.supports(o)
	able := o.Request.Method != "tools/call" || support == "optional" || support == "required"
	switch {
	case !known:
	case !yes && o.is(schemas.Result):
		o.Check(!isTask, "TASKS-UNDECLARED-IGNORED", side, Fault{
			Detail: "a task is made though none is declared for such requests", Want: "the result of " + clip(o.Request.Method), Got: "a task",
		})
	case yes && able && o.is(schemas.Result):
		o.Check(isTask, "TASKS-CREATED-RESULT", side, Fault{
			Detail: "a request that asks for a task is answered with something else", Want: "/result/task", Got: "absent",
		})
	case yes && listed && !able && (o.is(schemas.Result) || o.errorCode() == "-32601"):
		o.Check(o.is(schemas.Error), "TASKS-TOOL-FORBIDDEN-REFUSED", side, Fault{
			Detail: "a call as a task is carried out of a tool that cannot be one", Want: "error -32601", Got: "a result",
		})
	}
	if isTask {
		r.begins(o, made)
	}
}

func (r *taskRule) begins(o *Observation, made json.RawMessage) {
	side := o.From()
	if yes, known := o.Session.declared(side, "tasks"); known {
		o.Check(yes, "TASKS-DECLARED", side, Fault{
			Detail: "a task is made by a party that does not declare tasks", Want: "capabilities.tasks", Got: "absent",
		})
	}
	id, has := schemas.Member(made, "taskId")
	o.Check(has && id[0] == '"', "TASKS-ID-STRING", side, Fault{
		Detail: "the id of a task is not a string", Want: "/result/task/taskId: string", Got: got(id, has),
	})
	if !has {
		return
	}
	name := textParam(made, "taskId")
	before := r.find(side, name)
	o.Check(before == nil || before.method == "", "TASKS-ID-UNIQUE", side, Fault{
		Detail: "two tasks have the same id", Want: "/result/task/taskId: another", Got: clip(name),
	})
	status := textParam(made, "status")
	o.Check(status == "working", "TASKS-BEGIN-WORKING", side, Fault{
		Detail: "a task does not begin as working", Want: "/result/task/status: working", Got: quoteOr(status, "absent"),
	})
	if before != nil && before.method != "" {
		return
	}
	r.told(o, made, side, o.Request.Seq, "/result/task")
	r.remember(side, name, o.Event.Seq).method = o.Request.Method
}

// told takes the status of a task. asked is the Seq of the request that it
// answers, 0 for a notification.
func (r *taskRule) told(o *Observation, made json.RawMessage, side trace.Side, asked int64, at string) {
	for _, f := range []struct{ name, requirement string }{{"createdAt", "TASKS-CREATED-AT"}, {"lastUpdatedAt", "TASKS-UPDATED-AT"}} {
		raw, has := schemas.Member(made, f.name)
		o.Check(has && raw[0] == '"' && schemas.CheckTimestamp(textParam(made, f.name)) == nil, f.requirement, side, Fault{
			Detail: "a task does not say when it was created or updated", Want: at + "/" + f.name + ": a timestamp", Got: got(raw, has),
		})
	}
	id, status := textParam(made, "taskId"), textParam(made, "status")
	if id == "" || status == "" {
		return
	}
	t := r.remember(side, id, o.Event.Seq)
	updated := textParam(made, "lastUpdatedAt")
	// What was asked before the last status was told, or is older, may have
	// been overtaken by it.
	later := asked > t.statusAt || asked == 0 && updated > t.updated
	if t.status != "" && !later {
		return
	}
	r.changes(o, t, side, status, asked, at)
	t.status, t.statusAt, t.updated = status, o.Event.Seq, updated
	if raw, ok := schemas.Member(made, "pollInterval"); ok {
		if ms, err := strconv.ParseFloat(string(raw), 64); err == nil && ms >= 0 && ms < 1e9 {
			t.poll = time.Duration(ms * float64(time.Millisecond))
		}
	}
}

// changes judges the way from the status that was told last to the next one.
func (r *taskRule) changes(o *Observation, t *task, side trace.Side, status string, asked int64, at string) {
	f := Fault{Detail: "a task goes on after it has come to its end", Want: at + "/status: " + t.status, Got: clip(status)}
	if terminal(t.status) {
		o.Check(status == t.status, "TASKS-TERMINAL-FINAL", side, f)
	}
	if t.status != "" && t.status != status {
		f.Cause = "TASKS-TERMINAL-FINAL"
		o.Check(!terminal(t.status), "TASKS-TRANSITIONS", side, f)
	}
	if t.returned > 0 && asked > t.returned {
		o.Check(terminal(status), "TASKS-RESULT-BLOCKS", side, Fault{
			Detail: "the result of a task was returned before its end", Want: at + "/status: completed, failed or cancelled", Got: clip(status),
		})
	}
}

// same judges that an answer is about the task that was asked about.
func same(o *Observation, id string) bool {
	given, has := schemas.Member(o.Message.Result, "taskId")
	ok := has && textParam(o.Message.Result, "taskId") == id
	if has {
		o.Check(ok, "TASKS-ID-PARAM", o.From(), Fault{
			Detail: "an answer is about another task than the request", Want: "/result/taskId: " + clip(id), Got: got(given, has),
		})
	}
	return ok
}

func (r *taskRule) got(o *Observation, id string) {
	if !o.is(schemas.Result) || !same(o, id) {
		return
	}
	side, result := o.From(), o.Message.Result
	ttl, has := schemas.Member(result, "ttl")
	o.Check(has && (isNumber(ttl) || string(ttl) == "null"), "TASKS-TTL", side, Fault{
		Detail: "a task does not say for how long it is kept", Want: "/result/ttl: a number or null", Got: got(ttl, has),
	})
	if textParam(result, "status") == "failed" {
		o.Check(textParam(result, "statusMessage") != "", "TASKS-STATUS-MESSAGE", side, Fault{
			Detail: "a task that has failed does not say why", Want: "/result/statusMessage", Got: "absent",
		})
	}
	if t := r.find(side, id); t != nil && (t.listed || t.missing) {
		o.Check(t.listed, "TASKS-LISTED", side, Fault{
			Detail: "a task is missing from the list though it can be got", Want: "the task in a page of tasks/list", Got: clip(id),
		})
	}
	r.told(o, result, side, o.Request.Seq, "/result")
}

// list takes a page of tasks/list. A walk ends with the page that has no
// nextCursor; only then is a task known to be missing.
func (r *taskRule) list(o *Observation) {
	side := o.From()
	if !o.is(schemas.Result) {
		delete(r.walks, side)
		return
	}
	if _, continued := schemas.Member(o.Request.Params, "cursor"); !continued {
		r.walks[side] = &taskWalk{o.Request.Seq, map[string]bool{}}
	}
	raw, _ := schemas.Member(o.Message.Result, "tasks")
	var list []json.RawMessage
	_ = json.Unmarshal(raw, &list) // what is no list has no tasks
	walk := r.walks[side]
	for i, one := range list {
		r.told(o, one, side, o.Request.Seq, "/result/tasks/"+strconv.Itoa(i))
		if walk != nil && len(walk.ids) < mostTasks {
			walk.ids[textParam(one, "taskId")] = true
		}
	}
	if _, more := schemas.Member(o.Message.Result, "nextCursor"); more || walk == nil {
		return
	}
	for key, t := range r.tasks {
		if id, ok := strings.CutPrefix(key, string(side)+" "); ok && t.since < walk.since {
			t.listed, t.missing = walk.ids[id], !walk.ids[id]
		}
	}
	delete(r.walks, side)
}

func (r *taskRule) cancelled(o *Observation, id string) {
	side := o.From()
	ended := r.ended[o.Request]
	delete(r.ended, o.Request)
	if ended {
		o.Check(o.errorCode() == "-32602", "TASKS-CANCEL-TERMINAL", side, Fault{
			Detail: "a task is cancelled that has come to its end", Want: "error -32602", Got: quoteOr(o.errorCode(), "a result"),
		})
		return
	}
	if !o.is(schemas.Result) || !same(o, id) {
		return
	}
	status := textParam(o.Message.Result, "status")
	o.Check(status == "cancelled", "TASKS-CANCEL-STATUS", side, Fault{
		Detail: "a task that was cancelled does not say so", Want: "/result/status: cancelled", Got: quoteOr(status, "absent"),
	})
	r.told(o, o.Message.Result, side, o.Request.Seq, "/result")
}

// returned judges what tasks/result gives: the result that the request itself
// would have had, with the task in _meta.
func (r *taskRule) returned(o *Observation, id string) {
	if !o.is(schemas.Result) {
		return
	}
	side, result := o.From(), o.Message.Result
	related, has := schemas.Member(result, "_meta", metaRelatedTask)
	o.Check(has && textParam(related, "taskId") == id, "TASKS-RESULT-RELATED", side, Fault{
		Detail: "the result of a task does not name it", Want: "/result/_meta/" + metaRelatedTask + "/taskId: " + clip(id), Got: got(related, has),
	})
	t := r.find(side, id)
	if t == nil {
		return
	}
	if t.returned == 0 {
		t.returned = o.Event.Seq
	}
	if t.method == "" || o.judge.options.Schemas == nil {
		return
	}
	found := o.judge.options.Schemas.ValidateMessage(o.Revision, o.Message, &schemas.Message{Kind: schemas.Request, Method: t.method})
	found = slices.DeleteFunc(found, func(v schemas.Violation) bool { return v.Advice })
	f := Fault{Detail: "tasks/result does not return what the request would have returned"}
	if len(found) > 0 {
		f.Want, f.Got = place(found[0])+": "+found[0].Want+", in a result of "+t.method, clip(found[0].Got)
	}
	o.Check(len(found) == 0, "TASKS-RESULT-FINAL", side, f)
}

// unknown judges errors on tasks that nothing has named. Tasks outlive sessions,
// so that a result proves nothing.
func (r *taskRule) unknown(o *Observation, id string) {
	needs := "tasks"
	if o.Request.Method == "tasks/cancel" {
		needs = "tasks.cancel"
	}
	yes, known := o.Session.declared(o.From(), needs)
	if !known || !yes || !o.is(schemas.Error) || id == "" || r.find(o.From(), id) != nil || o.errorCode() == "-32603" {
		return
	}
	o.Check(o.errorCode() == "-32602", "TASKS-UNKNOWN", o.From(), Fault{
		Detail: "a task that does not exist is answered with another error", Want: "/error/code: -32602", Got: o.errorCode(),
	})
}

// taskMeta: what belongs to a task names it in _meta, but for the operations
// whose params do so already (basic/utilities/tasks, associating task-related
// messages).
func taskMeta(o *Observation) {
	if o.Session.Modern || o.Message == nil || o.Revision != schemas.R20251125 || !o.is(schemas.Request, schemas.Notification, schemas.Result) {
		return
	}
	content, at, method := o.Message.Params, "/params/_meta/", o.Message.Method
	if o.is(schemas.Result) {
		if o.Request == nil {
			return
		}
		content, at, method = o.Message.Result, "/result/_meta/", o.Request.Method
	}
	related, has := schemas.Member(content, "_meta", metaRelatedTask)
	switch {
	case slices.Contains([]string{"tasks/get", "tasks/list", "tasks/cancel", "notifications/tasks/status"}, method):
		o.Check(!has, "TASKS-OPERATION-NO-RELATED", o.From(), Fault{
			Detail: "a message on a task names it in _meta as well", Want: "no " + at + metaRelatedTask, Got: got(related, has),
		})
	case o.is(schemas.Result):
		want := textParam(o.Request.Params, "_meta", metaRelatedTask, "taskId")
		if _, made := schemas.Member(content, "task"); want != "" && !made {
			o.Check(textParam(related, "taskId") == want, "TASKS-RELATED-META", o.From(), Fault{
				Detail: "the answer to a request that belongs to a task does not name the task", Want: at + metaRelatedTask + "/taskId: " + clip(want), Got: got(related, has),
			})
		}
	case o.is(schemas.Request) && o.Exchange != nil && o.From() == trace.Server && len(o.Exchange.Requests) == 1 && o.Exchange.Requests[0].Method == "tasks/result":
		o.Check(has, "TASKS-RELATED-META", trace.Server, Fault{
			Detail: "a request on the stream of a task does not name the task", Want: at + metaRelatedTask, Got: "absent",
		})
	}
}

// taskStream: a poll is answered at once, not by a stream (basic/utilities/tasks,
// input required status).
func taskStream(o *Observation) {
	if o.Session.Modern || o.Revision != schemas.R20251125 || !o.is(schemas.Result) || o.Request == nil || o.Request.Method != "tasks/get" ||
		o.From() != trace.Server || o.Exchange == nil || o.Exchange.find(o.Request.Key) == nil {
		return
	}
	o.Check(o.Exchange.mediaType() != "text/event-stream", "TASKS-GET-NO-STREAM", trace.Server, Fault{
		Detail: "a poll of a task is answered with a stream of events", Want: "application/json", Got: "text/event-stream",
	})
}
