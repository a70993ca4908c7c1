package conformance

import (
	"strconv"
	"strings"
	"time"

	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

func streamRules() []ruleEntry {
	return []ruleEntry{
		stateful(func() Rule { return &flows{open: map[string]*flow{}, events: map[string]*flow{}} },
			"HTTP-EVENT-IDS-UNIQUE", "HTTP-NO-FOREIGN-REPLAY", "HTTP-RESUME-LAST-EVENT-ID", "HTTP-RETRY-SENT", "HTTP-RETRY-RESPECTED",
			"HTTP-STREAM-PRIMED", "HTTP-CLIENT-POLLS"),
		plain(onHTTP(legacyRelated), "HTTP-STREAM-RELATED", "HTTP-GET-UNRELATED"),
		plain(onHTTP(modern(notBuffered)), "HTTP-NOT-BUFFERED"),
	}
}

// flow is a stream of events as the client sees it: over one connection, or over
// several when it breaks off and is resumed (basic/transports, resumability).
type flow struct {
	id       string // the exchange that began it
	requests []*Request
	begun    bool // an event has come
	last     string
	retry    *int
	ended    bool // the server has closed the connection, at the time
	at       time.Time
	polled   bool // the client has come back after that, and nothing has come yet
	told     bool // when to come back
}

// waiting reports whether something is still to come on the stream.
func (f *flow) waiting() bool {
	for _, r := range f.requests {
		if r.AnsweredAt == 0 && r.CancelledAt == 0 {
			return true
		}
	}
	return false
}

// flows follows the streams of a session by the ids of their events.
type flows struct {
	open   map[string]*flow // by exchange
	events map[string]*flow // by event id
	queue  []string         // of events, oldest first
	lost   bool             // the oldest were forgotten
	broken bool             // an id came twice
}

// mostEventIDs bounds the ids that are remembered.
const mostEventIDs = 8192

func (fs *flows) Observe(o *Observation) {
	if o.End && len(fs.events) > 1 && !fs.broken {
		o.Pass("HTTP-EVENT-IDS-UNIQUE", trace.Server)
	}
	if o.Event == nil || o.Exchange == nil || o.Session.Modern || o.Session.Transport != trace.StreamableHTTP || o.InBatch && !o.is(schemas.Result, schemas.Error) {
		return
	}
	x := o.Exchange
	switch {
	case o.head(trace.Client) && x.method() == "GET" && x.resumes():
		fs.resume(o)
	case o.head(trace.Server) && x.mediaType() == "text/event-stream" && x.status() < 300:
		fs.begin(o)
	case o.Event.Kind == trace.KindClosed:
		fs.close(o)
	case o.From() == trace.Server && o.Event.SSE != nil && !o.Event.SSE.Comment:
		fs.event(o)
	}
}

// begin takes the head of a stream.
func (fs *flows) begin(o *Observation) {
	x := o.Exchange
	if !x.resumes() {
		fs.open[x.ID] = &flow{id: x.ID, requests: x.Requests}
		return
	}
	last, _ := x.header("Last-Event-ID")
	f := fs.events[last]
	if f == nil {
		return // of something that was not seen
	}
	fs.open[x.ID] = f
	f.polled, f.told, f.retry, f.ended = f.ended && f.waiting(), f.retry != nil, nil, false
}

// close takes the end of a connection.
func (fs *flows) close(o *Observation) {
	f := fs.open[o.Exchange.ID]
	delete(fs.open, o.Exchange.ID)
	if f != nil && o.From() == trace.Server && o.Event.End != nil && o.Event.End.How == "eof" && !o.Lacks(trace.LackClose) {
		f.ended, f.at = true, o.Event.Time
	}
}

// early is the part of the retry time that a client may miss: clocks and
// networks are not exact, and a trace is taken on one side.
const early = 0.2

// resume judges a client that takes up a stream: it names an event that it got,
// and waits as long as it was told (2025-11-25 basic/transports, sending
// messages). Which of the events it got is the last, only the client knows.
func (fs *flows) resume(o *Observation) {
	id, _ := o.Exchange.header("Last-Event-ID")
	f := fs.events[id]
	switch {
	case f != nil:
		o.Pass("HTTP-RESUME-LAST-EVENT-ID", trace.Client)
	case fs.lost || o.Session.Partial || o.Lacks(trace.LackNoise) || o.Lacks(trace.LackOrder) || len(fs.events) == 0:
		o.Untested("HTTP-RESUME-LAST-EVENT-ID", trace.Client, "the capture may not show the event")
	default:
		o.Fail("HTTP-RESUME-LAST-EVENT-ID", trace.Client, Fault{
			Detail: "a stream is resumed after an event that was never sent", Want: "Last-Event-ID: the id of an event", Got: clip(id),
		})
	}
	if f == nil || !f.ended || !f.waiting() {
		return
	}
	o.Pass("HTTP-CLIENT-POLLS", trace.Client)
	if f.retry == nil || f.at.IsZero() || o.Event.Time.IsZero() || o.Lacks(trace.LackTiming) {
		return
	}
	want, got := time.Duration(*f.retry)*time.Millisecond, o.Event.Time.Sub(f.at)
	o.Check(float64(got) >= (1-early)*float64(want), "HTTP-RETRY-RESPECTED", trace.Client, Fault{
		Detail: "a client connects again before the time that the retry field says", Want: "after " + want.String(), Got: "after " + got.Round(time.Millisecond).String(),
	})
}

func (fs *flows) event(o *Observation) {
	x, sse := o.Exchange, o.Event.SSE
	f := fs.open[x.ID]
	if f == nil {
		f = &flow{} // the head or the origin was not seen
	} else if !x.resumes() {
		fs.primed(o, f)
	}
	if sse.Retry != nil {
		f.retry = sse.Retry
	}
	if o.Message != nil && f.polled { // so the stream was not over
		f.polled = false
		o.Check(f.told, "HTTP-RETRY-SENT", trace.Server, Fault{
			Detail: "the server closes the connection of a stream that goes on without a retry field", Want: "an event with a retry field", Got: "none",
		})
	}
	switch {
	case o.is(schemas.Result, schemas.Error) && x.resumes() && f.id != "" && o.Request != nil && o.Request.Exchange != nil &&
		o.Request.Exchange.ID != f.id:
		o.Fail("HTTP-NO-FOREIGN-REPLAY", trace.Server, Fault{
			Detail: "a resumed stream carries the response to a request of another stream", Want: "what belongs to the stream that is resumed",
			Got: "the response to " + clip(o.Request.Method),
		})
	case o.InBatch:
	case sse.ID != nil && *sse.ID != "":
		f.last = *sse.ID
		fs.identified(o, f)
	}
}

// identified takes an event with an id. A resumed stream repeats events of its
// own under their ids; apart from that an id comes once.
func (fs *flows) identified(o *Observation, f *flow) {
	g := fs.events[f.last]
	switch {
	case g == nil:
		fs.remember(f)
		if o.Exchange.resumes() && f.id != "" && o.is(schemas.Result, schemas.Error) && o.Request != nil {
			o.Pass("HTTP-NO-FOREIGN-REPLAY", trace.Server)
		}
	case o.Exchange.resumes():
		if f.id == "" || g.id == "" {
			return
		}
		o.Check(g == f, "HTTP-NO-FOREIGN-REPLAY", trace.Server, Fault{
			Detail: "a resumed stream repeats an event of another stream", Want: "events of the stream that is resumed", Got: "id: " + clip(f.last),
		})
	default:
		fs.broken = true
		o.Fail("HTTP-EVENT-IDS-UNIQUE", trace.Server, Fault{
			Detail: "two events of a session have the same id", Want: "another id", Got: clip(f.last),
		})
	}
}

func (fs *flows) remember(f *flow) {
	fs.events[f.last] = f
	if fs.queue = append(fs.queue, f.last); len(fs.queue) > mostEventIDs {
		delete(fs.events, fs.queue[0])
		fs.queue, fs.lost = fs.queue[1:], true
	}
}

// primed: a stream that answers a POST begins with an event that has an id and
// no data (2025-11-25 basic/transports, sending messages). The same page leaves
// it to servers whether their events have ids at all, and what a client
// understands is known only after initialize. A request without the version header
// may be taken for one of 2025-03-26 (protocol version header), where no such
// event is known.
func (fs *flows) primed(o *Observation, f *flow) {
	bare := o.Event.Kind == trace.KindSSE && (o.Event.SSE.ID == nil || *o.Event.SSE.ID == "") // a retry field alone
	if f.begun || bare {
		return
	}
	f.begun = true
	if o.Exchange.method() != "POST" || len(f.requests) == 0 || f.requests[0].Method == "initialize" || o.Lacks(trace.LackNoise) || o.Exchange.versionHeader() < schemas.R20251125 {
		return
	}
	if o.Event.SSE.ID == nil || *o.Event.SSE.ID == "" {
		o.Untested("HTTP-STREAM-PRIMED", trace.Server, "the events of the stream have no ids")
		return
	}
	o.Check(o.Event.Kind == trace.KindSSE, "HTTP-STREAM-PRIMED", trace.Server, Fault{
		Detail: "a stream whose events have ids does not begin with an event without data", Want: "an id and empty data", Got: "id: " + clip(*o.Event.SSE.ID) + ", with data",
	})
}

// legacyRelated: up to 2025-11-25 what comes on the stream of a request should
// belong to it, and what comes on the stream of a GET should not belong to any
// that runs (basic/transports, sending and listening). Progress shows to what it
// belongs by its token; what else a server says may have any reason.
func legacyRelated(o *Observation) {
	x := o.Exchange
	if o.Session.Modern || !o.is(schemas.Request, schemas.Notification) || o.From() != trace.Server || x.mediaType() != "text/event-stream" || x.resumes() {
		return
	}
	token, has := o.param("progressToken")
	progress := o.Message.Method == "notifications/progress" && has
	var r *Request
	if progress {
		r = o.Session.of(trace.Client).byToken(schemas.IDKey(token))
	}
	running := r != nil && r.AnsweredAt == 0
	switch {
	case x.method() == "GET":
		if progress && running || !progress && o.is(schemas.Notification) {
			o.Check(!progress, "HTTP-GET-UNRELATED", trace.Server, Fault{
				Detail: "the stream of a GET carries progress of a request that is running", Want: "it on the stream of its request", Got: clip(o.Message.Method),
			})
		}
	case x.method() == "POST" && running:
		o.Check(r.Exchange == x, "HTTP-STREAM-RELATED", trace.Server, Fault{
			Detail: "the stream of a request carries progress of another", Want: "it on the stream of its request", Got: clip(o.Message.Method),
		})
	}
}

// notBuffered: the head of a stream tells proxies not to hold it back
// (2026-07-28 streamable-http, receiving messages).
func notBuffered(o *Observation) {
	x := o.Exchange
	if !o.head(trace.Server) || x.method() != "POST" || x.mediaType() != "text/event-stream" || x.status() != 200 {
		return
	}
	v, _ := x.Response.Get("X-Accel-Buffering")
	o.Check(strings.EqualFold(strings.TrimSpace(v), "no"), "HTTP-NOT-BUFFERED", trace.Server, Fault{
		Detail: "the head of a stream does not tell proxies to pass it on at once", Want: "X-Accel-Buffering: no", Got: quoteOr(v, "absent"),
	})
}

// endpoint: the address that takes messages takes all of them (basic/transports,
// streamable HTTP). Only an address that has taken one is known to be it.
type endpoint struct{ took map[string]bool }

func (e *endpoint) Observe(o *Observation) {
	x := o.Exchange
	if x == nil || o.Session.Transport != trace.StreamableHTTP || !o.head(trace.Server) || x.method() != "POST" || x.Garbled || o.Lacks(trace.LackHeaders) {
		return
	}
	switch status := x.status(); {
	case status >= 200 && status < 300:
		if e.took == nil {
			e.took = map[string]bool{}
		}
		if len(e.took) < remembered {
			e.took[x.path()] = true
		}
		o.Pass("HTTP-ENDPOINT", trace.Server)
	case (status == 405 || status == 501) && e.took[x.path()]:
		o.Fail("HTTP-ENDPOINT", trace.Server, Fault{
			Detail: "the address that takes messages refuses a POST", Want: "POST is supported", Got: "status " + strconv.Itoa(status),
		})
	}
}
