// Package sample makes instances of JSON Schemas: valid ones that between them
// visit every branch of a definition, and broken ones that are one edit away.
//
// It exists to compare schemas. Two schemas that give the same verdict on the
// minimal instance, the full one, each optional member alone, each branch of
// each union, and on each of those with one thing wrong, say the same thing as
// far as anybody can tell without a proof.
//
//	src := sample.New(doc)                       // a decoded schema with definitions or $defs
//	for _, v := range src.Valid("Tool") {        // minimal, full, each branch …
//		for _, e := range src.Edits(v) {         // each place, each way to break it
//			verdict(e.Apply(v))
//		}
//	}
//
// The order and the values are the same in every run. It knows the keywords
// that protocol schemas use and no more: it is no general generator, and what
// it cannot satisfy (such as not or if) it leaves out, which the caller notices
// because an instance that should be valid is rejected.
package sample

import (
	"maps"
	"slices"
	"strings"
)

// Source makes instances of the definitions of one schema document.
type Source struct {
	defs  map[string]any
	hints hints
}

// New returns a source for a decoded schema document, whichever of definitions
// and $defs it uses.
func New(doc map[string]any) *Source {
	defs, _ := doc["$defs"].(map[string]any)
	if defs == nil {
		defs, _ = doc["definitions"].(map[string]any)
	}
	return &Source{defs: defs, hints: collectHints(defs)}
}

// Definitions lists the names of the definitions in order.
func (s *Source) Definitions() []string {
	return slices.Sorted(maps.Keys(s.defs))
}

// Valid returns valid instances of a definition: the minimal and the full one
// first, then one for each optional member, each branch and each nested variety.
func (s *Source) Valid(definition string) []any {
	def, ok := s.defs[definition]
	if !ok {
		return nil
	}
	out := []any{s.value(s.shape(def), nested{}), s.value(s.shape(def), nested{full: true})}
	return append(out, s.varieties(def, 0)...)
}

// nested says how the value of a place inside an instance is made.
type nested struct {
	full  bool // with all optional members, not with none
	depth int
}

// Beyond fullDepth even a full instance is minimal, so that recursive
// definitions end; varieties are made down to varietyDepth.
const (
	fullDepth    = 4
	varietyDepth = 2
)

func (n nested) inner() nested {
	return nested{full: n.full && n.depth < fullDepth, depth: n.depth + 1}
}

// value makes one value of a shape.
func (s *Source) value(sh shape, n nested) any {
	if len(sh.values) > 0 {
		return sh.values[0]
	}
	switch sh.typ() {
	case "object":
		return s.object(sh, n)
	case "array":
		return s.array(sh, n)
	case "string":
		return sh.text()
	case "integer":
		return sh.integer()
	case "number":
		return sh.number()
	case "boolean":
		return true
	case "null":
		return nil
	}
	if n.full && n.depth < fullDepth {
		return map[string]any{"anything": []any{"goes", 1.5, nil}}
	}
	return "anything"
}

func (s *Source) object(sh shape, n nested) map[string]any {
	obj := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(sh.properties)) {
		if sh.required[name] || n.full && n.depth < fullDepth {
			obj[name] = s.value(s.shape(sh.properties[name]...), n.inner())
		}
	}
	for name := range sh.required {
		if _, ok := obj[name]; !ok {
			obj[name] = s.value(s.shape(sh.additional...), n.inner())
		}
	}
	if n.full && n.depth < fullDepth && len(sh.additional) > 0 && !sh.closed {
		obj["extra"] = s.value(s.shape(sh.additional...), n.inner())
	}
	return obj
}

func (s *Source) array(sh shape, n nested) []any {
	size := int(sh.minItems)
	if n.full && size == 0 {
		size = 1
	}
	arr := []any{}
	for range size {
		arr = append(arr, s.value(s.shape(sh.items...), n.inner()))
	}
	return arr
}

// varieties makes the valid values of a schema beyond the minimal and the full
// one: each branch of its unions, each listed value, each optional member, and
// the varieties of each member and item in its place.
func (s *Source) varieties(schema any, depth int) []any {
	var out []any
	for _, sh := range s.branches(schema) {
		out = append(out, s.value(sh, nested{depth: depth}), s.value(sh, nested{full: true, depth: depth}))
		for _, t := range sh.typed() {
			out = append(out, s.ofType(t, depth)...)
		}
	}
	return out
}

// ofType makes the varieties of a shape with a single type.
func (s *Source) ofType(sh shape, depth int) []any {
	if len(sh.values) > 0 {
		return sh.values
	}
	switch sh.typ() {
	case "object":
		return s.objects(sh, depth)
	case "array":
		return s.arrays(sh, depth)
	case "string":
		return []any{sh.text()}
	case "integer", "number":
		return sh.numbers()
	case "boolean":
		return []any{true, false}
	case "null":
		return []any{nil}
	}
	return []any{nil, false, 0.0, -1.5, "", []any{}, map[string]any{}, []any{nil, map[string]any{"a": []any{}}}}
}

func (s *Source) objects(sh shape, depth int) []any {
	minimal := s.object(sh, nested{depth: depth})
	out := []any{minimal}
	if depth >= varietyDepth {
		return out
	}
	with := func(name string, v any) {
		obj := maps.Clone(minimal)
		obj[name] = v
		out = append(out, obj)
	}
	for _, name := range slices.Sorted(maps.Keys(sh.properties)) {
		member := sh.properties[name]
		with(name, s.value(s.shape(member...), nested{depth: depth + 1}))
		with(name, s.value(s.shape(member...), nested{full: true, depth: depth + 1}))
		for _, v := range s.varieties(conjunction(member), depth+1) {
			with(name, v)
		}
	}
	if sh.closed {
		return out
	}
	for _, v := range s.varieties(conjunction(sh.additional), depth+1) {
		with("extra", v)
	}
	return out
}

func (s *Source) arrays(sh shape, depth int) []any {
	item := s.value(s.shape(sh.items...), nested{depth: depth + 1})
	var out []any
	if sh.minItems == 0 {
		out = append(out, []any{})
	}
	if sh.maxItems > 0 {
		out = append(out, slices.Repeat([]any{item}, int(sh.maxItems)))
	}
	if depth >= varietyDepth {
		return out
	}
	out = append(out, []any{item, item})
	for _, v := range s.varieties(conjunction(sh.items), depth+1) {
		out = append(out, append(slices.Repeat([]any{item}, max(0, int(sh.minItems)-1)), v))
	}
	return out
}

// conjunction is the schema that demands all of several.
func conjunction(schemas []any) any {
	if len(schemas) == 1 {
		return schemas[0]
	}
	return map[string]any{"allOf": schemas}
}

// definition follows a reference within the document.
func (s *Source) definition(ref string) any {
	name := ref[strings.LastIndex(ref, "/")+1:]
	return s.defs[name]
}
