package schemas

import (
	"fmt"
	"strings"
	"testing"
)

func lines(vs []Violation) string {
	var out []string
	for _, v := range vs {
		out = append(out, fmt.Sprintf("%s %s: want %s, got %s", v.Pointer, v.Keyword, v.Want, v.Got))
	}
	return strings.Join(out, "\n")
}

// TestToolSchemaVerdicts gives each complaint of the field (J1 to J23) its
// verdict: want "" passes, otherwise it is the start of the only violation.
func TestToolSchemaVerdicts(t *testing.T) {
	const s2020 = `"$schema":"https://json-schema.org/draft/2020-12/schema"`
	const root = `"type":"object"`
	for _, c := range []struct {
		name     string
		rev      Revision
		role     SchemaRole
		schema   string
		want     string
		remark   string // the start of a remark that must be there; "" for none at all
		unusable bool
	}{
		{"J1 empty", R20251125, Input, `{}`, `/type const: want "object", got absent`, "", false},
		{"J1 only $schema", R20260728, Input, `{` + s2020 + `}`, `/type const: want "object", got absent`, "", false},
		{"J1 only anyOf", R20241105, Input, `{"anyOf":[{"type":"object"}]}`, `/type const: want "object", got absent`, "", false},
		{"J1 only $ref", R20251125, Input, `{"$ref":"#/$defs/a","$defs":{"a":{"type":"object"}}}`, `/type const: want "object", got absent`, "", false},
		{"S5 list of one type", R20260728, Input, `{"type":["object"]}`, `/type const: want "object", got an array of 1 element`, "", false},
		{"null", R20251125, Input, `null`, ` type: want a schema object, got null`, "", true},
		{"boolean", R20260728, Output, `true`, ` type: want a schema object, got boolean true`, "", true},
		{"J3 array root, old", R20251125, Output, `{"type":"array"}`, `/type const: want "object", got string "array"`, "", false},
		{"J3 array root, new", R20260728, Output, `{"type":"array"}`, "", "", false},
		{"J3 no type, new", R20260728, Output, `{"anyOf":[{"type":"string"},{"type":"null"}]}`, "", "", false},
		{"J6 2020-12 declared", R20250618, Input, `{` + s2020 + `,` + root + `}`, "", "", false},
		{"J6 with fragment", R20250618, Input, `{"$schema":"http://json-schema.org/draft-07/schema#",` + root + `}`, "", "", false},
		{"J7 draft-04", R20251125, Input, `{"$schema":"http://json-schema.org/draft-04/schema#",` + root + `,"properties":{"a":{"type":"integer","minimum":0,"exclusiveMinimum":true}}}`, "", "", false},
		{"J7 2019-09", R20251125, Input, `{"$schema":"https://json-schema.org/draft/2019-09/schema",` + root + `}`, "", "", false},
		{"J7 draft-06", R20251125, Input, `{"$schema":"http://json-schema.org/draft-06/schema",` + root + `}`, "", "", false},
		{"J7 unknown dialect", R20251125, Input, `{"$schema":"https://example.com/mine",` + root + `}`, "", "/$schema $schema: want a dialect", true},
		{"J8 local reference", R20251125, Input, `{` + root + `,"properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"type":"string"}}}`, "", "", false},
		{"J8 definitions, $anchor, $id", R20251125, Input, `{` + root + `,"$id":"https://example.com/x","properties":{"a":{"$ref":"#A"},"b":{"$ref":"https://example.com/x#/definitions/A"}},"definitions":{"A":{"$anchor":"A","type":"string"}}}`, "", "", false},
		{"J9 dangling", R20250618, Output, `{` + root + `,"properties":{"v":{"$ref":"#/$defs/Screen"}}}`, `/properties/v/$ref $ref: want a reference that resolves, got string "#/$defs/Screen"`, "", true},
		{"J9 dangling anchor", R20251125, Input, `{` + root + `,"properties":{"v":{"$ref":"#Screen"}}}`, `/properties/v/$ref $ref: want a reference that resolves`, "", true},
		{"J10 recursive", R20251125, Input, `{` + root + `,"properties":{"child":{"$ref":"#"}}}`, "", "", false},
		{"J11 boolean exclusiveMinimum", R20250618, Input, `{` + s2020 + `,` + root + `,"properties":{"ttl":{"type":"integer","minimum":0,"exclusiveMinimum":true}}}`, `/properties/ttl/exclusiveMinimum type: want number, got boolean true`, "", true},
		{"J11 the same, undeclared", R20250618, Input, `{` + root + `,"properties":{"ttl":{"type":"integer","minimum":0,"exclusiveMinimum":true}}}`, `/properties/ttl/exclusiveMinimum type: want number, got boolean true`, "", true},
		{"J11 definitions and id pass", R20251125, Input, `{` + root + `,"id":"x","definitions":{"a":{}},"whatever":3}`, "", "", false},
		{"J12 formats", R20251125, Input, `{` + root + `,"properties":{"a":{"type":"integer","format":"uint64"}}}`, "", "/properties/a/format format: want bounds", false},
		{"J13 nullable", R20251125, Input, `{` + root + `,"properties":{"a":{"type":"string","nullable":true}}}`, "", "/properties/a/nullable nullable: want a list of types", false},
		{"J15 array without items", R20251125, Input, `{` + root + `,"properties":{"a":{"type":"array"},"b":{"type":"object"}}}`, "", "", false},
		{"J16 anything", R20251125, Input, `{` + root + `,"properties":{"a":{},"b":true}}`, "", "", false},
		{"J17 properties: []", R20251125, Input, `{` + root + `,"properties":[]}`, `/properties type: want object, got an empty array`, "", true},
		{"J18 composition beside the type", R20251125, Input, `{` + root + `,"oneOf":[{"required":["a"]},{"required":["b"]}]}`, "", "", false},
		{"J20 array-form items, old", R20250618, Input, `{` + root + `,"properties":{"a":{"type":"array","items":[{"type":"string"}]}}}`, "", "/properties/a/items $schema: want a $schema", false},
		{"J20 array-form items, new", R20251125, Input, `{` + root + `,"properties":{"a":{"type":"array","items":[{"type":"string"}]}}}`, `/properties/a/items type: want boolean or object, got an array of 1 element`, "", true},
		{"J20 $ref with siblings, old", R20250618, Input, `{` + root + `,"properties":{"a":{"$ref":"#/$defs/A","minLength":2}},"$defs":{"A":{"type":"string"}}}`, "", "/properties/a/$ref $ref: want a $schema", false},
		{"J20 dependencies", R20251125, Input, `{` + root + `,"dependencies":{"a":["b"]}}`, "", "/dependencies dependencies: want dependentRequired", false},
		{"J22 remote", R20260728, Input, `{` + root + `,"properties":{"a":{"$ref":"https://example.com/a.json"}}}`, "", `/properties/a/$ref $ref: want a reference within the schema, got "https://example.com/a.json"`, true},
		{"J22 file", R20251125, Input, `{` + root + `,"properties":{"a":{"$ref":"file:///etc/hostname"}}}`, "", `/properties/a/$ref $ref: want a reference within the schema`, true},
		{"J22 relative", R20251125, Input, `{` + root + `,"properties":{"a":{"$ref":"other.json#/x"}}}`, "", `/properties/a/$ref $ref: want a reference within the schema`, true},
		{"meta-schema as a type", R20251125, Input, `{` + root + `,"properties":{"a":{"$ref":"https://json-schema.org/draft/2020-12/schema"}}}`, "", "", false},
		{"unknown type", R20251125, Input, `{` + root + `,"properties":{"a":{"type":"strin"}}}`, `/properties/a/type enum: want one of`, "", true},
		{"required is a string", R20260728, Input, `{` + root + `,"required":"a"}`, `/required type: want array, got string "a"`, "", true},
		{"a property called $ref", R20251125, Input, `{` + root + `,"properties":{"$ref":{"type":"string"},"properties":{"type":"object","properties":{"nullable":{"type":"boolean"}}}}}`, "", "", false},
		{"lookahead", R20251125, Input, `{` + root + `,"properties":{"a":{"type":"string","pattern":"^(?!x)"}}}`, "", "/properties/a/pattern pattern: want a pattern that this tool can evaluate", false},
		{"ECMA escapes", R20251125, Input, `{` + root + `,"properties":{"a":{"pattern":"^[\\u0041-\\u005a]\\d$"}}}`, "", "", false},
		{"$schema of the wrong type", R20251125, Input, `{"$schema":7,` + root + `}`, `/$schema type: want string, got number 7`, "", true},
		{"not JSON", R20251125, Input, `{"type":`, ` json: want a JSON text`, "", true},
		{"trailing text", R20251125, Input, `{"type":"object"} x`, ` json: want a JSON text`, "", true},
		{"requested", R20250618, Requested, `{` + root + `,"properties":{"a":{"type":"string"}}}`, "", "", false},
		{"requested without properties", R20250618, Requested, `{` + root + `}`, "/properties required: want object, got absent", "", false},
		{"too deep", R20251125, Input, strings.Repeat(`{"type":"object","not":`, 300) + `{}` + strings.Repeat(`}`, 300), "", " depth: want at most 256 levels", true},
		{"too big", R20251125, Input, `{"type":"object","description":"` + strings.Repeat("x", 1<<20) + `"}`, "", " size: want a schema of at most", true},
	} {
		s, vs := CompileToolSchema(c.rev, c.role, []byte(c.schema))
		if got := lines(vs); c.want == "" && got != "" || c.want != "" && (len(vs) != 1 || !strings.HasPrefix(got, c.want)) {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
		if got := lines(s.Remarks); c.remark == "" && got != "" || !strings.HasPrefix(got, c.remark) {
			t.Errorf("%s: remarks\n got %s\nwant %s", c.name, got, c.remark)
		}
		if (s.Unusable != "") != c.unusable {
			t.Errorf("%s: unusable is %q", c.name, s.Unusable)
		}
	}
}

func TestToolSchemaJudgesInstances(t *testing.T) {
	const person = `{"type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer"},"tags":{"type":"array","items":{"enum":["a","b"]}}},"required":["name"],"additionalProperties":false}`
	for _, c := range []struct {
		schema, instance, want string
	}{
		{person, `{"name":"x","age":3,"tags":["a"]}`, ""},
		{person, `{"age":3}`, `/name required: want a value, got absent`},
		{person, `{"name":null}`, `/name type: want string, got null`},
		{person, `{"name":"x","more":[1,2]}`, `/more additionalProperties: want no such member, got an array of 2 elements`},
		{person, `{"name":"x","tags":["c"]}`, `/tags/0 enum: want one of "a", "b", got string "c"`},
		{person, `[]`, ` type: want object, got an empty array`},
		{person, `{"name":`, ` json: want a JSON text, got unexpected EOF`},
		{`{"type":"object","properties":{"n":{"$ref":"#"}},"required":["v"]}`, `{"v":1,"n":{"v":1,"n":{}}}`, `/n/n/v required: want a value, got absent`},
		{`{"type":"object","properties":{"n":{"minimum":2,"maximum":3}}}`, `{"n":1e1000000}`, `/n maximum: want at most 3, got number 1e400`},
		{`{"type":"object","properties":{"n":{"const":9007199254740993}}}`, `{"n":9007199254740992}`, `/n const: want 9007199254740993, got number 9007199254740992`},
		{`{"type":"object","properties":{"e":{"format":"email"}}}`, `{"e":"no"}`, ""},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"e":{"format":"email"}}}`, `{"e":"no"}`, ""},
		{`{"type":"object","properties":{"s":{"pattern":"^[\\u0041-\\u005a]$"}}}`, `{"s":"a"}`, `/s pattern: want a match of "^[\\u0041-\\u005a]$", got string "a"`},
		{`{"type":"object","anyOf":[{"required":["a"]},{"required":["b","c"]}]}`, `{"b":1}`, `/a required: want a value, got absent`},
		{`{"type":"object","properties":{"n":{"$ref":"#/properties/n"}}}`, `{"n":1}`, `/n $ref: want a reference that ends, got a cycle of references`},
	} {
		s, vs := CompileToolSchema(R20251125, Input, []byte(c.schema))
		if len(vs) > 0 || s.Unusable != "" {
			t.Fatalf("%s: %s %s", c.schema, lines(vs), s.Unusable)
		}
		if got := lines(s.Validate([]byte(c.instance))); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.instance, got, c.want)
		}
	}
}

// TestExplosiveSchemaEnds: each level doubles the work of the one below; 2^40
// steps would take days.
func TestExplosiveSchemaEnds(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"type":"object","$ref":"#/$defs/d0","$defs":{`)
	for i := range 40 {
		fmt.Fprintf(&b, `"d%d":{"allOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]},`, i, i+1, i+1)
	}
	b.WriteString(`"d40":{"maxProperties":3}}}`)
	s, vs := CompileToolSchema(R20251125, Input, []byte(b.String()))
	if len(vs) > 0 || s.Unusable != "" {
		t.Fatalf("the schema is legal: %s %s", lines(vs), s.Unusable)
	}
	got := s.Validate([]byte(`{}`))
	if len(got) != 1 || !got[0].Advice || !strings.HasPrefix(got[0].Want, "a validation whose steps") {
		t.Errorf("got %s", lines(got))
	}
	if again := s.Validate([]byte(`{}`)); lines(again) != lines(got) {
		t.Errorf("a second run differs: %s", lines(again))
	}
}

func TestHeaderAnnotations(t *testing.T) {
	for _, c := range []struct{ properties, want string }{
		{`"a":{"type":"string","x-mcp-header":"Region"}`, ""},
		{`"a":{"type":"object","properties":{"b":{"type":"boolean","x-mcp-header":"X"}}}`, ""},
		{`"a":{"type":["string","null"],"x-mcp-header":"X"},"b":{"enum":["x"],"x-mcp-header":"Y"}`, ""},
		{`"x-mcp-header":{"type":"number"}`, ""},
		{`"a":{"type":"string","x-mcp-header":""}`, `/properties/a/x-mcp-header x-mcp-header: want a header name (it is empty), got string ""`},
		{`"a":{"type":"string","x-mcp-header":7}`, `/properties/a/x-mcp-header x-mcp-header: want string, got number 7`},
		{`"a":{"type":"string","x-mcp-header":"A B"}`, `/properties/a/x-mcp-header x-mcp-header: want a header name (' ' must not stand in a header name), got string "A B"`},
		{`"a":{"type":"number","x-mcp-header":"A"}`, `/properties/a/type x-mcp-header: want "integer", "string" or "boolean", as the value goes into a header, got string "number"`},
		{`"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"a"}`, `/properties/b/x-mcp-header x-mcp-header: want a name that no other property has, got string "a", as at /properties/a/x-mcp-header`},
		{`"a":{"type":"array","items":{"type":"string","x-mcp-header":"A"}}`, `/properties/a/items/x-mcp-header x-mcp-header: want a property reached from the root by properties alone, got one elsewhere`},
	} {
		schema := []byte(`{"type":"object","properties":{` + c.properties + `}}`)
		if _, vs := CompileToolSchema(R20260728, Input, schema); lines(vs) != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.properties, lines(vs), c.want)
		}
		for _, other := range []struct {
			rev  Revision
			role SchemaRole
		}{{R20251125, Input}, {R20260728, Output}} {
			if _, vs := CompileToolSchema(other.rev, other.role, schema); len(vs) > 0 {
				t.Errorf("%s %s %s: %s", other.rev, other.role, c.properties, lines(vs))
			}
		}
	}
}

func TestToolSchemasAreRememberedWithinBounds(t *testing.T) {
	s := load(t, Options{})
	one := []byte(`{"type":"object"}`)
	a, _ := s.ToolSchema(R20251125, Input, one)
	if b, _ := s.ToolSchema(R20251125, Input, one); a != b {
		t.Error("compiled again")
	}
	if c, _ := s.ToolSchema(R20260728, Input, one); a == c {
		t.Error("the revision is not part of the key")
	}
	for i := range maxKnownSchemas + 10 {
		s.ToolSchema(R20251125, Input, fmt.Appendf(nil, `{"type":"object","title":"%d"}`, i))
	}
	if len(s.tools.known) != maxKnownSchemas || len(s.tools.order) != maxKnownSchemas {
		t.Errorf("%d schemas are kept, want %d", len(s.tools.known), maxKnownSchemas)
	}
}

// FuzzToolSchema: whatever a peer sends as a schema and as an instance, neither
// compiling nor validating panics or fails to end.
func FuzzToolSchema(f *testing.F) {
	f.Add([]byte(`{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"minLength":1e400}}}`), []byte(`{"a":1e9999}`))
	f.Add([]byte(`{"$schema":"http://json-schema.org/draft-04/schema#","id":"#a","items":[{}],"multipleOf":0.1}`), []byte(`[0.3]`))
	f.Add([]byte(`{"$dynamicRef":"#m","$dynamicAnchor":"m","$id":"http://x/%zz","unevaluatedProperties":false}`), []byte(`{"a":{}}`))
	f.Add([]byte(`{"$recursiveRef":"#","$schema":"https://json-schema.org/draft/2019-09/schema","patternProperties":{"(":{}}}`), []byte(`{"(":1}`))
	f.Fuzz(func(t *testing.T, schema, instance []byte) {
		for _, rev := range []Revision{R20250618, R20260728} {
			s, _ := CompileToolSchema(rev, Input, schema)
			s.Validate(instance)
		}
	})
}
