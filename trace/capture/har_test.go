package capture_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcp-conform/mcp-conform/trace"
	"github.com/mcp-conform/mcp-conform/trace/capture"
)

// exchange is what a test says of one entry; har writes it as a browser would.
type exchange struct {
	at, ms        int // start and duration in milliseconds
	method, url   string
	body          string
	status        int
	kind, content string
	edit          func(entry map[string]any)
}

const mcp = "http://127.0.0.1:3000/mcp"

func post(at, ms int, body, content string) exchange {
	kind := "application/json"
	if strings.Contains(content, "data:") {
		kind = "text/event-stream; charset=utf-8"
	}
	status := 200
	if content == "" {
		status = 202
	}
	return exchange{at: at, ms: ms, method: "POST", url: mcp, body: body, status: status, kind: kind, content: content}
}

func (x exchange) entry() map[string]any {
	request := map[string]any{"method": x.method, "url": x.url, "httpVersion": "HTTP/2", "bodySize": len(x.body),
		"headers": []any{map[string]any{"name": ":method", "value": x.method}, map[string]any{"name": "accept", "value": "*/*"}}}
	if x.body != "" {
		request["postData"] = map[string]any{"mimeType": "application/json", "text": x.body}
	}
	e := map[string]any{
		"startedDateTime": time.Date(2026, 1, 2, 3, 4, 5, x.at*1e6, time.UTC).Format(time.RFC3339Nano), "time": x.ms,
		"request": request,
		"response": map[string]any{"status": x.status, "headers": []any{map[string]any{"name": "content-type", "value": x.kind}}, "bodySize": -1,
			"content": map[string]any{"size": len(x.content), "mimeType": x.kind, "text": x.content}},
		"timings": map[string]any{"blocked": -1, "send": 0, "wait": 1, "receive": 1},
	}
	if x.edit != nil {
		x.edit(e)
	}
	return e
}

func archive(t testing.TB, exchanges ...exchange) string {
	t.Helper()
	entries := []any{}
	for _, x := range exchanges {
		entries = append(entries, x.entry())
	}
	b, err := json.MarshalIndent(map[string]any{"log": map[string]any{"version": "1.2", "creator": map[string]any{"name": "t"}, "entries": entries, "pages": []any{}}}, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func readHAR(t testing.TB, exchanges ...exchange) (trace.Header, []string) {
	t.Helper()
	h, got, err := read(t, put(t, archive(t, exchanges...)), capture.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return h, got
}

func at(x exchange, path string, v any) exchange {
	x.edit = func(e map[string]any) {
		keys := strings.Split(path, ".")
		for _, k := range keys[:len(keys)-1] {
			e = e[k].(map[string]any)
		}
		e[keys[len(keys)-1]] = v
	}
	return x
}

func TestHAR(t *testing.T) {
	h, got := readHAR(t,
		exchange{method: "GET", url: "http://127.0.0.1:3000/app.js", status: 200, kind: "text/javascript", content: "{}"},
		exchange{method: "OPTIONS", url: mcp, status: 204},
		post(10, 5, initialize, initResult),
		post(20, 5, initialzd, ""),
		exchange{at: 25, ms: 1, method: "OPTIONS", url: mcp, status: 204},
		exchange{at: 26, ms: 1, method: "GET", url: mcp, status: 405, kind: "text/plain", content: "no"},
		exchange{at: 30, ms: 1, method: "DELETE", url: mcp + "?x=1", status: 200},
	)
	same(t, got, []string{
		"c1 x1 -> http POST" + mcp + "0", "c1 x1 -> message " + initialize, "c1 x1 <- http 200", "c1 x1 <- message " + initResult, fmt.Sprintf("c1 x1 <- closed eof %d", len(initResult)),
		"c1 x2 -> http POST" + mcp + "0", "c1 x2 -> message " + initialzd, "c1 x2 <- http 202", "c1 x2 <- closed eof 0",
		"c1 x3 -> http GET" + mcp + "0", "c1 x3 <- http 405", "c1 x3 <- noise no", "c1 x3 <- closed eof 2",
		"c1 x4 -> http DELETE" + mcp + "?x=10", "c1 x4 <- http 200", "c1 x4 <- closed eof 0",
	})
	if h.Made != "import:har" || h.Transport != trace.StreamableHTTP || fmt.Sprint(h.Lacks) != "[bytes order close]" {
		t.Errorf("%+v", h)
	}
}

func TestHARHeadersAndTimes(t *testing.T) {
	s, err := capture.Open(put(t, "\xef\xbb\xbf"+archive(t, post(10, 5, initialize, "data: "+initResult+"\n\n"))), capture.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var e []trace.Event
	for range 5 {
		ev, err := s.Next()
		if err != nil {
			t.Fatal(err)
		}
		e = append(e, ev)
	}
	if fmt.Sprint(e[0].HTTP.Headers) != "[[accept */*]]" {
		t.Errorf("pseudo headers are no headers: %v", e[0].HTTP.Headers)
	}
	ms := func(i int) int { return e[i].Time.Nanosecond() / 1e6 }
	if ms(0) != 10 || ms(2) != 11 || !e[3].Time.IsZero() || ms(4) != 15 || e[3].SSE == nil {
		t.Errorf("times %v, fields %v", e, e[3].SSE)
	}
}

// What was not captured is neither empty nor ended.
func TestHARMissingBodies(t *testing.T) {
	list := `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	answer := `{"jsonrpc":"2.0","id":1,"result":{}}`
	base := post(0, 5, list, answer)
	sse := post(0, 5, list, "data: "+answer+"\n\n")
	cases := []struct {
		name string
		x    exchange
		want []string // after the request
	}{
		{"SSE without content", at(sse, "response.content", map[string]any{"size": 0, "mimeType": "text/event-stream"}), []string{"<- http 200"}},
		{"SSE with a size but no text", at(sse, "response.content", map[string]any{"size": 500, "mimeType": "text/event-stream"}), []string{"<- http 200"}},
		{"SSE, explicit nothing", at(sse, "response", map[string]any{"status": 200, "bodySize": 0, "content": map[string]any{"size": 0, "mimeType": "text/event-stream"}}), []string{"<- http 200"}},
		{"SSE cut", at(sse, "response.content.size", 70000), []string{"<- http 200", "<- message " + answer}},
		{"SSE cut within an event", at(sse, "response.content.text", "data: "+answer+"\n\ndata: {\"js"), []string{"<- http 200", "<- message " + answer, `<- sse {"js`, "<- closed eof 54"}},
		{"SSE still open", at(sse, "time", 0), []string{"<- http 200", "<- message " + answer}},
		{"JSON without text", at(base, "response.content", map[string]any{"size": 30, "mimeType": "application/json"}), []string{"<- http 200"}},
		{"JSON of unknown size", at(base, "response.content", map[string]any{"mimeType": "application/json"}), []string{"<- http 200"}},
		{"JSON cut", at(base, "response.content", map[string]any{"size": 70000, "mimeType": "application/json", "text": answer[:20]}), []string{"<- http 200"}},
		{"JSON, sizes counted otherwise", at(base, "response.content.size", 70000), []string{"<- http 200", "<- message " + answer}},
		{"base64", at(base, "response.content", map[string]any{"size": len(answer), "encoding": "base64", "text": base64.StdEncoding.EncodeToString([]byte(answer))}), []string{"<- http 200", "<- message " + answer, "<- closed eof 36"}},
		{"never answered", at(base, "response", map[string]any{"status": 0}), nil},
		{"aborted", at(base, "response", map[string]any{"status": 0, "_error": "net::ERR_ABORTED"}), []string{"<- closed error 0"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, got := readHAR(t, c.x)
			var want []string
			for _, w := range append([]string{"-> http POST" + mcp + "0", "-> message " + list}, c.want...) {
				want = append(want, "c1 x1 "+w)
			}
			same(t, got, want)
		})
	}
}

func TestHAREmptyAnswerThatIsCertain(t *testing.T) {
	x := at(post(0, 5, initialize, initResult), "response", map[string]any{"status": 200, "bodySize": 0, "content": map[string]any{"size": 0}})
	_, got := readHAR(t, x)
	same(t, got[2:], []string{"c1 x1 <- http 200", "c1 x1 <- closed eof 0"})
}

// A body that was sent but is not in the archive: its exchange would be an
// answer to nothing, and is left out.
func TestHARMissingRequestBody(t *testing.T) {
	x := post(20, 5, initialzd, initResult)
	x.edit = func(e map[string]any) { delete(e["request"].(map[string]any), "postData") }
	_, got := readHAR(t, post(0, 5, initialize, initResult), x)
	if len(got) != 5 {
		t.Errorf("%q", got)
	}
}

// Entries are sorted by start. The long GET stands before the POSTs that its
// messages answer or follow, and answers overlap.
func TestHAROrder(t *testing.T) {
	call := `{"jsonrpc":"2.0","id":1,"method":"tools/call"}`
	sample := `{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage"}`
	sampled := `{"jsonrpc":"2.0","id":1,"result":{"role":"assistant"}}`
	called := `{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`
	roots := `{"jsonrpc":"2.0","id":2,"method":"roots/list"}`
	rooted := `{"jsonrpc":"2.0","id":2,"result":{"roots":[]}}`
	changed := `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`
	_, got := readHAR(t,
		post(0, 5, initialize, initResult),
		exchange{at: 10, ms: 900, method: "GET", url: mcp, status: 200, kind: "text/event-stream", content: "data: " + roots + "\n\ndata: " + changed + "\n\n"},
		post(20, 400, call, "id: a\ndata:\n\ndata: "+sample+"\n\ndata: "+called+"\n\n"),
		post(50, 2, sampled, ""),
		post(60, 2, rooted, ""),
	)
	index := func(exchange, part string) int {
		return slices.IndexFunc(got, func(l string) bool {
			return strings.HasPrefix(l, "c1 "+exchange+" ") && strings.Contains(l, part)
		})
	}
	for _, p := range [][4]string{
		{"x3", call, "x3", sample}, {"x3", sample, "x4", sampled}, {"x4", sampled, "x3", called}, {"x2", roots, "x5", rooted},
		{"x5", rooted, "x2", changed}, {"x3", called, "x2", changed}, {"x3", "closed", "x2", "closed"}, {"x3", "http 200", "x4", sampled}, {"x3", "sse", "x3", sample},
	} {
		if a, b := index(p[0], p[1]), index(p[2], p[3]); a < 0 || b < 0 || a >= b {
			t.Errorf("%s %s (%d) must come before %s %s (%d)\n%s", p[0], p[1], a, p[2], p[3], b, strings.Join(got, "\n"))
		}
	}
}

// The two addresses of the 2024-11-05 transport are one connection.
func TestHARLegacyTransport(t *testing.T) {
	x := post(20, 5, initialize, "")
	x.url = "http://127.0.0.1:3000/messages?sessionId=a"
	h, got := readHAR(t,
		exchange{at: 10, ms: 900, method: "GET", url: "http://127.0.0.1:3000/sse", status: 200, kind: "text/event-stream", content: "event: endpoint\ndata: /messages?sessionId=a\n\ndata: " + initResult + "\n\n"}, x)
	if h.Transport != trace.HTTPSSE || slices.Contains(h.Lacks, trace.LackStart) || len(got) != 9 {
		t.Errorf("%+v %d", h, len(got))
	}
	for _, l := range got {
		if !strings.HasPrefix(l, "c1 ") {
			t.Error(l)
		}
	}
}

func TestHARThatCannotBeRead(t *testing.T) {
	page := exchange{method: "GET", url: "http://h/", status: 200, kind: "text/html", content: "<p>"}
	whole := archive(t, post(0, 5, initialize, initResult), post(10, 5, initialzd, ""), post(20, 5, initialzd, ""))
	cases := []struct {
		name, file, want string
		events           int
	}{
		{"no MCP", archive(t, page, page), "f1: none of the 2 entries of the archive is MCP over HTTP", 0},
		{"no entries", archive(t), "f1: none of the 0 entries", 0},
		{"no array", `{"log": {"version":"1.2"}}`, "not an HTTP Archive: there is no array log.entries", 0},
		{"entries of another type", `{"log": {"entries":{}}}`, "not an HTTP Archive", 0},
		{"cut off early", whole[:40], "the file is truncated after 0 complete entries", 0},
		{"cut off between", whole[:strings.LastIndex(whole, "startedDateTime")], "the file is truncated after 2 complete entries", 9},
		{"not an entry", strings.Replace(whole, `"time": 5`, `"time": "soon"`, 1), "entry 1 of the archive: json: cannot unmarshal string", 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, got, err := read(t, put(t, c.file), capture.Options{})
			if err == nil || !strings.Contains(err.Error(), strings.TrimPrefix(c.want, "f1: ")) || len(got) != c.events {
				t.Errorf("%d events, %v; want %d, %s", len(got), err, c.events, c.want)
			}
		})
	}
}

func FuzzHAR(f *testing.F) {
	f.Add(archive(f, post(0, 5, initialize, "data: "+initResult+"\n\n"), post(3, 5, initialzd, "")))
	f.Fuzz(func(t *testing.T, s string) {
		src, err := capture.Open([]string{"-"}, capture.Options{Format: capture.HAR, Stdin: strings.NewReader(s)})
		if err != nil {
			return
		}
		for {
			if _, err := src.Next(); err != nil {
				if err != io.EOF && !strings.HasPrefix(err.Error(), "standard input: offset ") {
					t.Error(err)
				}
				return
			}
		}
	})
}
