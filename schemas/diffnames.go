package schemas

import (
	"maps"
	"slices"
	"strings"
)

// mapNames pairs the definitions of two documents: by name; by name without
// regard to case and plural; by the method that a message names; by the same
// member of a pair referring to them; by having the same members. Each step
// takes only what is left and only what is unambiguous.
func mapNames(a, b *Document) map[string]string {
	m := names{a: a, b: b, to: map[string]string{}, taken: map[string]bool{}}
	m.pairBy(func(_ *Document, name string) string { return name })
	m.pairBy(func(_ *Document, name string) string { return plainName(name) })
	m.pairBy(func(_ *Document, name string) string { return strings.TrimSuffix(plainName(name), "response") })
	m.pairBy(func(d *Document, name string) string { return d.methodOf(name) })
	m.follow()
	m.pairBy(func(d *Document, name string) string { return d.membersOf(name) })
	m.follow()
	return m.to
}

type names struct {
	a, b  *Document
	to    map[string]string // A's name → B's
	taken map[string]bool   // B's names
}

// pairBy pairs the definitions that have the same key, when it is the only one
// of that key on either side; "" is no key.
func (m *names) pairBy(key func(d *Document, name string) string) {
	left := func(d *Document, used func(string) bool) map[string][]string {
		keys := map[string][]string{}
		for _, name := range d.file.names {
			if k := key(d, name); k != "" && !used(name) {
				keys[k] = append(keys[k], name)
			}
		}
		return keys
	}
	keysA := left(m.a, func(name string) bool { _, ok := m.to[name]; return ok })
	keysB := left(m.b, func(name string) bool { return m.taken[name] })
	for k, namesA := range keysA {
		if namesB := keysB[k]; len(namesA) == 1 && len(namesB) == 1 {
			m.pair(namesA[0], namesB[0])
		}
	}
}

func (m *names) pair(a, b string) {
	m.to[a], m.taken[b] = b, true
}

// follow pairs what the same member of a pair refers to, until nothing is new.
func (m *names) follow() {
	for fresh := true; fresh; {
		fresh = false
		for _, a := range slices.Sorted(maps.Keys(m.to)) {
			refsA, refsB := m.a.memberRefs(a), m.b.memberRefs(m.to[a])
			for _, member := range slices.Sorted(maps.Keys(refsA)) {
				x, y := refsA[member], refsB[member]
				_, used := m.to[x]
				if y == "" || used || m.taken[y] || !slices.Contains(m.a.file.names, x) || !slices.Contains(m.b.file.names, y) {
					continue
				}
				m.pair(x, y)
				fresh = true
			}
		}
	}
}

func plainName(name string) string {
	return strings.TrimSuffix(strings.ToLower(strings.ReplaceAll(name, "_", "")), "s")
}

// properties returns the members that a definition names, through references
// and conjunctions.
func (d *Document) properties(schema any, into map[string]any, depth int) {
	m, ok := schema.(map[string]any)
	if !ok || depth > 8 {
		return
	}
	if ref, ok := m["$ref"].(string); ok {
		if _, name, rest := d.file.doc.parseRef(ref); name != "" && rest == "" {
			d.properties(d.file.doc.definitions[name], into, depth+1)
		}
	}
	if all, ok := m["allOf"].([]any); ok {
		for _, member := range all {
			d.properties(member, into, depth+1)
		}
	}
	if props, ok := m["properties"].(map[string]any); ok {
		maps.Copy(into, props)
	}
}

// methodOf returns the constant of a definition's member method, "" if there is
// none.
func (d *Document) methodOf(name string) string {
	props := map[string]any{}
	d.properties(d.file.doc.definitions[name], props, 0)
	method, ok := props["method"]
	for range 8 {
		m, isObject := method.(map[string]any)
		if !ok || !isObject {
			return ""
		}
		if c, ok := m["const"].(string); ok {
			return c
		}
		ref, _ := m["$ref"].(string)
		_, target, _ := d.file.doc.parseRef(ref)
		method, ok = d.file.doc.definitions[target]
	}
	return ""
}

// membersOf lists the members of an object with more than one.
func (d *Document) membersOf(name string) string {
	props := map[string]any{}
	d.properties(d.file.doc.definitions[name], props, 0)
	if len(props) < 2 {
		return ""
	}
	return strings.Join(slices.Sorted(maps.Keys(props)), " ")
}

// memberRefs returns, for each member that is a reference (or a reference
// beside null, or a list of references), the definition that it leads to.
func (d *Document) memberRefs(name string) map[string]string {
	props := map[string]any{}
	d.properties(d.file.doc.definitions[name], props, 0)
	refs := map[string]string{}
	for member, schema := range props {
		if target := d.onlyRef(schema); target != "" {
			refs[member] = target
		}
	}
	return refs
}

func (d *Document) onlyRef(schema any) string {
	m, _ := schema.(map[string]any)
	if ref, ok := m["$ref"].(string); ok {
		_, name, _ := d.file.doc.parseRef(ref)
		return name
	}
	for _, keyword := range []string{"allOf", "anyOf", "oneOf"} {
		list, _ := m[keyword].([]any)
		list = slices.DeleteFunc(slices.Clone(list), func(v any) bool {
			member, _ := v.(map[string]any)
			return member["type"] == "null"
		})
		if len(list) == 1 {
			return d.onlyRef(list[0])
		}
	}
	if items, ok := m["items"]; ok {
		return d.onlyRef(items)
	}
	return ""
}
