// Package record sits between a client and a server that know nothing of it,
// passes every byte on unchanged and at once, and records what passed as a
// trace that the rules judge like any other.
//
// [Stdio] stands in for a server command: a client is told to start the
// recorder instead of the server, and the recorder starts the server.
//
//	exit, err := record.Stdio{Command: cmd, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Sink: log.Record}.Run(ctx)
//
// [Listen] stands in for an HTTP endpoint: a client is given the recorder's
// address instead of the server's.
//
//	proxy, err := record.Listen("127.0.0.1:0", "http://127.0.0.1:3000/mcp", record.Options{Sink: log.Record})
//	fmt.Println("point the client at", proxy.URL())
//	err = proxy.Serve(ctx)
//
// What is long is passed on whole and recorded in part, with a note on the
// event. The package judges nothing and mends nothing: a server that breaks
// the protocol breaks it towards the client, too.
package record

import (
	"bytes"
	"fmt"
	"sync"
	"time"

	"github.com/mcp-conform/mcp-conform/trace"
)

// tape stamps events and hands them on until it is stopped.
type tape struct {
	mu      sync.Mutex
	sink    trace.Sink
	conn    string
	stopped bool
}

func (t *tape) record(e trace.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.stopped {
		e.Conn, e.Time = t.conn, time.Now()
		t.sink(e)
	}
}

func (t *tape) stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stopped = true
}

// kept bounds what is kept of something that is too long.
const kept = 4 << 10

// payload fills in the kind and the data of an event whose bytes stood where a
// message belongs; over more bytes were not kept. What is cut is no message,
// whatever it looks like.
func payload(e trace.Event, data []byte, over int64) trace.Event {
	e.Data = bytes.Clone(data)
	if over == 0 {
		e.Kind = trace.PayloadKind(data)
		return e
	}
	e.Kind = trace.KindNoise
	e.Note = fmt.Sprintf("too long: %d bytes; the first %d are kept", int64(len(data))+over, min(kept, len(data)))
	e.Data = e.Data[:min(kept, len(data))]
	return e
}

// bounded collects bytes up to a limit and counts the rest.
type bounded struct {
	limit int
	data  []byte
	over  int64
}

func (b *bounded) add(p []byte) {
	if room := b.limit - len(b.data); len(p) > room {
		b.over += int64(len(p) - room)
		p = p[:room]
	}
	b.data = append(b.data, p...)
}

func (b *bounded) empty() bool { return len(b.data) == 0 && b.over == 0 }

func (b *bounded) reset() {
	b.data, b.over = b.data[:0], 0
	if cap(b.data) > 1<<20 {
		b.data = nil // do not hold on to the longest ever seen
	}
}

// lines cuts a stream into lines at LF and emits each without it.
type lines struct {
	rest bounded
	emit func(line []byte, over int64)
}

func (l *lines) write(p []byte) {
	for {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			l.rest.add(p)
			return
		}
		l.rest.add(p[:i])
		l.end()
		p = p[i+1:]
	}
}

// close emits a last line without its end.
func (l *lines) close() {
	if !l.rest.empty() {
		l.end()
	}
}

func (l *lines) end() {
	l.emit(l.rest.data, l.rest.over)
	l.rest.reset()
}
