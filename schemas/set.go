package schemas

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Options say how a Set is loaded.
type Options struct {
	// AsPublished switches the errata off: the official schemas to the letter.
	AsPublished bool
	// Advice adds remarks that are no violations of the specification: places
	// where its text is silent or says SHOULD. They carry Violation.Advice.
	Advice bool
	// Dir, when set, is a checkout of the official schema folder
	// (DIR/<revision>/schema.json), used instead of the built-in files.
	Dir string
}

// Violation is one way in which an instance does not fit its schema.
type Violation struct {
	Pointer    string // JSON Pointer into the instance
	Definition string // the definition that holds the broken demand, such as "CallToolResult"
	Keyword    string // the JSON Schema keyword, format or check that failed, such as "required"
	Want       string // such as "string"
	Got        string // such as "absent" or "number 3"
	Erratum    string // id of the erratum that made it a violation, "" otherwise
	Advice     bool   // a remark, not a violation; only under Options.Advice
}

// String renders the violation on one line.
func (v Violation) String() string {
	place := v.Pointer
	if place == "" {
		place = "(root)"
	}
	s := place + ": want " + v.Want + ", got " + v.Got
	if v.Definition != "" {
		s += " [" + v.Definition + "]"
	}
	return s
}

// The schemas that are no protocol revision. They are named like revisions
// wherever one is asked for.
const (
	Draft      Revision = "draft"                  // the next revision, as far as it is written
	Tasks      Revision = "extensions/tasks"       // extension io.modelcontextprotocol/tasks
	ServerCard Revision = "extensions/server-card" // the Server Card document
	OAuth      Revision = "oauth"                  // the metadata documents of authorization
)

//go:embed 2024-11-05 2025-03-26 2025-06-18 2025-11-25 2026-07-28 extensions oauth
var builtin embed.FS

// Set holds the schemas of all revisions. Nothing is read before it is needed,
// and only the definitions that are used are compiled. A Set is safe for
// concurrent use.
type Set struct {
	options Options
	mu      sync.Mutex
	files   map[Revision]*file
	tools   toolSchemas
}

// Load prepares a Set. It fails when Options.Dir is no folder of schemas.
func Load(o Options) (*Set, error) {
	s := &Set{options: o, files: map[Revision]*file{}}
	if o.Dir == "" {
		return s, nil
	}
	for _, r := range Revisions() {
		if _, err := os.Stat(o.Dir + "/" + string(r) + "/schema.json"); err == nil {
			return s, nil
		}
	}
	return nil, fmt.Errorf("%s: no schemas found: want files such as %s/%s/schema.json", o.Dir, o.Dir, Latest)
}

// Names lists what can be asked for: the revisions, oldest first, then the
// draft, the extensions and the OAuth documents.
func (s *Set) Names() []Revision {
	return append(Revisions(), Draft, Tasks, ServerCard, OAuth)
}

// Find returns the schemas that a user names: a revision, "draft", "oauth", or an
// extension with or without its folder. The error lists what there is.
func (s *Set) Find(name string) (Revision, error) {
	for _, r := range s.Names() {
		if name == string(r) || name == path.Base(string(r)) {
			return r, nil
		}
	}
	return "", fmt.Errorf("there are no schemas %q; there are %v", name, s.Names())
}

// File returns all definitions of a revision as one JSON Schema document, with
// the errata applied unless the Set is as published.
func (s *Set) File(rev Revision) ([]byte, error) {
	f, err := s.file(rev)
	if err != nil {
		return nil, err
	}
	return f.doc.show()
}

// Definitions lists the definitions of a revision, sorted; nil if it has none.
func (s *Set) Definitions(rev Revision) []string {
	f, err := s.file(rev)
	if err != nil {
		return nil
	}
	return f.names
}

// Schema returns one definition of a revision as JSON, with the errata applied
// unless the Set is as published.
func (s *Set) Schema(rev Revision, definition string) ([]byte, error) {
	f, err := s.file(rev)
	if err != nil {
		return nil, err
	}
	return f.show(definition)
}

// Errata lists the errata of a revision, in the order of its file.
func (s *Set) Errata(rev Revision) ([]Erratum, error) {
	f, err := s.file(rev)
	if err != nil {
		return nil, err
	}
	return f.errata, nil
}

// Validate checks one instance, JSON text, against one definition. The error
// says that there is no such revision or definition, or that the instance is
// not JSON.
func (s *Set) Validate(rev Revision, definition string, instance []byte) ([]Violation, error) {
	v, err := decodeJSON(instance)
	if err != nil {
		return nil, fmt.Errorf("the instance is not JSON: %w", err)
	}
	return s.ValidateValue(rev, definition, v)
}

// ValidateValue is like Validate for a decoded instance: the types of
// encoding/json, numbers as json.Number.
func (s *Set) ValidateValue(rev Revision, definition string, instance any) ([]Violation, error) {
	f, err := s.file(rev)
	if err != nil {
		return nil, err
	}
	c, err := f.compileBoth(definition)
	if err != nil {
		return nil, err
	}
	if c.acceptor.accept(instance, 0) {
		return nil, nil
	}
	return f.explain(c.schema.Validate(instance), instance)
}

// file returns the schemas of one name, reading them at the first call.
func (s *Set) file(rev Revision) (*file, error) {
	s.mu.Lock()
	f := s.files[rev]
	if f == nil {
		f = &file{set: s, rev: rev, options: s.options}
		s.files[rev] = f
	}
	s.mu.Unlock()
	f.once.Do(func() { f.err = f.load(s.options) })
	return f, f.err
}

// file is one schema.json with its errata.
type file struct {
	set     *Set
	rev     Revision
	options Options
	once    sync.Once
	err     error

	doc    *document
	names  []string
	errata []Erratum
	places map[string]*Erratum // "Definition/pointer" → the erratum that put it there
	assert map[string]*Erratum // format → the erratum that asserts it

	mu       sync.Mutex
	compiler *jsonschema.Compiler
	compiled map[string]compiled
	accept   acceptors
}

func (f *file) load(o Options) error {
	folder, where := fs.FS(builtin), ""
	if o.Dir != "" && f.protocol() {
		folder, where = os.DirFS(o.Dir), o.Dir+"/"
	}
	home := f.home(folder)
	name := home + "/schema.json"
	raw, err := fs.ReadFile(folder, name)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s%s: there are no schemas for %q", where, name, f.rev)
	}
	if err != nil {
		return err
	}
	if f.doc, err = readDocument(home, raw); err != nil {
		return fmt.Errorf("%s%s: %w", where, name, err)
	}
	f.names = f.doc.names()
	if err := f.amend(o); err != nil {
		return err
	}
	f.compiled, f.accept = map[string]compiled{}, acceptors{}
	f.compiler = f.newCompiler(o)
	return nil
}

// protocol reports whether the file is one of the protocol's own, which a
// checkout of the official schema folder holds; extensions are published apart.
func (f *file) protocol() bool {
	return f.rev == Draft || slices.Contains(Revisions(), f.rev)
}

// home names the folder of a revision's schema. The draft has none of its own
// as long as it equals the latest revision.
func (f *file) home(folder fs.FS) string {
	if f.rev == Draft {
		if _, err := fs.Stat(folder, string(Draft)+"/schema.json"); err != nil {
			return string(Latest)
		}
	}
	return string(f.rev)
}

// amend reads the errata and applies them. They are our reading of the
// revision, so they also hold for the schemas of Options.Dir; what does not fit
// the text of those is left out.
func (f *file) amend(o Options) error {
	name := f.home(builtin) + "/errata.yaml"
	raw, err := fs.ReadFile(builtin, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if f.errata, err = parseErrata(name, raw); err != nil {
		return err
	}
	f.places, f.assert = map[string]*Erratum{}, map[string]*Erratum{}
	for i := range f.errata {
		e := &f.errata[i]
		if o.AsPublished || e.Advice && !o.Advice {
			continue
		}
		if e.Assert != "" {
			f.assert[e.Assert] = e
		}
		if e.Change() == "" {
			continue
		}
		for _, definition := range f.definitionsOn(e) {
			if err := f.amendOne(e, definition); err != nil && o.Dir == "" {
				return fmt.Errorf("%s: erratum %s on %s: %w", name, e.ID, definition, err)
			}
		}
	}
	return nil
}

// definitionsOn resolves what an erratum says under on; "*Request" stands for
// all definitions whose names end so.
func (f *file) definitionsOn(e *Erratum) []string {
	var all []string
	for _, on := range e.On {
		suffix, pattern := strings.CutPrefix(on, "*")
		if !pattern {
			all = append(all, on)
			continue
		}
		for _, name := range f.names {
			if strings.HasSuffix(name, suffix) && !slices.Contains(e.On, name) {
				all = append(all, name)
			}
		}
	}
	return all
}

func (f *file) amendOne(e *Erratum, definition string) error {
	d, ok := f.doc.definitions[definition]
	if !ok {
		return errors.New("there is no such definition")
	}
	amended, places, err := e.apply(d)
	if err != nil {
		return err
	}
	f.doc.definitions[definition] = amended
	for _, p := range places {
		f.places[definition+p] = e
	}
	return nil
}

// erratumAt returns the erratum that put the keyword at this place.
func (f *file) erratumAt(definition, pointer string) *Erratum {
	for p := pointer; ; p = p[:strings.LastIndexByte(p, '/')] {
		if e := f.places[definition+p]; e != nil {
			return e
		}
		if p == "" {
			return nil
		}
	}
}

func (f *file) unknown(definition string) error {
	near := nearest(definition, f.names)
	if len(near) == 0 {
		return fmt.Errorf("%s has no definition %q", f.rev, definition)
	}
	return fmt.Errorf("%s has no definition %q; near are %s", f.rev, definition, strings.Join(near, ", "))
}

// nearest returns up to three names that a typo may have meant, nearest first.
func nearest(name string, names []string) []string {
	type candidate struct {
		name     string
		distance int
	}
	var found []candidate
	lower := strings.ToLower(name)
	for _, n := range names {
		d := distance(lower, strings.ToLower(n))
		if d <= max(2, len(name)/3) || lower != "" && strings.Contains(strings.ToLower(n), lower) {
			found = append(found, candidate{n, d})
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return a.distance - b.distance })
	var near []string
	for _, c := range found[:min(3, len(found))] {
		near = append(near, c.name)
	}
	return near
}

// distance is the number of single-byte edits between two names.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := diagonal
			if a[i-1] != b[j-1] {
				cost++
			}
			diagonal = row[j]
			row[j] = min(cost, row[j]+1, row[j-1]+1)
		}
	}
	return row[len(b)]
}
