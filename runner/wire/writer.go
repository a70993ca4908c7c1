package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"

	"github.com/mcp-conform/mcp-conform/trace"
)

// writer puts lines on a byte stream whose other end may never read. One write
// is under way at a time, and what is written is reported by lines, as the other
// end will see it.
type writer struct {
	dst  io.WriteCloser
	rep  *reporter
	turn chan struct{} // holds a token while a write is under way
	wg   sync.WaitGroup

	mu     sync.Mutex
	closed bool
	lines  lines
}

func newWriter(dst io.WriteCloser, rep *reporter) *writer {
	w := &writer{dst: dst, rep: rep, turn: make(chan struct{}, 1)}
	w.lines = lines{max: math.MaxInt, emit: func(line []byte, _ int64) {
		rep.payload(trace.Event{From: rep.us, Data: line}, 0)
	}}
	return w
}

// write sends data, with a line end unless partial. When ctx ends first the
// rest of the data stays on its way, and later writes wait for it.
func (w *writer) write(ctx context.Context, data []byte, partial bool) error {
	text := make([]byte, 0, len(data)+1)
	text = append(text, data...)
	if !partial {
		text = append(text, '\n')
	}
	select {
	case w.turn <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("waiting for the peer to read what was sent before: %w", ctx.Err())
	}
	if !w.report(text) {
		<-w.turn
		return fmt.Errorf("sending: %w", ErrClosed)
	}
	done := make(chan error, 1)
	go func() {
		defer w.wg.Done()
		_, err := w.dst.Write(text)
		<-w.turn
		done <- err
	}()
	select {
	case err := <-done:
		if err != nil {
			return fmt.Errorf("sending: %w: %w", ErrClosed, err)
		}
		return nil
	case <-ctx.Done():
		return fmt.Errorf("the peer does not read what is sent: %w", ctx.Err())
	}
}

func (w *writer) report(text []byte) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return false
	}
	w.lines.Write(text)
	w.wg.Add(1)
	return true
}

// close closes the stream after what is being written, or at once when ctx
// ends, and reports it as end. It reports whether it was open.
func (w *writer) close(ctx context.Context, end trace.End) (bool, error) {
	select {
	case w.turn <- struct{}{}:
		defer func() { <-w.turn }()
	case <-ctx.Done():
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return false, nil
	}
	w.closed = true
	w.lines.Close()
	w.rep.emit(trace.Event{Kind: trace.KindClosed, From: w.rep.us, End: &end})
	if err := w.dst.Close(); err != nil && !errors.Is(err, io.ErrClosedPipe) {
		return true, fmt.Errorf("closing the stream to the peer: %w", err)
	}
	return true, nil
}

// abandon closes the stream without a word and waits for writes to give up.
func (w *writer) abandon() {
	w.mu.Lock()
	if !w.closed {
		w.closed = true
		w.lines.Close()
		w.dst.Close()
	}
	w.mu.Unlock()
	w.wg.Wait()
}
