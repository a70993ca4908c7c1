package conformance

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

func subscriptionRules() []ruleEntry {
	return []ruleEntry{
		plain(modern(cacheHints), "CACHE-HINTS", "CACHE-TTL"),
		stateful(func() Rule { return &subscriptions{acknowledged: map[string]bool{}} },
			"LISTEN-ACKNOWLEDGED-FIRST", "LISTEN-ONLY-REQUESTED", "LISTEN-SUBSCRIPTION-ID"),
		plain(modern(logRequested), "LOG-LEVEL-REQUESTED"),
	}
}

// cacheHints: complete results of six methods say how long and for whom they
// hold (2026-07-28 server/utilities/caching).
func cacheHints(o *Observation) {
	if !o.is(schemas.Result) || o.Request == nil || o.From() != trace.Server || o.Earlier != nil {
		return
	}
	switch o.Request.Method {
	case "server/discover", "tools/list", "prompts/list", "resources/list", "resources/templates/list", "resources/read":
	default:
		return
	}
	if kind := textParam(o.Message.Result, "resultType"); kind != "complete" && kind != "" {
		return
	}
	ttl, hasTTL := schemas.Member(o.Message.Result, "ttlMs")
	scope, hasScope := schemas.Member(o.Message.Result, "cacheScope")
	okScope := string(scope) == `"public"` || string(scope) == `"private"`
	o.Check(hasTTL && isInteger(ttl) && okScope, "CACHE-HINTS", trace.Server, Fault{
		Detail: "a result does not say how long and for whom it holds", Want: "/result: ttlMs, an integer, and cacheScope, public or private",
		Got: "ttlMs " + got(ttl, hasTTL) + ", cacheScope " + got(scope, hasScope),
	})
	if hasTTL && isNumber(ttl) {
		o.Check(ttl[0] != '-' || strings.Trim(string(ttl), "-0.") == "", "CACHE-TTL", trace.Server, Fault{
			Detail: "ttlMs is negative", Want: "/result/ttlMs: at least 0", Got: got(ttl, true),
		})
	}
}

// subscriptions: what a stream opened by subscriptions/listen carries
// (2026-07-28 basic/patterns/subscriptions).
type subscriptions struct {
	acknowledged map[string]bool // by the id of the subscription
}

func (s *subscriptions) Observe(o *Observation) {
	if !o.Session.Modern || o.Message == nil {
		return
	}
	if o.is(schemas.Result, schemas.Error) && o.Request != nil && o.Request.Method == "subscriptions/listen" {
		delete(s.acknowledged, o.Request.Key)
		return
	}
	if !o.is(schemas.Notification) || o.From() != trace.Server {
		return
	}
	kind := filterOf(o.Message.Method)
	ack := o.Message.Method == "notifications/subscriptions/acknowledged"
	if kind == "" && !ack {
		return
	}
	raw, has := o.param("_meta", metaSubscriptionID)
	misplaced := o.Exchange != nil && len(o.Exchange.Requests) == 1 && o.Exchange.Requests[0].Method != "subscriptions/listen"
	if !misplaced { // HTTP-STREAM-RELATED says so
		o.Check(has, "LISTEN-SUBSCRIPTION-ID", trace.Server, Fault{
			Detail: "a notification of a subscription does not carry its id", Want: "/params/_meta/" + metaSubscriptionID, Got: "absent",
		})
	}
	r := s.subscription(o, raw)
	if r == nil {
		return
	}
	s.first(o, r, ack)
	if !ack {
		o.Check(wanted(o, r, kind), "LISTEN-ONLY-REQUESTED", trace.Server, Fault{
			Detail: "a notification is sent that the subscription did not ask for", Want: "what its filter names", Got: clip(o.Message.Method),
		})
	}
}

// subscription finds the open request for a subscription. An id that is right
// but for its JSON type is let pass: readers normalise it.
func (s *subscriptions) subscription(o *Observation, id json.RawMessage) *Request {
	open := o.Session.of(trace.Client).open
	key := schemas.IDKey(id)
	r := open[key]
	if r == nil {
		r = open[otherType(key)]
	}
	if r == nil || r.Method != "subscriptions/listen" {
		return nil
	}
	return r
}

func (s *subscriptions) first(o *Observation, r *Request, ack bool) {
	if s.acknowledged[r.Key] {
		return
	}
	if len(s.acknowledged) > remembered {
		clear(s.acknowledged)
	}
	s.acknowledged[r.Key] = true
	o.Check(ack, "LISTEN-ACKNOWLEDGED-FIRST", trace.Server, Fault{
		Detail: "a subscription begins without being acknowledged", Want: "notifications/subscriptions/acknowledged", Got: clip(o.Message.Method),
	})
}

// filterOf names the member of a subscription's filter that a notification needs.
func filterOf(method string) string {
	switch method {
	case "notifications/tools/list_changed":
		return "toolsListChanged"
	case "notifications/prompts/list_changed":
		return "promptsListChanged"
	case "notifications/resources/list_changed":
		return "resourcesListChanged"
	case "notifications/resources/updated":
		return "resourceSubscriptions"
	}
	return ""
}

func wanted(o *Observation, r *Request, kind string) bool {
	raw, _ := schemas.Member(r.Params, "notifications", kind)
	if kind != "resourceSubscriptions" {
		return string(raw) == "true"
	}
	var uris []string
	if json.Unmarshal(raw, &uris) != nil {
		return false
	}
	uri := textParam(o.Message.Params, "uri")
	// The URI may be that of a part of what was subscribed to.
	return slices.ContainsFunc(uris, func(u string) bool { return strings.HasPrefix(uri, u) })
}

// logRequested: log messages come only for a request that asked for them
// (2026-07-28 server/utilities/logging). On stdio nothing says for which one, so
// any open one will do.
func logRequested(o *Observation) {
	if !o.isCall(trace.Server, "notifications/message") {
		return
	}
	asked := false
	if o.Exchange != nil {
		for _, r := range o.Exchange.Requests {
			asked = asked || r.logs()
		}
	} else {
		for _, r := range o.Session.of(trace.Client).open {
			asked = asked || r.logs()
		}
	}
	if !asked && o.Session.Partial {
		return
	}
	o.Check(asked, "LOG-LEVEL-REQUESTED", trace.Server, Fault{
		Detail: "a log message is sent though no request asked for any", Want: "a request with " + metaLogLevel, Got: "none",
	})
}

// logs reports whether the request asks for log messages.
func (r *Request) logs() bool {
	_, ok := schemas.Member(r.Params, "_meta", metaLogLevel)
	return ok && r.Method != "subscriptions/listen"
}
