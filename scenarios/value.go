package scenarios

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// A plain scalar with the text of a JSON number is that number, digits and all.
var jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)

// value writes the JSON value that a node stands for. Number text is kept, so
// that 9007199254740993 and 1.0 reach the wire as they were written.
func (r *reader) value(n *yaml.Node) json.RawMessage {
	var b bytes.Buffer
	r.write(&b, n)
	return b.Bytes()
}

func (r *reader) write(b *bytes.Buffer, n *yaml.Node) {
	switch n.Kind {
	case yaml.ScalarNode:
		b.Write(r.scalar(n))
	case yaml.SequenceNode:
		b.WriteByte('[')
		for i, c := range n.Content {
			if i > 0 {
				b.WriteByte(',')
			}
			r.write(b, c)
		}
		b.WriteByte(']')
	case yaml.MappingNode:
		b.WriteByte('{')
		for i, p := range r.pairs(n) {
			if i > 0 {
				b.WriteByte(',')
			}
			b.Write(quote(p.key.Value))
			b.WriteByte(':')
			r.write(b, p.val)
		}
		b.WriteByte('}')
	default:
		b.WriteString("null") // an alias: reported by syntax already
	}
}

func (r *reader) scalar(n *yaml.Node) []byte {
	if !plain(n) {
		return quote(n.Value)
	}
	switch {
	case n.Value == "":
		r.fail(n, `write null, "" or {}`, "the value is empty")
		return []byte("null")
	case n.Value == "null", n.Value == "true", n.Value == "false", jsonNumber.MatchString(n.Value):
		return []byte(n.Value)
	}
	return quote(n.Value)
}

// plain reports whether a scalar was written without quotes and not as a block.
func plain(n *yaml.Node) bool {
	return n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) == 0
}

// quote writes a JSON string without escaping HTML, so that bytes go out as written.
func quote(s string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		return []byte(`""`) // unreachable: every string can be encoded
	}
	return []byte(strings.TrimSuffix(b.String(), "\n"))
}

// syntax reports what YAML allows and a scenario does not. It walks the whole
// file first, so that the decoders need not look.
func (r *reader) syntax(n *yaml.Node) {
	switch {
	case n.Kind == yaml.AliasNode:
		r.fail(n, "write the value out", "aliases are not allowed")
		return
	case n.Anchor != "":
		r.fail(n, "write the value where it is used", "anchors are not allowed")
	case n.Style&yaml.TaggedStyle != 0:
		r.fail(n, "quote the value to make it a string", "tags such as %s are not allowed", n.Tag)
	}
	if n.Kind == yaml.MappingNode {
		r.keys(n)
	}
	for _, c := range n.Content {
		r.syntax(c)
	}
}

// keys reports keys that are no plain names, and duplicates.
func (r *reader) keys(n *yaml.Node) {
	first := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		switch {
		case k.Kind != yaml.ScalarNode:
			if k.Kind != yaml.AliasNode { // reported as an alias
				r.fail(k, "use a string", "a key must be a string")
			}
		case k.Value == "<<" && plain(k):
			r.fail(k, "write the keys out", "merge keys are not allowed")
		case first[k.Value] != 0:
			r.fail(k, "remove one of the two", "key %q stands here again, first in line %d", k.Value, first[k.Value])
		default:
			first[k.Value] = k.Line
		}
	}
}

type pair struct{ key, val *yaml.Node }

// pairs lists the members of a mapping whose keys are strings.
func (r *reader) pairs(n *yaml.Node) []pair {
	var ps []pair
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Kind == yaml.ScalarNode {
			ps = append(ps, pair{n.Content[i], n.Content[i+1]})
		}
	}
	return ps
}
