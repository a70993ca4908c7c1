package schemas

import "encoding/json"

// build decodes a JSON text as encoding/json does with numbers as json.Number,
// at twice the speed. It gives up, ok false, on everything that calls for a
// second thought: faults of the text, duplicate keys, huge numbers, great depth.
func build(text []byte) (v any, ok bool) {
	b := builder{scanner{data: text}}
	b.space()
	v, ok = b.build(0)
	b.space()
	return v, ok && b.pos == len(text) && len(b.problems) == 0
}

// builder makes values of what a scanner reads.
type builder struct{ scanner }

// build reads one value.
func (b *builder) build(depth int) (any, bool) {
	if b.pos >= len(b.data) || depth > noticeDepth {
		return nil, false
	}
	switch c := b.data[b.pos]; {
	case c == '{':
		return b.buildObject(depth + 1)
	case c == '[':
		return b.buildArray(depth + 1)
	case c == '"':
		s, ok := b.str()
		return string(s), ok
	case c == 't':
		return true, b.literal("true")
	case c == 'f':
		return false, b.literal("false")
	case c == 'n':
		return nil, b.literal("null")
	case c == '-' || isDigit(c):
		start := b.pos
		if !b.number() {
			return nil, false
		}
		return tameNumber(json.Number(b.data[start:b.pos])), true
	}
	return nil, false
}

func (b *builder) buildArray(depth int) (any, bool) {
	out := []any{}
	b.pos++
	b.space()
	if b.pos < len(b.data) && b.data[b.pos] == ']' {
		b.pos++
		return out, true
	}
	for {
		v, ok := b.build(depth)
		if !ok {
			return nil, false
		}
		out = append(out, v)
		done, ok := b.separator(']')
		if !ok || done {
			return out, ok
		}
	}
}

func (b *builder) buildObject(depth int) (any, bool) {
	out := map[string]any{}
	b.pos++
	b.space()
	if b.pos < len(b.data) && b.data[b.pos] == '}' {
		b.pos++
		return out, true
	}
	for {
		if b.pos >= len(b.data) || b.data[b.pos] != '"' {
			return nil, false
		}
		key, ok := b.str()
		if !ok {
			return nil, false
		}
		b.space()
		if b.pos >= len(b.data) || b.data[b.pos] != ':' {
			return nil, false
		}
		b.pos++
		b.space()
		size := len(out)
		if out[string(key)], ok = b.build(depth); !ok || len(out) == size {
			return nil, false
		}
		done, ok := b.separator('}')
		if !ok || done {
			return out, ok
		}
	}
}
