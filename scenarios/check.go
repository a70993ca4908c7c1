package scenarios

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Outcome is what a check saw.
type Outcome struct {
	OK        bool
	Want, Got string
}

// Apply looks into an event. The error is the scenario's own fault: a variable
// without value or a schema that does not compile.
func (c Check) Apply(event json.RawMessage, vars Vars) (Outcome, error) {
	at, err := vars.ExpandText(c.At)
	if err != nil {
		return Outcome{}, err
	}
	got, found := Lookup(event, at)
	o := Outcome{Got: "absent"}
	if found {
		o.Got = excerpt(got)
	}
	switch {
	case c.Exists != nil:
		o.Want = at + ": present"
		if !*c.Exists {
			o.Want = at + ": absent"
		}
		o.OK = found == *c.Exists
	case c.Is != nil:
		want, err := vars.Expand(c.Is)
		if err != nil {
			return Outcome{}, err
		}
		o.Want = place(at) + excerpt(want)
		o.OK = found && Equal(got, want)
	default:
		return c.like(o, at, got, found, vars)
	}
	return o, nil
}

// place says for people where a check looks; the whole goes without saying.
func place(at string) string {
	if at == "" {
		return ""
	}
	return at + ": "
}

func (c Check) like(o Outcome, at string, got json.RawMessage, found bool, vars Vars) (Outcome, error) {
	text, err := vars.Expand(c.Like)
	if err != nil {
		return Outcome{}, err
	}
	schema, err := compile(text)
	if err != nil {
		return Outcome{}, err
	}
	o.Want = place(at) + excerpt(text)
	if !found {
		return o, nil
	}
	doc, err := decode(got)
	if err != nil {
		o.Got = err.Error()
		return o, nil
	}
	err = schema.Validate(doc)
	o.OK = err == nil
	return o, nil
}

// compile reads a schema of the 2020-12 dialect that refers to nothing outside itself.
func compile(text json.RawMessage) (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("like: %w", err)
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	if err := c.AddResource("mem:like", doc); err != nil {
		return nil, fmt.Errorf("like: %w", err)
	}
	s, err := c.Compile("mem:like")
	if err != nil {
		return nil, fmt.Errorf("like: %w", err)
	}
	return s, nil
}

type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("%s lies outside the scenario", url)
}

// The value of an exponent that a peer sends is bounded before exact arithmetic
// sees it: 1e999999999 is ten bytes of text and a gigabyte of digits.
const maxExponent = 400

var exponent = regexp.MustCompile(`[eE][+-]?([0-9]+)$`)

func decode(raw json.RawMessage) (any, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, errors.New("not JSON")
	}
	if n, bad := unbounded(v); bad {
		return nil, fmt.Errorf("the number %s, too large to compare", n)
	}
	return v, nil
}

func unbounded(v any) (json.Number, bool) {
	switch v := v.(type) {
	case json.Number:
		if m := exponent.FindStringSubmatch(v.String()); m != nil {
			n, err := strconv.Atoi(m[1])
			return v, err != nil || n > maxExponent
		}
	case []any:
		for _, x := range v {
			if n, bad := unbounded(x); bad {
				return n, true
			}
		}
	case map[string]any:
		for _, x := range v {
			if n, bad := unbounded(x); bad {
				return n, true
			}
		}
	}
	return "", false
}

// Equal reports whether two JSON texts stand for the same value. Numbers compare
// exactly: 1 equals 1.0, and 2^53 does not equal 2^53 + 1.
func Equal(a, b json.RawMessage) bool {
	x, errX := decode(a)
	y, errY := decode(b)
	return errX == nil && errY == nil && equal(x, y)
}

func equal(a, b any) bool {
	switch a := a.(type) {
	case json.Number:
		n, ok := b.(json.Number)
		if !ok {
			return false
		}
		x, okX := new(big.Rat).SetString(a.String())
		y, okY := new(big.Rat).SetString(n.String())
		return okX && okY && x.Cmp(y) == 0
	case []any:
		s, ok := b.([]any)
		if !ok || len(a) != len(s) {
			return false
		}
		for i := range a {
			if !equal(a[i], s[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		m, ok := b.(map[string]any)
		if !ok || len(a) != len(m) {
			return false
		}
		for k, x := range a {
			y, has := m[k]
			if !has || !equal(x, y) {
				return false
			}
		}
		return true
	}
	return a == b
}

// Lookup returns the value that a JSON Pointer (RFC 6901) names, as it was written.
func Lookup(doc json.RawMessage, pointer string) (json.RawMessage, bool) {
	if pointer == "" {
		return doc, json.Valid(doc)
	}
	for _, part := range strings.Split(pointer[1:], "/") {
		part = strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
		var ok bool
		if doc, ok = member(doc, part); !ok {
			return nil, false
		}
	}
	return doc, true
}

func member(doc json.RawMessage, name string) (json.RawMessage, bool) {
	switch doc = bytes.TrimLeft(doc, " \t\r\n"); {
	case len(doc) == 0:
		return nil, false
	case doc[0] == '{':
		var m map[string]json.RawMessage
		if json.Unmarshal(doc, &m) != nil {
			return nil, false
		}
		v, ok := m[name]
		return v, ok
	case doc[0] == '[':
		var a []json.RawMessage
		i, err := strconv.Atoi(name)
		if err != nil || json.Unmarshal(doc, &a) != nil || i < 0 || i >= len(a) || strconv.Itoa(i) != name {
			return nil, false
		}
		return a[i], true
	}
	return nil, false
}

// checkPointer says what is wrong with a JSON Pointer, nil if nothing is.
func checkPointer(p string) error {
	if p != "" && p[0] != '/' {
		return fmt.Errorf("JSON Pointer %q does not begin with a slash", p)
	}
	for i := range len(p) {
		if p[i] == '~' && (i+1 == len(p) || p[i+1] != '0' && p[i+1] != '1') {
			return fmt.Errorf("JSON Pointer %q: ~ must be followed by 0 or 1", p)
		}
	}
	return nil
}

// excerpt shortens a value for a message.
func excerpt(raw json.RawMessage) string {
	var b bytes.Buffer
	s := string(raw)
	if json.Compact(&b, raw) == nil {
		s = b.String()
	}
	if len(s) > 200 {
		s = strings.ToValidUTF8(s[:200], "") + "…"
	}
	return s
}
