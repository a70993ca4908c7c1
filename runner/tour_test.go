package runner_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/internal/peer"
	"github.com/mcp-conform/mcp-conform/runner"
	"github.com/mcp-conform/mcp-conform/runner/wire"
	"github.com/mcp-conform/mcp-conform/scenarios"
	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
	"github.com/mcp-conform/mcp-conform/trace/sse"
)

// A tour is the reference client talking to the reference server while the judge
// looks on. It uses everything that the two have, in ways that no scenario plans.

// onlooker hands what happens on one connection to a judge.
type onlooker struct {
	mu    sync.Mutex
	seq   int64
	next  int // exchange
	judge *conformance.Judge
}

func (o *onlooker) see(e trace.Event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.seq++
	e.Seq, e.Conn, e.Time = o.seq, "tour", time.Now()
	o.judge.Observe(e)
}

// tour lets the two talk and returns a ledger of both sides. How the client's run
// ends is not looked at: a fault on either side may well end it.
func tour(t *testing.T, o runner.Options, offer runner.Offer, fault peer.Fault) *conformance.Ledger {
	t.Helper()
	so, co := peer.Options{}, peer.ClientOptions{Revision: offer.Revision, Patience: 2 * time.Second, Probe: time.Second}
	switch {
	case fault.Name == "":
	case fault.Side == trace.Server:
		so.Faults = []string{fault.Name}
	default:
		co.Faults = []string{fault.Name}
	}
	s, err := peer.NewServer(so)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	c, err := peer.NewClient(co)
	if err != nil {
		t.Fatal(err)
	}
	ledger := conformance.NewLedger(o.Catalogue)
	look := &onlooker{judge: conformance.NewJudge(conformance.JudgeOptions{
		Catalogue: o.Catalogue, Schemas: o.Schemas, Emit: ledger.Add,
		Header: trace.Header{Transport: offer.Transport, Revision: string(offer.Revision)},
	})}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if offer.Transport == trace.Stdio {
		look.overPipes(ctx, s, c)
	} else {
		look.overHTTP(ctx, s, c)
	}
	look.judge.Finish()
	for _, f := range look.judge.Seen().Facts {
		ledger.Learn(f)
	}
	return ledger
}

func (o *onlooker) overPipes(ctx context.Context, s *peer.Server, c *peer.Client) {
	toServer, stdin := io.Pipe()
	fromServer, stdout := io.Pipe()
	serving, quit := context.WithCancel(ctx)
	defer quit()
	served := make(chan error, 1)
	go func() {
		err := s.ServeStdio(serving, &tap{look: o, from: trace.Client, r: toServer}, stdout, io.Discard)
		toServer.Close()
		stdout.Close()
		served <- err
	}()
	_ = c.RunStdio(ctx, &tap{look: o, from: trace.Server, r: fromServer}, watchedCloser{stdin, o})
	end := trace.End{How: "exit"}
	patience := time.AfterFunc(2*time.Second, quit) // a faulty server may not leave by itself
	if <-served; serving.Err() != nil {
		end = trace.End{How: "signal", Signal: "SIGTERM"}
	}
	patience.Stop()
	fromServer.Close()
	o.see(trace.Event{Kind: trace.KindClosed, From: trace.Server, End: &end})
}

// watchedCloser tells when the client closes the server's standard input.
type watchedCloser struct {
	*io.PipeWriter
	look *onlooker
}

func (w watchedCloser) Close() error {
	w.look.see(trace.Event{Kind: trace.KindClosed, From: trace.Client, End: &trace.End{How: "closed-by-us", Detail: wire.StandardInput}})
	return w.PipeWriter.Close()
}

// tap reports the lines that are read through it.
type tap struct {
	look *onlooker
	from trace.Side
	r    io.Reader
	rest []byte
}

func (p *tap) Read(b []byte) (int, error) {
	n, err := p.r.Read(b)
	p.rest = append(p.rest, b[:n]...)
	for {
		line, rest, whole := bytes.Cut(p.rest, []byte("\n"))
		if !whole {
			return n, err
		}
		p.look.see(trace.Event{Kind: trace.PayloadKind(line), From: p.from, Data: line})
		p.rest = rest
	}
}

func (o *onlooker) overHTTP(ctx context.Context, s *peer.Server, c *peer.Client) {
	hs := httptest.NewServer(o.handler(s.Handler()))
	defer hs.Close()
	_ = c.RunHTTP(ctx, hs.URL+"/mcp")
	s.Close() // ends the streams that are open
}

// handler reports the exchanges that pass through h.
func (o *onlooker) handler(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		o.mu.Lock()
		o.next++
		x := &exchange{ResponseWriter: w, look: o, id: fmt.Sprintf("e%d", o.next)}
		o.mu.Unlock()
		x.see(trace.Event{Kind: trace.KindHTTP, From: trace.Client, HTTP: &trace.Head{
			Method: r.Method, URL: "http://" + r.Host + r.URL.RequestURI(), Headers: pairs(r.Header),
		}})
		if len(body) > 0 {
			x.see(trace.Event{Kind: trace.PayloadKind(body), From: trace.Client, Data: body})
		}
		defer x.end()
		h.ServeHTTP(x, r)
	})
}

func pairs(h http.Header) (out [][2]string) {
	for k, vs := range h {
		for _, v := range vs {
			out = append(out, [2]string{k, v})
		}
	}
	return out
}

// exchange reports the answer to one HTTP request.
type exchange struct {
	http.ResponseWriter
	look   *onlooker
	id     string
	opened bool
	stream *sse.Decoder
	body   []byte
}

func (x *exchange) see(e trace.Event) {
	e.Exchange = x.id
	x.look.see(e)
}

func (x *exchange) Unwrap() http.ResponseWriter { return x.ResponseWriter }

func (x *exchange) WriteHeader(status int) {
	x.opened = true
	x.see(trace.Event{Kind: trace.KindHTTP, From: trace.Server, HTTP: &trace.Head{Status: status, Headers: pairs(x.Header())}})
	if strings.HasPrefix(x.Header().Get("Content-Type"), "text/event-stream") {
		x.stream = sse.NewDecoder(1<<20, func(it sse.Item) {
			e := trace.Event{From: trace.Server}
			it.Fill(&e)
			x.see(e)
		})
	}
	x.ResponseWriter.WriteHeader(status)
}

func (x *exchange) Write(p []byte) (int, error) {
	if !x.opened {
		x.WriteHeader(http.StatusOK)
	}
	if x.stream != nil {
		_, _ = x.stream.Write(p)
	} else {
		x.body = append(x.body, p...)
	}
	return x.ResponseWriter.Write(p)
}

func (x *exchange) end() {
	if !x.opened {
		x.WriteHeader(http.StatusOK)
	}
	switch {
	case x.stream != nil:
		x.stream.Close()
	case len(x.body) > 0:
		x.see(trace.Event{Kind: trace.PayloadKind(x.body), From: trace.Server, Data: x.body})
	}
	x.see(trace.Event{Kind: trace.KindClosed, From: trace.Server, End: &trace.End{How: "eof"}})
}

// Without a fault there is nothing to find, on either side.
func TestToursAreClean(t *testing.T) {
	o := options(t)
	for _, r := range schemas.Revisions() {
		for _, transport := range []trace.Transport{trace.Stdio, trace.StreamableHTTP} {
			t.Run(fmt.Sprintf("%s %s", r, transport), func(t *testing.T) {
				ledger := tour(t, o, runner.Offer{Revision: r, Transport: transport}, peer.Fault{})
				for _, f := range ledger.Findings() {
					t.Errorf("the %s breaks %s: %s: want %s, got %s: %s", f.Side, f.Requirement, f.Detail, f.Want, f.Got, f.Wire)
				}
				for _, side := range []trace.Side{trace.Client, trace.Server} {
					if judged := ledger.Score(r, side).Must.Judged(); judged < 15 {
						t.Errorf("only %d MUSTs of the %s were judged", judged, side)
					}
				}
			})
		}
	}
}

func options(t *testing.T) runner.Options {
	t.Helper()
	all, err := scenarios.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	catalogue, err := conformance.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	set, err := schemas.Load(schemas.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return runner.Options{Scenarios: all, Catalogue: catalogue, Schemas: set}
}
