package conformance

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/schemas"
)

// Accounting holds the catalogue against the sentences of the specification.
// Everything in it is something to do; the complaints begin with file and line.
type Accounting struct {
	Sentences   int        // different ones
	Mapped      int        // different sentences that requirements restate
	Excluded    int        // different sentences that are excluded
	Unaccounted []Sentence // neither, in the revision of the sentence
	Unknown     []string   // entries that name a sentence which is not there
	Levels      []string   // clauses whose level is not that of their sentences
	Places      []string   // clauses that stand where none of their sentences does
	Double      []string   // sentences both mapped and excluded, or excluded twice
	Dangling    []string   // duplicates of a requirement that is not there
}

// Open returns how many different sentences are not accounted for.
func (a Accounting) Open() int {
	set := map[string]bool{}
	for _, s := range a.Unaccounted {
		set[s.SHA] = true
	}
	return len(set)
}

// Wrong returns all complaints on entries of the catalogue.
func (a Accounting) Wrong() []string {
	return slices.Concat(a.Unknown, a.Levels, a.Places, a.Double, a.Dangling)
}

// bookkeeper holds what is needed while accounting.
type bookkeeper struct {
	Accounting
	standing map[schemas.Revision]map[string][]Sentence
	anywhere map[string]bool
	mapped   map[string]*Requirement
	excluded map[string]Exclusion
}

// Account holds c against the sentences of the specification.
func Account(c *Catalogue, sentences []Sentence) Accounting {
	b := &bookkeeper{
		standing: map[schemas.Revision]map[string][]Sentence{},
		anywhere: map[string]bool{},
		mapped:   map[string]*Requirement{},
		excluded: map[string]Exclusion{},
	}
	for _, s := range sentences {
		if b.standing[s.Revision] == nil {
			b.standing[s.Revision] = map[string][]Sentence{}
		}
		b.standing[s.Revision][s.SHA] = append(b.standing[s.Revision][s.SHA], s)
		b.anywhere[s.SHA] = true
	}
	for _, q := range c.sorted {
		for _, rev := range slices.Sorted(maps.Keys(q.In)) {
			b.clause(q, rev, q.In[rev])
		}
	}
	for _, x := range c.excluded {
		b.exclusion(c, x)
	}
	b.unaccounted(c, sentences)
	b.Sentences, b.Mapped, b.Excluded = len(b.anywhere), len(b.mapped), len(b.excluded)
	return b.Accounting
}

func (b *bookkeeper) clause(q *Requirement, rev schemas.Revision, c Clause) {
	where := fmt.Sprintf("%s:%d: %s: %s", q.File, q.Line, q.ID, rev)
	var found []Sentence
	for _, sha := range c.SHA {
		b.mapped[sha] = q
		s := b.standing[rev][sha]
		if len(s) == 0 {
			b.Unknown = append(b.Unknown, fmt.Sprintf("%s has no sentence %s: correct or remove it", where, sha))
		}
		found = append(found, s...)
	}
	if len(found) == 0 {
		return
	}
	if !slices.ContainsFunc(found, func(s Sentence) bool { return slices.Contains(s.Levels, c.Level) }) {
		b.Levels = append(b.Levels, fmt.Sprintf("%s: level %s, but no sentence of the clause says it (%s says %s)", where, c.Level, found[0].SHA, found[0].Strongest()))
	}
	for _, s := range found {
		if !c.Level.Mandatory() && s.mandatoryOnly() {
			b.Levels = append(b.Levels, fmt.Sprintf("%s: level %s, but %s says %s: take the stronger", where, c.Level, s.SHA, s.Strongest()))
		}
	}
	page, anchor, anchored := strings.Cut(c.At, "#")
	if !slices.ContainsFunc(found, func(s Sentence) bool { return s.Page == page && (!anchored || s.Section == anchor) }) {
		b.Places = append(b.Places, fmt.Sprintf("%s: at %s, but its sentences stand at %s", where, c.At, found[0].At()))
	}
}

func (b *bookkeeper) exclusion(c *Catalogue, x Exclusion) {
	for _, sha := range x.SHA {
		where := fmt.Sprintf("%s:%d: %s", x.File, x.Line, sha)
		if !b.anywhere[sha] {
			b.Unknown = append(b.Unknown, where+" is no sentence of any revision: correct or remove it")
		}
		if q := b.mapped[sha]; q != nil {
			b.Double = append(b.Double, fmt.Sprintf("%s is excluded, but %s (%s:%d) restates it: keep one", where, q.ID, q.File, q.Line))
		}
		if y, ok := b.excluded[sha]; ok {
			b.Double = append(b.Double, fmt.Sprintf("%s is already excluded at %s:%d: keep one", where, y.File, y.Line))
		}
		b.excluded[sha] = x
	}
	if _, ok := c.Get(x.Of); x.Reason == Duplicate && !ok {
		b.Dangling = append(b.Dangling, fmt.Sprintf("%s:%d: of: there is no requirement %s: add it or correct the name", x.File, x.Line, x.Of))
	}
}

func (b *bookkeeper) unaccounted(c *Catalogue, sentences []Sentence) {
	restated := map[schemas.Revision]map[string]bool{}
	for _, q := range c.sorted {
		for rev, clause := range q.In {
			if restated[rev] == nil {
				restated[rev] = map[string]bool{}
			}
			for _, sha := range clause.SHA {
				restated[rev][sha] = true
			}
		}
	}
	for _, s := range sentences {
		if _, ok := b.excluded[s.SHA]; !ok && !restated[s.Revision][s.SHA] {
			b.Unaccounted = append(b.Unaccounted, s)
		}
	}
}
