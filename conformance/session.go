package conformance

import (
	"encoding/json"

	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

// Party is one side of a session as far as it has introduced itself.
type Party struct {
	Name, Version string
	Capabilities  json.RawMessage
	Known         bool // it has introduced itself
}

// Stage says how far the handshake of a session has come.
type Stage int

// The stages (basic/lifecycle, initialization). Sessions of 2026-07-28 have none.
const (
	Fresh       Stage = iota // nothing but pings
	Asked                    // initialize was sent
	Answered                 // initialize was answered by a result
	Operational              // notifications/initialized was sent
)

// Session is one conversation: from initialize to the end of the process or of
// the HTTP session, or, since 2026-07-28, all stateless traffic of a connection.
type Session struct {
	Conn      string
	ID        string // the HTTP session id, "" if none was given
	IDSince   int64  // Seq of the event that gave the id
	Transport trace.Transport
	// Revision is the one that was negotiated; "" until it is known. A
	// stateless session has the revision of its latest request.
	Revision schemas.Revision
	Modern   bool // stateless: 2026-07-28 and later
	// Partial says that the start was not captured: what was not seen may have been.
	Partial bool
	Stage   Stage
	Client  Party
	Server  Party
	Init    *Request // the initialize request
	EndedAt int64    // Seq of the answer to the DELETE that ended it; 0 while it lives

	hint    schemas.Revision // from a header or the request, until negotiated
	tables  map[trace.Side]*table
	streams int // open streams of events
	used    int64
	pending []Evidence // until the revision is known
	rules   []Rule
	aside   []Rule // those that look at authorization
}

func newSession(conn *connection, modern bool) *Session {
	return &Session{
		Conn: conn.id, Transport: conn.transport, Modern: modern,
		tables: map[trace.Side]*table{trace.Client: {}, trace.Server: {}},
	}
}

// of returns the requests that one side has sent.
func (s *Session) of(side trace.Side) *table { return s.tables[side] }

// party returns what one side has said of itself.
func (s *Session) party(side trace.Side) *Party {
	if side == trace.Client {
		return &s.Client
	}
	return &s.Server
}

// declared answers whether a side declares a capability: yes, no, or not known.
func (s *Session) declared(side trace.Side, path string) (yes, known bool) {
	p := s.party(side)
	if !p.Known || len(p.Capabilities) == 0 || p.Capabilities[0] != '{' {
		return false, false
	}
	return Declares(p.Capabilities, path), true
}

// judgedAs is the revision by which the session's traffic is judged.
func (s *Session) judgedAs() schemas.Revision {
	if s.Revision != "" || s.Modern {
		return s.Revision
	}
	return s.hint
}
