package scenarios

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

const whole = `
title: A tool may sample
about: why
target: server
since: 2024-11-05
until: 2026-07-28
transports: [stdio, streamable-http]
needs: {tool: test_sampling, server: tools}
fresh: true
breaks: [A-B]
steps:
  - use: open
    capabilities: {sampling: {}}
  - send: {call: tools/call, as: call, id: 0, params: {name: "t", arguments: {n: 9007199254740993, d: 2025-11-25, no: no, t: true, z: null, s: "true", f: 1.0}}}
  - expect: {request: sampling/createMessage, as: sample, within: 5s}
    checks:
      - {req: A-B, at: /params/maxTokens, like: {type: integer}}
    capture: {token: /params/maxTokens}
  - send: {reply: sample, result: {role: assistant}}
  - absent: {notification: notifications/progress, for: 200ms, after: sample}
    req: A-C
  - send: {raw: {base64: "/w=="}, http: {method: PUT, headers: {Accept: null, X: y}}}
  - send: {http: {method: DELETE}, as: bye}
  - expect: {http: bye, optional: true}
  - walk: {call: tools/list}
  - do: close-stdin
`

func TestParseReadsTheWholeLanguage(t *testing.T) {
	s, err := Parse("tools/call-sampling.yaml", []byte(whole))
	if err != nil {
		t.Fatal(err)
	}
	if s.ID != "tools.call-sampling" || s.Area() != "tools" || s.Target != trace.Server || !s.Fresh {
		t.Errorf("head: %+v", s)
	}
	if !s.Runs(schemas.R20251125, trace.Stdio) || s.Runs(schemas.R20260728, trace.Stdio) || s.Runs(schemas.R20251125, trace.HTTPSSE) {
		t.Error("Runs does not follow since, until and transports")
	}
	if got := strings.Join(s.Requirements(), " "); got != "A-B A-C" {
		t.Errorf("requirements: %s", got)
	}
	want := `{"name":"t","arguments":{"n":9007199254740993,"d":"2025-11-25","no":"no","t":true,"z":null,"s":"true","f":1.0}}`
	if got := string(s.Steps[1].Send.Params); got != want {
		t.Errorf("params\n got %s\nwant %s", got, want)
	}
	if string(s.Steps[1].Send.ID) != "0" || s.Steps[2].Expect.Within != 5*time.Second || s.Steps[2].Capture["token"] != "/params/maxTokens" {
		t.Errorf("steps: %+v %+v", s.Steps[1].Send, s.Steps[2])
	}
	raw := s.Steps[5].Send
	if string(raw.Raw.Data) != "\xff" || raw.HTTP.Headers["Accept"] != nil || *raw.HTTP.Headers["X"] != "y" {
		t.Errorf("raw: %+v", raw)
	}
	if s.Steps[2].Line != 15 || s.Steps[2].Checks[0].Line != 17 {
		t.Errorf("lines: %d %d", s.Steps[2].Line, s.Steps[2].Checks[0].Line)
	}
}

// step wraps one step into a scenario whose step stands in line 4.
func step(s string) string { return "title: x\ntarget: server\nsteps:\n  - " + s + "\n" }

func TestParseSaysWhatIsWrongAndWhere(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"empty":            {"", "f.yaml: the file is empty"},
		"comment only":     {"# nothing\n", "f.yaml: the file is empty"},
		"not yaml":         {"title: x\n\tsteps: [\n", "f.yaml:2:1: not YAML"},
		"a list":           {"- a\n", "f.yaml:1:1: the scenario must be an object"},
		"second document":  {step("use: open") + "---\na: b\n", "f.yaml:5:1: a second document"},
		"unknown key":      {"titel: x\ntarget: server\nsteps: [{use: open}]\n", `f.yaml:1:1: the scenario has no key "titel" (did you mean title?)`},
		"missing":          {"title: x\ntarget: server\n", `lacks the key "steps"`},
		"duplicate":        {"title: x\ntitle: y\ntarget: server\nsteps: [{use: open}]\n", `f.yaml:2:1: key "title" stands here again, first in line 1`},
		"deep duplicate":   {step("send: {call: a, params: {x: 1, x: 2}}"), `f.yaml:4:36: key "x" stands here again`},
		"anchor":           {step("send: {call: a, params: &p {}}"), "f.yaml:4:29: anchors are not allowed"},
		"alias":            {step("send: {call: a, params: *p}"), "not YAML: unknown anchor"},
		"tag":              {step("send: {call: !!str 1}"), "f.yaml:4:18: tags such as !!str are not allowed"},
		"merge":            {step("send: {call: a, params: {<<: {}}}"), "f.yaml:4:30: merge keys are not allowed"},
		"wrong side":       {"title: x\ntarget: servre\nsteps: [{use: open}]\n", `f.yaml:2:9: "servre" is unknown (use one of server, client)`},
		"number as title":  {"title: 5\ntarget: server\nsteps: [{use: open}]\n", "f.yaml:1:8: 5 is not a string (quote it)"},
		"revision":         {"since: 2025-01-01\ntitle: x\ntarget: server\nsteps: [{use: open}]\n", `"2025-01-01" is unknown (use one of 2024-11-05`},
		"no steps":         {"title: x\ntarget: server\nsteps: []\n", "steps must be a list with at least one step"},
		"no verb":          {step("req: A"), "a step has exactly one verb, this one has 0"},
		"two verbs":        {step("{use: open, do: drop}"), "a step has exactly one verb, this one has 2"},
		"bad verb":         {step("do: dance"), `"dance" is unknown (use one of listen, drop`},
		"two sends":        {step("send: {call: a, notify: b}"), "send says exactly one thing"},
		"reply alone":      {step("send: {reply: a}"), "reply and its outcome belong together"},
		"result and error": {step("send: {reply: a, result: {}, error: {}}"), "not both"},
		"id of notify":     {step("send: {notify: a, id: 1}"), "only a call has an id"},
		"two patterns":     {step("expect: {reply: a, request: b}"), "expect awaits exactly one thing, this one has 2"},
		"no duration":      {step("absent: {reply: a}"), "absent must say how long"},
		"bad duration":     {step("expect: {reply: a, within: 5}"), "5 is not a string"},
		"long duration":    {step("expect: {reply: a, within: 5h}"), "not a time between 0 and 1h"},
		"empty value":      {step("send: {call: a, params: {x: }}"), "the value is empty"},
		"two looks":        {step("{expect: {reply: a}, checks: [{req: A, is: 1, exists: true}]}"), "exactly one thing, this one has 2"},
		"no look":          {step("{expect: {reply: a}, checks: [{req: A}]}"), "exactly one thing, this one has 0"},
		"checks on send":   {step("{send: {call: a}, checks: [{req: A, is: 1}]}"), "need an event to look into"},
		"req on send":      {step("{send: {call: a}, req: A}"), "req on send proves nothing"},
		"bad base64":       {step("send: {raw: {base64: \"*\"}}"), "base64: "},
		"stray as":         {step("{send: {call: a}, as: x}"), "as beside the verb belongs to do"},
		"stray revision":   {step("{do: drop, revision: x}"), "capabilities and revision belong to use"},
		"yes":              {"title: x\ntarget: server\nfresh: yes\nsteps: [{use: open}]\n", `f.yaml:3:8: "yes" is neither true nor false`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse("f.yaml", []byte(c.text))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

func TestParseReportsEveryProblem(t *testing.T) {
	_, err := Parse("f.yaml", []byte("titel: x\ntarget: nobody\nfresh: maybe\nsteps: [{do: x}]\n"))
	var ps Problems
	if !errors.As(err, &ps) || len(ps) != 5 {
		t.Fatalf("want 5 problems, got %v", err)
	}
	for i := 1; i < len(ps); i++ {
		if ps[i].Line < ps[i-1].Line {
			t.Errorf("not in order: %v", err)
		}
	}
}

func TestLoadSortsAndReportsAllFiles(t *testing.T) {
	good := &fstest.MapFile{Data: []byte(step("use: open"))}
	all, err := Load(fstest.MapFS{"b/x.yaml": good, "a/y.yaml": good, "a/readme.txt": good})
	if err != nil || len(all) != 2 || all[0].ID != "a.y" || all[1].ID != "b.x" {
		t.Fatalf("%v %v", all, err)
	}
	bad := &fstest.MapFile{Data: []byte("x: 1\n")}
	_, err = Load(fstest.MapFS{"b/x.yaml": bad, "a/y.yaml": bad})
	if err == nil || !strings.Contains(err.Error(), "a/y.yaml:1") || !strings.Contains(err.Error(), "b/x.yaml:1") {
		t.Fatalf("both files must be named: %v", err)
	}
}

func TestLintFindsWhatCannotBeMeant(t *testing.T) {
	head := "title: x\ntarget: server\n"
	for name, c := range map[string]struct{ text, want string }{
		"clean":           {step("{use: open, req: A-B}"), ""},
		"unknown req":     {step("{use: open, req: A-C}"), "f.yaml:4: the catalogue has no requirement A-C (did you mean A-B?)"},
		"unknown breaks":  {head + "breaks: [X-LONG-ID]\nsteps: [{use: open, req: A-B}]\n", "no requirement X-LONG-ID"},
		"no check":        {step("use: open"), "the scenario checks nothing"},
		"early label":     {step("{expect: {reply: a}, req: A-B}"), `f.yaml:4: nothing was sent as "a"`},
		"early reply":     {step("{use: open, req: A-B}\n  - send: {reply: a, result: {}}"), `f.yaml:5: there is no request "a"`},
		"after":           {step("{expect: {closed: true, after: a}, req: A-B}"), `after "a" can never be`},
		"pointer":         {step("{expect: {closed: true}, checks: [{req: A-B, at: a, is: 1}]}"), "does not begin with a slash"},
		"tilde":           {step("{expect: {closed: true}, checks: [{req: A-B, at: /a~2, is: 1}]}"), "~ must be followed by 0 or 1"},
		"capture pointer": {step("{expect: {closed: true}, req: A-B, capture: {x: y}}"), "does not begin with a slash"},
		"schema":          {step("{expect: {closed: true}, checks: [{req: A-B, like: {type: strnig}}]}"), "write a JSON Schema"},
		"remote schema":   {step("{expect: {closed: true}, checks: [{req: A-B, like: {$ref: \"http://x/y\"}}]}"), "lies outside the scenario"},
		"variable":        {step("{expect: {closed: true}, checks: [{req: A-B, is: \"${x}\"}]}"), "the variable ${x} has no value here (capture it"},
		"needs tool":      {step("{use: open, req: A-B}\n  - send: {call: x, params: {n: \"${tool}\"}}"), `say needs: {tool: "*"}`},
		"order":           {head + "since: 2025-11-25\nuntil: 2025-11-25\nsteps: [{use: open, req: A-B}]\n", "leave no revision"},
		"own id":          {step("{use: open, req: A-B}\n  - send: {call: a, id: 1}"), "may have been used before on a shared connection (say fresh: true)"},
		"assume":          {step("{expect: {closed: true, assume: {type: strnig}}, req: A-B}"), "write a JSON Schema"},
		"label twice":     {step("{use: open, req: A-B}\n  - send: {call: a, as: x}\n  - send: {call: b, as: x}"), `f.yaml:6: the label "x" is taken`},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := Parse("f.yaml", []byte(c.text))
			if err != nil {
				t.Fatal(err)
			}
			err = Lint([]Scenario{*s}, []string{"A-B"})
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
	err := Lint([]Scenario{{ID: "a", File: "1"}, {ID: "a", File: "2"}}, nil)
	if err == nil || !strings.Contains(err.Error(), "the id a is taken by 1") {
		t.Errorf("duplicate id: %v", err)
	}
}

func TestSelect(t *testing.T) {
	all := []Scenario{
		{ID: "http.get", Target: trace.Server, Transports: []trace.Transport{trace.StreamableHTTP}},
		{ID: "tools.list", Target: trace.Server, Steps: []Step{{Req: "TOOLS-LIST"}}},
		{ID: "tools.client", Target: trace.Client, Since: schemas.R20260728},
	}
	for name, c := range map[string]struct {
		f    Filter
		want string // ids, or the error
	}{
		"all":         {Filter{}, "http.get tools.list tools.client"},
		"glob":        {Filter{IDs: []string{"tools.*"}}, "tools.list tools.client"},
		"two":         {Filter{IDs: []string{"http.get", "*.list"}}, "http.get tools.list"},
		"area":        {Filter{Areas: []string{"http"}}, "http.get"},
		"requirement": {Filter{Requirements: []string{"TOOLS-*"}}, "tools.list"},
		"role":        {Filter{Role: trace.Client}, "tools.client"},
		"revision":    {Filter{Revision: schemas.R20251125}, "http.get tools.list"},
		"transport":   {Filter{Transport: trace.Stdio}, "tools.list tools.client"},
		"near":        {Filter{IDs: []string{"tools.lits"}}, `no scenario matches "tools.lits": did you mean tools.list, tools.client?`},
		"one of two":  {Filter{IDs: []string{"tools.*", "zzz"}}, `no scenario matches "zzz"`},
		"far":         {Filter{Areas: []string{"nothing-like-it"}}, "mcp-conform list"},
		"bad pattern": {Filter{IDs: []string{"[a"}}, "syntax error in pattern"},
		"disjoint":    {Filter{IDs: []string{"http.get"}, Role: trace.Client}, "no scenario is left"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Select(all, c.f)
			var ids []string
			for _, s := range got {
				ids = append(ids, s.ID)
			}
			if s := strings.Join(ids, " "); err == nil && s != c.want || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %q, %v\nwant %q", s, err, c.want)
			}
		})
	}
}

func TestExpand(t *testing.T) {
	v := Vars{"s": json.RawMessage(`"a\"b"`), "n": json.RawMessage(`9007199254740993`), "o": json.RawMessage(`{"x":1}`)}
	for in, want := range map[string]string{
		`{"a":"${s}","b":"${n}","c":"${o}"}`: `{"a":"a\"b","b":9007199254740993,"c":{"x":1}}`,
		`"x${s}y${n}"`:                       `"xa\"by9007199254740993"`,
		`{"${s}":1, "${n}" : 2}`:             `{"a\"b":1, "9007199254740993" : 2}`,
		`"\"${n}"`:                           `"\"9007199254740993"`,
		`"$n"`:                               `"$n"`,
	} {
		if got, err := v.Expand(json.RawMessage(in)); err != nil || string(got) != want {
			t.Errorf("%s: got %s, %v, want %s", in, got, err, want)
		}
	}
	if _, err := v.Expand(json.RawMessage(`"${q}"`)); err == nil || !strings.Contains(err.Error(), "${q} has no value") {
		t.Errorf("an unknown variable must be an error, got %v", err)
	}
}

func TestCheckApply(t *testing.T) {
	yes, no := true, false
	event := json.RawMessage(`{"id":9007199254740993,"f":1.0,"e":1e3,"big":1e999999999,"s":"x","l":[{"a/b":null}],"o":{"a":1,"b":2}}`)
	for name, c := range map[string]struct {
		check Check
		ok    bool
	}{
		"is exact":           {Check{At: "/id", Is: json.RawMessage(`9007199254740993`)}, true},
		"is not its float":   {Check{At: "/id", Is: json.RawMessage(`9007199254740992`)}, false},
		"1.0 is 1":           {Check{At: "/f", Is: json.RawMessage(`1`)}, true},
		"1e3 is 1000":        {Check{At: "/e", Is: json.RawMessage(`1000`)}, true},
		"string is no num":   {Check{At: "/s", Is: json.RawMessage(`1`)}, false},
		"object any order":   {Check{At: "/o", Is: json.RawMessage(`{"b":2,"a":1}`)}, true},
		"null value":         {Check{At: "/l/0/a~1b", Is: json.RawMessage(`null`)}, true},
		"null exists":        {Check{At: "/l/0/a~1b", Exists: &yes}, true},
		"absent is not null": {Check{At: "/nope", Is: json.RawMessage(`null`)}, false},
		"absent":             {Check{At: "/l/1", Exists: &no}, true},
		"index form":         {Check{At: "/l/00", Exists: &no}, true},
		"like":               {Check{At: "/s", Like: json.RawMessage(`{"const":"x"}`)}, true},
		"like absent":        {Check{At: "/nope", Like: json.RawMessage(`{}`)}, false},
		"like not":           {Check{At: "/s", Like: json.RawMessage(`{"type":"integer"}`)}, false},
		"like variable":      {Check{At: "/s", Like: json.RawMessage(`{"pattern":"^${x}$"}`)}, true},
		"boundless":          {Check{At: "/big", Like: json.RawMessage(`{"type":"integer"}`)}, false},
	} {
		t.Run(name, func(t *testing.T) {
			o, err := c.check.Apply(event, Vars{"x": json.RawMessage(`"x"`)})
			if err != nil || o.OK != c.ok {
				t.Errorf("got %+v, %v", o, err)
			}
			if !o.OK && (o.Want == "" || o.Got == "") {
				t.Errorf("a failure must say what was wanted and got: %+v", o)
			}
		})
	}
}

// FuzzParse holds the loader to two promises: it never panics, and what it
// accepts consists of JSON values.
func FuzzParse(f *testing.F) {
	f.Add([]byte(whole))
	f.Add([]byte(step("send: {call: a, params: &p {x: *p}}")))
	f.Add([]byte("a: &a [*a]\n"))
	f.Add([]byte("? {a: b}\n: c\n"))
	f.Add([]byte("<<: 1\n\xff: !!binary x\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Parse("f.yaml", data)
		if (s == nil) == (err == nil) {
			t.Fatalf("scenario %v, error %v", s, err)
		}
		if s == nil {
			return
		}
		for _, st := range s.Steps {
			if st.Send == nil {
				continue
			}
			for _, raw := range []json.RawMessage{st.Send.ID, st.Send.Params, st.Send.Result, st.Send.Error} {
				if raw != nil && !json.Valid(raw) {
					t.Errorf("not JSON: %q", raw)
				}
			}
		}
		_ = Lint([]Scenario{*s}, nil)
	})
}
