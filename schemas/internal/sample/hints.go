package sample

import (
	"encoding/json"
	"hash/fnv"
	"maps"
	"math"
	"slices"
	"strings"
)

// hints are values in which the definitions of a document are interested: the
// constants and enumerations that it names, and both sides of every bound.
type hints struct {
	words   []string
	member  map[string][]string // the words that a member of that name may be, wherever it occurs
	numbers []float64
	sizes   []int // lengths of arrays and strings, one beyond each bound
}

func collectHints(defs map[string]any) hints {
	words, numbers, sizes := map[string]bool{}, map[float64]bool{}, map[int]bool{}
	member := map[string]map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(defs)) {
		walk(defs[name], func(m map[string]any) {
			props, _ := m["properties"].(map[string]any)
			for name, schema := range props {
				if member[name] == nil {
					member[name] = map[string]bool{}
				}
				collectWords(schema, defs, member[name])
			}
			for _, v := range listed(m) {
				if word, ok := v.(string); ok {
					words[word] = true
				} else if n, ok := number(v); ok {
					numbers[n] = true
				}
			}
			for _, keyword := range []string{"minimum", "maximum"} {
				if n, ok := number(m[keyword]); ok {
					numbers[n], numbers[n-1], numbers[n+1], numbers[n-0.25], numbers[n+0.25] = true, true, true, true, true
				}
			}
			for _, keyword := range []string{"minItems", "maxItems", "minLength", "maxLength"} {
				if n, ok := number(m[keyword]); ok && n < 1000 {
					sizes[int(n)], sizes[int(n)+1], sizes[max(0, int(n)-1)] = true, true, true
				}
			}
		})
	}
	delete(sizes, 0)
	sorted := map[string][]string{}
	for name := range member {
		sorted[name] = slices.Sorted(maps.Keys(member[name]))
	}
	return hints{
		member:  sorted,
		words:   slices.Sorted(maps.Keys(words)),
		numbers: slices.Sorted(maps.Keys(numbers)),
		sizes:   slices.Sorted(maps.Keys(sizes)),
	}
}

// listed returns the values that a schema names itself.
func listed(m map[string]any) []any {
	values, _ := m["enum"].([]any)
	if v, ok := m["const"]; ok {
		values = append(slices.Clone(values), v)
	}
	return values
}

// collectWords gathers the strings that a schema may stand for, its references
// and branches included.
func collectWords(schema any, defs map[string]any, into map[string]bool) {
	m, _ := schema.(map[string]any)
	if ref, ok := m["$ref"].(string); ok {
		m, _ = defs[ref[strings.LastIndex(ref, "/")+1:]].(map[string]any)
	}
	for _, v := range listed(m) {
		if word, ok := v.(string); ok {
			into[word] = true
		}
	}
	branches, _ := m["anyOf"].([]any)
	for _, branch := range branches {
		if b, ok := branch.(map[string]any); ok && b["$ref"] == nil {
			collectWords(b, defs, into)
		}
	}
}

// walk visits every schema below a schema.
func walk(v any, visit func(map[string]any)) {
	switch v := v.(type) {
	case map[string]any:
		visit(v)
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if key != "enum" && key != "const" && key != "default" && key != "examples" {
				walk(v[key], visit)
			}
		}
	case []any:
		for _, member := range v {
			walk(member, visit)
		}
	}
}

// oddWords are strings that one format or another refuses, or takes unawares.
var oddWords = []string{
	"relative/path", "{", "a b", "file:///a", "http://[", "urn:x", "{+a}/{b}", "aGVsbG8", "a.b/c", "2025-11-25T10:00:00Z", "2.0", "1.0",
}

// wordsFor lists replacements of a string: itself spelled otherwise, itself
// longer and shorter, the odd words (far down only the first few), some of the
// words that a member of its name may be elsewhere, and a few of the document's
// others; which of them depends on the place.
func (h *hints) wordsFor(old, pointer string, far bool) []string {
	odd := oddWords
	if far {
		odd = odd[:4]
	}
	words := append([]string{old + "x", strings.ToUpper(old), " " + old}, odd...)
	sum := fnv.New32a()
	sum.Write([]byte(pointer))
	from := int(sum.Sum32() % 1021)
	words = append(words, rotated(h.member[pointer[strings.LastIndexByte(pointer, '/')+1:]], from, 6)...)
	words = append(words, rotated(h.words, from, 2)...)
	for _, size := range h.sizes {
		words = append(words, resize(old, size))
	}
	slices.Sort(words)
	return slices.DeleteFunc(slices.Compact(words), func(word string) bool { return word == old })
}

// rotated returns up to n words of a list, beginning somewhere in it.
func rotated(list []string, from, n int) []string {
	var out []string
	for i := range min(n, len(list)) {
		out = append(out, list[(from+i)%len(list)])
	}
	return out
}

// resize cuts a string to a length, or repeats its last letter up to it.
func resize(s string, size int) string {
	if len(s) >= size {
		return s[:size]
	}
	last := "x"
	if s != "" {
		last = s[len(s)-1:]
	}
	return s + strings.Repeat(last, size-len(s))
}

// numbersFor lists replacements of a number.
func (h *hints) numbersFor(old float64) []any {
	out := []any{
		old + 1, old - 1, old + 0.5, -old - 1, 101.0,
		json.Number("9007199254740993"), json.Number("1e400"), json.Number("-0.0"), json.Number("1e2"),
	}
	for _, n := range h.numbers {
		if n != old {
			out = append(out, n)
		}
	}
	return out
}

// number reads a number of a decoded document, whichever way it was decoded.
func number(v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, true
	case json.Number:
		n, err := v.Float64()
		return n, err == nil && !math.IsInf(n, 0)
	}
	return 0, false
}
