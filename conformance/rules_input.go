package conformance

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

func inputRules() []ruleEntry {
	return []ruleEntry{
		plain(modern(inputRequired), "INPUT-REQUIRED-METHODS", "INPUT-REQUIRED-CONTENT", "INPUT-REQUIRED-KINDS", "INPUT-REQUIRED-DECLARED", "INPUT-KEYS-UNIQUE"),
		stateful(func() Rule { return &retries{} }, "INPUT-RESPONSES-STATE", "INPUT-RETRY-NEW-ID",
			"INPUT-RESPONSES-OWN", "INPUT-RESPONSES-COMPLETE", "ROOTS-DECLARED", "SAMPLING-DECLARED", "ELICITATION-DECLARED"),
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
	if raw, ok := schemas.Member(o.Message.Result, "inputRequests"); ok && len(asked) > 0 && !o.Lacks(trace.LackBytes) {
		twice := repeatedKey(raw)
		o.Check(twice == "", "INPUT-KEYS-UNIQUE", trace.Server, Fault{
			Detail: "two questions have the same key", Want: "/result/inputRequests: each key once", Got: clip(twice),
		})
	}
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

// repeatedKey returns a key that stands more than once in a JSON object, "" if
// none does.
func repeatedKey(object json.RawMessage) string {
	d := json.NewDecoder(bytes.NewReader(object))
	if _, err := d.Token(); err != nil {
		return ""
	}
	seen := map[string]bool{}
	for d.More() {
		key, err := d.Token()
		name, ok := key.(string)
		if err != nil || !ok {
			return ""
		}
		if seen[name] {
			return name
		}
		seen[name] = true
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return ""
		}
	}
	return ""
}

// retries: a client repeats a request with the answers and the state that it
// was given, under a new id (2026-07-28 basic/patterns/mrtr, client requirements).
type retries struct{ issued []issue }

// issue is one result that asked for input.
type issue struct {
	method, id string
	target     string // name or URI in the params
	keys       []string
	asks       map[string]string // methods, by key
	state      string
	hasState   bool
}

// targetOf returns what a request is about: the name of a tool or prompt, or a URI.
func targetOf(params json.RawMessage) string {
	if name := textParam(params, "name"); name != "" {
		return name
	}
	return textParam(params, "uri")
}

func (r *retries) Observe(o *Observation) {
	switch {
	case !o.Session.Modern:
	case o.is(schemas.Request) && o.From() == trace.Client:
		r.retried(o)
	case o.is(schemas.Result) && o.Request != nil && o.From() == trace.Server && textParam(o.Message.Result, "resultType") == "input_required":
		state, has := schemas.Member(o.Message.Result, "requestState")
		i := issue{method: o.Request.Method, target: targetOf(o.Request.Params), id: o.Request.Key, state: schemas.IDKey(state), hasState: has, asks: map[string]string{}}
		for _, in := range inputRequestsOf(o) {
			i.keys = append(i.keys, in.key)
			i.asks[in.key] = in.method
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
	if match == nil && r.stray(o, keys, schemas.IDKey(state), hasState) {
		return
	}
	if match == nil {
		if hasState && !o.Session.Partial && len(r.issued) > 0 {
			o.Fail("INPUT-RESPONSES-STATE", trace.Client, Fault{
				Detail: "a request carries a state that it was not given", Want: "/params/requestState: one that a result gave for this method", Got: "another",
			})
		}
		return
	}
	o.Pass("INPUT-RESPONSES-OWN", trace.Client)
	r.complete(o, match, responses)
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
		if one.method != o.Message.Method || one.target != targetOf(o.Message.Params) {
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

// stray judges answers or state that were given for another request: no other
// may carry them (2026-07-28 basic/patterns/mrtr, client requirements). It
// reports whether it has said so.
func (r *retries) stray(o *Observation, keys []string, state string, hasState bool) bool {
	for _, one := range r.issued {
		same := one.method == o.Message.Method && one.target == targetOf(o.Message.Params)
		byState := hasState && one.hasState && one.state == state
		byKeys := !hasState && !o.Session.Partial && slices.ContainsFunc(keys, func(k string) bool { return slices.Contains(one.keys, k) })
		if !same && (byState || byKeys) {
			o.Fail("INPUT-RESPONSES-OWN", trace.Client, Fault{
				Detail: "a request carries what belongs to another", Want: "inputResponses and requestState with a retry alone", Got: "those of " + clip(one.method+" "+one.target),
			})
			return true
		}
	}
	return false
}

// complete judges the answers of a retry: one for each question, and of no kind
// that the retry does not declare.
func (r *retries) complete(o *Observation, match *issue, responses json.RawMessage) {
	missing := ""
	for _, key := range match.keys {
		if _, ok := schemas.Member(responses, key); !ok {
			missing = key
			continue
		}
		requirement := map[string]string{
			"roots/list": "ROOTS-DECLARED", "sampling/createMessage": "SAMPLING-DECLARED", "elicitation/create": "ELICITATION-DECLARED",
		}[match.asks[key]]
		if need := needsOf(match.asks[key]); requirement != "" && !o.Request.faults.meta {
			o.Check(o.Request.declares(need), requirement, trace.Client, Fault{
				Detail: "the client answers what it does not declare", Want: "clientCapabilities." + need, Got: match.asks[key] + " answered without it",
			})
		}
	}
	if len(match.keys) > 0 {
		o.Check(missing == "", "INPUT-RESPONSES-COMPLETE", trace.Client, Fault{
			Detail: "a retry does not answer all that was asked for", Want: "/params/inputResponses/" + clip(missing), Got: "absent",
		})
	}
}
