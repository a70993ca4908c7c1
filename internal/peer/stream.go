package peer

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// stream is what answers one HTTP request, or flows on one GET: a log of
// messages that a connection writes out. The log outlives the connection, so
// that in the handshake era a client can resume where it was cut off
// (2025-11-25 basic/transports Resumability and Redelivery).
type stream struct {
	id    string // begins the event ids; "" for streams that cannot be resumed
	prime bool   // begin the first connection with an event of empty data
	named bool   // HTTP+SSE: events are named message
	shown string // the id in event ids; the same as id, but for a fault
	quiet bool   // a fault: do not say when to reconnect

	mu      sync.Mutex
	events  []frame
	dropped int  // events that fell off the front of a log grown too long
	ended   bool // nothing more will come
	forced  bool // answer with an event stream even if nothing has come yet
	cutting bool // the connection shall be closed, the stream goes on
	conn    int  // number of the connection that writes it; a new one takes over
	changed chan struct{}
}

// logLimit bounds the log of a stream to which nobody listens.
const logLimit = 1024

// retryMillis is how long a client shall wait before it reconnects.
const retryMillis = 500

func newStream(id string, prime bool) *stream {
	return &stream{id: id, shown: id, prime: prime, changed: make(chan struct{})}
}

// change applies f and wakes whoever waits; the lock is held meanwhile.
func (st *stream) change(f func()) {
	st.mu.Lock()
	defer st.mu.Unlock()
	f()
	close(st.changed)
	st.changed = make(chan struct{})
}

func (st *stream) put(f frame) {
	st.change(func() {
		st.events = append(st.events, f)
		if len(st.events) > logLimit {
			st.events = st.events[1:]
			st.dropped++
		}
	})
}

func (st *stream) end() { st.change(func() { st.ended = true }) }

// cut closes the connection but not the stream, and returns when it is closed.
func (st *stream) cut(ctx context.Context) {
	st.change(func() { st.forced, st.cutting = true, true })
	st.until(ctx, func() bool { return !st.cutting })
}

// until waits for a condition on the stream, or for ctx, and reports which.
func (st *stream) until(ctx context.Context, ok func() bool) bool {
	for {
		st.mu.Lock()
		yes, changed := ok(), st.changed
		st.mu.Unlock()
		if yes {
			return true
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return false
		}
	}
}

// single returns the only message if the stream came to nothing but one answer:
// then it is sent as a JSON object instead of an event stream.
func (st *stream) single(ctx context.Context) (frame, bool) {
	st.until(ctx, func() bool { return st.forced || st.ended || (len(st.events) > 0 && !st.events[0].final) })
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.ended && !st.forced && len(st.events) == 1 && st.events[0].final {
		return st.events[0], true
	}
	return frame{}, false
}

// write writes the stream from event number from on, until it ends, the client
// leaves or another connection takes over.
func (st *stream) write(ctx context.Context, w http.ResponseWriter, from int, alive time.Duration) {
	out := http.NewResponseController(w)
	conn, prime := 0, false
	st.change(func() {
		st.conn++
		conn, prime = st.conn, st.prime
		st.prime = false
	})
	defer st.change(func() { st.cutting = false })
	if prime {
		fmt.Fprintf(w, "id: %s-0\ndata: \n\n", st.shown)
	}
	_ = out.Flush() // a failure shows in the request's context
	tick := time.NewTicker(alive)
	defer tick.Stop()
	for {
		st.mu.Lock()
		from = max(from, st.dropped)
		news, ended, cutting := st.events[min(from-st.dropped, len(st.events)):], st.ended, st.cutting
		mine, changed := st.conn == conn, st.changed
		st.mu.Unlock()
		for _, f := range news {
			from++
			_, _ = w.Write(st.event(f, from))
		}
		if cutting && !st.quiet {
			fmt.Fprintf(w, "retry: %d\n\n", retryMillis)
		}
		_ = out.Flush()
		if ended || cutting || !mine {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		case <-tick.C:
			_, _ = w.Write([]byte(": alive\n\n"))
		}
	}
}

// event is one message as a server-sent event.
func (st *stream) event(f frame, number int) []byte {
	var b bytes.Buffer
	if st.named {
		b.WriteString("event: message\n")
	}
	if st.id != "" {
		fmt.Fprintf(&b, "id: %s-%d\n", st.shown, number)
	}
	for l := range bytes.SplitSeq(f.data, []byte("\n")) {
		fmt.Fprintf(&b, "data: %s\n", l)
	}
	b.WriteString("\n")
	return b.Bytes()
}

// streams are those of one HTTP session, by the first part of their event ids.
type streams struct {
	mu       sync.Mutex
	byID     map[string]*stream
	order    []string
	last     int
	standing *stream // the newest GET stream: for messages that belong to no call
	waiting  []frame // such messages, as long as there is no GET stream
	sameIDs  bool    // a fault: every stream counts from the same id
	silent   bool    // a fault: its streams do not say when to reconnect
}

// keptStreams is how many streams of a session can be resumed.
const keptStreams = 64

// open begins a stream whose event ids are unique in the session.
func (ss *streams) open(prime bool) *stream {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	ss.last++
	st := newStream(strconv.Itoa(ss.last), prime)
	if ss.sameIDs {
		st.shown = "1"
	}
	st.quiet = ss.silent
	if ss.byID == nil {
		ss.byID = map[string]*stream{}
	}
	ss.byID[st.id] = st
	ss.order = append(ss.order, st.id)
	if len(ss.order) > keptStreams {
		delete(ss.byID, ss.order[0])
		ss.order = ss.order[1:]
	}
	return st
}

// stand makes st the stream for messages that belong to no call.
func (ss *streams) stand(st *stream) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	for _, f := range ss.waiting {
		st.put(f)
	}
	ss.standing, ss.waiting = st, nil
}

// put sends a message that belongs to no call on one stream, never on several
// (2025-11-25 basic/transports Multiple Connections).
func (ss *streams) put(f frame) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	switch {
	case ss.standing != nil:
		ss.standing.put(f)
	case len(ss.waiting) < logLimit:
		ss.waiting = append(ss.waiting, f)
	}
}

// find returns the stream that an event id belongs to, and its number there.
func (ss *streams) find(eventID string) (*stream, int, bool) {
	id, number, _ := strings.Cut(eventID, "-")
	n, err := strconv.Atoi(number)
	ss.mu.Lock()
	defer ss.mu.Unlock()
	st, ok := ss.byID[id]
	return st, n, ok && err == nil && n >= 0
}
