package peer

import (
	"strings"
)

// undeclared removes a capability of the server, but for what it does.
func undeclared(capability string) func(*sent) {
	return func(m *sent) {
		if resultOf("initialize")(m) || resultOf("server/discover")(m) {
			caps, _ := m.result()["capabilities"].(obj)
			delete(caps, capability)
		}
	}
}

func capabilityFaults() []Fault {
	notFound := fails(codeMethodNotFound, "that is not offered")
	all := []Fault{
		{Name: "logging-undeclared", Breaks: "The server sends log messages without declaring logging.", Requirements: []string{"LOGGING-DECLARED"}, Until: modern,
			edit: func(m *sent) {
				undeclared("logging")(m)
				when(isProbe, before(notification("notifications/message", obj{"level": "emergency", "data": "undeclared"})))(m)
			}},
		{Name: "list-changed-undeclared", Breaks: "The server tells of changed tools without declaring that it does.", Requirements: []string{"LIFECYCLE-SERVER-CAPABILITIES-RESPECTED"}, Until: modern,
			edit: func(m *sent) {
				if resultOf("initialize")(m) {
					caps, _ := m.result()["capabilities"].(obj)
					caps["tools"] = obj{}
				}
				when(isProbe, before(notification("notifications/tools/list_changed", nil)))(m)
			}},
		{Name: "undeclared-capability-used", Breaks: "The server asks for sampling that the client has not declared.", Requirements: []string{"LIFECYCLE-SERVER-CAPABILITIES-RESPECTED"}, Until: modern},
		{Name: "elicitation-mode-undeclared", Breaks: "The server asks for input by a URL, which the client has not declared.", Requirements: []string{"ELICITATION-MODE-DECLARED"}, Since: r2511, Until: modern,
			edit: when(saying("elicitation/create"), func(m *sent) {
				m.msg["params"] = obj{"mode": "url", "message": "Please go there", "url": "https://example.com/form", "elicitationId": "1"}
			})},
		{Name: "sampling-tools-undeclared", Breaks: "The server gives tools to sampling, which the client has not declared.", Requirements: []string{"SAMPLING-TOOLS-DECLARED"}, Since: r2511, Until: modern,
			edit: when(saying("sampling/createMessage"), param("tools", []any{obj{"name": "look", "inputSchema": obj{"type": "object"}}}))},
		{Name: "max-tokens-missing", Breaks: "A sampling request does not say how many tokens may be sampled.", Requirements: []string{"SAMPLING-MAX-TOKENS"}, Until: modern,
			edit: when(saying("sampling/createMessage"), param("maxTokens", nil))},
		{Name: "sampling-messages-text", Breaks: "The messages of a sampling request are one text.", Requirements: []string{"SCHEMA-REQUEST"}, Until: modern,
			edit: when(saying("sampling/createMessage"), param("messages", "hello"))},
	}
	for _, c := range []struct{ capability, requirement string }{
		{"tools", "TOOLS-DECLARED"}, {"prompts", "PROMPTS-DECLARED"}, {"resources", "RESOURCES-DECLARED"}, {"completions", "COMPLETIONS-DECLARED"},
	} {
		f := Fault{Name: c.capability + "-undeclared", Breaks: "The server does not declare the capability " + c.capability + ", which it has.",
			Requirements: []string{c.requirement}, edit: undeclared(c.capability)}
		if c.capability == "completions" {
			f.Since = r2503
		}
		all = append(all, f)
	}
	for _, c := range []struct{ method, requirement string }{
		{"tools/list", "TOOLS-LIST-ANSWERED"}, {"prompts/list", "PROMPTS-LIST-ANSWERED"}, {"resources/list", "RESOURCES-LIST-ANSWERED"},
		{"logging/setLevel", "LOGGING-SET-LEVEL"}, {"completion/complete", "COMPLETION-ANSWERED"}, {"resources/subscribe", "RESOURCES-SUBSCRIBE-ANSWERED"},
	} {
		f := Fault{Name: strings.ReplaceAll(strings.ToLower(c.method), "/", "-") + "-refused", Breaks: "The server does not answer " + c.method + ", which it has declared.",
			Requirements: []string{c.requirement}, edit: when(resultOf(c.method), notFound)}
		switch c.method {
		case "completion/complete":
			f.Since = r2503
		case "logging/setLevel", "resources/subscribe":
			f.Until = modern
		}
		all = append(all, f)
	}
	return all
}

func featureFaults() []Fault {
	return []Fault{
		{Name: "bad-cursor-accepted", Breaks: "A cursor that the server never gave is accepted.", Requirements: []string{"PAGINATION-INVALID-CURSOR"},
			edit: when(refusing(codeInvalidParams, "is no cursor of"), func(m *sent) {
				key := strings.TrimSuffix(m.re, "/list")
				if m.re == "resources/templates/list" {
					key = "resourceTemplates"
				}
				becomes(obj{key: []any{}})(m)
				if m.rev.Stateless() {
					m.result()["ttlMs"], m.result()["cacheScope"] = 0, "public"
				}
			})},
		{Name: "missing-resource-code", Breaks: "A missing resource is answered with an internal error.", Requirements: []string{"RESOURCES-NOT-FOUND"},
			edit: func(m *sent) {
				if refusing(codeNoResource, "no such resource")(m) || refusing(codeInvalidParams, "no such resource")(m) {
					recodes(codeInternal)(m)
				}
			}},
		{Name: "missing-resource-empty", Breaks: "A missing resource is answered with empty contents.", Requirements: []string{"RESOURCES-NOT-FOUND-NOT-EMPTY", "RESOURCES-NOT-FOUND"}, Since: modern,
			edit: when(refusing(codeInvalidParams, "no such resource"), becomes(obj{"contents": []any{}, "ttlMs": 0, "cacheScope": "private"}))},
		{Name: "resource-unreadable", Breaks: "A listed resource cannot be read.", Requirements: []string{"RESOURCES-READ-RESULT"},
			edit: when(resultOf("resources/read"), fails(codeInternal, "the resource cannot be read"))},
		{Name: "prompt-unavailable", Breaks: "A listed prompt cannot be got.", Requirements: []string{"PROMPTS-GET-RESULT"},
			edit: when(resultOf("prompts/get"), fails(codeInternal, "the prompt cannot be made"))},
		{Name: "unknown-prompt-accepted", Breaks: "An unknown prompt is answered with a result.", Requirements: []string{"PROMPTS-UNKNOWN"},
			edit: when(refusing(codeInvalidParams, "there is no prompt"), becomes(obj{"messages": []any{}}))},
		{Name: "too-many-completions", Breaks: "A completion offers more than 100 values.", Requirements: []string{"COMPLETION-VALUES-LIMIT"},
			edit: when(resultOf("completion/complete"), func(m *sent) {
				values := make([]string, 101)
				for i := range values {
					values[i] = "value"
				}
				m.result()["completion"] = obj{"values": values}
			})},
		{Name: "log-level-ignored", Breaks: "The server logs without regard to the level that the client has set.", Requirements: []string{"LOGGING-LEVEL-RESPECTED"}, Until: modern},
		{Name: "invalid-level-accepted", Breaks: "A log level that does not exist is accepted.", Requirements: []string{"LOGGING-INVALID-LEVEL"}},
	}
}

// extraTool lists one more tool, on the last page.
func extraTool(t obj) func(*sent) {
	return when(resultOf("tools/list"), func(m *sent) {
		if items, ok := m.result()["tools"].([]any); ok && m.result()["nextCursor"] == nil {
			m.result()["tools"] = append(items, t)
		}
	})
}

func toolFaults() []Fault {
	object := obj{"type": "object"}
	structured := calling("test_structured_content")
	return []Fault{
		{Name: "tool-listed-twice", Breaks: "Two tools have the same name.", Requirements: []string{"TOOLS-NAMES-UNIQUE"}, Since: r2511,
			edit: extraTool(obj{"name": "test_simple_text", "description": "A second one.", "inputSchema": object})},
		{Name: "tool-name-too-long", Breaks: "The name of a tool has 129 characters.", Requirements: []string{"TOOLS-NAME-LENGTH"}, Since: r2511,
			edit: extraTool(obj{"name": strings.Repeat("n", 129), "inputSchema": object})},
		{Name: "tool-name-characters", Breaks: "The name of a tool has a space and a comma.", Requirements: []string{"TOOLS-NAME-CHARACTERS"}, Since: r2511,
			edit: extraTool(obj{"name": "odd, name", "inputSchema": object})},
		{Name: "input-schema-missing", Breaks: "A tool has no input schema.", Requirements: []string{"TOOLS-INPUT-SCHEMA"},
			edit: extraTool(obj{"name": "odd_tool"})},
		{Name: "input-schema-invalid", Breaks: "The input schema of a tool is no valid JSON Schema.", Requirements: []string{"TOOLS-INPUT-SCHEMA"},
			edit: extraTool(obj{"name": "odd_tool", "inputSchema": obj{"type": "object", "properties": obj{"a": obj{"type": "nonsense"}}}})},
		{Name: "header-annotation-invalid", Breaks: "A parameter is mirrored into a header whose name has spaces.", Requirements: []string{"TOOLS-HEADER-ANNOTATIONS"}, Since: modern,
			edit: extraTool(obj{"name": "odd_tool", "inputSchema": obj{"type": "object", "properties": obj{"a": obj{"type": "string", "x-mcp-header": "no header name"}}}})},
		{Name: "schema-dialect", Breaks: "The input schema of a tool is written in draft 7.", Requirements: []string{"SCHEMA-DIALECT-RECOMMENDED"}, Since: r2511,
			edit: extraTool(obj{"name": "odd_tool", "inputSchema": obj{"type": "object", "$schema": "http://json-schema.org/draft-07/schema#"}})},
		{Name: "output-schema-invalid", Breaks: "The output schema of a tool is no valid JSON Schema.", Requirements: []string{"TOOLS-OUTPUT-SCHEMA"}, Since: r2506,
			edit: extraTool(obj{"name": "odd_tool", "inputSchema": object, "outputSchema": obj{"type": "object", "properties": obj{"a": obj{"type": "nonsense"}}}})},
		{Name: "structured-content-missing", Breaks: "A tool with an output schema returns no structured content.", Requirements: []string{"TOOLS-STRUCTURED-PRESENT"}, Since: r2506,
			edit: when(structured, member("structuredContent", nil))},
		{Name: "structured-content-wrong", Breaks: "Structured content does not conform to the output schema.", Requirements: []string{"TOOLS-STRUCTURED-CONFORMS"}, Since: r2506,
			edit: when(structured, func(m *sent) {
				wrong := obj{"city": "Zurich", "degrees": "warm", "wet": false}
				m.result()["structuredContent"] = wrong
				m.result()["content"] = []any{textBlock(string(encode(wrong)))}
			})},
		{Name: "structured-content-without-text", Breaks: "Structured content is not also given as text.", Requirements: []string{"TOOLS-STRUCTURED-TEXT"}, Since: r2506,
			edit: when(structured, member("content", []any{textBlock("See the structured content.")}))},
		{Name: "tool-without-output", Breaks: "A tool that succeeds returns nothing of what it made.", Requirements: []string{"TOOLS-CALL-RESULT"},
			edit: when(isProbe, member("content", []any{}))},
		{Name: "tool-error-as-protocol-error", Breaks: "A tool that fails says so by a protocol error.", Requirements: []string{"TOOLS-EXECUTION-ERROR"},
			edit: when(calling("test_error_handling"), fails(codeInternal, "the tool has failed"))},
		{Name: "unknown-tool-accepted", Breaks: "A call of an unknown tool is answered with a result.", Requirements: []string{"TOOLS-UNKNOWN", "TOOLS-NAME-CASE"},
			edit: when(refusing(codeInvalidParams, "there is no tool"), becomes(obj{"content": []any{textBlock("Done.")}}))},
	}
}

func utilityFaults() []Fault {
	progress := saying("notifications/progress")
	return []Fault{
		{Name: "progress-unknown-token", Breaks: "Progress is told for a token that no request gave.", Requirements: []string{"PROGRESS-TOKEN-ACTIVE", "HTTP-STREAM-RELATED"},
			edit: when(progress, param("progressToken", "nobody's token"))},
		{Name: "progress-not-increasing", Breaks: "The progress value does not grow.", Requirements: []string{"PROGRESS-INCREASES"},
			edit: when(progress, param("progress", 50))},
		{Name: "progress-after-end", Breaks: "Progress is told after the request was answered.", Requirements: []string{"PROGRESS-STOPS", "HTTP-STREAM-ENDS"},
			edit: when(calling("test_tool_with_progress"), func(m *sent) {
				meta, _ := m.request.object("_meta")
				if token, ok := meta["progressToken"]; ok {
					m.after = append(m.after, notification("notifications/progress", obj{"progressToken": token, "progress": 101}))
				}
			})},
		{Name: "progress-token-type", Breaks: "The progress token of a request is a fraction.", Requirements: []string{"PROGRESS-TOKEN-TYPE"}, Until: modern,
			edit: when(saying("sampling/createMessage"), param("_meta", obj{"progressToken": 1.5}))},
		{Name: "cancelled-answered", Breaks: "A request that was cancelled is answered.", Requirements: []string{"CANCEL-NO-RESPONSE"}, Transports: overStdio()},
		{Name: "cancels-what-it-never-asked", Breaks: "The server cancels a request that it has not made.", Requirements: []string{"CANCEL-OWN-REQUEST"}, Until: modern,
			edit: when(isProbe, before(notification("notifications/cancelled", obj{"requestId": "never made"})))},
		{Name: "cancels-no-subscription", Breaks: "The server cancels what is no subscription.", Requirements: []string{"CANCEL-SERVER-LISTEN-ONLY"}, Since: modern,
			edit: when(isProbe, before(notification("notifications/cancelled", obj{"requestId": "never made"})))},
		{Name: "finished-cancellation-answered", Breaks: "A cancellation that comes after the response is answered with an error.", Requirements: []string{"CANCEL-RACE-HARMLESS", "CANCEL-NO-RESPONSE", "IDS-ANSWERED-ONCE", "IDS-RESPONSE-ECHO", "CANCEL-UNKNOWN-IGNORED"}, Transports: overStdio(),
			edit: when(heard("notifications/cancelled"), func(m *sent) {
				m.after = append(m.after, failure(m.request["requestId"], invalidParams("there is no such request")))
			})},
		{Name: "late-cancellation-answered", Breaks: "A cancellation of an unknown request is answered with an error.", Requirements: []string{"CANCEL-UNKNOWN-IGNORED", "ENVELOPE-NOTIFICATION-UNANSWERED"}, Transports: overStdio(),
			edit: when(heard("notifications/cancelled"), after(failure(nil, invalidParams("there is no such request"))))},
	}
}

// nameFaults take for known what is not.
func nameFaults() []Fault {
	return []Fault{
		{Name: "no-uri-read", Breaks: "What is no URI can be read.", Requirements: []string{"RESOURCES-URI-CHECKED"},
			edit: when(func(m *sent) bool {
				return m.re == "resources/read" && m.msg["error"] != nil && strings.Contains(m.name, "no uri")
			}, becomes(obj{"contents": []any{obj{"uri": "test://static-text", "text": "hello"}}, "ttlMs": 0, "cacheScope": "private"}))},
		{Name: "completion-for-nobody", Breaks: "Arguments of a prompt that does not exist are completed.", Requirements: []string{"COMPLETION-UNKNOWN-PROMPT"}, Since: r2503,
			edit: when(func(m *sent) bool { return m.re == "completion/complete" && m.msg["error"] != nil }, becomes(obj{"completion": obj{"values": []any{}}}))},
		{Name: "tool-in-any-case", Breaks: "A tool can be called by its name in another case.", Requirements: []string{"TOOLS-NAME-CASE"}, Since: r2511,
			edit: when(func(m *sent) bool {
				return m.re == "tools/call" && m.name == "Test_Simple_Text" && m.msg["error"] != nil
			}, becomes(obj{"content": []any{}}))},
	}
}
