package scenarios

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

// reader decodes one file and gathers every problem on the way.
type reader struct {
	file     string
	problems Problems
}

func (r *reader) fail(n *yaml.Node, next, format string, args ...any) {
	r.problems = append(r.problems, Problem{r.file, n.Line, n.Column, fmt.Sprintf(format, args...), next})
}

// field decodes the value of one key.
type field func(n *yaml.Node)

// object hands the members of a mapping to their fields; a key without a field
// is a problem, and so is a missing key of need.
func (r *reader) object(n *yaml.Node, what string, fields map[string]field, need ...string) {
	if n.Kind != yaml.MappingNode {
		r.fail(n, "write key: value pairs", "%s must be an object", what)
		return
	}
	have := map[string]bool{}
	for _, p := range r.pairs(n) {
		have[p.key.Value] = true
		f := fields[p.key.Value]
		if f == nil {
			r.fail(p.key, known(p.key.Value, fields), "%s has no key %q", what, p.key.Value)
			continue
		}
		f(p.val)
	}
	for _, k := range need {
		if !have[k] {
			r.fail(n, "add it", "%s lacks the key %q", what, k)
		}
	}
}

func known(got string, fields map[string]field) string {
	var names []string
	for k := range fields {
		names = append(names, k)
	}
	if near := Near(got, names, 1); len(near) > 0 {
		return "did you mean " + near[0] + "?"
	}
	slices.Sort(names)
	return "the keys are " + strings.Join(names, ", ")
}

func (r *reader) str(to *string) field {
	return func(n *yaml.Node) {
		raw := r.scalarOf(n, "a string")
		if raw == nil {
			return
		}
		if err := json.Unmarshal(raw, to); err != nil || string(raw) == "null" {
			r.fail(n, "quote it", "%s is not a string", raw)
		}
	}
}

// scalarOf returns the JSON text of a scalar node, or reports that it is none.
func (r *reader) scalarOf(n *yaml.Node, want string) []byte {
	if n.Kind != yaml.ScalarNode {
		r.fail(n, "write a single value", "this must be %s", want)
		return nil
	}
	return r.scalar(n)
}

func (r *reader) boolean(to *bool) field {
	return func(n *yaml.Node) {
		switch raw := r.scalarOf(n, "true or false"); string(raw) {
		case "true":
			*to = true
		case "false":
			*to = false
		case "":
		default:
			r.fail(n, "write true or false", "%s is neither true nor false", raw)
		}
	}
}

func (r *reader) integer(to *int) field {
	return func(n *yaml.Node) {
		raw := r.scalarOf(n, "an integer")
		if raw != nil && json.Unmarshal(raw, to) != nil {
			r.fail(n, "write an integer", "%s is not an integer", raw)
		}
	}
}

func (r *reader) duration(to *time.Duration) field {
	return func(n *yaml.Node) {
		var s string
		r.str(&s)(n)
		if s == "" {
			return
		}
		d, err := time.ParseDuration(s)
		if err != nil || d <= 0 || d > time.Hour {
			r.fail(n, "write a number and a unit, such as 500ms or 5s", "%q is not a time between 0 and 1h", s)
			return
		}
		*to = d
	}
}

func (r *reader) json(to *json.RawMessage) field {
	return func(n *yaml.Node) { *to = r.value(n) }
}

// list decodes a sequence, or a single value as a list of one.
func list[T any](to *[]T, one func(to *T) field) field {
	return func(n *yaml.Node) {
		nodes := []*yaml.Node{n}
		if n.Kind == yaml.SequenceNode {
			nodes = n.Content
		}
		for _, c := range nodes {
			var x T
			one(&x)(c)
			*to = append(*to, x)
		}
	}
}

// choice decodes a string that must be one of a few.
func choice[T ~string](r *reader, to *T, options ...T) field {
	return func(n *yaml.Node) {
		var s string
		r.str(&s)(n)
		if s != "" && !slices.Contains(options, T(s)) {
			var names []string
			for _, o := range options {
				names = append(names, string(o))
			}
			r.fail(n, "use one of "+strings.Join(names, ", "), "%q is unknown", s)
		}
		*to = T(s)
	}
}

func (r *reader) revision(to *schemas.Revision) field {
	return choice(r, to, schemas.Revisions()...)
}

func (r *reader) scenario(n *yaml.Node, s *Scenario) {
	r.object(n, "the scenario", map[string]field{
		"title":  r.str(&s.Title),
		"about":  r.str(&s.About),
		"target": choice(r, &s.Target, trace.Server, trace.Client),
		"since":  r.revision(&s.Since),
		"until":  r.revision(&s.Until),
		"transports": list(&s.Transports, func(t *trace.Transport) field {
			return choice(r, t, trace.Stdio, trace.StreamableHTTP, trace.HTTPSSE)
		}),
		"needs":  func(n *yaml.Node) { r.needs(n, &s.Needs) },
		"fresh":  r.boolean(&s.Fresh),
		"breaks": list(&s.Breaks, r.str),
		"steps":  func(n *yaml.Node) { r.steps(n, s) },
	}, "title", "target", "steps")
}

func (r *reader) needs(n *yaml.Node, to *Needs) {
	r.object(n, "needs", map[string]field{
		"server": r.str(&to.Server), "client": r.str(&to.Client),
		"tool": r.str(&to.Tool), "prompt": r.str(&to.Prompt), "resource": r.str(&to.Resource),
		"session": r.boolean(&to.Session), "local": r.boolean(&to.Local), "alone": r.boolean(&to.Alone),
	})
}

func (r *reader) steps(n *yaml.Node, s *Scenario) {
	if n.Kind != yaml.SequenceNode || len(n.Content) == 0 {
		r.fail(n, "write a list of steps", "steps must be a list with at least one step")
		return
	}
	for _, c := range n.Content {
		st := Step{Line: c.Line}
		r.step(c, &st)
		s.Steps = append(s.Steps, st)
	}
}

func (r *reader) step(n *yaml.Node, st *Step) {
	var use Use
	verbs := 0
	verb := func(f field) field { return func(n *yaml.Node) { verbs++; f(n) } }
	r.object(n, "the step", map[string]field{
		"use":          verb(choice(r, &use.What, "open")),
		"capabilities": r.json(&use.Capabilities),
		"revision":     r.str(&use.Revision),
		"send":         verb(func(n *yaml.Node) { st.Send = &Send{}; r.send(n, st.Send) }),
		"expect":       verb(func(n *yaml.Node) { st.Expect = &Pattern{}; r.expect(n, st.Expect) }),
		"absent":       verb(func(n *yaml.Node) { st.Absent = &Pattern{}; r.absent(n, st.Absent) }),
		"walk":         verb(func(n *yaml.Node) { st.Walk = &Walk{}; r.walk(n, st.Walk) }),
		"do":           verb(choice(r, &st.Do, Actions()...)),
		"as":           r.str(&st.As),
		"req":          r.str(&st.Req),
		"checks":       func(n *yaml.Node) { r.checks(n, &st.Checks) },
		"capture":      func(n *yaml.Node) { r.capture(n, st) },
	})
	if n.Kind == yaml.MappingNode && verbs != 1 {
		r.fail(n, "one of use, send, expect, absent, walk, do", "a step has exactly one verb, this one has %d", verbs)
	}
	switch {
	case use.What != "":
		st.Use = &use
	case use.Capabilities != nil || use.Revision != "":
		r.fail(n, "put them beside use: open", "capabilities and revision belong to use")
	}
	if st.As != "" && st.Do == "" {
		r.fail(n, "move it into send, expect or walk", "as beside the verb belongs to do")
	}
	if looks := st.Expect != nil || st.Walk != nil || st.Use != nil; !looks && (st.Checks != nil || st.Capture != nil) {
		r.fail(n, "move them to expect, walk or use", "checks and capture need an event to look into")
	}
	if st.Send != nil && st.Req != "" {
		r.fail(n, "move it to the step that sees the reaction", "req on send proves nothing")
	}
}

func (r *reader) send(n *yaml.Node, to *Send) {
	kinds := 0
	kind := func(f field) field { return func(n *yaml.Node) { kinds++; f(n) } }
	r.object(n, "send", map[string]field{
		"call": kind(r.str(&to.Call)), "notify": kind(r.str(&to.Notify)), "reply": kind(r.str(&to.Reply)),
		"raw": kind(func(n *yaml.Node) { to.Raw = &Raw{}; r.raw(n, to.Raw) }),
		"as":  r.str(&to.As), "id": r.json(&to.ID), "params": r.json(&to.Params),
		"result": r.json(&to.Result), "error": r.json(&to.Error),
		"http": func(n *yaml.Node) { to.HTTP = &SendHTTP{}; r.http(n, to.HTTP) },
		"bare": r.boolean(&to.Bare),
	})
	lone := kinds == 0 && to.HTTP != nil && to.HTTP.Method != ""
	switch {
	case kinds != 1 && !lone:
		r.fail(n, "one of call, notify, reply, raw, or http with a method", "send says exactly one thing")
	case to.ID != nil && to.Call == "":
		r.fail(n, "remove it, or use raw", "only a call has an id")
	case (to.Result != nil || to.Error != nil) != (to.Reply != ""):
		r.fail(n, "give reply and one of result and error", "reply and its outcome belong together")
	case to.Result != nil && to.Error != nil:
		r.fail(n, "use raw to break the rule", "a reply has result or error, not both")
	}
}

func (r *reader) raw(n *yaml.Node, to *Raw) {
	if n.Kind == yaml.ScalarNode {
		to.Data = []byte(n.Value)
		return
	}
	var s string
	r.object(n, "raw", map[string]field{"base64": r.str(&s)}, "base64")
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		r.fail(n, "use the standard alphabet with padding", "base64: %v", err)
	}
	to.Data = b
}

func (r *reader) http(n *yaml.Node, to *SendHTTP) {
	r.object(n, "http", map[string]field{
		"method": r.str(&to.Method), "status": r.integer(&to.Status), "stream": r.boolean(&to.Stream),
		"event-id": r.str(&to.EventID), "retry": r.integer(&to.Retry),
		"headers": func(n *yaml.Node) {
			if n.Kind != yaml.MappingNode {
				r.fail(n, "write name: value pairs, null drops a header", "headers must be an object")
				return
			}
			to.Headers = map[string]*string{}
			for _, p := range r.pairs(n) {
				if p.val.Kind == yaml.ScalarNode && plain(p.val) && p.val.Value == "null" {
					to.Headers[p.key.Value] = nil
					continue
				}
				v := ""
				r.str(&v)(p.val)
				to.Headers[p.key.Value] = &v
			}
		},
	})
}

func (r *reader) pattern(n *yaml.Node, what string, to *Pattern, more map[string]field) {
	kinds := 0
	kind := func(f field) field { return func(n *yaml.Node) { kinds++; f(n) } }
	more["reply"] = kind(r.str(&to.Reply))
	more["request"] = kind(r.str(&to.Request))
	more["notification"] = kind(r.str(&to.Notification))
	more["http"] = kind(r.str(&to.HTTP))
	more["closed"] = kind(r.boolean(&to.Closed))
	more["after"] = r.str(&to.After)
	r.object(n, what, more)
	if n.Kind == yaml.MappingNode && kinds != 1 {
		r.fail(n, "one of reply, request, notification, http, closed", "%s awaits exactly one thing, this one has %d", what, kinds)
	}
}

func (r *reader) expect(n *yaml.Node, to *Pattern) {
	r.pattern(n, "expect", to, map[string]field{
		"as": r.str(&to.As), "within": r.duration(&to.Within), "optional": r.boolean(&to.Optional),
		"assume": r.json(&to.Assume), "before": r.str(&to.Before),
	})
}

func (r *reader) absent(n *yaml.Node, to *Pattern) {
	r.pattern(n, "absent", to, map[string]field{"for": r.duration(&to.For)})
	if n.Kind == yaml.MappingNode && to.For == 0 {
		r.fail(n, "add for: 500ms", "absent must say how long to watch")
	}
}

func (r *reader) walk(n *yaml.Node, to *Walk) {
	r.object(n, "walk", map[string]field{
		"call": r.str(&to.Call), "params": r.json(&to.Params), "as": r.str(&to.As), "within": r.duration(&to.Within),
	}, "call")
}

func (r *reader) checks(n *yaml.Node, to *[]Check) {
	if n.Kind != yaml.SequenceNode {
		r.fail(n, "write a list", "checks must be a list")
		return
	}
	for _, c := range n.Content {
		ck := Check{Line: c.Line}
		exists, looks := false, 0
		look := func(f field) field { return func(n *yaml.Node) { looks++; f(n) } }
		r.object(c, "the check", map[string]field{
			"req": r.str(&ck.Req), "at": r.str(&ck.At),
			"is": look(r.json(&ck.Is)), "like": look(r.json(&ck.Like)),
			"exists": look(func(n *yaml.Node) { ck.Exists = &exists; r.boolean(&exists)(n) }),
		}, "req")
		if c.Kind == yaml.MappingNode && looks != 1 {
			r.fail(c, "one of is, like, exists", "a check looks for exactly one thing, this one has %d", looks)
		}
		*to = append(*to, ck)
	}
}

func (r *reader) capture(n *yaml.Node, st *Step) {
	if n.Kind != yaml.MappingNode {
		r.fail(n, "write name: pointer pairs", "capture must be an object")
		return
	}
	st.Capture = map[string]string{}
	for _, p := range r.pairs(n) {
		v := ""
		r.str(&v)(p.val)
		st.Capture[p.key.Value] = v
	}
}
