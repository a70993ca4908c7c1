package peer

import (
	"bytes"
	"encoding/json"
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
