package peer

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

// session is one conversation of the handshake era: a pair of pipes or an HTTP
// session. On stdio it also keeps the stateless calls in progress, which share
// the pipes and are cancelled by the same notification.
type session struct {
	met       bool // server/discover was asked for, on stdio
	srv       *Server
	id        string // of the HTTP session, "" on stdio
	transport trace.Transport
	ctx       context.Context
	end       context.CancelCauseFunc
	out       outlet        // for messages that belong to no call
	ready     chan struct{} // closed when the client has said initialized

	mu      sync.Mutex
	rev     schemas.Revision // "" before the handshake
	opening bool             // initialize was answered
	isReady bool
	caps    fields
	level   int
	watched map[string]bool
	calls   map[string]*call
	asked   map[string]chan packet // our own requests, by id
	lastID  int

	streams streams // HTTP only
}

func (s *Server) newSession(id string, t trace.Transport) *session {
	ses := &session{
		srv: s, id: id, transport: t, ready: make(chan struct{}), level: 1, // info
		watched: map[string]bool{}, calls: map[string]*call{}, asked: map[string]chan packet{},
	}
	ses.ctx, ses.end = context.WithCancelCause(s.ctx)
	return ses
}

// close ends the session and everything that is in progress in it.
func (ses *session) close() {
	ses.srv.hears(ses, false)
	ses.end(errShutdown)
}

// open performs the handshake; the session exists from here on.
func (ses *session) open(p packet) (obj, *rpcError) {
	ses.mu.Lock()
	defer ses.mu.Unlock()
	if ses.opening {
		return nil, &rpcError{code: codeInvalidRequest, message: "the session is already initialized"}
	}
	rev, result, e := ses.srv.initialize(p.params, ses.spoken())
	if e != nil {
		return nil, e
	}
	ses.opening, ses.rev = true, rev
	ses.caps, _ = p.params.object("capabilities")
	return result, nil
}

// spoken lists the revisions that the session can negotiate: HTTP+SSE ended with
// 2024-11-05.
func (ses *session) spoken() []schemas.Revision {
	if ses.transport == trace.HTTPSSE {
		return []schemas.Revision{schemas.R20241105}
	}
	return ses.srv.era(false)
}

// receive takes one message that is no batch. Requests run on their own, so
// that a slow one delays nothing; done is called when a request is answered.
// It reports whether the message was a request, for which done will be called.
func (ses *session) receive(p packet, out outlet, done func()) bool {
	switch {
	case p.isResponse():
		ses.take(p)
	case p.isNotification():
		ses.notified(p)
	case p.isRequest() && p.method == "initialize":
		c := ses.newCall(p, out)
		result, e := ses.open(p)
		c.rev = ses.revision()
		c.end(result, e, done)
		return true
	case p.isRequest():
		ses.request(p, out, done)
		return true
	}
	return false
}

func (ses *session) newCall(p packet, out outlet) *call {
	ses.mu.Lock()
	defer ses.mu.Unlock()
	c := &call{
		srv: ses.srv, ses: ses, rev: ses.rev, transport: ses.transport, id: p.id,
		method: p.method, params: p.params, caps: ses.caps, out: out,
	}
	c.meta, _ = p.params.object("_meta")
	c.ctx, c.cancel = context.WithCancelCause(ses.ctx)
	return c
}

// request starts a call. Before the handshake only ping is served: the rest is
// refused with the code that also tells a stateless client what it forgot
// (2025-11-25 basic/lifecycle, 2026-07-28 basic/index).
func (ses *session) request(p packet, out outlet, done func()) {
	c := ses.newCall(p, out)
	if !ses.opened() && p.method != "ping" {
		if ses.srv.broken("missing-meta-accepted") {
			ses.run(ses.srv.newStateless(ses.ctx, p, ses.transport, out), done)
			return
		}
		c.end(nil, metaMissing("this is neither initialize nor a stateless request"), done)
		return
	}
	if c.rev == "" {
		c.rev = ses.srv.era(false)[0] // ping before the handshake is the same in all
	}
	ses.run(c, done)
}

func (ses *session) run(c *call, done func()) {
	key := string(c.id)
	ses.mu.Lock()
	ses.calls[key] = c
	ses.mu.Unlock()
	c.start(func() {
		ses.mu.Lock()
		if ses.calls[key] == c {
			delete(ses.calls, key)
		}
		ses.mu.Unlock()
		done()
	})
}

func (ses *session) opened() bool {
	ses.mu.Lock()
	defer ses.mu.Unlock()
	return ses.opening
}

func (ses *session) revision() schemas.Revision {
	ses.mu.Lock()
	defer ses.mu.Unlock()
	return ses.rev
}

func (ses *session) logLevel() int {
	ses.mu.Lock()
	defer ses.mu.Unlock()
	return ses.level
}

// notified reacts to a notification; what is unknown or late is ignored.
func (ses *session) notified(p packet) {
	switch p.method {
	case "notifications/initialized":
		ses.mu.Lock()
		first := ses.opening && !ses.isReady
		ses.isReady = ses.isReady || ses.opening
		ses.mu.Unlock()
		if first {
			ses.srv.hears(ses, true)
			close(ses.ready)
		}
	case "notifications/cancelled":
		ses.mu.Lock()
		c := ses.calls[string(p.params["requestId"])]
		ses.mu.Unlock()
		if c != nil {
			c.cancel(errCancelled)
		}
	}
	// A notification is not answered: only a fault puts something here.
	for _, f := range ses.srv.frames(sent{msg: obj{}, rev: ses.revision(), transport: ses.transport, re: p.method, request: p.params, drop: true}) {
		ses.out.put(f)
	}
}

// take hands a response to the tool that waits for it; others are ignored.
func (ses *session) take(p packet) {
	ses.mu.Lock()
	ch := ses.asked[string(p.id)]
	delete(ses.asked, string(p.id))
	ses.mu.Unlock()
	if ch != nil {
		ch <- p
	}
}

// hear passes a change on, as the handshake era does: list changes to everyone,
// a resource's to those who subscribed to it.
func (ses *session) hear(method, uri string) {
	ses.mu.Lock()
	wanted := method != "notifications/resources/updated" || ses.watched[uri]
	ses.mu.Unlock()
	if !wanted {
		return
	}
	var params obj
	if uri != "" {
		params = obj{"uri": uri}
	}
	m := sent{msg: notification(method, params), rev: ses.revision(), transport: ses.transport}
	for _, f := range ses.srv.frames(m) {
		ses.out.put(f)
	}
}

// ask sends a request of the server's own on the call's stream and waits for
// the answer. It goes out only after the client said initialized (basic/lifecycle).
func (c *call) ask(method string, params obj) (fields, *rpcError) {
	ctx, stop := context.WithTimeout(c.ctx, c.srv.opts.Patience)
	defer stop()
	select {
	case <-c.ses.ready:
	case <-ctx.Done():
		return nil, c.gaveUp(method)
	}
	id, ch := c.ses.expect()
	c.mu.Lock()
	if !c.over {
		c.put(sent{msg: request(id, method, params)})
	}
	c.mu.Unlock()
	select {
	case p := <-ch:
		if p.err != nil {
			return nil, &rpcError{code: codeInternal, message: fmt.Sprintf("the client refused %s: %s", method, p.err)}
		}
		result, _ := parseFields(p.result)
		return result, nil
	case <-ctx.Done():
		if c.ses.forget(id) {
			c.abandon(id)
		}
		return nil, c.gaveUp(method)
	}
}

// abandon tells the client that an answer is no longer waited for
// (basic/utilities/cancellation). It goes the session's way, since the call's
// own stream may be over.
func (c *call) abandon(id int) {
	m := sent{
		msg: notification("notifications/cancelled", obj{"requestId": id, "reason": "no longer waited for"}),
		rev: c.rev, transport: c.transport,
	}
	for _, f := range c.srv.frames(m) {
		c.ses.out.put(f)
	}
}

func (c *call) gaveUp(method string) *rpcError {
	if c.ctx.Err() != nil {
		return silence
	}
	return &rpcError{code: codeInternal, message: "the client did not answer " + method}
}

// expect takes the next id of the server's own and a place for its answer.
func (ses *session) expect() (int, chan packet) {
	ses.mu.Lock()
	defer ses.mu.Unlock()
	ses.lastID++
	ch := make(chan packet, 1)
	ses.asked[string(idToken(ses.lastID))] = ch
	return ses.lastID, ch
}

// forget reports whether the answer was still open.
func (ses *session) forget(id int) bool {
	ses.mu.Lock()
	defer ses.mu.Unlock()
	_, open := ses.asked[string(idToken(id))]
	delete(ses.asked, string(idToken(id)))
	return open
}

func idToken(id int) json.RawMessage { return encode(id) }

func setLevel(c *call) (obj, *rpcError) {
	l, _ := c.params.text("level")
	i := slices.Index(logLevels(), l)
	if i < 0 && c.srv.broken("invalid-level-accepted") {
		return obj{}, nil
	}
	if i < 0 {
		return nil, invalidParams("level must be one of %v", logLevels())
	}
	c.ses.mu.Lock()
	c.ses.level = i
	c.ses.mu.Unlock()
	return obj{}, nil
}

func subscribe(c *call) (obj, *rpcError) {
	uri, e := c.readable()
	if e == nil {
		c.ses.watch(uri, true)
	}
	return obj{}, e
}

func unsubscribe(c *call) (obj, *rpcError) {
	uri, e := c.readable()
	if e == nil {
		c.ses.watch(uri, false)
	}
	return obj{}, e
}

func (ses *session) watch(uri string, yes bool) {
	ses.mu.Lock()
	defer ses.mu.Unlock()
	ses.watched[uri] = yes
}
