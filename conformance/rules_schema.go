package conformance

import (
	"strings"

	"github.com/mcp-conform/mcp-conform/schemas"
)

func schemaRules() []ruleEntry {
	return []ruleEntry{
		plain(form, "SCHEMA-REQUEST", "SCHEMA-NOTIFICATION", "SCHEMA-RESULT", "SCHEMA-ERROR"),
	}
}

// mostViolations bounds the findings on one message.
const mostViolations = 8

// form: a message fits the definition that its method calls for, chosen by the
// paired request and never a union of all (see schemas.Set.ValidateMessage).
func form(o *Observation) {
	if o.Message == nil || o.Revision == "" || o.judge.options.Schemas == nil {
		return
	}
	requirement := ""
	var paired *schemas.Message
	switch o.Message.Kind {
	case schemas.Request:
		if isNotificationName(o.Message.Method) {
			return // ENVELOPE-NOTIFICATION-NO-ID says what is wrong
		}
		requirement = "SCHEMA-REQUEST"
	case schemas.Notification:
		requirement = "SCHEMA-NOTIFICATION"
	case schemas.Result:
		if o.Request == nil {
			return
		}
		requirement = "SCHEMA-RESULT"
		paired = &schemas.Message{Kind: schemas.Request, Method: o.Request.Method, Params: o.Request.Params}
	case schemas.Error:
		requirement = "SCHEMA-ERROR"
	default:
		return
	}
	found, owned := 0, false
	for _, v := range o.judge.options.Schemas.ValidateMessage(o.Revision, o.Message, paired) {
		if v.Advice {
			continue
		}
		if ownedElsewhere(o, v) {
			owned = true
			continue
		}
		if found++; found > mostViolations {
			break
		}
		o.Fail(requirement, o.From(), Fault{
			Detail: "the message does not fit " + definitionName(v), Want: place(v) + ": " + v.Want, Got: clip(v.Got),
		})
	}
	if found == 0 && !owned && knownMethod(o) {
		o.Pass(requirement, o.From())
	}
}

func definitionName(v schemas.Violation) string {
	if v.Definition == "" {
		return "its definition"
	}
	return v.Definition
}

func place(v schemas.Violation) string {
	if v.Pointer == "" {
		return "/"
	}
	return v.Pointer
}

// knownMethod reports whether there is a definition to fit: the form of
// methods that the revision does not have is nobody's matter.
func knownMethod(o *Observation) bool {
	if o.is(schemas.Error) {
		return true
	}
	name := o.Message.Method
	if o.is(schemas.Result) {
		name = o.Request.Method
	}
	_, ok := o.judge.method(o.Revision, name)
	return ok
}

// ownedElsewhere reports whether a requirement of its own says the same as the
// violation, so that one fault gives one finding.
func ownedElsewhere(o *Observation, v schemas.Violation) bool {
	p := v.Pointer
	under := func(prefix string) bool { return p == prefix || strings.HasPrefix(p, prefix+"/") }
	switch {
	case strings.Contains(p, "/_meta/") && (v.Keyword == "meta-key" || strings.HasSuffix(p, "/traceparent") ||
		strings.HasSuffix(p, "/tracestate") || strings.HasSuffix(p, "/baggage")):
		return true
	case p == "/jsonrpc", p == "/id", p == "/method", p == "/params" && len(o.Message.Params) > 0 && o.Message.Params[0] != '{':
		return true
	case o.is(schemas.Error):
		return p == "/error/code" || p == "/error/message" || p == "/error" || p == "/result" ||
			o.Revision.Stateless() && under("/error/data")
	case o.is(schemas.Request):
		return under("/params/_meta/progressToken") || p == "/params/maxTokens" ||
			o.Revision.Stateless() && (p == "/params" || p == "/params/_meta" ||
				strings.HasPrefix(p, "/params/_meta/io.modelcontextprotocol~1")) && v.Got == "absent"
	case o.is(schemas.Notification):
		return o.Revision.Stateless() && under("/params/_meta")
	case o.is(schemas.Result):
		return resultOwnedElsewhere(o, p, under)
	}
	return false
}

func resultOwnedElsewhere(o *Observation, p string, under func(string) bool) bool {
	switch {
	case p == "/error", o.Revision.Stateless() && (p == "/result/resultType" || p == "/result/ttlMs" || p == "/result/cacheScope"),
		under("/result/_meta/" + strings.ReplaceAll(metaServerInfo, "/", "~1")):
		return true
	case o.Request.Method == "ping" && under("/result"):
		return true
	case o.Request.Method == "completion/complete" && p == "/result/completion/values":
		raw, _ := schemas.Member(o.Message.Result, "completion", "values")
		return len(raw) > 0 && raw[0] == '['
	case o.Request.Method == "roots/list" && strings.HasSuffix(p, "/uri"):
		return true
	case o.Request.Method == "tools/list":
		return strings.Contains(p, "/inputSchema") || strings.Contains(p, "/outputSchema")
	case o.Revision.Stateless() && under("/result/inputRequests"):
		return p == "/result/inputRequests" || strings.HasSuffix(p, "/method")
	}
	return false
}
