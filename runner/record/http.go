package record

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"mime"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/mcp-conform/mcp-conform/trace"
	"github.com/mcp-conform/mcp-conform/trace/sse"
)

// Options say how HTTP traffic is recorded.
type Options struct {
	Sink trace.Sink
	Conn string // "" means "c1"
	// MaxBody is the longest body, or data of one server-sent event, that is
	// recorded whole; 0 means trace.MaxData.
	MaxBody int
}

// Proxy records the traffic with an HTTP server, over Streamable HTTP or
// HTTP+SSE. It is a reverse proxy that passes on whatever comes, on all paths,
// so that discovery and the second endpoint of HTTP+SSE work through it.
//
// Requests reach the server with its own Host, so that it sees nothing amiss;
// the trace has the one that the client sent. Only Accept-Encoding is changed:
// the server is asked for plain bodies, for the trace to have them. A server
// that names its own address in a body or a header, as an absolute endpoint
// URL in HTTP+SSE or as protected-resource metadata, leads a client past the
// proxy: bodies are evidence and are never rewritten.
type Proxy struct {
	upstream *url.URL
	listener net.Listener
	proxy    *httputil.ReverseProxy
	tape     tape
	limit    int
	count    atomic.Int64

	mu       sync.Mutex
	stopping bool
	busy     sync.WaitGroup // requests on their way
}

// Listen opens a loopback address for clients of the server at upstream. The
// traffic carries the client's credentials in the clear, so other addresses
// are refused.
func Listen(addr, upstream string, o Options) (*Proxy, error) {
	u, err := url.Parse(upstream)
	if err != nil {
		return nil, fmt.Errorf("recording %s: %w", trace.MaskURL(upstream), errors.Unwrap(err))
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("recording %s: want the http or https URL of a server", trace.MaskURL(upstream))
	}
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("listening on %q: want HOST:PORT, such as 127.0.0.1:0: %w", addr, err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, fmt.Errorf("listening on %s: the recorder listens on loopback only, such as 127.0.0.1:0", addr)
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listening for clients: %w", err)
	}
	if here(u, l.Addr()) {
		return nil, errors.Join(fmt.Errorf("recording %s: that is where the recorder itself listens: give the server another port", trace.MaskURL(upstream)), l.Close())
	}
	if o.Conn == "" {
		o.Conn = "c1"
	}
	if o.MaxBody <= 0 {
		o.MaxBody = trace.MaxData
	}
	p := &Proxy{upstream: u, listener: l, limit: o.MaxBody, tape: tape{sink: o.Sink, conn: o.Conn}}
	p.proxy = &httputil.ReverseProxy{
		Rewrite:        p.rewrite,
		ModifyResponse: p.answer,
		ErrorHandler:   p.failed,
		FlushInterval:  -1, // every write at once, whatever the content type
		ErrorLog:       log.New(io.Discard, "", 0),
	}
	return p, nil
}

// here reports whether a URL leads back to our own address.
func here(u *url.URL, own net.Addr) bool {
	_, port, err := net.SplitHostPort(own.String())
	ip := net.ParseIP(u.Hostname())
	return err == nil && u.Port() == port && (u.Hostname() == "localhost" || ip != nil && ip.IsLoopback())
}

// URL is what to give to the client: the server's URL with the proxy's address.
func (p *Proxy) URL() string {
	u := *p.upstream
	u.Scheme, u.Host, u.User = "http", p.listener.Addr().String(), nil
	return u.String()
}

// Serve passes traffic on until ctx ends, then cuts what is open and returns
// when nothing of it is left.
func (p *Proxy) Serve(ctx context.Context) error {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DisableCompression = true // or bodies would be unpacked on the way
	transport.Proxy = nil               // the address given is the one that is meant
	p.proxy.Transport = transport
	defer transport.CloseIdleConnections()

	requests, cut := context.WithCancel(context.WithoutCancel(ctx))
	server := &http.Server{
		Handler:     p,
		BaseContext: func(net.Listener) context.Context { return requests },
		ErrorLog:    log.New(io.Discard, "", 0),
	}
	closed := context.AfterFunc(ctx, func() {
		p.mu.Lock()
		p.stopping = true // before anything breaks, so that the trace tells why it did
		p.mu.Unlock()
		cut()
		server.Close()
	})
	err := server.Serve(p.listener)
	p.mu.Lock()
	p.stopping = true
	p.mu.Unlock()
	closed() // nothing more to do when the context ends
	cut()
	server.Close()
	p.busy.Wait()
	p.tape.stop()
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("recording: %w", err)
}

// exchange is one request and its answer on their way through.
type exchange struct {
	proxy *Proxy
	id    string
	ctx   context.Context // of the client's request
	ended sync.Once
	bytes int64 // of the answer's body
}

type exchangeKey struct{}

// enter counts a request in, unless the proxy is about to end.
func (p *Proxy) enter() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.stopping {
		p.busy.Add(1)
	}
	return !p.stopping
}

func (p *Proxy) isStopping() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stopping
}

// ServeHTTP passes one request on.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !p.enter() {
		panic(http.ErrAbortHandler)
	}
	defer p.busy.Done()
	// A server may answer before it has the whole body, and a client of HTTP/1
	// sees that only if the body may still be read then.
	http.NewResponseController(w).EnableFullDuplex() // fails where that is so anyway
	x := &exchange{proxy: p, id: fmt.Sprintf("x%d", p.count.Add(1)), ctx: r.Context()}
	defer x.end(trace.Server, trace.End{How: "error", Detail: "the answer was given up"}) // unless it has ended before
	x.record(trace.Event{Kind: trace.KindHTTP, From: trace.Client, HTTP: &trace.Head{
		Method: r.Method, URL: p.address(r.URL), Headers: headers(r.Header, r.Host),
	}})
	if r.Body != nil && r.Body != http.NoBody {
		r.Body = &requestBody{body: r.Body, left: r.ContentLength, x: x, kept: bounded{limit: p.limit}}
	}
	p.proxy.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), exchangeKey{}, x)))
}

// address is the URL as it would be without the proxy.
func (p *Proxy) address(u *url.URL) string {
	return p.upstream.Scheme + "://" + p.upstream.Host + u.RequestURI()
}

// headers lists a header sorted by name: the order of the wire is not known.
func headers(h http.Header, host string) [][2]string {
	var out [][2]string
	if host != "" {
		out = append(out, [2]string{"Host", host})
	}
	names := make([]string, 0, len(h))
	for name := range h {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		for _, v := range h[name] {
			out = append(out, [2]string{name, v})
		}
	}
	return out
}

func (p *Proxy) rewrite(r *httputil.ProxyRequest) {
	r.Out.URL.Scheme, r.Out.URL.Host = p.upstream.Scheme, p.upstream.Host
	r.Out.Host = p.upstream.Host
	r.Out.URL.RawQuery = r.In.URL.RawQuery // as it came, even where it cannot be parsed
	r.Out.Header.Set("Accept-Encoding", "identity")
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"} {
		if v, ok := r.In.Header[name]; ok {
			r.Out.Header[name] = v // taken out by httputil, which expects us to add our own
		}
	}
	if _, ok := r.In.Header["User-Agent"]; !ok {
		r.Out.Header["User-Agent"] = nil // do not let the transport add its own
	}
	if u := p.upstream.User; u != nil && r.In.Header.Get("Authorization") == "" {
		password, _ := u.Password()
		r.Out.SetBasicAuth(u.Username(), password)
	}
}

// answer records the head of the server's answer and taps its body.
func (p *Proxy) answer(r *http.Response) error {
	x := r.Request.Context().Value(exchangeKey{}).(*exchange)
	x.record(trace.Event{Kind: trace.KindHTTP, From: trace.Server, HTTP: &trace.Head{Status: r.StatusCode, Headers: headers(r.Header, "")}})
	if r.StatusCode == http.StatusSwitchingProtocols {
		return nil // no longer HTTP, and nothing of MCP
	}
	r.Body = &responseBody{body: r.Body, x: x, tap: x.tap(r)}
	return nil
}

// failed answers for a server that did not. The 502 is ours and not recorded.
func (p *Proxy) failed(w http.ResponseWriter, r *http.Request, err error) {
	x := r.Context().Value(exchangeKey{}).(*exchange)
	if r.Context().Err() != nil {
		x.gone()
		return
	}
	x.end(trace.Server, trace.End{How: "error", Detail: "no answer from the server: " + err.Error()})
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(http.StatusBadGateway)
	fmt.Fprintf(w, "mcp-conform record: no answer from %s: %v\n", p.upstream.Host, err)
}

func (x *exchange) record(e trace.Event) {
	e.Exchange = x.id
	x.proxy.tape.record(e)
}

// end records the end of the exchange; only the first call counts.
func (x *exchange) end(from trace.Side, end trace.End) {
	x.ended.Do(func() {
		end.Bytes = x.bytes
		x.record(trace.Event{Kind: trace.KindClosed, From: from, End: &end})
	})
}

// gone records that the client's side ended the exchange, or we did.
func (x *exchange) gone() {
	if x.proxy.isStopping() {
		x.end("", trace.End{How: "closed-by-us", Detail: "the recorder was stopped"})
		return
	}
	x.end(trace.Client, trace.End{How: "reset", Detail: "the client closed the connection before the answer was complete"})
}

// requestBody records the body of a request once its last byte has been read,
// and before that byte is passed on: afterwards the answer might come first.
type requestBody struct {
	body io.ReadCloser
	left int64 // bytes that are still to come; -1 when not known
	x    *exchange
	kept bounded
	done bool
}

func (b *requestBody) Read(p []byte) (int, error) {
	n, err := b.body.Read(p)
	b.kept.add(p[:n])
	if b.left > 0 {
		b.left -= int64(n)
	}
	if b.left == 0 && err == nil {
		err = io.EOF
	}
	if err == io.EOF {
		b.finish()
	}
	return n, err
}

func (b *requestBody) finish() {
	if b.done {
		return
	}
	b.done = true
	if !b.kept.empty() {
		b.x.record(payload(trace.Event{From: trace.Client}, b.kept.data, b.kept.over))
	}
	b.kept.reset()
}

func (b *requestBody) Close() error { return b.body.Close() }

// responseBody taps the body of an answer on its way to the client.
type responseBody struct {
	body io.ReadCloser
	x    *exchange
	tap  tap
}

// tap takes a body in pieces and records what it makes of them.
type tap interface {
	write(p []byte)
	close() // the body has ended, or is not coming any more
}

func (b *responseBody) Read(p []byte) (int, error) {
	n, err := b.body.Read(p)
	b.x.bytes += int64(n)
	b.tap.write(p[:n])
	switch {
	case err == nil:
	case errors.Is(err, io.EOF):
		b.tap.close()
		b.x.end(trace.Server, trace.End{How: "eof"})
	case b.x.ctx.Err() != nil:
		b.tap.close()
		b.x.gone()
	default:
		b.tap.close()
		b.x.end(trace.Server, trace.End{How: "reset", Detail: err.Error()})
	}
	return n, err
}

// Close without an end means that the client does not take the rest.
func (b *responseBody) Close() error {
	err := b.body.Close()
	b.tap.close()
	b.x.gone()
	return err
}

// tap returns what records the body of r.
func (x *exchange) tap(r *http.Response) tap {
	if enc := r.Header.Get("Content-Encoding"); enc != "" && !strings.EqualFold(enc, "identity") {
		return &sealedTap{x: x, encoding: enc}
	}
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err == nil && media == "text/event-stream" {
		return newStreamTap(x)
	}
	return &wholeTap{x: x, kept: bounded{limit: x.proxy.limit}}
}

// wholeTap records a body as one event when it has ended.
type wholeTap struct {
	x    *exchange
	kept bounded
}

func (t *wholeTap) write(p []byte) { t.kept.add(p) }

func (t *wholeTap) close() {
	if !t.kept.empty() {
		t.x.record(payload(trace.Event{From: trace.Server}, t.kept.data, t.kept.over))
	}
	t.kept.reset()
}

// streamTap records each server-sent event as it passes.
type streamTap struct {
	decoder *sse.Decoder
	done    bool
}

func newStreamTap(x *exchange) *streamTap {
	return &streamTap{decoder: sse.NewDecoder(x.proxy.limit, func(it sse.Item) {
		e := trace.Event{From: trace.Server}
		it.Fill(&e)
		if it.Dropped > 0 {
			cut := payload(e, it.Data, it.Dropped)
			cut.SSE, e = e.SSE, cut
		}
		if it.Incomplete {
			e.Note = "the stream ended within this event"
		}
		x.record(e)
	})}
}

func (t *streamTap) write(p []byte) { t.decoder.Write(p) }

func (t *streamTap) close() {
	if !t.done {
		t.done = true
		t.decoder.Close()
	}
}

// sealedTap stands for a body that the server compressed although it was asked
// not to: what passed is noted, and not what it said.
type sealedTap struct {
	x        *exchange
	encoding string
	bytes    int64
}

func (t *sealedTap) write(p []byte) { t.bytes += int64(len(p)) }

func (t *sealedTap) close() {
	if t.bytes > 0 {
		t.x.record(trace.Event{Kind: trace.KindNoise, From: trace.Server, Note: fmt.Sprintf("%d bytes encoded as %s, although plain ones were asked for: not recorded", t.bytes, t.encoding)})
	}
	t.bytes = 0
}
