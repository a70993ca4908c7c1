package conformance

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

// parseRequirements reads one catalogue file.
func parseRequirements(file, area string, data []byte) ([]*Requirement, error) {
	p := parser{file: file}
	return each(p, data, "requirements, each beginning with \"- id:\"", func(n *yaml.Node) (*Requirement, error) {
		r, err := p.requirement(n)
		if err == nil {
			r.File, r.Area = file, area
		}
		return r, err
	})
}

// each reads a file that holds a list, one entry at a time; of says of what.
func each[T any](p parser, data []byte, of string, read func(*yaml.Node) (T, error)) ([]T, error) {
	list, err := p.entries(data, of)
	if err != nil {
		return nil, err
	}
	out := make([]T, 0, len(list))
	for _, n := range list {
		x, err := read(n)
		if err != nil {
			return nil, err
		}
		out = append(out, x)
	}
	return out, nil
}

type parser struct{ file string }

// entries reads a file that holds one list. YAML is only the syntax: anchors,
// aliases, tags and merge keys are refused, and every key must be known.
func (p parser) entries(data []byte, of string) ([]*yaml.Node, error) {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc yaml.Node
	if err := dec.Decode(&doc); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("%s:1: the file is empty; write a list of %s, or remove it", p.file, of)
		}
		return nil, fmt.Errorf("%s: reading YAML: %w", p.file, err)
	}
	if err := dec.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, p.errorf(&doc, "the file holds more than one document; keep one list in it")
	}
	list := doc.Content[0]
	if list.Kind != yaml.SequenceNode {
		return nil, p.errorf(list, "want a list of %s", of)
	}
	return list.Content, p.plain(list)
}

func (p parser) errorf(n *yaml.Node, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %s", p.file, n.Line, fmt.Sprintf(format, args...))
}

// plain refuses what YAML has beyond JSON's data model.
func (p parser) plain(n *yaml.Node) error {
	switch {
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		return p.errorf(n, "anchors and aliases are not used here; write the value out")
	case n.Style&yaml.TaggedStyle != 0:
		return p.errorf(n, "the tag %s is not used here; remove it", n.Tag)
	}
	for _, c := range n.Content {
		if err := p.plain(c); err != nil {
			return err
		}
	}
	return nil
}

// each calls f for every pair of mapping n, after checking that keys are there once.
func (p parser) each(n *yaml.Node, what string, f func(key string, k, v *yaml.Node) error) error {
	if n.Kind != yaml.MappingNode {
		return p.errorf(n, "%s: want a mapping", what)
	}
	seen := map[string]bool{}
	for i := 0; i < len(n.Content); i += 2 {
		k := n.Content[i]
		if k.Kind != yaml.ScalarNode {
			return p.errorf(k, "%s: want a plain key", what)
		}
		if seen[k.Value] {
			return p.errorf(k, "%s: the key %s stands twice; remove one", what, k.Value)
		}
		seen[k.Value] = true
		if err := f(k.Value, k, n.Content[i+1]); err != nil {
			return err
		}
	}
	return nil
}

func (p parser) text(key string, n *yaml.Node) (string, error) {
	if n.Kind != yaml.ScalarNode || n.Value == "" {
		return "", p.errorf(n, "%s: want text", key)
	}
	return n.Value, nil
}

func (p parser) list(key string, n *yaml.Node) ([]string, error) {
	if n.Kind != yaml.SequenceNode || len(n.Content) == 0 {
		return nil, p.errorf(n, "%s: want a list with at least one member", key)
	}
	var out []string
	for _, c := range n.Content {
		s, err := p.text(key, c)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

var (
	idPattern  = regexp.MustCompile(`^[A-Z][A-Z0-9]*(-[A-Z0-9]+)*$`)
	shaPattern = regexp.MustCompile(`^[0-9a-f]{12}$`)
)

const requirementKeys = "id, text, binds, in, when, transports, occasion, judged, why, disputed, fix"

func (p parser) requirement(n *yaml.Node) (*Requirement, error) {
	r := &Requirement{Line: n.Line}
	err := p.each(n, "requirement", func(key string, k, v *yaml.Node) error {
		switch key {
		case "in":
			return p.clauses(r, v)
		case "when":
			return p.condition(r, v)
		case "transports":
			return p.transports(r, v)
		}
		field := map[string]*string{
			"id": &r.ID, "text": &r.Text, "binds": (*string)(&r.Binds), "judged": (*string)(&r.Judged),
			"why": &r.Why, "occasion": &r.Occasion, "disputed": &r.Disputed, "fix": &r.Fix,
		}[key]
		if field == nil {
			return p.errorf(k, "unknown key %q; the keys are %s", key, requirementKeys)
		}
		var err error
		*field, err = p.text(key, v)
		return err
	})
	if err != nil {
		return nil, err
	}
	return r, p.complete(n, r)
}

// complete checks what can only be checked once all keys are read.
func (p parser) complete(n *yaml.Node, r *Requirement) error {
	if !idPattern.MatchString(r.ID) {
		return p.errorf(n, "id %q: want upper-case words joined by hyphens, such as IDS-NOT-NULL", r.ID)
	}
	switch {
	case r.Text == "":
		return p.errorf(n, "%s: text is missing; write the demand as one sentence", r.ID)
	case !r.Binds.known():
		return p.errorf(n, "%s: binds %q: want client, server, both or authorization-server", r.ID, r.Binds)
	case r.Judged != ByTrace && r.Judged != ByScenario && r.Judged != ByBoth && r.Judged != No:
		return p.errorf(n, "%s: judged %q: want trace, scenario, both or no", r.ID, r.Judged)
	case r.Judged == No && r.Why == "":
		return p.errorf(n, "%s: judged: no needs a why", r.ID)
	case r.Judged != No && r.Why != "":
		return p.errorf(n, "%s: why belongs to judged: no only; remove it", r.ID)
	case len(r.In) == 0:
		return p.errorf(n, "%s: in is missing; name at least one revision", r.ID)
	case r.Disputed != "" && !strings.HasPrefix(r.Disputed, "https://"):
		return p.errorf(n, "%s: disputed %q: want the https address of the open issue", r.ID, r.Disputed)
	}
	return nil
}

func (p parser) clauses(r *Requirement, n *yaml.Node) error {
	r.In = map[schemas.Revision]Clause{}
	return p.each(n, "in", func(key string, k, v *yaml.Node) error {
		rev, err := schemas.ParseRevision(key)
		if err != nil {
			return p.errorf(k, "in: %v", err)
		}
		c, err := p.clause(key, v)
		r.In[rev] = c
		return err
	})
}

func (p parser) clause(rev string, n *yaml.Node) (Clause, error) {
	var c Clause
	err := p.each(n, rev, func(key string, k, v *yaml.Node) error {
		var err error
		switch key {
		case "level":
			var s string
			s, err = p.text(key, v)
			c.Level = Level(s)
		case "at":
			c.At, err = p.text(key, v)
		case "sha":
			c.SHA, err = p.list(key, v)
		case "binds":
			var s string
			s, err = p.text(key, v)
			c.Binds = Binds(s)
		default:
			err = p.errorf(k, "%s: unknown key %q; the keys are level, at, sha, binds", rev, key)
		}
		return err
	})
	if err != nil {
		return c, err
	}
	switch c.Level {
	case Must, MustNot, Should, ShouldNot:
	default:
		return c, p.errorf(n, "%s: level %q: want MUST, MUST NOT, SHOULD or SHOULD NOT", rev, c.Level)
	}
	if c.Binds != "" && !c.Binds.known() {
		return c, p.errorf(n, "%s: binds %q: want client, server, both or authorization-server", rev, c.Binds)
	}
	if c.At == "" || strings.HasPrefix(c.At, "/") {
		return c, p.errorf(n, "%s: at %q: want a page below the revision, such as basic/lifecycle#operation", rev, c.At)
	}
	for _, s := range c.SHA {
		if !shaPattern.MatchString(s) {
			return c, p.errorf(n, "%s: sha %q: want 12 hexadecimal digits", rev, s)
		}
	}
	return c, nil
}

func (p parser) condition(r *Requirement, n *yaml.Node) error {
	r.When = &Condition{}
	return p.each(n, "when", func(key string, k, v *yaml.Node) error {
		var err error
		switch key {
		case "server":
			r.When.Server, err = p.text(key, v)
		case "client":
			r.When.Client, err = p.text(key, v)
		default:
			err = p.errorf(k, "when: unknown key %q; the keys are server and client", key)
		}
		return err
	})
}

func (p parser) transports(r *Requirement, n *yaml.Node) error {
	names, err := p.list("transports", n)
	if err != nil {
		return err
	}
	for _, s := range names {
		switch t := trace.Transport(s); t {
		case trace.Stdio, trace.StreamableHTTP, trace.HTTPSSE:
			r.Transports = append(r.Transports, t)
		default:
			return p.errorf(n, "transports: unknown %q; they are stdio, streamable-http and http+sse", s)
		}
	}
	return nil
}
