package peer

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

// HTTP+SSE is the transport of 2024-11-05: one stream for all that the server
// says, one endpoint for all that the client says, and the stream's first event
// names the endpoint (2024-11-05 basic/transports).

// oldStream opens the stream and with it a session, which ends with the stream.
func (s *Server) oldStream(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet || !s.speaks(schemas.R20241105) {
		s.refuseHTTP(w, r, 405, nil, &rpcError{code: codeInvalidRequest, message: "use GET"})
		return
	}
	ses := s.newSession(newSessionID(), trace.HTTPSSE)
	st := newStream("", false)
	st.named = true
	ses.out = st
	s.mu.Lock()
	s.sessions[ses.id] = ses
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.sessions, ses.id)
		s.mu.Unlock()
		ses.close()
	}()
	h := head{status: 200, rev: schemas.R20241105, verb: r.Method, header: http.Header{"Content-Type": {typeStream}, "Cache-Control": {"no-cache"}}}
	s.send(w, h)
	if s.broken("endpoint-not-first") {
		_, _ = w.Write([]byte("event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n"))
	}
	fmt.Fprintf(w, "event: endpoint\ndata: /messages?session=%s\n\n", ses.id)
	ctx, stop := joined(r.Context(), ses.ctx)
	defer stop()
	st.write(ctx, w, 0, keepAlive)
}

// oldPost takes a message; what answers it goes over the stream.
func (s *Server) oldPost(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	ses := s.sessions[r.URL.Query().Get("session")]
	s.mu.Unlock()
	switch {
	case r.Method != http.MethodPost:
		s.refuseHTTP(w, r, 405, nil, &rpcError{code: codeInvalidRequest, message: "use POST"})
		return
	case ses == nil || ses.transport != trace.HTTPSSE:
		s.refuseHTTP(w, r, 404, nil, &rpcError{code: codeInvalidRequest, message: "there is no such session"})
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, bodyLimit))
	if err != nil {
		s.refuseHTTP(w, r, 413, nil, &rpcError{code: codeInvalidRequest, message: "the body is too long or broke off"})
		return
	}
	p := parse(body)
	if p.isBatch {
		p.bad = noBatch()
	}
	if p.bad != nil {
		s.refuseHTTP(w, r, 400, &p, p.bad)
		return
	}
	ses.receive(p, ses.out, func() {})
	s.send(w, head{status: 202, rev: ses.revision(), verb: r.Method, re: p.method})
}

// joined ends with either context; stop releases it.
func joined(a, b context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(a)
	off := context.AfterFunc(b, cancel)
	return ctx, func() { off(); cancel() }
}
