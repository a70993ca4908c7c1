package wire_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/mcp-conform/mcp-conform/runner/wire"
	"github.com/mcp-conform/mcp-conform/trace"
)

const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
const pong = `{"jsonrpc":"2.0","id":1,"result":{}}`

// serve starts a server that ends with the test.
func serve(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL + "/mcp"
}

// rawServe answers each connection's first request by what talk writes.
func rawServe(t *testing.T, talk func(c *net.TCPConn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() { l.Close(); <-done })
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			if req, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
				io.Copy(io.Discard, req.Body)
				talk(c.(*net.TCPConn))
			}
			c.Close()
		}
	}()
	return "http://" + l.Addr().String() + "/mcp"
}

func openHTTP(t *testing.T, url string, tp *tape, change ...func(*wire.HTTPOptions)) wire.Wire {
	t.Helper()
	o := wire.HTTPOptions{URL: url, Conn: "c", Sink: tp.sink}
	for _, f := range change {
		f(&o)
	}
	w, err := wire.OpenHTTP(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	closing(t, w)
	return w
}

func send(t *testing.T, w wire.Wire, data string) string {
	t.Helper()
	x, err := w.Send(soon(t), wire.Out{Data: []byte(data)})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func TestHTTPAnswers(t *testing.T) {
	for _, c := range []struct {
		name string
		h    http.HandlerFunc
		want string
	}{
		{"json", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json; charset=utf-8")
			io.WriteString(w, pong)
		}, "<- http 200\n<- message " + pong + "\n<- closed eof\n"},
		{"accepted", func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(202)
		}, "<- http 202\n<- closed eof\n"},
		{"html", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			io.WriteString(w, "<p>no")
		}, "<- http 200\n<- noise <p>no\n<- closed eof\n"},
		{"a message that claims to be html", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			io.WriteString(w, pong)
		}, "<- http 200\n<- message " + pong + "\n<- closed eof\n"},
		{"redirect", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(307)
		}, "<- http 307\n<- closed eof\n"},
		{"stream", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "Text/Event-Stream")
			io.WriteString(w, "id: e1\ndata:\n\n: alive\n\ndata: {\"a\":\ndata: 1}\n\nevent: endpoint\ndata: /x\n\ndata: no\n\ndata: {")
		}, "<- http 200\n<- sse #e1\n<- sse\n<- message {\"a\":\n1}\n<- sse /x\n<- noise no\n<- sse {\n<- closed eof\n"},
		{"reset in the middle of a stream", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, "data: {}\n\n")
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}, "<- http 200\n<- message {}\n<- closed reset\n"},
		{"reset in the middle of a body", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "100")
			io.WriteString(w, `{"jsonrpc":`)
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}, "<- http 200\n<- noise {\"jsonrpc\":\n<- closed reset\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := leakless(t)
			tp := newTape()
			w := openHTTP(t, serve(t, c.h), tp)
			x := send(t, w, ping)
			tp.closed(t, x, trace.Server)
			g.Expect(tp.text(x)).To(Equal("-> http POST\n-> message " + ping + "\n" + c.want))
		})
	}
}

func TestHTTPRawPeers(t *testing.T) {
	for _, c := range []struct {
		name string
		talk func(c *net.TCPConn)
		want string
	}{
		{"no word", func(c *net.TCPConn) {}, "<- closed reset\n"},
		{"reset", func(c *net.TCPConn) { c.SetLinger(0) }, "<- closed reset\n"},
		{"not HTTP", func(c *net.TCPConn) { io.WriteString(c, "SSH-2.0-OpenSSH\r\n") }, "<- closed error\n"},
		{"half a head", func(c *net.TCPConn) { io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-") }, "<- closed error\n"},
		{"half a chunk", func(c *net.TCPConn) {
			io.WriteString(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n10\r\n{}")
		}, "<- http 200\n<- message {}\n<- closed reset\n"},
		{"a chunk of no length", func(c *net.TCPConn) {
			io.WriteString(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}")
		}, "<- http 200\n<- closed error\n"},
		{"a body up to the end of the connection", func(c *net.TCPConn) {
			io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\n{}")
		}, "<- http 200\n<- message {}\n<- closed eof\n"},
		{"byte by byte", func(c *net.TCPConn) {
			c.SetNoDelay(true)
			for _, b := range []byte("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: \"\u00e9\"\r\rdata: [\"\u20ac\"]\r\n\r\n") {
				c.Write([]byte{b})
			}
		}, "<- http 200\n<- noise \"\u00e9\"\n<- message [\"\u20ac\"]\n<- closed eof\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := leakless(t)
			tp := newTape()
			w := openHTTP(t, rawServe(t, c.talk), tp)
			x := send(t, w, ping)
			tp.closed(t, x, trace.Server)
			g.Expect(tp.text(x)).To(Equal("-> http POST\n-> message " + ping + "\n" + c.want))
		})
	}
}

func TestHTTPUnreachable(t *testing.T) {
	g := leakless(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	g.Expect(err).NotTo(HaveOccurred())
	l.Close()
	tp := newTape()
	w := openHTTP(t, "http://"+l.Addr().String(), tp)
	x := send(t, w, ping)
	end := tp.closed(t, x, trace.Server).End
	g.Expect(end.How).To(Equal("error"))
	g.Expect(end.Detail).To(ContainSubstring("refused"))
}

func TestHTTPSpeaksTLSToPlainServer(t *testing.T) {
	g := leakless(t)
	tp := newTape()
	w := openHTTP(t, strings.Replace(serve(t, http.NotFound), "http:", "https:", 1), tp)
	x := send(t, w, ping)
	end := tp.closed(t, x, trace.Server).End
	g.Expect(end.How).To(Equal("error"))
	g.Expect(end.Detail).To(ContainSubstring("TLS handshake"))
}

func TestHTTPRequest(t *testing.T) {
	g := leakless(t)
	tp := newTape()
	got := make(chan *http.Request, 1)
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		r.Header.Set("Body", string(b))
		got <- r
	})
	w := openHTTP(t, url, tp, func(o *wire.HTTPOptions) {
		o.Header = map[string]string{"Authorization": "Bearer a", "x-one": "opened"}
	})
	x, err := w.Send(soon(t), wire.Out{Data: []byte("{broken"), HTTP: &wire.HTTP{
		Method:  "PUT",
		Path:    "other?x=1",
		Headers: map[string]string{"X-ONE": "sent", "host": "evil.example", "Origin": "http://evil.example", "Empty": ""},
		Drop:    []string{"accept", "user-agent", "AUTHORIZATION"},
	}})
	g.Expect(err).NotTo(HaveOccurred())
	r := <-got
	tp.closed(t, x, trace.Server)
	g.Expect(r.Method).To(Equal("PUT"))
	g.Expect(r.RequestURI).To(Equal("/other?x=1"))
	g.Expect(r.Host).To(Equal("evil.example"))
	g.Expect(r.Header).To(Equal(http.Header{
		"Body": {"{broken"}, "Content-Length": {"7"}, "Content-Type": {"application/json"},
		"Empty": {""}, "Origin": {"http://evil.example"}, "X-One": {"sent"},
	}))
	head := tp.wait(t, "head", func(e trace.Event) bool { return e.HTTP != nil }).HTTP
	g.Expect(head.Headers).To(Equal([][2]string{
		{"Host", "evil.example"}, {"Content-Length", "7"}, {"Content-Type", "application/json"},
		{"Empty", ""}, {"Origin", "http://evil.example"}, {"X-ONE", "sent"},
	}))
	g.Expect(head.URL).To(HaveSuffix("/other?x=1"))
}

func TestHTTPSpellingOfNames(t *testing.T) {
	g := leakless(t)
	tp := newTape()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	g.Expect(err).NotTo(HaveOccurred())
	defer l.Close()
	w := openHTTP(t, "http://"+l.Addr().String(), tp)
	_, err = w.Send(soon(t), wire.Out{Data: []byte(ping), HTTP: &wire.HTTP{Headers: map[string]string{"mcp-SESSION-id": "s"}}})
	g.Expect(err).NotTo(HaveOccurred())
	c, err := l.Accept()
	g.Expect(err).NotTo(HaveOccurred())
	defer c.Close()
	buf := make([]byte, 4096)
	n, err := io.ReadAtLeast(c, buf, 200)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(buf[:n])).To(ContainSubstring("mcp-SESSION-id: s\r\n"))
}

func TestHTTPListenDropResume(t *testing.T) {
	g := leakless(t)
	tp := newTape()
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == "DELETE" {
			w.WriteHeader(204)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "id: 7\ndata: {\"after\":%q,\"session\":%q,\"accept\":%q}\n\n",
			r.Header.Get("Last-Event-ID"), r.Header.Get("Mcp-Session-Id"), r.Header.Get("Accept"))
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	w := openHTTP(t, url, tp)
	session := &wire.HTTP{Headers: map[string]string{"Mcp-Session-Id": "s"}}
	_, err := w.Do(soon(t), wire.Act{Do: wire.Resume})
	g.Expect(err).To(MatchError(wire.ErrNoEventID))

	x, err := w.Do(soon(t), wire.Act{Do: wire.Listen, HTTP: session})
	g.Expect(err).NotTo(HaveOccurred())
	first := tp.wait(t, "event", func(e trace.Event) bool { return e.Exchange == x && e.Kind == trace.KindMessage })
	g.Expect(string(first.Data)).To(Equal(`{"after":"","session":"s","accept":"text/event-stream"}`))
	_, err = w.Do(soon(t), wire.Act{Do: wire.Drop, Exchange: x})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(tp.closed(t, x, trace.Client).End.How).To(Equal("closed-by-us"))
	_, err = w.Do(soon(t), wire.Act{Do: wire.Drop, Exchange: x})
	g.Expect(err).To(MatchError(wire.ErrNoExchange))

	y, err := w.Do(soon(t), wire.Act{Do: wire.Resume, HTTP: session})
	g.Expect(err).NotTo(HaveOccurred())
	again := tp.wait(t, "event", func(e trace.Event) bool { return e.Exchange == y && e.Kind == trace.KindMessage })
	g.Expect(string(again.Data)).To(ContainSubstring(`"after":"7","session":"s"`))

	z, err := w.Do(soon(t), wire.Act{Do: wire.EndSession, HTTP: session})
	g.Expect(err).NotTo(HaveOccurred())
	tp.closed(t, z, trace.Server)
	g.Expect(tp.text(z)).To(Equal("-> http DELETE\n<- http 204\n<- closed eof\n"))
	_, err = w.Do(soon(t), wire.Act{Do: wire.CloseStdin})
	g.Expect(err).To(MatchError(wire.ErrUnsupported))
	_, err = w.Do(soon(t), wire.Act{Do: wire.Drop})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(tp.text(y)).To(HaveSuffix("-> closed closed-by-us\n"))
}

func TestHTTPCloseEndsWhatNeverAnswers(t *testing.T) {
	g := leakless(t)
	tp := newTape()
	arrived := make(chan struct{}, 2)
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		arrived <- struct{}{}
		<-r.Context().Done()
	})
	w := openHTTP(t, url, tp, func(o *wire.HTTPOptions) { o.Open = 2 })
	x, y := send(t, w, ping), send(t, w, ping)
	<-arrived
	<-arrived
	full, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := w.Send(full, wire.Out{Data: []byte(ping)})
	g.Expect(err).To(MatchError(context.Canceled), "a third exchange has to wait")
	g.Expect(w.Close(soon(t))).To(Succeed())
	g.Expect(tp.text(x)).To(HaveSuffix("-> closed closed-by-us\n"))
	g.Expect(tp.text(y)).To(HaveSuffix("-> closed closed-by-us\n"))
	g.Expect(tp.String()).To(HaveSuffix("-> closed closed-by-us\n"))
	_, err = w.Send(soon(t), wire.Out{Data: []byte(ping)})
	g.Expect(err).To(MatchError(wire.ErrClosed))
	g.Expect(w.Close(soon(t))).To(Succeed())
}

func TestHTTPContextEndsTheWire(t *testing.T) {
	g := leakless(t)
	tp := newTape()
	arrived := make(chan struct{})
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		close(arrived)
		<-r.Context().Done()
	})
	ctx, cancel := context.WithCancelCause(t.Context())
	w, err := wire.OpenHTTP(ctx, wire.HTTPOptions{URL: url, Sink: tp.sink})
	g.Expect(err).NotTo(HaveOccurred())
	x := send(t, w, ping)
	<-arrived
	cancel(errors.New("the run is over"))
	g.Expect(tp.closed(t, x, trace.Client).End).To(HaveField("How", "timeout"))
	g.Expect(tp.closed(t, "", trace.Client).End).To(HaveField("Detail", "the run is over"))
	g.Expect(w.Close(soon(t))).To(Succeed())
}

func TestHTTPFloods(t *testing.T) {
	endless := func(contentType, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", contentType)
			for r.Context().Err() == nil {
				io.WriteString(w, text)
			}
		}
	}
	small := func(o *wire.HTTPOptions) { o.Limits = wire.Limits{Message: 1000, Events: 100, Bytes: 1 << 20} }
	for _, c := range []struct {
		name  string
		h     http.HandlerFunc
		check func(g *WithT, tp *tape, x string)
	}{
		{"an endless body", endless("application/json", "[[[["), func(g *WithT, tp *tape, x string) {
			g.Expect(tp.text(x)).To(HaveSuffix("<- noise (1000 bytes)\n-> closed closed-by-us\n"))
			g.Expect(tp.events[3].Note).To(HavePrefix("too long"))
		}},
		{"endless events", endless("text/event-stream", "data: {}\n\n"), func(g *WithT, tp *tape, x string) {
			g.Expect(strings.Count(tp.text(x), "<- message {}\n")).To(Equal(99), "the head is the first event")
			g.Expect(tp.String()).To(HaveSuffix("-> closed closed-by-us\n"))
		}},
		{"an event without end", endless("text/event-stream", "data: aaaa\n"), func(g *WithT, tp *tape, x string) {
			g.Expect(tp.String()).To(HaveSuffix("-> closed closed-by-us\n"))
			g.Expect(tp.events[len(tp.events)-1].End.Detail).To(ContainSubstring("bytes"))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := leakless(t)
			tp := newTape()
			w := openHTTP(t, serve(t, c.h), tp, small)
			x := send(t, w, ping)
			tp.closed(t, x, trace.Client)
			g.Expect(w.Close(soon(t))).To(Succeed())
			c.check(g, tp, x)
		})
	}
}

// A server that keeps a connection alive may close it in the moment in which it
// is used again. That must not look like a fault.
func TestHTTPConnectionThatIsClosedWhenUsedAgain(t *testing.T) {
	g := leakless(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	g.Expect(err).NotTo(HaveOccurred())
	var requests, conns int
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			conns++
			in := bufio.NewReader(c)
			for answers := 0; ; answers++ {
				req, err := http.ReadRequest(in)
				if err != nil {
					break
				}
				b, _ := io.ReadAll(req.Body)
				requests++
				if answers > 0 {
					break // takes the second request and goes
				}
				fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(b), b)
			}
			c.Close()
		}
	}()
	tp := newTape()
	w := openHTTP(t, "http://"+l.Addr().String()+"/mcp", tp)
	tp.closed(t, send(t, w, "[1]"), trace.Server)
	x := send(t, w, "[2]")
	tp.closed(t, x, trace.Server)
	g.Expect(tp.text(x)).To(Equal("-> http POST\n-> message [2]\n<- http 200\n<- message [2]\n<- closed eof\n"))
	g.Expect(w.Close(soon(t))).To(Succeed())
	l.Close()
	<-done
	g.Expect(requests).To(Equal(3))
	g.Expect(conns).To(Equal(2))
}

func TestHTTPOverTLS(t *testing.T) {
	g := leakless(t)
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.Proto[:4]+"{}") }))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	t.Cleanup(s.Close)
	tp := newTape()
	w := openHTTP(t, s.URL, tp)
	end := tp.closed(t, send(t, w, ping), trace.Server).End
	g.Expect(end.How).To(Equal("error"))
	g.Expect(end.Detail).To(ContainSubstring("certificate"))
	trusting := openHTTP(t, s.URL, tp, func(o *wire.HTTPOptions) {
		o.TLS = s.Client().Transport.(*http.Transport).TLSClientConfig
	})
	x := send(t, trusting, ping)
	g.Expect(tp.wait(t, "body", func(e trace.Event) bool { return e.From == trace.Server && len(e.Data) > 0 }).Data).
		To(Equal([]byte("HTTP{}")), x)
}

func TestHTTPSlowServerIsDropped(t *testing.T) {
	for _, c := range []struct{ name, begin string }{
		{"head", "HTTP/1.1 200 OK\r\nX-Slow: "},
		{"body", "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{"},
		{"stream", "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: {"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := leakless(t)
			begun := make(chan struct{})
			tp := newTape()
			w := openHTTP(t, rawServe(t, func(conn *net.TCPConn) {
				io.WriteString(conn, c.begin)
				close(begun)
				io.Copy(io.Discard, conn) // until the client goes
			}), tp)
			x := send(t, w, ping)
			<-begun
			_, err := w.Do(soon(t), wire.Act{Do: wire.Drop, Exchange: x})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(tp.text(x)).To(HaveSuffix("-> closed closed-by-us\n"))
		})
	}
}

// The transport of 2024-11-05 (basic/transports#http-with-sse) needs no wire of
// its own: its stream is a GET, its messages are posts to another path.
func TestHTTPWithSSEOf2024(t *testing.T) {
	g := leakless(t)
	posted := make(chan string)
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == "POST" {
			b, _ := io.ReadAll(r.Body)
			posted <- r.RequestURI + " " + string(b)
			w.WriteHeader(202)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "event: endpoint\ndata: /messages?s=1\n\n")
		w.(http.Flusher).Flush()
		fmt.Fprintf(w, "event: message\ndata: {\"was\":%q}\n\n", <-posted)
	})
	tp := newTape()
	w := openHTTP(t, url, tp)
	stream, err := w.Do(soon(t), wire.Act{Do: wire.Listen})
	g.Expect(err).NotTo(HaveOccurred())
	endpoint := tp.wait(t, "endpoint", func(e trace.Event) bool { return e.SSE != nil && e.SSE.Event == "endpoint" })
	x, err := w.Send(soon(t), wire.Out{Data: []byte("[]"), HTTP: &wire.HTTP{Path: string(endpoint.Data)}})
	g.Expect(err).NotTo(HaveOccurred())
	tp.closed(t, x, trace.Server)
	tp.closed(t, stream, trace.Server)
	g.Expect(tp.text(stream)).To(HaveSuffix("<- message {\"was\":\"/messages?s=1 []\"}\n<- closed eof\n"))
}

func TestHTTPRefusesBadOptions(t *testing.T) {
	g := NewWithT(t)
	for _, url := range []string{"", "localhost:80", "ftp://x/", "http://", "http://[::1"} {
		_, err := wire.OpenHTTP(t.Context(), wire.HTTPOptions{URL: url})
		g.Expect(err).To(MatchError(ContainSubstring("the URL of the server")), url)
	}
	tp := newTape()
	w := openHTTP(t, "http://127.0.0.1:1/mcp", tp)
	for _, o := range []wire.HTTP{
		{Method: "SP ACE"}, {Path: "http://[::1"}, {Headers: map[string]string{"content-length": "4"}},
	} {
		_, err := w.Send(soon(t), wire.Out{Data: []byte(ping), HTTP: &o})
		g.Expect(err).To(HaveOccurred(), "%+v", o)
	}
	g.Expect(tp.String()).To(BeEmpty(), "what cannot be sent is not reported as sent")
}
