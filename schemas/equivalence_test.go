package schemas

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mcp-conform/mcp-conform/schemas/internal/sample"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// The schemas of this package are written anew, in another dialect and another
// layout than the official ones. TestEquivalence proves that they say the same:
// for each definition the official schema and ours judge the same instances,
// and every verdict has to agree. TestEveryKeywordCounts proves that the
// instances are good enough: it takes our schemas apart keyword by keyword, and
// each loss has to show as a difference.

// fewest is the number of instances below which the comparison counts as broken.
const fewest = 200_000

// perDefinition bounds the edits of one definition that are tried a second time,
// on another instance; every n-th of them is taken.
const perDefinition = 50

func TestEquivalence(t *testing.T) {
	spec, ok := specData(t)
	if !ok {
		fmt.Println("the official schemas are absent: nothing was compared")
		return
	}
	var instances, definitions atomic.Int64
	t.Run("each", func(t *testing.T) {
		for _, name := range []Revision{R20260728, R20251125, R20250618, R20250326, R20241105, Tasks, ServerCard} {
			t.Run(string(name), func(t *testing.T) {
				t.Parallel()
				c := newComparer(t, spec, name)
				c.all(t)
				instances.Add(int64(c.instances))
				definitions.Add(int64(len(c.published)))
			})
		}
	})
	summary := fmt.Sprintf("compared %d instances of %d definitions", instances.Load(), definitions.Load())
	fmt.Println(summary)
	if instances.Load() < fewest {
		t.Errorf("%s: want at least %d instances", summary, fewest)
	}
}

// official names the folder of an official schema in the reference data.
func official(spec string, name Revision) string {
	folder := strings.Replace(string(name), "extensions/", "ext-", 1)
	return filepath.Join(spec, "official", folder)
}

// comparer judges instances by an official schema and by ours.
type comparer struct {
	name      Revision
	folder    string // of the official schema
	spec      string
	published map[string]*jsonschema.Schema
	ours      map[string]*jsonschema.Schema
	source    *sample.Source
	instances int
	report    func(definition, format string, args ...any)
}

func newComparer(t *testing.T, spec string, name Revision) *comparer {
	t.Helper()
	folder := official(spec, name)
	published := readObject(t, filepath.Join(folder, "schema.json"))
	ours := asPublished(t, name)
	reported := map[string]bool{}
	return &comparer{
		name: name, folder: folder, spec: spec,
		published: compileOfficial(t, published),
		ours:      compileOurs(t, ours, ours.names...),
		source:    sample.New(published),
		report: func(definition, format string, args ...any) {
			if !reported[definition] { // the first difference of a definition is enough
				reported[definition] = true
				t.Errorf(definition+": "+format, args...)
			}
		},
	}
}

func (c *comparer) all(t *testing.T) {
	if ours := slices.Sorted(maps.Keys(c.ours)); !slices.Equal(ours, c.source.Definitions()) {
		t.Errorf("the names of the definitions differ: ours are %v, the official ones %v", ours, c.source.Definitions())
	}
	for _, definition := range c.source.Definitions() {
		c.generated(definition)
	}
	c.crossed()
	c.examples(t)
	if c.name >= R20241105 && c.name <= Latest {
		c.probes(t)
	}
}

// generated compares by the instances made from the official definition and by
// their edits.
func (c *comparer) generated(definition string) {
	tried := distinct{}
	accepted, rejected := 0, 0
	for v := range instances(c.source, definition) {
		if !tried.add(v.value) {
			continue
		}
		switch ok := c.agree(definition, v.value); {
		case ok:
			accepted++
		case v.valid:
			c.report(definition, "the generator's instance is not valid: %s", inJSON(v.value))
		default:
			rejected++
		}
	}
	if accepted == 0 || rejected == 0 {
		c.report(definition, "nothing tried out: %d instances accepted, %d rejected", accepted, rejected)
	}
}

// instance is a generated value, with whether it is meant to be valid.
type instance struct {
	value any
	valid bool
}

// instances makes the valid instances of a definition, each edit of each place
// for the first of them that has it, and a share of the edits of the others.
func instances(source *sample.Source, definition string) iter.Seq[instance] {
	return func(yield func(instance) bool) {
		var again []func() any
		type place struct{ pointer, what string }
		seen := map[place]bool{}
		for _, v := range source.Valid(definition) {
			if !yield(instance{v, true}) {
				return
			}
			for _, e := range source.Edits(v) {
				if p := (place{e.Pointer, e.What}); seen[p] {
					again = append(again, func() any { return e.Apply(v) })
				} else if seen[p] = true; !yield(instance{e.Apply(v), false}) {
					return
				}
			}
		}
		for i := 0; i < len(again); i += 1 + len(again)/perDefinition {
			if !yield(instance{again[i](), false}) {
				return
			}
		}
	}
}

// crossed judges an instance of each definition by every other definition.
func (c *comparer) crossed() {
	for _, of := range c.source.Definitions() {
		full := c.source.Valid(of)[1]
		for _, definition := range c.source.Definitions() {
			c.agree(definition, full)
		}
	}
}

// examples judges the golden examples, each by its own definition, which has
// to accept it unless it lies in a folder of invalid ones, and by all others.
func (c *comparer) examples(t *testing.T) {
	root := filepath.Join(c.folder, "examples")
	for _, pattern := range []string{"*/*.json", "*/*/*.json"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			path, err := filepath.Rel(root, file)
			if err != nil {
				t.Fatal(err)
			}
			parts := strings.Split(filepath.ToSlash(path), "/")
			v := readObject(t, file)
			if got, want := c.agree(parts[0], v), parts[1] != "invalid"; got != want {
				t.Errorf("%s: accepted is %v, want %v", path, got, want)
			}
			for _, definition := range c.source.Definitions() {
				c.agree(definition, v)
			}
		}
	}
}

// probes judges the probes by all definitions.
func (c *comparer) probes(t *testing.T) {
	var probes []probe
	readJSON(t, filepath.Join(c.spec, "schema-probes.json"), &probes)
	for _, p := range probes {
		v, err := decodeJSON(p.Instance)
		if err != nil {
			t.Fatalf("%s: %v", p.Label, err)
		}
		for _, definition := range c.source.Definitions() {
			c.agree(definition, v)
		}
	}
}

// agree judges an instance by both sides, reports a difference, and returns the
// official verdict.
func (c *comparer) agree(definition string, v any) bool {
	c.instances++
	published := c.published[definition].Validate(v) == nil
	ours, ok := c.ours[definition]
	switch {
	case !ok:
		c.report(definition, "missing from our schema")
	case (ours.Validate(v) == nil) != published:
		c.report(definition, "accepted officially: %v, by ours: %v, for %s\n%v", published, !published, inJSON(v), ours.Validate(v))
	}
	return published
}

// distinct remembers instances by the hash of their text.
type distinct map[uint64]bool

func (d distinct) add(v any) bool {
	h := fnv.New64a()
	io.WriteString(h, inJSON(v))
	if d[h.Sum64()] {
		return false
	}
	d[h.Sum64()] = true
	return true
}

func inJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// readObject reads a JSON object.
func readObject(t *testing.T, path string) map[string]any {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	v, err := decodeJSON(raw)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	obj, ok := v.(map[string]any)
	if !ok {
		t.Fatalf("%s: not an object", path)
	}
	return obj
}

// byteFormat is base64, as OpenAPI means byte.
var byteFormat = &jsonschema.Format{Name: "byte", Validate: func(v any) error {
	s, ok := v.(string)
	if !ok {
		return nil
	}
	_, err := base64.StdEncoding.DecodeString(s)
	return err
}}

// newCompiler returns a compiler for either side. Formats are asserted whatever
// the dialect says, and byte, which JSON Schema does not know, has its OpenAPI
// meaning, so that no format is lost unnoticed.
func newCompiler() *jsonschema.Compiler {
	compiler := jsonschema.NewCompiler()
	compiler.RegisterFormat(byteFormat)
	compiler.AssertFormat()
	return compiler
}

func compileOfficial(t *testing.T, doc map[string]any) map[string]*jsonschema.Schema {
	t.Helper()
	const url = "memory:///schema.json"
	compiler := newCompiler()
	compiler.UseLoader(jsonschema.SchemeURLLoader{})
	if err := compiler.AddResource(url, doc); err != nil {
		t.Fatal(err)
	}
	compiled := map[string]*jsonschema.Schema{}
	for _, container := range []string{"$defs", "definitions"} {
		definitions, _ := doc[container].(map[string]any)
		for name := range definitions {
			schema, err := compiler.Compile(url + "#/" + container + "/" + name)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			compiled[name] = schema
		}
	}
	return compiled
}

// asPublished reads one of our own files, without its errata.
func asPublished(t *testing.T, name Revision) *file {
	t.Helper()
	f, err := load(t, Options{AsPublished: true}).file(name)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func compileOurs(t *testing.T, f *file, definitions ...string) map[string]*jsonschema.Schema {
	t.Helper()
	compiler := newCompiler()
	compiler.UseLoader(f)
	compiled := map[string]*jsonschema.Schema{}
	for _, name := range definitions {
		schema, err := compiler.Compile(base(f.doc.folder) + name)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		compiled[name] = schema
	}
	return compiled
}

// probe is an instance of a definition that is known to tell schemas apart.
type probe struct {
	Label      string          `json:"label"`
	Definition string          `json:"definition"`
	Instance   json.RawMessage `json:"instance"`
}
