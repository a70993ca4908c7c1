package sample

import (
	"maps"
	"math"
	"regexp/syntax"
	"slices"
	"strings"
)

// shape is what a schema says once references and conjunctions are folded into
// one and a branch is chosen in each union.
type shape struct {
	types      []string
	values     []any            // of const or enum
	properties map[string][]any // every schema that a member has to fit
	required   map[string]bool
	additional []any // schemas for members that properties does not name
	closed     bool  // no other members
	items      []any
	minItems   float64
	maxItems   float64
	minLength  float64
	maxLength  float64
	minimum    float64
	maximum    float64
	format     string
	pattern    string
	folded     map[string]bool // references that were followed
}

// shape folds schemas into one, with the first branch of each union.
func (s *Source) shape(schemas ...any) shape {
	sh := newShape()
	for _, schema := range schemas {
		s.fold(&sh, schema, nil)
	}
	return sh
}

func newShape() shape {
	return shape{
		properties: map[string][]any{}, required: map[string]bool{}, folded: map[string]bool{},
		minimum: math.Inf(-1), maximum: math.Inf(1),
	}
}

// branches returns a shape for each way to choose branches in the unions of a
// schema, unions inside branches included.
func (s *Source) branches(schema any) []shape {
	var out []shape
	c := &choice{}
	for range mostBranches {
		c.arities = c.arities[:0]
		sh := newShape()
		s.fold(&sh, schema, c)
		out = append(out, sh)
		if !c.next() {
			break
		}
	}
	return out
}

// mostBranches bounds the product of several unions; no protocol schema comes near.
const mostBranches = 500

// choice says which branch to take in each union, in the order in which folding
// meets them, and learns how many branches each has.
type choice struct {
	taken   []int
	arities []int
}

func (c *choice) of(arity int) int {
	if c == nil {
		return 0
	}
	c.arities = append(c.arities, arity)
	if len(c.arities) > len(c.taken) {
		c.taken = append(c.taken, 0)
	}
	return c.taken[len(c.arities)-1]
}

// next moves to the next choice, and reports whether there is one.
func (c *choice) next() bool {
	for last := len(c.arities) - 1; last >= 0; last-- {
		if c.taken[last]+1 < c.arities[last] {
			c.taken = append(c.taken[:last], c.taken[last]+1)
			return true
		}
	}
	return false
}

// fold adds what a schema demands to a shape.
func (s *Source) fold(sh *shape, schema any, c *choice) {
	m, ok := schema.(map[string]any)
	if !ok {
		return
	}
	if ref, ok := m["$ref"].(string); ok && !sh.folded[ref] {
		sh.folded[ref] = true // once is enough, and ends what refers to itself
		s.fold(sh, s.definition(ref), c)
	}
	for _, keyword := range []string{"anyOf", "oneOf"} {
		if union, ok := m[keyword].([]any); ok && len(union) > 0 {
			s.fold(sh, union[c.of(len(union))], c)
		}
	}
	if all, ok := m["allOf"].([]any); ok {
		for _, member := range all {
			s.fold(sh, member, c)
		}
	}
	sh.foldMembers(m)
	sh.foldValues(m)
	sh.foldBounds(m)
}

func (sh *shape) foldMembers(m map[string]any) {
	if props, ok := m["properties"].(map[string]any); ok {
		for _, name := range slices.Sorted(maps.Keys(props)) {
			sh.properties[name] = append(sh.properties[name], props[name])
		}
	}
	if required, ok := m["required"].([]any); ok {
		for _, name := range required {
			if name, ok := name.(string); ok {
				sh.required[name] = true
			}
		}
	}
	if additional, ok := m["additionalProperties"]; ok {
		sh.closed = sh.closed || impossible(additional)
		sh.additional = append(sh.additional, additional)
	}
	if items, ok := m["items"]; ok {
		sh.items = append(sh.items, items)
	}
}

// impossible reports whether a schema accepts nothing: false, or not anything.
func impossible(schema any) bool {
	if b, ok := schema.(bool); ok {
		return !b
	}
	m, _ := schema.(map[string]any)
	not, ok := m["not"].(map[string]any)
	return ok && len(not) == 0
}

func (sh *shape) foldValues(m map[string]any) {
	if v, ok := m["const"]; ok {
		sh.values = []any{v}
	}
	if values, ok := m["enum"].([]any); ok && len(sh.values) == 0 {
		sh.values = values
	}
	switch t := m["type"].(type) {
	case string:
		sh.narrow([]string{t})
	case []any:
		var types []string
		for _, name := range t {
			if name, ok := name.(string); ok {
				types = append(types, name)
			}
		}
		sh.narrow(types)
	}
}

// narrow keeps the types that all schemas of a conjunction allow; an integer
// is a number.
func (sh *shape) narrow(types []string) {
	if sh.types == nil {
		sh.types = types
		return
	}
	var both []string
	for _, t := range types {
		if slices.Contains(sh.types, t) || t == "integer" && slices.Contains(sh.types, "number") {
			both = append(both, t)
		}
	}
	if both != nil {
		sh.types = both
	}
}

func (sh *shape) foldBounds(m map[string]any) {
	for keyword, bound := range map[string]*float64{
		"minItems": &sh.minItems, "maxItems": &sh.maxItems,
		"minLength": &sh.minLength, "maxLength": &sh.maxLength,
		"minimum": &sh.minimum, "maximum": &sh.maximum,
	} {
		if n, ok := number(m[keyword]); ok {
			*bound = n
		}
	}
	if f, ok := m["format"].(string); ok {
		sh.format = f
	}
	if p, ok := m["pattern"].(string); ok {
		sh.pattern = p
	}
}

// typ is the type of the value to make, "" for any.
func (sh *shape) typ() string {
	if len(sh.types) > 0 {
		return sh.types[0]
	}
	if len(sh.properties) > 0 || len(sh.required) > 0 || len(sh.additional) > 0 {
		return "object"
	}
	return ""
}

// typed splits a shape of several types into one for each.
func (sh *shape) typed() []shape {
	if len(sh.types) < 2 {
		return []shape{*sh}
	}
	var out []shape
	for _, t := range sh.types {
		one := *sh
		one.types = []string{t}
		out = append(out, one)
	}
	return out
}

// text makes a string that fits the format, the pattern and the length.
func (sh *shape) text() string {
	if sh.pattern != "" {
		if re, err := syntax.Parse(sh.pattern, syntax.Perl); err == nil {
			return matching(re.Simplify())
		}
	}
	if text, ok := formatted[sh.format]; ok {
		return text
	}
	text := "text"
	for float64(len(text)) < sh.minLength {
		text += "x"
	}
	if sh.maxLength > 0 && float64(len(text)) > sh.maxLength {
		text = text[:int(sh.maxLength)]
	}
	return text
}

// formatted holds a string for each format that protocol schemas use.
var formatted = map[string]string{
	"byte":         "aGVsbG8=",
	"date":         "2025-11-25",
	"date-time":    "2025-11-25T10:00:00Z",
	"email":        "someone@example.com",
	"uri":          "https://example.com/a?b=c#d",
	"uri-template": "file:///{path}",
}

// matching makes a short string that a regular expression matches.
func matching(re *syntax.Regexp) string {
	var b strings.Builder
	switch re.Op {
	case syntax.OpLiteral:
		b.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		b.WriteRune(printable(re.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteByte('a')
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			b.WriteString(matching(sub))
		}
	case syntax.OpCapture, syntax.OpPlus, syntax.OpAlternate:
		b.WriteString(matching(re.Sub[0]))
	}
	return b.String()
}

// printable picks a member of a class of runes, a letter if there is one.
func printable(class []rune) rune {
	for _, want := range "aA0-" {
		for i := 0; i+1 < len(class); i += 2 {
			if class[i] <= want && want <= class[i+1] {
				return want
			}
		}
	}
	return class[0]
}

func (sh *shape) integer() any {
	if math.IsInf(sh.minimum, 0) || sh.minimum < 0 {
		return 1.0
	}
	return math.Ceil(sh.minimum)
}

func (sh *shape) number() any {
	return min(max(0.5, sh.minimum), sh.maximum)
}

// numbers are the edges of the range, or a few either side of zero.
func (sh *shape) numbers() []any {
	var out []any
	for _, n := range []float64{0, 1, -1, 7, sh.minimum, sh.maximum} {
		if n >= sh.minimum && n <= sh.maximum && !math.IsInf(n, 0) {
			out = append(out, n)
		}
	}
	if sh.typ() == "number" && sh.minimum <= 0.25 && sh.maximum >= 0.25 {
		out = append(out, 0.25)
	}
	return out
}
