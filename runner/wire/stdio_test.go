//go:build unix

package wire_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/mcp-conform/mcp-conform/runner/wire"
	"github.com/mcp-conform/mcp-conform/trace"
)

// message waits for a message from the server that contains text.
func (t *tape) message(tb testing.TB, text string) trace.Event {
	tb.Helper()
	return t.wait(tb, "message with "+text, func(e trace.Event) bool {
		return e.Kind == trace.KindMessage && e.From == trace.Server && strings.Contains(string(e.Data), text)
	})
}

// hasty shortens the grace for peers that will not use it.
func hasty(o *wire.StdioOptions) { o.Grace = 50 * time.Millisecond }

func TestStdioOutput(t *testing.T) {
	for peer, want := range map[string]string{
		"dies": "<- stderr cannot open the database\n<- closed exit 7\n",
		"garbage": "<- noise starting up\n<- noise\n<- noise 42\n<- message {\"a\":1}\r\n<- message []\n" +
			"<- noise {\"a\":\xff}\n<- message {\"a\":\"\xff\"}\n<- noise  {}x\n<- message {\"last\":1}\n<- closed exit 0\n",
		"split":  "<- message {\"a\":\"\u20ac\"}\n<- message [\"\u00e9\"]\n<- closed exit 0\n",
		"many":   strings.Repeat("<- message {}\n", 5000) + "<- closed exit 0\n",
		"long":   "<- message (20971528 bytes)\n<- message {}\n<- closed exit 0\n",
		"aborts": "<- closed signalSIGKILL\n",
	} {
		t.Run(peer, func(t *testing.T) {
			g := leakless(t)
			tp := newTape()
			w := openStdio(t, peer, tp)
			tp.closed(t, "", trace.Server)
			g.Expect(tp.String()).To(Equal(want))
			g.Expect(w.Close(soon(t))).To(Succeed())
			_, err := w.Send(soon(t), wire.Out{Data: []byte(ping)})
			g.Expect(err).To(MatchError(wire.ErrClosed))
			_, err = w.Do(soon(t), wire.Act{Do: wire.Terminate})
			g.Expect(err).To(MatchError(wire.ErrClosed))
			g.Expect(tp.String()).To(Equal(want), "nothing is reported as sent to a process that has ended")
		})
	}
}

func TestStdioExchange(t *testing.T) {
	g := leakless(t)
	tp := newTape()
	w := openStdio(t, "echo", tp)
	send(t, w, ping)
	tp.message(t, ping)
	_, err := w.Send(soon(t), wire.Out{Data: []byte("{\"half\":\n"), Partial: true})
	g.Expect(err).NotTo(HaveOccurred())
	_, err = w.Send(soon(t), wire.Out{Data: []byte("[\"\xe2\x82"), Partial: true})
	g.Expect(err).NotTo(HaveOccurred())
	send(t, w, "\xac\"]")
	tp.message(t, "\u20ac")
	_, err = w.Do(soon(t), wire.Act{Do: wire.Listen})
	g.Expect(err).To(MatchError(wire.ErrUnsupported))
	_, err = w.Do(soon(t), wire.Act{Do: wire.CloseStdin})
	g.Expect(err).NotTo(HaveOccurred())
	end := tp.closed(t, "", trace.Server).End
	g.Expect(end.How).To(Equal("exit"))
	g.Expect(end.After).To(BeNumerically(">", 0))
	g.Expect(end.Detail).To(Equal("asked to end by end of standard input"))
	g.Expect(tp.String()).To(HavePrefix("-> message " + ping + "\n<- message " + ping + "\n-> noise {\"half\":\n"))
	g.Expect(tp.String()).To(HaveSuffix("-> closed closed-by-us\n<- closed exit 0\n"))
	g.Expect(strings.Count(tp.String(), "message [\"\u20ac\"]")).To(Equal(2))
}

func TestStdioClose(t *testing.T) {
	for _, c := range []struct{ peer, ready, want, detail string }{
		{"never answers", "", "-> closed closed-by-us\n<- closed exit 0\n", "asked to end by end of standard input"},
		{"ignores the end of its input", "[]", "-> closed closed-by-us\n<- closed exit 3\n",
			"asked to end by end of standard input, then SIGTERM"},
		{"stubborn", "[]", "-> closed closed-by-us\n-> closed signalSIGKILL\n",
			"asked to end by end of standard input, then SIGTERM, then SIGKILL"},
	} {
		t.Run(c.peer, func(t *testing.T) {
			g := leakless(t)
			tp := newTape()
			w := openStdio(t, c.peer, tp, func(o *wire.StdioOptions) {
				if c.peer == "stubborn" {
					hasty(o)
				}
			})
			if c.ready != "" {
				tp.message(t, c.ready)
			}
			g.Expect(w.Close(soon(t))).To(Succeed())
			g.Expect(tp.String()).To(HaveSuffix(c.want))
			g.Expect(tp.events[len(tp.events)-1].End.Detail).To(Equal(c.detail))
		})
	}
}

func TestStdioCloseInAHurry(t *testing.T) {
	for peer, want := range map[string]string{
		"stubborn":      "-> closed timeoutSIGKILL\n",
		"never answers": "closed ", // it may be quicker
	} {
		t.Run(peer, func(t *testing.T) {
			g := leakless(t)
			tp := newTape()
			w := openStdio(t, peer, tp)
			if peer == "stubborn" {
				tp.message(t, "[]")
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			g.Expect(w.Close(ctx)).To(Succeed())
			g.Expect(tp.String()).To(ContainSubstring(want))
			g.Expect(tp.String()).NotTo(ContainSubstring("closed signal"), "it was not given its grace")
		})
	}
}

func TestStdioTerminateAndDrop(t *testing.T) {
	g := leakless(t)
	tp := newTape()
	w := openStdio(t, "ignores the end of its input", tp)
	tp.message(t, "[]")
	_, err := w.Do(soon(t), wire.Act{Do: wire.Terminate})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(tp.closed(t, "", trace.Server).End).To(HaveField("Code", 3))

	tp = newTape()
	w = openStdio(t, "stubborn", tp)
	_, err = w.Do(soon(t), wire.Act{Do: wire.Drop})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(tp.closed(t, "", trace.Client).End).To(HaveField("Signal", "SIGKILL"))
}

func TestStdioPeerThatNeverReads(t *testing.T) {
	g := leakless(t)
	tp := newTape()
	w := openStdio(t, "never reads", tp, hasty)
	tp.message(t, "{}")
	err := stuck(t, w, tp, wire.Out{Data: make([]byte, 1<<20)})
	g.Expect(err).To(MatchError(context.Canceled))
	g.Expect(err).To(MatchError(ContainSubstring("does not read")))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = w.Send(ctx, wire.Out{Data: []byte(ping)})
	g.Expect(err).To(MatchError(ContainSubstring("waiting for the peer to read")))
	g.Expect(w.Close(soon(t))).To(Succeed())
	g.Expect(tp.String()).To(HaveSuffix("-> closed signalSIGKILL\n"))
}

func TestStdioClosedInput(t *testing.T) {
	g := leakless(t)
	tp := newTape()
	w := openStdio(t, "closes its input", tp, hasty)
	tp.message(t, "[]")
	_, err := w.Send(soon(t), wire.Out{Data: []byte(ping)})
	g.Expect(err).To(MatchError(wire.ErrClosed))
	g.Expect(errors.Is(err, syscall.EPIPE)).To(BeTrue())
}

func TestStdioClosedOutput(t *testing.T) {
	g := leakless(t)
	tp := newTape()
	w := openStdio(t, "closes its output", tp, hasty)
	g.Expect(tp.closed(t, "", trace.Server).End.How).To(Equal("eof"))
	g.Expect(w.Close(soon(t))).To(Succeed())
	g.Expect(tp.String()).To(Equal("<- message {}\n<- closed eof\n-> closed closed-by-us\n-> closed signalSIGKILL\n"))
}

func TestStdioDescendants(t *testing.T) {
	g := leakless(t)
	tp := newTape()
	openStdio(t, "leaves a descendant", tp, hasty)
	g.Expect(tp.closed(t, "", trace.Server).End).To(HaveField("How", "exit"))
	var pid int
	for _, c := range tp.message(t, "[").Data {
		if '0' <= c && c <= '9' {
			pid = pid*10 + int(c-'0')
		}
	}
	g.Expect(pid).To(BeNumerically(">", 1))
	g.Eventually(func() bool { return alive(pid) }).WithTimeout(bound).Should(BeFalse())
}

// alive reports whether a process runs; one that waits to be reaped does not.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile("/proc/" + itoa(pid) + "/stat")
	return err != nil || !strings.Contains(string(stat), ") Z ")
}

func itoa(n int) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + string(rune('0'+n%10))
}

func TestStdioFloods(t *testing.T) {
	for peer, detail := range map[string]string{
		"floods":                    "flood: more than 1000 events",
		"floods without a line end": "flood: more than 8388608 bytes",
	} {
		t.Run(peer, func(t *testing.T) {
			g := leakless(t)
			tp := newTape()
			openStdio(t, peer, tp, func(o *wire.StdioOptions) {
				o.Limits = wire.Limits{Events: 1000, Bytes: 8 << 20, Message: 1 << 20}
			})
			end := tp.closed(t, "", trace.Client).End
			g.Expect(end.Detail).To(Equal(detail))
			g.Expect(end.Signal).To(Equal("SIGKILL"))
			g.Expect(len(tp.events)).To(BeNumerically("<=", 1001))
		})
	}
}

func TestStdioStderrIsBoundedAndNoFlood(t *testing.T) {
	g := leakless(t)
	tp := newTape()
	openStdio(t, "floods stderr", tp, func(o *wire.StdioOptions) { o.Limits = wire.Limits{Events: 10, Stderr: 10000} })
	g.Expect(tp.closed(t, "", trace.Server).End).To(HaveField("How", "exit"))
	tp.message(t, "{}")
	lines := strings.Count(tp.String(), "<- stderr debug")
	g.Expect(lines).To(BeNumerically(">", 100))
	g.Expect(lines).To(BeNumerically("<", 10000/64))
	tp.wait(t, "note", func(e trace.Event) bool { return strings.Contains(e.Note, "the rest is not recorded") })
}

func TestStdioLongLine(t *testing.T) {
	g := leakless(t)
	tp := newTape()
	openStdio(t, "long", tp, func(o *wire.StdioOptions) { o.Limits.Message = 1 << 20 })
	tp.closed(t, "", trace.Server)
	g.Expect(tp.String()).To(Equal("<- noise (4096 bytes)\n<- message {}\n<- closed exit 0\n"))
	g.Expect(tp.events[0].Note).To(Equal("too long: 20971528 bytes, the limit is 1048576; the first 4096 are kept"))
}

func TestStdioContextKills(t *testing.T) {
	g := leakless(t)
	tp := newTape()
	ctx, cancel := context.WithCancelCause(t.Context())
	cmd, env := command(t, "stubborn")
	w, err := wire.OpenStdio(ctx, wire.StdioOptions{Command: cmd, Env: env, Sink: tp.sink})
	g.Expect(err).NotTo(HaveOccurred())
	tp.message(t, "[]")
	cancel(errors.New("the run is over"))
	g.Expect(*tp.closed(t, "", trace.Client).End).To(And(HaveField("How", "timeout"), HaveField("Detail", "the run is over")))
	g.Expect(w.Close(soon(t))).To(Succeed())
}

func TestStdioStart(t *testing.T) {
	g := leakless(t)
	dir := t.TempDir()
	tp := newTape()
	openStdio(t, "environment", tp, func(o *wire.StdioOptions) {
		o.Dir, o.Env = dir, append(o.Env, "WIRE_TEST_MORE=1")
	})
	g.Expect(string(tp.message(t, "env").Data)).To(And(ContainSubstring(`"env":"1"`), ContainSubstring(dir)))

	for _, o := range []wire.StdioOptions{
		{}, {Command: []string{"no-such-program-anywhere"}}, {Command: []string{"sh"}, Dir: dir + "/missing"},
	} {
		_, err := wire.OpenStdio(t.Context(), o)
		g.Expect(err).To(MatchError(ContainSubstring("opening the pipes of a server: ")), "%+v", o)
	}
}
