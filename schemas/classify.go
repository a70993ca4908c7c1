package schemas

import (
	"bytes"
	"encoding/json"
)

// Classify reads one message. It decides the kind by the keys of the object
// alone (JSON-RPC 2.0 sections 4 and 5), which must match exactly: "ID" is no
// "id". Every fault it can see is in Problems; a message with faults is still
// classified as far as its text can be read.
//
// Raw parts share data's memory. Where a key stands twice, the last one counts,
// as with most readers.
func Classify(data []byte) Message {
	s := scanner{data: data}
	bom := bytes.HasPrefix(data, []byte("\xEF\xBB\xBF"))
	if bom {
		s.note(ByteOrderMark, 0, "a byte order mark must not be added to JSON (RFC 8259 section 8.1)")
		s.pos = 3
	}
	s.space()
	var m Message
	if s.pos < len(data) && data[s.pos] == '[' {
		m = s.batch()
	} else {
		m = s.message()
	}
	m.Raw = data
	if m.Kind != Invalid || !m.has(NotJSON) {
		s.space()
		if s.pos < len(data) {
			m = Message{Raw: data, Problems: append(m.Problems, Problem{NotJSON, "", s.pos, "more text after the end of the message"})}
		}
	}
	return m
}

func (m *Message) has(code ProblemCode) bool {
	for _, p := range m.Problems {
		if p.Code == code {
			return true
		}
	}
	return false
}

// batch reads an array. Members keep their own problems, with places relative
// to themselves.
func (s *scanner) batch() Message {
	m := Message{Kind: Batch, Batch: []Message{}}
	s.pos++ // [
	s.space()
	if s.pos < len(s.data) && s.data[s.pos] == ']' {
		s.pos++
		m.Problems = append(s.problems, Problem{EmptyBatch, "", 0, "a batch must hold at least one message (JSON-RPC 2.0 section 6)"})
		return m
	}
	for {
		start := s.pos
		inner := scanner{data: s.data[start:]}
		member := inner.message()
		s.pos += inner.pos
		if member.Kind == Invalid && member.has(NotJSON) {
			for _, p := range member.Problems {
				p.Offset += start
				s.problems = append(s.problems, p)
			}
			return Message{Problems: s.problems}
		}
		member.Raw = json.RawMessage(s.data[start:s.pos])
		m.Batch = append(m.Batch, member)
		done, ok := s.separator(']')
		if !ok {
			return Message{Problems: s.problems}
		}
		if done {
			m.Problems = s.problems
			return m
		}
	}
}

// message reads one value and classifies it.
func (s *scanner) message() Message {
	start := s.pos
	object := s.pos < len(s.data) && s.data[s.pos] == '{'
	var e envelope
	s.member = func(key []byte, from, to int) { e.take(string(key), part{s.data[from:to], from}) }
	if !s.value(0) {
		return Message{Raw: s.data, Problems: s.problems}
	}
	m := Message{Raw: s.data[start:s.pos], Problems: s.problems}
	if !object {
		m.problem(NotObject, "", start, "a message is an object")
		return m
	}
	e.fill(&m, start)
	return m
}

// part is the value of one member of the envelope; raw is nil when absent.
type part struct {
	raw json.RawMessage
	at  int
}

// envelope holds the members that JSON-RPC defines.
type envelope struct {
	version, id, method, params, result, err part
}

func (e *envelope) take(key string, p part) {
	switch key {
	case "jsonrpc":
		e.version = p
	case "id":
		e.id = p
	case "method":
		e.method = p
	case "params":
		e.params = p
	case "result":
		e.result = p
	case "error":
		e.err = p
	}
}

func (m *Message) problem(code ProblemCode, pointer string, offset int, detail string) {
	m.Problems = append(m.Problems, Problem{code, pointer, offset, detail})
}

// fill decides the kind and checks what the keys demand of each other. at is
// the offset of the object.
func (e *envelope) fill(m *Message, at int) {
	m.ID, m.Params, m.Result, m.Error = e.id.raw, e.params.raw, e.result.raw, e.err.raw
	if v := e.version; v.raw == nil {
		m.problem(MissingVersion, "", at, `want "jsonrpc":"2.0"`)
	} else if s, ok := text(v.raw); !ok || s != "2.0" {
		m.problem(WrongVersion, "/jsonrpc", v.at, `want "2.0"`)
	}
	switch {
	case e.method.raw != nil:
		m.Kind = Notification
		if e.id.raw != nil {
			m.Kind = Request
			e.checkID(m)
		}
		e.checkCall(m)
	case e.err.raw != nil:
		m.Kind = Error
		e.checkError(m)
	case e.result.raw != nil:
		if e.id.raw == nil {
			m.problem(MissingID, "", at, "a result carries the id of its request")
			return
		}
		m.Kind = Result
		e.checkID(m)
	default:
		m.problem(NoKind, "", at, "neither method nor result nor error")
	}
}

func (e *envelope) checkCall(m *Message) {
	name, ok := text(e.method.raw)
	if m.Method = name; !ok {
		m.problem(BadMethod, "/method", e.method.at, "want a string")
	}
	if e.params.raw != nil && e.params.raw[0] != '{' {
		m.problem(BadParams, "/params", e.params.at, "want an object: MCP has no positional parameters")
	}
	for _, o := range []struct {
		pointer string
		part
	}{{"/result", e.result}, {"/error", e.err}} {
		if o.raw != nil {
			m.problem(MethodAndOutcome, o.pointer, o.at, "a message with a method has neither result nor error")
		}
	}
	e.checkTokens(m)
}

// checkID checks the id of a request or a result: a string or an integer
// (basic/index of every revision), never null.
func (e *envelope) checkID(m *Message) {
	switch raw := e.id.raw; {
	case raw[0] == '"':
	case string(raw) == "null":
		m.problem(NullID, "/id", e.id.at, "an id must not be null")
	case !isNumber(raw):
		m.problem(BadID, "/id", e.id.at, "want a string or an integer")
	case !parseDecimal(raw).integral():
		m.problem(BadID, "/id", e.id.at, "an id must not have a fractional part")
	default:
		e.checkInteger(m, "/id", e.id)
	}
}

// checkInteger remarks on a whole number that is not written as one.
func (e *envelope) checkInteger(m *Message, pointer string, p part) {
	if isNumber(p.raw) && bytes.ContainsAny(p.raw, ".eE") && parseDecimal(p.raw).integral() {
		m.problem(FloatInteger, pointer, p.at, "write the integer without fraction and exponent: many readers compare it as text")
	}
}

func (e *envelope) checkError(m *Message) {
	if e.result.raw != nil {
		m.problem(ResultAndError, "/result", e.result.at, "a response has either a result or an error")
	}
	if e.id.raw != nil && string(e.id.raw) != "null" {
		e.checkID(m)
	}
	code, hasCode := e.err.member("code")
	if !hasCode || !isNumber(code.raw) || !parseDecimal(code.raw).integral() {
		m.problem(BadError, "/error", e.err.at, "want an object with an integer code")
	} else {
		e.checkInteger(m, "/error/code", code)
	}
	if message, ok := e.err.member("message"); !ok || message.raw[0] != '"' {
		m.problem(BadError, "/error", e.err.at, "want an object with a message string")
	}
}

// checkTokens looks at the members of params that are compared with ids and tokens.
func (e *envelope) checkTokens(m *Message) {
	e.params.each(func(key string, p part) {
		switch key {
		case "requestId", "progressToken":
			e.checkInteger(m, "/params/"+key, p)
		case "_meta":
			if token, ok := p.member("progressToken"); ok {
				e.checkInteger(m, "/params/_meta/progressToken", token)
			}
		}
	})
}

// each calls visit for each member of an object, in order.
func (p part) each(visit func(key string, value part)) {
	if len(p.raw) == 0 || p.raw[0] != '{' {
		return
	}
	s := scanner{data: p.raw, deep: true}
	s.member = func(key []byte, from, to int) { visit(string(key), part{p.raw[from:to], p.at + from}) }
	s.value(0)
}

// member finds a member of an object; of duplicates, the last.
func (p part) member(key string) (part, bool) {
	var found part
	p.each(func(k string, value part) {
		if k == key {
			found = value
		}
	})
	return found, found.raw != nil
}

// Member returns the raw value that the keys lead to in an object, matching
// them exactly, and whether there is one. A JSON null is a value.
func Member(object json.RawMessage, keys ...string) (json.RawMessage, bool) {
	p := part{raw: bytes.TrimSpace(object)}
	for _, key := range keys {
		var ok bool
		if p, ok = p.member(key); !ok {
			return nil, false
		}
	}
	return p.raw, true
}

func isNumber(raw []byte) bool {
	return len(raw) > 0 && (raw[0] == '-' || '0' <= raw[0] && raw[0] <= '9')
}

// text returns the value of a JSON string.
func text(raw []byte) (string, bool) {
	if len(raw) == 0 || raw[0] != '"' {
		return "", false
	}
	s := scanner{data: raw}
	v, ok := s.str()
	return string(v), ok
}
