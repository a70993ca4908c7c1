package schemas

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func readAs(t *testing.T, name, text string) *Document {
	t.Helper()
	d, err := ReadDocument(name, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func diffText(t *testing.T, a, b *Document) string {
	t.Helper()
	var out strings.Builder
	if _, err := Diff(a, b).WriteTo(&out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestDiff(t *testing.T) {
	for _, c := range []struct{ name, a, b, want string }{
		{"layout is no difference",
			`{"$schema":"http://json-schema.org/draft-07/schema#","definitions":{"T":{"type":"object","properties":{"k":{"$ref":"#/definitions/K"},"n":{"type":["string","integer"]}},"required":["k"]},"K":{"type":"string","enum":["x","y"]}}}`,
			`{"$schema":"https://json-schema.org/draft/2020-12/schema","$defs":{"K":{"oneOf":[{"const":"x"},{"const":"y"}]},"T":{"required":["k"],"allOf":[{"type":"object"},{"properties":{"k":{"enum":["y","x"]},"n":{"anyOf":[{"type":"integer"},{"type":"string"}]}}}]}}}`,
			"2 definitions of a and b compared: 2 the same, 0 differ\n"},
		{"null, bounds and required",
			`{"$defs":{"T":{"type":"object","properties":{"a":{"type":["string","null"]},"n":{"type":"integer"}}}}}`,
			`{"$defs":{"T":{"type":"object","properties":{"a":{"type":"string"},"n":{"type":"integer","minimum":0}},"required":["a"]}}}`,
			`T
    a accepts, b refuses  {}
        /a: want string, got absent [T]
    a accepts, b refuses  {"a":null}
        /a: want string, got null [T]
    a accepts, b refuses  {"a":"","n":-1}
        /n: want at least 0, got number -1 [T]
1 definitions of a and b compared: 0 the same, 1 differ
`},
		{"a difference shows where it belongs",
			`{"$defs":{"In":{"type":"object","properties":{"s":{"type":"string"}}},"Out":{"type":"object","properties":{"in":{"$ref":"#/$defs/In"}}}}}`,
			`{"$defs":{"In":{"type":"object","properties":{"s":{}}},"Out":{"type":"object","properties":{"in":{"$ref":"#/$defs/In"}}}}}`,
			`In
    b accepts, a refuses  {"s":null}
        /s: want string, got null [In]; so with array, boolean, number, object
Out
    and as In
2 definitions of a and b compared: 0 the same, 2 differ
`},
		{"names are mapped",
			`{"$defs":{"JsonRpcThing":{"type":"object","properties":{"id":{"$ref":"#/$defs/NumberOrString"}}},"NumberOrString":{"type":["number","string"]},"Request2":{"type":"object","properties":{"method":{"const":"m"}},"required":["method"]},"Mine":true}}`,
			`{"$defs":{"JSONRPCThing":{"type":"object","properties":{"id":{"$ref":"#/$defs/RequestId"}}},"RequestId":{"type":["integer","string"]},"MRequest":{"type":"object","properties":{"method":{"const":"m"}},"required":["method"]},"Yours":true}}`,
			`JsonRpcThing (b: JSONRPCThing)
    and as RequestId
NumberOrString (b: RequestId)
    a accepts, b refuses  0.5
        (root): want integer or string, got number 0.5 [RequestId]
3 definitions of a and b compared: 1 the same, 2 differ
only in a: Mine
only in b: Yours
`},
		{"what breaks off is borrowed",
			`{"definitions":{"A":{"type":"object","properties":{"b":{"$ref":"#/definitions/B"}}}}}`,
			`{"$defs":{"A":{"type":"object","properties":{"b":{"$ref":"#/$defs/B"}}},"B":{"$ref":"#/$defs/C"},"C":{"type":"string"}}}`,
			`1 definitions of a and b compared: 1 the same, 0 differ
only in b: B, C
not in a and taken from b: B, C
`},
		{"the root is a definition",
			`{"title":"T","type":"object","required":["x"],"definitions":{}}`,
			`{"$defs":{"T":{"type":"object"}}}`,
			`T
    b accepts, a refuses  {}
        /x: want a value, got absent [T]
1 definitions of a and b compared: 0 the same, 1 differ
`},
		{"what cannot be compiled is said",
			`{"$defs":{"T":{"type":"strin"},"U":{"$ref":"#/$defs/Nowhere"}}}`,
			`{"$defs":{"T":{"type":"string"},"U":true}}`,
			""},
	} {
		got := diffText(t, readAs(t, "a", c.a), readAs(t, "b", c.b))
		if c.want != "" && got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
		if c.want == "" && strings.Count(got, "not compared: ") != 2 {
			t.Errorf("%s:\n%s", c.name, got)
		}
	}
}

func TestReadDocumentErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`{`, "f: unexpected EOF"}, {`[]`, "f: a schema file is an object"}, {`{"type":"object"}`, "f: no $defs and no definitions"},
	} {
		if _, err := ReadDocument("f", []byte(c.text)); err == nil || err.Error() != c.want {
			t.Errorf("%s: got %v, want %s", c.text, err, c.want)
		}
	}
}

func TestDiffOfRevisionsLeavesTheSetAlone(t *testing.T) {
	s := load(t, Options{AsPublished: true})
	a, err := s.Document(R20250326)
	if err != nil {
		t.Fatal(err)
	}
	b, err := s.Document(R20250618)
	if err != nil {
		t.Fatal(err)
	}
	before := s.Definitions(R20250326)
	c := Diff(a, b)
	at := slices.IndexFunc(c.Pairs, func(p Pair) bool { return p.A == "Implementation" })
	if at < 0 || c.Pairs[at].Same() || c.Pairs[at].Differences[0].Why.Pointer != "/title" {
		t.Errorf("2025-06-18 gave implementations a title: %+v", c.Pairs[at])
	}
	if !slices.Contains(c.OnlyB, "ElicitRequest") || !slices.Contains(c.OnlyA, "JSONRPCBatchRequest") {
		t.Errorf("only in one: %v and %v", c.OnlyA, c.OnlyB)
	}
	if !slices.Equal(before, s.Definitions(R20250326)) {
		t.Error("the Set has other definitions than before")
	}
}

// TestDiffOfPublishedCopies compares copies of the schemas that others keep.
func TestDiffOfPublishedCopies(t *testing.T) {
	spec, ok := specData(t)
	if !ok {
		return
	}
	dir := filepath.Join(spec, "..", "seeds")
	if _, err := os.Stat(dir); err != nil {
		t.Logf("not compared: no published copies at %s", dir)
		return
	}
	s := load(t, Options{AsPublished: true})
	diff := func(name string, rev Revision) *Comparison {
		raw, err := os.ReadFile(filepath.Join(dir, name+".schema.json"))
		if err != nil {
			t.Fatal(err)
		}
		b, err := s.Document(rev)
		if err != nil {
			t.Fatal(err)
		}
		return Diff(readAs(t, name, string(raw)), b)
	}
	for _, c := range []struct {
		name        string
		rev         Revision
		definitions int
	}{{"semem-2025-03-26.excerpt", R20250326, 44}, {"api-evangelist-2026-07-28.excerpt", R20260728, 25}, {"server-card.v1", ServerCard, 7}} {
		got := diff(c.name, c.rev)
		if got.Differs() || len(got.Pairs) != c.definitions || len(got.OnlyA) > 0 {
			var out strings.Builder
			got.WriteTo(&out)
			t.Errorf("%s:\n%s", c.name, out.String())
		}
	}
	rust := diff("rmcp-client-message", R20251125)
	pairs := map[string]Pair{}
	for _, p := range rust.Pairs {
		pairs[p.A] = p
	}
	if p := pairs["NumberOrString"]; p.B != "RequestId" || len(p.Differences) != 1 || string(p.Differences[0].Instance) != "0.5" {
		t.Errorf("NumberOrString: %+v", p)
	}
	if p := pairs["JsonRpcError"]; p.B != "JSONRPCErrorResponse" {
		t.Errorf("JsonRpcError: %+v", p)
	}
	if p := pairs["Request2"]; p.B != "CompleteRequest" {
		t.Errorf("Request2: %+v", p)
	}
	if p := pairs["Role"]; !p.Same() {
		t.Errorf("Role: %+v", p)
	}
	if p := pairs["CallToolRequestParams"]; !slices.ContainsFunc(p.Differences, func(d Difference) bool {
		return string(d.Instance) == `{"arguments":null,"name":""}` && d.RefusedBy == "2025-11-25"
	}) {
		t.Errorf("CallToolRequestParams: %+v", p)
	}
}
