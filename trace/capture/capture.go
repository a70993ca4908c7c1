// Package capture reads what other tools captured as a trace.
//
//	src, err := capture.Open([]string{"session.har"}, capture.Options{})
//	for {
//		e, err := src.Next() // io.EOF at the end
//		…
//	}
//
// It knows our own trace format; plain JSON-RPC lines, as tee, a shell wrapper
// or a log leaves them, in one file for both sides or one for each; and HAR
// 1.2, as browsers and proxies export it. The format is found by looking at the
// first bytes.
//
// No format shows everything. What one loses stands in Lacks of the header, and
// rules that need it answer untested rather than pass. Where an importer has to
// guess, as for the direction of a line, the guess is written down beside it
// and chosen so that a wrong guess is more likely to hide a fault than to
// invent one.
//
// The package judges nothing, and repairs nothing: bytes that are no message
// stay noise.
package capture

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/trace"
)

// Format names a capture format.
type Format string

// The formats that are known.
const (
	Trace Format = "trace" // our own
	Lines Format = "lines" // plain JSON-RPC, one message a line
	HAR   Format = "har"   // HTTP Archive 1.2
)

// known says what can be read, for messages to people.
const known = "a trace of mcp-conform, plain JSON-RPC messages one a line, HAR 1.2"

// Options say how captures are read.
type Options struct {
	Format Format // "" means: look at the first bytes
	// FromClient and FromServer, set together, are files of plain lines, one
	// for what each side wrote; no further paths are given then.
	FromClient, FromServer string
	// Transport, when known from elsewhere, fills in what plain lines do not tell.
	Transport trace.Transport
	MaxLine   int       // longest line in bytes; 0 means trace.DefaultMaxLine
	Stdin     io.Reader // what the path "-" reads; nil means os.Stdin
	// Done, when closed, ends reads that wait for a pipe or a terminal, with
	// [ErrInterrupted]; nil means never.
	Done <-chan struct{}
}

// source yields the events of one capture.
type source interface {
	Header() trace.Header
	Next() (trace.Event, error)
}

// Source yields the events of one or more captures, with Seq counted through.
type Source struct {
	header  trace.Header
	parts   []source
	prefix  bool // connections of several files get the file's number before their name
	part    int
	seq     int64
	err     error
	closers []io.Closer
}

// Open opens the captures and reads as much as it takes to know their formats.
// Several files follow each other as separate connections; what any of them
// lacks, the whole lacks. Close the source after use.
func Open(paths []string, o Options) (*Source, error) {
	s := &Source{}
	if err := s.open(paths, o); err != nil {
		s.Close()
		return nil, err
	}
	s.mergeHeaders()
	return s, nil
}

func (s *Source) open(paths []string, o Options) error {
	if o.FromClient != "" || o.FromServer != "" {
		if o.FromClient == "" || o.FromServer == "" || len(paths) > 0 {
			return errors.New("a capture in two files is one from the client and one from the server, and nothing else")
		}
		client, err := s.file(o.FromClient, o)
		if err != nil {
			return err
		}
		server, err := s.file(o.FromServer, o)
		if err != nil {
			return err
		}
		part, err := newPair(client, server, o)
		s.parts = append(s.parts, part)
		return err
	}
	if len(paths) == 0 {
		return errors.New("no capture to read")
	}
	s.prefix = len(paths) > 1
	for _, path := range paths {
		f, err := s.file(path, o)
		if err != nil {
			return err
		}
		part, err := f.source(o)
		if err != nil {
			return err
		}
		s.parts = append(s.parts, part)
	}
	return nil
}

// file opens a path and looks at its beginning.
func (s *Source) file(path string, o Options) (*file, error) {
	if path == "-" {
		in := o.Stdin
		if in == nil {
			in = os.Stdin
		}
		return look("standard input", Interruptible(in, o.Done))
	}
	f, err := o.open(path)
	if err != nil {
		return nil, fmt.Errorf("opening a capture: %w", err)
	}
	s.closers = append(s.closers, f)
	info, err := f.Stat()
	switch {
	case err != nil || info.Mode().IsRegular():
		return look(path, f)
	case info.IsDir():
		return nil, fmt.Errorf("%s: a folder, not a capture: name the files in it", path)
	}
	return look(path, Interruptible(f, o.Done))
}

// source returns the importer for the file.
func (f *file) source(o Options) (source, error) {
	format := o.Format
	if format == "" {
		var err error
		if format, err = f.sniff(); err != nil {
			return nil, err
		}
	}
	switch format {
	case Trace:
		return trace.NewReader(f, trace.ReaderOptions{Name: f.name, MaxLine: o.MaxLine})
	case Lines:
		return newLines(f, o), nil
	case HAR:
		return newHAR(f)
	}
	return nil, fmt.Errorf("unknown capture format %q: the formats are %s, %s, %s", format, Trace, Lines, HAR)
}

func (s *Source) mergeHeaders() {
	s.header = s.parts[0].Header()
	for _, p := range s.parts[1:] {
		h := p.Header()
		if h.Transport != s.header.Transport {
			s.header.Transport = ""
		}
		if h.Revision != s.header.Revision {
			s.header.Revision = ""
		}
		if h.Made != s.header.Made && !strings.Contains(s.header.Made, h.Made) {
			s.header.Made += ", " + h.Made
		}
		for _, l := range h.Lacks {
			if !slices.Contains(s.header.Lacks, l) {
				s.header.Lacks = append(slices.Clip(s.header.Lacks), l)
			}
		}
	}
}

// Header returns the header of the capture, or of all of them taken together.
func (s *Source) Header() trace.Header { return s.header }

// Next returns the next event, or io.EOF at the end. Any other error names the
// file and the place, and is final; what was returned before it stands.
func (s *Source) Next() (trace.Event, error) {
	for s.err == nil {
		e, err := s.parts[s.part].Next()
		switch {
		case err == nil:
			s.seq++
			e.Seq = s.seq
			if s.prefix {
				e.Conn = fmt.Sprintf("%d:%s", s.part+1, e.Conn)
			}
			return e, nil
		case err == io.EOF && s.part+1 < len(s.parts):
			s.part++
		default:
			s.err = err
		}
	}
	return trace.Event{}, s.err
}

// Close closes the files.
func (s *Source) Close() error {
	var errs []error
	for _, c := range s.closers {
		errs = append(errs, c.Close())
	}
	s.closers = nil
	return errors.Join(errs...)
}
