package conformance

import (
	"reflect"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

const small = `- id: CORE
  text: Something is so.
  binds: server
  in:
    2025-11-25: {level: MUST, at: basic}
  judged: trace
- id: OTHER
  text: Something else is so.
  binds: both
  in:
    2025-11-25: {level: SHOULD, at: basic}
  judged: trace
- id: TOOLS
  text: Tools are so.
  binds: server
  in:
    2025-11-25: {level: MUST, at: basic}
  when: {server: tools}
  judged: trace
- id: RARE
  text: When it happens it is so.
  binds: server
  in:
    2025-11-25: {level: MUST, at: basic}
  occasion: it happens
  judged: trace
- id: OPEN
  text: It may be so.
  binds: server
  in:
    2025-11-25: {level: MUST, at: basic}
  judged: trace
  disputed: https://example.org/1
`

func smallCatalogue(t *testing.T) *Catalogue {
	t.Helper()
	c, err := Load(fstest.MapFS{"small.yaml": {Data: []byte(small)}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func evidence(id string, v Verdict, detail string, event int64) Evidence {
	e := Evidence{Requirement: id, Revision: schemas.R20251125, Verdict: v, Detail: detail, Event: event, Transport: trace.Stdio}
	if id == "OTHER" {
		e.Side = trace.Server
	}
	return e
}

func judgementOf(t *testing.T, l *Ledger, id string) Judgement {
	t.Helper()
	for _, j := range l.Verdicts(schemas.R20251125, trace.Server) {
		if j.Requirement.ID == id {
			return j
		}
	}
	t.Fatalf("no judgement of %s", id)
	return Judgement{}
}

func TestVerdicts(t *testing.T) {
	cases := []struct {
		name   string
		id     string
		seen   []Evidence
		facts  string
		want   Verdict
		reason string
	}{
		{"no evidence, no pass", "CORE", nil, "", Untested, "nothing on the wire exercised it"},
		{"passed", "CORE", []Evidence{evidence("CORE", Pass, "", 1)}, "", Pass, ""},
		{"one failure beats many passes", "CORE", []Evidence{evidence("CORE", Pass, "", 1), evidence("CORE", Fail, "bad", 2)}, "", Fail, ""},
		{"a reason is kept", "CORE", []Evidence{evidence("CORE", Untested, "the capture has no heads", 0)}, "", Untested, "the capture has no heads"},
		{"capability not declared", "TOOLS", nil, `{}`, NotApplicable, "the server does not declare tools"},
		{"capability declared", "TOOLS", nil, `{"tools":{}}`, Untested, "nothing on the wire exercised it"},
		{"seen though not declared", "TOOLS", []Evidence{evidence("TOOLS", Fail, "bad", 2)}, `{}`, Fail, ""},
		{"no occasion", "RARE", nil, "", Untested, "it did not come to this: it happens"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			l := NewLedger(smallCatalogue(t))
			for _, e := range c.seen {
				l.Add(e)
			}
			l.Learn(Facts{Revision: schemas.R20251125, ServerCapabilities: []byte(c.facts)})
			j := judgementOf(t, l, c.id)
			if j.Verdict != c.want || j.Reason != c.reason {
				t.Errorf("%s: %q, want %s: %q", j.Verdict, j.Reason, c.want, c.reason)
			}
		})
	}
}

func TestConsequencesFoldUnderTheirCause(t *testing.T) {
	l := NewLedger(smallCatalogue(t))
	follows := evidence("OTHER", Fail, "unanswered", 9)
	follows.Cause = "CORE"
	l.Add(follows)
	if j := judgementOf(t, l, "OTHER"); j.Verdict != Fail {
		t.Errorf("without its cause it stands for itself, got %s", j.Verdict)
	}
	l.Add(evidence("CORE", Fail, "noise", 3))
	if j := judgementOf(t, l, "OTHER"); j.Verdict != Untested || j.Failed != 0 {
		t.Errorf("with its cause it is %s with %d failures, want untested with none", j.Verdict, j.Failed)
	}
	fs := l.Findings()
	if len(fs) != 1 || len(fs[0].Consequences) != 1 || fs[0].Consequences[0].Requirement != "OTHER" {
		t.Errorf("findings are %+v, want one with one consequence", fs)
	}
}

func TestFindingsOfAKindAreOne(t *testing.T) {
	l := NewLedger(smallCatalogue(t))
	for i := range int64(50) {
		e := evidence("CORE", Fail, "bad member", 50-i)
		e.Want = "/tools/" + string(rune('0'+i%10)) + "/name: string"
		l.Add(e)
	}
	fs := l.Findings()
	if len(fs) != 1 || fs[0].Count != 50 || fs[0].Event != 1 || len(fs[0].More) != kept-1 {
		t.Fatalf("got %+v, want one finding of 50, the earliest first", fs)
	}
}

// A scenario and a rule that find the same fault in the same event make one finding.
func TestOneFaultFoundTwice(t *testing.T) {
	l := NewLedger(smallCatalogue(t))
	for _, detail := range []string{"the check says so", "the rule says so"} {
		e := evidence("CORE", Fail, detail, 7)
		e.Scenario = "a.b"
		l.Add(e)
	}
	if fs := l.Findings(); len(fs) != 1 || fs[0].Detail != "the check says so" {
		t.Errorf("findings are %+v, want one", fs)
	}
	other := evidence("CORE", Fail, "another event", 8)
	other.Scenario = "a.b"
	l.Add(other)
	if fs := l.Findings(); len(fs) != 2 {
		t.Errorf("findings are %+v, want two", fs)
	}
}

func TestMergeIsAssociative(t *testing.T) {
	parts := [][]Evidence{
		{evidence("CORE", Fail, "bad", 7), evidence("CORE", Pass, "", 1)},
		{evidence("CORE", Fail, "bad", 3), evidence("OTHER", Pass, "", 1), evidence("NOWHERE", Pass, "", 1)},
		{evidence("CORE", Fail, "worse", 5), evidence("TOOLS", Untested, "b", 0), evidence("TOOLS", Untested, "a", 0)},
	}
	caps := []string{`{"tools":{}}`, `{"tools":{"listChanged":true}}`, `{"prompts":{}}`}
	c := smallCatalogue(t)
	shard := func(i int) *Ledger {
		l := NewLedger(c)
		for _, e := range parts[i] {
			l.Add(e)
		}
		l.Learn(Facts{Revision: schemas.R20251125, ServerCapabilities: []byte(caps[i])})
		return l
	}
	left := shard(0)
	left.Merge(shard(1))
	left.Merge(shard(2))
	right := shard(2)
	bc := shard(1)
	right.Merge(bc)
	right.Merge(shard(0))
	one := NewLedger(c)
	var wg sync.WaitGroup
	for i := range parts {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for _, e := range parts[i] {
				one.Add(e)
			}
			one.Learn(Facts{Revision: schemas.R20251125, ServerCapabilities: []byte(caps[i])})
		}()
	}
	wg.Wait()
	for name, other := range map[string]*Ledger{"the other way round": right, "one concurrent run": one} {
		if !reflect.DeepEqual(left.Findings(), other.Findings()) {
			t.Errorf("%s: findings differ:\n%+v\n%+v", name, left.Findings(), other.Findings())
		}
		a, b := left.Verdicts(schemas.R20251125, trace.Server), other.Verdicts(schemas.R20251125, trace.Server)
		if !reflect.DeepEqual(a, b) {
			t.Errorf("%s: verdicts differ", name)
		}
		if !reflect.DeepEqual(left.Facts(schemas.R20251125), other.Facts(schemas.R20251125)) {
			t.Errorf("%s: facts differ", name)
		}
	}
	if errs := left.Errors(); len(errs) != 1 {
		t.Errorf("errors are %v, want one on NOWHERE", errs)
	}
}

func TestScore(t *testing.T) {
	cases := []struct {
		name string
		seen []Evidence
		want Standing
		must Tally
	}{
		{"a peer that does nothing", nil, NothingKnown, Tally{Untested: 2, Applicable: 2}},
		{"core judged", []Evidence{evidence("CORE", Pass, "", 1)}, Conforms, Tally{Passed: 1, Untested: 1, Applicable: 2}},
		{"core not judged", []Evidence{evidence("RARE", Pass, "", 1)}, Incomplete, Tally{Passed: 1, Untested: 1, Applicable: 2}},
		{"a MUST failed", []Evidence{evidence("CORE", Pass, "", 1), evidence("RARE", Fail, "bad", 2)}, DoesNot, Tally{Passed: 1, Failed: 1, Applicable: 2}},
		{"a SHOULD failed", []Evidence{evidence("CORE", Pass, "", 1), evidence("OTHER", Fail, "bad", 2)}, Conforms, Tally{Passed: 1, Untested: 1, Applicable: 2}},
		{"a disputed MUST failed", []Evidence{evidence("CORE", Pass, "", 1), evidence("OPEN", Fail, "bad", 2)}, Conforms, Tally{Passed: 1, Untested: 1, Applicable: 2}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			l := NewLedger(smallCatalogue(t))
			for _, e := range c.seen {
				l.Add(e)
			}
			l.Learn(Facts{Revision: schemas.R20251125, ServerCapabilities: []byte(`{}`)})
			s := l.Score(schemas.R20251125, trace.Server)
			if s.Verdict != c.want || s.Must != c.must {
				t.Errorf("%s %+v, want %s %+v", s.Verdict, s.Must, c.want, c.must)
			}
		})
	}
}
