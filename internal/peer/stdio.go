package peer

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/mcp-conform/mcp-conform/trace"
)

// ServeStdio serves one client over a pair of pipes until in ends, ctx is done
// or out fails. It writes nothing but messages to out; errw gets a line or two
// for people. When it returns, nothing of the connection is left, except that a
// Read of in which is still blocked ends with in.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer, errw io.Writer) error {
	if errw == nil {
		errw = io.Discard
	}
	w := &lines{w: out}
	ses := s.newSession("", trace.Stdio)
	ses.out = w
	defer ses.close()
	fmt.Fprintln(errw, "mcp-conform reference server: ready on stdio")
	s.atStart(w)

	input := readLines(ctx, in)
	var calls sync.WaitGroup
	err := s.serveLines(ctx, ses, w, input, &calls)
	if errors.Is(err, io.EOF) {
		err = nil
		if s.broken("stays-after-eof") {
			<-ctx.Done()
		}
	}
	ses.end(errShutdown)
	calls.Wait()
	return errors.Join(err, w.failed())
}

func (s *Server) serveLines(ctx context.Context, ses *session, w *lines, input <-chan line, calls *sync.WaitGroup) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case l, ok := <-input:
			if !ok {
				return io.EOF
			}
			if l.err != nil {
				return fmt.Errorf("reading standard input: %w", l.err)
			}
			if len(bytes.TrimSpace(l.data)) == 0 {
				continue
			}
			s.line(ses, w, parse(l.data), calls)
		}
	}
}

// line takes one line of a client.
func (s *Server) line(ses *session, w *lines, p packet, calls *sync.WaitGroup) {
	switch {
	case p.isBatch:
		s.lineBatch(ses, w, p, calls)
	case p.bad != nil:
		s.refuse(ses, w, p)
	case p.isRequest() && s.wantsStateless(ses, p):
		s.lineStateless(ses, w, p, calls)
	default:
		calls.Add(1)
		if !ses.receive(p, w, calls.Done) {
			calls.Done()
		}
	}
}

// wantsStateless decides the era of a request on pipes: its metadata does, and
// before a handshake everything but the handshake and ping is stateless for a
// server that speaks no other era (2026-07-28 basic/versioning).
func (s *Server) wantsStateless(ses *session, p packet) bool {
	switch {
	case len(s.era(true)) == 0:
		return false
	case isModern(p) || len(s.era(false)) == 0:
		return true
	}
	return p.method == "server/discover" && !ses.opened()
}

func (s *Server) lineStateless(ses *session, w *lines, p packet, calls *sync.WaitGroup) {
	c := s.newStateless(ses.ctx, p, trace.Stdio, w)
	for _, check := range []func(packet) *rpcError{s.checkMeta, s.checkVersion, ses.unmet} {
		if e := check(p); e != nil {
			c.end(nil, s.namingVersions(p, e), func() {})
			return
		}
	}
	calls.Add(1)
	ses.run(c, calls.Done)
}

// namingVersions adds the served revisions to the error that a client of the
// handshake era gets, for whom it may be the only hint (2026-07-28 basic/versioning).
func (s *Server) namingVersions(p packet, e *rpcError) *rpcError {
	if p.method == "initialize" && e.data == nil && !s.broken("versions-not-named") {
		e.data = obj{"supported": s.era(true)}
	}
	return e
}

// refuse answers what is not a message. A request's error carries its id when
// that could be read; a bad response or notification gets no answer.
func (s *Server) refuse(ses *session, w *lines, p packet) {
	if p.method != "" && p.id == nil && p.bad.code != codeInvalidRequest {
		return // a notification: never answered
	}
	for _, f := range s.frames(sent{msg: failure(p.id, p.bad), rev: ses.revision(), transport: trace.Stdio}) {
		w.put(f)
	}
}

// atStart lets faults speak before the client does.
func (s *Server) atStart(w *lines) {
	for _, f := range s.frames(sent{msg: obj{}, transport: trace.Stdio, re: atStart, drop: true}) {
		w.put(f)
	}
}

// atStart is the pretended method of what is sent before anything was received.
const atStart = "start"

// lines writes messages, one a line, whole ones only.
type lines struct {
	mu  sync.Mutex
	w   io.Writer
	err error
}

func (l *lines) put(f frame) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		_, l.err = l.w.Write(append(f.data[:len(f.data):len(f.data)], '\n'))
	}
}

func (l *lines) failed() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return fmt.Errorf("writing standard output: %w", l.err)
	}
	return nil
}

// line is one line read, or the error that ended reading.
type line struct {
	data []byte
	err  error
}

// readLines reads lines of any length until the reader or ctx ends.
func readLines(ctx context.Context, r io.Reader) <-chan line {
	ch := make(chan line)
	go func() {
		defer close(ch)
		b := bufio.NewReaderSize(r, 1<<16)
		for {
			data, err := b.ReadBytes('\n')
			last := err != nil
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe) {
				err = nil
			}
			if len(data) == 0 && err == nil {
				if last {
					return
				}
				continue
			}
			select {
			case ch <- line{data: data, err: err}:
			case <-ctx.Done():
				return
			}
			if last {
				return
			}
		}
	}()
	return ch
}
