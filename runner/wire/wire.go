// Package wire puts bytes on a transport and says what happened.
//
// A [Wire] is one connection: the pipes of a process, one client's use of an
// HTTP endpoint, or the listening side of one. It sends what it is told to, to
// the letter, malformed or not, and reports everything, in both directions, to
// a trace.Sink in the order in which it happened. It knows no MCP: dressing
// requests with sessions, versions and metadata is the runner's work.
//
//	w, err := wire.OpenStdio(ctx, wire.StdioOptions{Command: []string{"server"}, Conn: "c1", Sink: sink})
//	_, err = w.Send(ctx, wire.Out{Data: []byte(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)})
//	// the answer arrives at the sink
//	err = w.Close(ctx)
//
// The wires are [OpenStdio], a server process that is started; [OpenPipes], a
// server in this process that looks like one; [OpenHTTP], a client of Streamable
// HTTP, and of HTTP+SSE, which is a GET and posts to the path that it names;
// [ListenHTTP], the server's side of Streamable HTTP; and [ListenStdio], the
// server's side of stdio, which a client under test reaches by starting [Bridge].
//
// # Order
//
// What the harness sends is reported just before its first byte leaves, so an
// answer never stands before its question. Events of one direction of one
// stream stand in the order of their bytes. The sink is called with locks held:
// it must not call the wire.
//
// # Ends
//
// Everything that begins ends with one event of kind closed: each HTTP exchange
// with its Exchange set, and the connection with none. On the pipes of a process
// each side has an end of its own: From is the client when standard input was
// closed, and the server when the process has ended and all its output has been
// read, unless it was the client who killed it. A server that closes its output
// and lives on has one end more. How is one of
//
//   - "eof": the bytes ended where their framing says that they may;
//   - "exit", "signal": a process ended, with Code or Signal, whoever made it;
//   - "reset": a connection that had been made broke off in the middle;
//   - "error": no connection came about, or what came was not HTTP;
//   - "timeout": the context of the wire ended, or that of Close before what it
//     closed had had its time;
//   - "closed-by-us": the harness closed it, by an action, by Close, or because
//     of a flood (Detail says so).
//
// # Bounds
//
// Nothing that a peer does can hang a wire or exhaust memory. A line, a body or
// a server-sent event longer than [Limits].Message is cut, with a Note in its
// event; a peer that says more than [Limits].Events or [Limits].Bytes altogether
// is cut off. Methods return when their context ends, at the latest. What the
// bound of time should be is for the caller to say.
package wire

import (
	"context"
	"errors"
)

// Out is something to send.
type Out struct {
	Data []byte // bytes of the message, without line end; may be malformed on purpose
	HTTP *HTTP  // nil on stdio, or for the defaults
	// Exchange, on a listening wire, is the client's request that this answers
	// or whose open stream should carry it; "" means the client's GET stream.
	Exchange string
	// Last says that nothing follows on that exchange's stream.
	Last bool
	// Partial, on stdio, leaves out the line end: the rest of the line comes
	// with the next Send.
	Partial bool
}

// HTTP says how to send over HTTP what differs from a plain POST of JSON.
type HTTP struct {
	Method  string            // "" means POST
	Path    string            // "" means the endpoint; else a reference that is resolved against it
	Headers map[string]string // set or replaced; names keep their spelling
	Drop    []string          // headers not to send
	Status  int               // listening wire: status of the answer, 0 means 200
	Stream  bool              // listening wire: answer by text/event-stream
	// Raw, on a stream of a listening wire, says that Data is bytes of the stream
	// itself and not the data of an event: a comment, or something broken.
	Raw     bool
	Event   string // listening wire: event field of the server-sent event
	EventID string // listening wire: id of the server-sent event
	Retry   int    // listening wire: retry field in milliseconds
}

// Action is something to do to a connection other than sending.
type Action string

// The actions; a wire returns [ErrUnsupported] for those that its transport has not.
const (
	// Listen opens the GET stream of an HTTP endpoint.
	Listen Action = "listen"
	// Drop cuts open streams or connections without a word; a process is killed.
	Drop Action = "drop"
	// Resume reopens a dropped or ended stream by a GET with Last-Event-ID.
	Resume Action = "resume"
	// EndSession sends DELETE to an HTTP endpoint.
	EndSession Action = "end-session"
	// CloseStdin closes the standard input of a process.
	CloseStdin Action = "close-stdin"
	// Terminate sends SIGTERM to a process, where there is such a thing.
	Terminate Action = "terminate"
)

// Act is an action with its object.
type Act struct {
	Do Action
	// Exchange is the stream to drop, "" for all; or the stream to resume, ""
	// for the one that was last given an event id.
	Exchange string
	// HTTP adds headers to the request of listen, resume and end-session: the
	// wire knows of no sessions.
	HTTP *HTTP
}

// Wire is one connection. Methods are safe for concurrent use. All events,
// sent ones included, go to the sink that the wire was opened with.
type Wire interface {
	// Send puts o on the wire and returns the exchange it began, or answers (""
	// on stdio). It does not wait for an answer. Its context bounds the sending
	// alone; an HTTP exchange lives on until it ends, is dropped, or the wire is
	// closed.
	Send(ctx context.Context, o Out) (exchange string, err error)
	// Do performs an action and returns the exchange that it began, if any.
	Do(ctx context.Context, a Act) (exchange string, err error)
	// Close ends the connection in the orderly way of its transport and waits
	// until nothing of it is left: no goroutine, no process, no socket. When ctx
	// ends first, what is left is ended by force. It may be called twice.
	Close(ctx context.Context) error
}

// What Send and Do return, wrapped with the circumstances.
var (
	ErrUnsupported = errors.New("the transport has no such action")
	ErrClosed      = errors.New("the connection has ended")
	ErrNoExchange  = errors.New("no such open exchange")
	ErrNoEventID   = errors.New("no stream was given an event id to resume from")
)

// Limits bound what a peer may make a wire take in. The zero value of each
// means its default; there is no way to have none.
type Limits struct {
	// Message is the longest line, body or server-sent event, in bytes. The
	// default, 64 MiB, is well above what any client or server is known to take.
	Message int
	// Events and Bytes bound what a peer may send in the life of one wire. The
	// defaults, 2^15 events and 256 MiB, are some ten times what the whole
	// suite makes a talkative server say, and a flood reaches them in seconds.
	Events int
	Bytes  int64
	// Stderr is how much standard error is recorded, 8 MiB unless given; the
	// rest is read and dropped.
	Stderr int64
}

func (l Limits) orDefault() Limits {
	if l.Message <= 0 {
		l.Message = 64 << 20
	}
	if l.Events <= 0 {
		l.Events = 1 << 15
	}
	if l.Bytes <= 0 {
		l.Bytes = 256 << 20
	}
	if l.Stderr <= 0 {
		l.Stderr = 8 << 20
	}
	return l
}
