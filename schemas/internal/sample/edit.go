package sample

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Edit is one change at one place of an instance.
type Edit struct {
	Pointer string // JSON Pointer to the place
	What    string // what is done there, such as "drop name" or "retype null"
	path    []any  // the keys and indices that lead there
	to      func(old any) any
}

// Apply returns the instance with the edit made; the instance itself stays as
// it is, and shares what did not change.
func (e Edit) Apply(instance any) any {
	return rewrite(instance, e.path, e.to)
}

func rewrite(v any, path []any, to func(any) any) any {
	if len(path) == 0 {
		return to(v)
	}
	switch v := v.(type) {
	case map[string]any:
		key := path[0].(string)
		obj := maps.Clone(v)
		obj[key] = rewrite(v[key], path[1:], to)
		return obj
	case []any:
		i := path[0].(int)
		arr := slices.Clone(v)
		arr[i] = rewrite(v[i], path[1:], to)
		return arr
	}
	return v
}

// Edits lists every change that Source knows to make to an instance: at each
// place each member dropped, a member added, the value nulled and retyped,
// constants and enumerations broken, bounds crossed, arrays emptied and grown.
func (s *Source) Edits(instance any) []Edit {
	var out []Edit
	(&editor{hints: s.hints, out: &out}).edits(instance)
	return out
}

// editor walks an instance and lists edits; it stands at one place.
type editor struct {
	hints
	pointer string
	path    []any
	out     *[]Edit
}

// at is the editor one step further down.
func (ed *editor) at(token any) *editor {
	name := strings.NewReplacer("~", "~0", "/", "~1").Replace(fmt.Sprint(token))
	return &editor{ed.hints, ed.pointer + "/" + name, append(slices.Clip(ed.path), token), ed.out}
}

func (ed *editor) add(what string, to func(old any) any) {
	*ed.out = append(*ed.out, Edit{Pointer: ed.pointer, What: what, path: ed.path, to: to})
}

func (ed *editor) edits(v any) {
	for _, other := range ed.others() {
		ed.add("retype "+other.name, func(any) any { return other.value })
	}
	switch v := v.(type) {
	case map[string]any:
		ed.objectEdits(v)
	case []any:
		ed.arrayEdits(v)
	case string:
		for _, word := range ed.wordsFor(v, ed.pointer, ed.far()) {
			ed.add("reword "+word, func(any) any { return word })
		}
	case float64, json.Number:
		n, _ := number(v)
		for _, other := range ed.numbersFor(n) {
			ed.add(fmt.Sprintf("renumber %v", other), func(any) any { return other })
		}
	case bool:
		ed.add("flip", func(any) any { return !v })
	}
}

func (ed *editor) objectEdits(v map[string]any) {
	names := slices.Sorted(maps.Keys(v))
	for _, name := range names {
		ed.add("drop "+name, func(old any) any {
			obj := maps.Clone(old.(map[string]any))
			delete(obj, name)
			return obj
		})
	}
	for _, extra := range ed.others() {
		ed.add("add a member, "+extra.name, func(old any) any {
			obj := maps.Clone(old.(map[string]any))
			obj["unheardOf"] = extra.value
			return obj
		})
	}
	for _, name := range names {
		ed.at(name).edits(v[name])
	}
}

func (ed *editor) arrayEdits(v []any) {
	ed.add("empty", func(any) any { return []any{} })
	for _, extra := range ed.others() {
		ed.add("append "+extra.name, func(old any) any { return append(slices.Clone(old.([]any)), extra.value) })
	}
	for _, size := range ed.sizes {
		if len(v) > 0 {
			ed.add(fmt.Sprintf("grow to %d", size), func(old any) any { return slices.Repeat(old.([]any)[:1], size) })
		}
	}
	for i := range min(len(v), 2) {
		ed.add(fmt.Sprintf("remove item %d", i), func(old any) any { return slices.Delete(slices.Clone(old.([]any)), i, i+1) })
		ed.at(i).edits(v[i])
	}
}

// other is a value that stands in for one of another type.
type other struct {
	name  string
	value any
}

// others are the values by which a value is replaced to change its type: the
// first few tell most schemas apart and are all that is tried far down. Numbers
// come as integer, as integer in another spelling, and as fraction.
func (ed *editor) others() []other {
	all := [...]other{
		{"null", nil}, {"string", "text"}, {"object", map[string]any{}}, {"fraction", 1.5},
		{"integer", 0.0}, {"boolean", true}, {"array", []any{}},
		{"strings", []any{"text"}}, {"nulls", []any{nil}}, {"member", map[string]any{"text": nil}},
		{"integer spelled 1.0", json.Number("1.0")}, {"empty string", ""},
	}
	if ed.far() {
		return slices.Clone(all[:7])
	}
	return slices.Clone(all[:])
}

// far reports whether the place lies so deep that fewer edits will do: what
// stands there is a definition of its own as a rule, and edited as such.
func (ed *editor) far() bool { return len(ed.path) > 2 }
