package schemas

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestErrataDoTheSameToOfficialFiles: the errata amend a checkout of the
// official schemas to what they make of ours, whatever the layout.
func TestErrataDoTheSameToOfficialFiles(t *testing.T) {
	dir, ok := specData(t)
	if !ok {
		return
	}
	ours, official := load(t, Options{}), load(t, Options{Dir: filepath.Join(dir, "official")})
	for _, rev := range Revisions() {
		t.Run(string(rev), func(t *testing.T) {
			t.Parallel()
			a, err := ours.Document(rev)
			if err != nil {
				t.Fatal(err)
			}
			b, err := official.Document(rev)
			if err != nil {
				t.Fatal(err)
			}
			a.Name, b.Name = "ours", "official"
			c := diff(a, b, effort{whole: 60, broken: 120})
			if c.Differs() || len(c.OnlyA)+len(c.OnlyB) > 0 {
				var out strings.Builder
				if _, err := c.WriteTo(&out); err != nil {
					t.Fatal(err)
				}
				t.Error(out.String())
			}
		})
	}
}
