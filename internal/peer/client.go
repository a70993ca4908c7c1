package peer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

// ClientOptions say what a client is like. The zero value is a good client that
// speaks every revision and finds out which one the server speaks.
type ClientOptions struct {
	// Faults are names of faults to commit; see [Faults].
	Faults []string
	// Revision is the one to speak; "" means: find out, the newest first.
	Revision schemas.Revision
	// Patience bounds the wait for each answer; 0 means 10 seconds.
	Patience time.Duration
	// Probe bounds the wait for the answer to server/discover over stdio, after
	// which the server is taken for one of the handshake era; 0 means 3 seconds.
	Probe time.Duration
	// Log gets a line for people now and then; nil means nobody reads it.
	Log io.Writer
}

// Client is the reference client. Each run is one conversation, from the
// handshake or the probe to an orderly end.
type Client struct {
	opts   ClientOptions
	faults []Fault
}

// NewClient prepares a client; it starts nothing.
func NewClient(o ClientOptions) (*Client, error) {
	faults, err := pickFaults(trace.Client, o.Faults)
	if err != nil {
		return nil, err
	}
	if o.Patience <= 0 {
		o.Patience = 10 * time.Second
	}
	if o.Probe <= 0 {
		o.Probe = 3 * time.Second
	}
	if o.Log == nil {
		o.Log = io.Discard
	}
	if o.Revision != "" && !slices.Contains(schemas.Revisions(), o.Revision) {
		return nil, fmt.Errorf("the client does not speak %q", o.Revision)
	}
	return &Client{opts: o, faults: faults}, nil
}

func (c *Client) broken(name string) bool {
	return slices.ContainsFunc(c.faults, func(f Fault) bool { return f.Name == name })
}

// frames turns a message into bytes, after the faults have had their way.
func (c *Client) frames(m sent) []frame {
	for _, f := range c.faults {
		if f.edit != nil {
			f.edit(&m)
		}
	}
	return m.frames()
}

// link carries the messages of one conversation. What comes back reaches
// talk.receive, and talk.fail when it cannot come.
type link interface {
	send(ctx context.Context, m sent) error
	// drop stops listening for the answer to a request.
	drop(id int)
	// opened is called when the handshake is done: over HTTP, the standing
	// stream can be opened.
	opened(ctx context.Context)
	// close ends the conversation in the orderly way of its transport.
	close(ctx context.Context) error
}

// Errors that a call can end with, beside *rpcError.
var (
	errLost        = errors.New("the stream ended before the answer")
	errSessionGone = errors.New("the server has ended the session")
	errUnsupported = errors.New("client and server have no revision in common")
)

// talk is one conversation of a client.
type talk struct {
	c         *Client
	link      link
	transport trace.Transport
	caps      obj            // what the client declares
	working   sync.WaitGroup // answers being given

	mu     sync.Mutex
	rev    schemas.Revision
	lastID int
	open   map[string]chan answerOrError // requests not answered yet, by id
	subs   map[string]chan struct{}      // subscriptions not acknowledged yet, by id
	server fields                        // the server's capabilities
	tools  map[string]obj                // tools listed, for their headers
}

type answerOrError struct {
	p   packet
	err error
}

func (c *Client) newTalk(t trace.Transport) *talk {
	return &talk{c: c, transport: t, open: map[string]chan answerOrError{}, subs: map[string]chan struct{}{}, tools: map[string]obj{}}
}

func (t *talk) revision() schemas.Revision {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.rev
}

func (t *talk) speak(r schemas.Revision) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rev = r
	t.caps = clientCapabilities(r)
}

// clientCapabilities are what the client declares: all that the revision has.
func clientCapabilities(r schemas.Revision) obj {
	caps := obj{"sampling": obj{}, "roots": obj{"listChanged": true}}
	if r.Stateless() {
		caps["roots"] = obj{} // its listChanged ended with 2025-11-25
	}
	switch {
	case r >= schemas.R20251125:
		caps["elicitation"] = obj{"form": obj{}} // at least one mode must be named
	case r >= schemas.R20250618:
		caps["elicitation"] = obj{}
	}
	return caps
}

func clientInfo(r schemas.Revision) obj {
	o := obj{"name": "mcp-conform-reference-client", "version": "1.0.0", "title": "Reference client of mcp-conform"}
	return trim(o, r, otherMembers())
}

// call sends a request and waits for its answer. A stream that is lost in the
// stateless era loses its request, which is then made anew under a new id
// (2026-07-28 basic/transports/streamable-http).
func (t *talk) call(ctx context.Context, method string, params obj) (fields, error) {
	result, err := t.callOnce(ctx, method, params, t.c.opts.Patience)
	if errors.Is(err, errLost) && t.revision().Stateless() {
		result, err = t.callOnce(ctx, method, params, t.c.opts.Patience)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", method, err)
	}
	return result, nil
}

func (t *talk) callOnce(ctx context.Context, method string, params obj, patience time.Duration) (fields, error) {
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	id, ch := t.expect()
	err := t.link.send(ctx, t.dress(request(id, method, params)))
	if err != nil {
		t.forget(id)
		return nil, err
	}
	select {
	case a := <-ch:
		return t.read(method, a)
	case <-ctx.Done():
		t.forget(id)
		t.abandon(id, method)
		return nil, fmt.Errorf("no answer: %w", context.Cause(ctx))
	}
}

// read unpacks an answer. An unknown resultType makes it invalid; none means
// complete (2026-07-28 basic/index ResultType).
func (t *talk) read(method string, a answerOrError) (fields, error) {
	if a.err != nil {
		return nil, a.err
	}
	if a.p.err != nil {
		return nil, readError(a.p.err)
	}
	result, ok := parseFields(a.p.result)
	if !ok {
		return nil, errors.New("the result is no object")
	}
	if !t.revision().Stateless() {
		return result, nil
	}
	switch kind, has := result.text("resultType"); {
	case kind == "complete", kind == "input_required", has && t.c.broken("any-result-type"), !has && !t.c.broken("result-type-needed"):
		return result, nil
	default:
		return nil, fmt.Errorf("unknown resultType %q", kind)
	}
}

func readError(raw []byte) *rpcError {
	f, _ := parseFields(raw)
	e := &rpcError{data: f.value("data")}
	e.message, _ = f.text("message")
	if code, ok := f.value("code").(float64); ok {
		e.code = int(code)
	}
	return e
}

// abandon cancels a request that is no longer waited for: by a notification, or
// over stateless HTTP by closing its stream.
// The handshake must not be cancelled (basic/utilities/cancellation).
func (t *talk) abandon(id int, method string) {
	if t.revision().Stateless() && t.transport != trace.Stdio {
		t.link.drop(id)
		return
	}
	if method == "initialize" {
		return
	}
	ctx, stop := context.WithTimeout(context.Background(), time.Second)
	defer stop()
	t.notify(ctx, "notifications/cancelled", obj{"requestId": id, "reason": "no answer in time"})
}

// notify sends a notification; that it cannot be sent shows at the next request.
func (t *talk) notify(ctx context.Context, method string, params obj) {
	if err := t.link.send(ctx, t.dress(notification(method, params))); err != nil {
		t.logf("%s: %v", method, err)
	}
}

func (t *talk) logf(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	fmt.Fprintf(t.c.opts.Log, "reference client: "+format+"\n", args...)
}

// dress gives a request the metadata that every request of the stateless era
// carries (2026-07-28 basic/index General fields).
func (t *talk) dress(m obj) sent {
	t.mu.Lock()
	rev, caps := t.rev, t.caps
	t.mu.Unlock()
	method, _ := m["method"].(string)
	params, _ := m["params"].(obj)
	if rev.Stateless() && m["id"] != nil && method != "" {
		dressed := obj{}
		for k, v := range params {
			dressed[k] = v
		}
		meta := obj{keyVersion: string(rev), keyCapabilities: caps, keyClientInfo: clientInfo(rev)}
		if given, ok := params["_meta"].(obj); ok {
			for k, v := range given {
				meta[k] = v
			}
		}
		dressed["_meta"] = meta
		m["params"], params = dressed, dressed
	}
	name, _ := params["name"].(string)
	if uri, ok := params["uri"].(string); ok {
		name = uri
	}
	return sent{msg: m, rev: rev, transport: t.transport, re: method, name: name}
}

func (t *talk) expect() (int, chan answerOrError) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lastID++
	ch := make(chan answerOrError, 1)
	t.open[string(idToken(t.lastID))] = ch
	return t.lastID, ch
}

// stepBack makes the next request take the id of the last, if the client
// commits that fault.
func (t *talk) stepBack(fault string) {
	if t.c.broken(fault) {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.lastID--
	}
}

func (t *talk) forget(id int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.open, string(idToken(id)))
}

// receive takes what the server sent: one message or, in 2025-03-26, a batch.
func (t *talk) receive(ctx context.Context, data []byte) {
	p := parse(data)
	if p.isBatch && p.bad == nil {
		for _, m := range p.batch {
			t.take(ctx, m)
		}
		return
	}
	t.take(ctx, p)
}

func (t *talk) take(ctx context.Context, p packet) {
	switch {
	case p.isResponse():
		t.settle(string(p.id), answerOrError{p: p})
	case p.bad != nil && p.method == "":
		t.logf("ignoring what is no message: %v", p.bad)
	case p.isRequest():
		t.working.Add(1)
		go func() { // on its own, so that reading never waits for writing
			defer t.working.Done()
			t.answer(ctx, p)
		}()
	case p.isNotification():
		t.notified(p)
	}
}

// settled waits until the server's requests are answered, for a moment at most.
func (t *talk) settled(ctx context.Context) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		t.working.Wait()
	}()
	timer := time.NewTimer(time.Second)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// settle hands an answer to the call that waits for it; late ones are ignored.
func (t *talk) settle(id string, a answerOrError) {
	t.mu.Lock()
	ch := t.open[id]
	delete(t.open, id)
	t.mu.Unlock()
	if ch != nil {
		ch <- a
	}
}

// fail ends a call whose answer cannot come, or all of them when id is nil.
func (t *talk) fail(id any, err error) {
	if id != nil {
		t.settle(string(encode(id)), answerOrError{err: err})
		return
	}
	t.mu.Lock()
	open := t.open
	t.open = map[string]chan answerOrError{}
	t.mu.Unlock()
	for _, ch := range open {
		ch <- answerOrError{err: err}
	}
}

// notified reacts to a notification; most need no reaction.
func (t *talk) notified(p packet) {
	if p.method != "notifications/subscriptions/acknowledged" {
		return
	}
	meta, _ := p.params.object("_meta")
	t.mu.Lock()
	ch := t.subs[string(meta[keySubscription])]
	delete(t.subs, string(meta[keySubscription]))
	t.mu.Unlock()
	if ch != nil {
		close(ch)
	}
}
