package conformance

import (
	"strings"

	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

func cancellationRules() []ruleEntry {
	return []ruleEntry{
		plain(cancelled, "CANCEL-OWN-REQUEST", "CANCEL-NOT-INITIALIZE", "CANCEL-SERVER-LISTEN-ONLY", "CANCEL-TASK-BY-METHOD"),
		stateful(func() Rule { return &lateWord{} }, "CANCEL-RACE-HARMLESS", "CANCEL-LATE-RESPONSE-IGNORED"),
		plain(cancelledAnswered, "CANCEL-NO-RESPONSE"),
		stateful(func() Rule { return &silence{} }, "CANCEL-SILENT"),
	}
}

// cancelled: a cancellation names a request of its own sender that may still
// run (basic/utilities/cancellation, behavior requirements). One that comes
// after the response has crossed it, which is nobody's fault. A receiver may
// ignore whatever it likes.
func cancelled(o *Observation) {
	if o.is(schemas.Request) && o.Message.Method == "tasks/cancel" {
		o.Pass("CANCEL-TASK-BY-METHOD", o.From())
		return
	}
	if !o.is(schemas.Notification) || o.Message.Method != "notifications/cancelled" {
		return
	}
	id, ok := o.param("requestId")
	if !ok {
		return // the schema demands it
	}
	key := schemas.IDKey(id)
	if o.Session.Modern && o.From() == trace.Server {
		cancelledByServer(o, key)
		return
	}
	own := o.Session.of(o.From())
	r := own.open[key]
	if r == nil {
		r = own.recent[key]
	}
	switch {
	case r != nil:
		o.Pass("CANCEL-OWN-REQUEST", o.From())
		if r.became != "" { // before that nothing else could have cancelled it
			o.Fail("CANCEL-TASK-BY-METHOD", o.From(), Fault{
				Detail: "a request that became a task is cancelled by a notification", Want: "tasks/cancel", Got: "notifications/cancelled for " + clip(r.Method),
			})
		}
		if o.From() == trace.Client && o.Session.Init != nil {
			o.Check(r != o.Session.Init || r.AnsweredAt != 0, "CANCEL-NOT-INITIALIZE", trace.Client, Fault{
				Detail: "initialize is cancelled", Want: "/params/requestId: another request", Got: got(id, true),
			})
		}
	case own.used.has(key): // answered long ago
	case o.Session.Partial || o.Lacks(trace.LackOrder):
		o.Untested("CANCEL-OWN-REQUEST", o.From(), "the capture may not show the request")
	default:
		o.Fail("CANCEL-OWN-REQUEST", o.From(), Fault{
			Detail: "a cancellation names no request that its sender has made", Want: "/params/requestId: that of an own request", Got: got(id, true),
		})
	}
}

// cancelledByServer: since 2026-07-28 a server cancels only a subscription that
// it ends (basic/patterns/cancellation). Whether it has to is open between two
// pages of the specification, so that its absence is no fault.
func cancelledByServer(o *Observation, key string) {
	asked := o.Session.of(trace.Client)
	r := asked.open[key]
	if r == nil {
		r = asked.recent[key]
	}
	if r == nil && o.Session.Partial {
		o.Untested("CANCEL-SERVER-LISTEN-ONLY", trace.Server, "the capture may not show the request")
		return
	}
	method := "no request"
	if r != nil {
		method = r.Method
	}
	o.Check(method == "subscriptions/listen", "CANCEL-SERVER-LISTEN-ONLY", trace.Server, Fault{
		Detail: "the server cancels what is no subscription", Want: "/params/requestId: that of a subscriptions/listen", Got: clip(method),
	})
}

// cancelledAnswered: a cancelled request gets no response
// (basic/utilities/cancellation). A response may have crossed the cancellation,
// and a receiver may finish what it cannot stop; so only an error that itself
// speaks of the cancellation is taken for an answer to it.
func cancelledAnswered(o *Observation) {
	if o.End {
		for _, side := range []trace.Side{trace.Client, trace.Server} {
			for _, r := range o.Session.of(side).open {
				if r.CancelledAt != 0 {
					o.Pass("CANCEL-NO-RESPONSE", side.Peer())
				}
			}
		}
		return
	}
	if !o.is(schemas.Error) || o.Request == nil || o.Request.CancelledAt == 0 || o.Earlier != nil || o.Lacks(trace.LackOrder) {
		return
	}
	text := strings.ToLower(textParam(o.Message.Error, "message"))
	if strings.Contains(text, "cancel") || strings.Contains(text, "abort") {
		o.Fail("CANCEL-NO-RESPONSE", o.From(), Fault{
			Detail: "a request that was cancelled is answered with an error", Want: "no response", Got: "error " + clip(o.errorCode()),
		})
	}
}

// silence: once a request is cancelled the server sends nothing more for it
// (2026-07-28 stdio, cancellation). What crossed the cancellation on its way is
// nobody's fault: the server has read it for certain only when it answers
// something that the client asked later. What a cancelled subscription ends with
// is open between two pages.
type silence struct {
	cancelled map[*Request]bool // whether the server knows
}

// mostCancelled bounds the cancelled requests that are watched.
const mostCancelled = 1024

func (s *silence) Observe(o *Observation) {
	if !o.Session.Modern || o.Session.Transport != trace.Stdio || o.Lacks(trace.LackOrder) {
		return
	}
	switch {
	case o.End:
		for _, knows := range s.cancelled {
			if knows {
				o.Pass("CANCEL-SILENT", trace.Server)
			}
		}
	case o.isCall(trace.Client, "notifications/cancelled"):
		s.cancel(o)
	case o.From() != trace.Server:
	case o.is(schemas.Result, schemas.Error) && o.Request != nil:
		s.response(o)
	case o.is(schemas.Notification) && o.Message.Method == "notifications/progress":
		if token, ok := o.param("progressToken"); ok {
			s.more(o, o.Session.of(trace.Client).byToken(schemas.IDKey(token)))
		}
	}
}

func (s *silence) cancel(o *Observation) {
	id, _ := o.param("requestId")
	r := o.Session.of(trace.Client).open[schemas.IDKey(id)]
	if r == nil || r.Method == "subscriptions/listen" || len(s.cancelled) >= mostCancelled {
		return
	}
	if s.cancelled == nil {
		s.cancelled = map[*Request]bool{}
	}
	if _, again := s.cancelled[r]; !again {
		s.cancelled[r] = false
	}
}

func (s *silence) response(o *Observation) {
	if _, cancelled := s.cancelled[o.Request]; cancelled {
		s.more(o, o.Request)
		delete(s.cancelled, o.Request)
		return
	}
	for r := range s.cancelled {
		s.cancelled[r] = s.cancelled[r] || o.Request.Seq > r.CancelledAt
	}
}

func (s *silence) more(o *Observation, r *Request) {
	if s.cancelled[r] {
		o.Fail("CANCEL-SILENT", trace.Server, Fault{
			Detail: "the server goes on with a request that it knows to be cancelled", Want: "nothing more for it", Got: "a " + o.Message.Kind.String() + " for " + clip(r.Method),
		})
	}
}

// lateWord watches what the two sides do when a cancellation and a response
// have crossed (basic/utilities/cancellation, timing considerations): whoever
// gets a cancellation of what it has answered goes on as if nothing had
// happened, and so does whoever gets a response to what it has cancelled.
type lateWord struct {
	late    map[trace.Side]string // by receiver: key of a request that was cancelled after its response
	stale   map[trace.Side]string // by receiver: key of a cancelled request that was answered
	cleared map[trace.Side]int64  // by receiver: Seq of that event
}

func (c *lateWord) Observe(o *Observation) {
	if o.Message == nil || o.Lacks(trace.LackOrder) || o.is(schemas.Invalid, schemas.Batch) {
		return
	}
	c.reacts(o)
	to := o.From().Peer()
	switch {
	case o.is(schemas.Notification) && o.Message.Method == "notifications/cancelled":
		id, _ := o.param("requestId")
		key := schemas.IDKey(id)
		own := o.Session.of(o.From())
		if own.open[key] == nil && own.recent[key] != nil {
			c.late = noted(c.late, to, key)
			c.cleared = notedAt(c.cleared, to, o.Event.Seq)
		}
	case o.is(schemas.Result, schemas.Error) && o.Request != nil && o.Request.CancelledAt != 0 && o.Earlier == nil:
		c.stale = noted(c.stale, to, o.Request.Key)
	}
}

func noted(m map[trace.Side]string, side trace.Side, key string) map[trace.Side]string {
	if m == nil {
		m = map[trace.Side]string{}
	}
	m[side] = key
	return m
}

func notedAt(m map[trace.Side]int64, side trace.Side, seq int64) map[trace.Side]int64 {
	if m == nil {
		m = map[trace.Side]int64{}
	}
	m[side] = seq
	return m
}

// reacts judges what a side says after one of the two has reached it. An error
// that goes by the id in question, with no request that it could answer, is an
// answer to what should have been ignored.
func (c *lateWord) reacts(o *Observation) {
	side := o.From()
	key := schemas.IDKey(o.Message.ID)
	complains := o.is(schemas.Error) && (o.Request == nil || o.Earlier != nil)
	if late, ok := c.late[side]; ok {
		switch {
		case complains && key == late:
			o.Fail("CANCEL-RACE-HARMLESS", side, Fault{Detail: "a cancellation that comes after the response is answered with an error", Want: "nothing", Got: "error " + clip(o.errorCode())})
			delete(c.late, side)
		case o.is(schemas.Result, schemas.Error) && o.Request != nil && o.Earlier == nil && o.Request.Seq > c.cleared[side]:
			o.Pass("CANCEL-RACE-HARMLESS", side) // it answers what was asked later
			delete(c.late, side)
		}
	}
	if stale, ok := c.stale[side]; ok {
		switch {
		case complains && key == stale:
			o.Fail("CANCEL-LATE-RESPONSE-IGNORED", side, Fault{Detail: "a response that comes after the cancellation is answered with an error", Want: "nothing", Got: "error " + clip(o.errorCode())})
			delete(c.stale, side)
		case o.is(schemas.Request):
			o.Pass("CANCEL-LATE-RESPONSE-IGNORED", side)
			delete(c.stale, side)
		}
	}
}
