package schemas

import (
	"path/filepath"
	"slices"
	"testing"
)

func TestMethodsHaveTheirDefinitions(t *testing.T) {
	s := load(t, Options{})
	for _, rev := range Revisions() {
		for _, m := range slices.Concat(Methods(rev), ExtensionMethods(rev)) {
			names := s.Definitions(m.Schema)
			for _, d := range []string{m.Definition, m.Params, m.Result} {
				if d != "" && !slices.Contains(names, d) {
					t.Errorf("%s %s: %s has no definition %s", rev, m.Name, m.Schema, d)
				}
			}
			if (m.Kind == Request) != (m.Result != "") {
				t.Errorf("%s %s: a %s with result %q", rev, m.Name, m.Kind, m.Result)
			}
			if (m.Needs == "") != (m.NeedsOf == "") {
				t.Errorf("%s %s: needs %q of %q", rev, m.Name, m.Needs, m.NeedsOf)
			}
			if !m.FromClient && !m.FromServer && !m.Embedded {
				t.Errorf("%s %s: nobody sends it", rev, m.Name)
			}
			if found, ok := LookupMethod(rev, m.Name); !ok || found != m {
				t.Errorf("%s %s: looked up as %+v", rev, m.Name, found)
			}
		}
	}
}

func TestLookupMethodKnowsTheRevision(t *testing.T) {
	for _, c := range []struct {
		rev  Revision
		name string
		want bool
	}{
		{R20241105, "initialize", true}, {R20260728, "initialize", false}, {Draft, "initialize", false},
		{R20250326, "elicitation/create", false}, {R20250618, "elicitation/create", true},
		{R20251125, "tasks/result", true}, {R20260728, "tasks/result", false}, {R20260728, "tasks/update", true},
		{Draft, "server/discover", true}, {R20251125, "Tools/List", false},
	} {
		if _, ok := LookupMethod(c.rev, c.name); ok != c.want {
			t.Errorf("%s %s: got %v", c.rev, c.name, ok)
		}
	}
}

// TestMethodsAgreeWithTheOfficialSchemas compares with the table that was
// computed from the official schema files.
func TestMethodsAgreeWithTheOfficialSchemas(t *testing.T) {
	dir, ok := specData(t)
	if !ok {
		return
	}
	var table map[Revision]map[string]struct{ Def, Dir, Kind, Result string }
	readJSON(t, filepath.Join(dir, "methods.json"), &table)
	for _, rev := range Revisions() {
		methods := Methods(rev)
		if len(methods) != len(table[rev]) {
			t.Errorf("%s: %d methods, want %d", rev, len(methods), len(table[rev]))
		}
		for _, m := range methods {
			want := table[rev][m.Name]
			dir := map[[3]bool]string{{true, false, false}: "C2S", {false, true, false}: "S2C", {true, true, false}: "C2S+S2C", {false, false, true}: "embedded"}[[3]bool{m.FromClient, m.FromServer, m.Embedded}]
			if m.Definition != want.Def || m.Result != want.Result || m.Kind.String() != want.Kind || dir != want.Dir {
				t.Errorf("%s %s: got %s %s %s %s, want %+v", rev, m.Name, m.Definition, m.Result, m.Kind, dir, want)
			}
		}
	}
}
