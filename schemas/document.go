package schemas

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// document is a schema file, taken apart into its definitions. Each definition
// becomes a resource of its own, so that compiling one reads only those that
// it refers to.
type document struct {
	folder      string // where it lies, such as "2026-07-28"
	dialect     string // the $schema of the file
	definitions map[string]any
	dialects    map[string]string // of definitions that came from elsewhere
	top         string            // the name given to the root, "" if it says nothing
}

func readDocument(folder string, raw []byte) (*document, error) {
	v, err := decodeJSON(raw)
	if err != nil {
		return nil, err
	}
	root, ok := v.(map[string]any)
	if !ok {
		return nil, errors.New("a schema file is an object")
	}
	d := &document{folder: folder, dialects: map[string]string{}}
	d.dialect, _ = root["$schema"].(string)
	if d.definitions, ok = root["$defs"].(map[string]any); !ok {
		if d.definitions, ok = root["definitions"].(map[string]any); !ok {
			return nil, errors.New("no $defs and no definitions")
		}
	}
	return d, nil
}

// clone copies the document as far as lending definitions changes it.
func (d *document) clone() *document {
	c := *d
	c.definitions = maps.Clone(d.definitions)
	c.dialects = map[string]string{}
	maps.Copy(c.dialects, d.dialects)
	return &c
}

// nameTop makes a definition of what the root of a file demands itself.
func (d *document) nameTop(raw []byte) {
	v, err := decodeJSON(raw)
	top, ok := v.(map[string]any)
	if err != nil || !ok {
		return
	}
	own := map[string]any{}
	for k, member := range top {
		switch k {
		case "$schema", "$id", "id", "$comment", "title", "description", "$defs", "definitions", "examples":
		default:
			own[k] = member
		}
	}
	if len(own) == 0 {
		return
	}
	if d.top, _ = top["title"].(string); d.top == "" || d.definitions[d.top] != nil {
		d.top = "(root)"
	}
	d.definitions[d.top] = own
}

// dialectOf returns the dialect of a definition.
func (d *document) dialectOf(name string) string {
	if dialect, ok := d.dialects[name]; ok {
		return dialect
	}
	return d.dialect
}

// membersInto collects the names that the definitions give to members.
func (d *document) membersInto(named map[string]bool) {
	for _, definition := range d.definitions {
		eachSchema(definition, func(s subschema) {
			properties, _ := s.keywords["properties"].(map[string]any)
			for name := range properties {
				named[escapePointer(name)] = true
			}
		})
	}
}

// missing lists the definitions of this file that it refers to and lacks.
func (d *document) missing() []string {
	found := map[string]bool{}
	var visit func(v any)
	visit = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if ref, ok := v["$ref"].(string); ok {
				if folder, name, _ := d.parseRef(ref); folder == d.folder && name != "" && d.definitions[name] == nil {
					found[name] = true
				}
			}
			for _, member := range v {
				visit(member)
			}
		case []any:
			for _, element := range v {
				visit(element)
			}
		}
	}
	for _, definition := range d.definitions {
		visit(definition)
	}
	return slices.Sorted(maps.Keys(found))
}

func (d *document) names() []string { return slices.Sorted(maps.Keys(d.definitions)) }

// resource returns a definition as a schema that stands alone: references to
// other definitions, of this file or of another, lead to their addresses.
func (d *document) resource(name string) (any, bool) {
	v, ok := d.definitions[name]
	if !ok {
		return nil, false
	}
	v = d.rewrite(v)
	if m, ok := v.(map[string]any); ok && d.dialectOf(name) != "" {
		m["$schema"] = d.dialectOf(name)
	}
	return v, true
}

// rewrite copies a schema and turns references around.
func (d *document) rewrite(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, member := range v {
			if ref, isText := member.(string); k == "$ref" && isText {
				out[k] = d.target(ref)
				continue
			}
			out[k] = d.rewrite(member)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, element := range v {
			out[i] = d.rewrite(element)
		}
		return out
	}
	return v
}

// target turns "#/$defs/NAME", or "../2026-07-28/schema.json#/$defs/NAME" as
// the extensions have it, into the address of the definition. A reference of
// another shape is left as it is.
func (d *document) target(ref string) string {
	folder, name, rest := d.parseRef(ref)
	if name == "" {
		return ref
	}
	return base(folder) + url.PathEscape(name) + rest
}

// parseRef takes a reference to a definition apart; rest leads further into it.
// Errata and definitions that were lent say $defs where the file may say
// definitions, or the other way round: both mean the same.
func (d *document) parseRef(ref string) (folder, name, rest string) {
	to, fragment, _ := strings.Cut(ref, "#")
	folder = d.folder
	if to != "" {
		var isSchema bool
		if to, isSchema = strings.CutSuffix(to, "/schema.json"); !isSchema || strings.Contains(to, ":") {
			return "", "", ""
		}
		folder = path.Join(d.folder, to)
	} else if fragment == "" {
		return folder, d.top, ""
	}
	pointer, ok := strings.CutPrefix(fragment, "/$defs/")
	if !ok {
		pointer, ok = strings.CutPrefix(fragment, "/definitions/")
	}
	if !ok {
		return "", "", ""
	}
	name, rest, more := strings.Cut(pointer, "/")
	if more {
		rest = "#/" + rest
	}
	return folder, unescapePointer(unescapeFragment(name)), rest
}

// root begins the addresses under which definitions are known to the
// validator; nothing is ever fetched from them.
const root = "mcp:///"

func base(folder string) string { return root + folder + "/" }

// Load gives the validator a definition; it makes *file a jsonschema.URLLoader.
func (f *file) Load(address string) (any, error) {
	if owner := f.owner(address); owner != nil {
		if v, ok := owner.doc.resource(unescapeFragment(address[strings.LastIndexByte(address, '/')+1:])); ok {
			return v, nil
		}
	}
	return nil, fmt.Errorf("%s is not a definition of %s", address, f.rev)
}

// owner returns the file that holds what stands at an address: f, or one that
// f refers to; nil if there is none.
func (f *file) owner(address string) *file {
	address, _, _ = strings.Cut(address, "#")
	folder, ok := strings.CutPrefix(address[:strings.LastIndexByte(address, '/')+1], root)
	if !ok {
		return nil
	}
	if folder = strings.TrimSuffix(folder, "/"); folder == f.doc.folder {
		return f
	}
	if f.set == nil || !slices.Contains(f.set.Names(), Revision(folder)) {
		return nil
	}
	other, err := f.set.file(Revision(folder))
	if err != nil {
		return nil
	}
	return other
}

func (f *file) newCompiler(o Options) *jsonschema.Compiler {
	c := jsonschema.NewCompiler()
	c.UseLoader(f)
	if !o.AsPublished {
		c.AssertFormat()
		c.AssertVocabs()
		c.RegisterVocabulary(f.checkVocabulary())
	}
	for _, format := range f.formats(o) {
		c.RegisterFormat(format)
	}
	return c
}

// compiled is a definition, ready to judge: the acceptor for the usual case
// that an instance fits, the schema for the rest.
type compiled struct {
	schema   *jsonschema.Schema
	acceptor *acceptor
}

// compile returns the compiled definition.
func (f *file) compile(definition string) (*jsonschema.Schema, error) {
	c, err := f.compileBoth(definition)
	return c.schema, err
}

func (f *file) compileBoth(definition string) (compiled, error) {
	if _, ok := f.doc.definitions[definition]; !ok {
		return compiled{}, f.unknown(definition)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if c, ok := f.compiled[definition]; ok {
		return c, nil
	}
	sch, err := f.compiler.Compile(base(f.doc.folder) + url.PathEscape(definition))
	if err != nil {
		return compiled{}, fmt.Errorf("%s, definition %s: %w", f.rev, definition, err)
	}
	c := compiled{sch, f.accept.of(sch)}
	f.compiled[definition] = c
	return c, nil
}

// show renders a definition for people.
func (f *file) show(definition string) ([]byte, error) {
	d, ok := f.doc.definitions[definition]
	if !ok {
		return nil, f.unknown(definition)
	}
	return indented(d)
}

// show renders the whole document.
func (d *document) show() ([]byte, error) {
	whole := map[string]any{"$defs": d.definitions}
	if strings.Contains(d.dialect, "draft-0") {
		whole = map[string]any{"definitions": d.definitions}
	}
	if d.dialect != "" {
		whole["$schema"] = d.dialect
	}
	return indented(whole)
}

func indented(v any) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(v)
	return out.Bytes(), err
}

// place takes a schema address apart into the definition and the pointer in it.
func place(address string) (definition, pointer string) {
	address, fragment, _ := strings.Cut(address, "#")
	definition = unescapeFragment(address[strings.LastIndexByte(address, '/')+1:])
	return definition, unescapeFragment(fragment)
}

func unescapeFragment(fragment string) string {
	if p, err := url.PathUnescape(fragment); err == nil {
		return p
	}
	return fragment
}

// decodeJSON reads one JSON text with the text of numbers kept. Numbers beyond
// any double are brought near: validators expand 1e1000000 digit by digit.
func decodeJSON(raw []byte) (any, error) {
	if v, ok := build(raw); ok {
		return v, nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more text after the value")
	}
	return tame(v), nil
}

// tame replaces numbers that are too long or too large to calculate with by
// ones of the same sign that no schema can tell from them.
func tame(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, member := range v {
			if n, ok := member.(json.Number); ok {
				v[k] = tameNumber(n)
			} else {
				tame(member)
			}
		}
	case []any:
		for i, element := range v {
			if n, ok := element.(json.Number); ok {
				v[i] = tameNumber(n)
			} else {
				tame(element)
			}
		}
	case json.Number:
		return tameNumber(v)
	}
	return v
}

func tameNumber(n json.Number) json.Number {
	const limit = 400 // decimal digits; a double ends at 308
	if len(n) <= limit && !strings.ContainsAny(string(n), "eE") {
		return n
	}
	d := parseDecimal([]byte(n))
	if d.digits == "" {
		return "0"
	}
	if len(d.digits) > limit { // keep it fractional if it was
		cut := len(d.digits) - limit
		d.digits, d.exponent = d.digits[:limit], d.exponent+cut
	}
	if m := d.magnitude(); m > limit {
		d.digits, d.exponent = "1", limit
	} else if m < -limit {
		d.digits, d.exponent = "1", -limit
	}
	sign := ""
	if d.negative {
		sign = "-"
	}
	return json.Number(sign + d.digits + "e" + strconv.Itoa(d.exponent))
}
