package conformance

import (
	"maps"
	"slices"

	"github.com/mcp-conform/mcp-conform/schemas"
)

// Coverage says how much of the specification is judged, in one revision or in
// all together.
type Coverage struct {
	Revision     schemas.Revision          `json:"revision,omitempty"` // "" for all revisions together
	Sentences    SentenceCount             `json:"sentences"`
	Requirements RequirementCount          `json:"requirements"`
	Levels       map[Level]LevelCoverage   `json:"levels"`
	Areas        map[string]AreaCoverage   `json:"areas"`
	Binds        map[Binds]map[Level]Share `json:"binds"` // client and server: of their sentences at each level that can be observed
}

// SentenceCount counts different sentences. Each is in one of the counts.
type SentenceCount struct {
	Total       int            `json:"total"`
	Judged      int            `json:"judged"`      // everything that it demands is judged, as far as it can be
	Open        int            `json:"open"`        // something that it demands could be judged, and is not yet
	Unjudgeable int            `json:"unjudgeable"` // nothing that it demands can be judged
	Excluded    map[Reason]int `json:"excluded"`    // it is no requirement
	Unaccounted int            `json:"unaccounted"`
}

// RequirementCount counts requirements by what judges them.
type RequirementCount struct {
	Total       int `json:"total"`
	Rule        int `json:"rule"`        // by rules alone
	Scenario    int `json:"scenario"`    // by scenarios alone
	Both        int `json:"both"`        // by rules and scenarios
	Open        int `json:"open"`        // by nothing yet
	Unjudgeable int `json:"unjudgeable"` // cannot be judged from outside
}

// LevelCoverage counts what stands at one level.
type LevelCoverage struct {
	Sentences    SentenceCount    `json:"sentences"`
	Requirements RequirementCount `json:"requirements"`
}

// AreaCoverage counts what stands in the catalogue files of one area.
type AreaCoverage struct {
	Requirements RequirementCount `json:"requirements"`
	Excluded     map[Reason]int   `json:"excluded"` // sentences
}

// Share is how many of a number of sentences are judged.
type Share struct {
	Judged int `json:"judged"`
	Of     int `json:"of"`
}

func (n *RequirementCount) add(q *Requirement) {
	n.Total++
	switch {
	case q.Judged == ByTrace:
		n.Rule++
	case q.Judged == ByScenario:
		n.Scenario++
	case q.Judged == ByBoth:
		n.Both++
	case q.Open():
		n.Open++
	default:
		n.Unjudgeable++
	}
}

// Cover computes the coverage of sentences by c in revision r, or in all
// revisions together when r is "".
func Cover(c *Catalogue, sentences []Sentence, r schemas.Revision) Coverage {
	v := Coverage{Revision: r, Levels: map[Level]LevelCoverage{}, Areas: map[string]AreaCoverage{}, Binds: map[Binds]map[Level]Share{}}
	for _, b := range []Binds{BindsClient, BindsServer} {
		v.Binds[b] = map[Level]Share{}
	}
	restated := map[string][]bound{}
	for _, q := range c.sorted {
		v.requirement(q, restated)
	}
	excluded := map[string]Exclusion{}
	for _, x := range c.excluded {
		for _, sha := range x.SHA {
			excluded[sha] = x
		}
	}
	v.sentences(sentences, restated, excluded)
	return v
}

// bound is a requirement that restates a sentence, and whom it binds there.
type bound struct {
	*Requirement
	binds Binds
}

// requirement counts q and notes which sentences it restates.
func (v *Coverage) requirement(q *Requirement, restated map[string][]bound) {
	level := May
	for rev, clause := range q.In {
		if v.Revision != "" && rev != v.Revision {
			continue
		}
		if level == May || clause.Level.Mandatory() {
			level = clause.Level.positive()
		}
		binds := q.Binds
		if clause.Binds != "" {
			binds = clause.Binds
		}
		for _, sha := range clause.SHA {
			restated[sha] = append(restated[sha], bound{q, binds})
		}
	}
	if level == May {
		return // it does not stand in this revision
	}
	v.Requirements.add(q)
	l := v.Levels[level]
	l.Requirements.add(q)
	v.Levels[level] = l
	a := v.Areas[q.Area]
	a.Requirements.add(q)
	v.Areas[q.Area] = a
}

// positive folds MUST NOT into MUST and SHOULD NOT into SHOULD.
func (l Level) positive() Level {
	switch l {
	case MustNot:
		return Must
	case ShouldNot:
		return Should
	}
	return l
}

func (v *Coverage) sentences(sentences []Sentence, restated map[string][]bound, excluded map[string]Exclusion) {
	strongest := map[string]Level{}
	for _, s := range sentences {
		if v.Revision == "" || s.Revision == v.Revision {
			strongest[s.SHA] = s.Strongest().positive()
		}
	}
	for sha, level := range strongest {
		x, out := excluded[sha]
		v.Sentences.add(restated[sha], x, out)
		l := v.Levels[level]
		l.Sentences.add(restated[sha], x, out)
		v.Levels[level] = l
		if out {
			a := v.Areas[x.Area]
			a.Excluded = counted(a.Excluded, x.Reason)
			v.Areas[x.Area] = a
		}
		v.share(level, restated[sha])
	}
}

func counted(m map[Reason]int, r Reason) map[Reason]int {
	if m == nil {
		m = map[Reason]int{}
	}
	m[r]++
	return m
}

func (n *SentenceCount) add(by []bound, x Exclusion, excluded bool) {
	n.Total++
	judged, open := state(by)
	switch {
	case open:
		n.Open++
	case judged:
		n.Judged++
	case len(by) > 0:
		n.Unjudgeable++
	case excluded:
		n.Excluded = counted(n.Excluded, x.Reason)
	default:
		n.Unaccounted++
	}
}

// state says whether something of a sentence is judged, and whether something is open.
func state(by []bound) (judged, open bool) {
	for _, q := range by {
		judged = judged || q.Judged != No
		open = open || q.Open()
	}
	return judged, open
}

// share counts a sentence for each side that it binds, unless nothing of what it
// demands of that side can be judged.
func (v *Coverage) share(level Level, by []bound) {
	for side, shares := range v.Binds {
		var mine []bound
		for _, q := range by {
			if q.binds == side || q.binds == BindsBoth {
				mine = append(mine, q)
			}
		}
		judged, open := state(mine)
		if !judged && !open {
			continue
		}
		s := shares[level]
		s.Of++
		if !open {
			s.Judged++
		}
		shares[level] = s
	}
}

// AreaNames returns the areas of the coverage, sorted.
func (v *Coverage) AreaNames() []string { return slices.Sorted(maps.Keys(v.Areas)) }
