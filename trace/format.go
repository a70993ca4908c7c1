package trace

import (
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"
)

// Format and Version are what the header line of a trace file says.
const (
	Format  = "mcp-conform-trace"
	Version = 1
)

// MaxData is the longest data of an event that a [Writer] writes whole: with
// base64 it stays well below [DefaultMaxLine].
const MaxData = 40 << 20

// Schema returns the published JSON Schema (draft 2020-12) of one line of a
// trace file: the header or an event.
func Schema() []byte { return []byte(schema) }

//go:embed trace.schema.json
var schema string

// line is an [Event] as it stands in a file. Data is text where it is valid
// UTF-8, so that traces can be read and searched with everyday tools, and
// base64 where it is not; absent means nil, an empty text means no bytes.
type line struct {
	Seq      int64     `json:"seq"`
	Time     time.Time `json:"time,omitzero"`
	Kind     Kind      `json:"kind"`
	From     Side      `json:"from,omitempty"`
	Conn     octets    `json:"conn,omitempty"`
	Exchange octets    `json:"exchange,omitempty"`
	Text     *text     `json:"text,omitempty"`
	Base64   *string   `json:"base64,omitempty"`
	HTTP     *lineHead `json:"http,omitempty"`
	SSE      *lineSSE  `json:"sse,omitempty"`
	End      *lineEnd  `json:"end,omitempty"`
	Note     octets    `json:"note,omitempty"`
	Masked   []octets  `json:"masked,omitempty"`
}

type lineHead struct {
	Method  octets     `json:"method,omitempty"`
	URL     octets     `json:"url,omitempty"`
	Status  int        `json:"status,omitempty"`
	Headers [][]octets `json:"headers,omitempty"`
}

type lineSSE struct {
	ID      *octets `json:"id,omitempty"`
	Event   octets  `json:"event,omitempty"`
	Retry   *int    `json:"retry,omitempty"`
	Comment bool    `json:"comment,omitempty"`
}

type lineEnd struct {
	How    string `json:"how,omitempty"`
	Code   int    `json:"code,omitempty"`
	Signal string `json:"signal,omitempty"`
	Bytes  int64  `json:"bytes,omitempty"`
	After  int64  `json:"afterNs,omitempty"`
	Detail octets `json:"detail,omitempty"`
}

// octets is a string off the wire: a JSON string where it is valid UTF-8, else
// {"base64": "…"}, since header values in Latin-1 do occur and must come back
// as they were.
type octets string

// text is a valid UTF-8 string that is written by appendString.
type text string

// MarshalJSON writes the string.
func (t text) MarshalJSON() ([]byte, error) { return appendString(nil, string(t)), nil }

// MarshalJSON writes the string, or the object where it is not UTF-8.
func (o octets) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(string(o)) {
		return appendString(nil, string(o)), nil
	}
	return fmt.Appendf(nil, `{"base64":%q}`, base64.StdEncoding.EncodeToString([]byte(o))), nil
}

// appendString appends s, which is valid UTF-8, as a JSON string. It escapes
// what an editor or terminal would hide or act upon: control characters, the
// byte order mark and the Unicode line separators.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' && c < 0x7f {
			i++
			continue
		}
		size, esc := 1, ""
		switch {
		case c == '"':
			esc = `\"`
		case c == '\\':
			esc = `\\`
		case c == '\n':
			esc = `\n`
		case c == '\r':
			esc = `\r`
		case c == '\t':
			esc = `\t`
		case c < utf8.RuneSelf:
			esc = fmt.Sprintf(`\u%04x`, c)
		default:
			var r rune
			r, size = utf8.DecodeRuneInString(s[i:])
			if r == '\ufeff' || r == '\u2028' || r == '\u2029' || r >= 0x80 && r < 0xa0 {
				esc = fmt.Sprintf(`\u%04x`, r)
			}
		}
		if esc != "" {
			b = append(append(b, s[from:i]...), esc...)
			from = i + size
		}
		i += size
	}
	return append(append(b, s[from:]...), '"')
}

// escaped returns an upper bound for the length of b as a JSON string.
func escaped(b []byte) int {
	n := len(b)
	for _, c := range b {
		switch {
		case c == '"', c == '\\', c == '\n', c == '\r', c == '\t':
			n++
		case c < 0x20 || c >= 0x7f:
			n += 5
		}
	}
	return n
}

func toLine(e Event, limit int) line {
	l := line{
		Seq: e.Seq, Time: e.Time.Round(0).UTC(), Kind: e.Kind, From: e.From,
		Conn: octets(e.Conn), Exchange: octets(e.Exchange), HTTP: toLineHead(e.HTTP), Note: octets(e.Note),
	}
	if e.Data != nil {
		if utf8.Valid(e.Data) && (len(e.Data) < limit/8 || escaped(e.Data) < limit*4/3) {
			s := text(e.Data)
			l.Text = &s
		} else {
			s := base64.StdEncoding.EncodeToString(e.Data)
			l.Base64 = &s
		}
	}
	if s := e.SSE; s != nil {
		l.SSE = &lineSSE{ID: (*octets)(s.ID), Event: octets(s.Event), Retry: s.Retry, Comment: s.Comment}
	}
	if x := e.End; x != nil {
		l.End = &lineEnd{How: x.How, Code: x.Code, Signal: x.Signal, Bytes: x.Bytes, After: int64(x.After), Detail: octets(x.Detail)}
	}
	for _, m := range e.Masked {
		l.Masked = append(l.Masked, octets(m))
	}
	return l
}

func toLineHead(h *Head) *lineHead {
	if h == nil {
		return nil
	}
	l := &lineHead{Method: octets(h.Method), URL: octets(h.URL), Status: h.Status}
	for _, p := range h.Headers {
		l.Headers = append(l.Headers, []octets{octets(p[0]), octets(p[1])})
	}
	return l
}

// checkEvent refuses what makes no event of the format, on the way out and in.
func checkEvent(e Event) error {
	switch e.Kind {
	case KindMessage, KindSSE, KindNoise, KindStderr, KindClosed:
	case KindHTTP:
		if e.HTTP == nil {
			return errors.New("kind http without http")
		}
	case "":
		return errors.New("no kind")
	default:
		return fmt.Errorf("unknown kind %q", e.Kind)
	}
	if e.From != Client && e.From != Server && e.From != "" {
		return fmt.Errorf(`from is %q, want "client" or "server"`, e.From)
	}
	return nil
}
