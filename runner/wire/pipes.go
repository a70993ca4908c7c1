package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/mcp-conform/mcp-conform/trace"
)

// PipesOptions say what to run at the other end of a pair of pipes.
type PipesOptions struct {
	// Serve is a server in this process. It returns when in ends, or ctx does.
	Serve func(ctx context.Context, in io.Reader, out, errw io.Writer) error
	Conn  string
	Sink  trace.Sink
	// Grace is how long Serve has to return after the end of its input, 2 s unless given.
	Grace  time.Duration
	Limits Limits
}

// pipes is a server that looks like a process and is none.
type pipes struct {
	rep    *reporter
	in     *writer
	grace  time.Duration
	cancel context.CancelFunc
	ended  chan struct{}
}

// OpenPipes runs a server in this process and returns a wire to it that behaves
// like that of [OpenStdio]: lines on pipes, an exit code at the end (0, or 1 when
// Serve returns an error, which is told on its standard error).
func OpenPipes(ctx context.Context, o PipesOptions) (Wire, error) {
	if o.Grace <= 0 {
		o.Grace = 2 * time.Second
	}
	ctx, cancel := context.WithCancel(ctx)
	w := &pipes{grace: o.Grace, cancel: cancel, ended: make(chan struct{})}
	w.rep = newReporter(o.Conn, o.Sink, trace.Client, o.Limits, cancel)
	stdin, toServer := io.Pipe()
	fromServer, stdout := io.Pipe()
	fromErr, stderr := io.Pipe()
	w.in = newWriter(toServer, w.rep)
	outDone, errDone := make(chan struct{}), make(chan struct{})
	go readLines(fromServer, w.rep, outDone)
	go readStderr(fromErr, w.rep, errDone)
	go func() {
		defer close(w.ended)
		defer cancel()
		// A write that nobody reads ends with the context, as that of a killed process.
		unblock := context.AfterFunc(ctx, func() { stdin.Close(); fromServer.Close() })
		err := o.Serve(ctx, stdin, stdout, stderr)
		unblock()
		end := trace.End{How: "exit"}
		if err != nil && !errors.Is(err, context.Canceled) {
			end.Code = 1
			fmt.Fprintln(stderr, err)
		}
		stdin.Close()
		stdout.Close()
		stderr.Close()
		<-outDone
		<-errDone
		w.in.abandon()
		from := trace.Server
		if why := w.rep.flood(); why != "" {
			from, end = trace.Client, trace.End{How: "closed-by-us", Detail: why}
		}
		w.rep.emit(trace.Event{Kind: trace.KindClosed, From: from, End: &end})
	}()
	return w, nil
}

// Send writes o.Data as a line.
func (w *pipes) Send(ctx context.Context, o Out) (string, error) {
	return "", w.in.write(ctx, o.Data, o.Partial)
}

// Do performs close-stdin, terminate and drop; the latter two end the context of Serve.
func (w *pipes) Do(ctx context.Context, a Act) (string, error) {
	switch a.Do {
	case CloseStdin:
		_, err := w.in.close(ctx, trace.End{How: "closed-by-us", Detail: StandardInput})
		return "", err
	case Terminate, Drop:
		w.cancel()
		return "", nil
	}
	return "", fmt.Errorf("%s over stdio: %w", a.Do, ErrUnsupported)
}

// Close ends the input, and after the grace the context of Serve.
func (w *pipes) Close(ctx context.Context) error {
	soon, cancel := context.WithTimeout(ctx, w.grace)
	defer cancel()
	select {
	case <-w.ended:
		return nil
	default:
	}
	_, _ = w.in.close(soon, trace.End{How: "closed-by-us", Detail: StandardInput}) // open still or not
	select {
	case <-w.ended:
	case <-soon.Done():
		w.cancel()
	}
	select {
	case <-w.ended:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("ending the built-in server: %w", ctx.Err())
	}
}
