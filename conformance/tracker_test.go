package conformance

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

func TestIDSet(t *testing.T) {
	var s idSet
	for _, raw := range []string{"5", "7", "6", "-1", "0", "120", `"a"`, `"5"`} {
		if !s.add(schemas.IDKey([]byte(raw))) {
			t.Errorf("%s is said to have been used", raw)
		}
	}
	for _, raw := range []string{"5", "6", "7", "0", "-1", "120", "1.2e2", "5.0", `"a"`, `"\u0061"`, `"5"`} {
		if s.add(schemas.IDKey([]byte(raw))) || !s.has(schemas.IDKey([]byte(raw))) {
			t.Errorf("%s is said not to have been used", raw)
		}
	}
	for _, raw := range []string{"4", "8", "1", "12", `"b"`, "5.5"} {
		if s.has(schemas.IDKey([]byte(raw))) {
			t.Errorf("%s is said to have been used", raw)
		}
	}
	if len(s.spans) != 3 {
		t.Errorf("the integers take %d spans, want -1..0, 5..7 and 120", len(s.spans))
	}
}

func TestIDSetIsBounded(t *testing.T) {
	var s idSet
	for i := range 2 * remembered {
		s.add(schemas.IDKey(fmt.Appendf(nil, "%q", fmt.Sprint("id", i))))
		s.add(schemas.IDKey(fmt.Append(nil, i)))
	}
	if len(s.others) > remembered || len(s.queue) > remembered || len(s.spans) != 1 {
		t.Errorf("%d others, %d in the queue, %d spans", len(s.others), len(s.queue), len(s.spans))
	}
}

func TestOtherType(t *testing.T) {
	for a, b := range map[string]string{"1": `"1"`, `"120"`: "120"} {
		if got, want := otherType(schemas.IDKey([]byte(a))), schemas.IDKey([]byte(b)); got != want {
			t.Errorf("%s: got %q, want %q", a, got, want)
		}
	}
	if got := otherType(schemas.IDKey([]byte(`"a"`))); got != "" {
		t.Errorf("no number reads a, got %q", got)
	}
}

// The revision that was negotiated is the one that is judged, also for what
// came before it was.
func TestEvidenceWaitsForTheRevision(t *testing.T) {
	w := newWorld(t)
	cases := map[string]struct {
		trace string
		want  schemas.Revision
	}{
		"negotiated":       {"stdio\n<-! noise\n" + negotiate("2025-11-25", "2025-03-26"), schemas.R20250326},
		"only asked for":   {"stdio\n<-! noise\n-> {\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2024-11-05\"}}", schemas.R20241105},
		"from the header":  {"stdio revision=2025-06-18\n<-! noise", schemas.R20250618},
		"not known at all": {"stdio\n<-! noise", schemas.R20251125},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, _, all := w.judge(t, c.trace)
			found := false
			for _, e := range all {
				if e.Revision != c.want {
					t.Errorf("%s goes under %s, want %s", e.Requirement, e.Revision, c.want)
				}
				found = found || e.Requirement == "STDIO-STDOUT-MESSAGES-ONLY" && e.Verdict == Fail
			}
			if !found {
				t.Error("the noise is not found")
			}
		})
	}
}

func TestExplains(t *testing.T) {
	w := newWorld(t)
	for text, want := range map[string]string{
		"stdio\n<-! noise\nopen 2025-11-25": "STDIO-STDOUT-MESSAGES-ONLY",
		"stdio\nopen 2025-11-25":            "",
		"http\nopen 2025-11-25\nPOST\n-> {\"id\":1,\"method\":\"ping\"}\n200 text/html\n<-! <p>": "HTTP-REQUEST-CONTENT-TYPE",
	} {
		if j, _, _ := w.judge(t, text); j.Explains() != want {
			t.Errorf("%q: got %q, want %q", text, j.Explains(), want)
		}
	}
}

// One cause gives one finding: what follows stands under it.
func TestOneCauseIsOneFinding(t *testing.T) {
	w := newWorld(t)
	for text, want := range map[string]string{
		"stdio\nopen 2025-11-25\n<= {\"event\":\"x\"}\n<-! started\n<-! ready":                                                                                              "STDIO-STDOUT-MESSAGES-ONLY",
		"stdio\nopen 2025-11-25\n<-! {\n<-!   \"jsonrpc\": \"2.0\",\n<-!   \"id\": 1\n<-! }":                                                                                "STDIO-ONE-LINE",
		"http\nopen 2025-11-25\nPOST\n-> {\"id\":1,\"method\":\"ping\"}\n200 text/html\n<-! <p>\nend\nPOST\n-> {\"id\":2,\"method\":\"ping\"}\n200 text/html\n<-! <p>\nend": "HTTP-REQUEST-CONTENT-TYPE",
	} {
		_, l, _ := w.judge(t, text)
		fs := l.Findings()
		if len(fs) != 1 || fs[0].Requirement != want || len(fs[0].Consequences) == 0 {
			t.Errorf("%q: findings are %+v, want one of %s with consequences", text, fs, want)
		}
	}
}

// A proxy's capture may have any number of sessions; the stale ones are given
// up and taken up again as ones whose start was not seen.
func TestSessionsAreBounded(t *testing.T) {
	w := newWorld(t)
	var failed []Evidence
	j := NewJudge(JudgeOptions{Catalogue: w.catalogue, Schemas: w.set, Header: trace.Header{Transport: trace.StreamableHTTP}, Emit: func(e Evidence) {
		if e.Verdict == Fail {
			failed = append(failed, e)
		}
	}})
	seq := int64(0)
	say := func(exchange, session string, from trace.Side, status int, text string) {
		seq++
		h := &trace.Head{Method: "POST", URL: "/mcp", Headers: [][2]string{{"Accept", "application/json, text/event-stream"}, {"MCP-Protocol-Version", "2025-11-25"}}}
		if session != "" {
			h.Headers = append(h.Headers, [2]string{"Mcp-Session-Id", session})
		}
		if status > 0 {
			h.Method, h.Status = "", status
			h.Headers = append(h.Headers, [2]string{"Content-Type", "application/json"})
		}
		j.Observe(trace.Event{Seq: seq, Kind: trace.KindHTTP, From: from, Conn: "c", Exchange: exchange, HTTP: h})
		if text != "" {
			seq++
			j.Observe(trace.Event{Seq: seq, Kind: trace.KindMessage, From: from, Conn: "c", Exchange: exchange, Data: []byte(text)})
		}
		if status > 0 {
			seq++
			j.Observe(trace.Event{Seq: seq, Kind: trace.KindClosed, From: from, Conn: "c", Exchange: exchange, End: &trace.End{How: "eof"}})
		}
	}
	const sessions = mostSessions + 50
	for i := range sessions {
		id := fmt.Sprint("session-", i)
		say("i"+id, "", trace.Client, 0, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`)
		say("i"+id, id, trace.Server, 200, `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}`)
		say("n"+id, id, trace.Client, 0, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		say("n"+id, "", trace.Server, 202, "")
	}
	if n := len(j.conns["c"].sessions); n > mostSessions {
		t.Errorf("%d sessions are kept, want at most %d", n, mostSessions)
	}
	say("late", "session-0", trace.Client, 0, `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	say("late", "", trace.Server, 200, `{"jsonrpc":"2.0","id":1,"result":{}}`)
	j.Finish()
	for _, e := range failed {
		t.Errorf("%s of the %s: %s, want %s, got %s in %s", e.Requirement, e.Side, e.Detail, e.Want, e.Got, e.Wire)
	}
	if len(j.order) > 0 && len(j.order[0].exchanges) > 0 {
		t.Errorf("%d exchanges are kept though all have ended", len(j.order[0].exchanges))
	}
}

// Whatever comes, the judge neither panics nor speaks of requirements that do
// not exist.
func FuzzJudge(f *testing.F) {
	for _, c := range allCases() {
		f.Add(c.trace)
	}
	w := world{}
	var err error
	if w.catalogue, err = Builtin(); err != nil {
		f.Fatal(err)
	}
	if w.set, err = schemas.Load(schemas.Options{}); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		header, events := rawEvents(text)
		j := NewJudge(JudgeOptions{Catalogue: w.catalogue, Schemas: w.set, Header: header, Emit: func(e Evidence) {
			if _, ok := w.catalogue.Get(e.Requirement); !ok {
				t.Errorf("evidence on the unknown requirement %s", e.Requirement)
			}
			if e.Revision == "" {
				t.Errorf("evidence on %s without revision", e.Requirement)
			}
		}})
		for _, e := range events {
			j.Observe(e)
		}
		j.Finish()
		j.Seen()
	})
}

// rawEvents makes events of any text: the first byte of each line says what.
func rawEvents(text string) (trace.Header, []trace.Event) {
	header := trace.Header{}
	var events []trace.Event
	lines := bytes.Split([]byte(text), []byte("\n"))
	for i, line := range lines {
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		e := trace.Event{Seq: int64(i + 1), Conn: "c", From: trace.Client, Kind: trace.KindMessage}
		if line[0] == '<' || line[0] >= '0' && line[0] <= '9' {
			e.From = trace.Server
		}
		if bytes.HasPrefix(lines[0], []byte("http")) {
			header.Transport = trace.StreamableHTTP
			e.Exchange = string(rune('a' + i/3))
		} else {
			header.Transport = trace.Stdio
		}
		switch line[0] {
		case '-', '<', '=':
			e.Data = line[min(2, len(line)):]
			if len(line) > 2 && line[2] == '!' {
				e.Kind = trace.KindNoise
			}
		case 'e', 'k':
			e.Kind, e.End = trace.KindClosed, &trace.End{How: "eof"}
		case 'P', 'G', 'D':
			e.Kind, e.HTTP = trace.KindHTTP, &trace.Head{Method: string(bytes.Fields(line)[0]), URL: "/mcp", Headers: [][2]string{{"Mcp-Session-Id", string(line)}}}
		case '2', '4', '5':
			e.Kind, e.HTTP = trace.KindHTTP, &trace.Head{Status: int(line[0]-'0') * 100, Headers: [][2]string{{"Content-Type", "text/event-stream"}, {"Mcp-Session-Id", string(line)}}}
		default:
			e.Kind, e.Data, e.SSE = trace.KindSSE, line, &trace.SSE{}
		}
		events = append(events, e)
	}
	return header, events
}
