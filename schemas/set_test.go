package schemas

import (
	"os"
	"slices"
	"strings"
	"testing"
)

func load(t testing.TB, o Options) *Set {
	t.Helper()
	s, err := Load(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func validate(t testing.TB, s *Set, rev Revision, definition, instance string) []Violation {
	t.Helper()
	vs, err := s.Validate(rev, definition, []byte(instance))
	if err != nil {
		t.Fatalf("%s %s: %v", rev, definition, err)
	}
	return vs
}

func TestEveryDefinitionCompiles(t *testing.T) {
	for _, o := range []Options{{}, {AsPublished: true}, {Advice: true}} {
		s := load(t, o)
		for _, rev := range append(Revisions(), Draft, Tasks, ServerCard, OAuth) {
			f, err := s.file(rev)
			if err != nil {
				t.Errorf("%+v: %v", o, err)
				continue
			}
			for _, d := range f.names {
				if _, err := f.compile(d); err != nil {
					t.Errorf("%+v: %v", o, err)
				}
			}
			if len(f.names) == 0 {
				t.Errorf("%s has no definitions", rev)
			}
		}
	}
}

func TestViolationSaysWhereWhatAndGot(t *testing.T) {
	s := load(t, Options{})
	for _, c := range []struct {
		rev                  Revision
		definition, instance string
		want                 []string
	}{
		{R20251125, "Tool", `{"name":"add"}`, []string{"/inputSchema: want object, got absent [Tool]"}},
		{R20251125, "Tool", `{"name":3,"inputSchema":{"type":"object"}}`, []string{"/name: want string, got number 3 [BaseMetadata]"}},
		{R20251125, "ListToolsResult", `{"tools":[{"name":"a","inputSchema":{}}]}`, []string{`/tools/0/inputSchema/type: want "object", got absent [Tool]`}},
		{R20251125, "CallToolResult", `{"content":[{"type":"text"}]}`, []string{"/content/0/text: want string, got absent [TextContent]"}},
		{R20251125, "RequestId", `1.5`, []string{"(root): want integer or string, got number 1.5 [RequestId]"}},
		{R20251125, "RequestId", `"x"`, nil},
		{Draft, "ListToolsResult", `{"resultType":"complete","tools":[],"cacheScope":"public"}`, []string{"/ttlMs: want integer, got absent [CacheableResult]"}},
		{Tasks, "CreateTaskResult", `{"taskId":"1","status":"working","createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z","ttlMs":1}`, []string{"/resultType: want a ResultType, got absent [Result]"}},
		{Tasks, "InputRequests", `{"a":{"method":"roots/list","params":[]}}`, []string{"/a/params: want object, got an empty array [ListRootsRequest]"}},
	} {
		var got []string
		for _, v := range validate(t, s, c.rev, c.definition, c.instance) {
			got = append(got, v.String())
		}
		if strings.Join(got, "\n") != strings.Join(c.want, "\n") {
			t.Errorf("%s %s\n got %q\nwant %q", c.definition, c.instance, got, c.want)
		}
	}
}

func TestABadMemberNameIsReportedWhereItStands(t *testing.T) {
	s := load(t, Options{})
	vs := validate(t, s, R20250618, "ListToolsResult", `{"tools": [
		{"name":"a","inputSchema":{"type":"object","properties":{"b c":{}}},"_meta":{"b c":1}},
		{"name":"b","inputSchema":{"type":"object"},"_meta":{}}]}`)
	if len(vs) != 1 || vs[0].Pointer != "/tools/0/_meta/b c" || vs[0].Erratum != "L27" {
		t.Errorf("got %v, want one violation at /tools/0/_meta/b c", vs)
	}
}

func TestUnknownDefinitionNamesNearOnes(t *testing.T) {
	s := load(t, Options{})
	_, err := s.Validate(R20251125, "Toool", []byte(`{}`))
	if err == nil || !strings.Contains(err.Error(), "Tool") {
		t.Errorf("got %v, want the near name Tool", err)
	}
}

func TestTheDraftIsTheLatestRevisionUntilItHasAFileOfItsOwn(t *testing.T) {
	s := load(t, Options{})
	if got, want := s.Definitions(Draft), s.Definitions(Latest); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		string(Latest): `{"$defs": {"Cursor": {"type": "string"}}}`,
		"draft":        `{"$defs": {"Cursor": {"type": "integer"}}}`,
	} {
		if err := os.MkdirAll(dir+"/"+name, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(dir+"/"+name+"/schema.json", []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	checkout := load(t, Options{Dir: dir})
	if vs := validate(t, checkout, Draft, "Cursor", `"x"`); len(vs) != 1 {
		t.Errorf("a checkout's own draft: got %v, want one violation", vs)
	}
	if vs := validate(t, checkout, ServerCard, "Repository", `{"url":"https://a.b","source":1}`); len(vs) != 1 {
		t.Errorf("a checkout holds no extensions, the built-in ones serve: got %v, want one violation", vs)
	}
}
