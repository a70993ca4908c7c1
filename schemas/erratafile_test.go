package schemas

import (
	"strings"
	"testing"
)

func TestErrataFileErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"errata:\n  - id: X\n    on: [A]\n    require: {}\n", "f.yaml:2: erratum X: say why"},
		{"errata:\n  - on: [A]\n    require: {}\n    why: w\n", "the id is missing"},
		{"errata:\n  - id: X\n    why: w\n", "exactly one of"},
		{"errata:\n  - id: X\n    require: {type: object}\n    assert: byte\n    why: w\n    source: s\n", "exactly one of"},
		{"errata:\n  - id: X\n    require: {type: object}\n    why: w\n    source: s\n", "name the definitions"},
		{"errata:\n  - id: X\n    elsewhere: nowhere\n    why: w\n", `elsewhere is "nowhere"`},
		{"errata:\n  - id: X\n    assert: byte\n    why: w\n", "name the source"},
		{"errata:\n  - id: X\n    asert: byte\n    why: w\n", "field asert not found"},
		{"errata: 3\n", "cannot unmarshal"},
		{"other: []\n", "field other not found"},
		{"errata: [", "f.yaml:"},
	} {
		if _, err := parseErrata("f.yaml", []byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got %v, want %s", c.text, err, c.want)
		}
	}
}

func TestErrataEdits(t *testing.T) {
	for _, c := range []struct{ edit, definition, want string }{
		{`{set: /properties/a, to: {type: string}}`, `{"properties":{"a":{}}}`, `{"properties":{"a":{"type":"string"}}}`},
		{`{set: "", to: true}`, `{"a":1}`, ``},
		{`{set: /x, to: [1, 2.5, null]}`, `{}`, `{"x":[1,2.5,null]}`},
		{`{remove: id, from: /required}`, `{"required":["a","id"]}`, `{"required":["a"]}`},
		{`{remove: id, from: /required}`, `{"required":["a"]}`, `error: /required does not hold id`},
		{`{delete: /anyOf/1/type}`, `{"anyOf":[{},{"type":"x"}]}`, `{"anyOf":[{},{}]}`},
		{`{delete: /nothing}`, `{}`, `error: there is no /nothing`},
		{`{set: /a/b/c, to: 1}`, `{"a":{}}`, `error: there is no "b"`},
		{`{set: /anyOf/7/c, to: 1}`, `{"anyOf":[]}`, `error: there is no element "7"`},
		{`{set: /a~1b, to: 1}`, `{}`, `{"a/b":1}`},
		{`{set: /a, to: 2025-11-25}`, `{}`, `error: 2025-11-25 is a date to YAML: write it in quotes`},
	} {
		errata, err := parseErrata("f.yaml", []byte("errata:\n  - id: X\n    on: [A]\n    edit: ["+c.edit+"]\n    why: w\n    source: s\n"))
		if err != nil {
			t.Errorf("%s: %v", c.edit, err)
			continue
		}
		definition, err := decodeJSON([]byte(c.definition))
		if err != nil {
			t.Fatal(err)
		}
		got, _, err := errata[0].apply(definition)
		text := short(got)
		if err != nil {
			text = "error: " + err.Error()
		}
		if c.want != "" && text != c.want {
			t.Errorf("%s on %s: got %s, want %s", c.edit, c.definition, text, c.want)
		}
		if c.want == "" && got != true {
			t.Errorf("%s on %s: got %s, want true", c.edit, c.definition, text)
		}
	}
}

// TestEveryItemIsAnswered: each item of the list of discrepancies that concerns
// a revision stands in its errata, changed or with the reason why not.
func TestEveryItemIsAnswered(t *testing.T) {
	s := load(t, Options{})
	items := map[Revision]string{
		R20241105: "S3 S4 S5 S9 S10 L1 L2 L4 L5 L18 L20 L21 L22 L23 L24 L33 L34 L39 L40 L45",
		R20250326: "S3 S4 S5 S10 L1 L2 L3 L4 L5 L18 L20 L21 L22 L23 L24 L33 L34 L39 L40 L45",
		R20250618: "S2 S3 S4 S5 S6 S7 S8 S10 L1 L2 L4 L5 L18 L20 L21 L22 L23 L24 L26 L27 L29 L30 L31 L33 L34 L39 L40 L45",
		R20251125: "S2 S3 S4 S5 S6 S7 S8 S10 L1 L2 L6 L9 L17 L18 L20 L21 L22 L23 L24 L25 L26 L27 L29 L30 L31 L32 L33 L34 L39 L40 L41 L42 L43 L44 L45",
		R20260728: "S1 S2 S4 S5 S10 L1 L2 L7 L10 L11 L12 L13 L14 L15 L16 L17 L18 L19 L21 L22 L23 L24 L25 L26 L27 L28 L29 L30 L31 L32 L33 L34 L35 L36 L37 L38 L39 L40 L44 L45",
		Tasks:     "L8 L26",
	}
	for rev, list := range items {
		errata, err := s.Errata(rev)
		if err != nil {
			t.Fatal(err)
		}
		have := map[string]bool{}
		for _, e := range errata {
			have[e.ID] = true
		}
		for id := range strings.FieldsSeq(list) {
			if !have[id] {
				t.Errorf("%s: %s is not answered", rev, id)
			}
		}
	}
}
