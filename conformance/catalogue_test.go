package conformance

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

func TestBuiltinCatalogue(t *testing.T) {
	c, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	if n := len(c.All()); n < 150 {
		t.Fatalf("the catalogue has %d requirements, want at least 150", n)
	}
	r, ok := c.Get("STDIO-STDOUT-MESSAGES-ONLY")
	if !ok || r.Area != "stdio" || r.Binds != BindsServer || r.In[schemas.R20241105].Level != MustNot {
		t.Fatalf("STDIO-STDOUT-MESSAGES-ONLY was read as %+v", r)
	}
	if r.File != "conformance/requirements/stdio.yaml" || r.Line == 0 {
		t.Errorf("it says that it stands at %s:%d", r.File, r.Line)
	}
}

// sound is a requirement that is right, for tests that break one thing in it.
const sound = `- id: A-B
  text: Something is so.
  binds: both
  in:
    2025-11-25: {level: MUST, at: basic#requests, sha: [0123456789ab]}
  when: {server: tools}
  transports: [stdio]
  judged: trace
`

func TestLoadRefuses(t *testing.T) {
	cases := []struct{ name, old, new, want string }{
		{"unknown key", "  judged: trace", "  judged: trace\n  colour: red", `f.yaml:9: unknown key "colour"; the keys are`},
		{"duplicate key", "  judged: trace", "  judged: trace\n  judged: trace", "f.yaml:9: requirement: the key judged stands twice"},
		{"lower-case id", "id: A-B", "id: a-b", `f.yaml:1: id "a-b": want upper-case words`},
		{"no text", "  text: Something is so.\n", "", "f.yaml:1: A-B: text is missing"},
		{"bad binds", "binds: both", "binds: all", `binds "all": want client, server, both or authorization-server`},
		{"bad revision", "2025-11-25:", "2025-11-26:", `f.yaml:5: in: unknown revision "2025-11-26": the revisions are`},
		{"bad level", "level: MUST,", "level: MAY,", `f.yaml:5: 2025-11-25: level "MAY": want MUST`},
		{"bad sha", "0123456789ab", "0123", `f.yaml:5: 2025-11-25: sha "0123": want 12`},
		{"unknown clause key", "at: basic", "page: basic", `f.yaml:5: 2025-11-25: unknown key "page"`},
		{"absolute place", "at: basic#requests", "at: /basic", `want a page below the revision`},
		{"unknown condition", "{server: tools}", "{peer: tools}", `f.yaml:6: when: unknown key "peer"`},
		{"unknown transport", "[stdio]", "[tcp]", `f.yaml:7: transports: unknown "tcp"`},
		{"judged no without why", "judged: trace", "judged: no", "judged: no needs a why"},
		{"judged unknown", "judged: trace", "judged: eye", `judged "eye": want`},
		{"why without no", "judged: trace", "judged: trace\n  why: so", "why belongs to judged: no only"},
		{"disputed without link", "judged: trace", "judged: trace\n  disputed: yes", "want the https address"},
		{"anchor", "text: Something", "text: &a Something", "f.yaml:2: anchors and aliases"},
		{"tag", "text: Something is so.", "text: !!str Something", "f.yaml:2: the tag !!str is not used"},
		{"twice", "- id: A-B", sound + "- id: A-B", "f.yaml:9: requirement A-B stands already at f.yaml:1"},
		{"not a list", sound, "a: b\n", "f.yaml:1: want a list of requirements"},
		{"empty", sound, "", "f.yaml:1: the file is empty"},
		{"two documents", sound, sound + "---\n" + sound, "more than one document"},
		{"not YAML", sound, "- {", "f.yaml: reading YAML"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			text := strings.Replace(sound, c.old, c.new, 1)
			_, err := Load(fstest.MapFS{"f.yaml": {Data: []byte(text)}})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
		})
	}
	if _, err := Load(fstest.MapFS{}); err == nil {
		t.Error("a folder without files was accepted")
	}
	if _, err := Load(fstest.MapFS{"f.yaml": {Data: []byte(sound)}}); err != nil {
		t.Errorf("the entry that the cases break is itself refused: %v", err)
	}
}

func TestApplicable(t *testing.T) {
	c, err := Load(fstest.MapFS{"f.yaml": {Data: []byte(sound)}})
	if err != nil {
		t.Fatal(err)
	}
	declared := []byte(`{"tools":{}}`)
	cases := []struct {
		name string
		f    Facts
		want int
	}{
		{"declared", Facts{schemas.R20251125, []trace.Transport{trace.Stdio}, declared, nil}, 1},
		{"transport not known", Facts{schemas.R20251125, nil, declared, nil}, 1},
		{"other revision", Facts{schemas.R20250618, nil, declared, nil}, 0},
		{"other transport", Facts{schemas.R20251125, []trace.Transport{trace.StreamableHTTP}, declared, nil}, 0},
		{"not declared", Facts{schemas.R20251125, nil, []byte(`{"prompts":{}}`), nil}, 0},
		{"declared false", Facts{schemas.R20251125, nil, []byte(`{"tools":false}`), nil}, 0},
		{"nothing declared", Facts{schemas.R20251125, nil, []byte(`{}`), nil}, 0},
		{"not known what is declared", Facts{schemas.R20251125, nil, nil, nil}, 1},
	}
	for _, k := range cases {
		if got := len(c.Applicable(trace.Server, k.f)); got != k.want {
			t.Errorf("%s: %d requirements apply, want %d", k.name, got, k.want)
		}
	}
}

func FuzzParseRequirements(f *testing.F) {
	f.Add([]byte(sound))
	f.Add([]byte("- {}\n"))
	f.Add([]byte("- id: [&a {}, *a]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		rs, err := parseRequirements("f.yaml", "f", data)
		if err == nil && rs == nil {
			t.Error("neither requirements nor an error")
		}
	})
}
