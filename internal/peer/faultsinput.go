package peer

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// asking matches results that ask for input.
func asking(m *sent) bool {
	return m.final && m.result() != nil && m.result()["resultType"] == "input_required"
}

// eachInput changes every embedded request.
func eachInput(change func(method string, req obj)) func(*sent) {
	return func(m *sent) {
		asked, _ := m.result()["inputRequests"].(obj)
		for _, r := range asked {
			req, _ := r.(obj)
			method, _ := req["method"].(string)
			change(method, req)
		}
	}
}

func inputFaults() []Fault {
	all := []Fault{
		{Name: "undeclared-input-asked", Breaks: "The server asks for input by means that the request does not declare.", Requirements: []string{"INPUT-REQUIRED-DECLARED", "CAPABILITY-NOT-ASSUMED"}},
		{Name: "input-required-elsewhere", Breaks: "Input is asked for in answer to a completion.", Requirements: []string{"INPUT-REQUIRED-METHODS", "SCHEMA-RESULT", "COMPLETION-ANSWERED"},
			edit: when(resultOf("completion/complete"), func(m *sent) {
				delete(m.result(), "completion")
				m.result()["resultType"], m.result()["requestState"] = "input_required", "later"
			})},
		{Name: "input-required-empty", Breaks: "A result asks for input without saying which.", Requirements: []string{"INPUT-REQUIRED-CONTENT"},
			edit: when(asking, func(m *sent) { delete(m.result(), "inputRequests"); delete(m.result(), "requestState") })},
		{Name: "input-required-kind", Breaks: "A result asks for a ping.", Requirements: []string{"INPUT-REQUIRED-KINDS", "SCHEMA-RESULT"},
			edit: when(asking, eachInput(func(_ string, req obj) { req["method"] = "ping"; delete(req, "params") }))},
		{Name: "url-input-undeclared", Breaks: "A result asks for input by a URL, which the request does not declare.", Requirements: []string{"ELICITATION-MODE-DECLARED", "INPUT-REQUIRED-DECLARED"},
			edit: when(asking, eachInput(func(method string, req obj) {
				if method == "elicitation/create" {
					req["params"] = obj{"mode": "url", "message": "Please go there", "url": "https://example.com/form"}
				}
			}))},
		{Name: "sampling-tools-input-undeclared", Breaks: "A result asks for sampling with tools, which the request does not declare.", Requirements: []string{"SAMPLING-TOOLS-DECLARED", "INPUT-REQUIRED-DECLARED"},
			edit: when(asking, eachInput(func(method string, req obj) {
				if method == "sampling/createMessage" {
					req["params"].(obj)["tools"] = []any{obj{"name": "look", "inputSchema": obj{"type": "object"}}}
				}
			}))},
		{Name: "input-without-max-tokens", Breaks: "A result asks for sampling without saying how many tokens may be sampled.", Requirements: []string{"SAMPLING-MAX-TOKENS", "SCHEMA-RESULT"},
			edit: when(asking, eachInput(func(method string, req obj) {
				if method == "sampling/createMessage" {
					delete(req["params"].(obj), "maxTokens")
				}
			}))},
		{Name: "state-unverified", Breaks: "A call goes on with a state that the server did not give.", Requirements: []string{"INPUT-STATE-VERIFIED"},
			edit: when(refusing(codeInvalidParams, "requestState was not issued"), becomes(obj{"content": []any{}}))},
		{Name: "answer-missing-refused", Breaks: "A call that lacks an answer fails.", Requirements: []string{"INPUT-RESPONSES-MISSING-ASKED"},
			edit: when(func(m *sent) bool { return asking(m) && retriesElicitation(m) }, fails(codeInvalidParams, "an answer is missing"))},
		{Name: "answer-extra-refused", Breaks: "A call with one answer too many fails.", Requirements: []string{"INPUT-RESPONSES-EXTRA-IGNORED"},
			edit: when(func(m *sent) bool {
				return retriesElicitation(m) && m.result()["resultType"] == "complete" && bytes.Contains(m.request["inputResponses"], []byte(`"mcp-conform"`))
			}, fails(codeInvalidParams, "an answer too many"))},
		{Name: "answers-invalid-accepted", Breaks: "Answers that are no object are let pass.", Requirements: []string{"INPUT-RESPONSES-INVALID-REFUSED"},
			edit: when(refusing(codeInvalidParams, "inputResponses must be an object"), becomes(obj{"content": []any{}}))},
		{Name: "declined-unanswered", Breaks: "A call whose question is declined is not answered.", Requirements: []string{"ELICITATION-DECLINED-HANDLED", "REQUEST-ANSWERED", "HTTP-STREAM-HOLDS-RESPONSE"},
			edit: when(func(m *sent) bool {
				return m.final && m.name == elicitingTool && bytes.Contains(m.request["inputResponses"], []byte(`"user_name":{"action":"decline"`))
			}, func(m *sent) { m.drop = true })},
		{Name: "input-key-twice", Breaks: "Two questions of a result have the same key.", Requirements: []string{"INPUT-KEYS-UNIQUE"},
			edit: when(asking, func(m *sent) {
				text := encode(m.msg)
				key, question, ok := firstInput(m)
				if ok {
					again := append(append(append([]byte(`"inputRequests":{`), encode(key)...), ':'), append(encode(question), ',')...)
					m.raw = bytes.Replace(text, []byte(`"inputRequests":{`), again, 1)
				}
			})},
		{Name: "input-role-unknown", Breaks: "A message for sampling has the role system.", Requirements: []string{"SAMPLING-MESSAGES", "SCHEMA-RESULT"},
			edit: when(asking, eachInput(func(method string, req obj) {
				if method == "sampling/createMessage" {
					req["params"].(obj)["messages"] = []any{obj{"role": "system", "content": obj{"type": "text", "text": "hello"}}}
				}
			}))},
		{Name: "secret-mirrored", Breaks: "A parameter for an API key is to be mirrored into a header.", Requirements: []string{"TOOLS-HEADER-NOT-SENSITIVE"},
			edit: when(resultOf("tools/list"), func(m *sent) { mirrorKey(m.result()) })},
		{Name: "scope-of-first-page", Breaks: "The first page of a list has another scope than the last.", Requirements: []string{"CACHE-SCOPE-PAGES"},
			edit: when(func(m *sent) bool {
				return m.result() != nil && strings.HasSuffix(m.re, "/list") && m.request["cursor"] == nil
			},
				func(m *sent) {
					if r := m.result(); r["cacheScope"] == "public" {
						r["cacheScope"] = "private"
					} else {
						r["cacheScope"] = "public"
					}
				})},
	}
	for i := range all {
		all[i].Since = modern
	}
	return all
}

const elicitingTool = "test_input_required_result_elicitation"

// retriesElicitation matches results of retries of the tool that asks one question.
func retriesElicitation(m *sent) bool {
	return m.result() != nil && m.name == elicitingTool && m.request["inputResponses"] != nil
}

// firstInput returns a question of a result, with its key.
func firstInput(m *sent) (key string, question any, ok bool) {
	questions, _ := m.result()["inputRequests"].(obj)
	for _, k := range slices.Sorted(maps.Keys(questions)) {
		return k, questions[k], true
	}
	return "", nil, false
}

// mirrorKey adds a parameter to the first tool of a list, and a header for it.
func mirrorKey(result obj) {
	var tools []obj
	if json.Unmarshal(encode(result["tools"]), &tools) != nil || len(tools) == 0 {
		return
	}
	schema, _ := tools[0]["inputSchema"].(map[string]any)
	if schema["properties"] == nil {
		schema["properties"] = map[string]any{}
	}
	schema["properties"].(map[string]any)["api_key"] = obj{"type": "string", "x-mcp-header": "Api-Key"}
	result["tools"] = tools
}

// elicitationFaults are those of requests for input up to 2025-11-25.
func elicitationFaults() []Fault {
	asked := saying("elicitation/create")
	all := []Fault{
		{Name: "form-for-password", Breaks: "A form asks for a password.", Requirements: []string{"ELICITATION-NO-SECRETS"},
			edit: when(asked, param("requestedSchema", obj{"type": "object", "properties": obj{"password": obj{"type": "string"}}}))},
		{Name: "form-with-link", Breaks: "The message of a form holds a URL.", Requirements: []string{"ELICITATION-FORM-NO-URLS"}, Since: r2511,
			edit: when(asked, param("message", "Please pay at https://pay.acme.io/now"))},
		{Name: "form-without-message", Breaks: "A form has no message.", Requirements: []string{"ELICITATION-PARAMS", "SCHEMA-REQUEST"}, Since: r2511,
			edit: when(asked, param("message", nil))},
		{Name: "uri-with-space", Breaks: "The URI of a resource has a space in it.", Requirements: []string{"RESOURCES-URI", "SCHEMA-RESULT"},
			edit: when(resultOf("resources/list"), func(m *sent) {
				var list []obj
				if json.Unmarshal(encode(m.result()["resources"]), &list) == nil {
					m.result()["resources"] = append(list, obj{"uri": "test://a b", "name": "spaced"})
				}
			})},
	}
	for i := range all {
		if all[i].Since == "" {
			all[i].Since = r2506
		}
		all[i].Until = modern
	}
	return all
}
