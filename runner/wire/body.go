package wire

import (
	"io"
	"strings"

	"github.com/mcp-conform/mcp-conform/trace"
	"github.com/mcp-conform/mcp-conform/trace/sse"
)

// body reports the bytes of one HTTP body as they pass: the items of an event
// stream each as it is completed, anything else as one payload at the end.
// It is not safe for concurrent use.
type body struct {
	rep      *reporter
	exchange string
	from     trace.Side
	sawID    func(id string) // called before the event with that id is reported; may be nil

	n      int64        // bytes seen
	stream *sse.Decoder // nil unless the body is an event stream
	rest   []byte
	over   int64
}

func newBody(rep *reporter, exchange string, from trace.Side, contentType string, sawID func(string)) *body {
	b := &body{rep: rep, exchange: exchange, from: from, sawID: sawID}
	if isEventStream(contentType) {
		b.stream = sse.NewDecoder(rep.limits.Message, b.item)
	}
	return b
}

// isEventStream looks at the media type alone: parameters and letter case do
// not change it (RFC 9110, section 8.3.1).
func isEventStream(contentType string) bool {
	media, _, _ := strings.Cut(contentType, ";")
	return strings.EqualFold(strings.TrimSpace(media), "text/event-stream")
}

// Write takes the next bytes. It never fails.
func (b *body) Write(p []byte) (int, error) {
	b.n += int64(len(p))
	if b.stream != nil {
		return b.stream.Write(p)
	}
	keep := p
	if room := b.rep.limits.Message - len(b.rest); len(keep) > room {
		b.over += int64(len(keep) - room)
		keep = keep[:room]
	}
	b.rest = append(b.rest, keep...)
	return len(p), nil
}

// copyBody passes a body on until its end or until nothing more would be kept;
// its end is no error.
func copyBody(rep *reporter, b *body, from io.Reader) error {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		rep.take(0, n)
		b.Write(buf[:n])
		if err == io.EOF || b.full() {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// full says that nothing that follows would be kept.
func (b *body) full() bool { return b.over > 0 }

// Close reports what is left. An empty body is no event.
func (b *body) Close() {
	switch {
	case b.stream != nil:
		b.stream.Close()
	case b.n > 0:
		b.rep.payload(trace.Event{From: b.from, Exchange: b.exchange, Data: b.rest}, b.over)
	}
	b.rest = nil
}

func (b *body) item(it sse.Item) {
	e := trace.Event{From: b.from, Exchange: b.exchange}
	it.Fill(&e)
	if it.Dropped > 0 {
		e.Data, e.Note = cut(e.Data, it.Dropped, b.rep.limits.Message)
	} else if it.Incomplete {
		e.Note = "the stream ended before the blank line that ends an event"
	}
	if b.sawID != nil && it.ID != nil && !it.Incomplete {
		b.sawID(*it.ID)
	}
	b.rep.emit(e)
}
