package peer

import (
	"maps"
	"slices"
)

// Here stands what faults do that no edit of a message can: deeds of their own.
// Each function does nothing in a peer without faults.

// misroute sends a message where it does not belong, and reports whether it
// shall not go where it does.
func (s *Server) misroute(c *call, m sent, f frame) bool {
	if c.ses == nil {
		return false
	}
	if m.method() == "notifications/progress" && s.broken("broadcast") {
		c.ses.out.put(f)
	}
	if isProbe(&m) && s.broken("response-on-get-stream") {
		c.ses.out.put(f)
		return true
	}
	return false
}

// mayAsk reports whether the client may be asked: if it declared that it may.
func (c *call) mayAsk(declared bool) bool {
	return declared || c.srv.broken("undeclared-capability-used")
}

// ending is what happens to the stream when its request is answered: it ends.
func (s *Server) ending(st *stream, h head) func() {
	if h.name == "test_tool_with_progress" && s.broken("stream-left-open") {
		return func() {}
	}
	return st.end
}

// remember adds up the capabilities of all requests.
func (s *Server) remember(caps fields) fields {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.memory == nil {
		s.memory = fields{}
	}
	maps.Copy(s.memory, caps)
	return maps.Clone(s.memory)
}

// mixed is a stream with the messages of all others before its own.
func (ss *streams) mixed(st *stream) *stream {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	m := newStream(st.id, false)
	for _, id := range slices.Sorted(maps.Keys(ss.byID)) {
		o := ss.byID[id]
		o.mu.Lock()
		if o != st {
			m.events = append(m.events, o.events...)
		}
		o.mu.Unlock()
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	m.events = append(m.events, st.events...)
	m.ended = true
	return m
}

// unmet refuses a list of tools before server/discover on the same connection.
func (ses *session) unmet(p packet) *rpcError {
	ses.met = ses.met || p.method == "server/discover"
	if ses.met || p.method != "tools/list" || !ses.srv.broken("discover-first") {
		return nil
	}
	return &rpcError{code: codeInvalidRequest, message: "nobody has asked for server/discover"}
}
