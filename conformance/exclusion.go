package conformance

import (
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"sort"
	"strings"

	"go.yaml.in/yaml/v3"
)

//go:embed excluded/*.yaml
var builtinExclusions embed.FS

// Exclusion is a sentence of the specification that no requirement restates,
// and why. The same sentence in different wordings is one exclusion.
type Exclusion struct {
	SHA    []string // the sentences: first 12 hex digits of their SHA-256
	Reason Reason
	Of     string // the requirement that says it already, when Reason is Duplicate
	Note   string // what the sentence says and why it is excluded, in our words
	Area   string // the file it stands in, such as "basic"
	File   string
	Line   int
}

// Reason says why a sentence is not a requirement. The list is fixed: a reason
// that does not fit is a requirement that has not been found yet.
type Reason string

// The reasons.
const (
	// NotProtocol: keyword boilerplate, or advice to implementers that is not on the protocol.
	NotProtocol Reason = "not-protocol"
	// Human: it binds a person or a user interface.
	Human Reason = "human"
	// Unobservable: it binds a party, and nothing that can be seen from outside shows it.
	Unobservable Reason = "unobservable"
	// Definition: it defines a term or grants a choice, and so demands nothing.
	Definition Reason = "definition"
	// Duplicate: another requirement says it already.
	Duplicate Reason = "duplicate"
)

// Reasons returns all reasons, in the order of their declaration.
func Reasons() []Reason { return []Reason{NotProtocol, Human, Unobservable, Definition, Duplicate} }

// Exclusions returns the sentences that no requirement restates, by file and line.
func (c *Catalogue) Exclusions() []Exclusion { return slices.Clone(c.excluded) }

// exclude reads every *.yaml file at the root of fsys into c.
func (c *Catalogue) exclude(fsys fs.FS, prefix string) error {
	names, err := fs.Glob(fsys, "*.yaml")
	if err != nil {
		return fmt.Errorf("listing the exclusions: %w", err)
	}
	sort.Strings(names)
	for _, name := range names {
		data, err := fs.ReadFile(fsys, name)
		if err != nil {
			return fmt.Errorf("reading the exclusions: %w", err)
		}
		xs, err := parseExclusions(prefix+name, strings.TrimSuffix(name, ".yaml"), data)
		if err != nil {
			return err
		}
		c.excluded = append(c.excluded, xs...)
	}
	return nil
}

// parseExclusions reads one file of exclusions, as strictly as requirements are read.
func parseExclusions(file, area string, data []byte) ([]Exclusion, error) {
	p := parser{file: file}
	return each(p, data, "exclusions, each beginning with \"- sha:\"", func(n *yaml.Node) (Exclusion, error) {
		x, err := p.exclusion(n)
		x.File, x.Area = file, area
		return x, err
	})
}

func (p parser) exclusion(n *yaml.Node) (Exclusion, error) {
	x := Exclusion{Line: n.Line}
	err := p.each(n, "exclusion", func(key string, k, v *yaml.Node) error {
		var err error
		switch key {
		case "sha":
			x.SHA, err = p.list(key, v)
		case "reason":
			var s string
			s, err = p.text(key, v)
			x.Reason = Reason(s)
		case "of":
			x.Of, err = p.text(key, v)
		case "note":
			x.Note, err = p.text(key, v)
		default:
			err = p.errorf(k, "unknown key %q; the keys are sha, reason, of, note", key)
		}
		return err
	})
	if err != nil {
		return x, err
	}
	return x, p.excludes(n, x)
}

// excludes checks what can only be checked once all keys are read.
func (p parser) excludes(n *yaml.Node, x Exclusion) error {
	switch {
	case len(x.SHA) == 0:
		return p.errorf(n, "sha is missing; name the sentence that is excluded")
	case !slices.Contains(Reasons(), x.Reason):
		return p.errorf(n, "reason %q: want one of %v", x.Reason, Reasons())
	case x.Reason == Duplicate && !idPattern.MatchString(x.Of):
		return p.errorf(n, "of %q: a duplicate names the requirement that says the same", x.Of)
	case x.Reason != Duplicate && x.Of != "":
		return p.errorf(n, "of belongs to reason: duplicate only; remove it")
	case x.Note == "":
		return p.errorf(n, "note is missing; say in a few words what the sentence says and why it is excluded")
	}
	for _, s := range x.SHA {
		if !shaPattern.MatchString(s) {
			return p.errorf(n, "sha %q: want 12 hexadecimal digits", s)
		}
	}
	return nil
}
