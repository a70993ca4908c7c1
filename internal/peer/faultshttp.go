package peer

import (
	"strings"

	"github.com/mcp-conform/mcp-conform/trace"
)

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
