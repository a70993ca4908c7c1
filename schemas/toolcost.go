package schemas

import (
	"encoding/json"
	"regexp"
	"regexp/syntax"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// What a schema from the wire may cost. The specification asks for bounds and
// names none (2026-07-28 basic/index). All of them count steps: unlike time,
// they give the same verdict everywhere.
const (
	// maxSchemaBytes and maxSchemaLevels bound what is compiled.
	maxSchemaBytes  = 1 << 20
	maxSchemaLevels = 256
	// maxSubschemas: the time of the compiler grows with the square of their
	// number; 30,000 take ten seconds, this many less than one.
	maxSubschemas = 8192
	// maxIDs: the same goes for schemas with an $id, only more so.
	maxIDs = 1024
	// baseVisits and visitsPerByte bound one validation: explosive schemas visit
	// a subschema 2^n times. maxVisits takes some seconds.
	baseVisits    = 1 << 17
	visitsPerByte = 16
	maxVisits     = 1 << 21
	// maxComparisons bounds what is done between two visits: values of an enum
	// that are compared, alternatives whose type does not fit.
	maxComparisons = 1 << 28
	// maxPattern and maxPatterns bound the programs that patterns compile to, of
	// one and of all of a schema; patternSteps of their instructions on a
	// character of text weigh as much as a visit.
	maxPattern   = 1 << 14
	maxPatterns  = 1 << 17
	patternSteps = 128
)

// visits counts the subschemas that a validation enters and stops it when there
// are too many. It is compiled into every subschema.
type visits struct{ left int }

// tooManyVisits is what visits panics with; ToolSchema.Validate recovers it.
type tooManyVisits struct{}

// Validate implements jsonschema.SchemaExt. The validator comes here after the
// children of v, and not at all if its type does not fit, which is quickly seen:
// hence children count too, but less.
func (c *visits) Validate(_ *jsonschema.ValidatorContext, v any) {
	const quick = 8
	switch v := v.(type) {
	case map[string]any:
		c.spend(1 + len(v)/quick)
	case []any:
		c.spend(1 + len(v)/quick)
	default:
		c.spend(1)
	}
}

func (c *visits) spend(n int) {
	if c.left -= n; c.left < 0 {
		panic(tooManyVisits{})
	}
}

// allow prepares for one instance and reports whether it may be judged at all.
func (c *visits) allow(width, bytes int, instance any) bool {
	c.left = min(baseVisits+visitsPerByte*bytes, maxVisits, maxComparisons/width)
	return countValues(instance, func(any) bool { return true }) <= maxComparisons/width
}

// countValues counts the values within v, and v, that are of a kind.
func countValues(v any, kind func(any) bool) int {
	n := 0
	if kind(v) {
		n = 1
	}
	switch v := v.(type) {
	case map[string]any:
		for _, member := range v {
			n += countValues(member, kind)
		}
	case []any:
		for _, element := range v {
			n += countValues(element, kind)
		}
	}
	return n
}

// maybeSchema holds for what may stand where a schema does.
func maybeSchema(v any) bool {
	switch v.(type) {
	case map[string]any, bool:
		return true
	}
	return false
}

// identified holds for what may be a schema with an $id.
func identified(v any) bool {
	m, _ := v.(map[string]any)
	for _, k := range []string{"$id", "id"} {
		if _, ok := m[k].(string); ok {
			return true
		}
	}
	return false
}

// width is the most that one schema within v makes the validator do without
// counting it, at least 1: comparing strings counts 1 each.
func width(v any) int {
	widest := 1
	switch v := v.(type) {
	case map[string]any:
		here := comparing(v["enum"]) + comparing(v["const"])
		for _, k := range []string{"allOf", "anyOf", "oneOf"} {
			list, _ := v[k].([]any)
			here += 16 * len(list)
		}
		required, _ := v["required"].([]any)
		widest = max(widest, here+16*len(required))
		for _, member := range v {
			widest = max(widest, width(member))
		}
	case []any:
		for _, element := range v {
			widest = max(widest, width(element))
		}
	}
	return widest
}

// comparing weighs a comparison with all of v: numbers are parsed each time.
func comparing(v any) int {
	numbers := countValues(v, func(v any) bool { _, ok := v.(json.Number); return ok })
	return 127*numbers + countValues(v, func(any) bool { return true })
}

// patterns compiles the patterns of one schema, within bounds.
type patterns struct {
	known  map[string]jsonschema.Regexp
	weight int
	visits *visits
}

// compile compiles a pattern of ECMA-262, the language that JSON Schema
// recommends. What Go's engine lacks (lookaround, backreferences) and what costs
// too much is not judged: such a pattern matches everything. A pattern SHOULD be
// a valid regular expression (JSON Schema Validation section 6.3.3), so a broken
// one is none of our errors either.
func (p *patterns) compile(pattern string) (jsonschema.Regexp, error) {
	if re, ok := p.known[pattern]; ok {
		return re, nil
	}
	if p.known == nil {
		p.known = map[string]jsonschema.Regexp{}
	}
	p.known[pattern] = p.fresh(pattern)
	return p.known[pattern], nil
}

func (p *patterns) fresh(pattern string) jsonschema.Regexp {
	ecma := fromECMA(pattern)
	parsed, err := syntax.Parse(ecma, syntax.Perl)
	if err != nil {
		return anyText(pattern)
	}
	weight := instructions(parsed)
	if weight > maxPattern || p.weight+weight > maxPatterns {
		return anyText(pattern)
	}
	p.weight += weight
	re, err := regexp.Compile(ecma)
	if err != nil {
		return anyText(pattern)
	}
	return goRegexp{re, pattern, weight, p.visits}
}

// judged reports whether a pattern can be evaluated.
func (p *patterns) judged(pattern string) bool {
	re, _ := p.compile(pattern)
	_, any := re.(anyText)
	return !any
}

// instructions is about the size of the program that an expression compiles to,
// counted without writing out its repetitions.
func instructions(re *syntax.Regexp) int {
	n := 1 + len(re.Rune)/32
	if re.Op == syntax.OpLiteral {
		n = len(re.Rune)
	}
	for _, sub := range re.Sub {
		n = min(n+instructions(sub), maxPatterns+1)
	}
	if re.Op == syntax.OpRepeat {
		n *= max(re.Max, re.Min+1, 1)
	}
	return min(n, maxPatterns+1)
}

// goRegexp is a pattern that spends visits.
type goRegexp struct {
	*regexp.Regexp
	pattern string
	weight  int
	visits  *visits
}

func (r goRegexp) String() string { return r.pattern }

// MatchString implements jsonschema.Regexp.
func (r goRegexp) MatchString(s string) bool {
	r.visits.spend(r.weight * len(s) / patternSteps)
	return r.Regexp.MatchString(s)
}

// anyText stands for a pattern that cannot be evaluated here.
type anyText string

// MatchString implements jsonschema.Regexp.
func (anyText) MatchString(string) bool { return true }
func (a anyText) String() string        { return string(a) }
