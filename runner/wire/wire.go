// Package wire puts bytes on a transport and says what happened.
//
// A [Wire] is one connection: the pipes of a process, one client's use of an
// HTTP endpoint, or the listening side of one. It sends what it is told to, to
// the letter, malformed or not, and reports everything, in both directions, to
// a trace.Sink in the order in which it happened. It knows no MCP: dressing
// requests with sessions, versions and metadata is the runner's work.
package wire

import "context"

// Out is something to send.
type Out struct {
	Data []byte // bytes of the message, without line end; may be malformed on purpose
	HTTP *HTTP  // nil on stdio, or for the defaults
	// Exchange, on a listening wire, is the client's request that this answers
	// or whose open stream should carry it; "" means the client's GET stream.
	Exchange string
	// Last says that nothing follows on that exchange's stream.
	Last bool
}

// HTTP says how to send over HTTP what differs from a plain POST of JSON.
type HTTP struct {
	Method  string            // "" means POST
	Path    string            // "" means the endpoint
	Headers map[string]string // set or replaced
	Drop    []string          // headers not to send
	Status  int               // listening wire: status of the answer, 0 means 200
	Stream  bool              // listening wire: answer by text/event-stream
	EventID string            // listening wire: id of the server-sent event
	Retry   int               // listening wire: retry field in milliseconds
}

// Action is something to do to a connection other than sending.
type Action string

// The actions; a wire returns ErrUnsupported for those that its transport has not.
const (
	Listen     Action = "listen"      // open the GET stream
	Drop       Action = "drop"        // cut open streams or connections without a word
	Resume     Action = "resume"      // reopen a dropped stream with Last-Event-ID
	EndSession Action = "end-session" // DELETE
	CloseStdin Action = "close-stdin"
	Terminate  Action = "terminate" // SIGTERM
)

// Wire is one connection. Methods are safe for concurrent use. All events,
// sent ones included, go to the sink that the wire was opened with.
type Wire interface {
	// Send puts o on the wire and returns the exchange it began ("" on stdio).
	// It does not wait for an answer.
	Send(ctx context.Context, o Out) (exchange string, err error)
	// Do performs an action.
	Do(ctx context.Context, a Action) error
	// Close ends the connection in the orderly way of its transport and waits
	// until nothing of it is left: no goroutine, no process, no socket.
	Close(ctx context.Context) error
}
