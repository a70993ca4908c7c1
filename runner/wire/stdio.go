package wire

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/mcp-conform/mcp-conform/runner/process"
	"github.com/mcp-conform/mcp-conform/trace"
)

// StdioOptions say how to start a server that is spoken to over its pipes.
type StdioOptions struct {
	Command []string // the program and its arguments
	Env     []string // "NAME=value", added to the environment
	Dir     string   // "" means the current directory
	Conn    string   // names the connection in events
	Sink    trace.Sink
	// Grace is how long the process has, in Close, to end after its standard
	// input was closed, and again after SIGTERM: 2 s unless given. The
	// specification says "within a reasonable time" (2025-11-25
	// basic/lifecycle#stdio).
	Grace  time.Duration
	Limits Limits
}

// StandardInput is the Detail of the closed event that says that the client,
// harness or not, closed the standard input of the server; the connection goes on
// in the other direction.
const StandardInput = "standard input"

// stdio is the pipes of one server process.
type stdio struct {
	process *process.Process
	grace   time.Duration
	rep     *reporter
	in      *writer
	out     chan struct{} // closed at the end of standard output
	err     chan struct{} // closed at the end of standard error
	ended   chan struct{} // closed when nothing is left

	ctx    context.Context
	cancel context.CancelCauseFunc // kills

	mu    sync.Mutex
	asked time.Time // when the process was first asked to end
	how   []string  // what it was asked by
}

// OpenStdio starts a server process in a process group of its own and returns
// the wire to it. ctx bounds the life of the process: when it ends, the group
// is killed.
func OpenStdio(ctx context.Context, o StdioOptions) (Wire, error) {
	if o.Grace <= 0 {
		o.Grace = 2 * time.Second
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("starting the server: %w", err)
	}
	p, err := process.Start(process.Spec{Command: o.Command, Env: o.Env, Dir: o.Dir})
	if err != nil {
		return nil, fmt.Errorf("opening the pipes of a server: %w", err)
	}
	w := &stdio{
		process: p, grace: o.Grace,
		out: make(chan struct{}), err: make(chan struct{}), ended: make(chan struct{}),
	}
	w.ctx, w.cancel = context.WithCancelCause(ctx)
	w.rep = newReporter(o.Conn, o.Sink, trace.Client, o.Limits, func() { w.cancel(errFlood) })
	w.in = newWriter(p.Stdin, w.rep)
	go readLines(p.Stdout, w.rep, w.out)
	go readStderr(p.Stderr, w.rep, w.err)
	go w.watch()
	return w, nil
}

// readLines reports what the peer writes, line by line, until its end.
func readLines(from io.Reader, rep *reporter, done chan<- struct{}) error {
	defer close(done)
	l := lines{max: rep.limits.Message, emit: func(line []byte, over int64) {
		rep.payload(trace.Event{From: rep.us.Peer(), Data: line}, over)
	}}
	defer l.Close()
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		rep.take(0, n)
		l.Write(buf[:n])
		if err != nil {
			return err
		}
	}
}

// readStderr reports standard error up to the limit and drops the rest. A
// server may write what it likes there, so nothing of it counts as a flood.
func readStderr(from io.Reader, rep *reporter, done chan<- struct{}) {
	defer close(done)
	const longest = 64 << 10
	left := rep.limits.Stderr
	l := lines{max: longest, emit: func(line []byte, over int64) {
		if left <= 0 {
			return
		}
		e := trace.Event{Kind: trace.KindStderr, From: trace.Server, Data: line}
		if over > 0 {
			e.Data, e.Note = cut(line, over, longest)
		}
		const beside = 64 // what an event costs beside its bytes
		if left -= int64(len(line)) + beside; left <= 0 {
			e.Note = fmt.Sprintf("standard error is longer than %d bytes: the rest is not recorded", rep.limits.Stderr)
		}
		rep.emit(e)
	}}
	defer l.Close()
	buf := make([]byte, 16<<10)
	for {
		n, err := from.Read(buf)
		l.Write(buf[:n])
		if err != nil {
			return
		}
	}
}

// Send writes o.Data as a line.
func (w *stdio) Send(ctx context.Context, o Out) (string, error) {
	return "", w.in.write(ctx, o.Data, o.Partial)
}

// Do performs close-stdin, terminate and drop.
func (w *stdio) Do(ctx context.Context, a Act) (string, error) {
	switch a.Do {
	case CloseStdin:
		return "", w.closeStdin(ctx)
	case Terminate:
		return "", w.terminate()
	case Drop:
		w.ask("SIGKILL")
		w.cancel(errDropped)
		select {
		case <-w.ended:
			return "", nil
		case <-ctx.Done():
			return "", fmt.Errorf("killing the server: %w", ctx.Err())
		}
	}
	return "", fmt.Errorf("%s over stdio: %w", a.Do, ErrUnsupported)
}

func (w *stdio) closeStdin(ctx context.Context) error {
	w.ask("end of standard input")
	_, err := w.in.close(ctx, trace.End{How: "closed-by-us", Detail: StandardInput})
	return err
}

func (w *stdio) terminate() error {
	select {
	case <-w.process.Done():
		return fmt.Errorf("sending SIGTERM: %w", ErrClosed)
	default:
	}
	w.ask("SIGTERM")
	return w.process.Signal(syscall.SIGTERM)
}

func (w *stdio) ask(by string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.how) == 0 {
		w.asked = time.Now()
	}
	w.note(by)
}

// note keeps what the process was asked to end by, each once.
func (w *stdio) note(by string) {
	if !slices.Contains(w.how, by) {
		w.how = append(w.how, by)
	}
}

// Close ends the process as 2024-11-05 to 2025-11-25 basic/lifecycle (shutdown,
// stdio) and 2026-07-28 basic/transports/stdio say: standard input is closed,
// and what does not end by itself gets SIGTERM and then SIGKILL.
func (w *stdio) Close(ctx context.Context) error {
	soon, cancel := context.WithTimeout(ctx, w.grace)
	defer cancel()
	select {
	case <-w.ended:
		return nil
	default:
	}
	defer context.AfterFunc(ctx, func() { w.cancel(context.Cause(ctx)) })()
	_ = w.closeStdin(soon) // whether it was open still or not
	w.process.End(ctx, w.grace)
	<-w.ended
	return nil
}

// watch sees the process to its end and clears up behind it.
func (w *stdio) watch() {
	defer close(w.ended)
	unkill := context.AfterFunc(w.ctx, func() {
		_ = w.process.Signal(os.Kill) // what cannot be killed shows as a process that stays
	})
	defer unkill()
	select {
	case <-w.out:
		w.awaitExit()
	case <-w.process.Done():
	}
	exited := time.Now()
	exit := w.process.End(w.ctx, w.grace) // of those that it left behind, who may hold the pipes
	<-w.out
	<-w.err
	w.process.Close()
	w.in.abandon()
	end, from := w.end(exit, exited)
	w.rep.emit(trace.Event{Kind: trace.KindClosed, From: from, End: &end})
	w.cancel(errClosing)
}

// awaitExit waits for a process that has closed its standard output. If it
// lingers, that end is reported by itself: nothing more can come.
func (w *stdio) awaitExit() {
	late := time.NewTimer(w.grace)
	defer late.Stop()
	select {
	case <-w.process.Done():
		return
	case <-late.C:
	}
	w.rep.emit(trace.Event{Kind: trace.KindClosed, From: trace.Server, End: &trace.End{
		How: "eof", Detail: "standard output was closed, the process goes on",
	}})
	<-w.process.Done()
}

// end says how the process ended, and who ended it. One that was killed because
// somebody's time was up has not been given the grace that it is judged by, so
// that it is a "timeout" and no "signal".
func (w *stdio) end(exit process.Exit, exited time.Time) (trace.End, trace.Side) {
	w.mu.Lock()
	defer w.mu.Unlock()
	end := trace.End{How: exit.How, Code: exit.Code, Signal: exit.Signal}
	if exit.Step == "SIGTERM" || exit.Step == "SIGKILL" {
		w.note("SIGTERM")
	}
	if exit.Step == "SIGKILL" {
		w.note("SIGKILL")
	}
	var say []string
	if exit.Err != nil {
		say = append(say, exit.Err.Error())
	}
	if len(w.how) > 0 {
		end.After = max(1, exited.Sub(w.asked))
		say = append(say, "asked to end by "+strings.Join(w.how, ", then "))
	}
	if exit.Orphans > 0 {
		say = append(say, fmt.Sprintf("left %d of its processes behind", exit.Orphans))
	}
	end.Detail = strings.Join(say, "; ")
	cause := context.Cause(w.ctx)
	killed := exit.Signal == "SIGKILL" || runtime.GOOS == "windows" && exit.How == "exit"
	late := cause != nil && cause != errDropped && cause != errFlood
	switch {
	case late && (killed || exit.Signal == "SIGTERM"):
		end.How, end.Detail = "timeout", cause.Error()
	case !killed || cause == nil && exit.Step != "SIGKILL":
		return end, trace.Server
	case cause == errFlood:
		end.Detail = w.rep.flood()
	}
	return end, trace.Client
}
