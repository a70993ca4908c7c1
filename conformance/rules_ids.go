package conformance

import (
	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

func idRules() []ruleEntry {
	return []ruleEntry{
		plain(requestID, "IDS-STRING-OR-INTEGER", "IDS-NOT-NULL"),
		plain(freshID, "IDS-NOT-REUSED", "IDS-NOT-IN-FLIGHT"),
		plain(echo, "IDS-RESPONSE-ECHO", "IDS-ANSWERED-ONCE", "REQUEST-ANSWERED"),
	}
}

// requestID: the id of a request is a string or an integer, not null
// (basic/index, requests). 0 and "" are ids like any other.
func requestID(o *Observation) {
	if !o.is(schemas.Request) || isNotificationName(o.Message.Method) {
		return
	}
	switch {
	case problem(o.Message, schemas.NullID) != nil:
		o.Fail("IDS-NOT-NULL", o.From(), Fault{Detail: "the id of a request is null", Want: "/id: string or integer", Got: "null"})
	case problem(o.Message, schemas.BadID) != nil:
		o.Fail("IDS-STRING-OR-INTEGER", o.From(), Fault{
			Detail: "the id of a request is neither string nor integer", Want: "/id: string or integer", Got: got(o.Message.ID, true),
		})
	default:
		o.Pass("IDS-NOT-NULL", o.From())
		o.Pass("IDS-STRING-OR-INTEGER", o.From())
	}
}

// freshID: up to 2025-11-25 an id is used once in a session by the same sender;
// since 2026-07-28 it only has to differ from those in flight (basic/index,
// requests). Both sides count for themselves, and so do sessions.
func freshID(o *Observation) {
	if !o.is(schemas.Request) || isNotificationName(o.Message.Method) ||
		problem(o.Message, schemas.NullID, schemas.BadID) != nil {
		return
	}
	if broadcast(o) {
		return // one message on two streams: HTTP-NO-BROADCAST says so
	}
	if o.Session.Modern {
		o.Check(!o.InFlight, "IDS-NOT-IN-FLIGHT", o.From(), Fault{
			Detail: "the id of a request is that of another one which is not answered yet", Want: "/id: another", Got: got(o.Message.ID, true),
		})
		return
	}
	o.Check(!o.Reused, "IDS-NOT-REUSED", o.From(), Fault{
		Detail: "the id of a request was used before in this session", Want: "/id: one not used before", Got: got(o.Message.ID, true),
	})
}

// broadcast reports whether a server's request came before on another stream.
func broadcast(o *Observation) bool {
	return o.From() == trace.Server && o.Exchange != nil && o.Earlier != nil && o.Earlier.Exchange != nil &&
		o.Earlier.Exchange != o.Exchange && o.Earlier.Method == o.Message.Method
}

// echo: a response carries the id of an open request, type included, and each
// request is answered once (basic/index, responses; JSON-RPC 2.0 section 5).
func echo(o *Observation) {
	if !o.is(schemas.Result, schemas.Error) {
		if o.Event != nil && o.Event.Kind == trace.KindClosed && o.Exchange != nil {
			unanswered(o)
		}
		return
	}
	switch {
	case o.Exchange != nil && o.Exchange.method() == "GET" && o.Exchange.resumes():
		// A resumed stream repeats what was sent before.
	case o.Request == nil:
		stray(o)
	case o.Earlier != nil && o.askedTwice():
		// It may as well answer the other request: the one to blame is who asked.
	case o.Earlier != nil:
		o.Fail("IDS-ANSWERED-ONCE", o.From(), Fault{
			Detail: "a request is answered a second time", Want: "one response", Got: "another with id " + got(o.Message.ID, true),
		})
	default:
		o.Pass("IDS-RESPONSE-ECHO", o.From())
		o.Pass("IDS-ANSWERED-ONCE", o.From())
		o.Pass("REQUEST-ANSWERED", o.From())
	}
}

// askedTwice reports whether a response has an id that was given to more than one
// request.
func (o *Observation) askedTwice() bool {
	return o.Session.of(o.From().Peer()).twice.has(schemas.IDKey(o.Message.ID))
}

// stray judges a response that answers nothing that is known.
func stray(o *Observation) {
	if len(o.Message.ID) == 0 || string(o.Message.ID) == "null" || string(o.Message.ID) == `""` {
		unidentified(o)
		return
	}
	key := schemas.IDKey(o.Message.ID)
	asked := o.Session.of(o.From().Peer())
	if other := otherType(key); other != "" && asked.open[other] != nil {
		o.Fail("IDS-RESPONSE-ECHO", o.From(), Fault{
			Detail: "a response carries the id of its request with another JSON type",
			Want:   "/id: " + typeName(other), Got: typeName(key) + " " + got(o.Message.ID, true),
		})
		return
	}
	switch {
	case o.Session.Partial:
		o.Untested("IDS-RESPONSE-ECHO", o.From(), "the capture begins in mid-session: the request may have come before")
	case o.Lacks(trace.LackOrder):
		o.Untested("IDS-RESPONSE-ECHO", o.From(), "the capture does not show the order between the two sides")
	case o.askedTwice():
	case asked.used.has(key):
		o.Fail("IDS-ANSWERED-ONCE", o.From(), Fault{
			Detail: "a request is answered a second time", Want: "one response", Got: "another with id " + got(o.Message.ID, true),
		})
	default:
		o.Fail("IDS-RESPONSE-ECHO", o.From(), Fault{
			Detail: "a response carries the id of no request", Want: "/id: that of an open request", Got: got(o.Message.ID, true),
		})
	}
}

func typeName(key string) string {
	if key[0] == 'n' {
		return "number"
	}
	return "string"
}

// unidentified judges an error without a usable id. That is right when the
// request could not be read (missing, or null as in JSON-RPC 2.0) or was
// refused by HTTP status. It is wrong when the one request that it can only
// mean was read: a successful status, and a code that is not about reading.
func unidentified(o *Observation) {
	x, code := o.Exchange, o.errorCode()
	if x == nil || len(x.Requests) != 1 || x.Garbled || x.Batch || x.status() != 200 || x.method() != "POST" ||
		code == "-32700" || code == "-32600" || problemWithID(x.Requests[0]) {
		return
	}
	o.Fail("IDS-RESPONSE-ECHO", o.From(), Fault{
		Detail: "the answer to a request that was read does not carry its id",
		Want:   "/id: that of the request", Got: got(o.Message.ID, len(o.Message.ID) > 0),
	})
}

func problemWithID(r *Request) bool { return r.Key == "" || r.Key[0] == 'o' }

// unanswered judges an HTTP exchange that the server ended. A stream with event
// ids may go on elsewhere (resumability), one whose request was cancelled ends
// without response, and a subscription may end with its connection. Over HTTP+SSE
// the answer to a POST never is the response.
func unanswered(o *Observation) {
	x := o.Exchange
	if o.From() != trace.Server || o.Session.Transport == trace.HTTPSSE || x.method() != "POST" || x.status() < 200 || x.status() > 299 || o.Lacks(trace.LackNoise) ||
		o.Event.End == nil || o.Event.End.How != "eof" {
		return
	}
	streamed := x.mediaType() == "text/event-stream"
	if streamed && (x.EventIDs || !o.Session.Modern) || len(x.Requests) == 0 || x.Garbled {
		return // HTTP-STREAM-HOLDS-RESPONSE judges the streams of earlier revisions
	}
	cause := ""
	if x.mediaType() != "application/json" && !streamed {
		cause = "HTTP-REQUEST-CONTENT-TYPE"
	}
	for _, r := range x.Requests {
		if r.AnsweredAt != 0 || r.CancelledAt != 0 || r.Method == "subscriptions/listen" || problemWithID(r) {
			continue
		}
		if x.Replies > x.Answers { // something came, but it did not carry the id
			cause = "IDS-RESPONSE-ECHO"
		}
		o.Fail("REQUEST-ANSWERED", trace.Server, Fault{
			Detail: "a request was accepted, but its answer holds no response", Want: "a response with its id", Got: "the end of the answer", Cause: cause,
		})
	}
}
