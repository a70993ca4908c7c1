package runner

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

// A server that cannot accept a notification says so by its status, and may say
// why in the body (2025-11-25 basic/transports); an error under a status of
// success is an answer to what must have none.
func TestARefusedNotificationIsNotAnswered(t *testing.T) {
	for status, want := range map[int]conformance.Verdict{400: conformance.Pass, 200: conformance.Fail} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				m := schemas.Classify(body)
				w.Header().Set("Content-Type", "application/json")
				switch {
				case m.Method == "note":
					w.WriteHeader(status)
					fmt.Fprint(w, `{"jsonrpc":"2.0","id":null,"error":{"code":-32602,"message":"no"}}`)
				case m.Kind == schemas.Request:
					a := manners(trace.Server, &dressing{revision: schemas.R20251125}, m)
					fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, a.result)
				default:
					w.WriteHeader(http.StatusAccepted)
				}
			}))
			defer s.Close()
			r := newTestRun(t, &fakeServer{}, "steps:\n  - use: open\n  - send: {notify: note, as: n}\n  - {absent: {reply: n, for: 100ms}, req: ENVELOPE-NOTIFICATION-UNANSWERED}\n")
			r.opts.Target = Target{Role: trace.Server, URL: s.URL}
			r.reach.target = r.opts.Target
			r.transports = []trace.Transport{trace.StreamableHTTP}
			r.open = r.reach.open
			if res := judged(t, r); len(res) != 1 || res[0].Verdict != want {
				t.Errorf("%+v, want %s", res, want)
			}
		})
	}
}
