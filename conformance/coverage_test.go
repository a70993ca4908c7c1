package conformance

import (
	"strings"
	"testing"

	"github.com/mcp-conform/mcp-conform/schemas"
)

func TestCover(t *testing.T) {
	second := `- id: C-D
  text: Something else is so.
  binds: server
  in:
    2025-06-18: {level: SHOULD, at: basic, sha: [0123456789ab]}
    2025-11-25: {level: MUST NOT, at: basic, sha: [0123456789ab, aaaaaaaaaaaa], binds: client}
  judged: no
  why: "open: a scenario"
`
	c := excluding(t, sound+second, "- {sha: [ba9876543210], reason: definition, note: A choice.}\n")
	sentences := []Sentence{
		sentence("0123456789ab", "basic#requests", "It MUST be so and MUST NOT be otherwise."),
		sentence("aaaaaaaaaaaa", "basic", "It MUST NOT."),
		sentence("ba9876543210", "basic", "It MAY."),
		sentence("cccccccccccc", "basic", "It SHOULD."),
		{Revision: schemas.R20250618, SHA: "0123456789ab", Levels: []Level{Should}, Page: "basic"},
	}
	v := Cover(c, sentences, schemas.R20251125)
	if n := v.Sentences; n.Total != 4 || n.Open != 2 || n.Judged != 0 || n.Excluded[Definition] != 1 || n.Unaccounted != 1 {
		t.Errorf("2025-11-25 has sentences %+v", n)
	}
	if n := v.Requirements; n != (RequirementCount{Total: 2, Rule: 1, Open: 1}) || v.Levels[Must].Requirements != n {
		t.Errorf("2025-11-25 has requirements %+v, at MUST %+v", n, v.Levels[Must].Requirements)
	}
	if got := v.Binds[BindsServer][Must]; got != (Share{1, 1}) {
		t.Errorf("%+v of the server's MUSTs", got)
	}
	if got := v.Binds[BindsClient][Must]; got != (Share{0, 2}) {
		t.Errorf("%+v of the client's MUSTs", got)
	}
	if v = Cover(c, sentences, schemas.R20250618); v.Requirements != (RequirementCount{Total: 1, Open: 1}) || v.Sentences.Open != 1 {
		t.Errorf("2025-06-18 has %+v, %+v", v.Requirements, v.Sentences)
	}
	if v = Cover(c, sentences, ""); v.Sentences.Total != 4 || v.Requirements.Total != 2 || v.Areas["f"].Requirements.Total != 2 || v.Areas["x"].Excluded[Definition] != 1 {
		t.Errorf("all revisions have %+v", v)
	}
}

// No sentence is counted twice or lost, whatever the catalogue holds.
func TestCoverAddsUp(t *testing.T) {
	c, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	sentences, err := Sentences()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range append(schemas.Revisions(), "") {
		v := Cover(c, sentences, r)
		n, sum := v.Sentences, 0
		for _, k := range n.Excluded {
			sum += k
		}
		if sum += n.Judged + n.Open + n.Unjudgeable + n.Unaccounted; n.Total == 0 || sum != n.Total {
			t.Errorf("%q: %d sentences, but the parts have %d", r, n.Total, sum)
		}
		q := v.Requirements
		if q.Rule+q.Scenario+q.Both+q.Open+q.Unjudgeable != q.Total || q.Total == 0 {
			t.Errorf("%q: the parts of %+v do not add up", r, q)
		}
	}
}

func TestIndexRefuses(t *testing.T) {
	for _, line := range []string{"", "0123456789ab MUST", "0123456789ab MUST basic more"} {
		if _, err := parseIndexed(line); err == nil || !strings.Contains(err.Error(), "want sha, levels and place") {
			t.Errorf("%q: %v", line, err)
		}
	}
}
