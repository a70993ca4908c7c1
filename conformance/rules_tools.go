package conformance

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

func toolRules() []ruleEntry {
	return []ruleEntry{
		stateful(func() Rule { return &toolRule{tools: map[string]*tool{}} },
			"TOOLS-NAMES-UNIQUE", "TOOLS-NAME-LENGTH", "TOOLS-NAME-CHARACTERS", "TOOLS-INPUT-SCHEMA", "TOOLS-OUTPUT-SCHEMA", "TOOLS-HEADER-ANNOTATIONS",
			"TOOLS-STRUCTURED-PRESENT", "TOOLS-STRUCTURED-CONFORMS", "TOOLS-STRUCTURED-TEXT", "TOOLS-ARGUMENTS-FIT", "SCHEMA-DIALECT-RECOMMENDED"),
	}
}

// mostTools bounds the tools of one session that are remembered.
const mostTools = 10000

// tool is what the latest list said of a tool.
type tool struct {
	given  [sha256.Size]byte   // of its schemas, to judge each one once
	input  *schemas.ToolSchema // nil if it has none that can be used
	output *schemas.ToolSchema // nil if it has none
	walk   int                 // in which the tool was listed last
}

// toolRule watches tools/list and tools/call.
type toolRule struct {
	tools map[string]*tool
	walk  int    // number of the walk through the pages of the list
	next  string // the cursor by which the last page was followed, "" if none
}

func (r *toolRule) Observe(o *Observation) {
	switch {
	case o.Earlier != nil:
	case o.is(schemas.Request) && o.isCall(trace.Client, "tools/call"):
		r.calling(o)
	case o.From() != trace.Server:
	case o.isResult("tools/list"):
		r.list(o)
	case o.isResult("tools/call"):
		r.called(o)
	}
}

func (r *toolRule) list(o *Observation) {
	// A cursor that the server did not give continues nothing: a server that
	// ignores it begins anew.
	cursor, _ := schemas.Member(o.Request.Params, "cursor")
	if r.next == "" || string(cursor) != r.next {
		r.walk++
	}
	next, _ := schemas.Member(o.Message.Result, "nextCursor")
	r.next = string(next)
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
		r.schemas(o, one, r.remember(name), name, at)
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

func (r *toolRule) remember(name string) *tool {
	t := r.tools[name]
	if t == nil {
		t = &tool{}
		if len(r.tools) < mostTools {
			r.tools[name] = t
		}
	}
	t.walk = r.walk
	return t
}

// schemas judges the schemas of a tool: valid in their dialect, an object at the
// root. Without properties, items or types they are valid all the same.
func (r *toolRule) schemas(o *Observation, one json.RawMessage, t *tool, name, at string) {
	input, has := schemas.Member(one, "inputSchema")
	output, hasOutput := schemas.Member(one, "outputSchema")
	given := sha256.Sum256(slices.Concat(input, []byte{0}, output))
	if t.given == given {
		return
	}
	t.given, t.input, t.output = given, nil, nil
	dialect(o, input, at+"/inputSchema")
	dialect(o, output, at+"/outputSchema")
	if !has {
		o.Fail("TOOLS-INPUT-SCHEMA", trace.Server, Fault{
			Detail: "a tool has no input schema" + r.which(name), Want: at + "/inputSchema: object", Got: "absent from " + clip(name),
		})
	} else {
		var found []schemas.Violation
		t.input, found = o.toolSchema(schemas.Input, input)
		annotations, rest := splitAnnotations(found)
		reportSchema(o, "TOOLS-INPUT-SCHEMA", "the input schema of a tool is no valid schema for an object"+r.which(name), rest, name, at+"/inputSchema")
		if o.Revision.Stateless() && bytes.Contains(input, []byte(`"x-mcp-header"`)) {
			reportSchema(o, "TOOLS-HEADER-ANNOTATIONS", "a parameter is mirrored into a header in a way that is not allowed", annotations, name, at+"/inputSchema")
		}
	}
	if hasOutput && o.Revision >= schemas.R20250618 {
		var found []schemas.Violation
		t.output, found = o.toolSchema(schemas.Output, output)
		reportSchema(o, "TOOLS-OUTPUT-SCHEMA", "the output schema of a tool is no valid schema"+r.which(name), found, name, at+"/outputSchema")
	}
}

// mostNamed is how many tools a server may have for each bad one to be a finding
// of its own; beyond that they are counted together.
const mostNamed = 100

// which names a tool in the words of a finding, so that each has its own.
func (r *toolRule) which(name string) string {
	if len(r.tools) > mostNamed {
		return ""
	}
	return ": " + clip(strconv.Quote(name))
}

// splitAnnotations keeps faults of x-mcp-header apart: they are the matter of
// HTTP, not of JSON Schema.
func splitAnnotations(all []schemas.Violation) (annotations, rest []schemas.Violation) {
	for _, v := range all {
		if v.Keyword == "x-mcp-header" {
			annotations = append(annotations, v)
		} else {
			rest = append(rest, v)
		}
	}
	return annotations, rest
}

func reportSchema(o *Observation, requirement, detail string, found []schemas.Violation, name, at string) {
	f := Fault{Detail: detail, Want: at + ": a valid schema"}
	if len(found) > 0 {
		f.Want = at + found[0].Pointer + ": " + found[0].Want
		f.Got = clip(found[0].Got) + " in " + clip(name)
	}
	o.Check(len(found) == 0, requirement, trace.Server, f)
}

// calling judges the arguments of a call by what the server listed; absent ones
// are none. A schema that is at fault itself says nothing of the arguments, and
// a null that stands for an argument left out is for the server to judge.
func (r *toolRule) calling(o *Observation) {
	t := r.tools[textParam(o.Message.Params, "name")]
	if t == nil || t.input == nil {
		return
	}
	arguments, ok := o.param("arguments")
	if !ok {
		arguments = json.RawMessage("{}")
	}
	found := slices.DeleteFunc(t.input.Validate(arguments), func(v schemas.Violation) bool { return v.Got == "null" })
	if t.input.Unusable != "" || len(found) > 0 && found[0].Advice {
		o.Untested("TOOLS-ARGUMENTS-FIT", trace.Client, "the input schema of the tool cannot be used")
		return
	}
	f := Fault{Detail: "the arguments of a call do not fit the input schema of its tool"}
	if len(found) > 0 {
		f.Want, f.Got = "/params/arguments"+found[0].Pointer+": "+found[0].Want, clip(found[0].Got)
	}
	o.Check(len(found) == 0, "TOOLS-ARGUMENTS-FIT", trace.Client, f)
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
	if t == nil || t.output == nil {
		return
	}
	o.Check(has, "TOOLS-STRUCTURED-PRESENT", trace.Server, Fault{
		Detail: "a tool with an output schema returns no structured content", Want: "/result/structuredContent", Got: "absent",
	})
	if has {
		conforms(o, t.output, structured)
	}
}

func conforms(o *Observation, output *schemas.ToolSchema, structured json.RawMessage) {
	found := output.Validate(structured)
	if output.Unusable != "" || len(found) > 0 && found[0].Advice {
		o.Untested("TOOLS-STRUCTURED-CONFORMS", trace.Server, "the output schema of the tool cannot be used")
		return
	}
	f := Fault{Detail: "structured content does not conform to the output schema of its tool"}
	if len(found) > 0 {
		f.Want, f.Got = "/result/structuredContent"+found[0].Pointer+": "+found[0].Want, clip(found[0].Got)
	}
	o.Check(len(found) == 0, "TOOLS-STRUCTURED-CONFORMS", trace.Server, f)
}

// mirrored reports whether a text block holds the same JSON.
func mirrored(result, structured json.RawMessage) bool {
	raw, _ := schemas.Member(result, "content")
	var blocks []json.RawMessage
	if json.Unmarshal(raw, &blocks) != nil {
		return false
	}
	want, err := decode(structured)
	if err != nil {
		return true // not JSON that can be compared
	}
	for _, b := range blocks {
		if textParam(b, "type") != "text" {
			continue
		}
		value, err := decode([]byte(textParam(b, "text")))
		if err == nil && reflect.DeepEqual(normal(value), normal(want)) {
			return true
		}
	}
	return false
}

// decode reads one JSON value, numbers as they are written.
func decode(text []byte) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err = d.Decode(&v); err == nil && d.More() {
		err = errors.New("more text after the value")
	}
	return v, err
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

// dialect: schemas are best written in JSON Schema 2020-12, which is what a
// schema without $schema is in (basic/index, schema dialect). Another one may be
// used; that it is not recommended is all that is said here.
func dialect(o *Observation, schema json.RawMessage, at string) {
	if len(schema) == 0 || schema[0] != '{' {
		return
	}
	declared := textParam(schema, "$schema")
	o.Check(declared == "" || strings.HasSuffix(strings.TrimSuffix(declared, "#"), "//json-schema.org/draft/2020-12/schema"), "SCHEMA-DIALECT-RECOMMENDED", trace.Server, Fault{
		Detail: "a schema is written in another dialect than JSON Schema 2020-12", Want: at + "/$schema: absent, or that of 2020-12", Got: clip(declared),
	})
}
