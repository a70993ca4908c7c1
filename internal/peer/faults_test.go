package peer_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/mcp-conform/mcp-conform/internal/peer"
	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

// silence is how long an answer is waited for that a fault may have suppressed.
// Nothing is asserted about time: where everything is answered nobody waits.
const silence = time.Second

// prod is one thing to say to a server: a good request, or one that provokes it.
type prod struct {
	method  string
	params  string // of the request, without _meta
	meta    string // members of _meta beside the required ones
	bare    bool   // no metadata, no headers of the revision
	raw     string // instead of all that
	since   schemas.Revision
	until   schemas.Revision
	headers map[string]string // HTTP only; "" drops one
	verb    string            // HTTP only: not POST
	http    bool              // over HTTP only
	open    bool              // over HTTP, its answer lasts until the session or the server ends
}

const modern = schemas.R20260728

// prods provoke every fault of the server.
func prods() []prod {
	tool := func(name string) string { return fmt.Sprintf(`{"name":%q}`, name) }
	return []prod{
		{method: "tools/list"},
		{method: "ping", until: modern},
		{method: "server/discover", since: modern},
		{method: "server/discover", params: `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"prober-twin","version":"1"}}}`, since: modern},
		{method: "tools/list", params: `{"cursor":"OA.kt9E"}`},
		{method: "tools/list", params: `{"cursor":"nonsense"}`},
		{method: "prompts/list"},
		{method: "resources/list"},
		{method: "resources/read", params: `{"uri":"test://static-text"}`},
		{method: "resources/read", params: `{"uri":"test://nowhere"}`},
		{method: "resources/subscribe", params: `{"uri":"test://static-text"}`, until: modern},
		{method: "prompts/get", params: tool("test_simple_prompt")},
		{method: "prompts/get", params: tool("nobody")},
		{method: "completion/complete", params: `{"ref":{"type":"ref/prompt","name":"test_prompt_with_arguments"},"argument":{"name":"arg1","value":""}}`},
		{method: "logging/setLevel", params: `{"level":"loud"}`, until: modern},
		{method: "logging/setLevel", params: `{"level":"alert"}`, until: modern},
		{method: "tools/call", params: tool("test_logging_tool"), meta: `"io.modelcontextprotocol/logLevel":"loud"`, since: modern},
		{method: "tools/call", params: tool("test_tool_with_logging"), until: modern},
		{method: "tools/call", params: tool("test_simple_text")},
		{method: "tools/call", params: tool("test_tool_with_progress"), meta: `"progressToken":"t"`},
		{method: "tools/call", params: tool("test_structured_content"), since: schemas.R20250618},
		{method: "tools/call", params: tool("test_error_handling")},
		{method: "tools/call", params: tool("nobody")},
		{method: "tools/call", params: `{}`},
		{method: "tools/call", params: `{"name":"test_sampling","arguments":{"prompt":"hello"}}`, until: modern},
		{method: "tools/call", params: `{"name":"test_elicitation","arguments":{"message":"hello"}}`, since: schemas.R20250618, until: modern},
		{method: "tools/call", params: tool("test_list_roots"), until: modern},
		{method: "tools/call", params: tool("test_input_required_result_multiple_inputs"), since: modern},
		{method: "tools/call", params: tool("test_missing_capability"), since: modern},
		{method: "tools/call", params: tool("test_input_required_result_elicitation"), since: modern},
		{method: "tools/call", params: tool("test_input_required_result_sampling"), since: modern},
		{method: "tools/call", params: `{"name":"test_header_param","arguments":{"region":"x"}}`, since: modern},
		{method: "tools/call", params: `{"name":"test_header_param","arguments":{"priority":42}}`, headers: map[string]string{"Mcp-Param-Priority": "42.0"}, since: modern, http: true},
		{method: "prompts/get", params: tool("test_simple_prompt"), headers: map[string]string{"Mcp-Name": "=?base64?dGVzdF9zaW1wbGVfcHJvbXB0?="}, since: modern, http: true},
		{method: "tools/call", params: tool("test_reconnection"), since: schemas.R20251125, until: modern, http: true},
		{method: "tools/call", params: `{"name":"test_input_required_result_tampered_state","requestState":"x","inputResponses":{}}`, since: modern},
		{method: "tools/call", params: `{"name":"test_input_required_result_elicitation","inputResponses":{}}`, since: modern},
		{method: "tools/call", params: `{"name":"test_input_required_result_elicitation","inputResponses":"nonsense"}`, since: modern},
		{method: "tools/call", params: `{"name":"test_input_required_result_elicitation","inputResponses":{"user_name":{"action":"decline"}}}`, since: modern},
		{method: "tools/call", params: `{"name":"test_input_required_result_elicitation","inputResponses":{"user_name":{"action":"accept","content":{"name":"Alice"}},"mcp-conform":{}}}`, since: modern},
		{method: "resources/read", params: `{"uri":"no uri"}`},
		{method: "completion/complete", params: `{"ref":{"type":"ref/prompt","name":"nobody"},"argument":{"name":"a","value":""}}`},
		{method: "tools/call", params: tool("Test_Simple_Text")},
		{method: "no/such/method"},
		{raw: `[{"jsonrpc":"2.0","id":"b","method":"ping"}]`, since: schemas.R20250326, until: schemas.R20250618},
		{raw: `this is no message`},
		{raw: `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"nobody"}}`},
		{raw: `{"jsonrpc":"2.0","method":"notifications/unheard-of"}`},
		{method: "tools/list", params: `{}`, bare: true, since: modern},
		{method: "tools/list", since: modern, params: `{"_meta":{"io.modelcontextprotocol/protocolVersion":"1999-01-01","io.modelcontextprotocol/clientCapabilities":{}}}`,
			headers: map[string]string{"MCP-Protocol-Version": "1999-01-01"}},
		{method: "subscriptions/listen", params: `{"notifications":{"toolsListChanged":true}}`, since: modern, open: true},
		{method: "tools/list", headers: map[string]string{"Mcp-Method": "prompts/list"}, since: modern, http: true},
		{method: "tools/list", headers: map[string]string{"Mcp-Method": ""}, since: modern, http: true},
		{method: "tools/list", headers: map[string]string{"Origin": "http://evil.example.com"}, http: true},
		{method: "tools/list", headers: map[string]string{"Mcp-Session-Id": ""}, until: modern, http: true},
		{method: "tools/list", headers: map[string]string{"MCP-Protocol-Version": "1999-01-01"}, until: modern, http: true},
		{method: "tools/list", headers: map[string]string{"MCP-Protocol-Version": ""}, until: modern, http: true},
		{raw: hello(schemas.R20251125, "{}"), since: modern},
		{verb: "GET", headers: map[string]string{"Last-Event-ID": "2-0"}, until: modern, http: true},
		{verb: "GET", until: modern, http: true, open: true},
		{verb: "GET", since: modern, http: true},
		{verb: "DELETE", until: modern, http: true},
		{method: "ping", until: modern, http: true},
	}
}

// body is the message that a prod sends.
func (p prod) body(rev schemas.Revision, id int) string {
	if p.raw != "" {
		return p.raw
	}
	params := p.params
	if params == "" {
		params = "{}"
	}
	meta := p.meta
	if rev.Stateless() && !p.bare && !strings.Contains(params, "_meta") {
		caps := `{"elicitation":{}}`
		if strings.Contains(params, "multiple_inputs") {
			caps = `{"elicitation":{},"sampling":{},"roots":{}}`
		}
		meta = strings.Trim(meta+`,"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":`+caps, ",")
	}
	if meta != "" {
		params = strings.Replace(params, "{", `{"_meta":{`+meta+"},", 1)
		params = strings.Replace(params, ",}", "}", 1)
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, id, p.method, params)
}

func (p prod) in(rev schemas.Revision) bool { return rev.In(p.since, p.until) }

// handshake opens a session: once offering what the server does not speak, which
// is answered by another connection, and once for good.
func hello(version schemas.Revision, caps string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":%q,"capabilities":%s,"clientInfo":{"name":"prober","version":"1"}}}`, version, caps)
}

const initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`

// replies are what the prober answers to requests of the server.
func replyTo(line string) string {
	var m struct {
		ID     json.RawMessage
		Method string
	}
	if json.Unmarshal([]byte(line), &m) != nil || m.ID == nil || m.Method == "" {
		return ""
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`, m.ID)
}

func isAnswerTo(line, id string) bool {
	var m struct {
		ID     json.RawMessage
		Method *string
	}
	return json.Unmarshal([]byte(line), &m) == nil && m.Method == nil && string(m.ID) == id
}

// prodStdio runs all prods over pipes and returns what came back, sorted.
func prodStdio(t *testing.T, o peer.Options, rev schemas.Revision, caps string) []string {
	t.Helper()
	g := NewWithT(t)
	s, err := peer.NewServer(o)
	g.Expect(err).NotTo(HaveOccurred())
	defer s.Close()
	ctx, stop := context.WithTimeout(t.Context(), within)
	defer stop()
	in, stdin := io.Pipe()
	stdout, out := io.Pipe()
	left := make(chan struct{})
	go func() {
		defer close(left)
		defer out.Close()
		_ = s.ServeStdio(ctx, in, out, nil)
	}()
	heard := make(chan string)
	go func() {
		defer close(heard)
		for sc := bufio.NewScanner(stdout); sc.Scan(); {
			heard <- sc.Text()
		}
	}()
	var got []string
	say := func(line string, id string) {
		written := make(chan struct{})
		go func() { defer close(written); fmt.Fprintln(stdin, line) }()
		deadline := time.After(silence)
		for answered := id == ""; written != nil || !answered; {
			select {
			case <-written:
				written = nil
			case l := <-heard:
				got = append(got, changing.ReplaceAllString(l, "ID"))
				if r := replyTo(l); r != "" {
					go fmt.Fprintln(stdin, r)
				}
				answered = answered || isAnswerTo(l, id)
			case <-deadline:
				return
			}
		}
	}
	if !rev.Stateless() {
		say(hello(rev, caps), `"hello"`)
		say(initialized, "")
	}
	for i, p := range prods() {
		if p.in(rev) && !p.http {
			id := fmt.Sprint(i + 1)
			if p.raw != "" || p.method == "subscriptions/listen" {
				id = ""
			}
			say(p.body(rev, i+1), id)
		}
	}
	slow := prod{method: "tools/call", params: `{"name":"test_slow_tool","arguments":{"milliseconds":50000}}`}
	say(slow.body(rev, 900), "")
	say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":900}}`, "")
	go stdin.Close()
	deadline := time.After(3 * silence)
	for open := true; open; {
		select {
		case l, ok := <-heard:
			if open = ok; ok {
				got = append(got, l)
			}
		case <-deadline:
			got = append(got, "the server stays")
			open = false
		}
	}
	stop()
	stdout.Close()
	for range heard {
	}
	<-left
	slices.Sort(got)
	return got
}

// changing matches what differs from run to run: session ids and the expiry in
// a requestState.
var changing = regexp.MustCompile(`[A-Z2-7]{26}|"requestState":"[^"]*"`)

// prodHTTP runs all prods over HTTP and returns what came back.
func prodHTTP(t *testing.T, o peer.Options, rev schemas.Revision, caps string) []string {
	t.Helper()
	g := NewWithT(t)
	s, err := peer.NewServer(o)
	g.Expect(err).NotTo(HaveOccurred())
	hs := httptest.NewServer(s.Handler())
	defer hs.Close()
	defer s.Close()
	session := ""
	do := func(p prod, body string, begun func()) string {
		ctx, stop := context.WithTimeout(t.Context(), silence)
		if p.open {
			ctx, stop = context.WithTimeout(t.Context(), within)
		}
		defer stop()
		verb := p.verb
		if verb == "" {
			verb = "POST"
		}
		r, err := http.NewRequestWithContext(ctx, verb, hs.URL+"/mcp", strings.NewReader(body))
		g.Expect(err).NotTo(HaveOccurred())
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		var m struct{ Params struct{ Name, URI string } }
		_ = json.Unmarshal([]byte(body), &m)
		if rev.Stateless() {
			r.Header.Set("MCP-Protocol-Version", string(rev))
			r.Header.Set("Mcp-Method", p.method)
			if name := m.Params.Name + m.Params.URI; name != "" {
				r.Header.Set("Mcp-Name", name)
			}
		} else if session != "" {
			r.Header.Set("Mcp-Session-Id", session)
			r.Header.Set("MCP-Protocol-Version", string(rev))
		}
		for k, v := range p.headers {
			r.Header.Set(k, v)
			if v == "" {
				r.Header.Del(k)
			}
		}
		resp, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			begun()
			return "no answer"
		}
		defer resp.Body.Close()
		begun()
		if id := resp.Header.Get("Mcp-Session-Id"); id != "" && session == "" {
			session = id
		}
		var text bytes.Buffer
		for sc := bufio.NewScanner(resp.Body); sc.Scan(); {
			l, data := strings.CutPrefix(sc.Text(), "data: ")
			fmt.Fprintln(&text, sc.Text())
			if reply := replyTo(l); data && reply != "" && !rev.Stateless() {
				ar, _ := http.NewRequestWithContext(ctx, "POST", hs.URL+"/mcp", strings.NewReader(reply))
				ar.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "Mcp-Session-Id": {session}}
				if a, err := http.DefaultTransport.RoundTrip(ar); err == nil {
					a.Body.Close()
				}
			}
		}
		end := "ended"
		if ctx.Err() != nil {
			end = "open"
		}
		return changing.ReplaceAllString(fmt.Sprintf("%s %s: %d %s buffering %q session %q\n%s(%s)", verb, p.method, resp.StatusCode,
			resp.Header.Get("Content-Type"), resp.Header.Get("X-Accel-Buffering"), resp.Header.Get("Mcp-Session-Id"), text.String(), end), "ID")
	}
	var got []string
	if !rev.Stateless() {
		got = append(got, do(prod{}, hello(rev, caps), func() {}), do(prod{}, initialized, func() {}))
	}
	var open []chan string
	for i, p := range prods() {
		switch {
		case !p.in(rev):
		case p.open:
			begun, done := make(chan struct{}), make(chan string, 1)
			go func() { done <- do(p, p.body(rev, i+1), sync.OnceFunc(func() { close(begun) })) }()
			select {
			case <-begun:
			case <-time.After(silence): // a fault keeps even the head back
			}
			open = append(open, done)
		default:
			got = append(got, do(p, p.body(rev, i+1), func() {}))
		}
	}
	s.Close()
	for _, done := range open {
		got = append(got, <-done)
	}
	return got
}

// special says which circumstances a fault of the server needs to show.
func special(fault string, o *peer.Options, rev *schemas.Revision, caps *string) {
	switch fault {
	case "undeclared-capability-used":
		*caps = "{}"
	case "any-version-echoed", "oldest-version-offered":
		o.Revisions = slices.DeleteFunc(schemas.Revisions(), func(r schemas.Revision) bool { return r == schemas.R20251125 })
	case "version-not-echoed":
		*rev = schemas.R20250618
	case "versions-not-named":
		o.Revisions = []schemas.Revision{modern}
	}
}

// difference is the first line in which two runs differ.
func difference(a, b []string) string {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return a[i] + "\n---\n" + b[i]
		}
	}
	return "the length"
}

func newest(f peer.Fault, t trace.Transport) (schemas.Revision, bool) {
	rs := schemas.Revisions()
	slices.Reverse(rs)
	i := slices.IndexFunc(rs, func(r schemas.Revision) bool { return f.Shows(r, t) })
	if i < 0 {
		return "", false
	}
	return rs[i], true
}

// memo remembers what a good server does, by the circumstances.
func memo() func(key string, run func() []string) []string {
	var mu sync.Mutex
	known := map[string]func() []string{}
	return func(key string, run func() []string) []string {
		mu.Lock()
		once := known[key]
		if once == nil {
			once = sync.OnceValue(run)
			known[key] = once
		}
		mu.Unlock()
		return once()
	}
}

func TestEveryServerFaultShows(t *testing.T) {
	clean := memo()
	prodders := map[trace.Transport]func(*testing.T, peer.Options, schemas.Revision, string) []string{
		trace.Stdio: prodStdio, trace.StreamableHTTP: prodHTTP,
	}
	for _, f := range peer.Faults() {
		if f.Side != trace.Server || slices.Contains(f.Transports, trace.HTTPSSE) {
			continue
		}
		for transport, run := range prodders {
			rev, ok := newest(f, transport)
			if !ok {
				continue
			}
			t.Run(f.Name+" over "+string(transport), func(t *testing.T) {
				t.Parallel()
				g := NewWithT(t)
				o, caps := peer.Options{Page: 100}, `{"sampling":{},"roots":{},"elicitation":{}}`
				special(f.Name, &o, &rev, &caps)
				good := clean(fmt.Sprint(transport, o, rev, caps), func() []string {
					first, again := run(t, o, rev, caps), run(t, o, rev, caps)
					g.Expect(slices.Equal(first, again)).To(BeTrue(), "a good server does the same again: %s", difference(first, again))
					return first
				})
				o.Faults = []string{f.Name}
				g.Expect(slices.Equal(good, run(t, o, rev, caps))).To(BeFalse(), "the fault changes nothing in %s", rev)
			})
		}
	}
}
