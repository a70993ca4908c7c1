package runner

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/mcp-conform/mcp-conform/runner/wire"
	"github.com/mcp-conform/mcp-conform/scenarios"
	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

// fakeServer is a server in memory that answers by the harness's own manners
// unless a test wants otherwise.
type fakeServer struct {
	revision schemas.Revision
	// on has what to do on a method; "" is for what is no message.
	on map[string]func(w *fakeWire, m schemas.Message)

	mu    sync.Mutex
	wires []*fakeWire
}

// fakeWire is one stdio-like connection to a fakeServer.
type fakeWire struct {
	server *fakeServer
	sink   trace.Sink
	number int // of the connection, from 1

	mu     sync.Mutex
	ended  bool
	closed bool
	heard  []string // what the harness sent
}

func (s *fakeServer) open(_ context.Context, _ *conn, sink trace.Sink) (wire.Wire, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := &fakeWire{server: s, sink: sink, number: len(s.wires) + 1}
	s.wires = append(s.wires, w)
	return w, nil
}

func (w *fakeWire) Send(_ context.Context, o wire.Out) (string, error) {
	w.mu.Lock()
	ended := w.ended
	w.heard = append(w.heard, string(o.Data))
	w.mu.Unlock()
	if ended {
		return "", wire.ErrClosed
	}
	w.sink(trace.Event{Kind: trace.PayloadKind(o.Data), From: trace.Client, Data: o.Data})
	m := schemas.Classify(o.Data)
	if do := w.server.on[m.Method]; do != nil {
		do(w, m)
		return "", nil
	}
	if m.Kind == schemas.Request {
		w.answer(m)
	}
	return "", nil
}

// answer responds as manners do.
func (w *fakeWire) answer(m schemas.Message) {
	a := manners(trace.Server, &dressing{revision: w.server.revision}, m)
	if a.err != nil {
		w.say(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"error":` + string(a.err) + `}`)
		return
	}
	w.say(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":` + string(a.result) + `}`)
}

func (w *fakeWire) say(line string) {
	w.sink(trace.Event{Kind: trace.PayloadKind([]byte(line)), From: trace.Server, Data: []byte(line)})
}

func (w *fakeWire) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.ended {
		w.ended = true
		w.sink(trace.Event{Kind: trace.KindClosed, From: trace.Server, End: &trace.End{How: "exit", Code: 3}})
	}
}

func (w *fakeWire) Do(_ context.Context, a wire.Act) (string, error) {
	switch a.Do {
	case wire.CloseStdin, wire.Terminate:
		w.end()
		return "", nil
	}
	return "", wire.ErrUnsupported
}

func (w *fakeWire) Close(context.Context) error {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.end()
	return nil
}

// newTestRun is a run against a fake server, over what stands for stdio, with a
// pace for tests: nothing waits longer than a moment.
func newTestRun(t *testing.T, s *fakeServer, texts ...string) *run {
	t.Helper()
	if s.revision == "" {
		s.revision = schemas.R20251125
	}
	o := options(t, Target{Role: trace.Server, Command: []string{"fake"}})
	o.Revisions, o.Scenarios = []schemas.Revision{s.revision}, nil
	for i, text := range texts {
		sc, err := scenarios.Parse("test/"+string(rune('a'+i))+".yaml", []byte("title: a test\ntarget: server\n"+text))
		if err != nil {
			t.Fatal(err)
		}
		o.Scenarios = append(o.Scenarios, *sc)
	}
	r, err := newRun(o)
	if err != nil {
		t.Fatal(err)
	}
	r.open = s.open
	r.limits.answer = 60 * time.Millisecond
	return r
}

// judged runs and returns the results in order.
func judged(t *testing.T, r *run) []Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := r.discover(ctx); err != nil {
		t.Fatal(err)
	}
	r.limits.answer = 60 * time.Millisecond
	lanes := r.plan()
	r.each(len(lanes), func(i int) { lanes[i].hold(ctx) })
	for _, err := range r.out.Harness {
		t.Errorf("the harness: %v", err)
	}
	return r.out.Results
}
