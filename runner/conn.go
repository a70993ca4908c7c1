package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/runner/wire"
	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

// conn is one connection to the target: its wire, what happened on it, and what
// the harness has to carry along.
type conn struct {
	id      string
	us      trace.Side // the harness's side
	offer   Offer
	wire    wire.Wire
	journal *journal
	judge   *conformance.Judge
	found   []conformance.Evidence // what the judge has said; read it after the judge has finished

	sending sync.Mutex // one send at a time, so that events can be told apart
	dress   dressing
	next    int // the last id that was given to a request

	spans     []span
	used      bool   // a conversation was held on it
	opened    *entry // the server's answer to the handshake
	agreed    string // the revision that the answer names
	resumes   int    // streams that were polled for; only attend counts
	attending sync.WaitGroup
	stop      context.CancelFunc
}

func newConn(id string, us trace.Side, offer Offer) *conn {
	return &conn{
		id: id, us: us, offer: offer, journal: newJournal(),
		dress: dressing{revision: offer.Revision},
	}
}

// record is the end of the way of each event, in order, under the recorder's lock.
func (c *conn) record(e trace.Event) {
	c.judge.Observe(e) // first, so that who wakes up finds it judged
	c.journal.record(e, c.us)
}

// attend answers the requests that no step awaits, and polls for what broke off,
// until the connection ends.
func (c *conn) attend(ctx context.Context) {
	ctx, c.stop = context.WithCancel(ctx)
	c.attending.Go(func() {
		for {
			var x *entry
			open := c.journal.await(ctx, time.Hour, func() bool {
				if x = c.journal.pick(c.unattended); x == nil {
					x = c.broken()
				}
				if x != nil {
					x.answered = true
				}
				return x != nil || c.journal.ended != nil
			})
			switch {
			case x == nil || !open:
				return
			case x.Kind == trace.KindClosed:
				c.resumes++
				c.attending.Go(func() { c.resume(ctx, x) })
			default:
				// The peer may be gone by now; its silence is in the trace already.
				_ = c.behave(ctx, x)
			}
		}
	})
}

func (c *conn) unattended(x *entry) bool {
	return x.From != c.us && c.wants(x) && !x.answered && !x.reserved
}

// wants reports whether an event asks something of manners.
func (c *conn) wants(x *entry) bool {
	if c.us == trace.Client {
		// A server of the stateless revision must not send requests, and a client
		// must not answer (2026-07-28 basic/patterns).
		return x.msg.Kind == schemas.Request && !c.dress.revision.Stateless()
	}
	// Over HTTP everything that a client sends wants an answer, if only a status.
	return x.msg.Kind == schemas.Request || x.Exchange != "" && x.Kind != trace.KindClosed && (x.msg.Kind != schemas.Invalid || x.Kind == trace.KindNoise || bodyless(x))
}

func bodyless(x *entry) bool {
	return x.Kind == trace.KindHTTP && x.HTTP != nil && (x.HTTP.Method == "GET" || x.HTTP.Method == "DELETE")
}

// behave answers x by manners.
func (c *conn) behave(ctx context.Context, x *entry) error {
	if x.msg.Kind == schemas.Request {
		a := manners(c.us, &c.dress, x.msg)
		if why := c.headersContradict(x); why != "" {
			a = fault(-32020, why, "", 400)
		}
		return c.answer(ctx, x, a, wire.HTTP{Status: a.status}, false)
	}
	status := 202
	switch {
	case bodyless(x) && x.HTTP.Method == "DELETE" && !c.dress.revision.Stateless():
		status = 200
	case bodyless(x):
		status = 405
	case x.msg.Kind == schemas.Invalid:
		status = 400
	}
	return c.put(ctx, wire.Out{Exchange: x.Exchange, HTTP: &wire.HTTP{Status: status}, Last: true}, false, nil)
}

// answer sends the response to a request of the peer.
func (c *conn) answer(ctx context.Context, x *entry, a answer, h wire.HTTP, purpose bool) error {
	outcome := `"result":` + string(a.result)
	if a.err != nil {
		outcome = `"error":` + string(a.err)
	}
	out := wire.Out{Data: []byte(`{"jsonrpc":"2.0","id":` + string(x.msg.ID) + `,` + outcome + `}`), HTTP: &h}
	if c.us == trace.Server {
		out.Exchange, out.Last = x.Exchange, true
		if x.msg.Method == "initialize" && a.err == nil && !c.dress.revision.Stateless() {
			// 2025-03-26 basic/transports: a server may give a session id with the
			// result, so that clients can show that they keep it.
			setHeader(&h, "Mcp-Session-Id", "session-"+c.id)
		}
	} else {
		c.dress.sessionHeaders(&h)
	}
	return c.put(ctx, out, purpose, nil)
}

// sent is a request, notification or bare HTTP request that went out.
type sent struct {
	id       json.RawMessage
	batch    []json.RawMessage // ids of the requests in a batch
	exchange string
	seq      int64 // nothing up to here can be an answer
	called   bool  // a well-formed request, made in the manner of the revision
	bare     bool  // no request: a notification, raw text without an id, or HTTP alone
	note     bool  // a notification
}

// request sends a request with the next id, dressed.
func (c *conn) request(ctx context.Context, method string, params json.RawMessage) (sent, error) {
	return c.say(ctx, message{method: method, params: params}, c.newID(), true, false)
}

func (c *conn) newID() json.RawMessage {
	c.sending.Lock()
	defer c.sending.Unlock()
	c.next++
	return json.RawMessage(strconv.Itoa(c.next))
}

// say sends a request, or a notification when id is nil.
func (c *conn) say(ctx context.Context, m message, id json.RawMessage, dressed, purpose bool) (sent, error) {
	if dressed && c.us == trace.Client {
		c.dress.dress(&m, id != nil)
	}
	text := `{"jsonrpc":"2.0"`
	if id != nil {
		text += `,"id":` + string(id)
	}
	text += `,"method":` + string(jsonString(m.method))
	if m.params != nil {
		text += `,"params":` + string(m.params)
	}
	s := sent{id: id}
	out := wire.Out{Data: []byte(text + `}`), HTTP: &m.http}
	return s, c.put(ctx, out, purpose, &s)
}

// put hands out to the wire; s, when given, learns the exchange.
func (c *conn) put(ctx context.Context, out wire.Out, purpose bool, s *sent) error {
	if c.offer.Transport == trace.Stdio {
		out.HTTP = nil
	}
	err := c.act(purpose, s, func() (string, error) { return c.wire.Send(ctx, out) })
	if _, gone := errors.AsType[*noShow](err); gone {
		// Whether a peer was gone just before it could be told or just after is a
		// matter of chance. It shows where its answer is awaited.
		return nil
	}
	return err
}

// act does something on the wire, one at a time.
func (c *conn) act(purpose bool, s *sent, do func() (string, error)) error {
	c.sending.Lock()
	defer c.sending.Unlock()
	c.journal.mu.Lock()
	c.journal.purpose = purpose
	if s != nil {
		s.seq = c.journal.last
		if s.id != nil {
			c.journal.ours[schemas.IDKey(s.id)] = true
		}
	}
	c.journal.mu.Unlock()
	x, err := do()
	c.journal.mu.Lock()
	c.journal.purpose = false
	c.journal.mu.Unlock()
	if s != nil {
		s.exchange = x
		if s.id != nil && x != "" {
			c.journal.ask(x, s.id)
		}
	}
	switch {
	case errors.Is(err, wire.ErrClosed):
		return c.gone()
	case err != nil:
		return fmt.Errorf("sending on connection %s: %w", c.id, err)
	}
	return nil
}

// gone says why nothing can be sent any more. Broken pipes show before the end
// of a process does.
func (c *conn) gone() error {
	why := "the connection has ended"
	c.journal.await(context.Background(), lingering, func() bool {
		if c.journal.ended != nil {
			why = c.over(sent{})
		}
		return c.journal.ended != nil
	})
	return &noShow{why: why}
}

// noShow says that an awaited event did not come.
type noShow struct {
	why string
	// refused says that the exchange that was to hold it ended in a way of which
	// rules have more to say: by an HTTP error status, or as a stream of the
	// revisions in which streams may be resumed.
	refused bool
}

func (e *noShow) Error() string { return e.why }

// reply waits for the response to s, and no longer than it can still come.
func (c *conn) reply(ctx context.Context, s sent, limit time.Duration) (*entry, error) {
	return c.wait(ctx, limit, "an answer", func(x *entry) bool { return c.answers(x, s) }, func() string { return c.over(s) })
}

// answers reports whether x is the response to s.
func (c *conn) answers(x *entry, s sent) bool {
	if x.From == c.us || x.taken || x.Seq <= s.seq || x.msg.Kind != schemas.Result && x.msg.Kind != schemas.Error {
		return false
	}
	if s.id != nil && schemas.SameID(x.msg.ID, s.id) {
		return true
	}
	for _, id := range s.batch {
		if schemas.SameID(x.msg.ID, id) {
			return true
		}
	}
	// An error without a readable id answers what was sent in its exchange: a
	// refusal (basic/transports), or a body that could not be parsed.
	none := len(x.msg.ID) == 0 || string(x.msg.ID) == "null" || string(x.msg.ID) == `""`
	if s.exchange != "" {
		return x.Exchange == s.exchange && (none || s.bare) && !(s.note && c.refused(s.exchange))
	}
	return s.bare && (none || !c.journal.ours[schemas.IDKey(x.msg.ID)])
}

// refused reports whether an exchange has the status of an error. The error in
// such a body says why a notification could not be accepted and is no response to
// it (basic/transports, since 2025-03-26); the caller holds the journal's lock.
func (c *conn) refused(exchange string) bool {
	return c.journal.find(func(x *entry) bool {
		return x.Kind == trace.KindHTTP && x.From != c.us && x.Exchange == exchange && x.HTTP.Status >= 400
	}) != nil
}

// wait returns the first entry that fits. hopeless says, when it is not empty,
// why none can come any more; both look under the journal's lock.
func (c *conn) wait(ctx context.Context, limit time.Duration, what string, fits func(*entry) bool, hopeless func() string) (*entry, error) {
	var x *entry
	why := ""
	looked := 0 // what did not fit will not fit later
	c.journal.await(ctx, limit, func() bool {
		for ; looked < len(c.journal.entries); looked++ {
			if x = c.journal.entries[looked]; fits(x) {
				x.taken = true
				return true
			}
		}
		x = nil
		why = hopeless()
		return why != ""
	})
	switch {
	case x != nil:
		return x, nil
	case why != "": // known for certain, whatever has become of the time
	case ctx.Err() != nil:
		return nil, ctx.Err()
	default:
		why = fmt.Sprintf("within %v", limit.Round(time.Millisecond))
	}
	return nil, &noShow{what + " did not come: " + why, strings.HasPrefix(why, refusedBy) || strings.HasPrefix(why, streamEnded)}
}

// over says why nothing more can come for s.
func (c *conn) over(s sent) string {
	if c.journal.ended != nil {
		return "the connection has ended (" + describeEnd(c.journal.ended.End) + c.hint() + ")"
	}
	if s.exchange == "" {
		return ""
	}
	end := c.journal.find(func(x *entry) bool { return x.Kind == trace.KindClosed && x.Exchange == s.exchange })
	if end == nil {
		return ""
	}
	if resumable(c.journal, s.exchange) {
		return "" // 2025-11-25 basic/transports: the server may close the stream and be polled
	}
	how := "the HTTP exchange ended without it: "
	if head := c.journal.find(func(x *entry) bool {
		return x.Kind == trace.KindHTTP && x.From != c.us && x.Exchange == s.exchange
	}); head != nil {
		kind, _ := head.HTTP.Get("Content-Type")
		switch {
		case head.HTTP.Status >= 400:
			how = refusedBy
		case strings.HasPrefix(kind, "text/event-stream") && !c.dress.revision.Stateless():
			how = streamEnded
		}
	}
	return how + c.describeExchange(s.exchange) + describeEnd(end.End)
}

// How descriptions of ends begin of which rules have more to say.
const (
	refusedBy   = "the HTTP request was refused: "
	streamEnded = "the stream ended without it: "
)

// resumable reports whether a stream of the exchange was given an event id.
func resumable(j *journal, exchange string) bool {
	return j.find(func(x *entry) bool {
		return x.Exchange == exchange && x.SSE != nil && x.SSE.ID != nil && *x.SSE.ID != ""
	}) != nil
}

func (c *conn) describeExchange(exchange string) string {
	s := ""
	for _, x := range c.journal.entries {
		if x.Exchange != exchange || x.From == c.us {
			continue
		}
		switch x.Kind {
		case trace.KindHTTP:
			s += fmt.Sprintf("status %d, ", x.HTTP.Status)
			if to, ok := x.HTTP.Get("Location"); ok {
				s += fmt.Sprintf("redirected to %s, which is not followed: give the URL that answers, ", trace.MaskURL(to))
			}
		case trace.KindMessage, trace.KindNoise:
			s += fmt.Sprintf("body %q, ", excerpt(x.Data))
		}
	}
	return s
}

// hint is what the target said beside messages, for people who wonder why no
// answer came; the caller holds the journal's lock.
func (c *conn) hint() string {
	s := ""
	if noise := c.journal.tails[trace.KindNoise]; len(noise) > 0 {
		s += "; what it wrote is no message: " + strings.Join(noise, " | ")
	}
	if stderr := c.journal.tails[trace.KindStderr]; len(stderr) > 0 {
		s += "; it said: " + strings.Join(stderr, " | ")
	}
	return s
}

func describeEnd(e *trace.End) string {
	if e == nil {
		return "ended"
	}
	s := e.How
	switch e.How {
	case "exit":
		s = fmt.Sprintf("exit code %d", e.Code)
	case "signal":
		s = "signal " + e.Signal
	}
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	return s
}

const excerptLength = 300

// excerpt is the beginning of some bytes, for people, with secrets masked.
func excerpt(b []byte) string {
	s := string(b)
	if len(s) > excerptLength {
		s = strings.ToValidUTF8(s[:excerptLength], "") + "…"
	}
	return trace.MaskText(s)
}

// refused says that the handshake was understood and led nowhere: the peer does
// not speak the revision.
type refused struct{ why string }

func (e *refused) Error() string { return e.why }

// handshake opens the conversation in the manner of the revision. proposal, when
// set, is asked for instead of the offer's revision, and then any answer will do.
func (c *conn) handshake(ctx context.Context, capabilities json.RawMessage, proposal string, limit time.Duration) error {
	if capabilities == nil {
		capabilities = json.RawMessage(`{}`)
	}
	c.dress.capabilities = capabilities
	if c.offer.Revision.Stateless() {
		return c.announce(ctx, limit)
	}
	asked := proposal
	if asked == "" {
		asked = string(c.offer.Revision)
	}
	s, err := c.request(ctx, "initialize", json.RawMessage(fmt.Sprintf(
		`{"protocolVersion":%s,"capabilities":%s,"clientInfo":%s}`, jsonString(asked), capabilities, self)))
	if err != nil {
		return fmt.Errorf("initialize: %w", err)
	}
	x, err := c.reply(ctx, s, limit)
	if err != nil {
		return fmt.Errorf("initialize: %w", err)
	}
	c.opened = x
	if x.msg.Kind == schemas.Error {
		return &refused{"initialize was answered with the error " + excerpt(x.msg.Error)}
	}
	v, _ := schemas.Member(x.msg.Result, "protocolVersion")
	c.agreed = text(v)
	if proposal == "" && c.agreed != asked {
		if v == nil {
			return &refused{"the result of initialize has no protocolVersion: " + excerpt(x.msg.Result)}
		}
		return &refused{fmt.Sprintf("the server answered with version %s", excerpt(v))}
	}
	return c.settle(ctx, s)
}

// announce opens a stateless conversation over stdio, where clients should ask
// server/discover before anything else (2026-07-28 basic/versioning): a server
// of both eras may take its pick from the first message, and one that is no
// request says nothing of the era. Over HTTP each request stands for itself.
func (c *conn) announce(ctx context.Context, limit time.Duration) error {
	if c.offer.Transport != trace.Stdio {
		return nil
	}
	if _, err := c.alive(ctx, limit); err != nil {
		return fmt.Errorf("%s: %w", c.dress.signOfLife(), err)
	}
	return nil
}

// settle takes over what the answer to initialize settled, and says so.
func (c *conn) settle(ctx context.Context, s sent) error {
	if r, err := schemas.ParseRevision(c.agreed); err == nil {
		c.dress.revision = r
	}
	c.journal.mu.Lock()
	head := c.journal.find(func(x *entry) bool {
		return x.Kind == trace.KindHTTP && x.From != c.us && x.Exchange == s.exchange
	})
	c.journal.mu.Unlock()
	if head != nil && s.exchange != "" {
		c.dress.session, _ = head.HTTP.Get("Mcp-Session-Id")
	}
	c.dress.open = true
	n, err := c.say(ctx, message{method: "notifications/initialized"}, nil, true, false)
	if err != nil {
		return err
	}
	if n.exchange == "" {
		return nil
	}
	// Over HTTP a request could overtake the notification.
	_, err = c.wait(ctx, lingering, "the end of notifications/initialized",
		func(x *entry) bool { return x.Kind == trace.KindClosed && x.Exchange == n.exchange }, func() string { return "" })
	if _, late := errors.AsType[*noShow](err); late {
		return nil // some servers answer it by a stream that stays open
	}
	return err
}

// lingering bounds the wait for courtesies that no verdict hangs on.
const lingering = 2 * time.Second

// alive asks for a sign of life and waits for it.
func (c *conn) alive(ctx context.Context, limit time.Duration) (*entry, error) {
	s, err := c.request(ctx, c.dress.signOfLife(), nil)
	if err != nil {
		return nil, err
	}
	return c.reply(ctx, s, limit)
}

// close ends the connection and waits until nothing of it is left.
func (c *conn) close(ctx context.Context) error {
	if c.stop != nil {
		c.stop()
	}
	err := c.wire.Close(ctx)
	c.attending.Wait()
	return err
}
