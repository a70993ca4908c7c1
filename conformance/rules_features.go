package conformance

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

func featureRules() []ruleEntry {
	return []ruleEntry{
		stateful(func() Rule { return &cursors{} }, "PAGINATION-CURSOR-OPAQUE"),
		plain(completion, "COMPLETION-VALUES-LIMIT"),
		stateful(func() Rule { return &logLevel{} }, "LOGGING-LEVEL-RESPECTED"),
		plain(roots, "ROOTS-FILE-URI"),
		plain(maxTokens, "SAMPLING-MAX-TOKENS"),
	}
}

// cursors: a client sends only cursors that it was given for the same list
// (server/utilities/pagination, implementation guidelines). An empty string is
// a cursor like any other. Without a session the cursor may have been given on
// another connection.
type cursors struct {
	given map[string]bool // method and cursor
	queue []string
}

func (c *cursors) Observe(o *Observation) {
	switch {
	case o.is(schemas.Result) && o.Request != nil && strings.HasSuffix(o.Request.Method, "/list") && o.From() == trace.Server:
		if raw, ok := schemas.Member(o.Message.Result, "nextCursor"); ok {
			c.add(o.Request.Method + " " + schemas.IDKey(raw))
		}
	case o.is(schemas.Request) && strings.HasSuffix(o.Message.Method, "/list") && o.From() == trace.Client:
		raw, ok := o.param("cursor")
		if !ok || raw[0] != '"' {
			return
		}
		switch {
		case c.given[o.Message.Method+" "+schemas.IDKey(raw)]:
			o.Pass("PAGINATION-CURSOR-OPAQUE", trace.Client)
		case o.Session.Modern || o.Session.Partial || o.Lacks(trace.LackOrder):
			o.Untested("PAGINATION-CURSOR-OPAQUE", trace.Client, "the cursor may have been given where the capture does not show it")
		default:
			o.Fail("PAGINATION-CURSOR-OPAQUE", trace.Client, Fault{
				Detail: "a cursor is sent that the server did not give", Want: "/params/cursor: a nextCursor of this list", Got: clip(string(raw)),
			})
		}
	}
}

func (c *cursors) add(key string) {
	if c.given == nil {
		c.given = map[string]bool{}
	}
	if c.given[key] {
		return
	}
	c.given[key] = true
	if c.queue = append(c.queue, key); len(c.queue) > recently {
		delete(c.given, c.queue[0])
		c.queue = c.queue[1:]
	}
}

// completion: at most 100 values (schema of CompleteResult).
func completion(o *Observation) {
	if !o.isResult("completion/complete") {
		return
	}
	raw, _ := schemas.Member(o.Message.Result, "completion", "values")
	var values []json.RawMessage
	if json.Unmarshal(raw, &values) != nil {
		return
	}
	o.Check(len(values) <= 100, "COMPLETION-VALUES-LIMIT", trace.Server, Fault{
		Detail: "a completion has more than 100 values", Want: "/result/completion/values: at most 100", Got: strconv.Itoa(len(values)),
	})
}

// logLevel: after logging/setLevel only messages at or above the level are sent
// (server/utilities/logging). Before it the server chooses.
type logLevel struct{ least int }

var levels = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

func (l *logLevel) Observe(o *Observation) {
	if o.Session.Modern {
		return
	}
	switch {
	case o.isResult("logging/setLevel"):
		l.least = 1 + slices.Index(levels, textParam(o.Request.Params, "level"))
	case o.isCall(trace.Server, "notifications/message") && l.least > 0:
		level := textParam(o.Message.Params, "level")
		i := slices.Index(levels, level)
		if i < 0 || o.Lacks(trace.LackOrder) {
			return
		}
		o.Check(i+1 >= l.least, "LOGGING-LEVEL-RESPECTED", trace.Server, Fault{
			Detail: "a log message is below the level that was set", Want: "/params/level: " + levels[l.least-1] + " or above", Got: level,
		})
	}
}

// roots: the URI of a root is a file URI (client/roots, root).
func roots(o *Observation) {
	if o.isResult("roots/list") && o.From() == trace.Client {
		rootURIs(o, o.Message.Result, "/result")
	}
	if !o.Session.Modern || !o.is(schemas.Request) {
		return
	}
	raw, _ := o.param("inputResponses")
	keys, _ := objectKeys(raw)
	for _, key := range keys {
		response, _ := schemas.Member(raw, key)
		if _, ok := schemas.Member(response, "roots"); ok {
			rootURIs(o, response, "/params/inputResponses/"+key)
		}
	}
}

func rootURIs(o *Observation, result json.RawMessage, at string) {
	raw, _ := schemas.Member(result, "roots")
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return
	}
	for i, root := range list {
		uri := textParam(root, "uri")
		o.Check(strings.HasPrefix(strings.ToLower(uri), "file://"), "ROOTS-FILE-URI", trace.Client, Fault{
			Detail: "the URI of a root is no file URI", Want: at + "/roots/" + strconv.Itoa(i) + "/uri: file://…", Got: clip(uri),
		})
	}
}

// maxTokens: a sampling request says how many tokens (schema of
// CreateMessageRequest).
func maxTokens(o *Observation) {
	if o.isCall(trace.Server, "sampling/createMessage") {
		raw, ok := o.param("maxTokens")
		checkMaxTokens(o, raw, ok, "/params/maxTokens")
	}
	for _, in := range inputRequestsOf(o) {
		if in.method == "sampling/createMessage" {
			raw, ok := schemas.Member(in.raw, "params", "maxTokens")
			checkMaxTokens(o, raw, ok, "/result/inputRequests/"+in.key+"/params/maxTokens")
		}
	}
}

func checkMaxTokens(o *Observation, raw json.RawMessage, has bool, at string) {
	o.Check(has && isInteger(raw), "SAMPLING-MAX-TOKENS", trace.Server, Fault{
		Detail: "a sampling request does not say how many tokens may be sampled", Want: at + ": integer", Got: got(raw, has),
	})
}
