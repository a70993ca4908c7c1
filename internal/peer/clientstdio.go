package peer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/mcp-conform/mcp-conform/trace"
)

// RunStdio talks to a server over its pipes: in is the server's standard output,
// out its standard input. It ends by closing out and waiting for in to end, as
// the specification wants a shutdown to begin (basic/lifecycle Shutdown); a
// server that does not leave is the caller's to kill, once ctx is done.
func (c *Client) RunStdio(ctx context.Context, in io.Reader, out io.WriteCloser) error {
	t := c.newTalk(trace.Stdio)
	l := &pipeLink{talk: t, w: &lines{w: out}, out: out, done: make(chan struct{})}
	t.link = l
	reading, stop := context.WithCancel(ctx)
	defer stop()
	go l.read(reading, in)
	if c.broken("noise-on-stdin") {
		l.w.put(frame{data: []byte("starting the client")})
	}
	err := t.begin(ctx)
	if err == nil {
		err = t.tour(ctx)
	}
	t.settled(ctx)
	err = errors.Join(err, l.close(ctx))
	t.working.Wait()
	return err
}

// pipeLink is a conversation over pipes.
type pipeLink struct {
	talk *talk
	w    *lines
	out  io.Closer
	done chan struct{} // closed when the server's output has ended
}

func (l *pipeLink) send(_ context.Context, m sent) error {
	for _, f := range l.talk.c.frames(m) {
		l.w.put(f)
	}
	return l.w.failed()
}

func (l *pipeLink) drop(int) {}

func (l *pipeLink) opened(context.Context) {}

func (l *pipeLink) read(ctx context.Context, in io.Reader) {
	defer close(l.done)
	for ln := range readLines(ctx, in) {
		if len(bytes.TrimSpace(ln.data)) > 0 {
			l.talk.receive(ctx, ln.data)
		}
	}
	l.talk.fail(nil, errors.New("the server has closed its standard output"))
}

// shutdownPatience is how long a server may take to leave.
const shutdownPatience = 5 * time.Second

func (l *pipeLink) close(ctx context.Context) error {
	if l.talk.c.broken("stdin-left-open") {
		return nil
	}
	err := l.out.Close()
	timer := time.NewTimer(shutdownPatience)
	defer timer.Stop()
	select {
	case <-l.done:
	case <-ctx.Done():
		err = errors.Join(err, ctx.Err())
	case <-timer.C:
		err = errors.Join(err, fmt.Errorf("the server did not leave within %v of the end of its standard input", shutdownPatience))
	}
	return err
}
