package capture

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
	"github.com/mcp-conform/mcp-conform/trace/sse"
)

// har reads an HTTP Archive 1.2, one entry at a time. Of the entries it keeps
// those that are MCP by their body, their headers or their address, and leaves
// out preflights, pages and whatever else the browser fetched.
//
// An archive holds parsed text, so bytes that are not UTF-8 are lost (LackBytes),
// and it says nothing of how connections ended (LackClose). It has a time for
// the start and the end of an exchange, none for an event within a stream: the
// messages of a stream come when it ends, or just before the client's answer to
// them (LackOrder). A response body that is missing was not captured; that is
// never taken for an empty answer, and its exchange has no end in the trace.
type har struct {
	dec     *json.Decoder
	name    string
	base    int64 // bytes before the decoder's input: a byte order mark
	header  trace.Header
	first   *entry // read ahead by newHAR
	entries int    // read so far, MCP or not
	kept    int
	conns   map[string]string // connection by address
	queue   []trace.Event     // ready to be handed out
	streams []*stream         // answers that are not handed out yet
	done    error             // what Next returns when the queue is empty
	seq     int64
}

// stream is the rest of an answer: events in order, each with the time at which
// it is due; the zero time means at the end of the archive.
type stream struct {
	events []trace.Event
	due    []time.Time
}

// entry is what we read of an archive's entry.
type entry struct {
	Started time.Time `json:"startedDateTime"`
	Time    float64   `json:"time"`
	Request struct {
		Method   string `json:"method"`
		URL      string `json:"url"`
		Headers  []pairOf
		BodySize *int64 `json:"bodySize"`
		PostData *body  `json:"postData"`
	} `json:"request"`
	Response struct {
		Status   int `json:"status"`
		Headers  []pairOf
		BodySize *int64 `json:"bodySize"`
		Content  body   `json:"content"`
		Error    string `json:"_error"` // Chromium
	} `json:"response"`
	Timings struct{ Blocked, DNS, Connect, Send, Wait float64 } `json:"timings"`
}

type pairOf struct{ Name, Value string }

type body struct {
	MimeType string `json:"mimeType"`
	Size     int64  `json:"size"`
	Text     string `json:"text"`
	Encoding string `json:"encoding"`
}

// data returns the bytes of the body.
func (b *body) data() ([]byte, error) {
	if b == nil {
		return nil, nil
	}
	if b.Encoding != "base64" {
		return []byte(b.Text), nil
	}
	raw, err := base64.StdEncoding.DecodeString(b.Text)
	if err != nil {
		return nil, fmt.Errorf("body in base64: %w", err)
	}
	return raw, nil
}

// newHAR finds the entries and reads up to the first that is MCP, which tells
// the transport and whether the capture begins at the beginning.
func newHAR(f *file) (source, error) {
	h := &har{name: f.name, conns: map[string]string{}}
	in := bufio.NewReader(f)
	if mark, _ := in.Peek(3); bytes.Equal(mark, []byte("\xef\xbb\xbf")) {
		h.base = 3
		in.Discard(3) // just peeked
	}
	h.dec = json.NewDecoder(in)
	if err := h.findEntries(); err != nil {
		return nil, err
	}
	first, err := h.nextEntry()
	if err == io.EOF {
		return nil, fmt.Errorf("%s: none of the %d entries of the archive is MCP over HTTP", h.name, h.entries)
	}
	if err != nil {
		return nil, err
	}
	h.first = first
	h.header = trace.Header{
		Format: trace.Format, Version: trace.Version, Made: "import:har", Transport: trace.StreamableHTTP, Started: first.Started,
		Lacks: []trace.Lack{trace.LackBytes, trace.LackOrder, trace.LackClose},
	}
	if m, ok := first.message(); !ok || !opens(m) {
		h.header.Lacks = append(h.header.Lacks, trace.LackStart)
	}
	if items := first.items(); first.Request.Method == "GET" && len(items) > 0 && items[0].Event == "endpoint" {
		h.header.Transport = trace.HTTPSSE
		h.header.Lacks = h.header.Lacks[:3]
	}
	return h, nil
}

func (h *har) Header() trace.Header { return h.header }

// fault places an error by offset, for an archive may be one line of megabytes.
func (h *har) fault(err error) error {
	at := h.base + h.dec.InputOffset()
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%s: offset %d: the file is truncated after %d complete entries", h.name, at, h.entries)
	}
	return fmt.Errorf("%s: offset %d: entry %d of the archive: %w", h.name, at, h.entries+1, err)
}

// findEntries moves the decoder into log.entries.
func (h *har) findEntries() error {
	if err := h.enter("log", '{'); err != nil {
		return err
	}
	return h.enter("entries", '[')
}

// enter reads the opening brace and then members up to the one that is named,
// whose value must begin with open; that is left to the next call, or read if
// it is a bracket.
func (h *har) enter(name string, open json.Delim) error {
	if t, err := h.dec.Token(); err != nil || t != json.Delim('{') {
		return h.noHAR(err)
	}
	for h.dec.More() {
		key, err := h.dec.Token()
		if err != nil {
			return h.noHAR(err)
		}
		if key != name {
			var skipped json.RawMessage
			if err := h.dec.Decode(&skipped); err != nil {
				return h.noHAR(err)
			}
			continue
		}
		if open == '{' {
			return nil
		}
		if t, err := h.dec.Token(); err != nil || t != open {
			return h.noHAR(err)
		}
		return nil
	}
	return h.noHAR(nil)
}

func (h *har) noHAR(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return h.fault(err)
	}
	if err == nil {
		err = errors.New("there is no array log.entries")
	}
	return fmt.Errorf("%s: offset %d: not an HTTP Archive: %w", h.name, h.base+h.dec.InputOffset(), err)
}

// nextEntry returns the next entry that is MCP.
func (h *har) nextEntry() (*entry, error) {
	if e := h.first; e != nil {
		h.first = nil
		return e, nil
	}
	for h.dec.More() {
		e := &entry{}
		if err := h.dec.Decode(e); err != nil {
			return nil, h.fault(err)
		}
		h.entries++
		if h.wants(e) {
			return e, nil
		}
	}
	if _, err := h.dec.Token(); err != nil { // the closing bracket
		return nil, h.fault(err)
	}
	return nil, io.EOF
}

// wants reports whether an entry is MCP, and gives its address a connection.
func (h *har) wants(e *entry) bool {
	method, address := e.Request.Method, address(e.Request.URL)
	if method == "OPTIONS" || method == "CONNECT" || !e.requestCaptured() {
		return false
	}
	known := h.conns[address] != ""
	if !known {
		_, isMessage := e.message()
		known = isMessage || e.hasMCPHeader() || e.streamsMCP()
	}
	if !known {
		return false
	}
	h.connect(address, "")
	for _, it := range e.items() {
		if it.Event == "endpoint" { // 2024-11-05: messages are posted there
			if base, err := url.Parse(e.Request.URL); err == nil {
				if u, err := base.Parse(string(it.Data)); err == nil {
					h.connect(addressOf(u), h.conns[address])
				}
			}
		}
	}
	return true
}

func (h *har) connect(address, conn string) {
	if h.conns[address] != "" {
		return
	}
	if conn == "" {
		conn = fmt.Sprintf("c%d", len(h.conns)+1)
	}
	h.conns[address] = conn
}

// address is a URL without what differs between requests to one endpoint.
func address(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return raw
	}
	return addressOf(u)
}

func addressOf(u *url.URL) string { return u.Scheme + "://" + u.Host + u.EscapedPath() }

// requestCaptured is false for a body that was sent and is not in the archive;
// such an exchange would look like an answer to nothing.
func (e *entry) requestCaptured() bool {
	if e.Request.PostData != nil && e.Request.PostData.Text != "" {
		return true
	}
	return e.Request.Method != "POST" || e.Request.BodySize == nil || *e.Request.BodySize == 0
}

// message returns the message that the request carries.
func (e *entry) message() (schemas.Message, bool) {
	data, err := e.Request.PostData.data()
	if err != nil || trace.PayloadKind(data) != trace.KindMessage {
		return schemas.Message{}, false
	}
	m := schemas.Classify(data)
	return m, m.Kind != schemas.Invalid && (m.Kind != schemas.Batch || len(m.Batch) > 0 && m.Batch[0].Kind != schemas.Invalid)
}

func (e *entry) hasMCPHeader() bool {
	for _, p := range append(e.Request.Headers, e.Response.Headers...) {
		if strings.HasPrefix(strings.ToLower(p.Name), "mcp-") {
			return true
		}
	}
	return false
}

// isStream reports whether the answer is an event stream.
func (e *entry) isStream() bool {
	kind := e.Response.Content.MimeType
	for _, p := range e.Response.Headers {
		if strings.EqualFold(p.Name, "content-type") {
			kind = p.Value
		}
	}
	media, _, err := mime.ParseMediaType(kind)
	return err == nil && media == "text/event-stream"
}

// items decodes the answer if it is an event stream.
func (e *entry) items() []sse.Item {
	if !e.isStream() {
		return nil
	}
	data, err := e.Response.Content.data()
	if err != nil {
		return nil
	}
	var items []sse.Item
	d := sse.NewDecoder(0, func(it sse.Item) { items = append(items, it) })
	d.Write(data)
	d.Close()
	return items
}

// streamsMCP recognises a stream by what it carries.
func (e *entry) streamsMCP() bool {
	for _, it := range e.items() {
		if it.Event == "endpoint" || it.Message() && schemas.Classify(it.Data).Kind != schemas.Invalid {
			return true
		}
	}
	return false
}

func head(method, url string, status int, headers []pairOf) *trace.Head {
	h := &trace.Head{Method: method, URL: url, Status: status}
	for _, p := range headers {
		if !strings.HasPrefix(p.Name, ":") { // HTTP/2 and 3: method, path and status, which we have
			h.Headers = append(h.Headers, [2]string{p.Name, p.Value})
		}
	}
	return h
}

func (h *har) Next() (trace.Event, error) {
	for len(h.queue) == 0 {
		if h.done != nil {
			return trace.Event{}, h.done
		}
		e, err := h.nextEntry()
		if err == nil {
			err = h.take(e)
		}
		if err != nil { // the end, or a broken file: the rest of the open answers is still good
			h.done = err
			h.flush(time.Time{})
		}
	}
	e := h.queue[0]
	h.queue = h.queue[1:]
	h.seq++
	e.Seq = h.seq
	return e, nil
}

// take queues what an entry sent, after all that was answered before it, and
// keeps its answer until that is due.
func (h *har) take(e *entry) error {
	data, err := e.Request.PostData.data()
	if err != nil {
		return h.fault(err)
	}
	h.flush(e.Started)
	if m, ok := e.message(); ok {
		h.flushAsked(m)
	}
	h.kept++
	at := trace.Event{Time: e.Started, Kind: trace.KindHTTP, From: trace.Client, Conn: h.conns[address(e.Request.URL)], Exchange: fmt.Sprintf("x%d", h.kept)}
	sent := at
	sent.HTTP = head(e.Request.Method, e.Request.URL, 0, e.Request.Headers)
	h.queue = append(h.queue, sent)
	if len(data) > 0 {
		sent := at
		sent.Kind, sent.Data = trace.PayloadKind(data), data
		h.queue = append(h.queue, sent)
	}
	at.From = trace.Server
	answer, err := e.answer(at)
	if err != nil {
		return h.fault(err)
	}
	h.streams = append(h.streams, answer)
	return nil
}

// answer returns the events of the answer: its head, its body, its end.
func (e *entry) answer(at trace.Event) (*stream, error) {
	s := &stream{}
	t := e.Timings
	begun := e.Started.Add(millis(max(0, t.Blocked) + max(0, t.DNS) + max(0, t.Connect) + max(0, t.Send) + max(0, t.Wait)))
	var end time.Time
	if e.Time > 0 {
		end = e.Started.Add(millis(e.Time))
		if begun.After(end) {
			begun = end
		}
	}
	add := func(due time.Time, ev trace.Event) {
		s.events, s.due = append(s.events, ev), append(s.due, due)
	}
	at.Time = begun
	if e.Response.Status == 0 {
		if e.Response.Error != "" {
			at.Kind, at.Time, at.End = trace.KindClosed, end, &trace.End{How: "error", Detail: e.Response.Error}
			add(end, at)
		}
		return s, nil
	}
	at.HTTP = head("", "", e.Response.Status, e.Response.Headers)
	add(begun, at)
	at.HTTP, at.Time = nil, end

	data, err := e.Response.Content.data()
	if err != nil {
		return nil, err
	}
	items := e.items()
	for _, it := range items {
		ev := at
		ev.Time = time.Time{} // not in the archive
		it.Fill(&ev)
		add(end, ev)
	}
	whole := e.responseWhole(data)
	if !e.isStream() && len(data) > 0 && (whole || trace.PayloadKind(data) == trace.KindMessage) {
		ev := at
		ev.Kind, ev.Data = trace.PayloadKind(data), data
		add(end, ev)
	}
	if whole && !end.IsZero() {
		at.Kind, at.End = trace.KindClosed, &trace.End{How: "eof", Bytes: int64(len(data))}
		add(end, at)
	}
	return s, nil
}

func millis(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }

// responseWhole reports whether the archive holds the whole body. An empty one
// does so only if the status has no body, or the archive says in so many words
// that nothing was sent; tools leave bodies of streams out, and cut long ones.
func (e *entry) responseWhole(data []byte) bool {
	switch status := e.Response.Status; {
	case status < 200, status == 204, status == 304, e.Request.Method == "HEAD":
		return true
	case len(data) > 0:
		return int64(len(data)) >= e.Response.Content.Size
	case status == 202 || e.Request.Method == "DELETE":
		return e.Response.Content.Size <= 0
	}
	return !e.isStream() && e.Response.Content.Size <= 0 && e.Response.BodySize != nil && *e.Response.BodySize == 0
}

// flush queues what is due by now, in order of time; the zero time means everything.
func (h *har) flush(now time.Time) {
	for {
		var next *stream
		for _, s := range h.streams {
			if len(s.events) > 0 && (now.IsZero() || !s.due[0].IsZero() && !s.due[0].After(now)) && (next == nil || before(s.due[0], next.due[0])) {
				next = s
			}
		}
		if next == nil {
			break
		}
		h.move(next, 1)
	}
	h.streams = slices.DeleteFunc(h.streams, func(s *stream) bool { return len(s.events) == 0 })
}

// before orders times, with the zero time as the latest.
func before(a, b time.Time) bool { return !a.IsZero() && (b.IsZero() || a.Before(b)) }

func (h *har) move(s *stream, n int) {
	h.queue = append(h.queue, s.events[:n]...)
	s.events, s.due = s.events[n:], s.due[n:]
}

// flushAsked queues, when the client posts answers, the events of open streams
// up to the requests that are answered: they must have come before.
func (h *har) flushAsked(m schemas.Message) {
	for _, m := range members(m) {
		if !isResponse(m) {
			continue
		}
		for _, s := range h.streams {
			if i := slices.IndexFunc(s.events, func(e trace.Event) bool { return asks(e, m.ID) }); i >= 0 {
				h.move(s, i+1)
				break
			}
		}
	}
}

// asks reports whether e is a request with that id.
func asks(e trace.Event, id json.RawMessage) bool {
	if e.Kind != trace.KindMessage {
		return false
	}
	return slices.ContainsFunc(members(schemas.Classify(e.Data)), func(m schemas.Message) bool {
		return m.Kind == schemas.Request && schemas.SameID(m.ID, id)
	})
}
