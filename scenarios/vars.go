package scenarios

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Vars are the values that ${name} stands for: captured from events, or given
// by the runner.
type Vars map[string]json.RawMessage

// The names that the runner gives. The last ones exist only when the scenario
// needs such an item.
const (
	VarNonce    = "nonce"    // letters and digits, new for each scenario
	VarRevision = "revision" // the negotiated one
	VarAlive    = "alive"    // the method that asks for a sign of life
	VarTool     = "tool"     // name of the listed tool
	VarPrompt   = "prompt"   // name of the listed prompt
	VarResource = "resource" // URI of the listed resource
)

var variable = regexp.MustCompile(`\$\{([a-z][a-z0-9-]*)\}`)

// Expand replaces ${name} in the strings of a JSON text, keys included. A string
// that is exactly "${name}" becomes the value, whatever its type; within a
// longer string, or as a key, a value that is no string is written as JSON.
func (v Vars) Expand(raw json.RawMessage) (json.RawMessage, error) {
	if !bytes.Contains(raw, []byte("${")) {
		return raw, nil
	}
	var b bytes.Buffer
	for i := 0; i < len(raw); {
		if raw[i] != '"' {
			b.WriteByte(raw[i])
			i++
			continue
		}
		end := literalEnd(raw, i)
		out, err := v.literal(raw[i:end], isKey(raw[end:]))
		if err != nil {
			return nil, err
		}
		b.Write(out)
		i = end
	}
	return b.Bytes(), nil
}

// ExpandText replaces ${name} in plain text.
func (v Vars) ExpandText(s string) (string, error) {
	var missing error
	out := variable.ReplaceAllStringFunc(s, func(m string) string {
		val, ok := v[m[2:len(m)-1]]
		if !ok {
			missing = fmt.Errorf("variable %s has no value: capture it in an earlier step (there are %s)",
				m, strings.Join(slices.Sorted(maps.Keys(v)), ", "))
			return m
		}
		return text(val)
	})
	return out, missing
}

func (v Vars) literal(lit []byte, key bool) ([]byte, error) {
	var s string
	if err := json.Unmarshal(lit, &s); err != nil {
		return nil, fmt.Errorf("expanding variables: %w", err)
	}
	if m := variable.FindStringSubmatch(s); m != nil && m[0] == s && !key && v[m[1]] != nil {
		return v[m[1]], nil
	}
	out, err := v.ExpandText(s)
	if err != nil {
		return nil, err
	}
	return quote(out), nil
}

// text is a string's content, or the JSON of any other value.
func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

// literalEnd returns the index after the string literal that begins at i.
func literalEnd(raw []byte, i int) int {
	for i++; i < len(raw); i++ {
		switch raw[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(raw)
}

func isKey(rest []byte) bool {
	rest = bytes.TrimLeft(rest, " \t\r\n")
	return len(rest) > 0 && rest[0] == ':'
}

// used lists the variables in a text, for the linter.
func used(s string) []string {
	var names []string
	for _, m := range variable.FindAllStringSubmatch(s, -1) {
		names = append(names, m[1])
	}
	return names
}
