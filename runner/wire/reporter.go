package wire

import (
	"fmt"
	"sync"
	"time"

	"github.com/mcp-conform/mcp-conform/trace"
)

// reporter is a wire's way to its sink. It stamps events with the connection
// and the time, and keeps the account of what the peer has said: when that
// exceeds the limits, the reporter falls silent about the peer's bytes and calls
// stop, once, so that the wire cuts the peer off.
type reporter struct {
	conn   string
	sink   trace.Sink
	us     trace.Side
	limits Limits
	stop   func()

	mu     sync.Mutex
	events int
	bytes  int64
	why    string // what limit was exceeded, "" if none
}

func newReporter(conn string, sink trace.Sink, us trace.Side, limits Limits, stop func()) *reporter {
	return &reporter{conn: conn, sink: sink, us: us, limits: limits.orDefault(), stop: stop}
}

// emit hands e to the sink, unless it is one too many of the peer's. Standard
// error has a limit of its own.
func (r *reporter) emit(e trace.Event) {
	free := e.From == r.us || e.Kind == trace.KindClosed || e.Kind == trace.KindStderr
	if !free && !r.take(1, 0) {
		return
	}
	e.Conn, e.Time = r.conn, time.Now()
	r.sink(e)
}

// payload reports bytes that stood where a message belongs. If over is not
// zero, that many bytes more than the limit allows were dropped, and what is
// left is no message whatever it looks like.
func (r *reporter) payload(e trace.Event, over int64) {
	if over > 0 {
		e.Kind = trace.KindNoise
		e.Data, e.Note = cut(e.Data, over, r.limits.Message)
	} else {
		e.Kind = trace.PayloadKind(e.Data)
	}
	r.emit(e)
}

// cut shortens what was too long to be kept to its beginning, and says so.
func cut(data []byte, over int64, limit int) ([]byte, string) {
	const kept = 4 << 10 // enough to see what it is
	note := fmt.Sprintf("too long: %d bytes, the limit is %d", int64(len(data))+over, limit)
	if len(data) > kept {
		data = data[:kept]
		note += fmt.Sprintf("; the first %d are kept", kept)
	}
	return data, note
}

// take accounts for events and bytes from the peer and reports whether they
// are within the limits.
func (r *reporter) take(events, bytes int) bool {
	r.mu.Lock()
	if r.why != "" {
		r.mu.Unlock()
		return false
	}
	r.events += events
	r.bytes += int64(bytes)
	switch {
	case r.events > r.limits.Events:
		r.why = fmt.Sprintf("flood: more than %d events", r.limits.Events)
	case r.bytes > r.limits.Bytes:
		r.why = fmt.Sprintf("flood: more than %d bytes", r.limits.Bytes)
	}
	exceeded := r.why != ""
	r.mu.Unlock()
	if exceeded {
		r.stop()
	}
	return !exceeded
}

// flood returns which limit the peer exceeded, or "".
func (r *reporter) flood() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.why
}
