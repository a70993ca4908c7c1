package wire

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcp-conform/mcp-conform/trace"
)

// served is one exchange on the listening side: a client's request and what
// answers it. The goroutine that net/http gave it does all the writing.
type served struct {
	id      string
	method  string
	rep     *reporter
	rw      http.ResponseWriter
	control *http.ResponseController
	answers chan answer
	cut     chan struct{} // closed to drop it
	gone    chan struct{} // closed when its end has been reported
	dropper sync.Once
	streams atomic.Bool // a stream is open

	// Only the goroutine of the request looks at these.
	begun    bool // the head of the answer is out
	finished bool // nothing follows
	broken   error
	body     *body
}

// answer is something to send, and where to say how that went.
type answer struct {
	o    Out
	done chan error
}

func newServed(id string, rep *reporter, rw http.ResponseWriter, r *http.Request) *served {
	return &served{
		id: id, method: r.Method, rep: rep,
		rw: rw, control: http.NewResponseController(rw),
		answers: make(chan answer), cut: make(chan struct{}), gone: make(chan struct{}),
	}
}

// send hands o to the goroutine of the request.
func (x *served) send(ctx context.Context, o Out) error {
	a := answer{o: o, done: make(chan error, 1)}
	select {
	case x.answers <- a:
	case <-x.gone:
		return fmt.Errorf("answering exchange %s: %w", x.id, ErrNoExchange)
	case <-ctx.Done():
		return fmt.Errorf("waiting for the client to send its request or to read what was sent: %w", ctx.Err())
	}
	select {
	case err := <-a.done:
		return err
	case <-ctx.Done():
		return fmt.Errorf("the client does not read what is sent: %w", ctx.Err())
	}
}

// drop cuts the connection, also while it is being read from or written to.
func (x *served) drop() {
	x.dropper.Do(func() {
		close(x.cut)
		past := time.Unix(1, 0)
		_ = x.control.SetReadDeadline(past) // fails only if it is gone already
		_ = x.control.SetWriteDeadline(past)
	})
}

func (x *served) dropped() bool {
	select {
	case <-x.cut:
		return true
	default:
		return false
	}
}

// receive reports the body of the request.
func (x *served) receive(r *http.Request) {
	b := newBody(x.rep, x.id, trace.Client, "", nil) // no request is a stream
	err := copyBody(x.rep, b, r.Body)
	b.Close()
	switch {
	case b.full():
		x.refuse(http.StatusRequestEntityTooLarge)
	case err != nil:
		x.broken = fmt.Errorf("in the body of the request: %w", err)
	}
}

// refuse answers by a status alone.
func (x *served) refuse(status int) {
	if err := x.answer(Out{HTTP: &HTTP{Status: status}}); err != nil {
		x.broken = err
	}
}

// answer writes the answer, or the beginning or more of it if it is a stream.
func (x *served) answer(o Out) error {
	if x.begun {
		data, err := streamBytes(o)
		if err != nil {
			return err
		}
		return x.write(data, o.Last)
	}
	head, err := answerHead(o)
	if err != nil {
		return err
	}
	data, stream := o.Data, o.HTTP != nil && o.HTTP.Stream
	if stream {
		if data, err = streamBytes(o); err != nil {
			return err
		}
	}
	x.begin(head)
	x.streams.Store(stream && !o.Last)
	return x.write(data, o.Last || !stream)
}

func (x *served) begin(head *trace.Head) {
	x.begun = true
	fields := x.rw.Header()
	fields["Content-Type"], fields["Date"] = nil, nil // net/http would make them up
	for _, p := range head.Headers {
		fields[p[0]] = []string{p[1]}
	}
	x.rep.emit(trace.Event{Kind: trace.KindHTTP, From: trace.Server, Exchange: x.id, HTTP: head})
	contentType, _ := head.Get("Content-Type")
	x.body = newBody(x.rep, x.id, trace.Server, contentType, nil)
	x.rw.WriteHeader(head.Status)
}

// write reports and writes bytes of the body.
func (x *served) write(data []byte, last bool) error {
	x.body.Write(data)
	if last {
		x.finish()
	}
	_, err := x.rw.Write(data)
	if err == nil {
		err = x.control.Flush()
	}
	if err != nil {
		x.broken = err
		return fmt.Errorf("answering exchange %s: %w: %w", x.id, ErrClosed, err)
	}
	return nil
}

// finish says that nothing more will be written.
func (x *served) finish() {
	if x.begun && !x.finished {
		x.body.Close()
	}
	x.finished = true
	x.streams.Store(false)
}

// sent counts the bytes of the body of the answer.
func (x *served) sent() int64 {
	if x.body == nil {
		return 0
	}
	return x.body.n
}
