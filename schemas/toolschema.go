package schemas

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// SchemaRole says where a schema that came over the wire stood.
type SchemaRole string

// The roles.
const (
	Input     SchemaRole = "inputSchema"     // of a tool
	Output    SchemaRole = "outputSchema"    // of a tool
	Requested SchemaRole = "requestedSchema" // of an elicitation
)

// ToolSchema is a schema that came over the wire, compiled.
type ToolSchema struct {
	Revision Revision
	Role     SchemaRole
	Dialect  string // such as "JSON Schema 2020-12"; "" when not known
	// Unusable says why no instance can be judged by the schema, "" if one can.
	// Validate then finds nothing, which is no proof of anything.
	Unusable string
	// Remarks are places that are legal but may surprise: keywords without
	// effect, dialects that differ. They are no violations.
	Remarks []Violation

	mu       sync.Mutex // guards visits
	schema   *jsonschema.Schema
	visits   *visits
	width    int
	patterns *patterns
}

// CompileToolSchema reads a schema that came over the wire under its declared
// dialect, or the default one, and returns what is wrong with it. Nothing is
// ever fetched: a reference to elsewhere makes the schema unusable, not wrong
// (2026-07-28 basic/index). The result is never nil.
func CompileToolSchema(rev Revision, role SchemaRole, raw []byte) (*ToolSchema, []Violation) {
	t := newToolSchema(rev, role)
	if len(raw) > maxSchemaBytes {
		return t.unusable("", "size", fmt.Sprintf("a schema of at most %d bytes", maxSchemaBytes), fmt.Sprintf("%d bytes", len(raw))), nil
	}
	s := scanner{data: bytes.TrimSpace(raw)}
	if ok := s.value(0); !ok && s.unread {
		return t.unusable("", "depth", fmt.Sprintf("at most %d levels", maxSchemaLevels), fmt.Sprintf("more than %d levels", maxDepth)), nil
	} else if !ok {
		t.Unusable = "it is not JSON"
		return t, []Violation{{Keyword: "json", Want: "a JSON text", Got: s.problems[len(s.problems)-1].Detail}}
	}
	v, err := decodeJSON(raw)
	if err != nil {
		t.Unusable = "it is not JSON"
		return t, []Violation{{Keyword: "json", Want: "a JSON text", Got: err.Error()}}
	}
	vs := t.root(v)
	vs = append(vs, t.compile(v)...)
	if role == Input && rev.Stateless() {
		vs = append(vs, headerViolations(v)...)
	}
	return t, tidy(vs)
}

func newToolSchema(rev Revision, role SchemaRole) *ToolSchema {
	// The compiler may match patterns too, and is bounded by the schema's size.
	v := &visits{left: maxVisits}
	return &ToolSchema{Revision: rev, Role: role, visits: v, patterns: &patterns{visits: v}}
}

// unusable records why no instance can be judged, as a remark too.
func (t *ToolSchema) unusable(pointer, keyword, want, got string) *ToolSchema {
	t.Unusable = "want " + want + ", got " + got
	t.Remarks = append(t.Remarks, Violation{Pointer: pointer, Keyword: keyword, Want: want, Got: got, Advice: true})
	return t
}

// root checks what a revision demands of the root. An inputSchema has the
// literal "type": "object" in every revision, even where a $ref or a list of
// types means the same; so has an outputSchema up to 2025-11-25
// (2026-07-28 changelog: any schema object).
func (t *ToolSchema) root(v any) []Violation {
	m, ok := v.(map[string]any)
	if !ok {
		return []Violation{{Keyword: "type", Want: "a schema object", Got: describe(v)}}
	}
	if t.Role == Output && t.Revision.Stateless() {
		return nil
	}
	var vs []Violation
	if kind, there := m["type"]; kind != "object" {
		vs = append(vs, Violation{Pointer: "/type", Keyword: "const", Definition: rootDemand, Want: `"object"`, Got: got(kind, there)})
	}
	if _, there := m["properties"]; t.Role == Requested && !there {
		vs = append(vs, Violation{Pointer: "/properties", Keyword: "required", Definition: rootDemand, Want: "object", Got: "absent"})
	}
	return vs
}

// rootDemand is the Definition of violations that are due to the protocol, not
// to the dialect.
const rootDemand = "the root of a schema in MCP"

func (v Violation) ofRoot() bool { return v.Definition == rootDemand }

// compile compiles under the dialect and reports what the dialect forbids.
func (t *ToolSchema) compile(v any) []Violation {
	m, ok := v.(map[string]any)
	if !ok {
		t.Unusable = "it is no object"
		return nil
	}
	if depth := levels(v); depth > maxSchemaLevels {
		t.unusable("", "depth", fmt.Sprintf("at most %d levels", maxSchemaLevels), fmt.Sprintf("%d levels", depth))
		return nil
	}
	if n := countValues(v, maybeSchema); n > maxSubschemas {
		t.unusable("", "size", fmt.Sprintf("at most %d schemas in one", maxSubschemas), strconv.Itoa(n))
		return nil
	}
	if n := countValues(v, identified); n > maxIDs {
		t.unusable("", "size", fmt.Sprintf("at most %d schemas with an $id in one", maxIDs), strconv.Itoa(n))
		return nil
	}
	t.width = width(v)
	d := dialects()[0]
	declared, has := m["$schema"]
	if has {
		name, ok := declared.(string)
		if !ok {
			t.Unusable = "its $schema is no string"
			return []Violation{{Pointer: "/$schema", Keyword: "type", Want: "string", Got: describe(declared)}}
		}
		if d, ok = dialectOf(name); !ok {
			t.unusable("/$schema", "$schema", "a dialect that is supported here: 2020-12, 2019-09, draft-07, -06, -04", "string "+short(name))
			return nil
		}
	}
	t.remark(v, d, has)
	vs := t.under(d, v)
	if len(vs) > 0 && !has && t.Revision < R20251125 {
		// Before 2025-11-25 no default was named, and most read draft-07: what is
		// right there is not wrong.
		old, _ := dialectOf(jsonschema.Draft7.String())
		second := &ToolSchema{Revision: t.Revision, Role: t.Role, visits: t.visits, patterns: t.patterns}
		if len(second.under(old, v)) == 0 && second.Unusable == "" {
			t.Dialect, t.schema, t.Unusable = old.name, second.schema, ""
			t.Remarks = append(t.Remarks, Violation{
				Pointer: vs[0].Pointer, Keyword: "$schema", Advice: true,
				Want: "a $schema, as 2020-12 and draft-07 differ here", Got: "absent",
			})
			return nil
		}
	}
	return vs
}

// levels is the nesting depth of a value.
func levels(v any) int {
	deepest := 0
	switch v := v.(type) {
	case map[string]any:
		for _, member := range v {
			deepest = max(deepest, levels(member))
		}
	case []any:
		for _, element := range v {
			deepest = max(deepest, levels(element))
		}
	default:
		return 0
	}
	return deepest + 1
}

const toolSchemaAddress = "mcp:///tool-schema"

// noLoader refuses to load anything.
type noLoader struct{}

func (noLoader) Load(address string) (any, error) { return nil, errElsewhere }

var errElsewhere = errors.New("references to other documents are not followed")

// under compiles the schema in one dialect.
func (t *ToolSchema) under(d dialect, v any) (vs []Violation) {
	defer func() {
		// The validator must not take the tool down, whatever a peer sends.
		if r := recover(); r != nil {
			t.unusable("", "schema", "a schema that the validator can read", fmt.Sprint(r))
			vs = nil
		}
	}()
	t.Dialect = d.name
	c := jsonschema.NewCompiler()
	c.DefaultDraft(d.draft)
	c.UseLoader(noLoader{})
	c.UseRegexpEngine(t.patterns.compile)
	c.AssertVocabs()
	c.RegisterVocabulary(&jsonschema.Vocabulary{
		URL: "mcp:///vocabulary/visit",
		Compile: func(*jsonschema.CompilerContext, map[string]any) (jsonschema.SchemaExt, error) {
			return t.visits, nil
		},
	})
	for _, f := range silentFormats() {
		c.RegisterFormat(f)
	}
	if err := c.AddResource(toolSchemaAddress, v); err != nil {
		t.Unusable = err.Error()
		return []Violation{{Keyword: "schema", Want: "a valid schema", Got: err.Error()}}
	}
	schema, err := c.Compile(toolSchemaAddress)
	if err != nil {
		return t.refused(d, v, err)
	}
	t.schema = schema
	return nil
}

// refused words why a schema does not compile.
func (t *ToolSchema) refused(d dialect, v any, err error) []Violation {
	var meta *jsonschema.SchemaValidationError
	var load *jsonschema.LoadURLError
	var twice *jsonschema.DuplicateIDError
	switch {
	case errors.As(err, &meta):
		t.Unusable = "it is not valid under " + d.name
		var tree *jsonschema.ValidationError
		if errors.As(meta.Err, &tree) {
			x := explainer{instance: v}
			vs := x.violations(tree)
			for i := range vs {
				vs[i].Definition = d.name
			}
			return vs
		}
	case errors.As(err, &load):
		r, ok := external(v, load.URL)
		if !ok {
			r = reference{pointer: "", target: load.URL}
		}
		t.unusable(r.pointer, "$ref", "a reference within the schema", short(r.target))
		return nil
	case errors.As(err, &twice):
		// In which order the validator meets the two is chance.
		t.Unusable = "two of its parts have the same $id"
		return []Violation{{Keyword: "$id", Definition: d.name, Want: "an $id of its own", Got: "string " + short(twice.ID) + " twice"}}
	default:
		t.Unusable = "a reference leads nowhere"
	}
	if vs := dangling(v); len(vs) > 0 {
		return vs
	}
	t.Unusable = err.Error()
	return []Violation{{Keyword: "schema", Definition: d.name, Want: "a schema that can be compiled", Got: clip(strings.ReplaceAll(err.Error(), toolSchemaAddress, ""))}}
}

// Validate checks one instance, JSON text, against the schema: the arguments of
// a call, its structuredContent, or the content of an elicitation. A schema
// that is unusable finds nothing. If the first violation is Advice, the instance
// could not be judged to the end, and the others prove nothing.
func (t *ToolSchema) Validate(instance []byte) (vs []Violation) {
	if t.schema == nil {
		return nil
	}
	v, err := decodeJSON(instance)
	if err != nil {
		// Whether a text can be read for its depth is our limit, not a rule.
		return []Violation{{Keyword: "json", Want: "a JSON text", Got: err.Error(), Advice: tooDeep(instance)}}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	defer func() {
		switch r := recover().(type) {
		case nil:
		case tooManyVisits:
			vs = tooCostly()
		default:
			vs = []Violation{{Keyword: "schema", Advice: true, Want: "a schema that the validator can follow", Got: fmt.Sprint(r)}}
		}
	}()
	if !t.visits.allow(t.width, len(instance), v) {
		return tooCostly()
	}
	err = t.schema.Validate(v)
	if err == nil {
		return nil
	}
	var tree *jsonschema.ValidationError
	if !errors.As(err, &tree) {
		return []Violation{{Keyword: "schema", Advice: true, Want: "a schema that the validator can follow", Got: err.Error()}}
	}
	x := explainer{instance: v}
	vs = tidy(x.violations(tree))
	for i := range vs {
		// References that lead back to themselves are the fault of the schema: no
		// instance could do better.
		vs[i].Advice = vs[i].Keyword == "$ref"
	}
	// Where the schema cannot be followed, nothing else is certain either.
	slices.SortStableFunc(vs, func(a, b Violation) int { return rank(a) - rank(b) })
	return vs
}

// rank puts advice first.
func rank(v Violation) int {
	if v.Advice {
		return 0
	}
	return 1
}

func tooCostly() []Violation {
	return []Violation{{Keyword: "schema", Advice: true,
		Want: "a validation whose steps grow with the instance, not faster", Got: "more steps than are allowed; not judged further"}}
}

// tooDeep reports whether a text is nested deeper than is read.
func tooDeep(text []byte) bool {
	s := scanner{data: bytes.TrimSpace(text)}
	return !s.value(0) && s.unread
}

// toolSchemas keeps compiled schemas: the same tools are listed again and again.
type toolSchemas struct {
	mu    sync.Mutex
	known map[[sha256.Size]byte]compiledSchema
	order [][sha256.Size]byte
}

type compiledSchema struct {
	schema     *ToolSchema
	violations []Violation
}

// maxKnownSchemas bounds the cache; the oldest goes first.
const maxKnownSchemas = 1024

func (c *toolSchemas) compile(rev Revision, role SchemaRole, raw []byte) (*ToolSchema, []Violation) {
	h := sha256.New()
	fmt.Fprintf(h, "%s %s ", rev, role)
	h.Write(raw)
	key := [sha256.Size]byte(h.Sum(nil))
	c.mu.Lock()
	hit, ok := c.known[key]
	c.mu.Unlock()
	if ok {
		return hit.schema, hit.violations
	}
	t, vs := CompileToolSchema(rev, role, raw)
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.known[key]; !ok {
		if c.known == nil {
			c.known = map[[sha256.Size]byte]compiledSchema{}
		}
		if len(c.order) == maxKnownSchemas {
			delete(c.known, c.order[0])
			c.order = c.order[1:]
		}
		c.known[key] = compiledSchema{t, vs}
		c.order = append(c.order, key)
	}
	return t, vs
}

// ToolSchema is like CompileToolSchema, and remembers what it has compiled.
// The results are shared: treat them as read-only.
func (s *Set) ToolSchema(rev Revision, role SchemaRole, raw json.RawMessage) (*ToolSchema, []Violation) {
	return s.tools.compile(rev, role, raw)
}
