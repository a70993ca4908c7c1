package conformance

import (
	"encoding/json"
	"slices"

	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

func inputRules() []ruleEntry {
	return []ruleEntry{
		plain(modern(inputRequired), "INPUT-REQUIRED-METHODS", "INPUT-REQUIRED-CONTENT", "INPUT-REQUIRED-KINDS", "INPUT-REQUIRED-DECLARED"),
		stateful(func() Rule { return &retries{} }, "INPUT-RESPONSES-STATE", "INPUT-RETRY-NEW-ID"),
	}
}

// inputRequest is one request that travels in a result (2026-07-28
// basic/patterns/mrtr).
type inputRequest struct {
	key, method string
	raw         json.RawMessage
}

// inputRequestsOf lists what a result asks for; nil for any other observation.
func inputRequestsOf(o *Observation) []inputRequest {
	if !o.Session.Modern || !o.is(schemas.Result) || o.From() != trace.Server || o.Request == nil ||
		textParam(o.Message.Result, "resultType") != "input_required" {
		return nil
	}
	raw, _ := schemas.Member(o.Message.Result, "inputRequests")
	keys, _ := objectKeys(raw)
	var list []inputRequest
	for _, k := range keys {
		one, _ := schemas.Member(raw, k)
		list = append(list, inputRequest{k, textParam(one, "method"), one})
	}
	return list
}

// inputRequired judges a result that asks for input: where it may stand, what
// is in it, and whether the client said that it can.
func inputRequired(o *Observation) {
	if !o.is(schemas.Result) || o.From() != trace.Server || o.Request == nil || o.Earlier != nil ||
		textParam(o.Message.Result, "resultType") != "input_required" {
		return
	}
	extension, known := o.judge.method(o.Revision, o.Request.Method)
	if known && extension.Extension == "" {
		o.Check(slices.Contains([]string{"tools/call", "prompts/get", "resources/read"}, o.Request.Method), "INPUT-REQUIRED-METHODS", trace.Server, Fault{
			Detail: "input is asked for in answer to a method that does not allow it", Want: "tools/call, prompts/get or resources/read", Got: clip(o.Request.Method),
		})
	}
	asked := inputRequestsOf(o)
	_, state := schemas.Member(o.Message.Result, "requestState")
	o.Check(len(asked) > 0 || state, "INPUT-REQUIRED-CONTENT", trace.Server, Fault{
		Detail: "a result that asks for input has neither requests nor state", Want: "/result: inputRequests or requestState", Got: "neither",
	})
	for _, in := range asked {
		kind := slices.Contains([]string{"elicitation/create", "sampling/createMessage", "roots/list"}, in.method)
		o.Check(kind, "INPUT-REQUIRED-KINDS", trace.Server, Fault{
			Detail: "what is asked for is neither elicitation, sampling nor roots", Want: "/result/inputRequests/" + in.key + "/method: one of the three", Got: quoteOr(in.method, "absent"),
		})
		if kind && o.Request.Params != nil {
			o.Check(o.Request.declares(needsOf(in.method)), "INPUT-REQUIRED-DECLARED", trace.Server, Fault{
				Detail: "input is asked for by means that the request does not declare", Want: "clientCapabilities." + needsOf(in.method), Got: in.method + " without it",
			})
		}
	}
}

// retries: a client repeats a request with the answers and the state that it
// was given, under a new id (2026-07-28 basic/patterns/mrtr, client requirements).
type retries struct{ issued []issue }

// issue is one result that asked for input.
type issue struct {
	method, id string
	keys       []string
	state      string
	hasState   bool
}

func (r *retries) Observe(o *Observation) {
	switch {
	case !o.Session.Modern:
	case o.is(schemas.Request) && o.From() == trace.Client:
		r.retried(o)
	case o.is(schemas.Result) && o.Request != nil && o.From() == trace.Server && textParam(o.Message.Result, "resultType") == "input_required":
		state, has := schemas.Member(o.Message.Result, "requestState")
		i := issue{method: o.Request.Method, id: o.Request.Key, state: schemas.IDKey(state), hasState: has}
		for _, in := range inputRequestsOf(o) {
			i.keys = append(i.keys, in.key)
		}
		if r.issued = append(r.issued, i); len(r.issued) > recently {
			r.issued = r.issued[1:]
		}
	}
}

func (r *retries) retried(o *Observation) {
	state, hasState := o.param("requestState")
	responses, hasResponses := o.param("inputResponses")
	if !hasState && !hasResponses {
		return
	}
	keys, _ := objectKeys(responses)
	match := r.match(o, keys, schemas.IDKey(state), hasState)
	if match == nil {
		if hasState && !o.Session.Partial && len(r.issued) > 0 {
			o.Fail("INPUT-RESPONSES-STATE", trace.Client, Fault{
				Detail: "a request carries a state that it was not given", Want: "/params/requestState: one that a result gave for this method", Got: "another",
			})
		}
		return
	}
	o.Check(match.hasState == hasState, "INPUT-RESPONSES-STATE", trace.Client, Fault{
		Detail: "a retry does not carry the state that it was given", Want: "/params/requestState: as given", Got: "absent",
	})
	o.Check(match.id != o.Request.Key, "INPUT-RETRY-NEW-ID", trace.Client, Fault{
		Detail: "a retry has the id of the request that it repeats", Want: "/id: another", Got: got(o.Message.ID, true),
	})
}

// match finds the latest result that the retry can be an answer to. States may
// have been given on other connections; answers without state may fit several.
func (r *retries) match(o *Observation, keys []string, state string, hasState bool) *issue {
	for i := len(r.issued) - 1; i >= 0; i-- {
		one := &r.issued[i]
		if one.method != o.Message.Method {
			continue
		}
		if hasState && one.hasState && one.state == state {
			return one
		}
		if !hasState && slices.ContainsFunc(keys, func(k string) bool { return slices.Contains(one.keys, k) }) {
			return one
		}
	}
	return nil
}
