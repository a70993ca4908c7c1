package peer

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

// The headers of Streamable HTTP. Names compare without case.
const (
	headerVersion = "Mcp-Protocol-Version"
	headerSession = "Mcp-Session-Id"
	headerMethod  = "Mcp-Method"
	headerName    = "Mcp-Name"
	headerParam   = "Mcp-Param-"
	headerLast    = "Last-Event-Id"
)

const (
	typeJSON   = "application/json"
	typeStream = "text/event-stream"
)

// bodyLimit bounds a request's body.
const bodyLimit = 4 << 20

// keepAlive is the pause after which a comment shows that a quiet stream lives.
const keepAlive = 15 * time.Second

// head is the head of an HTTP answer about to leave, and its body unless it is
// a stream: the second seam for faults.
type head struct {
	status int
	header http.Header
	body   []byte
	rev    schemas.Revision
	verb   string // the HTTP method that is answered
	re     string // the JSON-RPC method that is answered, "" if none
	name   string // name or URI in that request
	why    string // why it is refused
}

// Handler serves Streamable HTTP at every path but two: /sse and /messages are
// the endpoints of the older HTTP+SSE, which the server keeps hosting for
// clients of 2024-11-05.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/", s.endpoint)
	mux.HandleFunc("/sse", s.oldStream)
	mux.HandleFunc("/messages", s.oldPost)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.trusts(r) && !s.broken("origin-unchecked") {
			s.refuseHTTP(w, r, 403, nil, &rpcError{code: codeInvalidRequest, message: "this origin or host is not allowed"})
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// ListenAndServe serves HTTP on l until ctx is done, then ends what is open in
// good order.
func (s *Server) ListenAndServe(ctx context.Context, l net.Listener) error {
	hs := &http.Server{Handler: s.Handler(), ReadHeaderTimeout: 10 * time.Second}
	failed := make(chan error, 1)
	go func() { failed <- hs.Serve(l) }()
	select {
	case err := <-failed:
		s.Close()
		return err
	case <-ctx.Done():
	}
	s.Close()
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer stop()
	err := hs.Shutdown(ctx)
	if err != nil {
		err = errors.Join(err, hs.Close())
	}
	<-failed // http.ErrServerClosed
	return err
}

// trusts checks Origin and Host against DNS rebinding. An absent Origin is fine:
// only browsers send it (basic/transports Security).
func (s *Server) trusts(r *http.Request) bool {
	if o, has := r.Header["Origin"]; has {
		u, err := url.Parse(o[0])
		if err != nil || len(o) > 1 || !s.ourHost(u.Host) {
			return false
		}
	}
	return s.ourHost(r.Host)
}

func (s *Server) ourHost(hostport string) bool {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	host = strings.Trim(host, "[]")
	ip := net.ParseIP(host)
	return host == "localhost" || (ip != nil && ip.IsLoopback()) || slices.Contains(s.opts.Hosts, host)
}

// send writes a head, after the faults have had their way, and the body.
func (s *Server) send(w http.ResponseWriter, h head) {
	for _, f := range s.faults {
		if f.head != nil {
			f.head(&h)
		}
	}
	for k, vs := range h.header {
		w.Header()[k] = vs
	}
	w.WriteHeader(h.status)
	_, _ = w.Write(h.body) // a client that has left is no error of ours
}

func (s *Server) sendJSON(w http.ResponseWriter, h head, body []byte) {
	h.body = body
	if h.header == nil {
		h.header = http.Header{}
	}
	h.header.Set("Content-Type", typeJSON)
	s.send(w, h)
}

// refuseHTTP answers with an HTTP error and a JSON-RPC error as its body, which
// carries the id of the request if that could be read.
func (s *Server) refuseHTTP(w http.ResponseWriter, r *http.Request, status int, p *packet, e *rpcError) {
	h := head{status: status, verb: r.Method, why: e.message, rev: schemas.Revision(r.Header.Get(headerVersion))}
	m := sent{final: true, status: status, rev: h.rev, transport: trace.StreamableHTTP}
	if p != nil {
		m.id, m.re, m.request, m.name = p.id, p.method, p.params, nameIn(*p)
		h.re, h.name = m.re, m.name
	}
	m.msg = failure(m.id, e)
	if status == http.StatusMethodNotAllowed {
		h.header = http.Header{"Allow": {s.allowed()}}
	}
	var body []byte
	for _, f := range s.frames(m) {
		body = append(body, f.data...)
	}
	s.sendJSON(w, h, body)
}

// allowed lists the HTTP methods of the endpoint: POST alone since 2026-07-28.
func (s *Server) allowed() string {
	if len(s.era(false)) == 0 {
		return "POST"
	}
	return "DELETE, GET, POST"
}

// endpoint is the MCP endpoint of both eras.
func (s *Server) endpoint(w http.ResponseWriter, r *http.Request) {
	v, session := r.Header.Get(headerVersion), r.Header.Get(headerSession)
	stateless := len(s.era(false)) == 0 || (session == "" && schemas.Revision(v).Stateless() && s.speaks(schemas.Revision(v)))
	switch {
	case r.Method == http.MethodPost:
		s.post(w, r)
	case stateless || (r.Method != http.MethodGet && r.Method != http.MethodDelete):
		// 2026-07-28 basic/transports/streamable-http: neither GET nor DELETE.
		s.refuseHTTP(w, r, 405, nil, &rpcError{code: codeInvalidRequest, message: "use POST"})
	case r.Method == http.MethodGet:
		s.get(w, r)
	default:
		s.delete(w, r)
	}
}

// post takes one message, or a batch.
func (s *Server) post(w http.ResponseWriter, r *http.Request) {
	if t, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || t != typeJSON {
		s.refuseHTTP(w, r, 415, nil, &rpcError{code: codeInvalidRequest, message: "Content-Type must be application/json"})
		return
	}
	if !accepts(r, typeJSON) || !accepts(r, typeStream) {
		s.refuseHTTP(w, r, 406, nil, &rpcError{code: codeInvalidRequest, message: "Accept must list application/json and text/event-stream"})
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, bodyLimit))
	if err != nil {
		s.refuseHTTP(w, r, 413, nil, &rpcError{code: codeInvalidRequest, message: "the body is too long or broke off"})
		return
	}
	p := parse(body)
	if s.statelessPost(r, p) {
		s.postStateless(w, r, p)
	} else {
		s.postSession(w, r, p)
	}
}

// accepts reports whether the Accept header admits a media type.
func accepts(r *http.Request, want string) bool {
	for _, v := range r.Header.Values("Accept") {
		for part := range strings.SplitSeq(v, ",") {
			t, _, err := mime.ParseMediaType(part)
			major, _, _ := strings.Cut(want, "/")
			if err == nil && (t == want || t == "*/*" || t == major+"/*") {
				return true
			}
		}
	}
	return false
}

// statelessPost decides the era of a POST: the metadata in the body does, then
// the version header (2026-07-28 basic/versioning).
func (s *Server) statelessPost(r *http.Request, p packet) bool {
	v, session := schemas.Revision(r.Header.Get(headerVersion)), r.Header.Get(headerSession)
	switch {
	case len(s.era(true)) == 0:
		return false
	case len(s.era(false)) == 0 || isModern(p):
		return true
	case p.method == "initialize" || (p.isBatch && session != ""):
		return false
	case v == "":
		return session == "" && p.method == "server/discover"
	case slices.Contains(s.era(true), v):
		return true
	}
	return session == "" && !slices.Contains(s.era(false), v)
}

// postSession takes a POST of the handshake era.
func (s *Server) postSession(w http.ResponseWriter, r *http.Request, p packet) {
	if p.method == "initialize" && p.isRequest() && p.bad == nil && r.Header.Get(headerSession) == "" {
		s.openSession(w, r, p)
		return
	}
	ses, ok := s.sessionOf(w, r, &p)
	if !ok {
		return
	}
	if p.isBatch && !ses.batches() {
		p.bad = noBatch()
	}
	if p.bad != nil {
		s.refuseHTTP(w, r, 400, &p, p.bad)
		return
	}
	h := head{status: 202, rev: ses.revision(), verb: r.Method, re: p.method, name: nameIn(p)}
	if !p.wantsAnswer() {
		ses.takeAll(p, ses.out, func() {})
		s.send(w, h)
		return
	}
	st := ses.streams.open(ses.revision() >= schemas.R20251125 && !s.broken("stream-not-primed"))
	ses.takeAll(p, st, s.ending(st, h))
	s.deliver(w, r, ses, st, h)
}

// wantsAnswer reports whether a POST of it is answered by more than 202.
func (p *packet) wantsAnswer() bool {
	return p.isRequest() || slices.ContainsFunc(p.batch, func(m packet) bool { return m.isRequest() || m.bad != nil })
}

// takeAll takes a single message or a batch.
func (ses *session) takeAll(p packet, out outlet, done func()) {
	if p.isBatch {
		ses.takeBatch(p, out, done)
	} else if !ses.receive(p, out, done) {
		done()
	}
}

func nameIn(p packet) string {
	c := call{params: p.params}
	return c.name()
}

// deliver answers a POST with one JSON object or an event stream, as the stream
// turns out. A client that leaves does not cancel its request (2025-11-25
// basic/transports Sending Messages).
func (s *Server) deliver(w http.ResponseWriter, r *http.Request, ses *session, st *stream, h head) {
	h.status = 200
	if h.header == nil {
		h.header = http.Header{}
	}
	if f, ok := st.single(r.Context()); ok {
		if f.status != 0 {
			h.status = f.status
		}
		s.sendJSON(w, h, f.data)
		return
	}
	s.writeStream(w, r, st, 0, h, ses)
}

func (s *Server) writeStream(w http.ResponseWriter, r *http.Request, st *stream, from int, h head, ses *session) {
	h.status = 200
	if h.header == nil {
		h.header = http.Header{}
	}
	h.header.Set("Content-Type", typeStream)
	h.header.Set("Cache-Control", "no-cache")
	h.header.Set("X-Accel-Buffering", "no")
	s.send(w, h)
	if h.header.Get("Content-Type") != typeStream {
		return // a fault has made it something else
	}
	ctx := r.Context()
	if ses != nil { // the end of the session ends its streams
		var stop func()
		ctx, stop = joined(ctx, ses.ctx)
		defer stop()
	}
	st.write(ctx, w, from, keepAlive)
}

// openSession performs the handshake in a new session.
func (s *Server) openSession(w http.ResponseWriter, r *http.Request, p packet) {
	id := newSessionID()
	if s.broken("session-id-characters") {
		id = "session " + id
	}
	if s.broken("session-id-short") {
		id = id[:4]
	}
	ses := s.newSession(id, trace.StreamableHTTP)
	ses.out = &ses.streams
	ses.streams.sameIDs = s.broken("event-ids-repeated")
	ses.streams.silent = s.broken("retry-missing")
	st := newStream("", false)
	ses.receive(p, st, st.end)
	h := head{status: 200, rev: ses.revision(), verb: r.Method, re: p.method, header: http.Header{}}
	if ses.opened() {
		s.mu.Lock()
		s.sessions[ses.id] = ses
		s.mu.Unlock()
		h.header.Set(headerSession, ses.id)
	} else {
		ses.close()
	}
	s.deliver(w, r, ses, st, h)
}

// newSessionID is unguessable and visible ASCII (basic/transports Session Management).
func newSessionID() string { return rand.Text() }

// sessionOf finds the session of a request and checks its version header;
// otherwise it answers: 400 without a session id, 404 when that session is over
// (basic/transports Session Management, Protocol Version Header).
func (s *Server) sessionOf(w http.ResponseWriter, r *http.Request, p *packet) (*session, bool) {
	id := r.Header.Get(headerSession)
	if id == "" {
		s.refuseHTTP(w, r, 400, p, &rpcError{code: codeInvalidRequest, message: "Mcp-Session-Id is missing"})
		return nil, false
	}
	s.mu.Lock()
	ses := s.sessions[id]
	s.mu.Unlock()
	if ses == nil || ses.transport != trace.StreamableHTTP {
		s.refuseHTTP(w, r, 404, p, &rpcError{code: codeInvalidRequest, message: "there is no such session"})
		return nil, false
	}
	v, has := r.Header[headerVersion]
	if !has && s.broken("version-header-required") {
		s.refuseHTTP(w, r, 400, p, &rpcError{code: codeInvalidRequest, message: "Mcp-Protocol-Version is missing"})
		return nil, false
	}
	if has && (len(v) > 1 || !slices.Contains(s.era(false), schemas.Revision(v[0]))) && !s.broken("bad-version-header-accepted") {
		s.refuseHTTP(w, r, 400, p, &rpcError{code: codeInvalidRequest, message: "Mcp-Protocol-Version is not supported"})
		return nil, false
	}
	return ses, true
}

// get opens the stream for messages that belong to no request, or resumes one.
func (s *Server) get(w http.ResponseWriter, r *http.Request) {
	if !accepts(r, typeStream) {
		s.refuseHTTP(w, r, 406, nil, &rpcError{code: codeInvalidRequest, message: "Accept must list text/event-stream"})
		return
	}
	ses, ok := s.sessionOf(w, r, nil)
	if !ok {
		return
	}
	h := head{rev: ses.revision(), verb: r.Method}
	if last := r.Header.Get(headerLast); last != "" {
		st, number, ok := ses.streams.find(last)
		if !ok {
			s.refuseHTTP(w, r, 400, nil, &rpcError{code: codeInvalidRequest, message: "no stream of this session had the event " + last})
			return
		}
		if s.broken("foreign-replay") {
			st = ses.streams.mixed(st)
		}
		s.writeStream(w, r, st, number, h, ses)
		return
	}
	st := ses.streams.open(ses.revision() >= schemas.R20251125 && !s.broken("stream-not-primed"))
	ses.streams.stand(st)
	s.writeStream(w, r, st, 0, h, ses)
}

// delete ends a session.
func (s *Server) delete(w http.ResponseWriter, r *http.Request) {
	ses, ok := s.sessionOf(w, r, nil)
	if !ok {
		return
	}
	if !s.broken("ended-session-served") {
		s.mu.Lock()
		delete(s.sessions, ses.id)
		s.mu.Unlock()
		ses.close()
	}
	s.send(w, head{status: 204, rev: ses.revision(), verb: r.Method})
}
