package record

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcp-conform/mcp-conform/runner/process"
	"github.com/mcp-conform/mcp-conform/trace"
)

// Stdio records the traffic with a server that is spoken to over its pipes.
type Stdio struct {
	Command []string
	Env     []string // NAME=value, added to the environment
	Dir     string
	// Stdin, Stdout and Stderr are the client's ends. When the server has ended,
	// Run stops reading Stdin, for which it closes it if it can do no less.
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Signals are passed on to the server and its group. After an interrupt or
	// SIGTERM a server that does not end within Grace is ended.
	Signals <-chan os.Signal
	Sink    trace.Sink
	Conn    string // "" means "c1"
	// Grace is how long the server has to end when it is asked to: 1.5 s unless
	// given. A client that has sent SIGTERM will send SIGKILL soon (SDKs wait
	// two seconds), and then nobody is left to end the server.
	Grace time.Duration
	// Idle is how long a server whose standard input has ended may be silent
	// before it is ended: one minute unless given. It may still be at work on
	// what it was asked, and a client that is gone can no longer end it.
	Idle    time.Duration
	MaxLine int // longest line that is recorded whole; 0 means trace.MaxData
}

// StandardInput is the Detail of the closed event that says that the client
// closed the standard input of the server; the other direction lives on.
const StandardInput = "standard input"

// session is one run of a Stdio.
type session struct {
	Stdio
	tape   tape
	server *process.Process

	inputEnded  chan struct{} // the client has closed its end
	outputGone  chan struct{} // the client does not take output any more
	pumped      chan struct{} // one value for each output that has ended
	moved       atomic.Int64  // bytes that the server has written
	interrupted bool          // a signal or the context has asked the server to end
	over        atomic.Bool   // the server has ended: what happens to the client's input is our doing

	mu    sync.Mutex
	asked time.Time // when the server was first asked to end
	how   []string  // what it was asked by
}

// Signals returns what to set [Stdio.Signals] to in a program that does nothing
// but record: what asks it to end. SIGPIPE is ignored from then on, so that a
// client that closes its end ends the server in order, not the recorder at once.
func Signals() (signals <-chan os.Signal, stop func()) {
	c := make(chan os.Signal, 4)
	signal.Notify(c, ending()...)
	return c, func() { signal.Stop(c) }
}

// Run starts the server, passes everything on until it has ended, and leaves
// nothing of it behind. The error is non-nil only if it could not be started.
func (o Stdio) Run(ctx context.Context) (process.Exit, error) {
	if o.Conn == "" {
		o.Conn = "c1"
	}
	if o.Grace <= 0 {
		o.Grace = 1500 * time.Millisecond
	}
	if o.Idle <= 0 {
		o.Idle = time.Minute
	}
	if o.MaxLine <= 0 {
		o.MaxLine = trace.MaxData
	}
	p, err := process.Start(process.Spec{Command: o.Command, Env: o.Env, Dir: o.Dir})
	if err != nil {
		return process.Exit{}, err
	}
	s := &session{
		Stdio: o, server: p, tape: tape{sink: o.Sink, conn: o.Conn},
		inputEnded: make(chan struct{}), outputGone: make(chan struct{}), pumped: make(chan struct{}, 2),
	}
	go s.forward()
	go s.back(p.Stdout, o.Stdout, trace.KindMessage)
	go s.back(p.Stderr, o.Stderr, trace.KindStderr)
	exit := s.attend(ctx)
	s.finish(ctx)
	s.tape.record(trace.Event{Kind: trace.KindClosed, From: trace.Server, End: s.end(exit)})
	s.tape.stop()
	p.Close()
	return exit, nil
}

// forward passes on what the client writes. Each chunk is recorded before it is
// passed on: afterwards the answer might be recorded first.
func (s *session) forward() {
	defer close(s.inputEnded)
	tap := s.tap(trace.Client, trace.KindMessage)
	deaf := false
	buf := make([]byte, 64<<10)
	for {
		n, err := s.Stdin.Read(buf)
		tap.write(buf[:n])
		if n > 0 && !deaf {
			_, werr := s.server.Stdin.Write(buf[:n])
			deaf = werr != nil // the server has closed its end; the client may go on
		}
		if err != nil {
			tap.close()
			if s.over.Load() {
				return
			}
			end := &trace.End{How: "eof", Detail: StandardInput}
			if !errors.Is(err, io.EOF) {
				end.How, end.Detail = "error", StandardInput+": "+err.Error()
			}
			s.tape.record(trace.Event{Kind: trace.KindClosed, From: trace.Client, End: end})
			s.ask("end of standard input")
			s.server.Stdin.Close()
			return
		}
	}
}

// back passes on what the server writes. If the client takes no more, the rest
// is still read and recorded.
func (s *session) back(from *os.File, to io.Writer, kind trace.Kind) {
	defer func() { s.pumped <- struct{}{} }()
	tap := s.tap(trace.Server, kind)
	defer tap.close()
	gone, last := false, false
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			last = false
			s.moved.Add(int64(n))
			tap.write(buf[:n])
			if !gone {
				if _, werr := to.Write(buf[:n]); werr != nil {
					gone = true
					if kind != trace.KindStderr {
						close(s.outputGone)
					}
				}
			}
		}
		switch {
		case err == nil:
		case errors.Is(err, os.ErrDeadlineExceeded) && !last:
			// The group is gone and the time to drain the pipe is up, perhaps
			// because the client was slow: take what is there, until nothing is.
			last = true
			if from.SetReadDeadline(time.Now().Add(100*time.Millisecond)) != nil {
				return
			}
		default:
			return
		}
	}
}

func (s *session) tap(from trace.Side, kind trace.Kind) *lines {
	return &lines{rest: bounded{limit: s.MaxLine}, emit: func(line []byte, over int64) {
		e := payload(trace.Event{From: from}, line, over)
		if kind == trace.KindStderr {
			e.Kind = kind
		}
		s.tape.record(e)
	}}
}

// attend waits for the server to end, and ends it when it has to.
func (s *session) attend(ctx context.Context) process.Exit {
	var patience <-chan time.Time // runs when the server has been asked to end
	var last int64
	input, signals := s.inputEnded, s.Signals
	for {
		select {
		case <-s.server.Done():
			return s.server.End(context.WithoutCancel(ctx), s.Grace) // and its orphans
		case <-ctx.Done():
			s.ask("the recorder being stopped")
			s.interrupted = true
			return s.server.End(context.WithoutCancel(ctx), s.Grace)
		case <-s.outputGone:
			s.ask("the client being gone")
			return s.server.End(context.WithoutCancel(ctx), s.Grace)
		case <-input:
			input = nil
			if patience == nil {
				last, patience = s.moved.Load(), time.After(s.Idle)
			}
		case <-patience:
			if now := s.moved.Load(); !s.interrupted && now != last {
				last, patience = now, time.After(s.Idle) // still at work
				continue
			}
			if s.interrupted { // it had its time
				return s.server.End(context.WithoutCancel(ctx), 0)
			}
			return s.server.End(context.WithoutCancel(ctx), s.Grace)
		case sig, ok := <-signals:
			if !ok {
				signals = nil
				continue
			}
			s.pass(sig)
			if s.interrupted {
				patience = time.After(s.Grace)
			}
		}
	}
}

func (s *session) pass(sig os.Signal) {
	if process.Terminates(sig) {
		s.ask(process.SignalName(sig))
		s.interrupted = true
	}
	s.server.Signal(sig) // a server that it does not reach has ended
}

func (s *session) ask(by string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.how) == 0 {
		s.asked = time.Now()
	}
	s.how = append(s.how, by)
}

// finish waits until everything that the server wrote has been passed on. A
// client that takes nothing holds that up, as it would hold up the server
// itself, until it is gone or stops us.
func (s *session) finish(ctx context.Context) {
	var giveUp <-chan time.Time
	stop, signals := ctx.Done(), s.Signals
	if s.interrupted {
		giveUp, stop, signals = time.After(s.Grace), nil, nil
	}
	for left := 2; left > 0; {
		select {
		case <-s.pumped:
			left--
		case <-giveUp:
			left = 0
		case <-stop:
			giveUp, stop = time.After(s.Grace), nil
		case sig, ok := <-signals:
			if !ok {
				signals = nil
			} else if process.Terminates(sig) {
				giveUp = time.After(s.Grace)
			}
		}
	}
	s.over.Store(true)
	if s.release() {
		<-s.inputEnded
	}
}

// release makes the goroutine that reads the client's input return, and
// reports whether that is certain: it is not for a terminal.
func (s *session) release() bool {
	if d, ok := s.Stdin.(interface{ SetReadDeadline(time.Time) error }); ok && d.SetReadDeadline(time.Now()) == nil {
		return true
	}
	c, ok := s.Stdin.(io.Closer)
	if !ok {
		return false
	}
	_, isFile := c.(*os.File)
	return c.Close() == nil && !isFile
}

// end says how the server ended, counting from when it was first asked to.
func (s *session) end(exit process.Exit) *trace.End {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := exit.End()
	if len(s.how) == 0 || s.asked.After(exit.Time) {
		e.After = 0
		return e
	}
	e.After = max(1, exit.Time.Sub(s.asked))
	detail := "asked to end by " + strings.Join(s.how, ", then ")
	if e.Detail != "" {
		detail += "; " + e.Detail
	}
	e.Detail = detail
	return e
}
