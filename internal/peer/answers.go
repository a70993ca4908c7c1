package peer

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/mcp-conform/mcp-conform/schemas"
)

// answer answers a request of the server, in the handshake era. In the stateless
// era a server sends none and a client sends no responses: it is ignored.
func (t *talk) answer(ctx context.Context, p packet) {
	if t.revision().Stateless() {
		t.logf("ignoring a request of the server: %s", p.method)
		return
	}
	result, e := t.input(p.method, p.params)
	if p.bad != nil {
		e = p.bad
	}
	m := answer(p.id, result)
	if e != nil {
		m = failure(p.id, e)
	}
	out := t.dress(m)
	out.re, out.final = p.method, true
	if err := t.link.send(ctx, out); err != nil {
		t.logf("answering %s: %v", p.method, err)
	}
}

// input makes what the server asks for: the result of one of its requests.
func (t *talk) input(method string, params fields) (obj, *rpcError) {
	declared := func(capability string) bool { _, ok := t.caps[capability]; return ok }
	unknown := &rpcError{code: codeMethodNotFound, message: "the client does not offer " + method}
	switch method {
	case "ping":
		return obj{}, nil
	case "roots/list":
		if !declared("roots") {
			return nil, unknown
		}
		return obj{"roots": []any{obj{"uri": "file:///test/root", "name": "Test Root"}}}, nil
	case "sampling/createMessage":
		if !declared("sampling") {
			return nil, unknown
		}
		return sampled(params)
	case "elicitation/create":
		if !declared("elicitation") {
			return nil, unknown
		}
		return t.elicited(params)
	}
	return nil, unknown
}

func sampled(params fields) (obj, *rpcError) {
	if _, ok := params.value("messages").([]any); !ok {
		return nil, invalidParams("sampling needs messages")
	}
	return obj{
		"role": "assistant", "model": "test-model", "stopReason": "endTurn",
		"content": textBlock("This is a test response from the client"),
	}, nil
}

// elicited fills in a form. Another mode was not declared and is refused
// (2025-11-25 client/elicitation Error Handling).
func (t *talk) elicited(params fields) (obj, *rpcError) {
	if mode, has := params.text("mode"); has && mode != "form" {
		return nil, invalidParams("the client has not declared the mode %s", mode)
	}
	form, ok := params.object("requestedSchema")
	if !ok {
		return nil, invalidParams("elicitation needs a requestedSchema")
	}
	content := obj{}
	properties, _ := form.value("properties").(obj)
	for k, v := range properties {
		schema, _ := v.(obj)
		content[k] = sampleValue(schema)
	}
	return obj{"action": "accept", "content": content}, nil
}

// sampleValue makes a value that fits a schema of the simple kinds: for forms
// and for the arguments of tools.
func sampleValue(schema obj) any {
	if d, ok := schema["default"]; ok {
		return d
	}
	if c, ok := schema["const"]; ok {
		return c
	}
	for _, k := range []string{"enum", "oneOf", "anyOf"} {
		if vs, ok := schema[k].([]any); ok && len(vs) > 0 {
			if s, ok := vs[0].(obj); ok && k != "enum" {
				return sampleValue(s)
			}
			return vs[0]
		}
	}
	low, _ := schema["minimum"].(float64)
	switch schema["type"] {
	case "boolean":
		return true
	case "integer", "number":
		return max(low, 2)
	case "array":
		items, _ := schema["items"].(obj)
		return []any{sampleValue(items)}
	case "object":
		return sampleArguments(schema)
	}
	switch schema["format"] {
	case "email":
		return "test@example.com"
	case "uri":
		return "https://example.com/"
	case "date":
		return "2026-07-28"
	case "date-time":
		return "2026-07-28T12:00:00Z"
	}
	return "test"
}

// sampleArguments makes an object with the required properties.
func sampleArguments(schema obj) obj {
	args := obj{}
	properties, _ := schema["properties"].(obj)
	required, _ := schema["required"].([]any)
	for _, k := range required {
		name, _ := k.(string)
		property, _ := properties[name].(obj)
		args[name] = sampleValue(property)
	}
	return args
}

// maxRounds bounds how often a server may ask for more input.
const maxRounds = 8

// callInput calls a method that may ask for input first, and gives it (2026-07-28
// basic/patterns/mrtr Client Requirements): all that was asked for, the state as
// it came, none if none came, and a new id each time.
func (t *talk) callInput(ctx context.Context, method string, params obj) (fields, error) {
	given := maps.Clone(params)
	for n := range maxRounds {
		if n > 0 {
			t.stepBack("retry-with-old-id")
		}
		result, err := t.call(ctx, method, given)
		if err != nil {
			return nil, err
		}
		if kind, _ := result.text("resultType"); kind != "input_required" || !t.revision().Stateless() {
			return result, nil
		}
		given = maps.Clone(params)
		if asked, ok := result.object("inputRequests"); ok {
			responses, err := t.inputs(asked)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", method, err)
			}
			given["inputResponses"] = responses
		}
		if state, ok := result.text("requestState"); ok {
			given["requestState"] = state
		}
	}
	return nil, fmt.Errorf("%s: the server still asks for input after %d rounds", method, maxRounds)
}

// inputs makes one result for each request that is embedded in a result.
func (t *talk) inputs(asked fields) (obj, error) {
	responses := obj{}
	for _, k := range slices.Sorted(maps.Keys(asked)) {
		req, _ := asked.object(k)
		method, _ := req.text("method")
		params, _ := req.object("params")
		if method == "ping" {
			return nil, errors.New("ping is no input")
		}
		result, e := t.input(method, params)
		if e != nil {
			return nil, fmt.Errorf("input %s: %w", k, e)
		}
		responses[k] = result
	}
	return responses, nil
}

// negotiable lists the revisions of the handshake era that the client speaks.
func negotiable() []schemas.Revision {
	return slices.DeleteFunc(schemas.Revisions(), schemas.Revision.Stateless)
}
