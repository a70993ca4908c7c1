package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mcp-conform/mcp-conform/trace"
)

// ListenOptions say how to be a server that clients reach over Streamable HTTP.
type ListenOptions struct {
	Path string // of the MCP endpoint, "/mcp" unless given
	// Also lists other paths whose requests the caller answers; one that ends in
	// a slash stands for all below it. A request to any other path gets 404 at
	// once, and is reported all the same.
	Also   []string
	Conn   string // names the connection in events
	Sink   trace.Sink
	Limits Limits
	// Open is how many exchanges may be open at once, 256 unless given; a
	// request beyond that gets 503.
	Open int
}

// HTTPListener is the server's side of Streamable HTTP, for clients under test.
//
// Every request is reported, its head and then its body. Those to the endpoint
// then wait, each in its exchange, until they are answered:
//
//	Send(ctx, Out{Exchange: x, Data: result})                                      // as JSON
//	Send(ctx, Out{Exchange: x, HTTP: &HTTP{Status: 202}})                          // without a body
//	Send(ctx, Out{Exchange: x, Data: first, HTTP: &HTTP{Stream: true}})            // opens a stream
//	Send(ctx, Out{Exchange: x, Data: next, HTTP: &HTTP{EventID: "7"}, Last: true}) // on it
//
// So a GET is accepted by answering with a stream, which may carry nothing yet,
// and refused by a status. Any status, headers and bytes will do.
type HTTPListener struct {
	o      ListenOptions
	rep    *reporter
	origin string
	server http.Server

	ctx    context.Context
	cancel context.CancelCauseFunc
	ended  chan struct{}

	wg sync.WaitGroup // exchanges

	mu      sync.Mutex
	closing bool
	next    int
	open    map[string]*served
	order   []string // ids of open exchanges, oldest first
}

// ListenHTTP listens on a port of the loopback interface that the system
// chooses. ctx bounds the life of the listener.
func ListenHTTP(ctx context.Context, o ListenOptions) (*HTTPListener, error) {
	if o.Path == "" {
		o.Path = "/mcp"
	}
	if !strings.HasPrefix(o.Path, "/") {
		return nil, fmt.Errorf("listening for clients: the path %q does not begin with a slash", o.Path)
	}
	if o.Open <= 0 {
		o.Open = 256
	}
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listening for clients: %w", err)
	}
	w := &HTTPListener{
		o: o, origin: "http://" + l.Addr().String(),
		ended: make(chan struct{}),
		open:  map[string]*served{},
	}
	w.ctx, w.cancel = context.WithCancelCause(ctx)
	w.rep = newReporter(o.Conn, o.Sink, trace.Server, o.Limits, func() { w.cancel(errFlood) })
	w.server = http.Server{
		Handler:           w,
		ReadHeaderTimeout: 30 * time.Second,
		ErrorLog:          log.New(io.Discard, "", 0),
	}
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		if err := w.server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			w.cancel(fmt.Errorf("listening for clients: %w", err))
		}
	}()
	go w.finish(stopped)
	return w, nil
}

// URL is that of the endpoint.
func (w *HTTPListener) URL() string { return w.origin + w.o.Path }

// Send answers the request of an exchange, or adds to its stream.
func (w *HTTPListener) Send(ctx context.Context, o Out) (string, error) {
	if o.Partial {
		return "", fmt.Errorf("sending part of a line: %w", ErrUnsupported)
	}
	x := w.find(o.Exchange)
	if x == nil {
		return "", fmt.Errorf("answering exchange %q: %w", o.Exchange, ErrNoExchange)
	}
	return x.id, x.send(ctx, o)
}

// find returns an open exchange; "" is the newest GET that has a stream.
func (w *HTTPListener) find(id string) *served {
	w.mu.Lock()
	defer w.mu.Unlock()
	if id != "" {
		return w.open[id]
	}
	for _, id := range slices.Backward(w.order) {
		if x := w.open[id]; x.method == http.MethodGet && x.streams.Load() {
			return x
		}
	}
	return nil
}

// Do performs drop: it cuts the connection of an exchange, answered or not, or
// of all.
func (w *HTTPListener) Do(ctx context.Context, a Act) (string, error) {
	if a.Do != Drop {
		return "", fmt.Errorf("%s on the listening side of HTTP: %w", a.Do, ErrUnsupported)
	}
	w.mu.Lock()
	var cut []*served
	for _, id := range w.order {
		if a.Exchange == "" || a.Exchange == id {
			cut = append(cut, w.open[id])
		}
	}
	w.mu.Unlock()
	if a.Exchange != "" && len(cut) == 0 {
		return "", fmt.Errorf("dropping exchange %q: %w", a.Exchange, ErrNoExchange)
	}
	for _, x := range cut {
		x.drop()
	}
	for _, x := range cut {
		select {
		case <-x.gone:
		case <-ctx.Done():
			return "", fmt.Errorf("dropping exchange %s: %w", x.id, ctx.Err())
		}
	}
	return "", nil
}

// ServeHTTP takes a client's request and holds it until its exchange has ended.
func (w *HTTPListener) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	x, crowded := w.enter(rw, r)
	if x == nil {
		panic(http.ErrAbortHandler)
	}
	defer w.wg.Done()
	head := &trace.Head{Method: r.Method, URL: r.RequestURI}
	if strings.HasPrefix(head.URL, "/") {
		head.URL = w.origin + head.URL
	}
	head.Headers = append([][2]string{{"Host", r.Host}}, headPairs(r.Header, r.TransferEncoding)...)
	w.rep.emit(trace.Event{Kind: trace.KindHTTP, From: trace.Client, Exchange: x.id, HTTP: head})
	x.receive(r)
	switch {
	case x.finished || x.broken != nil:
	case crowded:
		x.refuse(http.StatusServiceUnavailable)
	case !w.awaits(r.URL.Path):
		x.refuse(http.StatusNotFound)
	default:
		w.serve(x, r)
	}
	x.finish()
	end, from := w.endOf(x)
	w.leave(x)
	w.rep.emit(trace.Event{Kind: trace.KindClosed, From: from, Exchange: x.id, End: &end})
	close(x.gone)
	if end.How != "eof" {
		panic(http.ErrAbortHandler) // or net/http would end the body as if it were whole
	}
}

// awaits reports whether requests to a path wait for the caller's answer.
func (w *HTTPListener) awaits(path string) bool {
	return path == w.o.Path || slices.ContainsFunc(w.o.Also, func(also string) bool {
		return path == also || strings.HasSuffix(also, "/") && strings.HasPrefix(path, also)
	})
}

func (w *HTTPListener) enter(rw http.ResponseWriter, r *http.Request) (x *served, crowded bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closing {
		return nil, false
	}
	w.wg.Add(1)
	w.next++
	x = newServed(strconv.Itoa(w.next), w.rep, rw, r)
	crowded = len(w.open) >= w.o.Open
	w.open[x.id] = x
	w.order = append(w.order, x.id)
	return x, crowded
}

func (w *HTTPListener) leave(x *served) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.open, x.id)
	w.order = slices.DeleteFunc(w.order, func(id string) bool { return id == x.id })
}

// serve answers a request as it is told to. When the wire is closed, a request
// that waits for its answer is told that there will be none, and a stream ends
// as if nothing were left to say.
func (w *HTTPListener) serve(x *served, r *http.Request) {
	for !x.finished && x.broken == nil {
		select {
		case a := <-x.answers:
			a.done <- x.answer(a.o)
		case <-x.cut:
			x.broken = errDropped
		case <-r.Context().Done():
			x.broken = errors.New("the client went away")
		case <-w.ctx.Done():
			switch {
			case context.Cause(w.ctx) != errClosing:
				x.broken = context.Cause(w.ctx)
			case x.begun:
				x.finish()
			default:
				x.refuse(http.StatusServiceUnavailable)
			}
		}
	}
}

// endOf says how an exchange ended, and by whom. What this side did itself
// explains the errors that came of it.
func (w *HTTPListener) endOf(x *served) (trace.End, trace.Side) {
	end := trace.End{How: "eof", Bytes: x.sent()}
	switch cause := context.Cause(w.ctx); {
	case x.broken == nil:
		return end, trace.Server
	case x.dropped():
		end.How, end.Detail = ourEnd(errDropped, w.rep)
	case cause != nil:
		end.How, end.Detail = ourEnd(cause, w.rep)
	default:
		end.How, end.Detail = "reset", x.broken.Error()
		return end, trace.Client
	}
	return end, trace.Server
}

// Close releases what is open and waits until no connection is left.
func (w *HTTPListener) Close(ctx context.Context) error {
	w.cancel(errClosing)
	select {
	case <-w.ended:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("closing %s: %w", w.origin, ctx.Err())
	}
}

// finish waits for the end of the wire, whatever causes it, and clears up.
func (w *HTTPListener) finish(stopped <-chan struct{}) {
	<-w.ctx.Done()
	// Clients that neither read nor finish what they write get a second.
	soon, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if w.server.Shutdown(soon) != nil {
		w.server.Close()
	}
	<-stopped
	w.mu.Lock()
	w.closing = true
	w.mu.Unlock()
	w.wg.Wait()
	end := trace.End{}
	end.How, end.Detail = ourEnd(context.Cause(w.ctx), w.rep)
	w.rep.emit(trace.Event{Kind: trace.KindClosed, From: trace.Server, End: &end})
	close(w.ended)
}
