package wire_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/mcp-conform/mcp-conform/runner/wire"
	"github.com/mcp-conform/mcp-conform/trace"
)

func listen(t *testing.T, tp *tape, change ...func(*wire.ListenOptions)) *wire.HTTPListener {
	t.Helper()
	o := wire.ListenOptions{Conn: "s", Sink: tp.sink}
	for _, f := range change {
		f(&o)
	}
	w, err := wire.ListenHTTP(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	closing(t, w)
	return w
}

// client is a plain HTTP client that leaves nothing open.
func client(t *testing.T) *http.Client {
	t.Helper()
	tr := &http.Transport{}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr, Timeout: bound}
}

// got is what a client got: the response with its body read, or an error.
type got struct {
	*http.Response
	body string
	err  error // of the request, or of reading the body
}

// ask sends a request and delivers what comes of it.
func ask(t *testing.T, method, url, body string) <-chan got {
	t.Helper()
	c := client(t)
	out := make(chan got, 1)
	req, err := http.NewRequestWithContext(context.Background(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		res, err := c.Do(req)
		if err != nil {
			out <- got{err: err}
			return
		}
		defer res.Body.Close()
		b, err := io.ReadAll(res.Body)
		out <- got{res, string(b), err}
	}()
	return out
}

// asked waits for the request of an exchange to have been read.
func (t *tape) asked(tb testing.TB, method, body string) string {
	tb.Helper()
	head := t.wait(tb, method, func(e trace.Event) bool { return e.HTTP != nil && e.HTTP.Method == method })
	if body == "" {
		return head.Exchange
	}
	return t.wait(tb, "body "+body, func(e trace.Event) bool {
		return e.From == trace.Client && string(e.Data) == body
	}).Exchange
}

func answer(t *testing.T, w wire.Wire, o wire.Out) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), bound)
	defer cancel()
	if _, err := w.Send(ctx, o); err != nil {
		t.Fatalf("answering: %v", err)
	}
}

func TestListenAnswers(t *testing.T) {
	for _, c := range []struct {
		name   string
		out    wire.Out
		status int
		header http.Header
		body   string
		want   string
	}{
		{"json", wire.Out{Data: []byte(pong)}, 200,
			http.Header{"Content-Type": {"application/json"}, "Content-Length": {"36"}},
			pong, "<- http 200\n<- message " + pong + "\n<- closed eof\n"},
		{"accepted", wire.Out{HTTP: &wire.HTTP{Status: 202}}, 202,
			http.Header{"Content-Length": {"0"}}, "", "<- http 202\n<- closed eof\n"},
		{"no content", wire.Out{HTTP: &wire.HTTP{Status: 204}}, 204, http.Header{}, "", "<- http 204\n<- closed eof\n"},
		{"headers and a broken body", wire.Out{Data: []byte("{"), HTTP: &wire.HTTP{
			Status: 400, Headers: map[string]string{"Mcp-Session-Id": "s", "content-type": "text/plain"},
		}}, 400, http.Header{"Content-Type": {"text/plain"}, "Content-Length": {"1"}, "Mcp-Session-Id": {"s"}},
			"{", "<- http 400\n<- noise {\n<- closed eof\n"},
		{"no content type", wire.Out{Data: []byte("<html>"), HTTP: &wire.HTTP{Drop: []string{"Content-Type"}}}, 200,
			http.Header{"Content-Length": {"6"}}, "<html>", "<- http 200\n<- noise <html>\n<- closed eof\n"},
		{"a stream that ends at once", wire.Out{Data: []byte("{\"a\":\n1}"), Last: true, HTTP: &wire.HTTP{
			Stream: true, EventID: "e1", Event: "message", Retry: 5, Drop: []string{"cache-control"},
		}}, 200, http.Header{"Content-Type": {"text/event-stream"}, "X-Accel-Buffering": {"no"}},
			"event: message\nid: e1\nretry: 5\ndata: {\"a\":\ndata: 1}\n\n",
			"<- http 200\n<- message #e1 {\"a\":\n1}\n<- closed eof\n"},
		{"a priming event", wire.Out{Last: true, HTTP: &wire.HTTP{Stream: true, EventID: "e1"}}, 200,
			http.Header{"Content-Type": {"text/event-stream"}, "X-Accel-Buffering": {"no"}, "Cache-Control": {"no-cache"}},
			"id: e1\ndata: \n\n", "<- http 200\n<- sse #e1\n<- closed eof\n"},
		{"a lone retry", wire.Out{Last: true, HTTP: &wire.HTTP{Stream: true, Retry: 9, Drop: []string{"Cache-Control"}}}, 200,
			http.Header{"Content-Type": {"text/event-stream"}, "X-Accel-Buffering": {"no"}},
			"retry: 9\n\n", "<- http 200\n<- sse\n<- closed eof\n"},
		{"raw bytes of a stream", wire.Out{Data: []byte(": hi\r\rdata: {}\r\n\r\ndata: []"), Last: true, HTTP: &wire.HTTP{
			Stream: true, Raw: true, Drop: []string{"Cache-Control"},
		}}, 200, http.Header{"Content-Type": {"text/event-stream"}, "X-Accel-Buffering": {"no"}},
			": hi\r\rdata: {}\r\n\r\ndata: []", "<- http 200\n<- sse\n<- message {}\n<- sse []\n<- closed eof\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := leakless(t)
			tp := newTape()
			w := listen(t, tp)
			res := ask(t, "POST", w.URL(), ping)
			x := tp.asked(t, "POST", ping)
			c.out.Exchange = x
			answer(t, w, c.out)
			r := <-res
			g.Expect(r.err).NotTo(HaveOccurred())
			g.Expect(r.StatusCode).To(Equal(c.status))
			g.Expect(r.body).To(Equal(c.body))
			g.Expect(r.Header).To(Equal(c.header))
			g.Expect(tp.closed(t, x, trace.Server).End.Bytes).To(Equal(int64(len(c.body))))
			g.Expect(tp.text(x)).To(Equal("-> http POST\n-> message " + ping + "\n" + c.want))
			_, err := w.Send(soon(t), c.out)
			g.Expect(err).To(MatchError(wire.ErrNoExchange), "an exchange is answered once")
		})
	}
}

func TestListenReportsRequests(t *testing.T) {
	g := leakless(t)
	tp := newTape()
	w := listen(t, tp, func(o *wire.ListenOptions) { o.Also = []string{"/token", "/keys/"} })
	base := strings.TrimSuffix(w.URL(), "/mcp")
	r := <-ask(t, "GET", base+"/.well-known/oauth-protected-resource?x=1", "")
	g.Expect(r.StatusCode).To(Equal(404))
	head := tp.wait(t, "request", func(e trace.Event) bool { return e.HTTP != nil })
	g.Expect(head.HTTP.URL).To(Equal(base + "/.well-known/oauth-protected-resource?x=1"))
	host, _ := head.HTTP.Get("host")
	u, _ := url.Parse(base)
	g.Expect(host).To(Equal(u.Host))

	for _, path := range []string{"/", "/token/", "/keys", "/mcp/", "/tokens"} {
		g.Expect((<-ask(t, "GET", base+path, "")).StatusCode).To(Equal(404), path)
	}
	key := ask(t, "PATCH", base+"/keys/1", "")
	answer(t, w, wire.Out{Exchange: tp.asked(t, "PATCH", ""), HTTP: &wire.HTTP{Status: 410}})
	g.Expect((<-key).StatusCode).To(Equal(410))
	res := ask(t, "PUT", base+"/token", "grant")
	x := tp.asked(t, "PUT", "grant")
	answer(t, w, wire.Out{Exchange: x, HTTP: &wire.HTTP{Status: 401}})
	g.Expect((<-res).StatusCode).To(Equal(401))
	tp.closed(t, x, trace.Server)
	g.Expect(tp.text(x)).To(Equal("-> http PUT\n-> noise grant\n<- http 401\n<- closed eof\n"))
}

func TestListenStreams(t *testing.T) {
	g := leakless(t)
	tp := newTape()
	w := listen(t, tp)
	stream := ask(t, "GET", w.URL(), "")
	_, err := w.Send(soon(t), wire.Out{Data: []byte("{}")})
	g.Expect(err).To(MatchError(wire.ErrNoExchange), "no GET stream is open yet")
	x := tp.asked(t, "GET", "")
	answer(t, w, wire.Out{Exchange: x, HTTP: &wire.HTTP{Stream: true}})
	post := ask(t, "POST", w.URL(), ping)
	y := tp.asked(t, "POST", ping)
	answer(t, w, wire.Out{Exchange: y, Data: []byte(`{"a":1}`), HTTP: &wire.HTTP{Stream: true}})
	answer(t, w, wire.Out{Data: []byte(`{"b":1}`)}) // on the GET stream
	answer(t, w, wire.Out{Exchange: y, Data: []byte(`{"a":2}`), Last: true})
	g.Expect((<-post).body).To(Equal("data: {\"a\":1}\n\ndata: {\"a\":2}\n\n"))
	_, err = w.Send(soon(t), wire.Out{Exchange: x, Data: []byte("{}"), HTTP: &wire.HTTP{EventID: "a\nb"}})
	g.Expect(err).To(MatchError(ContainSubstring("cannot be")))
	g.Expect(w.Close(soon(t))).To(Succeed())
	r := <-stream
	g.Expect(r.err).NotTo(HaveOccurred(), "closing ends a stream in order")
	g.Expect(r.body).To(Equal("data: {\"b\":1}\n\n"))
	g.Expect(tp.text(x)).To(Equal("-> http GET\n<- http 200\n<- message {\"b\":1}\n<- closed eof\n"))
}

func TestListenDrop(t *testing.T) {
	g := leakless(t)
	tp := newTape()
	w := listen(t, tp)
	res := ask(t, "POST", w.URL(), ping)
	x := tp.asked(t, "POST", ping)
	answer(t, w, wire.Out{Exchange: x, Data: []byte("{}"), HTTP: &wire.HTTP{Stream: true}})
	silent := ask(t, "POST", w.URL(), "[]")
	y := tp.asked(t, "POST", "[]")
	_, err := w.Do(soon(t), wire.Act{Do: wire.Drop, Exchange: x})
	g.Expect(err).NotTo(HaveOccurred())
	r := <-res
	g.Expect(r.body).To(Equal("data: {}\n\n"))
	g.Expect(r.err).To(MatchError(io.ErrUnexpectedEOF))
	g.Expect(tp.text(x)).To(HaveSuffix("<- message {}\n<- closed closed-by-us\n"))
	_, err = w.Do(soon(t), wire.Act{Do: wire.Drop})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect((<-silent).err).To(MatchError(ContainSubstring("EOF")))
	g.Expect(tp.text(y)).To(HaveSuffix("<- closed closed-by-us\n"))
	_, err = w.Do(soon(t), wire.Act{Do: wire.Drop, Exchange: x})
	g.Expect(err).To(MatchError(wire.ErrNoExchange))
	_, err = w.Do(soon(t), wire.Act{Do: wire.Listen})
	g.Expect(err).To(MatchError(wire.ErrUnsupported))
}

func TestListenClientGoesAway(t *testing.T) {
	g := leakless(t)
	tp := newTape()
	w := listen(t, tp)
	for _, answered := range []bool{false, true} {
		body := map[bool]string{false: "[1]", true: "[2]"}[answered]
		ctx, cancel := context.WithCancel(t.Context())
		req, err := http.NewRequestWithContext(ctx, "POST", w.URL(), strings.NewReader(body))
		g.Expect(err).NotTo(HaveOccurred())
		done := make(chan error, 1)
		c := client(t)
		go func() {
			res, err := c.Do(req)
			if err == nil {
				_, err = io.ReadAll(res.Body)
				res.Body.Close()
			}
			done <- err
		}()
		x := tp.asked(t, "POST", body)
		if answered {
			answer(t, w, wire.Out{Exchange: x, HTTP: &wire.HTTP{Stream: true}})
		}
		cancel()
		g.Expect(<-done).To(MatchError(context.Canceled))
		g.Expect(tp.closed(t, x, trace.Client).End.How).To(Equal("reset"))
		_, err = w.Send(soon(t), wire.Out{Exchange: x, Data: []byte("{}")})
		g.Expect(err).To(MatchError(wire.ErrNoExchange))
	}
}

func TestListenCloseReleases(t *testing.T) {
	g := leakless(t)
	tp := newTape()
	w := listen(t, tp)
	res := ask(t, "POST", w.URL(), ping)
	x := tp.asked(t, "POST", ping)
	g.Expect(w.Close(soon(t))).To(Succeed())
	r := <-res
	g.Expect(r.err).NotTo(HaveOccurred())
	g.Expect(r.StatusCode).To(Equal(503))
	g.Expect(tp.text(x)).To(HaveSuffix("<- http 503\n<- closed eof\n"))
	g.Expect(tp.String()).To(HaveSuffix("<- closed closed-by-us\n"))
	g.Expect((<-ask(t, "POST", w.URL(), ping)).err).To(HaveOccurred())
	g.Expect(w.Close(soon(t))).To(Succeed())
}

// dialled is a connection on which a client speaks for itself.
func dialled(t *testing.T, w *wire.HTTPListener, say string) net.Conn {
	t.Helper()
	u, err := url.Parse(w.URL())
	if err != nil {
		t.Fatal(err)
	}
	c, err := net.Dial("tcp", u.Host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if _, err := io.WriteString(c, say); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestListenHostileClients(t *testing.T) {
	for _, c := range []struct{ name, say, want string }{
		{"half a request", "POST /mcp HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n[1", "-> noise [1\n<- closed closed-by-us\n"},
		{"half a head", "POST /mcp HTTP/1.1\r\nHost:", ""},
		{"nothing", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := leakless(t)
			tp := newTape()
			w := listen(t, tp)
			conn := dialled(t, w, c.say)
			if c.want != "" {
				tp.asked(t, "POST", "")
			}
			g.Expect(w.Close(soon(t))).To(Succeed(), "a client that does not go on does not hold up the end")
			g.Expect(tp.String()).To(HaveSuffix(c.want + "<- closed closed-by-us\n"))
			_, err := io.ReadAll(conn)
			g.Expect(err).NotTo(HaveOccurred())
		})
	}
}

func TestListenClientThatSendsHalfABodyIsDropped(t *testing.T) {
	g := leakless(t)
	tp := newTape()
	w := listen(t, tp)
	dialled(t, w, "POST /mcp HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n[1")
	x := tp.asked(t, "POST", "")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := w.Send(ctx, wire.Out{Exchange: x, Data: []byte("{}")})
	g.Expect(err).To(MatchError(context.Canceled), "a request is answered when it is complete")
	_, err = w.Do(soon(t), wire.Act{Do: wire.Drop, Exchange: x})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(tp.text(x)).To(Equal("-> http POST\n-> noise [1\n<- closed closed-by-us\n"))
}

func TestListenClientThatDoesNotRead(t *testing.T) {
	g := leakless(t)
	tp := newTape()
	w := listen(t, tp)
	dialled(t, w, "POST /mcp HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n[]")
	x := tp.asked(t, "POST", "[]")
	data := append(make([]byte, 16<<20), "\n\n"...)
	err := stuck(t, w, tp, wire.Out{Exchange: x, Data: data, HTTP: &wire.HTTP{Stream: true}})
	g.Expect(err).To(MatchError(ContainSubstring("does not read")))
	_, err = w.Do(soon(t), wire.Act{Do: wire.Drop, Exchange: x})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(tp.closed(t, x, trace.Server).End.How).To(Equal("closed-by-us"))
}

func TestListenLimits(t *testing.T) {
	g := leakless(t)
	tp := newTape()
	w := listen(t, tp, func(o *wire.ListenOptions) {
		o.Open = 1
		o.Limits = wire.Limits{Message: 1000, Bytes: 5000}
	})
	first := ask(t, "POST", w.URL(), "[1]")
	x := tp.asked(t, "POST", "[1]")
	g.Expect((<-ask(t, "POST", w.URL(), "[2]")).StatusCode).To(Equal(503), "one too many")
	answer(t, w, wire.Out{Exchange: x})
	g.Expect((<-first).StatusCode).To(Equal(200))
	tp.closed(t, x, trace.Server)
	long := ask(t, "PUT", w.URL(), strings.Repeat("[", 2000))
	y := tp.asked(t, "PUT", "")
	g.Expect((<-long).StatusCode).To(Equal(413))
	tp.closed(t, y, trace.Server)
	g.Expect(tp.text(y)).To(Equal("-> http PUT\n-> noise (1000 bytes)\n<- http 413\n<- closed eof\n"))

	dialled(t, w, "PATCH /mcp HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2000\r\n"+strings.Repeat("x", 0x2000)+"\r\n")
	end := tp.closed(t, "", trace.Server).End
	g.Expect(end.Detail).To(Equal("flood: more than 5000 bytes"))
}

func TestListenRefusesWhatHTTPCannotSay(t *testing.T) {
	g := leakless(t)
	tp := newTape()
	w := listen(t, tp)
	res := ask(t, "POST", w.URL(), ping)
	x := tp.asked(t, "POST", ping)
	for _, o := range []wire.Out{
		{HTTP: &wire.HTTP{Status: 99}},
		{HTTP: &wire.HTTP{Status: 204}, Data: []byte("{}")},
		{HTTP: &wire.HTTP{Headers: map[string]string{"content-LENGTH": "3"}}},
		{HTTP: &wire.HTTP{Stream: true, EventID: "a\x00"}},
		{Partial: true},
	} {
		o.Exchange = x
		_, err := w.Send(soon(t), o)
		g.Expect(err).To(HaveOccurred(), "%+v", o)
	}
	answer(t, w, wire.Out{Exchange: x, Data: []byte(pong)})
	g.Expect((<-res).body).To(Equal(pong), "the exchange is none the worse for it")
	_, err := wire.ListenHTTP(t.Context(), wire.ListenOptions{Path: "mcp"})
	g.Expect(err).To(MatchError(ContainSubstring("slash")))
}

func TestListenContextEndsTheWire(t *testing.T) {
	g := leakless(t)
	tp := newTape()
	ctx, cancel := context.WithCancel(t.Context())
	w, err := wire.ListenHTTP(ctx, wire.ListenOptions{Sink: tp.sink})
	g.Expect(err).NotTo(HaveOccurred())
	conn := dialled(t, w, "POST /mcp HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n[]")
	x := tp.asked(t, "POST", "[]")
	cancel()
	g.Expect(tp.closed(t, x, trace.Server).End.How).To(Equal("timeout"))
	g.Expect(w.Close(soon(t))).To(Succeed())
	_, err = bufio.NewReader(conn).ReadByte()
	g.Expect(err).To(MatchError(io.EOF))
}

// The two sides of HTTP, one against the other.
func TestListenAgainstClientWire(t *testing.T) {
	g := leakless(t)
	ours, theirs := newTape(), newTape()
	w := listen(t, theirs)
	c := openHTTP(t, w.URL(), ours)
	x := send(t, c, ping)
	y := theirs.asked(t, "POST", ping)
	answer(t, w, wire.Out{Exchange: y, Data: []byte("[1]"), HTTP: &wire.HTTP{Stream: true, EventID: "1"}})
	answer(t, w, wire.Out{Exchange: y, HTTP: &wire.HTTP{Raw: true}, Data: []byte(":\n\n")})
	answer(t, w, wire.Out{Exchange: y, Data: []byte(pong), Last: true})
	ours.closed(t, x, trace.Server)
	theirs.closed(t, y, trace.Server)
	g.Expect(ours.text(x)).To(Equal(theirs.text(y)), "both sides tell the same")
	g.Expect(ours.text(x)).To(Equal("-> http POST\n-> message " + ping +
		"\n<- http 200\n<- message #1 [1]\n<- sse\n<- message " + pong + "\n<- closed eof\n"))
}
