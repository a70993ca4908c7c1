package peer

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/trace"
)

// serverFaults is the table of what the reference server can do wrong. A fault
// without edit and head is committed where the code asks for it by name.
func serverFaults() []Fault {
	var all []Fault
	for _, part := range [][]Fault{
		envelopeFaults(), idFaults(), handshakeFaults(), capabilityFaults(), featureFaults(), toolFaults(),
		utilityFaults(), stdioFaults(), httpFaults(), statelessFaults(), statelessHTTPFaults(), inputFaults(), elicitationFaults(), nameFaults(), listenFaults(),
	} {
		all = append(all, part...)
	}
	for i := range all {
		all[i].Side = trace.Server
	}
	return all
}

func envelopeFaults() []Fault {
	return []Fault{
		{Name: "missing-jsonrpc", Breaks: "A response has no jsonrpc member.", Requirements: []string{"ENVELOPE-JSONRPC"},
			edit: when(isProbe, whole("jsonrpc", nil))},
		{Name: "wrong-jsonrpc", Breaks: `A response says jsonrpc "1.0".`, Requirements: []string{"ENVELOPE-JSONRPC"},
			edit: when(isProbe, whole("jsonrpc", "1.0"))},
		{Name: "invalid-utf8", Breaks: "A response holds bytes that are no UTF-8.", Requirements: []string{"ENVELOPE-UTF8"}, Since: r2503,
			edit: when(isProbe, func(m *sent) {
				m.raw = bytes.Replace(encode(m.msg), []byte("simple"), []byte("s\xffmple"), 1)
			})},
		{Name: "array-message", Breaks: "A response comes inside an array.", Requirements: []string{"ENVELOPE-SINGLE"}, Since: r2506,
			edit: when(isProbe, func(m *sent) { m.raw = encode([]any{m.msg}) })},
		{Name: "result-and-error", Breaks: "A response has both a result and an error.", Requirements: []string{"ENVELOPE-RESULT-OR-ERROR"},
			edit: when(isProbe, whole("error", obj{"code": codeInternal, "message": "and yet"}))},
		{Name: "error-code-text", Breaks: "The code of an error is a string.", Requirements: []string{"ENVELOPE-ERROR-CODE", "PROMPTS-UNKNOWN"},
			edit: when(refusing(codeInvalidParams, "there is no prompt"), recodes("invalid"))},
		{Name: "error-without-code", Breaks: "An error has no code.", Requirements: []string{"ENVELOPE-ERROR-CODE", "PROMPTS-UNKNOWN"},
			edit: when(refusing(codeInvalidParams, "there is no prompt"), recodes(nil))},
		{Name: "error-without-message", Breaks: "An error has no message.", Requirements: []string{"ENVELOPE-ERROR-MESSAGE"},
			edit: when(refusing(codeInvalidParams, "there is no prompt"), func(m *sent) { delete(m.msg["error"].(obj), "message") })},
		{Name: "notification-with-id", Breaks: "A notification has an id.", Requirements: []string{"ENVELOPE-NOTIFICATION-NO-ID", "SERVER-NO-REQUESTS"},
			edit: when(saying("notifications/progress"), func(m *sent) {
				if m.params()["progress"] == 100.0 { // once is enough
					m.msg["id"] = "progress"
				}
			})},
		{Name: "notification-answered", Breaks: "The server responds to a notification.", Requirements: []string{"ENVELOPE-NOTIFICATION-UNANSWERED"}, Transports: overStdio(),
			edit: func(m *sent) {
				if m.drop && strings.HasPrefix(m.re, "notifications/") && m.re != "notifications/cancelled" {
					m.after = append(m.after, obj{"jsonrpc": "2.0", "id": nil, "error": obj{"code": codeMethodNotFound, "message": "there is no such method"}})
				}
			}},
		{Name: "params-array", Breaks: "The params of a notification are an array.", Requirements: []string{"ENVELOPE-PARAMS-OBJECT", "HTTP-STREAM-RELATED"},
			edit: when(saying("notifications/progress"), whole("params", []any{1}))},
		{Name: "batch-empty", Breaks: "The server sends an empty batch.", Requirements: []string{"BATCH-SHAPE"}, Since: r2503, Until: r2506,
			edit: when(isProbe, before([]any{}))},
		{Name: "batch-refused", Breaks: "The server does not take a batch.", Requirements: []string{"BATCH-RECEIVED"}, Since: r2503, Until: r2506},
		{Name: "content-missing", Breaks: "The result of a tool has no content.", Requirements: []string{"SCHEMA-RESULT", "TOOLS-CALL-RESULT"},
			edit: when(isProbe, member("content", nil))},
		{Name: "notification-misses-param", Breaks: "A progress notification has no progress value.", Requirements: []string{"SCHEMA-NOTIFICATION"},
			edit: when(saying("notifications/progress"), param("progress", nil))},
		{Name: "meta-key-prefix", Breaks: "A _meta key has a prefix that begins with a digit.", Requirements: []string{"META-KEY-PREFIX"}, Since: r2506,
			edit: when(isProbe, withMeta("1.example/key", true))},
		{Name: "meta-key-name", Breaks: "The name of a _meta key begins with a hyphen.", Requirements: []string{"META-KEY-NAME"}, Since: r2506,
			edit: when(isProbe, withMeta("com.example/-key", true))},
		{Name: "meta-key-domain", Breaks: "The prefix of a _meta key is a domain name the right way round.", Requirements: []string{"META-KEY-REVERSE-DNS"}, Since: r2511,
			edit: when(isProbe, withMeta("example.com/key", true))},
		{Name: "unknown-method-code", Breaks: "An unknown method is answered with another code than -32601.", Requirements: []string{"ERROR-METHOD-NOT-FOUND", "HTTP-UNKNOWN-METHOD-404"},
			edit: when(refusing(codeMethodNotFound, "there is no method"), recodes(codeInternal))},
		{Name: "unknown-method-ignored", Breaks: "An unknown method is not answered.", Requirements: []string{"REQUEST-ANSWERED", "ERROR-METHOD-NOT-FOUND", "HTTP-UNKNOWN-METHOD-404", "HTTP-STREAM-HOLDS-RESPONSE", "HTTP-RETRY-SENT"},
			edit: when(refusing(codeMethodNotFound, "there is no method"), func(m *sent) { m.drop = true })},
		{Name: "unknown-method-accepted", Breaks: "An unknown method is answered with a result.", Requirements: []string{"ERROR-METHOD-NOT-FOUND", "HTTP-UNKNOWN-METHOD-404"},
			edit: when(refusing(codeMethodNotFound, "there is no method"), becomes(obj{}))},
		{Name: "invalid-params-accepted", Breaks: "A call without the name of a tool is answered with a result.", Requirements: []string{"ERROR-INVALID-PARAMS"},
			edit: when(refusing(codeInvalidParams, "tools/call needs the name"), becomes(obj{"content": []any{}}))},
		{Name: "reserved-code", Breaks: "An error has a code that is reserved for the specification.", Requirements: []string{"ERROR-RESERVED-CODES"}, Since: modern,
			edit: when(refusing(codeInvalidParams, "there is no tool"), recodes(-32050))},
		{Name: "retired-code", Breaks: "An error has the code that earlier revisions gave to missing resources.", Requirements: []string{"ERROR-RETIRED-CODES", "RESOURCES-NOT-FOUND"}, Since: modern,
			edit: when(refusing(codeInvalidParams, "there is no such resource"), recodes(codeNoResource))},
		{Name: "application-code", Breaks: "An error of the application has a code of JSON-RPC's range.", Requirements: []string{"ERROR-APPLICATION-CODES"}, Since: modern,
			edit: when(refusing(codeInvalidParams, "there is no prompt"), recodes(-32005))},
	}
}

// withMeta adds a key to the _meta of a result.
func withMeta(key string, value any) func(*sent) {
	return func(m *sent) {
		meta, _ := m.result()["_meta"].(obj)
		if meta == nil {
			meta = obj{}
		}
		meta[key] = value
		m.result()["_meta"] = meta
	}
}

func idFaults() []Fault {
	return []Fault{
		{Name: "null-id", Breaks: "A request of the server has the id null.", Requirements: []string{"IDS-NOT-NULL"}, Until: modern,
			edit: when(isProbe, before(request(nil, "ping", nil)))},
		{Name: "fraction-id", Breaks: "A request of the server has the id 1.5.", Requirements: []string{"IDS-STRING-OR-INTEGER"}, Until: modern,
			edit: when(isProbe, before(request(1.5, "ping", nil)))},
		{Name: "reused-id", Breaks: "The server uses the id of a request twice.", Requirements: []string{"IDS-NOT-REUSED", "HTTP-NO-BROADCAST"}, Until: modern,
			edit: func(m *sent) {
				if resultOf("tools/call")(m) || resultOf("tools/list")(m) {
					m.before = append(m.before, request("again", "ping", nil))
				}
			}},
		{Name: "wrong-id", Breaks: "A response carries another id than its request.", Requirements: []string{"IDS-RESPONSE-ECHO"},
			edit: when(isProbe, whole("id", "another"))},
		{Name: "id-as-string", Breaks: "A response carries the id of its request in another JSON type.", Requirements: []string{"IDS-RESPONSE-ECHO"},
			edit: when(isProbe, func(m *sent) {
				if m.id[0] == '"' {
					m.msg["id"] = 1
				} else {
					m.msg["id"] = string(m.id)
				}
			})},
		{Name: "answered-twice", Breaks: "A request is answered twice.", Requirements: []string{"IDS-ANSWERED-ONCE"},
			edit: when(isProbe, func(m *sent) { m.after = append(m.after, m.msg) })},
		{Name: "never-answered", Breaks: "A request is not answered.", Requirements: []string{"REQUEST-ANSWERED", "HTTP-STREAM-HOLDS-RESPONSE", "HTTP-RETRY-SENT"},
			edit: when(isProbe, func(m *sent) { m.drop = true })},
		{Name: "response-to-nobody", Breaks: "The server sends a response to no request.", Requirements: []string{"IDS-RESPONSE-ECHO"},
			edit: when(isProbe, before(failure(encode("nobody"), invalidParams("nobody asked"))))},
	}
}

func handshakeFaults() []Fault {
	return []Fault{
		{Name: "initialize-without-info", Breaks: "The result of initialize says nothing about the server.", Requirements: []string{"LIFECYCLE-INITIALIZE-ANSWERED", "SCHEMA-RESULT"}, Until: modern,
			edit: when(resultOf("initialize"), member("serverInfo", nil))},
		{Name: "any-version-echoed", Breaks: "The server claims to speak whatever version is asked for.", Requirements: []string{"LIFECYCLE-VERSION-OFFERED"}, Until: modern,
			edit: when(resultOf("initialize"), func(m *sent) { m.result()["protocolVersion"] = m.request.value("protocolVersion") })},
		{Name: "unknown-version-offered", Breaks: "The server answers with a version that does not exist.", Requirements: []string{"LIFECYCLE-VERSION-OFFERED"}, Until: modern,
			edit: when(resultOf("initialize"), member("protocolVersion", "1999-01-01"))},
		{Name: "version-not-echoed", Breaks: "The server answers with another version than the one asked for, which it speaks.", Requirements: []string{"LIFECYCLE-VERSION-ECHOED"}, Since: r2503, Until: r2511,
			edit: when(resultOf("initialize"), func(m *sent) {
				if v, _ := m.request.text("protocolVersion"); v == string(r2503) || v == string(r2506) {
					m.result()["protocolVersion"] = string(r2511)
				}
			})},
		{Name: "oldest-version-offered", Breaks: "The server offers its oldest version instead of its latest.", Requirements: []string{"LIFECYCLE-VERSION-LATEST"}, Until: modern,
			edit: when(resultOf("initialize"), func(m *sent) {
				if v, _ := m.request.text("protocolVersion"); v != m.result()["protocolVersion"] {
					m.result()["protocolVersion"] = string(r2024)
				}
			})},
		{Name: "request-before-initialized", Breaks: "The server sends a request before the client has said that it is initialized.", Requirements: []string{"LIFECYCLE-SERVER-WAITS", "TOOLS-CALL-RESULT"}, Until: modern, Transports: overStdio(),
			edit: when(resultOf("initialize"), func(m *sent) {
				caps, _ := m.request.object("capabilities")
				if _, has := caps["sampling"]; has && m.transport == trace.Stdio {
					// Before its answer: a quick client has said that it is initialized
					// before it sees what follows the answer.
					m.before = append(m.before, request("early", "sampling/createMessage", obj{
						"messages": []any{obj{"role": "user", "content": textBlock("Are you ready?")}}, "maxTokens": 1,
					}))
				}
			})},
		{Name: "later-method-used", Breaks: "The server uses a method that the revision does not have yet.", Requirements: []string{"LIFECYCLE-REVISION-RESPECTED"}, Until: r2506,
			edit: when(isProbe, before(request("later", "elicitation/create", obj{
				"message": "Are you there?", "requestedSchema": obj{"type": "object", "properties": obj{}},
			})))},
		{Name: "ping-not-empty", Breaks: "A ping is answered with more than an empty result.", Requirements: []string{"PING-ANSWERED"}, Until: modern,
			edit: when(resultOf("ping"), member("pong", true))},
		{Name: "ping-unanswered", Breaks: "A ping is answered with an error.", Requirements: []string{"PING-ANSWERED"}, Until: modern,
			edit: when(resultOf("ping"), fails(codeMethodNotFound, "there is no such method"))},
	}
}

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

func stdioFaults() []Fault {
	return []Fault{
		{Name: "stdout-banner", Breaks: "The server greets on its standard output.", Requirements: []string{"STDIO-STDOUT-MESSAGES-ONLY"}, Transports: overStdio(),
			edit: func(m *sent) {
				if m.re == atStart {
					m.raw, m.drop = []byte("Reference server is listening"), false
				}
			}},
		{Name: "stdout-log-line", Breaks: "The server logs to its standard output.", Requirements: []string{"STDIO-STDOUT-MESSAGES-ONLY"}, Transports: overStdio(),
			edit: when(isProbe, func(m *sent) {
				if m.transport == trace.Stdio {
					m.raw = append([]byte("INFO calling a tool\n"), encode(m.msg)...)
				}
			})},
		{Name: "pretty-printed", Breaks: "A message spreads over several lines.", Requirements: []string{"STDIO-ONE-LINE"}, Transports: overStdio(),
			edit: when(isProbe, func(m *sent) {
				if m.transport == trace.Stdio {
					var b bytes.Buffer
					_ = json.Indent(&b, encode(m.msg), "", "  ") // of what was just encoded
					m.raw = b.Bytes()
				}
			})},
		{Name: "stays-after-eof", Breaks: "The server goes on when its standard input is closed.", Requirements: []string{"STDIO-SERVER-EXITS"}, Since: modern, Transports: overStdio()},
	}
}

// heads limits a change to some response heads.
func heads(match func(*head) bool, change func(*head)) func(*head) {
	return func(h *head) {
		if match(h) {
			change(h)
		}
	}
}

// status changes the status where it was refused for a reason.
func status(why string, from, to int) func(*head) {
	return heads(func(h *head) bool { return h.status == from && strings.Contains(h.why, why) }, func(h *head) { h.status = to })
}

func httpFaults() []Fault {
	all := []Fault{
		{Name: "notification-200", Breaks: "A notification is answered with status 200.", Requirements: []string{"HTTP-NOTIFICATION-202"}, Since: r2503,
			head: heads(func(h *head) bool { return h.status == 202 }, func(h *head) { h.status = 200 })},
		{Name: "notification-body", Breaks: "A notification is answered with a body.", Requirements: []string{"HTTP-NOTIFICATION-202"}, Since: r2503,
			head: heads(func(h *head) bool { return h.status == 202 }, func(h *head) { h.body = []byte("accepted") })},
		{Name: "refused-with-200", Breaks: "What is no message is refused with status 200.", Requirements: []string{"HTTP-REFUSED-STATUS"}, Since: r2503,
			head: status("not JSON", 400, 200)},
		{Name: "wrong-content-type", Breaks: "A request is answered with text/plain.", Requirements: []string{"HTTP-REQUEST-CONTENT-TYPE"}, Since: r2503,
			head: heads(func(h *head) bool { return h.name == "test_simple_text" && h.status == 200 }, func(h *head) { setHeader(h, "Content-Type", "text/plain") })},
		{Name: "get-answered-with-json", Breaks: "A GET is answered with JSON.", Requirements: []string{"HTTP-GET-STREAM-OR-405"}, Since: r2503, Until: modern,
			head: heads(func(h *head) bool { return h.verb == "GET" && h.status == 200 }, func(h *head) { setHeader(h, "Content-Type", typeJSON) })},
		{Name: "response-on-get-stream", Breaks: "A response is sent on the stream of a GET that resumes nothing.", Requirements: []string{"HTTP-GET-NO-RESPONSE", "HTTP-STREAM-HOLDS-RESPONSE"}, Since: r2503, Until: modern},
		{Name: "stream-without-response", Breaks: "The stream that answers a request ends without a response.", Requirements: []string{"HTTP-STREAM-HOLDS-RESPONSE", "REQUEST-ANSWERED", "HTTP-DISCONNECT-NO-CANCEL"}, Since: r2503, Until: modern,
			edit: when(calling("test_tool_with_progress"), func(m *sent) { m.drop = true })},
		{Name: "stream-left-open", Breaks: "The stream goes on after the response.", Requirements: []string{"HTTP-STREAM-ENDS"}, Since: r2503},
		{Name: "session-id-characters", Breaks: "The session id holds a space.", Requirements: []string{"HTTP-SESSION-ID-CHARACTERS"}, Since: r2503, Until: modern},
		{Name: "session-id-short", Breaks: "A session id has four characters.", Requirements: []string{"HTTP-SESSION-ID-UNIQUE"}, Since: r2503, Until: modern},
		{Name: "post-refused", Breaks: "The endpoint refuses a POST by its method.", Requirements: []string{"HTTP-ENDPOINT"}, Since: r2503,
			head: heads(func(h *head) bool { return h.name == "test_simple_text" && h.status == 200 }, func(h *head) { h.status, h.body = 405, nil })},
		{Name: "missing-session-500", Breaks: "A request without session id is answered with status 500.", Requirements: []string{"HTTP-SESSION-ID-REQUIRED"}, Since: r2503, Until: modern,
			head: status("Mcp-Session-Id is missing", 400, 500)},
		{Name: "ended-session-served", Breaks: "A session that was ended is still served.", Requirements: []string{"HTTP-SESSION-ENDED-404"}, Since: r2503, Until: modern},
		{Name: "bad-version-header-accepted", Breaks: "An unsupported MCP-Protocol-Version is accepted.", Requirements: []string{"HTTP-VERSION-HEADER-INVALID"}, Since: r2506, Until: modern},
		{Name: "version-header-required", Breaks: "A request without MCP-Protocol-Version is refused.", Requirements: []string{"HTTP-VERSION-HEADER-ABSENT"}, Since: r2506, Until: modern},
		{Name: "event-ids-repeated", Breaks: "The ids of events repeat from stream to stream.", Requirements: []string{"HTTP-EVENT-IDS-UNIQUE"}, Since: r2503, Until: modern},
		{Name: "stream-not-primed", Breaks: "A stream begins with a message.", Requirements: []string{"HTTP-STREAM-PRIMED", "HTTP-STREAM-HOLDS-RESPONSE", "REQUEST-ANSWERED"}, Since: r2511, Until: modern},
		{Name: "retry-missing", Breaks: "The server closes the connection of a stream that goes on without a retry field.", Requirements: []string{"HTTP-RETRY-SENT"}, Since: r2511, Until: modern},
		{Name: "broadcast", Breaks: "A notification is sent on two streams.", Requirements: []string{"HTTP-NO-BROADCAST", "PROGRESS-INCREASES", "HTTP-GET-UNRELATED"}, Since: r2503, Until: modern},
		{Name: "foreign-replay", Breaks: "A resumed stream repeats messages of other streams.", Requirements: []string{"HTTP-NO-FOREIGN-REPLAY"}, Since: r2503, Until: modern},
		{Name: "origin-unchecked", Breaks: "The Origin header is not validated.", Requirements: []string{"HTTP-ORIGIN-VALIDATED", "HTTP-ORIGIN-403"}, Since: r2503},
		{Name: "origin-400", Breaks: "A request with an invalid Origin is answered with status 400.", Requirements: []string{"HTTP-ORIGIN-403"}, Since: r2511,
			head: status("origin", 403, 400)},
	}
	for i := range all {
		all[i].Transports = overHTTP()
	}
	return append(all, Fault{
		Name: "endpoint-not-first", Breaks: "The first event of the stream is not the endpoint.", Requirements: []string{"SSE-ENDPOINT-FIRST"},
		Until: r2503, Transports: []trace.Transport{trace.HTTPSSE},
	})
}

// setHeader sets one header of a head.
func setHeader(h *head, key, value string) {
	if h.header == nil {
		h.header = map[string][]string{}
	}
	h.header.Set(key, value)
}

func statelessFaults() []Fault {
	all := []Fault{
		{Name: "no-server-info", Breaks: "Results do not say which server made them.", Requirements: []string{"META-SERVER-INFO"},
			edit: when(isProbe, member("_meta", nil))},
		{Name: "missing-meta-accepted", Breaks: "A request without the required metadata is served.", Requirements: []string{"META-MISSING-REJECTED", "META-MISSING-400", "STATELESS-NO-MEMORY"}},
		{Name: "missing-meta-code", Breaks: "A request without the required metadata is refused with another code than -32602.", Requirements: []string{"META-MISSING-REJECTED"},
			edit: when(refusing(codeInvalidParams, "params._meta needs"), recodes(codeInvalidRequest))},
		{Name: "unsupported-version-accepted", Breaks: "A request in a version that the server does not implement is served.", Requirements: []string{"VERSION-UNSUPPORTED", "VERSION-UNSUPPORTED-400"}},
		{Name: "versions-not-listed", Breaks: "The error for an unsupported version does not list the supported ones.", Requirements: []string{"VERSION-UNSUPPORTED"},
			edit: when(refusing(codeVersion, ""), func(m *sent) { delete(m.msg["error"].(obj), "data") })},
		{Name: "missing-capability-unnamed", Breaks: "The error for an undeclared capability names it in the wrong form.", Requirements: []string{"CAPABILITY-MISSING", "SCHEMA-ERROR"},
			edit: when(refusing(codeMissingCapability, "needs a capability"), func(m *sent) {
				e, _ := m.msg["error"].(obj)
				put(e, "data", obj{"requiredCapabilities": "sampling"})
			})},
		{Name: "missing-capability-ignored", Breaks: "A request that needs an undeclared capability is served.", Requirements: []string{"CAPABILITY-MISSING"}},
		{Name: "capabilities-remembered", Breaks: "The server remembers the capabilities of earlier requests.", Requirements: []string{"STATELESS-NO-MEMORY", "CAPABILITY-MISSING", "INPUT-REQUIRED-DECLARED"}},
		{Name: "extension-without-prefix", Breaks: "The server names an extension without a prefix.", Requirements: []string{"EXTENSION-ID", "SCHEMA-RESULT"},
			edit: when(resultOf("server/discover"), extension("odd"))},
		{Name: "extension-forced", Breaks: "A request that does not declare an extension is answered by it.", Requirements: []string{"EXTENSION-FALLBACK", "RESULT-TYPE-KNOWN", "SCHEMA-RESULT", "TOOLS-CALL-RESULT"},
			edit: func(m *sent) {
				when(resultOf("server/discover"), extension("io.modelcontextprotocol/tasks"))(m)
				when(isProbe, member("resultType", "task"))(m)
			}},
		{Name: "fewer-for-some", Breaks: "The server offers less to a client by its name.", Requirements: []string{"META-IDENTITY-NOT-USED", "TOOLS-DECLARED"},
			edit: when(resultOf("server/discover"), func(m *sent) {
				if isTwin(m) {
					m.result()["capabilities"] = obj{}
				}
			})},
		{Name: "one-conversation", Breaks: "The server serves one client only.", Requirements: []string{"STATELESS-INTERLEAVED", "META-IDENTITY-NOT-USED", "DISCOVER-IMPLEMENTED"},
			edit: when(resultOf("server/discover"), func(m *sent) {
				if isTwin(m) {
					fails(codeInternal, "the server is taken")(m)
				}
			})},
		{Name: "discover-first", Breaks: "The server lists no tools on a connection that has not seen server/discover.", Requirements: []string{"STATELESS-ANY-CONNECTION", "TOOLS-LIST-ANSWERED"}, Transports: overStdio()},
		{Name: "no-result-type", Breaks: "A result does not say its resultType.", Requirements: []string{"RESULT-TYPE"},
			edit: when(isProbe, member("resultType", nil))},
		{Name: "unknown-result-type", Breaks: "A result has a resultType that nobody knows.", Requirements: []string{"RESULT-TYPE-KNOWN"},
			edit: when(isProbe, member("resultType", "bogus"))},
		{Name: "no-discover", Breaks: "The server does not answer server/discover.", Requirements: []string{"DISCOVER-IMPLEMENTED"},
			edit: when(resultOf("server/discover"), fails(codeMethodNotFound, "that is not offered"))},
		{Name: "discover-other-versions", Breaks: "server/discover does not list the version in which it was asked.", Requirements: []string{"DISCOVER-VERSIONS"},
			edit: when(resultOf("server/discover"), member("supportedVersions", []string{"2099-01-01"}))},
		{Name: "server-request", Breaks: "The server sends a request.", Requirements: []string{"SERVER-NO-REQUESTS"},
			edit: when(isProbe, before(request("server", "roots/list", nil)))},
		{Name: "versions-not-named", Breaks: "A server without the handshake refuses initialize without naming its versions.", Requirements: []string{"INITIALIZE-REFUSED-NAMES-VERSIONS"}},
		{Name: "no-cache-hints", Breaks: "A list carries no caching hints.", Requirements: []string{"CACHE-HINTS"},
			edit: when(resultOf("prompts/list"), func(m *sent) { delete(m.result(), "ttlMs"); delete(m.result(), "cacheScope") })},
		{Name: "negative-ttl", Breaks: "The ttlMs of a list is negative.", Requirements: []string{"CACHE-TTL"},
			edit: when(resultOf("prompts/list"), member("ttlMs", -1))},
		{Name: "log-unrequested", Breaks: "A log message is sent for a request that asked for none.", Requirements: []string{"LOG-LEVEL-REQUESTED"},
			edit: when(isProbe, before(notification("notifications/message", obj{"level": "emergency", "data": "unrequested"})))},
	}
	for i := range all {
		all[i].Since = modern
	}
	return all
}

// extension declares one.
func extension(id string) func(*sent) {
	return func(m *sent) {
		if caps, ok := m.result()["capabilities"].(obj); ok {
			caps["extensions"] = obj{id: obj{}}
		}
	}
}

// isTwin matches what answers a client by the name of somebody's twin.
func isTwin(m *sent) bool {
	meta, _ := m.request.object("_meta")
	info, _ := meta.object(keyClientInfo)
	name, _ := info.text("name")
	return strings.HasSuffix(name, "-twin")
}

func statelessHTTPFaults() []Fault {
	statelessAnswer := func(h *head) bool { return h.verb == "POST" && h.rev.Stateless() }
	all := []Fault{
		{Name: "missing-meta-200", Breaks: "A request without the required metadata is refused with status 200.", Requirements: []string{"META-MISSING-400"},
			head: status("params._meta needs", 400, 200)},
		{Name: "missing-capability-200", Breaks: "A request that needs an undeclared capability is refused with status 200.", Requirements: []string{"CAPABILITY-MISSING-400"},
			edit: when(refusing(codeMissingCapability, ""), func(m *sent) { m.status = 200 })},
		{Name: "unsupported-version-200", Breaks: "A request in an unsupported version is refused with status 200.", Requirements: []string{"VERSION-UNSUPPORTED-400"},
			head: status("unsupported protocol version", 400, 200)},
		{Name: "header-mismatch-accepted", Breaks: "Headers that do not match the body are accepted.", Requirements: []string{"HEADER-MISMATCH-REJECTED"}},
		{Name: "missing-header-accepted", Breaks: "A request without a required header is accepted.", Requirements: []string{"HEADER-MISSING-REJECTED"}},
		{Name: "param-header-unchecked", Breaks: "Headers that mirror arguments are not compared with them.",
			Requirements: []string{"HEADER-PARAM-MISMATCH-REJECTED", "HEADER-PARAM-MISSING-REJECTED", "HEADER-PARAM-INVALID-REJECTED"}},
		{Name: "param-header-expected", Breaks: "A call without an argument is refused for the header that is not there.", Requirements: []string{"HEADER-PARAM-NOT-EXPECTED", "HEADER-PARAM-NUMERIC", "HEADER-DECODED"}},
		{Name: "param-header-compared-as-text", Breaks: "An integer in a header is refused when it is written in another way.", Requirements: []string{"HEADER-PARAM-NUMERIC"}},
		{Name: "encoded-header-refused", Breaks: "Encoded headers are not decoded.", Requirements: []string{"HEADER-DECODED"}},
		{Name: "buffering-allowed", Breaks: "The head of a stream does not tell proxies to pass it on.", Requirements: []string{"HTTP-NOT-BUFFERED"},
			head: heads(statelessAnswer, func(h *head) { h.header.Del("X-Accel-Buffering") })},
		{Name: "unknown-method-200", Breaks: "An unknown method is refused with status 200.", Requirements: []string{"HTTP-UNKNOWN-METHOD-404"},
			head: heads(func(h *head) bool { return statelessAnswer(h) && h.status == 404 }, func(h *head) { h.status = 200 })},
		{Name: "get-served", Breaks: "A GET is answered with status 200.", Requirements: []string{"HTTP-LEGACY-METHODS-405"},
			head: heads(func(h *head) bool { return h.verb == "GET" && h.status == 405 }, func(h *head) { h.status = 200 })},
		{Name: "session-id-given", Breaks: "The server gives a session id.", Requirements: []string{"HTTP-NO-SESSION-ID"},
			head: heads(statelessAnswer, func(h *head) { setHeader(h, headerSession, "none-needed") })},
		{Name: "unrelated-notification", Breaks: "The stream that answers a request carries a notification that has nothing to do with it.", Requirements: []string{"HTTP-STREAM-RELATED", "SCHEMA-NOTIFICATION"},
			edit: when(isProbe, before(notification("notifications/tools/list_changed", nil)))},
	}
	for i := range all {
		all[i].Since, all[i].Transports = modern, overHTTP()
	}
	return all
}

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

func listenFaults() []Fault {
	acknowledged := saying("notifications/subscriptions/acknowledged")
	all := []Fault{
		{Name: "listen-unacknowledged", Breaks: "A subscription is not acknowledged.", Requirements: []string{"LISTEN-ACKNOWLEDGED-FIRST"},
			edit: when(acknowledged, func(m *sent) { m.drop = true })},
		{Name: "listen-acknowledged-late", Breaks: "A notification precedes the acknowledgment of its subscription.", Requirements: []string{"LISTEN-ACKNOWLEDGED-FIRST"},
			edit: when(acknowledged, func(m *sent) { m.before = append(m.before, changeFor(m, true)...) })},
		{Name: "listen-more-than-asked", Breaks: "A subscription gets notifications that were not asked for.", Requirements: []string{"LISTEN-ONLY-REQUESTED"},
			edit: when(acknowledged, func(m *sent) { m.after = append(m.after, changeFor(m, false)...) })},
		{Name: "subscription-id-missing", Breaks: "A notification on a subscription does not carry its id.", Requirements: []string{"LISTEN-SUBSCRIPTION-ID", "SCHEMA-NOTIFICATION"},
			edit: when(acknowledged, func(m *sent) {
				for _, n := range changeFor(m, true) {
					delete(n.(obj), "params")
					m.after = append(m.after, n)
				}
			})},
	}
	for i := range all {
		all[i].Since = modern
	}
	return all
}

// changeFor is a notification of a list that the subscription asked for, or of
// one that it did not.
func changeFor(m *sent, wanted bool) []any {
	accepted, _ := m.params()["notifications"].(obj)
	for _, k := range []string{"tools", "prompts", "resources"} {
		if (accepted[k+"ListChanged"] == true) == wanted {
			return []any{notification("notifications/"+k+"/list_changed", obj{"_meta": obj{keySubscription: m.id}})}
		}
	}
	return nil
}
