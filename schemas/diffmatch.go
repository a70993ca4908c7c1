package schemas

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/schemas/internal/sample"
)

// maxDifferences bounds what is reported of one pair.
const maxDifferences = 25

// matcher compares definitions by the verdicts of both sides.
type matcher struct {
	a, b             *Document
	sampleA, sampleB *sample.Source
	named            map[string]bool // the members that either document names
	effort           effort
}

// found is a difference under way.
type found struct {
	byA      bool // A accepts
	instance any
	text     string // of the instance
	why      Violation
}

// smaller orders differences of one cause: null before others, as it is the
// one most often meant, then by size.
func (f found) smaller(g found) bool {
	if n, m := f.why.Got == "null", g.why.Got == "null"; n != m {
		return n
	}
	return f.shorter(g)
}

func (f found) shorter(g found) bool {
	if len(f.text) != len(g.text) {
		return len(f.text) < len(g.text)
	}
	return f.text < g.text
}

// cause collects the differences of one key.
type cause struct {
	best  found
	kinds []string // what the refusing side got
}

func (m *matcher) compare(nameA, nameB string) Pair {
	p := Pair{A: nameA, B: nameB}
	for _, side := range []struct {
		document *Document
		name     string
	}{{m.a, nameA}, {m.b, nameB}} {
		if _, err := side.document.file.compile(side.name); err != nil {
			p.Failed = err.Error()
			return p
		}
	}
	causes := map[string]*cause{}
	for _, v := range m.instances(nameA, nameB) {
		p.Compared++
		f, ok := m.differ(nameA, nameB, v)
		if !ok {
			continue
		}
		key := m.key(f)
		c := causes[key]
		if c == nil {
			c = &cause{best: f}
			causes[key] = c
		} else if f.smaller(c.best) {
			c.best = f
		}
		if kind := kindOfGot(f.why.Got); !slices.Contains(c.kinds, kind) {
			c.kinds = append(c.kinds, kind)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(causes))[:min(len(causes), maxDifferences)] {
		c := causes[key]
		d := m.shrink(nameA, nameB, c.best)
		d.Also = slices.DeleteFunc(sorted(c.kinds), func(kind string) bool { return kind == kindOfGot(c.best.why.Got) })
		p.Differences = append(p.Differences, d)
	}
	return p
}

// key is equal for differences of one cause: the same side refuses at the same
// place, for the same reason. Elements of arrays are one place, and so are
// members that neither document names.
func (m *matcher) key(f found) string {
	side := "B"
	if f.byA {
		side = "A"
	}
	tokens := strings.Split(f.why.Pointer, "/")
	for i, t := range tokens {
		if i > 0 && !m.named[t] {
			tokens[i] = "*"
		}
	}
	return strings.Join([]string{strings.Join(tokens, "/"), f.why.Keyword, f.why.Definition, side}, " ")
}

// kindOfGot is the type of what was got.
func kindOfGot(got string) string {
	switch {
	case strings.Contains(got, " array"):
		return "array"
	case strings.Contains(got, " object"):
		return "object"
	}
	word, _, _ := strings.Cut(got, " ")
	return word
}

// differ asks both sides and, if they differ, the refusing one why.
func (m *matcher) differ(nameA, nameB string, v any) (found, bool) {
	a, b := m.a.judge(nameA, v), m.b.judge(nameB, v)
	if (len(a) == 0) == (len(b) == 0) {
		return found{}, false
	}
	f := found{byA: len(a) == 0, instance: v}
	if f.why = slices.Concat(a, b)[0]; f.why.Definition == "" {
		f.why.Definition = nameA
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return found{}, false
	}
	f.text = string(raw)
	return f, true
}

func (d *Document) judge(name string, v any) []Violation {
	sch, err := d.file.compile(name)
	if err != nil {
		return nil
	}
	err = sch.Validate(v)
	if err == nil {
		return nil
	}
	vs, err := d.file.explain(err, v)
	if err != nil || len(vs) == 0 {
		return []Violation{{Definition: name, Keyword: "schema", Want: "an instance that fits", Got: describe(v)}}
	}
	return vs
}

// instances makes the values on which a pair is compared.
func (m *matcher) instances(nameA, nameB string) []any {
	seen := map[string]bool{}
	var out []any
	add := func(v any) {
		raw, err := json.Marshal(v)
		if err != nil || seen[string(raw)] {
			return
		}
		seen[string(raw)] = true
		if v, err = decodeJSON(raw); err == nil {
			out = append(out, v)
		}
	}
	for _, side := range []struct {
		source *sample.Source
		name   string
	}{{m.sampleA, nameA}, {m.sampleB, nameB}} {
		whole := side.source.Valid(side.name)
		for _, v := range everyNth(whole, m.effort.whole) {
			add(v)
		}
		broken := 0
		for _, v := range whole {
			if broken >= m.effort.broken {
				break
			}
			for _, e := range side.source.Edits(v) {
				if broken++; broken > m.effort.broken {
					break
				}
				add(e.Apply(v))
			}
		}
	}
	return out
}

// everyNth thins a list out to at most limit elements, the first included.
func everyNth(list []any, limit int) []any {
	if len(list) <= limit {
		return list
	}
	step := (len(list) + limit - 1) / limit
	var out []any
	for i := 0; i < len(list); i += step {
		out = append(out, list[i])
	}
	return out
}

// shrink makes the instance of a difference as small as it gets while the same
// side refuses it for the same reason.
func (m *matcher) shrink(nameA, nameB string, f found) Difference {
	key, null := m.key(f), f.why.Got == "null"
	for again := true; again; {
		again = false
		for _, smaller := range reductions(f.instance) {
			if next, ok := m.differ(nameA, nameB, smaller); ok && next.shorter(f) && m.key(next) == key && null == (next.why.Got == "null") {
				f, again = next, true
				break
			}
		}
	}
	raw, err := json.Marshal(f.instance)
	if err != nil {
		raw = json.RawMessage("null")
	}
	d := Difference{AcceptedBy: m.a.Name, RefusedBy: m.b.Name, Instance: raw, Why: f.why}
	if !f.byA {
		d.AcceptedBy, d.RefusedBy = d.RefusedBy, d.AcceptedBy
	}
	return d
}

// reductions lists simpler values: one member or element less, or one of them
// simpler itself.
func reductions(v any) []any {
	var out []any
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			less := maps.Clone(v)
			delete(less, k)
			out = append(out, less)
		}
		for _, k := range slices.Sorted(maps.Keys(v)) {
			for _, simpler := range reductions(v[k]) {
				changed := maps.Clone(v)
				changed[k] = simpler
				out = append(out, changed)
			}
		}
	case []any:
		for i := range v {
			out = append(out, slices.Delete(slices.Clone(v), i, i+1))
		}
		for i := range v {
			for _, simpler := range reductions(v[i]) {
				changed := slices.Clone(v)
				changed[i] = simpler
				out = append(out, changed)
			}
		}
	case string:
		if v != "" {
			out = append(out, "")
		}
		if len(v) > 1 {
			out = append(out, v[:1])
		}
	case json.Number:
		if v != "0" {
			out = append(out, json.Number("0"), json.Number("-1"))
		}
	}
	return out
}
