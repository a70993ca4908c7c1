package trace

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"time"
	"unicode/utf16"
	"unicode/utf8"
)

// decoder reads one line of a trace file. It is written by hand because a
// trace is nearly all payload: to a general decoder each message is a string to
// be copied several times, and a capture of gigabytes waits for that. It is
// stricter, too: keys are exact and stand once, and the text is UTF-8.
type decoder struct{ scanner }

// decodeEvent reads an event.
func decodeEvent(b []byte) (Event, error) {
	d := decoder{scanner{b: b}}
	d.space()
	e, err := d.event()
	if err != nil {
		return e, err
	}
	if d.space(); d.i != len(b) {
		return e, fmt.Errorf("more text after the JSON object: %.20q", b[d.i:])
	}
	return e, checkEvent(e)
}

func (d *decoder) event() (Event, error) {
	var e Event
	numbered := false
	err := d.object(func(key string) (err error) {
		switch key {
		case "seq":
			numbered = true
			e.Seq, err = d.integer()
		case "time":
			e.Time, err = d.time()
		case "kind":
			var s string
			s, err = d.text()
			e.Kind = Kind(s)
		case "from":
			var s string
			s, err = d.text()
			e.From = Side(s)
		case "conn":
			e.Conn, err = d.octets()
		case "exchange":
			e.Exchange, err = d.octets()
		case "text", "base64":
			if e.Data != nil {
				return errors.New("both text and base64")
			}
			e.Data, err = d.bytes(key == "base64")
		case "http":
			e.HTTP, err = d.head()
		case "sse":
			e.SSE, err = d.sse()
		case "end":
			e.End, err = d.end()
		case "note":
			e.Note, err = d.octets()
		case "masked":
			e.Masked, err = d.list()
		default:
			err = errUnknown
		}
		return err
	})
	if err == nil && !numbered {
		err = errors.New("no seq")
	}
	return e, err
}

func (d *decoder) head() (*Head, error) {
	h := &Head{}
	return h, d.object(func(key string) (err error) {
		switch key {
		case "method":
			h.Method, err = d.octets()
		case "url":
			h.URL, err = d.octets()
		case "status":
			h.Status, err = d.int()
		case "headers":
			err = d.array(func() error {
				p, err := d.list()
				if err == nil && len(p) != 2 {
					err = fmt.Errorf("a header is a pair of name and value, not %d strings", len(p))
				}
				if err == nil {
					h.Headers = append(h.Headers, [2]string{p[0], p[1]})
				}
				return err
			})
		default:
			err = errUnknown
		}
		return err
	})
}

func (d *decoder) sse() (*SSE, error) {
	s := &SSE{}
	return s, d.object(func(key string) (err error) {
		switch key {
		case "id":
			var id string
			id, err = d.octets()
			s.ID = &id
		case "event":
			s.Event, err = d.octets()
		case "retry":
			var n int
			n, err = d.int()
			s.Retry = &n
		case "comment":
			s.Comment, err = d.bool()
		default:
			err = errUnknown
		}
		return err
	})
}

func (d *decoder) end() (*End, error) {
	e := &End{}
	return e, d.object(func(key string) (err error) {
		switch key {
		case "how":
			e.How, err = d.text()
		case "code":
			e.Code, err = d.int()
		case "signal":
			e.Signal, err = d.text()
		case "bytes":
			e.Bytes, err = d.integer()
		case "afterNs":
			var ns int64
			ns, err = d.integer()
			e.After = time.Duration(ns)
		case "detail":
			e.Detail, err = d.octets()
		default:
			err = errUnknown
		}
		return err
	})
}

// errUnknown is what a member function says of a key that it does not know.
var errUnknown = errors.New("unknown member")

// errSyntax is for text that is no JSON.
var errSyntax = errors.New("no JSON text")

// errType is for a value of another type.
func errType(want string) error { return fmt.Errorf("want %s", want) }

// object reads an object and calls member with each key, at its value.
func (d *decoder) object(member func(key string) error) error {
	if d.peek() != '{' {
		return errType("an object")
	}
	d.i++
	if d.space(); d.peek() == '}' {
		d.i++
		return nil
	}
	var seen []string
	for {
		d.space()
		key, err := d.text()
		if err != nil {
			return errSyntax
		}
		for _, s := range seen {
			if s == key {
				return fmt.Errorf("member %q stands twice", key)
			}
		}
		seen = append(seen, key)
		if d.space(); d.peek() != ':' {
			return errSyntax
		}
		d.i++
		d.space()
		if err := member(key); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		if more, err := d.more('}'); !more || err != nil {
			return err
		}
	}
}

// array reads an array and calls item at each of its values.
func (d *decoder) array(item func() error) error {
	if d.peek() != '[' {
		return errType("an array")
	}
	d.i++
	if d.space(); d.peek() == ']' {
		d.i++
		return nil
	}
	for {
		d.space()
		if err := item(); err != nil {
			return err
		}
		if more, err := d.more(']'); !more || err != nil {
			return err
		}
	}
}

// more reads a comma, or the end.
func (d *decoder) more(end byte) (bool, error) {
	d.space()
	switch d.peek() {
	case ',':
		d.i++
		return true, nil
	case end:
		d.i++
		return false, nil
	}
	return false, errSyntax
}

func (d *decoder) list() ([]string, error) {
	out := []string{}
	err := d.array(func() error {
		s, err := d.octets()
		out = append(out, s)
		return err
	})
	if len(out) == 0 {
		out = nil
	}
	return out, err
}

func (d *decoder) integer() (int64, error) {
	from := d.i
	if d.peek() != '-' && (d.peek() < '0' || d.peek() > '9') || !d.scalar() {
		return 0, errType("an integer")
	}
	n, err := strconv.ParseInt(string(d.b[from:d.i]), 10, 64)
	if err != nil {
		return 0, errType("an integer")
	}
	return n, nil
}

func (d *decoder) int() (int, error) {
	n, err := d.integer()
	if err == nil && int64(int(n)) != n {
		err = errType("a smaller integer")
	}
	return int(n), err
}

func (d *decoder) bool() (bool, error) {
	c := d.peek()
	if c != 't' && c != 'f' || !d.scalar() {
		return false, errType("true or false")
	}
	return c == 't', nil
}

func (d *decoder) time() (time.Time, error) {
	s, err := d.text()
	if err != nil {
		return time.Time{}, err
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return t, errType("a time as 2006-01-02T15:04:05.999999999Z")
	}
	return t.UTC(), nil
}

// octets reads a string, or {"base64": …}.
func (d *decoder) octets() (string, error) {
	if d.peek() != '{' {
		return d.text()
	}
	var raw []byte
	err := d.object(func(key string) (err error) {
		if key != "base64" {
			return errUnknown
		}
		raw, err = d.bytes(true)
		return err
	})
	if err == nil && raw == nil {
		err = errType(`a string or {"base64": …}`)
	}
	return string(raw), err
}

func (d *decoder) text() (string, error) {
	raw, plain, err := d.quoted()
	if err != nil {
		return "", err
	}
	if plain {
		return string(raw), nil
	}
	return string(unquote(raw)), nil
}

// bytes reads a string into bytes of its own, never nil.
func (d *decoder) bytes(base bool) ([]byte, error) {
	raw, plain, err := d.quoted()
	if err != nil {
		return nil, err
	}
	if !base && plain {
		return append(make([]byte, 0, len(raw)), raw...), nil
	}
	if !plain {
		raw = unquote(raw)
	}
	if !base {
		return raw, nil
	}
	out := make([]byte, base64.StdEncoding.DecodedLen(len(raw)))
	n, err := base64.StdEncoding.Strict().Decode(out, raw)
	if err != nil {
		return nil, fmt.Errorf("base64: %w", err)
	}
	return out[:n:n], nil
}

// quoted reads a string and returns the text between its quotes, and whether
// it has no escapes.
func (d *decoder) quoted() (raw []byte, plain bool, err error) {
	if d.peek() != '"' {
		return nil, false, errType("a string")
	}
	at, ok := d.str()
	if !ok {
		return nil, false, errSyntax
	}
	raw = d.b[at.from:at.to]
	if !utf8.Valid(raw) {
		return nil, false, errors.New("the string is not UTF-8")
	}
	plain = true
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		plain = false
		if raw[i+1] != 'u' {
			i++
			continue
		}
		r, size := unicodeEscape(raw[i:])
		if r < 0 {
			return nil, false, errors.New("the string has half a surrogate pair")
		}
		i += size - 1
	}
	return raw, plain, nil
}

// unicodeEscape reads \uXXXX, or two of them that make a pair; -1 is for half a pair.
func unicodeEscape(b []byte) (r rune, size int) {
	r = hex4(b[2:6])
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if len(b) >= 12 && b[6] == '\\' && b[7] == 'u' {
		if r = utf16.DecodeRune(r, hex4(b[8:12])); r != utf8.RuneError {
			return r, 12
		}
	}
	return -1, 6
}

func hex4(b []byte) rune {
	return rune(unhex(b[0]))<<12 | rune(unhex(b[1]))<<8 | rune(unhex(b[2]))<<4 | rune(unhex(b[3]))
}

// unquote replaces the escapes of a string that quoted has accepted.
func unquote(raw []byte) []byte {
	out := make([]byte, 0, len(raw))
	from := 0
	for i := 0; i < len(raw); {
		if raw[i] != '\\' {
			i++
			continue
		}
		out = append(out, raw[from:i]...)
		switch c := raw[i+1]; c {
		case 'u':
			r, size := unicodeEscape(raw[i:])
			out = utf8.AppendRune(out, r)
			i += size
		case 'b':
			out, i = append(out, '\b'), i+2
		case 'f':
			out, i = append(out, '\f'), i+2
		case 'n':
			out, i = append(out, '\n'), i+2
		case 'r':
			out, i = append(out, '\r'), i+2
		case 't':
			out, i = append(out, '\t'), i+2
		default: // a quote, a backslash, a slash
			out, i = append(out, c), i+2
		}
		from = i
	}
	return append(out, raw[from:]...)
}
