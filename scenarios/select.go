package scenarios

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

// Filter says which scenarios to take. An empty field takes all; a list takes
// what any of its entries matches; the fields are joined by and.
type Filter struct {
	IDs          []string // ids, or globs such as tools.* (path.Match)
	Areas        []string
	Requirements []string
	Revision     schemas.Revision
	Transport    trace.Transport
	Role         trace.Side
}

// Select returns the scenarios that f takes. A pattern that matches nothing is
// an error that names it and what comes near, so that a typing error never
// looks like a clean run; so is a filter that takes nothing at all.
func Select(all []Scenario, f Filter) ([]Scenario, error) {
	taken, err := f.patterns(all)
	if err != nil {
		return nil, err
	}
	var out []Scenario
	for i, s := range all {
		if taken[i] && (f.Role == "" || s.Target == f.Role) &&
			(f.Revision == "" || f.Revision.In(s.Since, s.Until)) &&
			(f.Transport == "" || len(s.Transports) == 0 || slices.Contains(s.Transports, f.Transport)) {
			out = append(out, s)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no scenario is left (role %q, revision %q, transport %q): widen the filter", f.Role, f.Revision, f.Transport)
	}
	return out, nil
}

// patterns marks the scenarios that the named patterns take.
func (f Filter) patterns(all []Scenario) ([]bool, error) {
	taken := make([]bool, len(all))
	for i := range taken {
		taken[i] = true
	}
	for _, group := range []struct {
		what     string
		patterns []string
		names    func(*Scenario) []string
	}{
		{"scenario", f.IDs, func(s *Scenario) []string { return []string{s.ID} }},
		{"area", f.Areas, func(s *Scenario) []string { return []string{s.Area()} }},
		{"requirement", f.Requirements, (*Scenario).Requirements},
	} {
		if err := narrow(taken, all, group.what, group.patterns, group.names); err != nil {
			return nil, err
		}
	}
	return taken, nil
}

func narrow(taken []bool, all []Scenario, what string, patterns []string, names func(*Scenario) []string) error {
	if len(patterns) == 0 {
		return nil
	}
	hit := make([]bool, len(all))
	for _, p := range patterns {
		if _, err := path.Match(p, ""); err != nil {
			return fmt.Errorf("%s pattern %q: %w", what, p, err)
		}
		found := false
		for i := range all {
			if slices.ContainsFunc(names(&all[i]), func(n string) bool { ok, _ := path.Match(p, n); return ok }) {
				hit[i], found = true, true
			}
		}
		if !found {
			return noMatch(what, p, all, names)
		}
	}
	for i := range taken {
		taken[i] = taken[i] && hit[i]
	}
	return nil
}

func noMatch(what, pattern string, all []Scenario, names func(*Scenario) []string) error {
	var every []string
	for i := range all {
		every = append(every, names(&all[i])...)
	}
	if near := Near(pattern, every, 3); len(near) > 0 {
		return fmt.Errorf("no %s matches %q: did you mean %s?", what, pattern, strings.Join(near, ", "))
	}
	return fmt.Errorf("no %s matches %q: `mcp-conform list` shows what there is", what, pattern)
}

// Near returns up to max of the names that resemble s, the closest first.
func Near(s string, names []string, max int) []string {
	type scored struct {
		name string
		d    int
	}
	var close []scored
	names = slices.Clone(names)
	slices.Sort(names)
	for _, n := range slices.Compact(names) {
		d := distance(strings.ToLower(s), strings.ToLower(n))
		if d <= 1+len(s)/3 {
			close = append(close, scored{n, d})
		}
	}
	slices.SortStableFunc(close, func(a, b scored) int { return cmp.Compare(a.d, b.d) })
	var out []string
	for _, c := range close[:min(max, len(close))] {
		out = append(out, c.name)
	}
	return out
}

// distance is the number of insertions, deletions and substitutions between a and b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diag := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diag
			if a[i] != b[j] {
				cost++
			}
			diag = row[j+1]
			row[j+1] = min(cost, diag+1, row[j]+1)
		}
	}
	return row[len(b)]
}
