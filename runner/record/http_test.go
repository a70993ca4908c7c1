package record_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/mcp-conform/mcp-conform/runner/record"
	"github.com/mcp-conform/mcp-conform/trace"
)

// proxied is a proxy at work before a server, seen from its client.
type proxied struct {
	url    string
	events *events
	client *http.Client
	stop   func()
}

// proxy starts a server and a proxy before it. Both are gone after the test,
// with all their goroutines.
func proxy(t *testing.T, h http.HandlerFunc, edit ...func(*record.Options)) (*proxied, *httptest.Server) {
	t.Helper()
	noLeak(t)
	upstream := httptest.NewServer(h)
	t.Cleanup(upstream.Close)
	return proxyTo(t, upstream.URL+"/mcp", edit...), upstream
}

func proxyTo(t *testing.T, upstream string, edit ...func(*record.Options)) *proxied {
	t.Helper()
	p := &proxied{events: &events{}, client: &http.Client{Transport: &http.Transport{DisableCompression: true}, Timeout: patience}}
	o := record.Options{Sink: p.events.sink}
	for _, f := range edit {
		f(&o)
	}
	px, err := record.Listen("127.0.0.1:0", upstream, o)
	if err != nil {
		t.Fatal(err)
	}
	p.url = px.URL()
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- px.Serve(ctx) }()
	stopped := false
	p.stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		select {
		case err := <-served:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(patience):
			t.Error("the proxy does not end")
		}
		p.client.CloseIdleConnections()
	}
	t.Cleanup(p.stop)
	return p
}

func (p *proxied) do(t *testing.T, method, body string, header ...string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, p.url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := p.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

func all(t *testing.T, r *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	return string(b)
}

// bare strips the address from what was recorded, which differs from run to run.
func (p *proxied) bare(upstream *httptest.Server) []string {
	var out []string
	for _, l := range p.events.shown() {
		out = append(out, strings.ReplaceAll(l, upstream.URL, "U"))
	}
	return out
}

func TestHTTPConversation(t *testing.T) {
	g := NewWithT(t)
	var host, encoding, agent, body string
	p, up := proxy(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		host, encoding, agent, body = r.Host, r.Header.Get("Accept-Encoding"), r.Header.Get("User-Agent"), string(b)
		switch r.Method {
		case "POST":
			if strings.Contains(body, "notif") {
				w.WriteHeader(202)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Mcp-Session-Id", "s-1")
			io.WriteString(w, "{\"ok\":true}\r\n")
		case "DELETE":
			w.WriteHeader(204)
		default:
			http.Error(w, "no stream here", http.StatusMethodNotAllowed)
		}
	})
	resp := p.do(t, "POST", `{"id":1}`, "Authorization", "Bearer x", "Accept-Encoding", "gzip", "User-Agent", "me/1")
	g.Expect(all(t, resp)).To(Equal("{\"ok\":true}\r\n"))
	g.Expect(resp.Header.Get("Mcp-Session-Id")).To(Equal("s-1"))
	g.Expect(host).To(Equal(strings.TrimPrefix(up.URL, "http://")))
	g.Expect([]string{encoding, agent, body}).To(Equal([]string{"identity", "me/1", `{"id":1}`}))
	all(t, p.do(t, "POST", `{"notif":1}`))
	all(t, p.do(t, "GET", ""))
	all(t, p.do(t, "DELETE", ""))
	p.stop()
	g.Expect(p.bare(up)).To(Equal([]string{
		"x1 -> http POST U/mcp", `x1 -> message {"id":1}`, "x1 <- http 200", "x1 <- message {\"ok\":true}\r\n", "x1 <- closed eof 0",
		"x2 -> http POST U/mcp", `x2 -> message {"notif":1}`, "x2 <- http 202", "x2 <- closed eof 0",
		"x3 -> http GET U/mcp", "x3 <- http 405", "x3 <- noise no stream here\n", "x3 <- closed eof 0",
		"x4 -> http DELETE U/mcp", "x4 <- http 204", "x4 <- closed eof 0",
	}))
	first := p.events.list[0].HTTP
	get := func(name string) string { v, _ := first.Get(name); return v }
	g.Expect([]string{get("Host"), get("Accept-Encoding"), get("Authorization")}).To(Equal([]string{strings.TrimSuffix(strings.TrimPrefix(p.url, "http://"), "/mcp"), "gzip", "Bearer x"}))
	g.Expect(p.events.list[4].End.Bytes).To(Equal(int64(13)))
}

// Each server-sent event is through before the next one is made.
func TestHTTPStreamsAreNotBuffered(t *testing.T) {
	g := NewWithT(t)
	next := make(chan string)
	p, up := proxy(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		w.WriteHeader(200)
		w.(http.Flusher).Flush()
		for {
			select {
			case s, ok := <-next:
				if !ok {
					return
				}
				io.WriteString(w, s)
				w.(http.Flusher).Flush()
			case <-r.Context().Done():
				return
			}
		}
	})
	resp := p.do(t, "POST", `{"id":1}`, "Accept", "text/event-stream") // the head is through before any event
	for _, s := range []string{": hello\n\n", "id: 1\ndata:\n\n", "data: {\"a\":\ndata: 1}\r\n\r\n", "event: ping\ndata: x\n\n", "data: oops\n\n", "data: cut"} {
		next <- s
		buf := make([]byte, len(s))
		_, err := io.ReadFull(resp.Body, buf)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(string(buf)).To(Equal(s))
	}
	close(next)
	all(t, resp)
	p.stop()
	g.Expect(p.bare(up)).To(Equal([]string{
		"x1 -> http POST U/mcp", `x1 -> message {"id":1}`, "x1 <- http 200",
		"x1 <- sse", "x1 <- sse", "x1 <- message {\"a\":\n1}", "x1 <- sse x", "x1 <- noise oops", "x1 <- sse cut", "x1 <- closed eof 0",
	}))
	list := p.events.list
	g.Expect(list[3].SSE.Comment).To(BeTrue())
	g.Expect(*list[4].SSE.ID).To(Equal("1"))
	g.Expect(list[6].SSE.Event).To(Equal("ping"))
	g.Expect(list[8].Note).To(Equal("the stream ended within this event"))
}

// A request body is passed on as it comes.
func TestHTTPRequestBodiesAreNotBuffered(t *testing.T) {
	g := NewWithT(t)
	got := make(chan string)
	p, _ := proxy(t, func(w http.ResponseWriter, r *http.Request) {
		buf := make([]byte, 64)
		for {
			n, err := r.Body.Read(buf)
			if n > 0 {
				got <- string(buf[:n])
			}
			if err != nil {
				return
			}
		}
	})
	body, in := io.Pipe()
	req, _ := http.NewRequestWithContext(t.Context(), "POST", p.url, body)
	done := make(chan error, 1)
	go func() {
		resp, err := p.client.Do(req)
		if err == nil {
			resp.Body.Close()
		}
		done <- err
	}()
	for _, s := range []string{`{"a"`, `:1}`} {
		io.WriteString(in, s)
		g.Eventually(got, patience).Should(Receive(Equal(s)))
	}
	in.Close()
	g.Eventually(done, patience).Should(Receive(BeNil()))
	p.stop()
	g.Expect(p.events.of(trace.KindMessage)).To(ConsistOf(`x1 -> message {"a":1}`))
}

func TestHTTPClientThatLeaves(t *testing.T) {
	g := NewWithT(t)
	left := make(chan struct{})
	p, _ := proxy(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "data: {}\n\n")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		close(left)
	})
	ctx, cancel := context.WithCancel(t.Context())
	req, _ := http.NewRequestWithContext(ctx, "GET", p.url, nil)
	resp, err := p.client.Do(req)
	g.Expect(err).NotTo(HaveOccurred())
	defer resp.Body.Close()
	_, err = bufio.NewReader(resp.Body).ReadString('}')
	g.Expect(err).NotTo(HaveOccurred())
	cancel()
	g.Eventually(left, patience).Should(BeClosed())
	p.stop()
	g.Expect(p.events.of(trace.KindClosed)).To(Equal([]string{"x1 -> closed reset 0"}))
}

func TestHTTPClientThatLeavesBeforeTheAnswer(t *testing.T) {
	g := NewWithT(t)
	asked, left := make(chan struct{}), make(chan struct{})
	p, _ := proxy(t, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		close(asked)
		<-r.Context().Done()
		close(left)
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-asked; cancel() }()
	req, _ := http.NewRequestWithContext(ctx, "POST", p.url, strings.NewReader("{}"))
	_, err := p.client.Do(req)
	g.Expect(err).To(HaveOccurred())
	g.Eventually(left, patience).Should(BeClosed())
	p.stop()
	g.Expect(p.events.of(trace.KindMessage, trace.KindClosed)).To(Equal([]string{"x1 -> message {}", "x1 -> closed reset 0"}))
}

func TestHTTPProxyThatIsStopped(t *testing.T) {
	g := NewWithT(t)
	p, _ := proxy(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	resp := p.do(t, "GET", "")
	p.stop()
	_, err := io.ReadAll(resp.Body)
	g.Expect(err).To(HaveOccurred())
	g.Expect(p.events.of(trace.KindClosed)).To(Equal([]string{"x1 -- closed closed-by-us 0"}))
}

func TestHTTPServerThatBreaksOff(t *testing.T) {
	g := NewWithT(t)
	p, _ := proxy(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "data: {}\n\ndata: {\"ha")
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	})
	resp := p.do(t, "POST", "{}")
	_, err := io.ReadAll(resp.Body)
	g.Expect(err).To(HaveOccurred(), "the client must see that it broke off")
	p.stop()
	g.Expect(p.events.shown()[3:]).To(Equal([]string{"x1 <- message {}", `x1 <- sse {"ha`, "x1 <- closed reset 0"}))
}

func TestHTTPServerThatIsNotThere(t *testing.T) {
	g := NewWithT(t)
	noLeak(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	g.Expect(err).NotTo(HaveOccurred())
	l.Close()
	p := proxyTo(t, "http://"+l.Addr().String()+"/mcp")
	resp := p.do(t, "POST", "{}")
	g.Expect(resp.StatusCode).To(Equal(502))
	g.Expect(all(t, resp)).To(HavePrefix("mcp-conform record: no answer from " + l.Addr().String()))
	p.stop()
	closed := p.events.list[len(p.events.list)-1]
	g.Expect(closed.End).To(And(HaveField("How", "error"), HaveField("Detail", ContainSubstring("refused"))))
	g.Expect(p.events.of(trace.KindNoise)).To(BeEmpty(), "our own words are not the server's")
}

func TestHTTPGarbageInsteadOfAnAnswer(t *testing.T) {
	g := NewWithT(t)
	noLeak(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	g.Expect(err).NotTo(HaveOccurred())
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.Read(make([]byte, 1024))
			io.WriteString(c, "SSH-2.0-nothing\r\n")
			c.Close()
		}
	}()
	p := proxyTo(t, "http://"+l.Addr().String())
	g.Expect(p.do(t, "POST", "{}").StatusCode).To(Equal(502))
	p.stop()
	g.Expect(p.events.of(trace.KindClosed)).To(Equal([]string{"x1 <- closed error 0"}))
}

func TestHTTPLongBodies(t *testing.T) {
	g := NewWithT(t)
	long := `["` + strings.Repeat("x", 300_000) + `"]`
	p, _ := proxy(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		if r.Header.Get("Accept") != "" {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "data: %s\n\ndata: {}\n\n", b)
			return
		}
		w.Write(b)
	}, func(o *record.Options) { o.MaxBody = 100_000 })
	g.Expect(all(t, p.do(t, "POST", long)) == long).To(BeTrue())
	g.Expect(all(t, p.do(t, "POST", long, "Accept", "text/event-stream")) == "data: "+long+"\n\ndata: {}\n\n").To(BeTrue())
	p.stop()
	cut := 0
	for _, e := range p.events.list {
		if e.Note != "" {
			cut++
			g.Expect(e.Kind).To(Equal(trace.KindNoise))
			g.Expect(e.Note).To(Equal("too long: 300004 bytes; the first 4096 are kept"))
			g.Expect(e.Data).To(HaveLen(4096))
		}
	}
	g.Expect(cut).To(Equal(4))
	g.Expect(p.events.of(trace.KindMessage)).To(ConsistOf("x2 <- message {}"))
}

// A server that compresses all the same is passed on and not misread.
func TestHTTPCompressedAnswer(t *testing.T) {
	g := NewWithT(t)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	io.WriteString(z, `{"ok":1}`)
	z.Close()
	p, _ := proxy(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		w.Write(packed.Bytes())
	})
	g.Expect(all(t, p.do(t, "POST", "{}"))).To(Equal(packed.String()))
	p.stop()
	e := p.events.list[3]
	g.Expect(e.Data).To(BeEmpty())
	g.Expect(e.Note).To(ContainSubstring("encoded as gzip"))
}

// Whatever else a client asks for passes as it is: other paths, odd queries,
// headers that proxies like to touch, redirects.
func TestHTTPNothingElseIsTouched(t *testing.T) {
	g := NewWithT(t)
	seen := make(chan *http.Request, 1)
	p, _ := proxy(t, func(w http.ResponseWriter, r *http.Request) {
		seen <- r
		http.Redirect(w, r, "/elsewhere?code=1", http.StatusFound)
	})
	p.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	p.url = strings.TrimSuffix(p.url, "/mcp") + "/.well-known/x%2Fy?a=1;b=2&c=%zz"
	resp := p.do(t, "GET", "", "X-Forwarded-For", "10.0.0.1", "Origin", "http://evil.example")
	g.Expect(resp.StatusCode).To(Equal(302))
	g.Expect(resp.Header.Get("Location")).To(Equal("/elsewhere?code=1"))
	r := <-seen
	g.Expect(r.RequestURI).To(Equal("/.well-known/x%2Fy?a=1;b=2&c=%zz"))
	g.Expect(r.Header.Get("X-Forwarded-For")).To(Equal("10.0.0.1"))
	g.Expect(r.Header.Get("Origin")).To(Equal("http://evil.example"))
	g.Expect(r.Header.Get("Via")).To(BeEmpty())
	p.stop()
}

func TestHTTPManyAtOnce(t *testing.T) {
	g := NewWithT(t)
	p, _ := proxy(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		b, _ := io.ReadAll(r.Body)
		for range 20 {
			fmt.Fprintf(w, "data: %s\n\n", b)
			w.(http.Flusher).Flush()
		}
	})
	done := make(chan string, 20)
	for i := range 20 {
		go func() {
			resp, err := p.client.Post(p.url, "application/json", strings.NewReader(fmt.Sprintf(`{"id":%d}`, i)))
			if err != nil {
				done <- err.Error()
				return
			}
			defer resp.Body.Close()
			b, _ := io.ReadAll(resp.Body)
			if want := strings.Repeat(fmt.Sprintf("data: {\"id\":%d}\n\n", i), 20); string(b) != want {
				done <- "wrong bytes"
				return
			}
			done <- ""
		}()
	}
	for range 20 {
		g.Eventually(done, patience).Should(Receive(BeEmpty()))
	}
	p.stop()
	g.Expect(p.events.of(trace.KindMessage)).To(HaveLen(20 * 21))
	g.Expect(p.events.of(trace.KindClosed)).To(HaveLen(20))
}

func TestListenRefuses(t *testing.T) {
	for _, c := range []struct{ addr, upstream, want string }{
		{"0.0.0.0:0", "http://127.0.0.1:1/", "loopback only"},
		{":0", "http://127.0.0.1:1/", "loopback only"},
		{"127.0.0.1", "http://127.0.0.1:1/", "want HOST:PORT"},
		{"127.0.0.1:0", "127.0.0.1:1", "recording"},
		{"127.0.0.1:0", "ftp://h/", "want the http or https URL"},
		{"127.0.0.1:0", "http://", "want the http or https URL"},
		{"127.0.0.1:0", "http://u:PLANTED@h:x/", "recording http://****@h:x/"},
		{"127.0.0.1:99999", "http://127.0.0.1:1/", "listening for clients"},
	} {
		_, err := record.Listen(c.addr, c.upstream, record.Options{})
		NewWithT(t).Expect(err).To(MatchError(And(ContainSubstring(c.want), Not(ContainSubstring("PLANTED")))), "%v", c)
	}
}
