package wire_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gleak"

	"github.com/mcp-conform/mcp-conform/runner/wire"
	"github.com/mcp-conform/mcp-conform/trace"
)

// bound is how long anything in these tests may take before it counts as hung.
const bound = 30 * time.Second

// tape is a sink that tests look into.
type tape struct {
	mu     sync.Mutex
	events []trace.Event
	grown  chan struct{} // closed and replaced with each event
}

func newTape() *tape { return &tape{grown: make(chan struct{})} }

func (t *tape) sink(e trace.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e.Data = bytes.Clone(e.Data)
	e.Seq = int64(len(t.events) + 1)
	t.events = append(t.events, e)
	close(t.grown)
	t.grown = make(chan struct{})
}

// wait returns the first event that satisfies is, now or to come.
func (t *tape) wait(tb testing.TB, what string, is func(trace.Event) bool) trace.Event {
	tb.Helper()
	late := time.After(bound)
	for i := 0; ; {
		t.mu.Lock()
		for ; i < len(t.events); i++ {
			if is(t.events[i]) {
				e := t.events[i]
				t.mu.Unlock()
				return e
			}
		}
		grown := t.grown
		t.mu.Unlock()
		select {
		case <-grown:
		case <-late:
			tb.Fatalf("no %s within %v; the tape:\n%s", what, bound, t)
		}
	}
}

// closed waits for the end of an exchange, or of the connection for "".
func (t *tape) closed(tb testing.TB, exchange string, from trace.Side) trace.Event {
	tb.Helper()
	return t.wait(tb, fmt.Sprintf("end of %q by the %s", exchange, from), func(e trace.Event) bool {
		return e.Kind == trace.KindClosed && e.Exchange == exchange && e.From == from
	})
}

// text is the tape in short, one event a line; only keeps the events of one
// exchange, "" keeps all.
func (t *tape) text(only string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var b strings.Builder
	for _, e := range t.events {
		if only == "" || e.Exchange == only {
			b.WriteString(line(e) + "\n")
		}
	}
	return b.String()
}

func (t *tape) String() string { return t.text("") }

func line(e trace.Event) string {
	arrow := map[trace.Side]string{trace.Client: "->", trace.Server: "<-"}[e.From]
	s := fmt.Sprintf("%s %s", arrow, e.Kind)
	switch {
	case e.HTTP != nil && e.HTTP.Method != "":
		s += " " + e.HTTP.Method
	case e.HTTP != nil:
		s += fmt.Sprintf(" %d", e.HTTP.Status)
	case e.End != nil:
		s += " " + e.End.How
		if e.End.How == "exit" {
			s += fmt.Sprintf(" %d", e.End.Code)
		}
		s += e.End.Signal
	}
	if e.SSE != nil && e.SSE.ID != nil {
		s += " #" + *e.SSE.ID
	}
	if len(e.Data) > 200 {
		return s + fmt.Sprintf(" (%d bytes)", len(e.Data))
	}
	if len(e.Data) > 0 {
		s += " " + string(e.Data)
	}
	return s
}

// stuck sends what the peer will not read, and gives up when it is under way.
func stuck(t *testing.T, w wire.Wire, tp *tape, o wire.Out) error {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	sent := make(chan error, 1)
	go func() {
		_, err := w.Send(ctx, o)
		sent <- err
	}()
	tp.wait(t, "long message", func(e trace.Event) bool { return len(e.Data) >= 1<<20 })
	cancel()
	return <-sent
}

// soon is a context for what must not take longer than the bound.
func soon(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), bound)
	t.Cleanup(cancel)
	return ctx
}

// closing closes w at the end of the test and checks that nothing is left.
func closing(t *testing.T, w wire.Wire) {
	t.Helper()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), bound)
		defer cancel()
		if err := w.Close(ctx); err != nil {
			t.Errorf("closing: %v", err)
		}
	})
}

// leakless checks at the end of the test that no goroutine is left that was
// not there before. It comes first in a test, so that it is checked last.
func leakless(t *testing.T) *WithT {
	t.Helper()
	g := NewWithT(t)
	before := gleak.Goroutines()
	t.Cleanup(func() {
		g.Eventually(gleak.Goroutines).WithTimeout(10 * time.Second).ShouldNot(gleak.HaveLeaked(before))
	})
	return g
}
