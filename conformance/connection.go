package conformance

import (
	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

// connection is the pipes of one process, or one client's use of one HTTP
// endpoint, with the sessions that it carries.
type connection struct {
	id          string
	transport   trace.Transport
	partial     bool             // the capture may begin in mid-session
	header      schemas.Revision // known from outside of the traffic, or ""
	sessions    []*Session
	byID        map[string]*Session
	legacy      *Session // the latest session with a handshake, or none yet
	modern      *Session
	exchanges   map[string]*Exchange
	endpoint    string // path to which messages are posted
	metadata    string // where a challenge has put the protected resource metadata
	modernError bool   // the client was just told, by status 400, that the server is of 2026-07-28
}

// mostSessions bounds the sessions of one connection: a capture of a proxy has
// many. The one that was idle for longest is given up; should it speak again it
// is taken up as one whose start was not seen.
const mostSessions = 1024

func (c *connection) add(s *Session) *Session {
	s.Partial = c.partial
	c.sessions = append(c.sessions, s)
	return s
}

// stalest returns the session that was idle for longest.
func (c *connection) stalest() int {
	least := 0
	for i, s := range c.sessions {
		if s.used < c.sessions[least].used {
			least = i
		}
	}
	return least
}

// drop forgets a session.
func (c *connection) drop(s *Session) {
	for i, t := range c.sessions {
		if s == t {
			c.sessions = append(c.sessions[:i], c.sessions[i+1:]...)
			break
		}
	}
	if c.byID[s.ID] == s {
		delete(c.byID, s.ID)
	}
	if c.legacy == s {
		c.legacy = nil
	}
	if c.modern == s {
		c.modern = nil
	}
}

// named returns the session with an HTTP session id, taking it up when its
// start was not seen.
func (c *connection) named(id string) *Session {
	if s := c.byID[id]; s != nil {
		return s
	}
	s := c.add(newSession(c, false))
	s.ID, s.Partial = id, true
	c.byID[id] = s
	return s
}

// unnamed returns the session to which traffic without any mark belongs: that of
// the revision which is known from outside when there is no other sign. A line on
// standard error, before the first message, has no mark either.
func (c *connection) unnamed() *Session {
	if c.legacy == nil && (c.modern != nil || c.header.Stateless()) {
		return c.stateless()
	}
	return c.handshake()
}

// handshake returns the connection's session of the era with a handshake.
func (c *connection) handshake() *Session {
	if c.legacy == nil {
		c.legacy = c.add(newSession(c, false))
	}
	return c.legacy
}

// stateless returns the connection's session of the era without a handshake.
func (c *connection) stateless() *Session {
	if c.modern == nil {
		c.modern = c.add(newSession(c, true))
		c.modern.Revision = schemas.R20260728
	}
	return c.modern
}

// opening returns the session that an initialize request opens. On HTTP each
// opens a session of its own (basic/transports, session management); on stdio
// the connection is the session.
func (c *connection) opening(x *Exchange) *Session {
	if x != nil && (c.legacy == nil || c.legacy.Stage != Fresh || c.legacy.ID != "") {
		c.legacy = c.add(newSession(c, false))
		c.legacy.Partial = false
		return c.legacy
	}
	s := c.handshake()
	if s.Stage == Fresh {
		s.Partial = false
	}
	return s
}
