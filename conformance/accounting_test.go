package conformance

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

// The catalogue accounts for every sentence of the specification.
func TestAccounting(t *testing.T) {
	sentences, err := Sentences()
	if err != nil {
		t.Fatal(err)
	}
	c, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	a := Account(c, sentences)
	t.Logf("%d sentences: %d mapped, %d excluded, %d unaccounted", a.Sentences, a.Mapped, a.Excluded, a.Open())
	for _, wrong := range a.Wrong() {
		t.Error(wrong)
	}
	for _, s := range a.Unaccounted {
		t.Errorf("%s, at %s of %s, is unaccounted: restate it in a requirement or exclude it", s.SHA, s.At(), s.Revision)
	}
}

// The built-in index names the sentences of the specification, where these are
// at hand: MCP_CONFORM_SPEC names the folder that holds normative/.
func TestSentenceIndex(t *testing.T) {
	dir := os.Getenv("MCP_CONFORM_SPEC")
	if dir == "" {
		dir = "../../shared/spec"
	}
	dir = filepath.Join(dir, "normative")
	if _, err := os.Stat(dir); err != nil {
		t.Logf("the index was not compared with the specification: no sentences at %s (set MCP_CONFORM_SPEC)", dir)
		return
	}
	read, err := ReadSentences(os.DirFS(dir))
	if err != nil {
		t.Fatal(err)
	}
	indexed, err := Sentences()
	if err != nil {
		t.Fatal(err)
	}
	if len(read) != len(indexed) {
		t.Errorf("the index has %d sentences, the specification %d", len(indexed), len(read))
	}
	for i := range min(len(read), len(indexed)) {
		if want, got := read[i].IndexLine(), indexed[i].IndexLine(); got != want || read[i].Revision != indexed[i].Revision {
			t.Fatalf("sentence %d of the index is %q, want %q", i+1, got, want)
		}
	}
}

// sentence makes one of 2025-11-25.
func sentence(sha, at, text string) Sentence {
	page, section, _ := strings.Cut(at, "#")
	return Sentence{Revision: schemas.R20251125, SHA: sha, Levels: levelsIn(text), Page: page, Section: section, Text: text}
}

func TestAccountingFinds(t *testing.T) {
	const a, b = "0123456789ab", "ba9876543210"
	right := sentence(a, "basic#requests", "It MUST be so.")
	cases := []struct {
		name      string
		excluded  string
		sentences []Sentence
		want      string // one complaint; "" for none
		open      int
	}{
		{"all is well", "", []Sentence{right}, "", 0},
		{"unaccounted", "", []Sentence{right, sentence(b, "basic", "It MAY.")}, "", 1},
		{"unaccounted in one revision", "", []Sentence{right, {Revision: schemas.R20250618, SHA: a, Levels: []Level{Must}}}, "", 1},
		{"excluded", "- {sha: [ba9876543210], reason: definition, note: A choice.}\n", []Sentence{right, sentence(b, "basic", "It MAY.")}, "", 0},
		{"unknown in a requirement", "", []Sentence{sentence(b, "basic#requests", "It MUST.")}, "f.yaml:1: A-B: 2025-11-25 has no sentence 0123456789ab", 1},
		{"unknown in an exclusion", "- {sha: [ba9876543210], reason: human, note: People.}\n", []Sentence{right}, "x.yaml:1: ba9876543210 is no sentence", 0},
		{"level", "", []Sentence{sentence(a, "basic#requests", "It SHOULD.")}, "level MUST, but no sentence of the clause says it (0123456789ab says SHOULD)", 0},
		{"level of a later key word", "", []Sentence{sentence(a, "basic#requests", "It MAY send and MUST receive.")}, "", 0},
		{"REQUIRED is MUST", "", []Sentence{sentence(a, "basic#requests", "It is REQUIRED.")}, "", 0},
		{"place", "", []Sentence{sentence(a, "basic#responses", "It MUST.")}, "at basic#requests, but its sentences stand at basic#responses", 0},
		{"double", "- {sha: [0123456789ab], reason: human, note: People.}\n", []Sentence{right}, "x.yaml:1: 0123456789ab is excluded, but A-B (f.yaml:1) restates it", 0},
		{"excluded twice", "- {sha: [ba9876543210], reason: human, note: People.}\n- {sha: [ba9876543210], reason: human, note: People.}\n",
			[]Sentence{right, sentence(b, "basic", "It MAY.")}, "x.yaml:2: ba9876543210 is already excluded at x.yaml:1", 0},
		{"dangling", "- {sha: [ba9876543210], reason: duplicate, of: C-D, note: Said elsewhere.}\n",
			[]Sentence{right, sentence(b, "basic", "It MAY.")}, "x.yaml:1: of: there is no requirement C-D", 0},
	}
	for _, k := range cases {
		t.Run(k.name, func(t *testing.T) {
			got := Account(excluding(t, sound, k.excluded), k.sentences)
			wrong := strings.Join(got.Wrong(), "\n")
			if k.want == "" && wrong != "" || !strings.Contains(wrong, k.want) || len(got.Wrong()) > 1 {
				t.Errorf("it complains: %q, want %q", wrong, k.want)
			}
			if got.Open() != k.open {
				t.Errorf("%d sentences are unaccounted, want %d", got.Open(), k.open)
			}
		})
	}
}

// A clause takes the strongest level of its sentences.
func TestAccountingWeakened(t *testing.T) {
	c := excluding(t, strings.Replace(sound, "level: MUST, at: basic#requests, sha: [0123456789ab]",
		"level: SHOULD, at: basic#requests, sha: [0123456789ab, ba9876543210]", 1), "")
	got := Account(c, []Sentence{
		sentence("0123456789ab", "basic#requests", "It SHOULD."),
		sentence("ba9876543210", "basic#requests", "It MUST."),
	})
	if len(got.Levels) != 1 || !strings.Contains(got.Levels[0], "level SHOULD, but ba9876543210 says MUST: take the stronger") {
		t.Errorf("it complains: %q", got.Levels)
	}
}

func excluding(t *testing.T, requirements, excluded string) *Catalogue {
	t.Helper()
	c, err := Load(fstest.MapFS{"f.yaml": {Data: []byte(requirements)}})
	if err != nil {
		t.Fatal(err)
	}
	if excluded == "" {
		return c
	}
	if err := c.exclude(fstest.MapFS{"x.yaml": {Data: []byte(excluded)}}, ""); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestExclusionsRefused(t *testing.T) {
	cases := []struct{ name, text, want string }{
		{"unknown key", "- {sha: [0123456789ab], why: so}", `x.yaml:1: unknown key "why"; the keys are sha, reason, of, note`},
		{"no sha", "- {reason: human, note: People.}", "x.yaml:1: sha is missing"},
		{"bad sha", "- {sha: [0123], reason: human, note: People.}", `x.yaml:1: sha "0123": want 12`},
		{"unknown reason", "- {sha: [0123456789ab], reason: dull, note: Dull.}", `x.yaml:1: reason "dull": want one of [not-protocol`},
		{"duplicate of nothing", "- {sha: [0123456789ab], reason: duplicate, note: Twice.}", `x.yaml:1: of "": a duplicate names`},
		{"of without duplicate", "- {sha: [0123456789ab], reason: human, of: A-B, note: People.}", "x.yaml:1: of belongs to reason: duplicate only"},
		{"no note", "- {sha: [0123456789ab], reason: human}", "x.yaml:1: note is missing"},
		{"not a list", "sha: [0123456789ab]", "x.yaml:1: want a list of exclusions"},
		{"empty", "", "x.yaml:1: the file is empty"},
	}
	for _, k := range cases {
		t.Run(k.name, func(t *testing.T) {
			_, err := parseExclusions("x.yaml", "x", []byte(k.text))
			if err == nil || !strings.Contains(err.Error(), k.want) {
				t.Errorf("got %v, want an error with %q", err, k.want)
			}
		})
	}
}

func TestReadSentencesRefuses(t *testing.T) {
	files := fstest.MapFS{}
	for _, r := range schemas.Revisions() {
		files[string(r)+".jsonl"] = &fstest.MapFile{Data: []byte(`{"sha":"0123456789ab","text":"It MUST."}` + "\n")}
	}
	if all, err := ReadSentences(files); err != nil || len(all) != len(schemas.Revisions()) || all[0].Revision != schemas.R20241105 {
		t.Fatalf("got %v, %v", all, err)
	}
	files["2025-06-18.jsonl"].Data = []byte("{}\n")
	if _, err := ReadSentences(files); err == nil || !strings.Contains(err.Error(), `2025-06-18.jsonl:1: sha ""`) {
		t.Errorf("a line without sha: %v", err)
	}
	delete(files, "2025-06-18.jsonl")
	if _, err := ReadSentences(files); err == nil {
		t.Error("a missing revision was accepted")
	}
}

func TestAuthorizationServersAreNoSide(t *testing.T) {
	c := excluding(t, strings.Replace(sound, "binds: both", "binds: authorization-server", 1), "")
	l := NewLedger(c)
	l.Add(Evidence{Requirement: "A-B", Revision: schemas.R20251125, Verdict: Fail})
	for _, side := range []trace.Side{trace.Client, trace.Server} {
		if sc := l.Score(schemas.R20251125, side); sc.Verdict != NothingKnown || sc.Must.Applicable != 0 {
			t.Errorf("the %s is scored by it: %+v", side, sc)
		}
	}
	if fs := l.Findings(); len(fs) != 1 || fs[0].Side != "authorization-server" {
		t.Errorf("the finding is %+v", fs)
	}
}

func FuzzParseExclusions(f *testing.F) {
	f.Add([]byte("- {sha: [0123456789ab], reason: human, note: People.}\n"))
	f.Add([]byte("- {}\n"))
	f.Add([]byte("- sha: [&a {}, *a]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		xs, err := parseExclusions("x.yaml", "x", data)
		if err == nil && xs == nil {
			t.Error("neither exclusions nor an error")
		}
	})
}
