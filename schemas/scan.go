package schemas

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	// noticeDepth is the nesting from which TooDeep is reported: far beyond any
	// message seen in the field, and below the limits of the parsers in use
	// (simdjson 1024, encoding/json 10000).
	noticeDepth = 512
	// maxDepth ends the scan: a text this deep is not read further.
	maxDepth = 10000
	// maxTextProblems bounds what one hostile message can make us report.
	maxTextProblems = 64
	// safeInteger is the largest magnitude that every JSON implementation keeps
	// exact (RFC 8259 section 6).
	safeInteger = "9007199254740992"
)

// scanner reads one JSON text strictly (RFC 8259) and builds no values. It
// reports what parsers hide and goes on wherever the text can still be read.
type scanner struct {
	data     []byte
	pos      int
	path     []step
	keys     [][]byte // the keys of all open objects, innermost last
	problems []Problem
	deep     bool
	unread   bool                             // what is nested deeper than maxDepth
	member   func(key []byte, start, end int) // called for each member of the outermost object
}

// step is one token of the path to the place being read.
type step struct {
	key   []byte // nil for an array index
	index int
}

// fail reports a syntax error; the scan ends.
func (s *scanner) fail(offset int, detail string) bool {
	s.problems = append(s.problems, Problem{NotJSON, s.pointer(), offset, detail})
	return false
}

// note reports a fault that does not end the scan.
func (s *scanner) note(code ProblemCode, offset int, detail string) {
	if len(s.problems) < maxTextProblems {
		s.problems = append(s.problems, Problem{code, s.pointer(), offset, detail})
	}
}

// pointer renders the path as a JSON Pointer.
func (s *scanner) pointer() string {
	var b strings.Builder
	for _, st := range s.path {
		b.WriteByte('/')
		if st.key == nil {
			b.WriteString(strconv.Itoa(st.index))
		} else {
			b.WriteString(escapePointer(strings.ToValidUTF8(string(st.key), "\uFFFD")))
		}
	}
	return b.String()
}

func escapePointer(token string) string {
	if !strings.ContainsAny(token, "~/") {
		return token
	}
	return strings.ReplaceAll(strings.ReplaceAll(token, "~", "~0"), "/", "~1")
}

func (s *scanner) space() {
	for s.pos < len(s.data) {
		switch s.data[s.pos] {
		case ' ', '\t', '\r', '\n':
			s.pos++
		default:
			return
		}
	}
}

// value reads one value and reports whether it was well-formed.
func (s *scanner) value(depth int) bool {
	if s.pos >= len(s.data) {
		return s.fail(s.pos, "the text ends where a value is expected")
	}
	switch c := s.data[s.pos]; {
	case c == '{' || c == '[':
		if depth >= maxDepth {
			s.unread = true
			s.note(TooDeep, s.pos, "nested deeper than "+strconv.Itoa(maxDepth)+" levels; not read further")
			return s.fail(s.pos, "nested too deep to be read")
		}
		if depth == noticeDepth && !s.deep {
			s.deep = true
			s.note(TooDeep, s.pos, "nested deeper than "+strconv.Itoa(noticeDepth)+" levels")
		}
		if c == '{' {
			return s.object(depth + 1)
		}
		return s.array(depth + 1)
	case c == '"':
		_, ok := s.str()
		return ok
	case c == '-' || '0' <= c && c <= '9':
		return s.number()
	case c == 't':
		return s.literal("true")
	case c == 'f':
		return s.literal("false")
	case c == 'n':
		return s.literal("null")
	case c == 0:
		return s.fail(s.pos, "NUL byte where a value is expected")
	default:
		return s.fail(s.pos, "unexpected "+quoteByte(c)+" where a value is expected")
	}
}

func quoteByte(c byte) string {
	if c < utf8.RuneSelf {
		return strconv.QuoteRune(rune(c))
	}
	return "byte 0x" + strconv.FormatUint(uint64(c), 16)
}

func (s *scanner) literal(word string) bool {
	if !bytes.HasPrefix(s.data[s.pos:], []byte(word)) {
		return s.fail(s.pos, "unexpected "+quoteByte(s.data[s.pos])+" where a value is expected")
	}
	s.pos += len(word)
	return true
}

func (s *scanner) array(depth int) bool {
	s.pos++ // [
	s.space()
	if s.pos < len(s.data) && s.data[s.pos] == ']' {
		s.pos++
		return true
	}
	for i := 0; ; i++ {
		s.path = append(s.path, step{index: i})
		ok := s.value(depth)
		s.path = s.path[:len(s.path)-1]
		if !ok {
			return false
		}
		done, ok := s.separator(']')
		if !ok || done {
			return ok
		}
	}
}

// separator reads a comma (more follows) or the closing bracket (done).
func (s *scanner) separator(closing byte) (done, ok bool) {
	s.space()
	if s.pos >= len(s.data) {
		return false, s.fail(s.pos, "the text ends before "+quoteByte(closing))
	}
	c := s.data[s.pos]
	if c != ',' && c != closing {
		return false, s.fail(s.pos, "unexpected "+quoteByte(c)+", want ',' or "+quoteByte(closing))
	}
	s.pos++
	if c == ',' {
		s.space()
	}
	return c == closing, true
}

func (s *scanner) object(depth int) bool {
	s.pos++ // {
	mark := len(s.keys)
	defer func() { s.keys = s.keys[:mark] }()
	var seen map[string]bool // takes over when an object has many keys
	s.space()
	if s.pos < len(s.data) && s.data[s.pos] == '}' {
		s.pos++
		return true
	}
	for {
		at := s.pos
		if s.pos >= len(s.data) || s.data[s.pos] != '"' {
			return s.fail(s.pos, "want a member name in double quotes")
		}
		key, ok := s.str()
		if !ok {
			return false
		}
		s.path = append(s.path, step{key: key})
		seen = s.once(key, mark, seen, at)
		ok = s.memberValue(depth, key)
		s.path = s.path[:len(s.path)-1]
		if !ok {
			return false
		}
		done, ok := s.separator('}')
		if !ok || done {
			return ok
		}
	}
}

// memberValue reads the colon and the value of a member.
func (s *scanner) memberValue(depth int, key []byte) bool {
	s.space()
	if s.pos >= len(s.data) || s.data[s.pos] != ':' {
		return s.fail(s.pos, "want ':' after a member name")
	}
	s.pos++
	s.space()
	start := s.pos
	if !s.value(depth) {
		return false
	}
	if depth == 1 && s.member != nil {
		s.member(key, start, s.pos)
	}
	return true
}

// once reports a key that its object already has. Few keys are compared one by
// one; from the 17th on a map is kept.
func (s *scanner) once(key []byte, mark int, seen map[string]bool, at int) map[string]bool {
	own := s.keys[mark:]
	duplicate := false
	switch {
	case seen != nil:
		duplicate = seen[string(key)]
		seen[string(key)] = true
	case len(own) < 16:
		for _, k := range own {
			if bytes.Equal(k, key) {
				duplicate = true
				break
			}
		}
	default:
		seen = make(map[string]bool, 64)
		for _, k := range own {
			seen[string(k)] = true
		}
		duplicate = seen[string(key)]
		seen[string(key)] = true
	}
	s.keys = append(s.keys, key)
	if duplicate {
		s.note(DuplicateKey, at, "the member "+strconv.Quote(string(key))+" stands more than once; readers differ in which they take")
	}
	return seen
}

// number reads a number by the grammar of RFC 8259 section 6.
func (s *scanner) number() bool {
	start := s.pos
	if s.data[s.pos] == '-' {
		s.pos++
	}
	whole := s.digits()
	if whole == 0 {
		return s.fail(s.pos, "want a digit")
	}
	if first := s.pos - whole; s.data[first] == '0' && whole > 1 {
		return s.fail(first, "a number must not start with 0")
	}
	integer := true
	if s.pos < len(s.data) && s.data[s.pos] == '.' {
		integer = false
		s.pos++
		if s.digits() == 0 {
			return s.fail(s.pos, "want a digit after the decimal point")
		}
	}
	if s.pos < len(s.data) && (s.data[s.pos] == 'e' || s.data[s.pos] == 'E') {
		integer = false
		s.pos++
		if s.pos < len(s.data) && (s.data[s.pos] == '+' || s.data[s.pos] == '-') {
			s.pos++
		}
		if s.digits() == 0 {
			return s.fail(s.pos, "want a digit in the exponent")
		}
	}
	s.noteNumber(start, integer)
	return true
}

func (s *scanner) digits() int {
	start := s.pos
	for s.pos < len(s.data) && '0' <= s.data[s.pos] && s.data[s.pos] <= '9' {
		s.pos++
	}
	return s.pos - start
}

func (s *scanner) noteNumber(start int, integer bool) {
	text := s.data[start:s.pos]
	if integer {
		if beyondSafe(text) {
			s.note(UnsafeInteger, start, "an integer beyond 2^53 is rounded by many readers")
		}
		return
	}
	if d := parseDecimal(text); d.digits != "" && (d.huge || d.magnitude() > 308 || d.magnitude() < -324) {
		s.note(HugeNumber, start, "beyond the range of a double")
	}
}

// beyondSafe reports whether the integer text exceeds 2^53 in magnitude.
func beyondSafe(text []byte) bool {
	text = bytes.TrimPrefix(text, []byte("-"))
	return len(text) > len(safeInteger) || len(text) == len(safeInteger) && string(text) > safeInteger
}

// str reads a string and returns its value: escapes resolved, bytes that are
// not UTF-8 kept, lone surrogates in the three-byte form of WTF-8, so that
// strings which differ on the wire stay different.
func (s *scanner) str() ([]byte, bool) {
	s.pos++ // "
	start := s.pos
	var out []byte // nil until an escape makes the value differ from the text
	flushed := start
	for s.pos < len(s.data) {
		switch c := s.data[s.pos]; {
		case c == '"':
			text := s.data[flushed:s.pos]
			s.pos++
			if out == nil {
				return text, true
			}
			return append(out, text...), true
		case c == '\\':
			out = append(out, s.data[flushed:s.pos]...)
			var ok bool
			if out, ok = s.escape(out); !ok {
				return nil, false
			}
			flushed = s.pos
		case c < 0x20:
			return nil, s.fail(s.pos, "control character "+quoteByte(c)+" in a string must be escaped")
		case c < utf8.RuneSelf:
			s.pos++
		default:
			s.rune()
		}
	}
	return nil, s.fail(s.pos, "the text ends inside a string")
}

// rune reads one character that is not ASCII.
func (s *scanner) rune() {
	r, n := utf8.DecodeRune(s.data[s.pos:])
	if r == utf8.RuneError && n == 1 {
		s.note(InvalidUTF8, s.pos, "byte 0x"+strconv.FormatUint(uint64(s.data[s.pos]), 16)+" is not UTF-8")
	}
	s.pos += n
}

// escape reads one escape sequence, or the two that make a surrogate pair.
func (s *scanner) escape(out []byte) ([]byte, bool) {
	if s.pos+1 >= len(s.data) {
		return nil, s.fail(s.pos, "the text ends inside an escape")
	}
	const plain = `""\\//b` + "\b" + `f` + "\f" + `n` + "\n" + `r` + "\r" + `t` + "\t"
	c := s.data[s.pos+1]
	if c != 'u' {
		for i := 0; i < len(plain); i += 2 {
			if plain[i] == c {
				s.pos += 2
				return append(out, plain[i+1]), true
			}
		}
		return nil, s.fail(s.pos, "unknown escape \\"+string(rune(c)))
	}
	at := s.pos
	r, ok := hex4(s.data[s.pos+2:])
	if !ok {
		return nil, s.fail(s.pos, "want four hexadecimal digits after \\u")
	}
	s.pos += 6
	if r == 0 {
		s.note(NUL, at, "an escaped NUL ends the string for some readers")
	}
	if !utf16.IsSurrogate(r) {
		return utf8.AppendRune(out, r), true
	}
	if r < 0xDC00 && bytes.HasPrefix(s.data[s.pos:], []byte(`\u`)) {
		if low, ok := hex4(s.data[s.pos+2:]); ok && 0xDC00 <= low && low < 0xE000 {
			s.pos += 6
			return utf8.AppendRune(out, utf16.DecodeRune(r, low)), true
		}
	}
	s.note(LoneSurrogate, at, "a surrogate without its other half stands for no character")
	return append(out, 0xE0|byte(r>>12), 0x80|byte(r>>6)&0x3F|0x80, 0x80|byte(r)&0x3F), true
}

// hex4 reads four hexadecimal digits.
func hex4(b []byte) (rune, bool) {
	if len(b) < 4 {
		return 0, false
	}
	var r rune
	for _, c := range b[:4] {
		switch {
		case '0' <= c && c <= '9':
			r = r<<4 | rune(c-'0')
		case 'a' <= c && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case 'A' <= c && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return 0, false
		}
	}
	return r, true
}
