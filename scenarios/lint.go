package scenarios

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// Lint looks for what a parsed scenario cannot mean: requirements that the
// catalogue does not know, labels and variables used before they exist, broken
// JSON Pointers and schemas, impossible revisions, an id given twice. known
// lists the ids of the catalogue. The error is [Problems].
func Lint(all []Scenario, known []string) error {
	var ps Problems
	first := map[string]string{}
	for i := range all {
		s := &all[i]
		l := &linter{s: s, known: known, labels: map[string]string{}, vars: map[string]bool{VarNonce: true, VarRevision: true, VarAlive: true}}
		if other, dup := first[s.ID]; dup {
			l.fail(0, "rename one of the two files", "the id %s is taken by %s", s.ID, other)
		}
		first[s.ID] = s.File
		l.scenario()
		ps = append(ps, l.problems...)
	}
	return ps.or()
}

type linter struct {
	s        *Scenario
	known    []string
	labels   map[string]string // label: what made it (call, notify, raw, http, event or request)
	vars     map[string]bool
	problems Problems
}

func (l *linter) fail(line int, next, format string, args ...any) {
	l.problems = append(l.problems, Problem{File: l.s.File, Line: line, What: fmt.Sprintf(format, args...), Next: next})
}

func (l *linter) scenario() {
	s := l.s
	if s.Since != "" && s.Until != "" && s.Since >= s.Until {
		l.fail(0, "until is exclusive and must be later", "since %s and until %s leave no revision", s.Since, s.Until)
	}
	for name, has := range map[string]bool{
		VarTool: s.Needs.Tool != "", VarPrompt: s.Needs.Prompt != "", VarResource: s.Needs.Resource != "",
	} {
		l.vars[name] = has
	}
	for _, id := range s.Breaks {
		l.req(0, id)
	}
	if len(s.Requirements()) == 0 {
		l.fail(0, "add req to a step, or checks", "the scenario checks nothing")
	}
	for _, st := range s.Steps {
		l.step(st)
	}
}

func (l *linter) step(st Step) {
	l.req(st.Line, st.Req)
	switch {
	case st.Use != nil:
		l.uses(st.Line, string(st.Use.Capabilities)+st.Use.Revision)
	case st.Send != nil:
		l.send(st.Line, st.Send)
	case st.Expect != nil:
		l.pattern(st.Line, st.Expect)
	case st.Absent != nil:
		l.pattern(st.Line, st.Absent)
	case st.Do != "":
		l.label(st.Line, st.As, "send")
	case st.Walk != nil:
		l.uses(st.Line, string(st.Walk.Params))
		l.label(st.Line, st.Walk.As, "event")
	}
	for _, c := range st.Checks {
		l.check(c)
	}
	for _, name := range slices.Sorted(maps.Keys(st.Capture)) {
		l.pointer(st.Line, st.Capture[name])
		if !variable.MatchString("${" + name + "}") {
			l.fail(st.Line, "use lower-case letters, digits and hyphens", "%q is no name for a variable", name)
		}
		l.vars[name] = true
	}
}

func (l *linter) send(line int, s *Send) {
	if s.ID != nil && shared(l.s) {
		l.fail(line, "say fresh: true", "an id of one's own may have been used before on a shared connection")
	}
	l.uses(line, string(s.ID)+string(s.Params)+string(s.Result)+string(s.Error)+s.Call+s.Notify)
	if s.Reply != "" && l.labels[s.Reply] != "request" {
		l.fail(line, "expect a request as: "+s.Reply+" first", "there is no request %q to reply to", s.Reply)
	}
	if s.Raw != nil {
		l.uses(line, string(s.Raw.Data))
	}
	if s.HTTP != nil {
		for _, k := range slices.Sorted(maps.Keys(s.HTTP.Headers)) {
			if v := s.HTTP.Headers[k]; v != nil {
				l.uses(line, *v)
			}
		}
	}
	l.label(line, s.As, "send")
}

func (l *linter) pattern(line int, p *Pattern) {
	for _, name := range []string{p.Reply, p.HTTP, p.Before} {
		if name != "" && l.labels[name] != "send" {
			l.fail(line, "send something as: "+name+" first", "nothing was sent as %q", name)
		}
	}
	if p.After != "" && l.labels[p.After] == "" {
		l.fail(line, "name a label of an earlier step", "after %q can never be: no earlier step has that label", p.After)
	}
	l.schema(line, p.Assume)
	kind := "event"
	if p.Request != "" {
		kind = "request"
	}
	l.label(line, p.As, kind)
}

func (l *linter) label(line int, name, kind string) {
	switch {
	case name == "":
	case l.labels[name] != "":
		l.fail(line, "choose another", "the label %q is taken", name)
	default:
		l.labels[name] = kind
	}
}

func (l *linter) check(c Check) {
	l.req(c.Line, c.Req)
	l.pointer(c.Line, c.At)
	l.uses(c.Line, c.At+string(c.Is))
	l.schema(c.Line, c.Like)
}

func (l *linter) schema(line int, schema json.RawMessage) {
	if schema == nil {
		return
	}
	l.uses(line, string(schema))
	stand := Vars{}
	for _, name := range used(string(schema)) {
		stand[name] = json.RawMessage(`"x"`)
	}
	text, err := stand.Expand(schema)
	if err == nil {
		_, err = compile(text)
	}
	if err != nil {
		l.fail(line, "write a JSON Schema of the 2020-12 dialect", "%v", err)
	}
}

func (l *linter) pointer(line int, p string) {
	if err := checkPointer(p); err != nil {
		l.fail(line, "see RFC 6901", "%v", err)
	}
}

func (l *linter) uses(line int, text string) {
	for _, name := range used(text) {
		if has, given := l.vars[name]; !has {
			next := "capture it in an earlier step"
			if given {
				next = "say needs: {" + name + `: "*"}`
			}
			l.fail(line, next, "the variable ${%s} has no value here", name)
		}
	}
}

// shared reports whether a scenario may find its connection used by others.
func shared(s *Scenario) bool { return !s.Fresh && s.Steps[0].Use != nil }

func (l *linter) req(line int, id string) {
	if id == "" || slices.Contains(l.known, id) {
		return
	}
	next := "`mcp-conform list --requirements` shows them"
	if near := Near(id, l.known, 1); len(near) > 0 {
		next = "did you mean " + near[0] + "?"
	}
	l.fail(line, next, "the catalogue has no requirement %s", id)
}
