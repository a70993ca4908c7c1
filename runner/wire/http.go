package wire

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/mcp-conform/mcp-conform/trace"
)

// HTTPOptions say how to reach a server over Streamable HTTP.
type HTTPOptions struct {
	URL    string            // of the MCP endpoint
	Header map[string]string // sent with every request, such as Authorization
	Conn   string            // names the connection in events
	Sink   trace.Sink
	TLS    *tls.Config // nil for the defaults
	Limits Limits
	// Open is how many exchanges may be open at once, 256 unless given; Send
	// waits for a free one.
	Open int
}

// httpClient is one client's use of an HTTP endpoint.
type httpClient struct {
	base   *url.URL
	header map[string]string
	rep    *reporter
	socks  *sockets
	rt     *http.Transport
	slots  chan struct{}

	ctx    context.Context
	cancel context.CancelCauseFunc
	wg     sync.WaitGroup // exchanges
	ended  chan struct{}  // closed when nothing is left

	mu      sync.Mutex
	closing bool
	next    int
	open    map[string]*exchange
	lastID  map[string]string // by exchange
	newest  string            // the exchange that was last given an event id
}

// exchange is one request and all that answers it.
type exchange struct {
	id     string
	cancel context.CancelCauseFunc
	done   chan struct{} // closed when its end has been reported
}

// Why an exchange was cut off.
var (
	errDropped = errors.New("dropped")
	errClosing = errors.New("the connection was closed")
	errFlood   = errors.New("flood")
)

// OpenHTTP returns a wire to the server at an URL. Nothing is connected yet:
// a server that cannot be reached shows when the first exchange ends.
//
// Each Send is one request. Requests are HTTP/1.1 and go to where they are sent:
// redirects are reported and not followed, cookies are not kept, and no proxy
// is taken from the environment. Unless told otherwise a POST has the
// Content-Type and the Accept that every revision since 2025-03-26 demands
// (basic/transports#sending-messages-to-the-server), and a GET its Accept; more
// headers than those and User-Agent the wire does not invent.
//
// ctx bounds the life of the wire.
func OpenHTTP(ctx context.Context, o HTTPOptions) (Wire, error) {
	base, err := url.Parse(o.URL)
	if err != nil {
		return nil, fmt.Errorf("the URL of the server: %w", err)
	}
	if base.Scheme != "http" && base.Scheme != "https" || base.Host == "" {
		return nil, fmt.Errorf("the URL of the server: %q is not of the form http://host/path or https://host/path", o.URL)
	}
	if o.Open <= 0 {
		o.Open = 256
	}
	w := &httpClient{
		base: base, header: o.Header,
		slots:  make(chan struct{}, o.Open),
		ended:  make(chan struct{}),
		open:   map[string]*exchange{},
		lastID: map[string]string{},
	}
	w.ctx, w.cancel = context.WithCancelCause(ctx)
	w.rep = newReporter(o.Conn, o.Sink, trace.Client, o.Limits, func() { w.cancel(errFlood) })
	w.socks = newSockets()
	w.rt = &http.Transport{
		DialContext:        w.socks.dial,
		TLSClientConfig:    o.TLS,
		DisableCompression: true,            // bytes as they are
		IdleConnTimeout:    2 * time.Second, // many servers close theirs after five, see roundTrip

		MaxIdleConnsPerHost:    16,
		TLSHandshakeTimeout:    10 * time.Second,
		MaxResponseHeaderBytes: 1 << 20,
		// So that ALPN does not lead to HTTP/2.
		TLSNextProto: map[string]func(string, *tls.Conn) http.RoundTripper{},
	}
	go w.finish()
	return w, nil
}

// Send posts o.Data.
func (w *httpClient) Send(ctx context.Context, o Out) (string, error) {
	if o.Partial {
		return "", fmt.Errorf("sending part of a line: %w", ErrUnsupported)
	}
	return w.begin(ctx, http.MethodPost, o.HTTP, o.Data, map[string]string{
		"Content-Type": "application/json",
		"Accept":       "application/json, text/event-stream",
	})
}

// Do performs listen, resume, end-session and drop.
func (w *httpClient) Do(ctx context.Context, a Act) (string, error) {
	stream := map[string]string{"Accept": "text/event-stream"}
	switch a.Do {
	case Listen:
		return w.begin(ctx, http.MethodGet, a.HTTP, nil, stream)
	case Resume:
		id, err := w.resumable(a.Exchange)
		if err != nil {
			return "", err
		}
		stream["Last-Event-ID"] = id
		return w.begin(ctx, http.MethodGet, a.HTTP, nil, stream)
	case EndSession:
		return w.begin(ctx, http.MethodDelete, a.HTTP, nil, map[string]string{})
	case Drop:
		return "", w.drop(ctx, a.Exchange)
	}
	return "", fmt.Errorf("%s over HTTP: %w", a.Do, ErrUnsupported)
}

func (w *httpClient) resumable(id string) (string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if id == "" {
		id = w.newest
	}
	last, ok := w.lastID[id]
	if !ok {
		return "", fmt.Errorf("resuming exchange %q: %w", id, ErrNoEventID)
	}
	return last, nil
}

func (w *httpClient) drop(ctx context.Context, id string) error {
	w.mu.Lock()
	var cut []*exchange
	for _, x := range w.open {
		if id == "" || x.id == id {
			cut = append(cut, x)
		}
	}
	w.mu.Unlock()
	if id != "" && len(cut) == 0 {
		return fmt.Errorf("dropping exchange %q: %w", id, ErrNoExchange)
	}
	for _, x := range cut {
		x.cancel(errDropped)
	}
	for _, x := range cut {
		select {
		case <-x.done:
		case <-ctx.Done():
			return fmt.Errorf("dropping exchange %s: %w", x.id, ctx.Err())
		}
	}
	return nil
}

// begin sends a request and leaves the rest to a goroutine.
func (w *httpClient) begin(ctx context.Context, method string, o *HTTP, data []byte, defaults map[string]string) (string, error) {
	how := HTTP{}
	if o != nil {
		how = *o
	}
	if how.Method == "" {
		how.Method = method
	}
	defaults["User-Agent"] = "mcp-conform"
	xctx, cancel := context.WithCancelCause(w.ctx)
	req, head, err := newRequest(xctx, w.base, data, how, w.header, defaults)
	if err != nil {
		cancel(err)
		return "", err
	}
	select {
	case w.slots <- struct{}{}:
	case <-w.ctx.Done():
		cancel(ErrClosed)
		return "", fmt.Errorf("sending: %w", ErrClosed)
	case <-ctx.Done():
		cancel(ctx.Err())
		return "", fmt.Errorf("waiting for one of %d open exchanges to end: %w", cap(w.slots), ctx.Err())
	}
	x, err := w.enter(cancel)
	if err != nil {
		<-w.slots
		cancel(err)
		return "", err
	}
	w.rep.emit(trace.Event{Kind: trace.KindHTTP, From: trace.Client, Exchange: x.id, HTTP: head})
	if len(data) > 0 {
		w.rep.payload(trace.Event{From: trace.Client, Exchange: x.id, Data: data}, 0)
	}
	go w.run(x, req)
	return x.id, nil
}

func (w *httpClient) enter(cancel context.CancelCauseFunc) (*exchange, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closing || w.ctx.Err() != nil {
		return nil, fmt.Errorf("sending: %w", ErrClosed)
	}
	w.next++
	x := &exchange{id: strconv.Itoa(w.next), cancel: cancel, done: make(chan struct{})}
	w.open[x.id] = x
	w.wg.Add(1)
	return x, nil
}

// run waits for the answer and reports it to its end.
func (w *httpClient) run(x *exchange, req *http.Request) {
	defer w.wg.Done()
	end := w.answer(x, req)
	if cause := context.Cause(req.Context()); cause != nil && end.How != "eof" {
		end.How, end.Detail = ourEnd(cause, w.rep)
	}
	from := trace.Server
	if end.How == "closed-by-us" || end.How == "timeout" {
		from = trace.Client
	}
	w.mu.Lock()
	delete(w.open, x.id)
	w.mu.Unlock()
	x.cancel(nil)
	<-w.slots
	w.rep.emit(trace.Event{Kind: trace.KindClosed, From: from, Exchange: x.id, End: &end})
	close(x.done)
}

func (w *httpClient) answer(x *exchange, req *http.Request) trace.End {
	res, err := w.roundTrip(req)
	if err != nil {
		how, detail := broke(err, false)
		return trace.End{How: how, Detail: detail}
	}
	defer res.Body.Close()
	w.rep.emit(trace.Event{Kind: trace.KindHTTP, From: trace.Server, Exchange: x.id, HTTP: &trace.Head{
		Status: res.StatusCode, Headers: headPairs(res.Header, res.TransferEncoding),
	}})
	b := newBody(w.rep, x.id, trace.Server, res.Header.Get("Content-Type"), func(id string) {
		w.mu.Lock()
		w.lastID[x.id], w.newest = id, x.id
		w.mu.Unlock()
	})
	err = copyBody(w.rep, b, res.Body)
	b.Close()
	end := trace.End{How: "eof", Bytes: b.n}
	switch {
	case b.full():
		end.How, end.Detail = "closed-by-us", "the body is longer than is read"
	case err != nil:
		end.How, end.Detail = broke(err, true)
	}
	return end
}

// roundTrip sends a request and waits for the head of the answer. A server may
// close a connection that it has kept alive at any moment (RFC 9112, section
// 9.5), also in the one in which the request is on its way. That is no fault of
// its, and looks like one: so a request that was sent on a used connection, and
// that ended it without one byte of an answer, is sent once more on a new one.
func (w *httpClient) roundTrip(req *http.Request) (*http.Response, error) {
	var used, answered atomic.Bool
	watch := &httptrace.ClientTrace{
		GotConn:              func(i httptrace.GotConnInfo) { used.Store(i.Reused) },
		GotFirstResponseByte: func() { answered.Store(true) },
	}
	res, err := w.rt.RoundTrip(req.WithContext(httptrace.WithClientTrace(req.Context(), watch)))
	if err == nil || !used.Load() || answered.Load() || req.Context().Err() != nil {
		return res, err
	}
	if how, _ := broke(err, false); how != "reset" {
		return nil, err
	}
	if req.GetBody != nil {
		var again error
		if req.Body, again = req.GetBody(); again != nil {
			return nil, err
		}
	}
	w.rt.CloseIdleConnections()
	return w.rt.RoundTrip(req)
}

// ourEnd says how something ended that was cut off on this side.
func ourEnd(cause error, rep *reporter) (how, detail string) {
	switch {
	case errors.Is(cause, errDropped), errors.Is(cause, errClosing), errors.Is(cause, errLeft):
		return "closed-by-us", cause.Error()
	case errors.Is(cause, errFlood):
		return "closed-by-us", rep.flood()
	}
	return "timeout", cause.Error()
}

// broke says how a connection ended that the other side broke off, or that
// never came about. begun says that a response head has been seen.
func broke(err error, begun bool) (how, detail string) {
	detail = err.Error()
	var dial *net.OpError
	switch {
	case errors.As(err, &dial) && dial.Op == "dial":
		return "error", detail
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, io.ErrUnexpectedEOF):
		return "reset", detail
	case errors.Is(err, io.EOF), strings.Contains(detail, "server closed idle connection"):
		if !begun {
			detail = "the connection ended without a response: " + detail
		}
		return "reset", detail
	}
	return "error", detail
}

// Close cuts what is open, and waits until it has ended.
func (w *httpClient) Close(ctx context.Context) error {
	w.cancel(errClosing)
	select {
	case <-w.ended:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("closing the connection to %s: %w", w.base.Redacted(), ctx.Err())
	}
}

// finish waits for the end of the wire, whatever causes it, and clears up.
func (w *httpClient) finish() {
	<-w.ctx.Done()
	w.mu.Lock()
	w.closing = true
	w.mu.Unlock()
	w.wg.Wait()
	w.rt.CloseIdleConnections()
	w.socks.close()
	end := trace.End{}
	end.How, end.Detail = ourEnd(context.Cause(w.ctx), w.rep)
	w.rep.emit(trace.Event{Kind: trace.KindClosed, From: trace.Client, End: &end})
	close(w.ended)
}
