package peer

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"slices"

	"github.com/mcp-conform/mcp-conform/trace"
)

// clientFaults is the table of what the reference client can do wrong.
func clientFaults() []Fault {
	var all []Fault
	for _, part := range [][]Fault{
		clientEnvelopeFaults(), clientHandshakeFaults(), clientAnswerFaults(), clientUtilityFaults(),
		clientStdioFaults(), clientHTTPFaults(), clientStatelessFaults(),
	} {
		all = append(all, part...)
	}
	for i := range all {
		all[i].Side = trace.Client
	}
	return all
}

// firstList matches the request that every client makes, and is the victim of
// faults that could strike any request.
func firstList(m *sent) bool { return m.method() == "tools/list" && m.params()["cursor"] == nil }

// replying matches what answers one of the server's requests.
func replying(method string) func(*sent) bool {
	return func(m *sent) bool { return m.final && m.re == method && m.method() == "" }
}

func clientEnvelopeFaults() []Fault {
	return []Fault{
		{Name: "missing-jsonrpc", Breaks: "A request has no jsonrpc member.", Requirements: []string{"ENVELOPE-JSONRPC"},
			edit: when(firstList, whole("jsonrpc", nil))},
		{Name: "invalid-utf8", Breaks: "A request holds bytes that are no UTF-8.", Requirements: []string{"ENVELOPE-UTF8"}, Since: r2503,
			edit: when(firstList, func(m *sent) {
				param("note", "?")(m)
				m.raw = bytes.Replace(encode(m.msg), []byte(`"?"`), []byte("\"\xff\""), 1)
			})},
		{Name: "array-message", Breaks: "A request comes inside an array.", Requirements: []string{"ENVELOPE-SINGLE"}, Since: r2506,
			edit: when(firstList, func(m *sent) { m.raw = encode([]any{m.msg}) })},
		{Name: "params-array", Breaks: "The params of a request are an array.", Requirements: []string{"ENVELOPE-PARAMS-OBJECT"}, Until: modern,
			edit: when(firstList, whole("params", []any{}))},
		{Name: "null-id", Breaks: "A request has the id null.", Requirements: []string{"IDS-NOT-NULL"}, Until: modern,
			edit: when(saying("ping"), before(request(nil, "ping", nil)))},
		{Name: "fraction-id", Breaks: "A request has the id 1.5.", Requirements: []string{"IDS-STRING-OR-INTEGER"}, Until: modern,
			edit: when(saying("ping"), before(request(1.5, "ping", nil)))},
		{Name: "reused-id", Breaks: "A request has the id of an earlier one.", Requirements: []string{"IDS-NOT-REUSED"}, Until: modern},
		{Name: "id-in-flight", Breaks: "A request has the id of another that is not answered yet.", Requirements: []string{"IDS-NOT-IN-FLIGHT"}, Since: modern, Transports: overStdio(),
			edit: when(firstList, func(m *sent) { m.before = append(m.before, m.msg) })},
		{Name: "param-missing", Breaks: "A call does not name its tool.", Requirements: []string{"SCHEMA-REQUEST", "HEADER-PARAM-REFRESH"},
			edit: when(saying("tools/call"), param("name", nil))},
		{Name: "meta-key-name", Breaks: "The name of a _meta key begins with a hyphen.", Requirements: []string{"META-KEY-NAME"}, Since: r2506,
			edit: when(firstList, func(m *sent) { withRequestMeta(m, "com.example/-key", true) })},
		{Name: "meta-key-prefix", Breaks: "A _meta key has a prefix that begins with a digit.", Requirements: []string{"META-KEY-PREFIX"}, Since: r2506,
			edit: when(firstList, func(m *sent) { withRequestMeta(m, "1.example/key", true) })},
		{Name: "notification-with-id", Breaks: "A notification has an id.", Requirements: []string{"ENVELOPE-NOTIFICATION-NO-ID"}, Until: modern,
			edit: when(firstList, before(request("note", "notifications/roots/list_changed", nil)))},
		{Name: "notification-meta-number", Breaks: "The _meta of a notification is a number.", Requirements: []string{"SCHEMA-NOTIFICATION"}, Until: modern,
			edit: when(firstList, before(notification("notifications/roots/list_changed", obj{"_meta": 5})))},
		{Name: "meta-key-domain", Breaks: "The prefix of a _meta key is a domain name the right way round.", Requirements: []string{"META-KEY-REVERSE-DNS"}, Since: r2511,
			edit: when(firstList, func(m *sent) { withRequestMeta(m, "example.com/key", true) })},
		{Name: "batch-empty", Breaks: "The client sends an empty batch.", Requirements: []string{"BATCH-SHAPE"}, Since: r2503, Until: r2506,
			edit: when(firstList, before([]any{}))},
	}
}

func withRequestMeta(m *sent, key string, value any) {
	p := copyOf(m.params())
	if p == nil {
		p = obj{}
	}
	meta, _ := p["_meta"].(obj)
	if meta == nil {
		meta = obj{}
	}
	put(meta, key, value)
	p["_meta"] = meta
	m.msg["params"] = p
}

func clientHandshakeFaults() []Fault {
	early := request("early", "tools/list", nil)
	all := []Fault{
		{Name: "request-before-initialize", Breaks: "The client begins with another request than initialize.", Requirements: []string{"LIFECYCLE-INITIALIZE-FIRST"},
			edit: when(saying("initialize"), before(early))},
		{Name: "request-before-initialize-response", Breaks: "The client does not wait for the answer to initialize.", Requirements: []string{"LIFECYCLE-CLIENT-WAITS", "LIFECYCLE-CLIENT-LEAVES"}, Transports: overStdio(),
			edit: when(saying("initialize"), after(early))},
		{Name: "initialized-missing", Breaks: "The client does not say that it is initialized.", Requirements: []string{"LIFECYCLE-INITIALIZED-SENT"},
			edit: when(saying("notifications/initialized"), func(m *sent) { m.drop = true })},
		{Name: "initialize-cancelled", Breaks: "The client cancels initialize.", Requirements: []string{"CANCEL-NOT-INITIALIZE"}, Transports: overStdio(),
			edit: when(saying("initialize"), func(m *sent) {
				m.after = append(m.after, notification("notifications/cancelled", obj{"requestId": m.msg["id"]}))
			})},
		{Name: "initialize-in-batch", Breaks: "The client sends initialize in a batch.", Requirements: []string{"BATCH-NO-INITIALIZE"}, Since: r2503, Until: r2506,
			edit: when(saying("initialize"), func(m *sent) { m.raw = encode([]any{m.msg}) })},
		{Name: "no-version-asked", Breaks: "The client asks for what is no version.", Requirements: []string{"LIFECYCLE-CLIENT-VERSION-SUPPORTED"},
			edit: when(saying("initialize"), param("protocolVersion", "latest"))},
		{Name: "older-version-asked", Breaks: "The client asks for an older version than it can speak.", Requirements: []string{"LIFECYCLE-CLIENT-VERSION-LATEST"}, Since: r2511,
			edit: when(saying("initialize"), param("protocolVersion", string(r2506)))},
		{Name: "unknown-version-accepted", Breaks: "The client goes on in a version that it does not speak.", Requirements: []string{"LIFECYCLE-CLIENT-LEAVES"}},
		{Name: "later-method-used", Breaks: "The client uses a method that the revision does not have yet.", Requirements: []string{"LIFECYCLE-REVISION-RESPECTED"}, Until: r2511,
			edit: when(saying("ping"), before(request("later", "tasks/list", nil)))},
		{Name: "capabilities-ignored", Breaks: "The client uses what the server has not declared.", Requirements: []string{"LIFECYCLE-CLIENT-CAPABILITIES-RESPECTED"}},
	}
	for i := range all {
		if all[i].Until == "" {
			all[i].Until = modern
		}
	}
	return all
}

// undeclaredByClient removes a capability of the client, but not what it does.
func undeclaredByClient(capability string) func(*sent) {
	return when(saying("initialize"), func(m *sent) {
		caps := copyOf(m.params()["capabilities"].(obj))
		delete(caps, capability)
		param("capabilities", caps)(m)
	})
}

func clientAnswerFaults() []Fault {
	sampled := replying("sampling/createMessage")
	unwilling := fails(codeMethodNotFound, "the client cannot")
	all := []Fault{
		{Name: "wrong-id", Breaks: "A response carries another id than its request.", Requirements: []string{"IDS-RESPONSE-ECHO"},
			edit: when(sampled, whole("id", "another"))},
		{Name: "answered-twice", Breaks: "A request is answered twice.", Requirements: []string{"IDS-ANSWERED-ONCE"},
			edit: when(sampled, func(m *sent) { m.after = append(m.after, m.msg) })},
		{Name: "never-answered", Breaks: "A request is not answered.", Requirements: []string{"REQUEST-ANSWERED"},
			edit: when(sampled, func(m *sent) { m.drop = true })},
		{Name: "result-and-error", Breaks: "A response has both a result and an error.", Requirements: []string{"ENVELOPE-RESULT-OR-ERROR"},
			edit: when(sampled, whole("error", obj{"code": codeInternal, "message": "and yet"}))},
		{Name: "model-missing", Breaks: "The result of sampling does not name the model.", Requirements: []string{"SCHEMA-RESULT"},
			edit: when(sampled, member("model", nil))},
		{Name: "ping-unanswered", Breaks: "A ping is not answered.", Requirements: []string{"PING-ANSWERED"},
			edit: when(replying("ping"), func(m *sent) { m.drop = true })},
		{Name: "ping-not-empty", Breaks: "A ping is answered with more than an empty result.", Requirements: []string{"PING-ANSWERED"},
			edit: when(replying("ping"), member("pong", true))},
		{Name: "unknown-method-code", Breaks: "An unknown method is answered with another code than -32601.", Requirements: []string{"ERROR-METHOD-NOT-FOUND"},
			edit: when(refusing(codeMethodNotFound, "does not offer"), recodes(codeInternal))},
		{Name: "error-without-message", Breaks: "An error has no message.", Requirements: []string{"ENVELOPE-ERROR-MESSAGE"},
			edit: when(refusing(codeMethodNotFound, "does not offer"), func(m *sent) { delete(m.msg["error"].(obj), "message") })},
		{Name: "sampling-refused", Breaks: "The client does not answer sampling, which it has declared.", Requirements: []string{"SAMPLING-RESULT"},
			edit: when(sampled, unwilling)},
		{Name: "roots-refused", Breaks: "The client does not answer roots/list, which it has declared.", Requirements: []string{"ROOTS-RESULT"},
			edit: when(replying("roots/list"), unwilling)},
		{Name: "elicitation-action", Breaks: "An elicitation is answered with an action that does not exist.", Requirements: []string{"ELICITATION-RESULT", "SCHEMA-RESULT"}, Since: r2506,
			edit: when(replying("elicitation/create"), member("action", "maybe"))},
		{Name: "content-unfit", Breaks: "The content of an accepted form does not fit its schema.", Requirements: []string{"ELICITATION-CONTENT-VALID"}, Since: r2506,
			edit: when(replying("elicitation/create"), member("content", obj{"response": 7}))},
		{Name: "form-refused", Breaks: "A form is refused that does not name its mode.", Requirements: []string{"ELICITATION-NO-MODE-FORM", "ELICITATION-RESULT"}, Since: r2511,
			edit: when(replying("elicitation/create"), fails(codeInvalidParams, "which mode?"))},
		{Name: "elicitation-mode-unknown", Breaks: "The client declares elicitation in a mode that there is not.", Requirements: []string{"ELICITATION-MODES"}, Since: r2511,
			edit: when(saying("initialize"), func(m *sent) {
				capabilities := copyOf(m.params()["capabilities"].(obj))
				capabilities["elicitation"] = obj{"voice": obj{}}
				param("capabilities", capabilities)(m)
			})},
		{Name: "root-not-a-file", Breaks: "The URI of a root is an https URI.", Requirements: []string{"ROOTS-FILE-URI", "SCHEMA-RESULT"},
			edit: when(replying("roots/list"), member("roots", []any{obj{"uri": "https://example.com/"}}))},
		{Name: "roots-undeclared", Breaks: "The client answers roots/list without declaring roots.", Requirements: []string{"ROOTS-DECLARED"}, edit: undeclaredByClient("roots")},
		{Name: "sampling-undeclared", Breaks: "The client answers sampling without declaring it.", Requirements: []string{"SAMPLING-DECLARED"}, edit: undeclaredByClient("sampling")},
		{Name: "elicitation-undeclared", Breaks: "The client answers elicitation without declaring it.", Requirements: []string{"ELICITATION-DECLARED"}, Since: r2506, edit: undeclaredByClient("elicitation")},
	}
	for i := range all {
		all[i].Until = modern
	}
	return all
}

func clientUtilityFaults() []Fault {
	return []Fault{
		{Name: "cursor-changed", Breaks: "The client changes a cursor.", Requirements: []string{"PAGINATION-CURSOR-OPAQUE"},
			edit: func(m *sent) {
				if c, ok := m.params()["cursor"].(string); ok {
					param("cursor", c+"x")(m)
				}
			}},
		{Name: "cancels-what-it-never-asked", Breaks: "The client cancels a request that it has not made.", Requirements: []string{"CANCEL-OWN-REQUEST"},
			edit: when(firstList, before(notification("notifications/cancelled", obj{"requestId": "never made"})))},
		{Name: "arguments-unfit", Breaks: "The client leaves the required arguments of a tool out.", Requirements: []string{"TOOLS-ARGUMENTS-FIT"}, Until: modern,
			edit: when(func(m *sent) bool {
				arguments, _ := m.params()["arguments"].(obj)
				return m.method() == "tools/call" && len(arguments) > 0
			}, param("arguments", obj{}))},
		{Name: "progress-token-type", Breaks: "A progress token is a fraction.", Requirements: []string{"PROGRESS-TOKEN-TYPE"},
			edit: when(firstList, func(m *sent) { withRequestMeta(m, "progressToken", 1.5) })},
		{Name: "progress-token-shared", Breaks: "Two requests have the same progress token at the same time.", Requirements: []string{"PROGRESS-TOKEN-UNIQUE"}, Transports: overStdio(),
			edit: when(firstList, func(m *sent) {
				withRequestMeta(m, "progressToken", "shared")
				twin := copyOf(m.msg)
				twin["id"] = "twin"
				m.before = append(m.before, twin)
			})},
		{Name: "progress-unknown-token", Breaks: "The client tells progress for a token that no request gave.", Requirements: []string{"PROGRESS-TOKEN-ACTIVE"}, Until: modern,
			edit: when(firstList, before(notification("notifications/progress", obj{"progressToken": "nobody's token", "progress": 1})))},
	}
}

func clientStdioFaults() []Fault {
	return []Fault{
		{Name: "noise-on-stdin", Breaks: "The client writes what is no message to the server's standard input.", Requirements: []string{"STDIO-STDIN-MESSAGES-ONLY"}, Transports: overStdio()},
		{Name: "pretty-printed", Breaks: "A message spreads over several lines.", Requirements: []string{"STDIO-ONE-LINE", "CANCEL-OWN-REQUEST"}, Transports: overStdio(),
			edit: when(firstList, func(m *sent) {
				if m.transport == trace.Stdio {
					var b bytes.Buffer
					_ = json.Indent(&b, encode(m.msg), "", "  ") // of what was just encoded
					m.raw = b.Bytes()
				}
			})},
		{Name: "tools-before-probe", Breaks: "The first request to a process is tools/list.", Requirements: []string{"STDIO-PROBE-DISCOVER"}, Since: modern, Transports: overStdio()},
		{Name: "stdin-left-open", Breaks: "The client leaves without closing the server's standard input.", Requirements: []string{"STDIO-CLIENT-CLOSES-STDIN"}, Transports: overStdio()},
	}
}

// header sets a header of some requests; "" removes it.
func header(match func(*http.Request, *sent) bool, name, value string) func(*http.Request, *sent) {
	return func(r *http.Request, m *sent) {
		switch {
		case !match(r, m):
		case value == "":
			r.Header.Del(name)
		default:
			r.Header.Set(name, value)
		}
	}
}

// mirroring matches calls with an argument that goes into a header.
func mirroring(r *http.Request, _ *sent) bool { return r.Header.Get(headerParam+"Region") != "" }

func posting(method string) func(*http.Request, *sent) bool {
	return func(r *http.Request, m *sent) bool { return r.Method == http.MethodPost && m.method() == method }
}

func verb(v string) func(*http.Request, *sent) bool {
	return func(r *http.Request, _ *sent) bool { return r.Method == v }
}

func resuming(r *http.Request, _ *sent) bool { return r.Header.Get(headerLast) != "" }

func clientHTTPFaults() []Fault {
	all := []Fault{
		{Name: "post-accept", Breaks: "A POST accepts JSON only.", Requirements: []string{"HTTP-POST-ACCEPT"}, Since: r2503,
			request: header(posting("tools/list"), "Accept", typeJSON)},
		{Name: "get-accept", Breaks: "A GET accepts JSON only.", Requirements: []string{"HTTP-GET-ACCEPT"}, Since: r2503, Until: modern,
			request: header(verb(http.MethodGet), "Accept", typeJSON)},
		{Name: "resumes-after-nothing", Breaks: "A stream is resumed after an event that was never sent.", Requirements: []string{"HTTP-RESUME-LAST-EVENT-ID"}, Since: r2503, Until: modern,
			request: header(resuming, headerLast, "99-99")},
		{Name: "stream-unread", Breaks: "The client understands answers in JSON only.", Requirements: []string{"HTTP-CLIENT-BOTH-ANSWERS"}, Since: r2503},
		{Name: "retry-ignored", Breaks: "The client connects again at once.", Requirements: []string{"HTTP-RETRY-RESPECTED"}, Since: r2511, Until: modern},
		{Name: "session-id-forgotten", Breaks: "A request lacks the session id.", Requirements: []string{"HTTP-SESSION-ID-SENT"}, Since: r2503, Until: modern,
			request: header(posting("tools/list"), headerSession, "")},
		{Name: "session-not-renewed", Breaks: "The client gives up when its session has ended.", Requirements: []string{"HTTP-SESSION-RENEWED"}, Since: r2503, Until: modern},
		{Name: "session-left-open", Breaks: "The client leaves without ending its session.", Requirements: []string{"HTTP-SESSION-DELETED"}, Since: r2503, Until: modern},
		{Name: "version-header-missing", Breaks: "A request after initialize lacks the version header.", Requirements: []string{"HTTP-VERSION-HEADER"}, Since: r2506, Until: modern,
			request: header(posting("tools/list"), headerVersion, "")},
		{Name: "version-header-other", Breaks: "The version header holds another version than the negotiated one.", Requirements: []string{"HTTP-VERSION-HEADER-NEGOTIATED"}, Since: r2506, Until: modern,
			request: header(posting("tools/list"), headerVersion, string(r2503))},
		{Name: "two-messages-in-one-post", Breaks: "One POST holds two messages.", Requirements: []string{"HTTP-POST-EACH", "ENVELOPE-JSONRPC"}, Since: r2503,
			edit: when(firstList, func(m *sent) {
				if m.transport == trace.StreamableHTTP {
					m.raw = append(append(encode(m.msg), '\n'), encode(m.msg)...)
				}
			})},
	}
	for i := range all {
		all[i].Transports = overHTTP()
	}
	return all
}

func clientStatelessFaults() []Fault {
	isRetry := func(m *sent) bool { return m.params()["inputResponses"] != nil }
	calls := posting("tools/call")
	all := []Fault{
		{Name: "missing-meta", Breaks: "A request carries no metadata.", Requirements: []string{"META-REQUIRED", "META-CLIENT-INFO"},
			edit: when(firstList, param("_meta", nil))},
		{Name: "missing-client-info", Breaks: "A request does not say which client made it.", Requirements: []string{"META-CLIENT-INFO"},
			edit: when(firstList, func(m *sent) { withRequestMeta(m, keyClientInfo, nil) })},
		{Name: "extension-without-prefix", Breaks: "The client names an extension without a prefix.", Requirements: []string{"EXTENSION-ID", "SCHEMA-REQUEST"},
			edit: when(firstList, func(m *sent) { withRequestMeta(m, keyCapabilities, obj{"extensions": obj{"odd": obj{}}}) })},
		{Name: "result-type-needed", Breaks: "The client takes a result without resultType for invalid.", Requirements: []string{"RESULT-TYPE-ABSENT-COMPLETE"}},
		{Name: "any-result-type", Breaks: "The client goes by a result whose type it does not know.", Requirements: []string{"RESULT-TYPE-UNKNOWN-INVALID"}},
		{Name: "bad-traceparent", Breaks: "A traceparent has not the format of the W3C.", Requirements: []string{"META-TRACE-CONTEXT"},
			edit: when(firstList, func(m *sent) { withRequestMeta(m, "traceparent", "here") })},
		{Name: "sends-response", Breaks: "The client sends a response.", Requirements: []string{"CLIENT-NO-RESPONSES"}, Transports: overStdio(),
			edit: when(firstList, before(answer(encode("nobody"), obj{})))},
		{Name: "request-state-changed", Breaks: "The client changes the requestState.", Requirements: []string{"INPUT-RESPONSES-STATE"},
			edit: when(isRetry, func(m *sent) {
				if s, ok := m.params()["requestState"].(string); ok {
					param("requestState", s+"x")(m)
				}
			})},
		{Name: "request-state-invented", Breaks: "The client sends a requestState that it was not given.", Requirements: []string{"INPUT-RESPONSES-STATE"},
			edit: when(isRetry, func(m *sent) {
				if m.params()["requestState"] == nil {
					param("requestState", "invented")(m)
				}
			})},
		{Name: "answer-left-out", Breaks: "A retry does not answer all that was asked for.", Requirements: []string{"INPUT-RESPONSES-COMPLETE"},
			edit: when(isRetry, func(m *sent) {
				answers, ok := m.params()["inputResponses"].(obj)
				if ok && len(answers) > 1 {
					answers = copyOf(answers)
					for _, k := range slices.Sorted(maps.Keys(answers))[:1] {
						delete(answers, k)
					}
					param("inputResponses", answers)(m)
				}
			})},
		{Name: "answers-to-another", Breaks: "What one request was asked for comes with another.", Requirements: []string{"INPUT-RESPONSES-OWN"}, Transports: overStdio(),
			edit: when(isRetry, func(m *sent) {
				if m.params()["name"] != "test_simple_text" && m.method() == "tools/call" {
					param("name", "test_simple_text")(m)
				}
			})},
		{Name: "retry-with-old-id", Breaks: "A retry has the id of the request that it repeats.", Requirements: []string{"INPUT-RETRY-NEW-ID"}},
		{Name: "header-version-missing", Breaks: "A POST lacks the version header.", Requirements: []string{"HEADER-PROTOCOL-VERSION"}, Transports: overHTTP(),
			request: header(posting("tools/list"), headerVersion, "")},
		{Name: "header-version-other", Breaks: "The version header differs from the version in the metadata.", Requirements: []string{"HEADER-PROTOCOL-VERSION-MATCHES"}, Transports: overHTTP(),
			request: header(posting("tools/list"), headerVersion, string(r2511))},
		{Name: "header-method-missing", Breaks: "A request lacks the Mcp-Method header.", Requirements: []string{"HEADER-METHOD"}, Transports: overHTTP(),
			request: header(posting("tools/list"), headerMethod, "")},
		{Name: "header-method-other", Breaks: "The Mcp-Method header names another method.", Requirements: []string{"HEADER-METHOD"}, Transports: overHTTP(),
			request: header(posting("tools/list"), headerMethod, "prompts/list")},
		{Name: "header-name-missing", Breaks: "A call lacks the Mcp-Name header.", Requirements: []string{"HEADER-NAME"}, Transports: overHTTP(),
			request: header(calls, headerName, "")},
		{Name: "param-header-missing", Breaks: "An argument is not mirrored into its header.", Requirements: []string{"HEADER-PARAM"}, Transports: overHTTP(),
			request: header(calls, headerParam+"Region", "")},
		{Name: "param-header-plain", Breaks: "A value that has to be encoded goes into its header as it is.", Requirements: []string{"HEADER-ENCODED"}, Transports: overHTTP(),
			request: header(mirroring, headerParam+"Region", "Zürich")},
		{Name: "param-header-markers", Breaks: "The markers of an encoded header are capitals.", Requirements: []string{"HEADER-ENCODED-MARKERS"}, Transports: overHTTP(),
			request: header(mirroring, headerParam+"Region", "=?BASE64?WsO8cmljaCA=?=")},
		{Name: "param-integer-unsafe", Breaks: "An integer beyond 2^53 goes into a header.", Requirements: []string{"HEADER-PARAM-SAFE-INTEGER"}, Transports: overHTTP(),
			edit: when(saying("tools/call"), func(m *sent) {
				if args, _ := m.params()["arguments"].(obj); args["priority"] != nil {
					args = copyOf(args)
					args["priority"] = 1 << 60
					param("arguments", args)(m)
				}
			})},
		{Name: "header-name-other", Breaks: "The Mcp-Name header names another tool.", Requirements: []string{"HEADER-NAME"}, Transports: overHTTP(),
			request: header(calls, headerName, "another_tool")},
	}
	for i := range all {
		all[i].Since = modern
	}
	return all
}
