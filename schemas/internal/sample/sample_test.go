package sample

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

const document = `{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "$defs": {
    "Named": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string", "minLength": 2, "maxLength": 5}}},
    "Colour": {"enum": ["red", "green"]},
    "Shape": {"anyOf": [{"$ref": "#/$defs/Circle"}, {"$ref": "#/$defs/Group"}]},
    "Circle": {
      "$ref": "#/$defs/Named", "required": ["kind", "radius"],
      "properties": {"kind": {"const": "circle"}, "radius": {"type": "number", "minimum": 0, "maximum": 10}, "colour": {"$ref": "#/$defs/Colour"}}
    },
    "Group": {
      "allOf": [{"$ref": "#/$defs/Named"}, {"required": ["kind"], "properties": {"kind": {"const": "group"}}}],
      "properties": {
        "members": {"type": "array", "minItems": 1, "maxItems": 3, "items": {"$ref": "#/$defs/Shape"}},
        "labels": {"type": "object", "additionalProperties": {"type": ["string", "null"]}},
        "code": {"type": "string", "pattern": "^(a|b)[0-9]+/[^\\s]$"},
        "size": {"type": ["integer"], "minimum": 3}
      },
      "additionalProperties": true
    }
  }
}`

func read(t *testing.T) map[string]any {
	t.Helper()
	var doc map[string]any
	if err := json.Unmarshal([]byte(document), &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

func compile(t *testing.T, doc map[string]any, definition string) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	if err := c.AddResource("memory:///doc", doc); err != nil {
		t.Fatal(err)
	}
	return c.MustCompile("memory:///doc#/$defs/" + definition)
}

func TestValidInstancesAreValid(t *testing.T) {
	doc := read(t)
	src := New(doc)
	if got, want := src.Definitions(), []string{"Circle", "Colour", "Group", "Named", "Shape"}; !slices.Equal(got, want) {
		t.Fatalf("definitions are %v, want %v", got, want)
	}
	for _, definition := range src.Definitions() {
		schema := compile(t, doc, definition)
		for _, v := range src.Valid(definition) {
			if err := schema.Validate(v); err != nil {
				t.Errorf("%s: %v: %v", definition, v, err)
			}
		}
	}
	if got := src.Valid("Nothing"); got != nil {
		t.Errorf("instances of an unknown definition: %v", got)
	}
}

func TestInstancesVisitEveryBranchAndMember(t *testing.T) {
	var got []string
	for _, v := range New(read(t)).Valid("Shape") {
		obj := v.(map[string]any)
		got = append(got, obj["kind"].(string))
		for key, member := range obj {
			got = append(got, key)
			if key == "colour" {
				got = append(got, member.(string))
			}
			if labels, ok := member.(map[string]any); ok && key == "labels" && labels["extra"] == nil && len(labels) > 0 {
				got = append(got, "null label")
			}
			if members, ok := member.([]any); ok && len(members) == 3 {
				got = append(got, "largest array")
			}
		}
	}
	for _, want := range []string{"circle", "group", "colour", "red", "green", "members", "labels", "null label", "code", "size", "largest array"} {
		if !slices.Contains(got, want) {
			t.Errorf("no instance of Shape shows %s", want)
		}
	}
}

func TestEditsBreakEveryKeyword(t *testing.T) {
	doc := read(t)
	src := New(doc)
	schema := compile(t, doc, "Group")
	broken := map[string]bool{}
	for _, v := range src.Valid("Group") {
		before, _ := json.Marshal(v)
		for _, e := range src.Edits(v) {
			if err := schema.Validate(e.Apply(v)); err != nil {
				broken[e.Pointer+" "+e.What] = true
			}
		}
		if after, _ := json.Marshal(v); string(after) != string(before) {
			t.Fatalf("an edit changed the instance itself: %s became %s", before, after)
		}
	}
	for _, want := range []string{
		" retype null", " drop name", "/name retype null", "/name reword t", "/name reword texttt", "/kind reword circle",
		"/members empty", "/members grow to 4", "/members/0/radius renumber -1", "/members/0/colour reword RED",
		"/labels/extra retype fraction", "/code reword a b", "/size renumber 2", "/size retype fraction", "/size retype boolean",
	} {
		if !broken[want] {
			t.Errorf("no edit %q that breaks an instance of Group; there are %v", want, slices.Sorted(maps.Keys(broken)))
			return
		}
	}
}

func TestEveryRunIsTheSame(t *testing.T) {
	a, b := New(read(t)), New(read(t))
	for _, definition := range a.Definitions() {
		v, w := a.Valid(definition), b.Valid(definition)
		if !reflect.DeepEqual(v, w) {
			t.Fatalf("%s: two runs made different instances", definition)
		}
		for i := range v {
			e, f := a.Edits(v[i]), b.Edits(w[i])
			for j := range e {
				if !reflect.DeepEqual(e[j].Apply(v[i]), f[j].Apply(w[i])) {
					t.Fatalf("%s: two runs made different edits: %v and %v", definition, e[j].What, f[j].What)
				}
			}
		}
	}
}

// A definition may refer to itself without a member in between: that says
// nothing, and must not be followed for ever.
func TestReferencesInACircleEnd(t *testing.T) {
	var doc map[string]any
	if err := json.Unmarshal([]byte(`{"$defs": {
		"A": {"allOf": [{"$ref": "#/$defs/A"}], "type": "object", "required": ["x"], "properties": {"x": {"const": 1}}},
		"B": {"$ref": "#/$defs/C"}, "C": {"$ref": "#/$defs/B", "const": 2}
	}}`), &doc); err != nil {
		t.Fatal(err)
	}
	s := New(doc)
	for name, want := range map[string]any{"A": map[string]any{"x": 1.0}, "B": 2.0} {
		if got := s.Valid(name); len(got) == 0 || !reflect.DeepEqual(got[0], want) {
			t.Errorf("%s: %v, want %v first", name, got, want)
		}
	}
}
