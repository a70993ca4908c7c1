package conformance

import (
	"slices"
	"strconv"
	"strings"

	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

func httpRules() []ruleEntry {
	return []ruleEntry{
		plain(onHTTP(accept), "HTTP-POST-ACCEPT", "HTTP-GET-ACCEPT", "HTTP-POST-EACH"),
		plain(onHTTP(notificationStatus), "HTTP-NOTIFICATION-202", "HTTP-REFUSED-STATUS"),
		plain(onHTTP(contentType), "HTTP-REQUEST-CONTENT-TYPE"),
		plain(onHTTP(getStream), "HTTP-GET-STREAM-OR-405"),
		plain(onHTTP(getResponses), "HTTP-GET-NO-RESPONSE"),
		plain(onHTTP(streamEnd), "HTTP-STREAM-HOLDS-RESPONSE", "HTTP-STREAM-ENDS"),
		plain(onHTTP(sessionID), "HTTP-SESSION-ID-CHARACTERS", "HTTP-SESSION-ID-UNIQUE", "HTTP-SESSION-ID-SENT", "HTTP-SESSION-ENDED-404", "HTTP-SESSION-DELETED"),
		plain(onHTTP(versionHeader), "HTTP-VERSION-HEADER", "HTTP-VERSION-HEADER-NEGOTIATED"),
		stateful(func() Rule { return &endpoint{} }, "HTTP-ENDPOINT"),
		stateful(func() Rule { return &broadcasts{} }, "HTTP-NO-BROADCAST"),
	}
}

// onHTTP limits a rule to Streamable HTTP with its heads. A capture without
// heads shows nothing of this, and says so in its header.
func onHTTP(f func(o *Observation)) func(o *Observation) {
	return func(o *Observation) {
		if o.Session.Transport == trace.StreamableHTTP && o.Exchange != nil && o.Exchange.Request != nil && o.Event != nil &&
			!o.Lacks(trace.LackHeaders) {
			f(o)
		}
	}
}

// posted reports whether the observation is the body of a POST: the first
// message in it, when several came as a batch.
func posted(o *Observation) bool {
	return o.Message != nil && !o.InBatch && o.From() == trace.Client && o.Exchange.method() == "POST"
}

// accept: what the client lists in Accept (basic/transports, sending and
// listening). Order, case and parameters carry no rule; a wildcard covers the
// types without listing them, which is neither kept nor broken.
func accept(o *Observation) {
	if o.Message != nil && o.From() == trace.Client && !o.InBatch {
		o.Check(o.Exchange.method() == "POST", "HTTP-POST-EACH", trace.Client, Fault{
			Detail: "a message is sent by another method than POST", Want: "POST", Got: o.Exchange.method(),
		})
	}
	switch {
	case posted(o):
		listed(o, "HTTP-POST-ACCEPT", "application/json", "text/event-stream")
	case o.head(trace.Client) && o.Exchange.method() == "GET" && atEndpoint(o):
		listed(o, "HTTP-GET-ACCEPT", "text/event-stream")
	}
}

func listed(o *Observation, requirement string, types ...string) {
	v, _ := o.Exchange.header("Accept")
	have := accepts(v)
	missing := slices.ContainsFunc(types, func(t string) bool { return !have[t] })
	if missing && (have["*/*"] || have["application/*"] || have["text/*"]) {
		o.Untested(requirement, trace.Client, "the Accept header has a wildcard")
		return
	}
	o.Check(!missing, requirement, trace.Client, Fault{
		Detail: "the Accept header does not list what it has to", Want: "Accept: " + strings.Join(types, ", "), Got: quoteOr(v, "absent"),
	})
}

func quoteOr(s, none string) string {
	if s == "" {
		return none
	}
	return clip(s)
}

// atEndpoint reports whether the exchange is with the endpoint to which
// messages are posted; other addresses are no matter of MCP's transport.
func atEndpoint(o *Observation) bool {
	c := o.judge.conns[o.Session.Conn]
	return c != nil && c.endpoint != "" && o.Exchange.path() == c.endpoint
}

// notificationStatus: an accepted notification or response gets 202 and no
// body, one that is not accepted an error status (basic/transports, sending
// messages). Which error status, and its body, are free.
func notificationStatus(o *Observation) {
	x := o.Exchange
	if o.From() != trace.Server || x.Notifications+x.Responses == 0 || len(x.Requests) > 0 || x.Garbled || x.status() == 0 {
		return
	}
	status := x.status()
	switch {
	case o.head(trace.Server) && status >= 200 && status < 300 && status != 202:
		o.Fail("HTTP-NOTIFICATION-202", trace.Server, Fault{
			Detail: "an accepted notification or response is not answered with status 202", Want: "status 202", Got: "status " + strconv.Itoa(status),
		})
	case o.head(trace.Server) && status >= 400 && !gatewayStatus(status):
		o.Pass("HTTP-REFUSED-STATUS", trace.Server)
	case o.is(schemas.Error) && status < 400:
		o.Fail("HTTP-REFUSED-STATUS", trace.Server, Fault{
			Detail: "a notification or response is refused in the body of a successful answer", Want: "an HTTP error status", Got: "status " + strconv.Itoa(status),
			Cause: causeIf(status != 202, "HTTP-NOTIFICATION-202"),
		})
	case o.Event.Kind == trace.KindClosed && status == 202:
		o.Check(x.Bytes == 0 && x.Replies == 0, "HTTP-NOTIFICATION-202", trace.Server, Fault{
			Detail: "an accepted notification or response is answered with a body", Want: "no body", Got: strconv.FormatInt(x.Bytes, 10) + " bytes",
		})
	}
}

func causeIf(yes bool, cause string) string {
	if yes {
		return cause
	}
	return ""
}

// contentType: a request is answered by JSON or by a stream of events. Error
// statuses are judged elsewhere or by nobody.
func contentType(o *Observation) {
	x := o.Exchange
	if !o.head(trace.Server) || x.method() != "POST" || len(x.Requests) == 0 || x.Garbled || x.status() < 200 || x.status() > 299 {
		return
	}
	t := x.mediaType()
	o.Check(t == "application/json" || t == "text/event-stream", "HTTP-REQUEST-CONTENT-TYPE", trace.Server, Fault{
		Detail: "the answer to a request is neither JSON nor a stream of events",
		Want:   "Content-Type: application/json or text/event-stream", Got: "status " + strconv.Itoa(x.status()) + ", Content-Type: " + quoteOr(t, "absent"),
	})
}

// getStream: a GET opens a stream or gets 405 (basic/transports, listening). A
// request that lacks what a server may insist on can be refused with 400, 404 or
// 406; a second stream with 409; one that cannot be resumed as the server
// sees fit.
func getStream(o *Observation) {
	x := o.Exchange
	if !o.head(trace.Server) || x.method() != "GET" || o.Session.Modern || !atEndpoint(o) || o.Session.EndedAt != 0 {
		return
	}
	status := x.status()
	v, _ := x.header("Accept")
	_, session := x.header("Mcp-Session-Id")
	version, hasVersion := x.header("MCP-Protocol-Version")
	excused := !accepts(v)["text/event-stream"] || o.Session.ID != "" && !session || o.Session.Partial ||
		hasVersion && version != string(o.Session.Revision) || o.Session.Stage != Operational || x.resumes()
	switch {
	case status == 405 || status == 200 && x.mediaType() == "text/event-stream":
		o.Pass("HTTP-GET-STREAM-OR-405", trace.Server)
	case gatewayStatus(status) || status == 409 || status >= 400 && excused || status >= 300 && status < 400:
	default:
		o.Fail("HTTP-GET-STREAM-OR-405", trace.Server, Fault{
			Detail: "a GET is answered neither by a stream of events nor by status 405",
			Want:   "Content-Type: text/event-stream, or status 405", Got: "status " + strconv.Itoa(status) + ", Content-Type: " + quoteOr(x.mediaType(), "absent"),
		})
	}
}

// getResponses: a stream that a GET opened carries no responses unless it
// resumes (basic/transports, listening).
func getResponses(o *Observation) {
	x := o.Exchange
	if o.From() != trace.Server || x.method() != "GET" || x.mediaType() != "text/event-stream" || x.resumes() {
		return
	}
	switch {
	case o.is(schemas.Result, schemas.Error):
		o.Fail("HTTP-GET-NO-RESPONSE", trace.Server, Fault{
			Detail: "a response comes on a stream that a GET opened and that resumes nothing", Want: "requests and notifications", Got: "a response",
		})
	case o.is(schemas.Request, schemas.Notification):
		o.Pass("HTTP-GET-NO-RESPONSE", trace.Server)
	}
}

// streamEnd: the stream that answers a POST holds the response, and ends after
// it (basic/transports, sending messages). With event ids it may be cut and
// resumed; the client may leave; a session may end.
func streamEnd(o *Observation) {
	x := o.Exchange
	if x.method() != "POST" || x.mediaType() != "text/event-stream" || x.status() != 200 || len(x.Requests) == 0 || o.From() != trace.Server {
		return
	}
	open := slices.DeleteFunc(slices.Clone(x.Requests), func(r *Request) bool { return r.AnsweredAt != 0 || r.CancelledAt != 0 })
	if o.Message != nil && len(open) == 0 && x.Answers > 0 && !o.is(schemas.Result, schemas.Error) && !o.InBatch {
		o.Fail("HTTP-STREAM-ENDS", trace.Server, Fault{
			Detail: "a stream goes on after the response", Want: "the end of the stream", Got: "a " + o.Message.Kind.String(),
		})
	}
	if o.Event.Kind != trace.KindClosed || o.Event.End == nil || o.Event.End.How != "eof" {
		return
	}
	if len(open) == 0 && x.Answers > 0 {
		o.Pass("HTTP-STREAM-ENDS", trace.Server)
		o.Pass("HTTP-STREAM-HOLDS-RESPONSE", trace.Server)
		return
	}
	if x.EventIDs || o.Session.EndedAt != 0 || len(open) == 0 || x.Noise > 0 {
		return
	}
	o.Fail("HTTP-STREAM-HOLDS-RESPONSE", trace.Server, Fault{
		Detail: "the server ends the stream of a request before the response", Want: "a response for each request", Got: strconv.Itoa(len(open)) + " without",
		Cause: causeIf(x.Replies > x.Answers, "IDS-RESPONSE-ECHO"),
	})
}

// sessionID: what a session id looks like, that the client keeps sending it,
// and what becomes of it (basic/transports, session management).
func sessionID(o *Observation) {
	s, x := o.Session, o.Exchange
	if s.Modern {
		return
	}
	switch {
	case o.head(trace.Server) && s.IDSince == o.Event.Seq && s.ID != "":
		visible := !strings.ContainsFunc(s.ID, func(r rune) bool { return r < 0x21 || r > 0x7E })
		o.Check(visible, "HTTP-SESSION-ID-CHARACTERS", trace.Server, Fault{
			Detail: "a session id has other characters than visible ASCII", Want: "bytes 0x21 to 0x7E", Got: strconv.Quote(clip(s.ID)),
		})
		uniqueSession(o)
	case o.head(trace.Server) && s.EndedAt != 0 && x.Since > s.EndedAt:
		if status := x.status(); !gatewayStatus(status) {
			o.Check(status == 404, "HTTP-SESSION-ENDED-404", trace.Server, Fault{
				Detail: "a request in a session that has ended is not answered with status 404", Want: "status 404", Got: "status " + strconv.Itoa(status),
			})
		}
	case posted(o) && o.Message.Method != "initialize", o.head(trace.Client) && atEndpoint(o) && x.method() != "OPTIONS":
		if s.ID == "" || s.IDSince == 0 || x.Since < s.IDSince {
			return
		}
		id, ok := x.header("Mcp-Session-Id")
		if !ok && crossing(o) {
			return
		}
		o.Check(id == s.ID, "HTTP-SESSION-ID-SENT", trace.Client, Fault{
			Detail: "a request after initialize does not carry the session id", Want: "Mcp-Session-Id: the id that the server gave", Got: quoteOr(id, "absent"),
		})
		if x.method() == "DELETE" && id == s.ID {
			o.Pass("HTTP-SESSION-DELETED", trace.Client)
		}
	}
}

// crossing reports whether a message may have crossed the answer to initialize on
// its way: until the client says that it has read it, nothing shows that it has.
func crossing(o *Observation) bool {
	return o.Message != nil && o.Session.Stage == Answered && o.Message.Method != "notifications/initialized"
}

// shortestSessionID is the least length of a session id that may be impossible
// to guess: eight characters of Base64 are 48 bits.
const shortestSessionID = 8

// uniqueSession: a session id is given once and cannot be guessed (basic/transports,
// session management). How it was made is not seen, so only what is plainly too
// little counts.
func uniqueSession(o *Observation) {
	id, given := o.Session.ID, o.judge.sessionIDs
	if strings.Trim(id, "*") == "" || strings.Contains(strings.ToLower(id), "redacted") {
		return // a recorder has cut it
	}
	if given[id] {
		o.Fail("HTTP-SESSION-ID-UNIQUE", trace.Server, Fault{
			Detail: "a session id is given to two sessions", Want: "another id", Got: strconv.Quote(clip(id)),
		})
		return
	}
	if len(given) < remembered {
		given[id] = true
	}
	o.Check(len(id) >= shortestSessionID, "HTTP-SESSION-ID-UNIQUE", trace.Server, Fault{
		Detail: "a session id is so short that it can be guessed", Want: "at least 8 characters", Got: strconv.Quote(clip(id)),
	})
}

// versionHeader: after initialize every request says the negotiated version
// (basic/transports, protocol version header). Nothing asks for it on
// initialize itself, and nothing forbids it there.
func versionHeader(o *Observation) {
	s, x := o.Session, o.Exchange
	if s.Modern || s.Revision == "" || s.Init == nil || s.Init.AnsweredAt == 0 || x.Since < s.Init.AnsweredAt ||
		!(posted(o) && o.Message.Method != "initialize" || o.head(trace.Client) && atEndpoint(o) && x.method() != "OPTIONS") {
		return
	}
	v, ok := x.header("MCP-Protocol-Version")
	if !ok && crossing(o) {
		return
	}
	o.Check(ok && v != "", "HTTP-VERSION-HEADER", trace.Client, Fault{
		Detail: "a request after initialize has no MCP-Protocol-Version header", Want: "MCP-Protocol-Version: " + string(s.Revision), Got: "absent",
	})
	if v != "" {
		o.Check(v == string(s.Revision), "HTTP-VERSION-HEADER-NEGOTIATED", trace.Client, Fault{
			Detail: "the MCP-Protocol-Version header is not the negotiated version", Want: "MCP-Protocol-Version: " + string(s.Revision), Got: clip(v),
		})
	}
}

// broadcasts: a message goes to one stream only (basic/transports, multiple
// connections). Requests show it by their id. Equal notifications may have been
// meant twice.
type broadcasts struct{ spoken, broken bool }

func (b *broadcasts) Observe(o *Observation) {
	s := o.Session
	if s.Modern || s.Transport != trace.StreamableHTTP {
		return
	}
	if o.End {
		if b.spoken && !b.broken {
			o.Pass("HTTP-NO-BROADCAST", trace.Server)
		}
		return
	}
	if !o.is(schemas.Request) || o.From() != trace.Server || o.Exchange == nil || o.Exchange.resumes() {
		return
	}
	b.spoken = b.spoken || s.streams > 1
	if broadcast(o) {
		b.broken = true
		o.Fail("HTTP-NO-BROADCAST", trace.Server, Fault{
			Detail: "a request is sent on two streams", Want: "one stream", Got: clip(o.Message.Method) + " on another stream as well",
		})
	}
}
