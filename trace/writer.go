package trace

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"sync"
)

// Writer appends events to a trace file. Every event is masked by [Mask]
// before it is written, and every line reaches the underlying writer in one
// Write call and at once, so that a trace can be followed while it grows and
// keeps everything up to a crash. It is safe for concurrent use.
type Writer struct {
	mu  sync.Mutex
	w   io.Writer
	buf bytes.Buffer
	err error
	max int // MaxData, but for tests
}

// NewWriter writes the header line and returns a writer for the events. Format
// and Version are filled in; Target is masked.
func NewWriter(w io.Writer, h Header) (*Writer, error) {
	h.Format, h.Version = Format, Version
	h.Target = MaskText(h.Target)
	tw := &Writer{w: w, max: MaxData}
	tw.put(h, "trace header")
	return tw, tw.err
}

// Write appends one event. After an error nothing more is written, and every
// call returns that error.
func (w *Writer) Write(e Event) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return w.err
	}
	if err := checkEvent(e); err != nil {
		w.err = fmt.Errorf("writing event %d: %w", e.Seq, err)
		return w.err
	}
	w.put(toLine(shorten(Mask(e), w.max), w.max), fmt.Sprintf("event %d", e.Seq))
	return w.err
}

// Record is Write as a [Sink]; ask Err afterwards.
func (w *Writer) Record(e Event) { w.Write(e) } // Err tells

// Err returns the first error, or nil.
func (w *Writer) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// shorten keeps the beginning of data that would make a line which no reader
// takes. What is left is no message, whatever it looks like.
func shorten(e Event, limit int) Event {
	const kept = 4 << 10
	if len(e.Data) <= limit {
		return e
	}
	note := fmt.Sprintf("too long: %d bytes, the limit is %d; the first %d are kept", len(e.Data), limit, kept)
	if e.Note != "" {
		note = e.Note + "; " + note
	}
	e.Data, e.Note = e.Data[:kept], note
	if e.Kind == KindMessage {
		e.Kind = KindNoise
	}
	return e
}

func (w *Writer) put(v any, what string) {
	w.buf.Reset()
	enc := json.NewEncoder(&w.buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		w.err = fmt.Errorf("writing %s: %w", what, err)
		return
	}
	n, err := w.w.Write(w.buf.Bytes())
	if err == nil && n < w.buf.Len() {
		err = io.ErrShortWrite
	}
	if err != nil {
		w.err = fmt.Errorf("writing %s: %w", what, err)
	}
	if w.buf.Cap() > 1<<20 {
		w.buf = bytes.Buffer{} // do not hold on to the largest line ever written
	}
}
