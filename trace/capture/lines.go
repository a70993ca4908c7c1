package capture

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

// conn is the name of the only connection that plain lines have.
const conn = "c1"

// reader reads one file of plain lines and skips blank ones: those are nearly
// always the doing of whoever put the file together.
type reader struct {
	lines *trace.LineReader
	name  string
}

func newReader(f *file, o Options) *reader {
	return &reader{trace.NewLineReader(f, f.name, o.MaxLine), f.name}
}

// next returns the next line as an event without a side. A message that the end
// of the file cuts off is an error, not noise: whoever wrote it did not do that.
func (r *reader) next() (trace.Event, schemas.Message, error) {
	for {
		b, err := r.lines.Next()
		if err != nil {
			return trace.Event{}, schemas.Message{}, err
		}
		if len(bytes.TrimSpace(b)) == 0 {
			continue
		}
		e := trace.Event{Kind: trace.PayloadKind(b), Conn: conn, Data: bytes.Clone(b)}
		if e.Kind == trace.KindNoise {
			if r.lines.Unterminated() && (b[0] == '{' || b[0] == '[') {
				return e, schemas.Message{}, fmt.Errorf("%s:%d: the file is truncated: its last message is incomplete", r.name, r.lines.Line())
			}
			return e, schemas.Message{}, nil
		}
		return e, schemas.Classify(e.Data), nil
	}
}

// header says what plain lines never tell.
func header(o Options, f *file, transport trace.Transport, lacks ...trace.Lack) trace.Header {
	h := trace.Header{
		Format: trace.Format, Version: trace.Version, Made: "import:lines", Transport: o.Transport,
		Lacks: append([]trace.Lack{trace.LackHeaders, trace.LackTiming, trace.LackClose}, lacks...),
	}
	if h.Transport == "" {
		h.Transport = transport
	}
	if m := f.firstMessage(); m == nil || !opens(*m) {
		h.Lacks = append(h.Lacks, trace.LackStart)
	}
	return h
}

// lines reads one file that holds what both sides wrote. Who wrote a line is
// inferred, see conversation.sender; a line that is no message counts as noise of
// the server's, since that is who prints on standard output.
type lines struct {
	reader *reader
	header trace.Header
	talk   *conversation
	seq    int64
}

func newLines(f *file, o Options) *lines {
	return &lines{newReader(f, o), header(o, f, ""), newConversation(), 0}
}

func (l *lines) Header() trace.Header { return l.header }

func (l *lines) Next() (trace.Event, error) {
	e, m, err := l.reader.next()
	if err != nil {
		return e, err
	}
	l.seq++
	e.Seq, e.From = l.seq, trace.Server
	switch {
	case e.Kind != trace.KindMessage:
	case !slices.ContainsFunc(members(m), speaks):
		// JSON that says neither what it asks nor what it answers may be either
		// side's, and blame for it would be made up.
		e.Kind, e.Note = trace.KindNoise, "no message, and nothing tells who wrote it"
	default:
		e.From = l.talk.sender(m)
		l.talk.note(e.From, m)
	}
	return e, nil
}

// speaks reports whether a message, however faulty, asks or answers something.
func speaks(m schemas.Message) bool { return m.Method != "" || m.Result != nil || m.Error != nil }

// pair reads two files, one of what each side wrote, and merges them into an
// order that may have been the real one: within a file it is the file's, a
// response comes after its request, a client's notification before the server
// gets on. The header says that the order between the files is not known.
type pair struct {
	sides  [2]*half
	header trace.Header
	talk   *conversation
	begun  bool // the client has sent a message
	seq    int64
}

// half is one file and its next event.
type half struct {
	from   trace.Side
	reader *reader
	loaded bool
	ended  bool
	event  trace.Event
	msg    schemas.Message
}

func newPair(client, server *file, o Options) (*pair, error) {
	if len(client.start) == 0 && len(server.start) == 0 {
		return nil, fmt.Errorf("%s, %s: both files are empty", client.name, server.name)
	}
	for _, f := range []*file{client, server} {
		if at := binaryAt(f.start); at >= 0 && f.firstMessage() == nil {
			return nil, fmt.Errorf("%s: binary data at offset %d, where JSON-RPC messages one a line are wanted", f.name, at)
		}
	}
	p := &pair{talk: newConversation(), header: header(o, client, trace.Stdio, trace.LackOrder)}
	p.sides[0] = &half{from: trace.Client, reader: newReader(client, o)}
	p.sides[1] = &half{from: trace.Server, reader: newReader(server, o)}
	return p, nil
}

func (p *pair) Header() trace.Header { return p.header }

func (h *half) load() error {
	if h.loaded || h.ended {
		return nil
	}
	var err error
	h.event, h.msg, err = h.reader.next()
	if errors.Is(err, io.EOF) {
		h.ended = true
		return nil
	}
	h.event.From = h.from
	h.loaded = err == nil
	return err
}

func (p *pair) Next() (trace.Event, error) {
	for _, h := range p.sides {
		if err := h.load(); err != nil {
			return trace.Event{}, err
		}
	}
	h := p.choose()
	if h == nil {
		return trace.Event{}, io.EOF
	}
	h.loaded = false
	p.begun = p.begun || h.from == trace.Client && h.event.Kind == trace.KindMessage
	p.talk.note(h.from, h.msg)
	p.seq++
	h.event.Seq = p.seq
	return h.event, nil
}

// choose returns the file whose line comes next.
func (p *pair) choose() *half {
	client, server := p.sides[0], p.sides[1]
	switch {
	case client.ended && server.ended:
		return nil
	case client.ended:
		return server
	case server.ended:
		return client
	case server.event.Kind == trace.KindNoise:
		return server
	case client.event.Kind == trace.KindNoise, client.msg.Kind == schemas.Notification, !p.begun:
		return client
	case isResponse(client.msg) && p.talk.answers(trace.Client, client.msg):
		return client
	case p.talk.answers(trace.Server, server.msg):
		return server
	case isResponse(client.msg):
		return server // an answer to what the server has not asked yet
	}
	return client
}
