package conformance

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

func capabilityRules() []ruleEntry {
	return []ruleEntry{
		stateful(func() Rule { return &serverDeclares{} },
			"TOOLS-DECLARED", "PROMPTS-DECLARED", "RESOURCES-DECLARED", "COMPLETIONS-DECLARED", "LOGGING-DECLARED"),
		plain(declaredWorks, "TOOLS-LIST-ANSWERED", "PROMPTS-LIST-ANSWERED", "RESOURCES-LIST-ANSWERED",
			"LOGGING-SET-LEVEL", "COMPLETION-ANSWERED", "RESOURCES-SUBSCRIBE-ANSWERED"),
		plain(clientDeclares, "ROOTS-DECLARED", "SAMPLING-DECLARED", "ELICITATION-DECLARED"),
		plain(requestedModes, "ELICITATION-MODE-DECLARED", "SAMPLING-TOOLS-DECLARED"),
	}
}

// objectKeys returns the sorted keys of a JSON object, and false for anything else.
func objectKeys(raw json.RawMessage) ([]string, bool) {
	var object map[string]json.RawMessage
	if len(raw) == 0 || raw[0] != '{' || json.Unmarshal(raw, &object) != nil {
		return nil, false
	}
	return slices.Sorted(maps.Keys(object)), true
}

// nonEmpty reports whether a member is a non-empty array.
func nonEmpty(object json.RawMessage, keys ...string) bool {
	raw, _ := schemas.Member(object, keys...)
	var members []json.RawMessage
	return json.Unmarshal(raw, &members) == nil && len(members) > 0
}

// serverDeclares: a server that has a feature declares it (pages of the
// features, capabilities). Having shows in use: an empty list has nothing. Since
// 2026-07-28 the declaration may be asked for later, so uses wait for it.
type serverDeclares struct {
	waiting map[string]usage // by requirement, the first use
}

type usage struct{ requirement, capability, what string }

func (r *serverDeclares) Observe(o *Observation) {
	if o.End {
		for _, id := range slices.Sorted(maps.Keys(r.waiting)) {
			if _, known := o.Session.declared(trace.Server, "x"); !known {
				o.Untested(id, trace.Server, "the server was not seen to declare its capabilities")
			} else {
				r.judge(o, r.waiting[id])
			}
		}
		return
	}
	if o.Message == nil || o.From() != trace.Server {
		return
	}
	if u := r.use(o); u.requirement != "" {
		if _, known := o.Session.declared(trace.Server, "x"); known {
			r.judge(o, u)
			return
		}
		if r.waiting == nil {
			r.waiting = map[string]usage{}
		}
		r.waiting[u.requirement] = u
	}
}

func (r *serverDeclares) judge(o *Observation, u usage) {
	yes, _ := o.Session.declared(trace.Server, u.capability)
	o.Check(yes, u.requirement, trace.Server, Fault{
		Detail: "the server has what it does not declare", Want: "capabilities." + u.capability, Got: u.what + " without it",
	})
}

// use says which feature a server's message shows in use.
func (r *serverDeclares) use(o *Observation) usage {
	if o.isCall(trace.Server, "notifications/message") {
		return usage{"LOGGING-DECLARED", "logging", "notifications/message"}
	}
	if !o.is(schemas.Result) || o.Request == nil {
		return usage{}
	}
	result, method := o.Message.Result, o.Request.Method
	u := usage{what: method}
	switch method {
	case "tools/list", "tools/call":
		u.requirement, u.capability = "TOOLS-DECLARED", "tools"
	case "prompts/list", "prompts/get":
		u.requirement, u.capability = "PROMPTS-DECLARED", "prompts"
	case "resources/list", "resources/templates/list", "resources/read":
		u.requirement, u.capability = "RESOURCES-DECLARED", "resources"
	case "completion/complete":
		u.requirement, u.capability = "COMPLETIONS-DECLARED", "completions"
	}
	list := map[string][]string{
		"tools/list": {"tools"}, "prompts/list": {"prompts"}, "resources/list": {"resources"},
		"resources/templates/list": {"resourceTemplates"}, "completion/complete": {"completion", "values"},
	}[method]
	if list != nil && !nonEmpty(result, list...) {
		return usage{}
	}
	// An empty object answers everything and shows nothing in use.
	part := map[string]string{"tools/call": "content", "prompts/get": "messages", "resources/read": "contents"}[method]
	if _, there := schemas.Member(result, part); part != "" && !there {
		return usage{}
	}
	return u
}

// declaration is the capability that stands for a method, and the requirement
// that ties the two together.
type declaration struct{ requirement, capability string }

var serverMethods = map[string]declaration{
	"tools/list":          {"TOOLS-LIST-ANSWERED", "tools"},
	"prompts/list":        {"PROMPTS-LIST-ANSWERED", "prompts"},
	"resources/list":      {"RESOURCES-LIST-ANSWERED", "resources"},
	"logging/setLevel":    {"LOGGING-SET-LEVEL", "logging"},
	"completion/complete": {"COMPLETION-ANSWERED", "completions"},
	"resources/subscribe": {"RESOURCES-SUBSCRIBE-ANSWERED", "resources.subscribe"},
}

var clientMethods = map[string]declaration{
	"roots/list":             {"ROOTS-DECLARED", "roots"},
	"sampling/createMessage": {"SAMPLING-DECLARED", "sampling"},
	"elicitation/create":     {"ELICITATION-DECLARED", "elicitation"},
}

// declaredWorks: a declared capability answers its methods. Any error but
// -32601 may have its reasons; an undeclared one answers -32601 rightly.
func declaredWorks(o *Observation) {
	if o.Request == nil || o.From() != trace.Server || !o.is(schemas.Result, schemas.Error) || o.Earlier != nil {
		return
	}
	d, ok := serverMethods[o.Request.Method]
	if !ok {
		return
	}
	if yes, known := o.Session.declared(trace.Server, d.capability); !known || !yes {
		return
	}
	if o.is(schemas.Result) {
		o.Pass(d.requirement, trace.Server)
	} else if o.errorCode() == "-32601" {
		o.Fail(d.requirement, trace.Server, Fault{
			Detail: "a method of a declared capability does not exist", Want: "a result of " + o.Request.Method, Got: "error -32601",
		})
	}
}

// clientDeclares: a client that answers a server's request has declared that it
// can (pages of roots, sampling and elicitation, capabilities).
func clientDeclares(o *Observation) {
	if o.Session.Modern || !o.is(schemas.Result) || o.From() != trace.Client || o.Request == nil {
		return
	}
	d, ok := clientMethods[o.Request.Method]
	if !ok {
		return
	}
	if yes, known := o.Session.declared(trace.Client, d.capability); known {
		o.Check(yes, d.requirement, trace.Client, Fault{
			Detail: "the client answers what it does not declare", Want: "capabilities." + d.capability, Got: o.Request.Method + " answered without it",
		})
	}
}

// requestedModes: which kinds of elicitation and sampling a server may ask for.
// In 2025-11-25 they are requests; since 2026-07-28 they travel in results and
// the request that they answer says what the client can.
func requestedModes(o *Observation) {
	if o.isCall(trace.Server, "elicitation/create") || o.isCall(trace.Server, "sampling/createMessage") {
		if o.Session.Client.Known && o.Revision >= schemas.R20251125 {
			requestedMode(o, o.Message.Method, o.Message.Params, o.Session.Client.Capabilities)
		}
		return
	}
	for _, in := range inputRequestsOf(o) {
		caps, _ := schemas.Member(o.Request.Params, "_meta", metaClientCapabilities)
		params, _ := schemas.Member(in.raw, "params")
		requestedMode(o, in.method, params, caps)
	}
}

func requestedMode(o *Observation, method string, params, capabilities json.RawMessage) {
	switch method {
	case "elicitation/create":
		elicitation, ok := schemas.Member(capabilities, "elicitation")
		keys, isObject := objectKeys(elicitation)
		if !ok || !isObject {
			return // nothing declared at all is another requirement's matter
		}
		mode := textParam(params, "mode")
		if mode == "" {
			mode = "form"
		}
		// An empty object means form mode alone (client/elicitation, capabilities).
		declared := slices.Contains(keys, mode) || mode == "form" && len(keys) == 0
		o.Check(declared, "ELICITATION-MODE-DECLARED", trace.Server, Fault{
			Detail: "input is asked for in a mode that the client does not declare", Want: "one of the declared modes", Got: "mode " + clip(mode),
		})
	case "sampling/createMessage":
		_, tools := schemas.Member(params, "tools")
		_, choice := schemas.Member(params, "toolChoice")
		if tools || choice {
			o.Check(Declares(capabilities, "sampling.tools"), "SAMPLING-TOOLS-DECLARED", trace.Server, Fault{
				Detail: "a sampling request has tools though the client does not declare that it can use them", Want: "capabilities.sampling.tools", Got: "absent",
			})
		}
	}
}

// needsOf names the client capability that an embedded request needs.
func needsOf(method string) string {
	name, _, _ := strings.Cut(method, "/")
	return name
}
