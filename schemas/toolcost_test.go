package schemas

import (
	"fmt"
	"strings"
	"testing"
)

// many joins n texts made from a format that takes one number.
func many(n int, format string) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = fmt.Sprintf(format, i)
	}
	return strings.Join(parts, ",")
}

func of(members string) string {
	return `{"type":"object","properties":{` + members + `}}`
}

// TestCostlySchemasAreNotCompiled: each of these took the compiler, or the
// search for what is wrong, many seconds to minutes.
func TestCostlySchemasAreNotCompiled(t *testing.T) {
	for name, c := range map[string]struct{ schema, unusable string }{
		"properties": {of(many(9000, `"%d":true`)), "want at most 8192 schemas in one, got 9002"},
		"dangling":   {of(many(9000, `"%d":{"$ref":"#n"}`)), "want at most 8192 schemas in one, got 9002"},
		"$id":        {of(many(1025, `"%d":{"$id":"http://localhost/%[1]d"}`)), "want at most 1024 schemas with an $id in one, got 1025"},
		"depth":      {`{"type":"object","default":` + strings.Repeat("[", 10001) + strings.Repeat("]", 10001) + `}`, "want at most 256 levels, got more than 10000 levels"},
	} {
		s, vs := CompileToolSchema(R20260728, Input, []byte(c.schema))
		if len(vs) > 0 || s.Unusable != c.unusable {
			t.Errorf("%s: %s; unusable: %s", name, lines(vs), s.Unusable)
		}
	}
	s, vs := CompileToolSchema(R20260728, Input, []byte(of(many(2000, `"%d":{"$ref":"#n"}`))))
	if len(vs) != 2000 || s.Unusable != "a reference leads nowhere" {
		t.Errorf("%d dangling references; unusable: %s", len(vs), s.Unusable)
	}
}

// TestCostlyValidationsEnd: small schemas and instances of a megabyte whose
// product would take minutes. They end without a word against the instance.
func TestCostlyValidationsEnd(t *testing.T) {
	long := `"` + strings.Repeat("a", 1<<20) + `"`
	for name, c := range map[string]struct{ schema, instance string }{
		"repeated pattern": {of(`"a":{"pattern":"(((a?){10}){10}){10}b"}`), `{"a":` + long + `}`},
		"wide pattern":     {of(`"a":{"pattern":"(.*){1000}b"}`), `{"a":` + long + `}`},
		"names":            {`{"type":"object","patternProperties":{` + many(2000, `"(x*y*){50}%d":{}`) + `}}`, `{` + many(5000, `"k%d":1`) + `}`},
		"enum":             {of(`"a":{"items":{"enum":[` + many(50000, `"x%d"`) + `]}}`), `{"a":[` + many(50000, `"z%d"`) + `]}`},
		"numbers":          {of(`"a":{"items":{"enum":[` + many(50000, `%d.5`) + `]}}`), `{"a":[` + many(50000, `%d`) + `]}`},
		"alternatives":     {of(`"a":{"items":{"anyOf":[` + many(8000, `{"const":"%d"}`) + `]}}`), `{"a":[` + many(50000, `%d`) + `]}`},
		"required":         {of(`"a":{"items":{"required":[` + many(50000, `"%d"`) + `]}}`), `{"a":[` + many(5000, `{"x":%d}`) + `]}`},
		"depth":            {of(`"a":{"items":{"$ref":"#/properties/a"}}`), `{"a":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}`},
	} {
		s, vs := CompileToolSchema(R20260728, Input, []byte(c.schema))
		if len(vs) > 0 || s.Unusable != "" {
			t.Fatalf("%s: %s; unusable: %s", name, lines(vs), s.Unusable)
		}
		if vs := s.Validate([]byte(c.instance)); len(vs) != 1 || !vs[0].Advice {
			t.Errorf("%s: got %d violations", name, len(vs))
		}
	}
}

// TestUsualSizesAreJudged holds the bounds away from what is seen in the field:
// large enums, unions of many kinds of objects, long tables and texts.
func TestUsualSizesAreJudged(t *testing.T) {
	kinds := many(40, `{"type":"object","properties":{"kind":{"const":"k%d"},"text":{"type":"string"}},"required":["kind"]}`)
	for name, c := range map[string]struct{ schema, good, bad string }{
		"table": {of(`"a":{"items":{"type":"object","properties":{"n":{"type":"integer"},"country":{"enum":[` + many(300, `"c%d"`) + `]}}}}`),
			many(10000, `{"n":%d,"country":"c299"}`), `{"n":"x"}`},
		"union":   {of(`"a":{"items":{"anyOf":[` + kinds + `]}}`), many(1000, `{"kind":"k39","text":"%d"}`), `{"kind":"k40"}`},
		"numbers": {of(`"a":{"items":{"type":"number"}}`), many(200000, `%d`), `"x"`},
		"base64":  {of(`"a":{"items":{"pattern":"^[A-Za-z0-9+/]*={0,2}$"}}`), `"` + strings.Repeat("A", 4<<20) + `"`, `"!"`},
	} {
		s, vs := CompileToolSchema(R20260728, Output, []byte(c.schema))
		if len(vs) > 0 || s.Unusable != "" {
			t.Fatalf("%s: %s; unusable: %s", name, lines(vs), s.Unusable)
		}
		if vs := s.Validate([]byte(`{"a":[` + c.good + `]}`)); len(vs) > 0 {
			t.Errorf("%s, good: %s", name, vs[0])
		}
		if vs := s.Validate([]byte(`{"a":[` + c.good + `,` + c.bad + `]}`)); len(vs) == 0 || vs[0].Advice {
			t.Errorf("%s, bad: got %s", name, lines(vs))
		}
	}
}

// TestEndlessReferencesAreNotTheFaultOfTheInstance: no instance fits, whatever
// a client sends.
func TestEndlessReferencesAreNotTheFaultOfTheInstance(t *testing.T) {
	s, _ := CompileToolSchema(R20260728, Input, []byte(`{"type":"object","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}},"properties":{"n":{"type":"string"},"x":{"$ref":"#/$defs/a"}}}`))
	if vs := s.Validate([]byte(`{"n":1,"x":1}`)); len(vs) != 2 || !vs[0].Advice || vs[0].Keyword != "$ref" || vs[1].Advice {
		t.Errorf("got %s", lines(vs))
	}
}

// TestDuplicateIDs: the words do not depend on which of the two comes first.
func TestDuplicateIDs(t *testing.T) {
	for range 20 {
		_, vs := CompileToolSchema(R20260728, Input, []byte(of(`"s":{"$id":"http://localhost/z"},"t":{"$id":"http://localhost/z"}`)))
		if got := lines(vs); got != ` $id: want an $id of its own, got string "http://localhost/z" twice` {
			t.Fatal(got)
		}
	}
}
