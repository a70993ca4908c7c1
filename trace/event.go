// Package trace records what happened on a wire: the ordered events of one or
// more connections between an MCP client and an MCP server, bytes first.
//
// Everything else in the project meets here. A live run, a recorded session and
// a file captured by another tool all become a trace, and the rules of package
// conformance judge every trace alike.
//
// A trace is streamed: a [Reader] yields one [Event] at a time and a [Writer]
// appends one at a time, so a capture of any length needs no more memory than
// its largest line. The file format is JSON Lines: one [Header], then events.
//
// Package trace does not interpret MCP. It says "these bytes went this way at
// this time"; what they mean is for packages schemas and conformance to say.
package trace

import "time"

// Side is one of the two parties of a connection.
type Side string

// The two parties.
const (
	Client Side = "client"
	Server Side = "server"
)

// Peer returns the opposite side.
func (s Side) Peer() Side {
	if s == Client {
		return Server
	}
	return Client
}

// Transport names the way in which messages travel.
type Transport string

// The transports that the specification defines. The empty Transport means
// that a capture does not tell.
const (
	Stdio          Transport = "stdio"
	StreamableHTTP Transport = "streamable-http"
	HTTPSSE        Transport = "http+sse" // 2024-11-05, deprecated since 2025-03-26
)

// Kind says what an event shows.
type Kind string

const (
	// KindMessage is one JSON text, an object or an array, that stood where a
	// message belongs: a line on stdio, an HTTP body, the data of one SSE event.
	// Whether it is a valid JSON-RPC message is not decided here.
	KindMessage Kind = "message"
	// KindHTTP is the head of an HTTP request (From is Client) or response.
	KindHTTP Kind = "http"
	// KindSSE is a server-sent event, or a lone comment or retry field, that
	// carries no message: a priming event with empty data, a keep-alive.
	KindSSE Kind = "sse"
	// KindNoise is bytes where a message belongs that are no message: a log line
	// on stdout, an HTML body, a truncated JSON text.
	KindNoise Kind = "noise"
	// KindStderr is one line that a server process wrote to its standard error.
	KindStderr Kind = "stderr"
	// KindClosed ends something: with Exchange set, one HTTP exchange or stream;
	// without, the whole connection (a pipe closed, a process exited).
	KindClosed Kind = "closed"
)

// Event is one thing that happened on a wire. Which optional parts are set
// follows from Kind.
type Event struct {
	Seq      int64     // position in the trace, from 1
	Time     time.Time // when the last byte was seen; zero if the capture does not tell
	Kind     Kind
	From     Side     // who sent the bytes, or who closed
	Conn     string   // the connection: one process's pipes, or one client's use of one HTTP endpoint
	Exchange string   // HTTP only: one request and everything that answers it; unique within Conn
	Data     []byte   // the bytes, verbatim: a message without its line end, an SSE event's joined data
	HTTP     *Head    // KindHTTP
	SSE      *SSE     // KindSSE, and KindMessage or KindNoise that came as a server-sent event
	End      *End     // KindClosed
	Note     string   // what the recorder left out or cut, for people; "" when Data is all there was
	Masked   []string // what was replaced by asterisks before writing, such as "header Authorization"
}

// Head is the head of an HTTP request or response.
type Head struct {
	Method string // requests only
	URL    string // requests only: absolute where known, else path and query
	Status int    // responses only
	// Headers keeps the order and spelling seen on the wire where the source has
	// them, as pairs of name and value.
	Headers [][2]string
}

// Get returns the value of the first header with that name (names compare
// without case) and whether there is one.
func (h *Head) Get(name string) (string, bool) {
	for _, p := range h.Headers {
		if equalFold(p[0], name) {
			return p[1], true
		}
	}
	return "", false
}

func equalFold(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) {
		x, y := a[i], b[i]
		if 'A' <= x && x <= 'Z' {
			x += 'a' - 'A'
		}
		if 'A' <= y && y <= 'Z' {
			y += 'a' - 'A'
		}
		if x != y {
			return false
		}
	}
	return true
}

// SSE holds the fields of one server-sent event other than its data.
type SSE struct {
	ID      *string // nil when the event had no id field
	Event   string  // "" when the event had no event field, which means "message"
	Retry   *int    // milliseconds; nil when absent
	Comment bool    // a comment line only
}

// End says how an exchange or a connection ended.
type End struct {
	How    string        // "eof", "exit", "signal", "reset", "timeout", "closed-by-us", "error"
	Code   int           // exit code of a process, when How is "exit"
	Signal string        // name of the signal, when How is "signal"
	Bytes  int64         // bytes of body seen in this exchange, from the server
	After  time.Duration // time since the end was asked for (stdin closed, signal sent); zero if nobody asked
	Detail string        // for people
}

// Sink receives events in order. It must not keep e.Data after it returns
// unless it copies it. Implementations are safe for concurrent use; they give
// each event its Seq.
type Sink func(e Event)

// Header opens a trace file.
type Header struct {
	Format    string    `json:"format"`  // always "mcp-conform-trace"
	Version   int       `json:"version"` // of the format: 1
	Tool      string    `json:"tool"`    // who wrote it, with version
	Made      string    `json:"made"`    // "run", "record", or "import:FORMAT"
	Transport Transport `json:"transport,omitempty"`
	Revision  string    `json:"revision,omitempty"` // when known from outside the traffic
	Target    string    `json:"target,omitempty"`   // command or URL, masked
	// Subject is the side that was under test when the trace was made by a run.
	// The other side is the harness, which breaks rules on purpose.
	Subject Side      `json:"subject,omitempty"`
	Started time.Time `json:"started,omitzero"`
	// Lacks names what the source cannot show; rules that need it answer
	// untested. See the Lack constants.
	Lacks []Lack `json:"lacks,omitempty"`
}

// Lack is something that a capture format cannot show.
type Lack string

// What captures may lack.
const (
	LackHeaders Lack = "headers" // HTTP heads are missing
	LackBytes   Lack = "bytes"   // messages were parsed and written anew: duplicate keys, number text and encoding are lost
	LackTiming  Lack = "timing"  // no times
	LackOrder   Lack = "order"   // the order between the two directions is not known
	LackClose   Lack = "close"   // how connections ended is not known
	LackNoise   Lack = "noise"   // bytes that are no message were dropped
	LackStart   Lack = "start"   // the capture may begin in mid-session
)
