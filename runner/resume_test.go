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

// A server may close the stream of a call once it has given an event id, and be
// polled for the rest, as often as it likes (2025-11-25 basic/transports).
func TestABrokenStreamIsPolledFor(t *testing.T) {
	for name, c := range map[string]struct {
		polls int  // GETs that give no answer yet
		id    bool // whether the first stream has an event id
		want  conformance.Verdict
	}{
		"once":    {0, true, conformance.Pass},
		"thrice":  {2, true, conformance.Pass},
		"without": {0, false, conformance.Fail},
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(polled(c.polls, c.id))
			defer s.Close()
			r := newTestRun(t, &fakeServer{}, "steps:\n  - use: open\n  - send: {call: x/slow, as: p}\n  - {expect: {reply: p, within: 20s}, req: REQUEST-ANSWERED}\n")
			r.opts.Target = Target{Role: trace.Server, URL: s.URL}
			r.reach.target = r.opts.Target
			r.transports = []trace.Transport{trace.StreamableHTTP}
			r.open = r.reach.open
			if res := judged(t, r); len(res) != 1 || res[0].Verdict != c.want {
				t.Errorf("%+v, want %s", res, c.want)
			}
		})
	}
}

// polled answers x/slow by a stream that breaks off, and by the GET after some others.
func polled(polls int, id bool) http.HandlerFunc {
	event := 0
	next := func(w io.Writer, data string) {
		event++
		fmt.Fprintf(w, "id: %d\nretry: 1\ndata: %s\n\n", event, data)
	}
	answer := ""
	return func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		m := schemas.Classify(body)
		switch {
		case r.Method == http.MethodGet:
			w.Header().Set("Content-Type", "text/event-stream")
			if polls--; polls >= 0 {
				next(w, "")
				return
			}
			next(w, answer)
		case m.Method == "x/slow":
			w.Header().Set("Content-Type", "text/event-stream")
			answer = `{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":{}}`
			if id {
				next(w, "")
				return
			}
			fmt.Fprint(w, ": nothing\n\n")
		case m.Kind == schemas.Request:
			w.Header().Set("Content-Type", "application/json")
			a := manners(trace.Server, &dressing{revision: schemas.R20251125}, m)
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, a.result)
		default:
			w.WriteHeader(http.StatusAccepted)
		}
	}
}
