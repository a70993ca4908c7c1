package trace

import "bytes"

// PayloadKind decides what bytes are that stand where a message belongs:
// [KindMessage] for one JSON text that is an object or an array, with nothing
// but white space around it, else [KindNoise].
//
// It is deliberately lenient about everything that a stricter reader has to
// report on a message rather than on noise: a leading byte order mark, invalid
// UTF-8 and lone surrogates inside strings, duplicate keys, any depth of
// nesting, any size of number.
func PayloadKind(b []byte) Kind {
	s := newScanner(b)
	s.space()
	if c := s.peek(); c != '{' && c != '[' {
		return KindNoise
	}
	if !s.value(nil) {
		return KindNoise
	}
	if s.space(); s.i != len(b) {
		return KindNoise
	}
	return KindMessage
}

// scanner walks over a JSON text without recursion and without building
// values. It is the grammar of RFC 8259, minus the demand for UTF-8.
type scanner struct {
	b     []byte
	i     int
	stack []bool // open containers: true for an object
}

// newScanner returns a scanner of b, past a byte order mark.
func newScanner(b []byte) *scanner {
	s := &scanner{b: b}
	if bytes.HasPrefix(b, []byte("\xef\xbb\xbf")) {
		s.i = 3
	}
	return s
}

// visitor is called for each object member: depth is the number of open
// containers, key and val are the places of the texts between the quotes; val
// is empty unless the value is a string.
type visitor func(depth int, key, val span)

type span struct{ from, to int }

func (s *scanner) peek() byte {
	if s.i < len(s.b) {
		return s.b[s.i]
	}
	return 0
}

func (s *scanner) space() {
	for s.i < len(s.b) {
		switch s.b[s.i] {
		case ' ', '\t', '\n', '\r':
			s.i++
		default:
			return
		}
	}
}

// value reads one value. visit may be nil; it is called for every member, with
// an empty val unless the value is a string.
func (s *scanner) value(visit visitor) bool {
	for {
		// Here a value is due.
		s.space()
		switch s.peek() {
		case '{', '[':
			object := s.b[s.i] == '{'
			s.i++
			s.space()
			if c := s.peek(); c == '}' && object || c == ']' && !object {
				s.i++
				break
			}
			s.stack = append(s.stack, object)
			if object && !s.key(visit) {
				return false
			}
			continue
		case '"':
			if _, ok := s.str(); !ok {
				return false
			}
		default:
			if !s.scalar() {
				return false
			}
		}
		more, ok := s.after(visit)
		if !more || !ok {
			return ok
		}
	}
}

// after follows a finished value: it closes containers and moves on to the
// next value, if there is one.
func (s *scanner) after(visit visitor) (more, ok bool) {
	for len(s.stack) > 0 {
		object := s.stack[len(s.stack)-1]
		s.space()
		c := s.peek()
		switch {
		case c == ',':
			s.i++
			if object {
				s.space()
				return true, s.key(visit)
			}
			return true, true
		case c == '}' && object, c == ']' && !object:
			s.i++
			s.stack = s.stack[:len(s.stack)-1]
		default:
			return false, false
		}
	}
	return false, true
}

// key reads a member's name and its colon, and shows the member to visit.
func (s *scanner) key(visit visitor) bool {
	key, ok := s.str()
	if !ok {
		return false
	}
	if s.space(); s.peek() != ':' {
		return false
	}
	s.i++
	if visit == nil {
		return true
	}
	s.space()
	var val span
	if s.peek() == '"' {
		ahead := scanner{b: s.b, i: s.i}
		if val, ok = ahead.str(); !ok {
			return false
		}
	}
	visit(len(s.stack), key, val)
	return true
}

// str reads a string and returns the place of the text between its quotes.
func (s *scanner) str() (span, bool) {
	if s.peek() != '"' {
		return span{}, false
	}
	s.i++
	from := s.i
	for s.i < len(s.b) {
		switch c := s.b[s.i]; {
		case c == '"':
			s.i++
			return span{from, s.i - 1}, true
		case c == '\\':
			if !s.escape() {
				return span{}, false
			}
		case c < 0x20:
			return span{}, false
		default:
			s.i++
		}
	}
	return span{}, false
}

func (s *scanner) escape() bool {
	if s.i+1 >= len(s.b) {
		return false
	}
	switch s.b[s.i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		s.i += 2
		return true
	case 'u':
		if s.i+6 > len(s.b) {
			return false
		}
		for _, c := range s.b[s.i+2 : s.i+6] {
			if !('0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F') {
				return false
			}
		}
		s.i += 6
		return true
	}
	return false
}

// scalar reads a number or one of the three words.
func (s *scanner) scalar() bool {
	for _, word := range []string{"true", "false", "null"} {
		if len(s.b)-s.i >= len(word) && string(s.b[s.i:s.i+len(word)]) == word {
			s.i += len(word)
			return true
		}
	}
	if s.peek() == '-' {
		s.i++
	}
	if s.peek() == '0' {
		s.i++
	} else if !s.digits() {
		return false
	}
	if s.peek() == '.' {
		s.i++
		if !s.digits() {
			return false
		}
	}
	if c := s.peek(); c == 'e' || c == 'E' {
		s.i++
		if c := s.peek(); c == '+' || c == '-' {
			s.i++
		}
		return s.digits()
	}
	return true
}

func (s *scanner) digits() bool {
	from := s.i
	for s.i < len(s.b) && '0' <= s.b[s.i] && s.b[s.i] <= '9' {
		s.i++
	}
	return s.i > from
}
