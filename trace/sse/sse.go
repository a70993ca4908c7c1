// Package sse decodes server-sent events by the rules of the WHATWG HTML
// standard (section 9.2.6, "Interpreting an event stream"): LF, CR and CRLF all
// end a line, one leading byte order mark is dropped, several data lines are
// joined by LF, unknown fields are ignored.
//
// It differs from a browser in what it tells: a browser dispatches events that
// have data and stays silent about the rest, while a trace has to show the
// comments, the lone id or retry fields and the event that was cut off by the
// end of the stream too. So every block of lines becomes one [Item], and the
// item says what it is.
//
//	r := sse.NewReader(resp.Body)
//	for {
//		item, err := r.Next() // io.EOF at the end of the stream
//		…
//	}
//
// [Decoder] is the same for bytes that are pushed, as by a proxy that copies
// them on. Both yield an item as soon as the blank line that ends it has been
// seen, even if that line ends in a CR whose LF may still follow.
//
// The package encodes nothing and opens no connection.
package sse

import (
	"bytes"
	"strconv"

	"github.com/mcp-conform/mcp-conform/trace"
)

// Item is one block of lines: a dispatched event, or something less.
type Item struct {
	Data    []byte // the data lines, joined by LF; a copy, never nil when HasData
	HasData bool   // whether there was a data line: "data:" alone is an event with empty data
	ID      *string
	Event   string // "" when the block had no event field
	Retry   *int   // milliseconds
	Comment bool   // there were comment lines and nothing else
	// Incomplete says that the stream ended before the blank line. A client
	// never sees such an event.
	Incomplete bool
	// Dropped counts the bytes of data that exceeded the limit and were not kept.
	Dropped int64
}

// Dispatched reports whether a client sees the item as an event.
func (it Item) Dispatched() bool { return it.HasData && !it.Incomplete }

// Message reports whether a client of MCP takes the data for a message: the
// event is dispatched, its data is not empty (an event with empty data only
// primes the stream, 2025-11-25 basic/transports#sending-messages-to-the-server)
// and its type is the default one (a 2024-11-05 stream also has an endpoint
// event, and some servers send events of type ping).
func (it Item) Message() bool {
	return it.Dispatched() && len(it.Data) > 0 && (it.Event == "" || it.Event == "message")
}

// Fields returns what a trace keeps of the item beside its data.
func (it Item) Fields() *trace.SSE {
	return &trace.SSE{ID: it.ID, Event: it.Event, Retry: it.Retry, Comment: it.Comment}
}

// Fill sets the kind, the data and the fields of e from the item.
func (it Item) Fill(e *trace.Event) {
	e.SSE, e.Data = it.Fields(), it.Data
	switch {
	case !it.Message():
		e.Kind = trace.KindSSE
	case it.Dropped > 0:
		e.Kind = trace.KindNoise
	default:
		e.Kind = trace.PayloadKind(it.Data)
	}
}

// DefaultLimit bounds the data of one event that is kept in memory.
const DefaultLimit = 64 << 20

// Decoder takes the bytes of a stream as they arrive and calls emit for each
// item. The zero Decoder is not ready: use [NewDecoder]. It is not safe for
// concurrent use.
type Decoder struct {
	emit  func(Item)
	limit int

	line    []byte // the unfinished line
	excess  int64  // bytes of the unfinished line that were not kept
	afterCR bool   // the last byte was a CR: an LF that follows belongs to it
	begun   bool   // past a byte order mark, if any

	item    Item
	fields  bool // the block has a line that is not a comment
	comment bool
	lastID  string
}

// NewDecoder returns a decoder that calls emit. An event may have limit bytes
// of data; what exceeds that is counted and dropped. Zero means [DefaultLimit].
func NewDecoder(limit int, emit func(Item)) *Decoder {
	if limit <= 0 {
		limit = DefaultLimit
	}
	return &Decoder{emit: emit, limit: limit}
}

// Write takes the next bytes of the stream. It never fails.
func (d *Decoder) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		if d.afterCR {
			d.afterCR = false
			if p[0] == '\n' {
				p = p[1:]
				continue
			}
		}
		i := bytes.IndexAny(p, "\r\n")
		if i < 0 {
			d.keep(p)
			break
		}
		d.keep(p[:i])
		d.afterCR = p[i] == '\r'
		p = p[i+1:]
		d.endLine()
	}
	return n, nil
}

// Close says that the stream ended. What came after the last blank line is
// reported as an incomplete item; a client discards it.
func (d *Decoder) Close() {
	if len(d.line) > 0 {
		d.endLine()
	}
	if d.fields || d.comment {
		d.item.Incomplete = true
		d.dispatch()
	}
}

// LastID returns the last event ID as a client would send it in Last-Event-ID.
func (d *Decoder) LastID() string { return d.lastID }

// keep appends to the unfinished line, up to the limit. Names and the colon
// need a little room beside the data.
func (d *Decoder) keep(p []byte) {
	const names = 64
	if room := d.limit + names - len(d.line); len(p) > room {
		d.excess += int64(len(p) - room)
		p = p[:room]
	}
	d.line = append(d.line, p...)
}

func (d *Decoder) endLine() {
	line, excess := d.line, d.excess
	d.line, d.excess = d.line[:0], 0
	if cap(d.line) > 1<<20 {
		d.line = nil // do not hold on to the largest line ever seen
	}
	if !d.begun {
		d.begun = true
		line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
	}
	switch {
	case len(line) == 0:
		if d.fields || d.comment {
			d.dispatch()
		}
	case line[0] == ':':
		d.comment = true
	default:
		d.fields = true
		name, value, _ := bytes.Cut(line, []byte(":"))
		d.field(string(name), bytes.TrimPrefix(value, []byte(" ")), excess)
	}
}

func (d *Decoder) field(name string, value []byte, excess int64) {
	switch name {
	case "data":
		if d.item.HasData {
			d.item.Data = append(d.item.Data, '\n')
		}
		d.item.HasData = true
		if room := max(0, d.limit-len(d.item.Data)); len(value) > room {
			excess += int64(len(value) - room)
			value = value[:room]
		}
		if d.item.Data == nil {
			d.item.Data = make([]byte, 0, len(value))
		}
		d.item.Data = append(d.item.Data, value...)
		d.item.Dropped += excess
	case "event":
		d.item.Event = string(value)
	case "id":
		if bytes.IndexByte(value, 0) < 0 { // the standard ignores an id with a NUL
			id := string(value)
			d.item.ID = &id
		}
	case "retry":
		if ms, ok := digits(value); ok {
			d.item.Retry = &ms
		}
	}
}

// digits reads ASCII digits and nothing else, as the standard demands for retry.
func digits(b []byte) (int, bool) {
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
	}
	n, err := strconv.Atoi(string(b))
	return n, err == nil
}

func (d *Decoder) dispatch() {
	it := d.item
	it.Comment = d.comment && !d.fields
	if it.ID != nil && !it.Incomplete {
		d.lastID = *it.ID
	}
	d.item, d.fields, d.comment = Item{}, false, false
	d.emit(it)
}
