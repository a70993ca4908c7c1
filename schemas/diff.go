package schemas

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/schemas/internal/sample"
)

// Document is a set of definitions that can be compared with another: a
// revision of ours, or a schema file from anywhere.
type Document struct {
	Name string
	file *file
	lent []string // definitions that the other side lent, as only references to them were there
}

// Document returns a revision for comparison, amended unless the Set is as
// published.
func (s *Set) Document(rev Revision) (*Document, error) {
	f, err := s.file(rev)
	if err != nil {
		return nil, err
	}
	// A copy, so that lending does not change the Set.
	own := &file{set: s, rev: rev, doc: f.doc.clone(), names: f.names, errata: f.errata, places: f.places, assert: f.assert, options: f.options}
	return &Document{Name: string(rev), file: own}, nil
}

// ReadDocument reads a schema file: draft-07 or 2020-12, definitions or $defs.
// What the root itself demands becomes a definition under the root's title.
func ReadDocument(name string, raw []byte) (*Document, error) {
	d, err := readDocument("file", raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	d.nameTop(raw)
	f := &file{rev: Revision(name), doc: d, names: d.names(), options: Options{AsPublished: true}}
	return &Document{Name: name, file: f}, nil
}

// Definitions lists the definitions, sorted, without those that were lent.
func (d *Document) Definitions() []string { return d.file.names }

// Comparison says definition by definition where two documents differ.
type Comparison struct {
	A, B         string
	Pairs        []Pair   // definitions that both have, by the name in A
	OnlyA, OnlyB []string // definitions that have no counterpart
	// Lent are definitions to which one side refers without having them, as
	// files that break off do. The other side's are taken, so nothing is said
	// about them.
	LentToA, LentToB []string
}

// Pair is one definition, compared.
type Pair struct {
	A, B        string // the names; they differ where a name was mapped
	Differences []Difference
	// Inherited names the definitions, compared on their own, whose differences
	// show through this one.
	Inherited []string
	Compared  int    // instances
	Failed    string // why it could not be compared, "" if it was
}

// Same reports whether no difference was found, its own or inherited.
func (p Pair) Same() bool { return len(p.Differences)+len(p.Inherited) == 0 && p.Failed == "" }

// Difference is something that one side accepts and the other refuses.
type Difference struct {
	AcceptedBy string // the name of the document that accepts
	RefusedBy  string
	Instance   json.RawMessage // the smallest one that was found
	Why        Violation       // what the refusing side says
	Also       []string        // other types for which the same is true at this place
}

// Differs reports whether any pair differs. Definitions without a counterpart
// do not count.
func (c *Comparison) Differs() bool {
	return slices.ContainsFunc(c.Pairs, func(p Pair) bool { return !p.Same() })
}

// WriteTo writes the comparison for people.
func (c *Comparison) WriteTo(w io.Writer) (int64, error) {
	var b bytes.Buffer
	same := 0
	for _, p := range c.Pairs {
		if p.Same() {
			same++
			continue
		}
		name := p.A
		if p.A != p.B {
			name += " (" + c.B + ": " + p.B + ")"
		}
		fmt.Fprintln(&b, name)
		if p.Failed != "" {
			fmt.Fprintf(&b, "    not compared: %s\n", p.Failed)
		}
		for _, d := range p.Differences {
			fmt.Fprintf(&b, "    %s accepts, %s refuses  %s\n", d.AcceptedBy, d.RefusedBy, clip(string(d.Instance)))
			fmt.Fprintf(&b, "        %s\n", d.whyText())
		}
		if len(p.Inherited) > 0 {
			fmt.Fprintf(&b, "    and as %s\n", strings.Join(p.Inherited, ", "))
		}
	}
	fmt.Fprintf(&b, "%d definitions of %s and %s compared: %d the same, %d differ\n", len(c.Pairs), c.A, c.B, same, len(c.Pairs)-same)
	for _, list := range []struct {
		what  string
		names []string
	}{
		{"only in " + c.A, c.OnlyA}, {"only in " + c.B, c.OnlyB},
		{"not in " + c.A + " and taken from " + c.B, c.LentToA}, {"not in " + c.B + " and taken from " + c.A, c.LentToB},
	} {
		if len(list.names) > 0 {
			fmt.Fprintf(&b, "%s: %s\n", list.what, strings.Join(list.names, ", "))
		}
	}
	n, err := w.Write(b.Bytes())
	return int64(n), err
}

func (d Difference) whyText() string {
	if len(d.Also) == 0 {
		return d.Why.String()
	}
	return d.Why.String() + "; so with " + strings.Join(d.Also, ", ")
}

// Diff compares two documents by what they accept, whatever their dialect and
// layout: it makes instances of each definition on either side, breaks them one
// place at a time, and asks both. That finds differences and cannot prove that
// there are none.
func Diff(a, b *Document) *Comparison { return diff(a, b, effort{whole: 300, broken: 1500}) }

// effort bounds the instances that are made of one definition on one side.
type effort struct{ whole, broken int }

func diff(a, b *Document, bounds effort) *Comparison {
	a.borrow(b)
	b.borrow(a)
	c := &Comparison{A: a.Name, B: b.Name, LentToA: a.lent, LentToB: b.lent}
	a.file.ready()
	b.file.ready()
	mapping := mapNames(a, b)
	for _, name := range a.file.names {
		if _, ok := mapping[name]; !ok {
			c.OnlyA = append(c.OnlyA, name)
		}
	}
	taken := slices.Collect(maps.Values(mapping))
	for _, name := range b.file.names {
		if !slices.Contains(taken, name) {
			c.OnlyB = append(c.OnlyB, name)
		}
	}
	m := matcher{a: a, b: b, sampleA: a.samples(), sampleB: b.samples(), named: map[string]bool{}, effort: bounds}
	a.file.doc.membersInto(m.named)
	b.file.doc.membersInto(m.named)
	for _, name := range slices.Sorted(maps.Keys(mapping)) {
		c.Pairs = append(c.Pairs, m.compare(name, mapping[name]))
	}
	inherit(c.Pairs)
	return c
}

// ready prepares a file that was put together by hand.
func (f *file) ready() {
	f.compiled, f.accept = map[string]compiled{}, acceptors{}
	f.compiler = f.newCompiler(f.options)
}

func (d *Document) samples() *sample.Source {
	return sample.New(map[string]any{"$defs": d.file.doc.definitions})
}

// borrow takes from the other side the definitions to which this one refers
// without having them, and those to which they refer.
func (d *Document) borrow(other *Document) {
	own, theirs := d.file.doc, other.file.doc
	for {
		missing := own.missing()
		lent := 0
		for _, name := range missing {
			definition, ok := theirs.definitions[name]
			if !ok || slices.Contains(other.lent, name) {
				continue
			}
			own.definitions[name] = definition
			own.dialects[name] = theirs.dialectOf(name)
			d.lent = append(d.lent, name)
			lent++
		}
		if lent == 0 {
			slices.Sort(d.lent)
			return
		}
	}
}

// inherit moves differences that are those of a definition compared on its own
// to where they belong.
func inherit(pairs []Pair) {
	differs := map[string]bool{}
	for _, p := range pairs {
		if len(p.Differences) > 0 {
			differs[p.A], differs[p.B] = true, true
		}
	}
	for i := range pairs {
		p := &pairs[i]
		var own []Difference
		for _, d := range p.Differences {
			from := d.Why.Definition
			if from != p.A && from != p.B && differs[from] && d.Why.Pointer != "" {
				if !slices.Contains(p.Inherited, from) {
					p.Inherited = append(p.Inherited, from)
				}
				continue
			}
			own = append(own, d)
		}
		p.Differences = own
		slices.Sort(p.Inherited)
	}
}
