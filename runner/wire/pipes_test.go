package wire_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/mcp-conform/mcp-conform/runner/wire"
	"github.com/mcp-conform/mcp-conform/trace"
)

// serveFunc is a server in this process.
type serveFunc func(ctx context.Context, in io.Reader, out, errw io.Writer) error

func openPipes(t *testing.T, tp *tape, serve serveFunc, change ...func(*wire.PipesOptions)) wire.Wire {
	t.Helper()
	o := wire.PipesOptions{Serve: serve, Conn: "p", Sink: tp.sink}
	for _, f := range change {
		f(&o)
	}
	w, err := wire.OpenPipes(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	closing(t, w)
	return w
}

func TestPipesEcho(t *testing.T) {
	g := leakless(t)
	tp := newTape()
	w := openPipes(t, tp, func(_ context.Context, in io.Reader, out, _ io.Writer) error {
		_, err := io.Copy(out, in)
		return err
	})
	send(t, w, ping)
	tp.wait(t, "echo", func(e trace.Event) bool { return e.From == trace.Server })
	g.Expect(w.Close(soon(t))).To(Succeed())
	g.Expect(tp.String()).To(Equal("-> message " + ping + "\n<- message " + ping + "\n-> closed closed-by-us\n<- closed exit 0\n"))
	_, err := w.Send(soon(t), wire.Out{Data: []byte(ping)})
	g.Expect(err).To(MatchError(wire.ErrClosed))
}

func TestPipesServerThatFails(t *testing.T) {
	g := leakless(t)
	tp := newTape()
	openPipes(t, tp, func(context.Context, io.Reader, io.Writer, io.Writer) error { return errors.New("no database") })
	tp.closed(t, "", trace.Server)
	g.Expect(tp.String()).To(Equal("<- stderr no database\n<- closed exit 1\n"))
}

func TestPipesServerThatNeitherReadsNorEnds(t *testing.T) {
	for _, end := range []string{"close", "drop"} {
		t.Run(end, func(t *testing.T) {
			g := leakless(t)
			tp := newTape()
			w := openPipes(t, tp, func(ctx context.Context, _ io.Reader, _, _ io.Writer) error {
				<-ctx.Done()
				return ctx.Err()
			}, func(o *wire.PipesOptions) { o.Grace = 20 * time.Millisecond })
			err := stuck(t, w, tp, wire.Out{Data: make([]byte, 1<<20)})
			g.Expect(err).To(MatchError(ContainSubstring("does not read")))
			if end == "drop" {
				_, err = w.Do(soon(t), wire.Act{Do: wire.Drop})
				g.Expect(err).NotTo(HaveOccurred())
			}
			g.Expect(w.Close(soon(t))).To(Succeed())
			g.Expect(tp.closed(t, "", trace.Server).End).To(HaveField("How", "exit"))
		})
	}
}

func TestPipesFlood(t *testing.T) {
	g := leakless(t)
	tp := newTape()
	openPipes(t, tp, func(_ context.Context, _ io.Reader, out, _ io.Writer) error {
		for {
			if _, err := io.WriteString(out, strings.Repeat("log\n", 100)); err != nil {
				return err
			}
		}
	}, func(o *wire.PipesOptions) { o.Limits = wire.Limits{Events: 10} })
	end := tp.closed(t, "", trace.Client).End
	g.Expect(*end).To(And(HaveField("How", "closed-by-us"), HaveField("Detail", "flood: more than 10 events")))
	g.Expect(strings.Count(tp.String(), "<- noise log\n")).To(Equal(10))
}
