package conformance

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"sync"

	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

// kept is how many pieces of evidence of one finding are held in full: enough
// to see that it is no accident, few enough that a flood of equal faults costs
// no memory.
const kept = 4

// Ledger folds evidence, from any number of judges and scenario checks, into
// verdicts. It is safe for concurrent use. What it says depends on the evidence
// alone and not on the order in which it came, so that shards of a run merge
// into the same ledger as one run.
type Ledger struct {
	catalogue *Catalogue

	mu      sync.Mutex
	entries map[entryKey]*entry
	facts   map[schemas.Revision]Facts
	unknown map[string]int
}

type entryKey struct {
	revision    schemas.Revision
	side        trace.Side
	requirement string
}

type entry struct {
	passed   int
	failed   int
	reason   string // the least of the reasons given for untested
	findings map[signature]*Finding
}

// signature is what makes two failures the same finding. Array positions in
// pointers do not count, so that a hundred bad list items are one finding.
type signature struct{ detail, want, cause, transport string }

var position = regexp.MustCompile(`/[0-9]+`)

func signatureOf(e Evidence) signature {
	return signature{
		detail: position.ReplaceAllString(e.Detail, "/#"), want: position.ReplaceAllString(e.Want, "/#"),
		cause: e.Cause, transport: string(e.Transport),
	}
}

// NewLedger returns an empty ledger for requirements of c.
func NewLedger(c *Catalogue) *Ledger {
	return &Ledger{
		catalogue: c,
		entries:   map[entryKey]*entry{},
		facts:     map[schemas.Revision]Facts{},
		unknown:   map[string]int{},
	}
}

// Catalogue returns the catalogue that the ledger judges by.
func (l *Ledger) Catalogue() *Catalogue { return l.catalogue }

// Add folds one piece of evidence in. Evidence that names no requirement of the
// catalogue is the harness's own error and shows in [Ledger.Errors]; evidence on
// a revision in which its requirement does not stand is dropped.
func (l *Ledger) Add(e Evidence) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r, ok := l.catalogue.Get(e.Requirement)
	if !ok {
		l.unknown[e.Requirement]++
		return
	}
	if _, ok := r.In[e.Revision]; !ok {
		return
	}
	if e.Side == "" && r.Binds != BindsBoth {
		e.Side = trace.Side(r.Binds)
	}
	if !r.BindsIn(e.Revision, e.Side) {
		return
	}
	t := l.entry(entryKey{e.Revision, e.Side, e.Requirement})
	switch e.Verdict {
	case Pass:
		t.passed++
	case Fail:
		t.failed++
		t.add(&Finding{Evidence: e, Binds: e.Side, Count: 1})
	case Untested:
		t.because(e.Detail)
	}
}

func (l *Ledger) entry(k entryKey) *entry {
	t := l.entries[k]
	if t == nil {
		t = &entry{findings: map[signature]*Finding{}}
		l.entries[k] = t
	}
	return t
}

func (t *entry) because(reason string) {
	if reason != "" && (t.reason == "" || reason < t.reason) {
		t.reason = reason
	}
}

// add merges f with the finding of the same signature, if there is one.
func (t *entry) add(f *Finding) {
	sig := signatureOf(f.Evidence)
	old := t.findings[sig]
	if old == nil {
		c := *f
		t.findings[sig] = &c
		return
	}
	all := slices.Concat([]Evidence{old.Evidence}, old.More, []Evidence{f.Evidence}, f.More)
	slices.SortFunc(all, compareEvidence)
	all = all[:min(len(all), kept)]
	old.Evidence, old.More = all[0], all[1:]
	old.Count += f.Count
}

func compareEvidence(a, b Evidence) int {
	return cmp.Or(
		cmp.Compare(a.Requirement, b.Requirement), cmp.Compare(a.Revision, b.Revision), cmp.Compare(a.Side, b.Side),
		cmp.Compare(a.Scenario, b.Scenario), cmp.Compare(a.Transport, b.Transport), cmp.Compare(a.Event, b.Event),
		cmp.Compare(a.Detail, b.Detail), cmp.Compare(a.Want, b.Want), cmp.Compare(a.Got, b.Got), cmp.Compare(a.Wire, b.Wire), cmp.Compare(a.Line, b.Line),
	)
}

// Learn tells the ledger what is in play in a revision. Facts from several
// conversations add up: what was declared once is declared.
func (l *Ledger) Learn(f Facts) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.learn(f)
}

func (l *Ledger) learn(f Facts) {
	old := l.facts[f.Revision]
	ts := slices.Concat(old.Transports, f.Transports)
	slices.Sort(ts)
	l.facts[f.Revision] = Facts{
		Revision:           f.Revision,
		Transports:         slices.Compact(ts),
		ServerCapabilities: union(old.ServerCapabilities, f.ServerCapabilities),
		ClientCapabilities: union(old.ClientCapabilities, f.ClientCapabilities),
	}
}

// union merges two JSON objects member by member. Where two values are not both
// objects the greater text wins, so that the order does not matter.
func union(a, b json.RawMessage) json.RawMessage {
	if len(a) == 0 {
		return b
	}
	if len(b) == 0 {
		return a
	}
	var x, y map[string]json.RawMessage
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil || x == nil || y == nil {
		if string(a) > string(b) {
			return a
		}
		return b
	}
	for k, v := range y {
		x[k] = union(x[k], v)
	}
	merged, err := json.Marshal(x)
	if err != nil {
		return a
	}
	return merged
}

// Facts returns what was learnt about a revision.
func (l *Ledger) Facts(r schemas.Revision) Facts {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := l.facts[r]
	f.Revision = r
	return f
}

// Revisions returns the revisions on which there is anything to say, from the
// oldest to the newest.
func (l *Ledger) Revisions() []schemas.Revision {
	l.mu.Lock()
	defer l.mu.Unlock()
	seen := map[schemas.Revision]bool{}
	for k := range l.entries {
		seen[k.revision] = true
	}
	for r := range l.facts {
		seen[r] = true
	}
	return slices.Sorted(maps.Keys(seen))
}

// Merge folds all that o holds into l. It is associative and commutative.
func (l *Ledger) Merge(o *Ledger) {
	if l == o {
		return
	}
	c := o.copy()
	l.mu.Lock()
	defer l.mu.Unlock()
	for k, t := range c.entries {
		mine := l.entry(k)
		mine.passed += t.passed
		mine.failed += t.failed
		mine.because(t.reason)
		for _, f := range t.findings {
			mine.add(f)
		}
	}
	for _, f := range c.facts {
		l.learn(f)
	}
	for id, n := range c.unknown {
		l.unknown[id] += n
	}
}

func (l *Ledger) copy() *Ledger {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := NewLedger(l.catalogue)
	for k, t := range l.entries {
		e := *t
		e.findings = map[signature]*Finding{}
		for s, f := range t.findings {
			g := *f
			g.More = slices.Clone(f.More)
			e.findings[s] = &g
		}
		c.entries[k] = &e
	}
	maps.Copy(c.facts, l.facts)
	maps.Copy(c.unknown, l.unknown)
	return c
}

// Errors returns the harness's own errors: evidence on requirements that the
// catalogue does not have.
func (l *Ledger) Errors() []error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var errs []error
	for _, id := range slices.Sorted(maps.Keys(l.unknown)) {
		errs = append(errs, fmt.Errorf("evidence on %s, which is not in the catalogue (%d times): add it or name another", id, l.unknown[id]))
	}
	return errs
}
