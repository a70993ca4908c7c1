package schemas

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// subschema is one schema inside another.
type subschema struct {
	keywords map[string]any
	pointer  string
	// plain says that only `properties` led here from the root.
	plain bool
}

// eachSchema visits a schema and those within it, in the order of their keys.
// What stands under keywords that hold no schemas is data and is not visited:
// a property may well be called "properties" or "$ref".
func eachSchema(v any, visit func(subschema)) { walkSchema(v, "", true, visit) }

func walkSchema(v any, pointer string, plain bool, visit func(subschema)) {
	m, ok := v.(map[string]any)
	if !ok {
		return
	}
	visit(subschema{m, pointer, plain})
	for _, k := range slices.Sorted(maps.Keys(m)) {
		at := pointer + "/" + escapePointer(k)
		switch k {
		case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies":
			named, _ := m[k].(map[string]any)
			for _, name := range slices.Sorted(maps.Keys(named)) {
				walkSchema(named[name], at+"/"+escapePointer(name), plain && k == "properties", visit)
			}
		case "items", "additionalItems", "prefixItems", "contains", "unevaluatedItems",
			"additionalProperties", "unevaluatedProperties", "propertyNames", "contentSchema",
			"allOf", "anyOf", "oneOf", "not", "if", "then", "else":
			if list, ok := m[k].([]any); ok {
				for i, element := range list {
					walkSchema(element, at+"/"+strconv.Itoa(i), false, visit)
				}
			} else {
				walkSchema(m[k], at, false, visit)
			}
		}
	}
}

// reference is a $ref of a schema.
type reference struct {
	pointer string
	target  string
}

// references lists the references of a schema in order.
func references(v any) []reference {
	var found []reference
	eachSchema(v, func(s subschema) {
		for _, k := range []string{"$dynamicRef", "$recursiveRef", "$ref"} {
			if target, ok := s.keywords[k].(string); ok {
				found = append(found, reference{s.pointer + "/" + k, target})
			}
		}
	})
	return found
}

// dangling reports the local references that lead nowhere.
func dangling(v any) []Violation {
	var vs []Violation
	named := anchors(v)
	for _, r := range references(v) {
		target, local := strings.CutPrefix(r.target, "#")
		if !local || target == "" {
			continue
		}
		if strings.HasPrefix(target, "/") {
			if _, ok := follow(v, unescapeFragment(target)); ok {
				continue
			}
		} else if named[target] {
			continue
		}
		vs = append(vs, Violation{Pointer: r.pointer, Keyword: "$ref", Want: "a reference that resolves", Got: "string " + short(r.target)})
	}
	return vs
}

// anchors are the names that a schema gives to places within it.
func anchors(v any) map[string]bool {
	names := map[string]bool{}
	eachSchema(v, func(s subschema) {
		for _, k := range []string{"$anchor", "$dynamicAnchor"} {
			if name, ok := s.keywords[k].(string); ok {
				names[name] = true
			}
		}
		for _, k := range []string{"$id", "id"} {
			if id, ok := s.keywords[k].(string); ok && strings.HasPrefix(id, "#") {
				names[id[1:]] = true
			}
		}
	})
	return names
}

// external finds the reference that made the validator ask for an address.
func external(v any, address string) (reference, bool) {
	address, _, _ = strings.Cut(address, "#")
	refs := references(v)
	for _, r := range refs {
		target, _, _ := strings.Cut(r.target, "#")
		if target != "" && (target == address || strings.HasSuffix(address, "/"+strings.TrimPrefix(target, "./"))) {
			return r, true
		}
	}
	for _, r := range refs {
		if !strings.HasPrefix(r.target, "#") {
			return r, true
		}
	}
	return reference{}, false
}

// maxRemarks bounds the remarks on one schema.
const maxRemarks = 32

// remark notes what is legal and may surprise.
func (t *ToolSchema) remark(v any, d dialect, declared bool) {
	eachSchema(v, func(s subschema) {
		note := func(keyword, want string) {
			if len(t.Remarks) < maxRemarks {
				t.Remarks = append(t.Remarks, Violation{Pointer: s.pointer + "/" + keyword, Keyword: keyword, Want: want, Got: describe(s.keywords[keyword]), Advice: true})
			}
		}
		if _, ok := s.keywords["nullable"].(bool); ok {
			note("nullable", "a list of types: nullable has no effect in JSON Schema")
		}
		if f, ok := s.keywords["format"].(string); ok && isNumberFormat(f) {
			note("format", "bounds: this format is not one of JSON Schema and has no effect")
		}
		if p, ok := s.keywords["pattern"].(string); ok {
			if !t.patterns.judged(p) {
				note("pattern", "a pattern that this tool can evaluate; it is not judged")
			}
		}
		if _, ok := s.keywords["$ref"]; ok && !declared && t.Revision < R20251125 && constrains(s.keywords) {
			note("$ref", "a $schema: draft-07 ignores what stands beside a $ref, 2020-12 does not")
		}
		if _, ok := s.keywords["dependencies"]; ok && strings.HasSuffix(d.name, "2020-12") {
			note("dependencies", "dependentRequired or dependentSchemas: this keyword is not one of 2020-12")
		}
	})
}

// isNumberFormat names formats of OpenAPI and of code generators.
func isNumberFormat(f string) bool {
	switch f {
	case "uint", "uint8", "uint16", "uint32", "uint64", "int", "int8", "int16", "int32", "int64", "float", "double":
		return true
	}
	return false
}

// constrains reports whether an object has a keyword beside $ref that a
// validator would apply.
func constrains(m map[string]any) bool {
	for k := range m {
		switch k {
		case "$ref", "title", "description", "default", "examples", "deprecated", "$comment", "readOnly", "writeOnly", "$defs", "definitions", "$schema", "$id":
		default:
			return true
		}
	}
	return false
}
