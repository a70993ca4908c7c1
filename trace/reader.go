package trace

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// DefaultMaxLine is the longest line that a [Reader] takes unless told
// otherwise. It bounds memory; a message of a few megabytes, such as an image
// in base64, is ordinary.
const DefaultMaxLine = 64 << 20

// ReaderOptions say how a trace is read.
type ReaderOptions struct {
	Name    string // of the file, for errors; "" means "trace"
	MaxLine int    // in bytes; 0 means DefaultMaxLine
}

// Reader yields the events of a trace file one at a time. Its memory is that
// of the current line. It can follow a pipe: an event is returned as soon as
// its line is complete.
type Reader struct {
	lines  *LineReader
	name   string
	header Header
	err    error
}

// NewReader reads the header line.
func NewReader(r io.Reader, o ReaderOptions) (*Reader, error) {
	if o.Name == "" {
		o.Name = "trace"
	}
	tr := &Reader{lines: NewLineReader(r, o.Name, o.MaxLine), name: o.Name}
	if err := tr.readHeader(); err != nil {
		return nil, err
	}
	return tr, nil
}

// Header returns the header of the file.
func (r *Reader) Header() Header { return r.header }

// Next returns the next event, or io.EOF at the end. Any other error names the
// file and the line, and is final; what was returned before it stands.
func (r *Reader) Next() (Event, error) {
	if r.err != nil {
		return Event{}, r.err
	}
	e, err := r.next()
	r.err = err
	return e, err
}

func (r *Reader) next() (Event, error) {
	for {
		b, err := r.lines.Next()
		if err != nil {
			return Event{}, err
		}
		if len(bytes.TrimSpace(b)) == 0 {
			continue
		}
		e, err := decodeEvent(b)
		if err != nil {
			return Event{}, r.fault("not an event of a trace", err)
		}
		return e, nil
	}
}

func (r *Reader) readHeader() error {
	b, err := r.lines.Next()
	if err == io.EOF {
		return fmt.Errorf("%s: the file is empty: a trace begins with a header line {\"format\":%q,…}", r.name, Format)
	}
	if err != nil {
		return err
	}
	var id struct {
		Format  string `json:"format"`
		Version int    `json:"version"`
	}
	if err := json.Unmarshal(b, &id); err != nil || id.Format != Format {
		return r.fault(fmt.Sprintf("not the header of a trace: it must be {\"format\":%q,…}", Format), err)
	}
	if id.Version != Version {
		return r.fault(fmt.Sprintf("the trace has version %d of the format and this tool reads version %d: use the tool that wrote it or a newer one", id.Version, Version), nil)
	}
	if err := decodeStrict(b, &r.header); err != nil {
		return r.fault("not the header of a trace", err)
	}
	return nil
}

// fault places a fault at the current line. A last line that lacks its end was
// most likely cut off, which is worth more to a reader than the parser's words.
func (r *Reader) fault(what string, cause error) error {
	if r.lines.Unterminated() {
		what = "the file is truncated: its last line is incomplete"
	}
	if cause == nil {
		return fmt.Errorf("%s:%d: %s", r.name, r.lines.Line(), what)
	}
	return fmt.Errorf("%s:%d: %s: %w", r.name, r.lines.Line(), what, cause)
}

// decodeStrict reads a header and refuses unknown keys, so that a misspelt or newer member is
// noticed rather than ignored, and anything after the value.
func decodeStrict(b []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return errors.New("the JSON text is incomplete")
		}
		return err
	}
	if rest := bytes.TrimSpace(b[dec.InputOffset():]); len(rest) > 0 {
		return fmt.Errorf("more text after the JSON object: %.20q", rest)
	}
	return nil
}

// LineReader splits a stream into lines of any length up to a cap, with one
// line in memory at a time. Unlike bufio.Scanner it never stops in silence: a
// line above the cap is an error that names the file and the line.
type LineReader struct {
	r    *bufio.Reader
	name string
	max  int
	n    int
	buf  []byte
	bare bool
}

// NewLineReader returns a reader of the lines of r, which errors call name. A
// max of 0 means [DefaultMaxLine].
func NewLineReader(r io.Reader, name string, max int) *LineReader {
	if max <= 0 {
		max = DefaultMaxLine
	}
	return &LineReader{r: bufio.NewReaderSize(r, 64<<10), name: name, max: max}
}

// Next returns the next line without its LF; a CR before it is left, for it
// was on the wire. The bytes are valid until the next call. At the end it
// returns io.EOF.
func (l *LineReader) Next() ([]byte, error) {
	l.buf, l.bare = l.buf[:0], false
	if cap(l.buf) > 1<<20 {
		l.buf = nil // do not hold on to the largest line ever read
	}
	for {
		part, err := l.r.ReadSlice('\n')
		if err == nil {
			part = part[:len(part)-1]
		}
		if len(l.buf)+len(part) > l.max {
			l.n++
			return nil, fmt.Errorf("%s:%d: the line is longer than %d bytes", l.name, l.n, l.max)
		}
		if err == nil && len(l.buf) == 0 {
			l.n++
			return part, nil
		}
		l.buf = append(l.buf, part...)
		switch {
		case err == bufio.ErrBufferFull:
		case err == io.EOF && len(l.buf) == 0:
			return nil, io.EOF
		case err == nil || err == io.EOF:
			l.bare = err == io.EOF
			l.n++
			return l.buf, nil
		default:
			return nil, fmt.Errorf("%s:%d: reading: %w", l.name, l.n+1, err)
		}
	}
}

// Line returns the number of the line last returned, from 1.
func (l *LineReader) Line() int { return l.n }

// Unterminated reports whether the line last returned was the last of the
// stream and lacked its end.
func (l *LineReader) Unterminated() bool { return l.bare }
