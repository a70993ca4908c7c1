package conformance

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"sort"
	"strings"

	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

//go:embed requirements/*.yaml
var builtin embed.FS

// Catalogue is the set of all requirements, with the sentences of the
// specification that are none. It does not change once loaded and
// is safe for concurrent use.
type Catalogue struct {
	byID     map[string]*Requirement
	sorted   []*Requirement
	excluded []Exclusion
}

// Builtin returns the catalogue that comes with the program. It is read anew at
// each call; keep it.
func Builtin() (*Catalogue, error) {
	sub, err := fs.Sub(builtin, "requirements")
	if err != nil {
		return nil, fmt.Errorf("opening the built-in catalogue: %w", err)
	}
	c, err := load(sub, "conformance/requirements/")
	if err != nil {
		return nil, err
	}
	if sub, err = fs.Sub(builtinExclusions, "excluded"); err != nil {
		return nil, fmt.Errorf("opening the built-in exclusions: %w", err)
	}
	return c, c.exclude(sub, "conformance/excluded/")
}

// Load reads every *.yaml file at the root of fsys. Each error names file and
// line and says what to do.
func Load(fsys fs.FS) (*Catalogue, error) { return load(fsys, "") }

func load(fsys fs.FS, prefix string) (*Catalogue, error) {
	names, err := fs.Glob(fsys, "*.yaml")
	if err != nil {
		return nil, fmt.Errorf("listing the catalogue: %w", err)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("the catalogue has no *.yaml file: give a folder that holds requirement files")
	}
	sort.Strings(names)
	c := &Catalogue{byID: map[string]*Requirement{}}
	for _, name := range names {
		data, err := fs.ReadFile(fsys, name)
		if err != nil {
			return nil, fmt.Errorf("reading the catalogue: %w", err)
		}
		rs, err := parseRequirements(prefix+name, strings.TrimSuffix(name, ".yaml"), data)
		if err != nil {
			return nil, err
		}
		for _, r := range rs {
			if first := c.byID[r.ID]; first != nil {
				return nil, fmt.Errorf("%s:%d: requirement %s stands already at %s:%d; rename or remove one",
					r.File, r.Line, r.ID, first.File, first.Line)
			}
			c.byID[r.ID] = r
			c.sorted = append(c.sorted, r)
		}
	}
	sort.Slice(c.sorted, func(i, j int) bool { return c.sorted[i].ID < c.sorted[j].ID })
	return c, nil
}

// Get returns the requirement with that id.
func (c *Catalogue) Get(id string) (*Requirement, bool) {
	r, ok := c.byID[id]
	return r, ok
}

// All returns the requirements sorted by id.
func (c *Catalogue) All() []*Requirement { return slices.Clone(c.sorted) }

// Applicable returns the requirements that bind side s under facts f, sorted by id.
func (c *Catalogue) Applicable(s trace.Side, f Facts) []*Requirement {
	var rs []*Requirement
	for _, r := range c.sorted {
		if r.Applies(s, f) {
			rs = append(rs, r)
		}
	}
	return rs
}

// Facts are what decides which requirements apply: the revision that was
// judged, the transports over which it was, and what both sides declared. What
// is not known excludes nothing.
type Facts struct {
	Revision           schemas.Revision
	Transports         []trace.Transport
	ServerCapabilities json.RawMessage // an object; nil when not known
	ClientCapabilities json.RawMessage
}

// Applies reports whether r has a clause in the revision, binds the side, and
// neither its transports nor its condition rule it out. An undeclared optional
// capability makes a requirement not applicable (basic/lifecycle, capability
// negotiation: what is not declared is not there).
func (r *Requirement) Applies(s trace.Side, f Facts) bool {
	if !r.BindsIn(f.Revision, s) {
		return false
	}
	if len(r.Transports) > 0 && len(f.Transports) > 0 &&
		!slices.ContainsFunc(r.Transports, func(t trace.Transport) bool { return slices.Contains(f.Transports, t) }) {
		return false
	}
	return r.When.met(f)
}

// met reports whether nothing that is known speaks against the condition.
func (c *Condition) met(f Facts) bool {
	return c == nil || (f.ServerCapabilities == nil || Declares(f.ServerCapabilities, c.Server)) &&
		(f.ClientCapabilities == nil || Declares(f.ClientCapabilities, c.Client))
}

// Declares reports whether capabilities hold the dotted path. The empty path is
// always declared; null and false declare nothing.
func Declares(capabilities json.RawMessage, path string) bool {
	if path == "" {
		return true
	}
	at := capabilities
	for name := range strings.SplitSeq(path, ".") {
		var object map[string]json.RawMessage
		if json.Unmarshal(at, &object) != nil {
			return false
		}
		next, ok := object[name]
		if !ok {
			return false
		}
		at = next
	}
	text := strings.TrimSpace(string(at))
	return text != "null" && text != "false"
}
