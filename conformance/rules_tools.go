package conformance

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"regexp"
	"strconv"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

func toolRules() []ruleEntry {
	return []ruleEntry{
		stateful(func() Rule { return &toolRule{tools: map[string]*tool{}} },
			"TOOLS-NAMES-UNIQUE", "TOOLS-NAME-LENGTH", "TOOLS-NAME-CHARACTERS", "TOOLS-INPUT-SCHEMA", "TOOLS-OUTPUT-SCHEMA",
			"TOOLS-STRUCTURED-PRESENT", "TOOLS-STRUCTURED-CONFORMS", "TOOLS-STRUCTURED-TEXT"),
	}
}

// mostTools bounds the tools of one session that are remembered.
const mostTools = 10000

// tool is what the latest list said of a tool.
type tool struct {
	output   json.RawMessage    // its output schema, nil if it has none
	compiled *jsonschema.Schema // nil until needed, or when it cannot be compiled
	unusable bool
	input    string // the input schema last judged, to judge each one once
	walk     int
}

// toolRule watches tools/list and tools/call.
type toolRule struct {
	tools map[string]*tool
	walk  int // number of the walk through the pages of the list
}

func (r *toolRule) Observe(o *Observation) {
	switch {
	case o.Earlier != nil || o.From() != trace.Server:
	case o.isResult("tools/list"):
		r.list(o)
	case o.isResult("tools/call"):
		r.called(o)
	}
}

func (r *toolRule) list(o *Observation) {
	if _, continued := schemas.Member(o.Request.Params, "cursor"); !continued {
		r.walk++
	}
	raw, _ := schemas.Member(o.Message.Result, "tools")
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return
	}
	for i, one := range list {
		name := textParam(one, "name")
		at := "/result/tools/" + strconv.Itoa(i)
		if len(one) == 0 || one[0] != '{' {
			continue // the schema says so
		}
		r.name(o, name, at)
		known := r.remember(name, one)
		r.schemas(o, one, known, name, at)
	}
}

// name judges a tool's name (server/tools, tool names): recommendations since
// 2025-11-25, of which no other revision says anything.
func (r *toolRule) name(o *Observation, name, at string) {
	n := utf8.RuneCountInString(name)
	o.Check(n >= 1 && n <= 128, "TOOLS-NAME-LENGTH", trace.Server, Fault{
		Detail: "the name of a tool is empty or longer than 128 characters", Want: at + "/name: 1 to 128 characters", Got: strconv.Itoa(n) + " characters",
	})
	o.Check(name == "" || toolName.MatchString(name), "TOOLS-NAME-CHARACTERS", trace.Server, Fault{
		Detail: "the name of a tool has other characters than recommended", Want: at + "/name: A-Z a-z 0-9 _ - .", Got: clip(strconv.Quote(name)),
	})
	known := r.tools[name]
	o.Check(known == nil || known.walk != r.walk, "TOOLS-NAMES-UNIQUE", trace.Server, Fault{
		Detail: "two tools have the same name", Want: at + "/name: another", Got: clip(strconv.Quote(name)),
	})
}

var toolName = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)

func (r *toolRule) remember(name string, one json.RawMessage) *tool {
	t := r.tools[name]
	if t == nil {
		t = &tool{}
		if len(r.tools) < mostTools {
			r.tools[name] = t
		}
	}
	t.walk = r.walk
	output, _ := schemas.Member(one, "outputSchema")
	if !bytes.Equal(t.output, output) {
		t.output, t.compiled, t.unusable = bytes.Clone(output), nil, false
	}
	return t
}

// schemas judges the schemas of a tool: valid in their dialect, an object at the
// root. Without properties, items or types they are valid all the same.
func (r *toolRule) schemas(o *Observation, one json.RawMessage, t *tool, name, at string) {
	input, has := schemas.Member(one, "inputSchema")
	output, hasOutput := schemas.Member(one, "outputSchema")
	both := string(input) + "\x00" + string(output)
	if t.input == both {
		return
	}
	if t.input = both; len(both) > 1<<16 {
		t.input = ""
	}
	if !has {
		o.Fail("TOOLS-INPUT-SCHEMA", trace.Server, Fault{
			Detail: "a tool has no input schema", Want: at + "/inputSchema: object", Got: "absent from " + clip(name),
		})
	} else {
		r.schema(o, "TOOLS-INPUT-SCHEMA", "the input schema of a tool is no valid schema for an object", input, true, name, at+"/inputSchema")
	}
	if hasOutput && o.Revision >= schemas.R20250618 {
		r.schema(o, "TOOLS-OUTPUT-SCHEMA", "the output schema of a tool is no valid schema", output, !o.Revision.Stateless(), name, at+"/outputSchema")
	}
}

func (r *toolRule) schema(o *Observation, requirement, detail string, raw json.RawMessage, object bool, name, at string) {
	if len(raw) == 0 || raw[0] != '{' {
		o.Fail(requirement, trace.Server, Fault{Detail: detail, Want: at + ": object", Got: clip(string(raw)) + " in " + clip(name)})
		return
	}
	fault, err := schemaFault(o.Revision, raw, object)
	switch {
	case err != nil:
		o.Untested(requirement, trace.Server, "a schema of the tools cannot be judged here, for its dialect, its references or its size")
	default:
		o.Check(fault == "", requirement, trace.Server, Fault{Detail: detail, Want: at + ": a valid schema", Got: clip(name) + ": " + fault})
	}
}

// called judges the result of a call. Results with isError are exempt: whether
// they fall under the output schema is open, and agreed practice says no.
func (r *toolRule) called(o *Observation) {
	result := o.Message.Result
	if failed, _ := schemas.Member(result, "isError"); string(failed) == "true" || o.Request.task {
		return
	}
	if kind := textParam(result, "resultType"); o.Revision.Stateless() && kind != "complete" && kind != "" {
		return
	}
	structured, has := schemas.Member(result, "structuredContent")
	if has {
		o.Check(mirrored(result, structured), "TOOLS-STRUCTURED-TEXT", trace.Server, Fault{
			Detail: "structured content is not given as text as well", Want: "/result/content: a text block with the same JSON", Got: "none",
		})
	}
	t := r.tools[textParam(o.Request.Params, "name")]
	if t == nil || t.output == nil || string(t.output) == "null" {
		return
	}
	o.Check(has, "TOOLS-STRUCTURED-PRESENT", trace.Server, Fault{
		Detail: "a tool with an output schema returns no structured content", Want: "/result/structuredContent", Got: "absent",
	})
	if has {
		r.conforms(o, t, structured)
	}
}

func (r *toolRule) conforms(o *Observation, t *tool, structured json.RawMessage) {
	if t.compiled == nil && !t.unusable {
		var err error
		t.compiled, err = compileToolSchema(t.output)
		t.unusable = err != nil
	}
	if t.unusable {
		o.Untested("TOOLS-STRUCTURED-CONFORMS", trace.Server, "the output schema of the tool cannot be used")
		return
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(structured))
	if err != nil {
		return
	}
	err = t.compiled.Validate(value)
	want, found := "/result/structuredContent: as the output schema says", ""
	var invalid *jsonschema.ValidationError
	if errors.As(err, &invalid) {
		found = deepest(invalid)
	}
	o.Check(err == nil, "TOOLS-STRUCTURED-CONFORMS", trace.Server, Fault{
		Detail: "structured content does not conform to the output schema of its tool", Want: want, Got: found,
	})
}

// deepest renders the innermost cause of a rejection.
func deepest(e *jsonschema.ValidationError) string {
	for len(e.Causes) > 0 {
		e = e.Causes[0]
	}
	return firstLine(e)
}

// mirrored reports whether a text block holds the same JSON.
func mirrored(result, structured json.RawMessage) bool {
	raw, _ := schemas.Member(result, "content")
	var blocks []json.RawMessage
	if json.Unmarshal(raw, &blocks) != nil {
		return false
	}
	want, err := jsonschema.UnmarshalJSON(bytes.NewReader(structured))
	if err != nil {
		return true // not JSON that can be compared
	}
	for _, b := range blocks {
		if textParam(b, "type") != "text" {
			continue
		}
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(textParam(b, "text"))))
		if err == nil && reflect.DeepEqual(normal(value), normal(want)) {
			return true
		}
	}
	return false
}

// normal replaces numbers by what makes equal ones equal: 1.0 is 1.
func normal(v any) any {
	switch x := v.(type) {
	case json.Number:
		return schemas.IDKey([]byte(x))
	case []any:
		out := make([]any, len(x))
		for i := range x {
			out[i] = normal(x[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(x))
		for k := range x {
			out[k] = normal(x[k])
		}
		return out
	}
	return v
}
