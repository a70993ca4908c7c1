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
	"time"

	. "github.com/onsi/gomega"

	"github.com/mcp-conform/mcp-conform/internal/peer"
	"github.com/mcp-conform/mcp-conform/schemas"
)

// script is a server that answers each method with what the test says: the
// members of a response, "" for silence; "!" before it ends the output.
type script map[string]string

// asked is one request that the client made of it.
type asked struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  json.RawMessage
}

// run lets a client talk to a script and returns what the client said.
func (s script) run(t *testing.T, o peer.ClientOptions) (said []asked, err error) {
	t.Helper()
	c, err := peer.NewClient(o)
	if err != nil {
		t.Fatal(err)
	}
	in, stdin := io.Pipe()
	stdout, out := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer out.Close()
		sc := bufio.NewScanner(in)
		sc.Buffer(nil, 1<<20)
		for sc.Scan() {
			var a asked
			if json.Unmarshal(sc.Bytes(), &a) != nil {
				t.Errorf("the client wrote %q", sc.Bytes())
			}
			said = append(said, a)
			answer, end := strings.CutPrefix(s[a.Method], "!")
			if a.Method != "" && answer != "" {
				for l := range strings.SplitSeq(answer, "\n") {
					fmt.Fprintln(out, strings.ReplaceAll(l, "$ID", string(a.ID)))
				}
			}
			if end {
				return
			}
		}
	}()
	ctx, stop := context.WithTimeout(t.Context(), within)
	defer stop()
	err = c.RunStdio(ctx, stdout, stdin)
	in.Close()
	<-done
	return said, err
}

func result(members string) string { return `{"jsonrpc":"2.0","id":$ID,"result":{` + members + `}}` }

func count(said []asked, method string) int {
	n := 0
	for _, a := range said {
		if a.Method == method {
			n++
		}
	}
	return n
}

const (
	opened     = `"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}`
	discovered = `"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private"`
)

func TestClientFallsBackWhateverTheErrorIs(t *testing.T) {
	for name, answer := range map[string]string{
		"unknown method":  `{"jsonrpc":"2.0","id":$ID,"error":{"code":-32601,"message":"?"}}`,
		"invalid params":  `{"jsonrpc":"2.0","id":$ID,"error":{"code":-32602,"message":"?"}}`,
		"an error of old": `{"jsonrpc":"2.0","id":$ID,"error":{"code":-32000,"message":"?"}}`,
		"silence":         ``,
		"garbage":         `<html>`,
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			said, err := script{
				"server/discover": answer, "initialize": result(opened), "ping": result(""), "tools/list": result(`"tools":[]`),
			}.run(t, peer.ClientOptions{Probe: 50 * time.Millisecond})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(count(said, "initialize")).To(Equal(1))
			g.Expect(count(said, "tools/list")).To(Equal(1))
		})
	}
}

func TestClientStaysWithAStatelessServer(t *testing.T) {
	for name, c := range map[string]struct {
		answer string
		err    string
	}{
		"that names a revision in common": {`{"jsonrpc":"2.0","id":$ID,"error":{"code":-32022,"message":"?","data":{"supported":["2026-07-28"],"requested":"x"}}}`, ""},
		"that names none":                 {`{"jsonrpc":"2.0","id":$ID,"error":{"code":-32022,"message":"?","data":{"supported":["2099-01-01"],"requested":"x"}}}`, "no revision in common"},
		"that wants more":                 {`{"jsonrpc":"2.0","id":$ID,"error":{"code":-32021,"message":"?","data":{"requiredCapabilities":{}}}}`, "-32021"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			said, err := script{"server/discover": c.answer}.run(t, peer.ClientOptions{})
			if c.err == "" {
				g.Expect(err).NotTo(HaveOccurred())
			} else {
				g.Expect(err).To(MatchError(ContainSubstring(c.err)))
			}
			g.Expect(count(said, "initialize")).To(BeZero())
		})
	}
}

func TestClientDoesNotUseAResultOfUnknownType(t *testing.T) {
	g := NewWithT(t)
	_, err := script{
		"server/discover": result(discovered),
		"tools/list":      result(`"resultType":"bogus","tools":[{"name":"a","inputSchema":{"type":"object"}}],"ttlMs":0,"cacheScope":"public"`),
	}.run(t, peer.ClientOptions{})
	g.Expect(err).To(MatchError(ContainSubstring(`unknown resultType "bogus"`)))
}

func TestClientReadsAnAbsentResultTypeAsComplete(t *testing.T) {
	g := NewWithT(t)
	said, err := script{
		"server/discover": result(discovered),
		"tools/list":      result(`"tools":[{"name":"a","inputSchema":{"type":"object","required":["n"],"properties":{"n":{"type":"integer","minimum":7}}}}]`),
		"tools/call":      result(`"content":[]`),
	}.run(t, peer.ClientOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(count(said, "tools/call")).To(Equal(1))
	g.Expect(string(said[len(said)-1].Params)).To(ContainSubstring(`"arguments":{"n":7}`), "arguments are made to fit")
}

func TestClientFollowsEveryCursor(t *testing.T) {
	g := NewWithT(t)
	said, err := script{
		"initialize": result(opened), "ping": result(""), "tools/list": result(`"tools":[],"nextCursor":""`),
	}.run(t, peer.ClientOptions{Revision: schemas.R20251125})
	g.Expect(err).To(MatchError(ContainSubstring("more than 100 pages")), "an empty cursor is a cursor; an endless list is left")
	g.Expect(string(said[len(said)-1].Params)).To(Equal(`{"cursor":""}`))
}

func TestClientLeavesOutToolsWithInvalidHeaders(t *testing.T) {
	g := NewWithT(t)
	said, err := script{
		"server/discover": result(discovered),
		"tools/list": result(`"resultType":"complete","ttlMs":0,"cacheScope":"public","tools":[
			{"name":"bad","inputSchema":{"type":"object","properties":{"a":{"type":"number","x-mcp-header":"A"}}}},{"name":"good","inputSchema":{"type":"object"}}]`),
		"tools/call": result(`"resultType":"complete","content":[]`),
	}.fold().run(t, peer.ClientOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(said[len(said)-1].Params)).To(ContainSubstring(`"name":"good"`))
}

// fold removes the line breaks that make a script readable.
func (s script) fold() script {
	for k := range s {
		s[k] = strings.ReplaceAll(s[k], "\n", "")
	}
	return s
}

func TestClientAnswersWhatItDeclared(t *testing.T) {
	g := NewWithT(t)
	request := func(id int, method, params string) string {
		return fmt.Sprintf("\n"+`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, id, method, params)
	}
	said, err := script{
		"initialize": result(opened),
		"tools/list": result(`"tools":[]`),
		"ping": `{"jsonrpc":"2.0","id":1,"method":"ping"}` +
			request(2, "roots/list", `{}`) + request(3, "sampling/createMessage", `{"messages":[],"maxTokens":1}`) +
			request(4, "elicitation/create", `{"message":"?","requestedSchema":{"type":"object","properties":{"a":{"type":"string","default":"x"},"b":{"type":"array","items":{"enum":["p","q"]}}}}}`) +
			request(5, "elicitation/create", `{"mode":"url","message":"?","url":"https://example.com","elicitationId":"1"}`) +
			request(6, "no/such", `{}`) + request(7, "sampling/createMessage", `{}`) + "\n" + result(""),
	}.run(t, peer.ClientOptions{Revision: schemas.R20251125})
	g.Expect(err).NotTo(HaveOccurred())
	got := map[string]string{}
	for _, a := range said {
		if a.Method == "" {
			got[string(a.ID)] = string(a.Result) + string(a.Error)
		}
	}
	g.Expect(got).To(HaveLen(7))
	for id, want := range map[string]string{
		"1": `{}`, "2": `"uri":"file:///`, "3": `"role":"assistant"`, "4": `{"action":"accept","content":{"a":"x","b":["p"]}}`,
		"5": `-32602`, "6": `-32601`, "7": `-32602`,
	} {
		g.Expect(got[id]).To(ContainSubstring(want), id)
	}
}

func TestClientCancelsWhatIsNotAnswered(t *testing.T) {
	g := NewWithT(t)
	said, err := script{"initialize": result(opened)}.run(t, peer.ClientOptions{Revision: schemas.R20251125, Patience: 50 * time.Millisecond})
	g.Expect(err).To(MatchError(ContainSubstring("ping: no answer")))
	g.Expect(said[len(said)-1].Method).To(Equal("notifications/cancelled"))
	said, err = script{}.run(t, peer.ClientOptions{Revision: schemas.R20251125, Patience: 50 * time.Millisecond})
	g.Expect(err).To(MatchError(ContainSubstring("initialize: no answer")))
	g.Expect(count(said, "notifications/cancelled")).To(BeZero(), "initialize is never cancelled")
}

func TestClientNoticesThatTheServerIsGone(t *testing.T) {
	g := NewWithT(t)
	_, err := script{"initialize": "!"}.run(t, peer.ClientOptions{Revision: schemas.R20251125})
	g.Expect(err).To(MatchError(ContainSubstring("closed its standard output")))
}

func TestClientMeetsHostileURLs(t *testing.T) {
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		want    string
	}{
		"404 to everything": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(404) }, "status 404"},
		"HTML": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<html>")
		}, "text/html"},
		"the same error": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"no"}}`)
		}, ""},
		"an empty stream": {func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Type", "text/event-stream") }, "stream ended"},
		"an echo": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.Copy(w, r.Body)
		}, "stream ended"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			hs := httptest.NewServer(c.handler)
			defer hs.Close()
			client, err := peer.NewClient(peer.ClientOptions{Patience: time.Second, Probe: time.Second})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(client.RunHTTP(t.Context(), hs.URL)).To(MatchError(ContainSubstring(c.want)))
		})
	}
}
