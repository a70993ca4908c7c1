package peer_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/mcp-conform/mcp-conform/internal/peer"
	"github.com/mcp-conform/mcp-conform/schemas"
)

// pipes is a client that says what a test tells it to.
type pipes struct {
	t     *testing.T
	in    *io.PipeWriter
	lines chan string
}

func openPipes(t *testing.T, o peer.Options) *pipes {
	t.Helper()
	s, err := peer.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	in, w := io.Pipe()
	r, out := io.Pipe()
	served := make(chan error, 1)
	go func() {
		served <- s.ServeStdio(context.Background(), in, out, nil)
		out.Close()
	}()
	p := &pipes{t: t, in: w, lines: make(chan string, 100)}
	go func() {
		defer close(p.lines)
		for sc := bufio.NewScanner(r); sc.Scan(); {
			p.lines <- sc.Text()
		}
	}()
	t.Cleanup(func() {
		w.Close()
		if err := <-served; err != nil {
			t.Errorf("serving ended with %v", err)
		}
		s.Close()
	})
	return p
}

func (p *pipes) say(format string, args ...any) {
	p.t.Helper()
	if _, err := fmt.Fprintf(p.in, format+"\n", args...); err != nil {
		p.t.Fatal(err)
	}
}

// hear returns the next line, which must contain all the parts.
func (p *pipes) hear(parts ...string) string {
	p.t.Helper()
	ctx, stop := context.WithTimeout(p.t.Context(), within)
	defer stop()
	select {
	case l, ok := <-p.lines:
		for _, part := range parts {
			if !ok || !strings.Contains(l, part) {
				p.t.Fatalf("heard %q, which does not contain %q", l, part)
			}
		}
		return l
	case <-ctx.Done():
		p.t.Fatalf("heard nothing that contains %q", parts)
		return ""
	}
}

func (p *pipes) handshake(rev schemas.Revision, caps string) {
	p.t.Helper()
	p.say("%s", hello(rev, caps))
	p.hear(`"protocolVersion":"` + string(rev) + `"`)
	p.say(initialized)
}

const stateless = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{},"sampling":{},"roots":{}}}`

func TestASlowToolDelaysNothing(t *testing.T) {
	p := openPipes(t, peer.Options{})
	p.handshake(schemas.R20251125, "{}")
	p.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"test_slow_tool","arguments":{"milliseconds":60000},"_meta":{"progressToken":"p"}}}`)
	p.hear(`"progressToken":"p"`)
	p.say(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
	p.hear(`"id":2`, `"result":{}`)
	p.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	p.say(`{"jsonrpc":"2.0","id":3,"method":"ping"}`)
	p.hear(`"id":3`) // and no answer to the cancelled call before it
}

func TestACancelledRequestIsNeverAnswered(t *testing.T) {
	for _, meta := range []string{`"_meta":{"progressToken":1}`, strings.Replace(stateless, "{", `{"progressToken":1,`, 1)} {
		p := openPipes(t, peer.Options{})
		p.handshake(schemas.R20251125, "{}")
		p.say(`{"jsonrpc":"2.0","id":"slow","method":"tools/call","params":{"name":"test_slow_tool","arguments":{"milliseconds":60000},%s}}`, meta)
		p.hear(`"progressToken":1`)
		p.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"slow","reason":"enough"}}`)
		p.in.Close()
		for l := range p.lines {
			t.Errorf("heard %s", l)
		}
	}
}

func TestTheServerAsksOnlyAfterInitialized(t *testing.T) {
	p := openPipes(t, peer.Options{})
	p.say("%s", hello(schemas.R20251125, `{"sampling":{}}`))
	p.hear(`"id":"hello"`)
	p.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"test_sampling","arguments":{"prompt":"hi"}}}`)
	p.say(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
	p.hear(`"id":2`) // the request to the client waits
	p.say(initialized)
	p.hear(`"method":"sampling/createMessage"`, `"maxTokens":100`)
	p.say(`{"jsonrpc":"2.0","id":1,"result":{"role":"assistant","model":"m","content":{"type":"text","text":"hello"}}}`)
	p.hear(`"LLM response: hello"`)
}

func TestAClientThatDoesNotAnswerIsGivenUp(t *testing.T) {
	p := openPipes(t, peer.Options{Patience: 1})
	p.handshake(schemas.R20251125, `{"roots":{}}`)
	p.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"test_list_roots"}}`)
	for l := p.hear(); !strings.Contains(l, `"isError":true`); l = p.hear() {
		if !strings.Contains(l, `"roots/list"`) && !strings.Contains(l, `"notifications/cancelled"`) {
			t.Errorf("heard %s", l)
		}
	}
}

func TestBothErasShareOnePairOfPipes(t *testing.T) {
	p := openPipes(t, peer.Options{})
	p.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"test_simple_text",%s}}`, stateless)
	p.hear(`"id":1`, `"resultType":"complete"`)
	p.handshake(schemas.R20250618, "{}")
	p.say(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
	p.hear(`"id":2`, `"result":{}`)
	p.say(`{"jsonrpc":"2.0","id":3,"method":"ping","params":{%s}}`, stateless)
	p.hear(`"id":3`, `-32601`)
	p.say(`{"jsonrpc":"2.0","id":4,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2099-01-01","io.modelcontextprotocol/clientCapabilities":{}}}}`)
	p.hear(`"id":4`, `-32022`, `"supported":["2026-07-28"]`, `"requested":"2099-01-01"`)
}

func TestMalformedMessages(t *testing.T) {
	for sent, want := range map[string][]string{
		`{`:                          {`-32700`},
		"\"\xff\"":                   {`-32700`},
		`"text"`:                     {`-32600`},
		`[]`:                         {`-32600`},
		`[{"jsonrpc":"2.0","id":1}]`: {`-32600`},
		`{"id":1,"method":"ping"}`:   {`-32600`, `"id":1`},
		`{"jsonrpc":"1.0","id":"a","method":"ping"}`:                                                        {`-32600`, `"id":"a"`},
		`{"jsonrpc":"2.0","id":null,"method":"ping"}`:                                                       {`-32600`},
		`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`:                                                        {`-32600`},
		`{"jsonrpc":"2.0","id":1,"method":7}`:                                                               {`-32600`, `"id":1`},
		`{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}`:                                              {`-32602`, `"id":1`},
		`{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}`:                                              {`-32600`, `"id":1`},
		`{"jsonrpc":"2.0","id":12345678901234567890123,"method":"ping"}`:                                    {`"id":12345678901234567890123`, `"result":{}`},
		`{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\r":                                                   {`"id":1`, `"result":{}`},
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"Name":"test_simple_text"}}`:               {`-32602`},
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"test_add","arguments":[]}}`:        {`-32602`},
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"test_add","arguments":{"a":"b"}}}`: {`"isError":true`},
		`{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"test_prompt_with_arguments"}}`:    {`-32602`, `arg1`},
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`:                                        {`-32600`, `already`},
	} {
		t.Run(sent, func(t *testing.T) {
			p := openPipes(t, peer.Options{})
			p.handshake(schemas.R20251125, "{}")
			p.say("%s", sent)
			p.hear(want...)
		})
	}
}

func TestNotificationsAreNeverAnswered(t *testing.T) {
	p := openPipes(t, peer.Options{})
	p.handshake(schemas.R20251125, "{}")
	p.say(`{"jsonrpc":"2.0","method":"notifications/unheard-of"}`)
	p.say(`{"jsonrpc":"2.0","method":"tools/call","params":{"name":"test_simple_text"}}`)
	p.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":[]}`)
	p.say(`{"jsonrpc":"2.0","id":9,"method":"ping"}`)
	p.hear(`"id":9`)
}

func TestBatchesInTheirOneRevision(t *testing.T) {
	p := openPipes(t, peer.Options{})
	p.handshake(schemas.R20250326, "{}")
	p.say(`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/unheard-of"},{"jsonrpc":"2.0","id":2,"method":"no/method"},5]`)
	var answers []map[string]any
	if err := json.Unmarshal([]byte(p.hear()), &answers); err != nil || len(answers) != 3 {
		t.Errorf("%v, %v", answers, err)
	}
	p.say(`[{"jsonrpc":"2.0","method":"notifications/unheard-of"}]`)
	p.say(`{"jsonrpc":"2.0","id":3,"method":"ping"}`)
	p.hear(`"id":3`)
}

func TestChangesAreTold(t *testing.T) {
	const update = `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"test_update_watched_resource"}}`
	p := openPipes(t, peer.Options{})
	p.handshake(schemas.R20251125, "{}")
	p.say(update, 1)
	p.hear(`"id":1`) // nobody has subscribed
	p.say(`{"jsonrpc":"2.0","id":2,"method":"resources/subscribe","params":{"uri":"test://watched-resource"}}`)
	p.hear(`"id":2`)
	p.say(update, 3)
	p.hear(`"notifications/resources/updated"`, `"uri":"test://watched-resource"`)
	p.hear(`"id":3`)
	p.say(`{"jsonrpc":"2.0","id":"s","method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true,"promptsListChanged":false,"resourceSubscriptions":["test://watched-resource","test://nowhere"]},%s}}`, stateless)
	p.hear(`"notifications/subscriptions/acknowledged"`, `"notifications":{"resourceSubscriptions":["test://watched-resource"],"toolsListChanged":true}`, `"io.modelcontextprotocol/subscriptionId":"s"`)
	p.say(`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"test_trigger_tool_change",%s}}`, stateless)
	heard := p.hear() + p.hear()
	for _, want := range []string{`"io.modelcontextprotocol/subscriptionId":"s"`, `"method":"notifications/tools/list_changed"}`} {
		if !strings.Contains(heard, want) {
			t.Errorf("heard %s, without %s", heard, want)
		}
	}
	p.hear(`"id":4`)
	p.say(`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"test_trigger_prompt_change",%s}}`, stateless)
	p.hear(`"method":"notifications/prompts/list_changed"}`) // the session's, not the subscription's
	p.hear(`"id":5`)
	p.in.Close()
	p.hear(`"notifications/cancelled"`, `"requestId":"s"`)
	p.hear(`"id":"s"`, `"resultType":"complete"`, `"io.modelcontextprotocol/subscriptionId":"s"`)
}

// result calls a tool of the stateless era and returns the result or error.
func (p *pipes) result(name, more string) (result, failure map[string]any) {
	p.t.Helper()
	if more != "" {
		more = "," + more
	}
	p.say(`{"jsonrpc":"2.0","id":"r","method":"tools/call","params":{"name":%q,%s%s}}`, name, stateless, more)
	var m struct{ Result, Error map[string]any }
	if err := json.Unmarshal([]byte(p.hear()), &m); err != nil {
		p.t.Fatal(err)
	}
	return m.Result, m.Error
}

func TestInputIsAskedForUntilItIsThere(t *testing.T) {
	const tool = "test_input_required_result_elicitation"
	p := openPipes(t, peer.Options{})
	g := NewWithT(t)
	for _, incomplete := range []string{"", `"inputResponses":{}`, `"inputResponses":{"other":{"action":"accept"}}`} {
		r, _ := p.result(tool, incomplete)
		g.Expect(r).To(HaveKeyWithValue("resultType", "input_required"), incomplete)
		g.Expect(r["inputRequests"]).To(HaveKey("user_name"))
		g.Expect(r).NotTo(HaveKey("ttlMs"))
	}
	for _, bad := range []string{`null`, `[]`, `{"user_name":12345}`, `{"user_name":{"action":"perhaps"}}`, `{"user_name":{"action":"accept","content":{}}}`} {
		_, e := p.result(tool, `"inputResponses":`+bad)
		g.Expect(e).To(HaveKeyWithValue("code", -32602.0), bad)
	}
	r, _ := p.result(tool, `"inputResponses":{"user_name":{"action":"accept","content":{"name":"Alice"}},"extra":{}}`)
	g.Expect(r).To(HaveKeyWithValue("resultType", "complete"))
	g.Expect(fmt.Sprint(r["content"])).To(ContainSubstring("Hello, Alice!"))
}

func TestRequestStateIsBoundToItsRequest(t *testing.T) {
	const answers = `"inputResponses":{"confirm":{"action":"accept","content":{"ok":true}}}`
	p := openPipes(t, peer.Options{})
	g := NewWithT(t)
	r, _ := p.result("test_input_required_result_tampered_state", "")
	state, _ := r["requestState"].(string)
	g.Expect(state).NotTo(BeEmpty())
	for _, bad := range []string{state + "-TAMPERED", "", "x" + state[1:]} {
		_, e := p.result("test_input_required_result_tampered_state", fmt.Sprintf(`"requestState":%q,%s`, bad, answers))
		g.Expect(e).To(HaveKeyWithValue("code", -32602.0), bad)
	}
	_, e := p.result("test_input_required_result_request_state", fmt.Sprintf(`"requestState":%q,%s`, state, answers))
	g.Expect(e).To(HaveKeyWithValue("code", -32602.0), "the state of another tool")
	other := openPipes(t, peer.Options{}) // another process: the state is all there is
	r, _ = other.result("test_input_required_result_tampered_state", fmt.Sprintf(`"requestState":%q,%s`, state, answers))
	g.Expect(fmt.Sprint(r["content"])).To(ContainSubstring("integrity-ok: state verified"))
}

func TestOnlyDeclaredInputIsAskedFor(t *testing.T) {
	p := openPipes(t, peer.Options{})
	const caps = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"sampling":{}}}`
	p.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"test_input_required_result_capabilities",%s}}`, caps)
	if l := p.hear(`"sampling/createMessage"`); strings.Contains(l, "elicitation") || strings.Contains(l, "roots") {
		t.Errorf("heard %s", l)
	}
	p.say(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"test_input_required_result_elicitation",%s}}`, caps)
	p.hear(`-32021`, `"requiredCapabilities":{"elicitation":{"form":{}}}`)
}

func TestPagesMakeUpTheWholeListOnce(t *testing.T) {
	for _, size := range []int{1, 2, 3, 100} {
		g := NewWithT(t)
		p := openPipes(t, peer.Options{Page: size})
		p.handshake(schemas.R20251125, "{}")
		names := map[string]int{}
		pages := 0
		for cursor := "{}"; cursor != ""; pages++ {
			p.say(`{"jsonrpc":"2.0","id":1,"method":"prompts/list","params":%s}`, cursor)
			var m struct {
				Result struct {
					Prompts    []struct{ Name string }
					NextCursor *string
				}
			}
			g.Expect(json.Unmarshal([]byte(p.hear()), &m)).To(Succeed())
			for _, x := range m.Result.Prompts {
				names[x.Name]++
			}
			cursor = ""
			if m.Result.NextCursor != nil {
				cursor = fmt.Sprintf(`{"cursor":%q}`, *m.Result.NextCursor)
				p.say(`{"jsonrpc":"2.0","id":2,"method":"tools/list","params":%s}`, cursor)
				p.hear("-32602") // the cursor of another list
			}
		}
		g.Expect(names).To(HaveLen(4))
		g.Expect(names).To(HaveEach(1))
		g.Expect(pages).To(Equal((4 + size - 1) / size))
	}
}

func TestNothingButMessagesGoesOut(t *testing.T) {
	p := openPipes(t, peer.Options{})
	p.say("garbage")
	p.say("")
	p.say(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`)
	p.hear("-32700")
	p.hear("-32602")
	p.in.Close()
	for l := range p.lines {
		t.Errorf("heard %s", l)
	}
}

// post sends one message over HTTP.
func post(t *testing.T, url, body string, headers ...string) *http.Response {
	t.Helper()
	return exchange(t, http.MethodPost, url, body, headers...)
}

func exchange(t *testing.T, method, url, body string, headers ...string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
		if headers[i] == "Host" {
			r.Host = headers[i+1]
		}
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

func serveHTTP(t *testing.T, o peer.Options) string {
	t.Helper()
	s, err := peer.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	hs := httptest.NewServer(s.Handler())
	t.Cleanup(func() {
		s.Close()
		hs.Close()
	})
	return hs.URL + "/mcp"
}

func openSession(t *testing.T, url string, rev schemas.Revision) string {
	t.Helper()
	resp := post(t, url, hello(rev, "{}"))
	id := resp.Header.Get("Mcp-Session-Id")
	if resp.StatusCode != 200 || id == "" {
		t.Fatalf("status %d, session %q", resp.StatusCode, id)
	}
	if resp = post(t, url, initialized, "Mcp-Session-Id", id); resp.StatusCode != 202 {
		t.Fatalf("initialized: status %d", resp.StatusCode)
	}
	return id
}

func TestHTTPStatuses(t *testing.T) {
	url := serveHTTP(t, peer.Options{})
	id := openSession(t, url, schemas.R20251125)
	gone := openSession(t, url, schemas.R20251125)
	if resp := exchange(t, "DELETE", url, "", "Mcp-Session-Id", gone); resp.StatusCode != 204 {
		t.Errorf("DELETE: status %d", resp.StatusCode)
	}
	const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	list := `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + stateless + `}}`
	call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"test_header_param","arguments":{"region":"Hello","priority":42},` + stateless + `}}`
	now := func(more ...string) []string {
		return append([]string{"MCP-Protocol-Version", "2026-07-28"}, more...)
	}
	called := func(region, priority string) []string {
		return now("mcp-method", "tools/call", "MCP-NAME", "test_header_param", "Mcp-Param-Region", region, "Mcp-Param-Priority", priority)
	}
	for name, c := range map[string]struct {
		method, body string
		headers      []string
		status       int
		text         string
	}{
		"a request":                   {"POST", ping, []string{"Mcp-Session-Id", id}, 200, `"result":{}`},
		"a notification":              {"POST", initialized, []string{"Mcp-Session-Id", id}, 202, ""},
		"a response":                  {"POST", `{"jsonrpc":"2.0","id":7,"result":{}}`, []string{"Mcp-Session-Id", id}, 202, ""},
		"no message":                  {"POST", `{`, []string{"Mcp-Session-Id", id}, 400, "-32700"},
		"a batch":                     {"POST", "[" + ping + "]", []string{"Mcp-Session-Id", id}, 400, "-32600"},
		"no session":                  {"POST", ping, nil, 400, `"id":1`},
		"an ended session":            {"POST", ping, []string{"Mcp-Session-Id", gone}, 404, ""},
		"GET in an ended session":     {"GET", "", []string{"Mcp-Session-Id", gone}, 404, ""},
		"DELETE of an ended session":  {"DELETE", "", []string{"Mcp-Session-Id", gone}, 404, ""},
		"a bad version":               {"POST", ping, []string{"Mcp-Session-Id", id, "MCP-Protocol-Version", "1999-01-01"}, 400, ""},
		"a foreign origin":            {"POST", ping, []string{"Mcp-Session-Id", id, "Origin", "http://evil.example.com"}, 403, ""},
		"the origin null":             {"POST", ping, []string{"Mcp-Session-Id", id, "Origin", "null"}, 403, ""},
		"a local origin":              {"POST", ping, []string{"Mcp-Session-Id", id, "Origin", "http://localhost:8080"}, 200, ""},
		"a foreign host":              {"POST", ping, []string{"Mcp-Session-Id", id, "Host", "evil.example.com"}, 403, ""},
		"another content type":        {"POST", ping, []string{"Mcp-Session-Id", id, "Content-Type", "text/plain"}, 415, ""},
		"JSON only":                   {"POST", ping, []string{"Mcp-Session-Id", id, "Accept", "application/json"}, 406, ""},
		"an unknown event":            {"GET", "", []string{"Mcp-Session-Id", id, "Last-Event-ID", "77-1"}, 400, ""},
		"PUT":                         {"PUT", ping, []string{"Mcp-Session-Id", id}, 405, ""},
		"stateless":                   {"POST", list, now("Mcp-Method", "tools/list"), 200, `"resultType":"complete"`},
		"stateless with a session id": {"POST", list, now("Mcp-Method", "tools/list", "Mcp-Session-Id", gone), 200, ""},
		"without version header":      {"POST", list, []string{"Mcp-Method", "tools/list"}, 400, "-32020"},
		"another version header":      {"POST", list, []string{"MCP-Protocol-Version", "2025-11-25", "Mcp-Method", "tools/list"}, 400, "-32020"},
		"without Mcp-Method":          {"POST", list, now(), 400, "-32020"},
		"Mcp-Method in capitals":      {"POST", list, now("Mcp-Method", "TOOLS/LIST"), 400, "-32020"},
		"without metadata":            {"POST", ping, now("Mcp-Method", "ping"), 400, "-32602"},
		"an unsupported version":      {"POST", strings.Replace(list, "2026-07-28", "2099-01-01", 1), []string{"MCP-Protocol-Version", "2099-01-01", "Mcp-Method", "tools/list"}, 400, "-32022"},
		"a removed method":            {"POST", strings.Replace(list, "tools/list", "ping", 1), now("Mcp-Method", "ping"), 404, "-32601"},
		"stateless GET":               {"GET", "", now(), 405, ""},
		"stateless DELETE":            {"DELETE", "", now(), 405, ""},
		"a response in the newer era": {"POST", `{"jsonrpc":"2.0","id":7,"result":{}}`, now(), 400, ""},
		"a notification in that era":  {"POST", `{"jsonrpc":"2.0","method":"notifications/unheard-of"}`, now(), 202, ""},
		"mirrored arguments":          {"POST", call, called("Hello", "42"), 200, "The headers match"},
		"encoded":                     {"POST", call, called("=?base64?SGVsbG8=?=", "42.0"), 200, "The headers match"},
		"badly padded":                {"POST", call, called("=?base64?SGVsbG8?=", "42"), 400, "-32020"},
		"illegal Base64":              {"POST", call, called("=?base64?SGVs!G8=?=", "42"), 400, "-32020"},
		"without the full mark":       {"POST", call, called("=?base64?SGVsbG8=", "42"), 400, "-32020"},
		"another argument":            {"POST", call, called("Hello", "43"), 400, "-32020"},
		"mirrored arguments missing":  {"POST", call, now("Mcp-Method", "tools/call", "Mcp-Name", "test_header_param"), 400, "-32020"},
		"another name":                {"POST", call, now("Mcp-Method", "tools/call", "Mcp-Name", "test_add"), 400, "-32020"},
		"a missing capability":        {"POST", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"test_missing_capability","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`, now("Mcp-Method", "tools/call", "Mcp-Name", "test_missing_capability"), 400, "-32021"},
	} {
		t.Run(name, func(t *testing.T) {
			resp := exchange(t, c.method, url, c.body, c.headers...)
			body, err := io.ReadAll(resp.Body)
			if resp.StatusCode != c.status || err != nil || !strings.Contains(string(body), c.text) {
				t.Errorf("status %d, want %d with %q: %s (%v)", resp.StatusCode, c.status, c.text, body, err)
			}
			if c.status == 202 && len(body) > 0 {
				t.Errorf("a body: %s", body)
			}
			if resp.Header.Get("Mcp-Session-Id") != "" {
				t.Error("a session id that no handshake asked for")
			}
		})
	}
}

func TestAServerOfOneEraOnly(t *testing.T) {
	modernOnly := serveHTTP(t, peer.Options{Revisions: []schemas.Revision{modern}})
	for _, c := range []struct {
		method, body string
		status       int
		text         string
	}{
		{"GET", "", 405, ""}, {"DELETE", "", 405, ""},
		{"POST", hello(schemas.R20251125, "{}"), 400, `"supported":["2026-07-28"]`},
	} {
		resp := exchange(t, c.method, modernOnly, c.body)
		body, _ := io.ReadAll(resp.Body)
		if resp.StatusCode != c.status || !strings.Contains(string(body), c.text) {
			t.Errorf("%s: status %d: %s", c.method, resp.StatusCode, body)
		}
	}
	legacyOnly := openPipes(t, peer.Options{Revisions: schemas.Revisions()[:4]})
	legacyOnly.say(`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{%s}}`, stateless)
	legacyOnly.hear(`"error"`, `"id":1`)
	legacyOnly.say("%s", hello("2099-01-01", "{}"))
	legacyOnly.hear(`"protocolVersion":"2025-11-25"`)
}

func TestAStreamIsTakenUpWhereItBrokeOff(t *testing.T) {
	url := serveHTTP(t, peer.Options{})
	id := openSession(t, url, schemas.R20251125)
	resp := post(t, url, `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"test_reconnection"}}`, "Mcp-Session-Id", id)
	first, err := io.ReadAll(resp.Body)
	if err != nil || strings.Contains(string(first), `"id":5`) || !strings.Contains(string(first), "retry: ") || !strings.HasPrefix(string(first), "id: ") {
		t.Fatalf("%s (%v)", first, err)
	}
	event := strings.TrimPrefix(strings.SplitN(string(first), "\n", 2)[0], "id: ")
	for range 2 { // as often as one likes
		resp = exchange(t, "GET", url, "", "Mcp-Session-Id", id, "Last-Event-ID", event)
		rest, err := io.ReadAll(resp.Body)
		if err != nil || strings.Count(string(rest), `"id":5`) != 1 || !strings.Contains(string(rest), "properly reconnected") {
			t.Fatalf("%s (%v)", rest, err)
		}
		if strings.Contains(string(rest), "id: "+event+"\n") {
			t.Errorf("the event %s came again: %s", event, rest)
		}
	}
	stranger := openSession(t, url, schemas.R20251125)
	if resp = exchange(t, "GET", url, "", "Mcp-Session-Id", stranger, "Last-Event-ID", event); resp.StatusCode != 400 {
		t.Errorf("the stream of another session: status %d", resp.StatusCode)
	}
}

func TestHTTPWithSSE(t *testing.T) {
	g := NewWithT(t)
	url := strings.TrimSuffix(serveHTTP(t, peer.Options{}), "/mcp")
	resp := exchange(t, "GET", url+"/sse", "")
	g.Expect(resp.Header.Get("Content-Type")).To(Equal("text/event-stream"))
	events := bufio.NewScanner(resp.Body)
	next := func() string {
		var lines []string
		for events.Scan() && events.Text() != "" {
			lines = append(lines, events.Text())
		}
		return strings.Join(lines, "\n")
	}
	endpoint, ok := strings.CutPrefix(next(), "event: endpoint\ndata: ")
	g.Expect(ok).To(BeTrue())
	g.Expect(post(t, url+endpoint, hello(schemas.R20251125, "{}")).StatusCode).To(Equal(202))
	g.Expect(next()).To(And(HavePrefix("event: message\n"), ContainSubstring(`"protocolVersion":"2024-11-05"`)), "the transport ended with that revision")
	g.Expect(post(t, url+endpoint, initialized).StatusCode).To(Equal(202))
	g.Expect(post(t, url+endpoint, `{"jsonrpc":"2.0","id":2,"method":"ping"}`).StatusCode).To(Equal(202))
	g.Expect(next()).To(ContainSubstring(`"id":2`))
	g.Expect(post(t, url+endpoint, `nonsense`).StatusCode).To(Equal(400))
	g.Expect(post(t, url+"/messages?session=nobody", initialized).StatusCode).To(Equal(404))
}

func TestUnknownNamesAreRefused(t *testing.T) {
	if _, err := peer.NewServer(peer.Options{Faults: []string{"stdin-left-open"}}); err == nil {
		t.Error("a fault of the client in a server")
	}
	if _, err := peer.NewClient(peer.ClientOptions{Faults: []string{"nonsense"}}); err == nil {
		t.Error("an unknown fault")
	}
	if _, err := peer.NewClient(peer.ClientOptions{Revision: "1999-01-01"}); err == nil {
		t.Error("an unknown revision")
	}
	if _, err := peer.NewServer(peer.Options{Revisions: []schemas.Revision{}}); err == nil {
		t.Error("no revision")
	}
}

func TestTheTableOfFaults(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range peer.Faults() {
		key := string(f.Side) + " " + f.Name
		if seen[key] || f.Name == "" || !strings.HasSuffix(f.Breaks, ".") || len(f.Requirements) == 0 {
			t.Errorf("%s: %q breaks %v", key, f.Breaks, f.Requirements)
		}
		seen[key] = true
		shows := false
		for _, r := range schemas.Revisions() {
			shows = shows || r.In(f.Since, f.Until)
		}
		if !shows {
			t.Errorf("%s shows in no revision", key)
		}
	}
}
