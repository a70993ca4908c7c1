package schemas

import (
	"encoding/json"
	"path/filepath"
	"testing"
)

// TestProbes judges the reference instances: as published, they must fare as
// with the official schemas; as intended, as the text of the specification
// wants it, where it is clear.
func TestProbes(t *testing.T) {
	dir, ok := specData(t)
	if !ok {
		return
	}
	var probes []struct {
		Label      string
		Definition string
		Accepts    map[Revision]bool `json:"schema_json_accepts"`
		Intended   *bool             `json:"intended_by_ts_or_prose"`
		Instance   json.RawMessage
	}
	readJSON(t, filepath.Join(dir, "schema-probes.json"), &probes)
	published, intended := load(t, Options{AsPublished: true}), load(t, Options{})
	official := load(t, Options{Dir: filepath.Join(dir, "official")})
	compared := 0
	for _, p := range probes {
		for rev, accepts := range p.Accepts {
			if vs := validate(t, published, rev, p.Definition, string(p.Instance)); (len(vs) == 0) != accepts {
				t.Errorf("as published, %s %s: %s\nofficial verdict %v, ours %v", rev, p.Definition, p.Label, accepts, vs)
			}
			if p.Intended == nil {
				continue
			}
			compared++
			vs := validate(t, intended, rev, p.Definition, string(p.Instance))
			if (len(vs) == 0) != *p.Intended {
				t.Errorf("as intended, %s %s: %s\n%s\nwant %v, got %v", rev, p.Definition, p.Label, p.Instance, *p.Intended, vs)
			}
			// The errata hold for a checkout of the official files as well.
			vs = validate(t, official, rev, p.Definition, string(p.Instance))
			if (len(vs) == 0) != *p.Intended {
				t.Errorf("official files, amended, %s %s: %s\nwant %v, got %v", rev, p.Definition, p.Label, *p.Intended, vs)
			}
		}
	}
	if compared < 300 {
		t.Errorf("only %d verdicts were compared", compared)
	}
}
