package conformance

import (
	"testing"

	"github.com/mcp-conform/mcp-conform/trace"
)

// What a recorder kept only in part is no evidence: not of noise, not of a
// broken encoding, and what it may have been (a request, a response) excuses
// what follows. The same events without the note are faults.
func TestWhatWasCutIsNoEvidence(t *testing.T) {
	w := newWorld(t)
	for note, want := range map[string]map[string]Verdict{
		"": {
			"STDIO-STDOUT-MESSAGES-ONLY@server": Fail, "ENVELOPE-UTF8@server": Fail, "IDS-RESPONSE-ECHO@client": Fail,
		},
		"too long: 50000000 bytes; the first 4096 are kept": {
			"STDIO-STDOUT-MESSAGES-ONLY@server": Pass, "ENVELOPE-UTF8@server": Pass, "IDS-RESPONSE-ECHO@client": Untested,
		},
	} {
		t.Run(note, func(t *testing.T) {
			header, events := parseScript(t, "stdio\nopen 2025-11-25 client={\"roots\":{}}\n<-! {\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"roots/list\"\n"+
				`-> {"id":7,"result":{"roots":[]}}`+"\nstdin-closed\nexit")
			var all []Evidence
			j := NewJudge(JudgeOptions{Catalogue: w.catalogue, Schemas: w.set, Header: header, Emit: func(e Evidence) { all = append(all, e) }})
			for _, e := range events {
				if e.Kind == trace.KindNoise {
					e.Note = note
					e.Data = append(e.Data, 0xC3) // half a character
				}
				j.Observe(e)
			}
			j.Finish()
			got := verdictsIn(all)
			for k, v := range want {
				if got[k] != v {
					t.Errorf("%s is %q, want %q", k, got[k], v)
				}
			}
		})
	}
}
