package conformance

import (
	"testing"

	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

const (
	legacyTalk = `
		-> {"id":1,"method":"tools/list"}
		<- {"id":1,"result":{"tools":[{"name":"add","inputSchema":{"type":"object"}}]}}
		-> {"id":2,"method":"tools/call","params":{"name":"add","arguments":{},"_meta":{"progressToken":"p"}}}
		<- {"method":"notifications/progress","params":{"progressToken":"p","progress":1}}
		<- {"method":"notifications/progress","params":{"progressToken":"p","progress":2}}
		<- {"id":2,"result":{"content":[{"type":"text","text":"3"}]}}
		<- {"id":1,"method":"ping"}
		-> {"id":1,"result":{}}
		-> {"id":3,"method":"ping"}
		<- {"id":3,"result":{}}
		-> {"id":4,"method":"nothing/here"}
		<- {"id":4,"error":{"code":-32601,"message":"no such method"}}
		err a line for people
		stdin-closed
		exit`
	modernTalk = `
		-> {"id":1,"method":"server/discover","params":{$meta}}
		<- {"id":1,"result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},$ok,$hints}}
		-> {"id":2,"method":"tools/list","params":{$meta}}
		<- {"id":2,"result":{"tools":[{"name":"add","inputSchema":{"type":"object"}}],$ok,$hints}}
		-> {"id":3,"method":"tools/call","params":{"name":"add","arguments":{},$meta}}
		<- {"id":3,"result":{"content":[{"type":"text","text":"3"}],$ok}}
		stdin-closed
		exit`
)

// A peer that does everything right fails nothing, in every revision.
func TestCleanTalkFailsNothing(t *testing.T) {
	w := newWorld(t)
	talks := map[schemas.Revision]string{}
	for _, r := range schemas.Revisions() {
		talks[r] = "stdio\nopen " + string(r) + ` server={"tools":{}}` + legacyTalk
	}
	talks[schemas.R20260728] = "stdio" + modernTalk
	for r, talk := range talks {
		t.Run(string(r), func(t *testing.T) {
			j, l, all := w.judge(t, talk)
			w.expect(t, all, "+ENVELOPE-JSONRPC@server +ENVELOPE-JSONRPC@client +IDS-RESPONSE-ECHO@server +STDIO-STDOUT-MESSAGES-ONLY "+
				"+STDIO-STDIN-MESSAGES-ONLY +TOOLS-LIST-ANSWERED +TOOLS-DECLARED +SCHEMA-RESULT@server +TOOLS-INPUT-SCHEMA")
			for _, e := range all {
				if e.Revision != r {
					t.Errorf("evidence on %s goes under %s", e.Requirement, e.Revision)
				}
			}
			seen := j.Seen()
			if seen.Server.Name != "s" || seen.Client.Name != "c" || len(seen.Facts) != 1 || seen.Facts[0].Revision != r ||
				string(seen.Facts[0].ServerCapabilities) != `{"tools":{}}` || seen.Facts[0].Transports[0] != trace.Stdio {
				t.Errorf("seen is %+v", seen)
			}
			for _, side := range []trace.Side{trace.Client, trace.Server} {
				if s := l.Score(r, side); s.Must.Failed+s.Should.Failed > 0 || s.Must.Passed == 0 {
					t.Errorf("the %s's score is %+v", side, s)
				}
			}
		})
	}
}
