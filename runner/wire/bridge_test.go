//go:build unix

package wire_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/mcp-conform/mcp-conform/runner/wire"
	"github.com/mcp-conform/mcp-conform/trace"
)

func listenStdio(t *testing.T, tp *tape, change ...func(*wire.StdioListenOptions)) *wire.StdioListener {
	t.Helper()
	o := wire.StdioListenOptions{Conn: "s", Sink: tp.sink}
	for _, f := range change {
		f(&o)
	}
	w, err := wire.ListenStdio(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	closing(t, w)
	return w
}

// bridged is a bridge in this process with the client's ends of its pipes.
type bridged struct {
	stdin  *io.PipeWriter
	stdout *io.PipeReader
	end    chan error
	cancel context.CancelFunc
}

func bridge(t *testing.T, addr, token string) *bridged {
	t.Helper()
	in, stdin := io.Pipe()
	stdout, out := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	b := &bridged{stdin: stdin, stdout: stdout, end: make(chan error, 1), cancel: cancel}
	go func() {
		err := wire.Bridge(ctx, addr, token, in, out)
		out.Close()
		b.end <- err
	}()
	return b
}

// say writes to the bridge and gives up when it has ended.
func (b *bridged) say(t *testing.T, s string) {
	t.Helper()
	if _, err := io.WriteString(b.stdin, s); err != nil {
		t.Fatal(err)
	}
}

func TestBridgeCopiesBothWays(t *testing.T) {
	g := leakless(t)
	tp := newTape()
	w := listenStdio(t, tp)
	b := bridge(t, w.Addr(), w.Token())
	b.say(t, "{\"a\":\"\xe2")
	b.say(t, "\x82\xac\"}\nhello\r\n\n{\"half\":")
	tp.wait(t, "blank line", func(e trace.Event) bool { return e.Kind == trace.KindNoise && len(e.Data) == 0 })
	_, err := w.Send(soon(t), wire.Out{Data: []byte("[\xff,")})
	g.Expect(err).NotTo(HaveOccurred())
	buf := make([]byte, 4)
	_, err = io.ReadFull(b.stdout, buf)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(buf)).To(Equal("[\xff,\n"), "bytes pass unchanged and at once")
	g.Expect(b.stdin.Close()).To(Succeed())
	rest, err := io.ReadAll(b.stdout)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(rest).To(BeEmpty())
	g.Expect(<-b.end).To(Succeed(), "the server ends when its input does, and the bridge with it")
	tp.closed(t, "", trace.Server)
	g.Expect(tp.String()).To(Equal("-> message {\"a\":\"\u20ac\"}\n-> noise hello\r\n-> noise\n<- noise [\xff,\n" +
		"-> noise {\"half\":\n-> closed eof\n<- closed closed-by-us\n"))
	_, err = w.Send(soon(t), wire.Out{Data: []byte(ping)})
	g.Expect(err).To(MatchError(wire.ErrClosed))
}

func TestBridgeLargeMessages(t *testing.T) {
	g := leakless(t)
	tp := newTape()
	w := listenStdio(t, tp)
	b := bridge(t, w.Addr(), w.Token())
	long := `{"a":"` + strings.Repeat("x", 20<<20) + `"}`
	go b.stdin.Write([]byte(long + "\n"))
	tp.wait(t, "long message", func(e trace.Event) bool { return len(e.Data) == len(long) })
	sent := make(chan error, 1)
	go func() {
		_, err := w.Send(soon(t), wire.Out{Data: []byte(long)})
		sent <- err
		w.Close(soon(t))
	}()
	all, err := io.ReadAll(b.stdout)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(<-sent).To(Succeed())
	g.Expect(string(all) == long+"\n").To(BeTrue(), "what was sent arrives before the end")
	g.Expect(<-b.end).To(Succeed())
	g.Expect(tp.String()).To(HaveSuffix("<- closed closed-by-us\n"))
	g.Expect(tp.String()).NotTo(ContainSubstring("reset"))
}

func TestBridgeThatIsKilled(t *testing.T) {
	g := leakless(t)
	tp, client := newTape(), newTape()
	w := listenStdio(t, tp)
	// The client, too, is a wire of ours.
	c := openStdio(t, "bridge", client, func(o *wire.StdioOptions) {
		o.Env = append(o.Env, "WIRE_TEST_MORE="+w.Addr()+" "+w.Token())
	})
	send(t, c, ping)
	tp.wait(t, "ping", func(e trace.Event) bool { return string(e.Data) == ping })
	_, err := w.Send(soon(t), wire.Out{Data: []byte(pong)})
	g.Expect(err).NotTo(HaveOccurred())
	client.message(t, pong)
	_, err = c.Do(soon(t), wire.Act{Do: wire.Drop})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(tp.closed(t, "", trace.Client).End.How).To(Equal("reset"))
	g.Expect(tp.String()).To(Equal("-> message " + ping + "\n<- message " + pong + "\n-> closed reset\n"))
	g.Expect(w.Close(soon(t))).To(Succeed())
}

func TestBridgeProcessEndsWithItsInput(t *testing.T) {
	g := leakless(t)
	tp, client := newTape(), newTape()
	w := listenStdio(t, tp)
	c := openStdio(t, "bridge", client, func(o *wire.StdioOptions) {
		o.Env = append(o.Env, "WIRE_TEST_MORE="+w.Addr()+" "+w.Token())
	})
	<-w.Met()
	g.Expect(c.Close(soon(t))).To(Succeed())
	g.Expect(client.String()).To(Equal("-> closed closed-by-us\n<- closed exit 0\n"))
	tp.closed(t, "", trace.Server)
	g.Expect(tp.String()).To(Equal("-> closed eof\n<- closed closed-by-us\n"))
}

func TestBridgeServerThatStays(t *testing.T) {
	g := leakless(t)
	tp, client := newTape(), newTape()
	w := listenStdio(t, tp, func(o *wire.StdioListenOptions) { o.Stay = true })
	c := openStdio(t, "bridge", client, func(o *wire.StdioOptions) {
		o.Env = append(o.Env, "WIRE_TEST_MORE="+w.Addr()+" "+w.Token())
		o.Grace = 200 * time.Millisecond
	})
	<-w.Met()
	_, err := c.Do(soon(t), wire.Act{Do: wire.CloseStdin})
	g.Expect(err).NotTo(HaveOccurred())
	tp.closed(t, "", trace.Client)
	_, err = w.Send(soon(t), wire.Out{Data: []byte("[]")})
	g.Expect(err).NotTo(HaveOccurred())
	client.message(t, "[]")
	g.Expect(c.Close(soon(t))).To(Succeed())
	g.Expect(client.String()).To(HaveSuffix("<- closed signalSIGTERM\n"))
	end := tp.wait(t, "reset", func(e trace.Event) bool { return e.End != nil && e.End.How == "reset" }).End
	g.Expect(end.After).To(BeNumerically(">", 0))
	g.Expect(tp.String()).To(Equal("-> closed eof\n<- message []\n-> closed reset\n"))
}

func TestBridgeServerThatDies(t *testing.T) {
	g := leakless(t)
	tp := newTape()
	w := listenStdio(t, tp)
	b := bridge(t, w.Addr(), w.Token())
	b.say(t, ping+"\n")
	tp.wait(t, "ping", func(e trace.Event) bool { return string(e.Data) == ping })
	_, err := w.Do(soon(t), wire.Act{Do: wire.Drop})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(<-b.end).To(MatchError(ContainSubstring("broke off")))
	g.Expect(tp.String()).To(HaveSuffix("<- closed closed-by-us\n"))
	_, err = w.Do(soon(t), wire.Act{Do: wire.CloseStdin})
	g.Expect(err).To(MatchError(wire.ErrUnsupported))
}

func TestBridgeClientThatStopsReading(t *testing.T) {
	g := leakless(t)
	tp := newTape()
	w := listenStdio(t, tp, func(o *wire.StdioListenOptions) { o.Grace = 50 * time.Millisecond })
	b := bridge(t, w.Addr(), w.Token())
	<-w.Met()
	err := stuck(t, w, tp, wire.Out{Data: bytes.Repeat([]byte("x"), 16<<20)})
	g.Expect(err).To(MatchError(ContainSubstring("does not read")))
	g.Expect(w.Close(soon(t))).To(Succeed())
	b.stdout.Close()
	g.Expect(<-b.end).To(HaveOccurred())
}

func TestBridgeClientThatClosesItsEnd(t *testing.T) {
	g := leakless(t)
	tp := newTape()
	w := listenStdio(t, tp)
	b := bridge(t, w.Addr(), w.Token())
	b.stdout.Close()
	_, err := w.Send(soon(t), wire.Out{Data: []byte("[]")})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(<-b.end).To(MatchError(io.ErrClosedPipe))
	g.Expect(tp.closed(t, "", trace.Client).End.How).To(Equal("reset"))
}

func TestBridgeContext(t *testing.T) {
	g := leakless(t)
	tp := newTape()
	w := listenStdio(t, tp)
	b := bridge(t, w.Addr(), w.Token())
	<-w.Met()
	b.cancel()
	g.Expect(<-b.end).To(MatchError(context.Canceled))
	g.Expect(tp.closed(t, "", trace.Client).End.How).To(Equal("reset"))
}

func TestBridgeIsNotLetIn(t *testing.T) {
	g := leakless(t)
	tp := newTape()
	w := listenStdio(t, tp)
	g.Expect(<-bridge(t, w.Addr(), "guess").end).To(MatchError(ContainSubstring("token")))
	c, err := net.Dial("tcp", w.Addr())
	g.Expect(err).NotTo(HaveOccurred())
	_, err = io.WriteString(c, strings.Repeat("x", 10000)+"\n")
	g.Expect(err).NotTo(HaveOccurred())
	io.Copy(io.Discard, c) // ends, in one way or another
	c.Close()
	idle, err := net.Dial("tcp", w.Addr()) // says nothing
	g.Expect(err).NotTo(HaveOccurred())
	defer idle.Close()

	first := bridge(t, w.Addr(), w.Token())
	<-w.Met()
	g.Expect(<-bridge(t, w.Addr(), w.Token()).end).To(MatchError(ContainSubstring("has a client already")))
	first.say(t, ping+"\n")
	tp.wait(t, "ping", func(e trace.Event) bool { return string(e.Data) == ping })
	g.Expect(w.Close(soon(t))).To(Succeed())
	g.Expect(<-first.end).To(Succeed())
	g.Expect(<-bridge(t, w.Addr(), w.Token()).end).To(MatchError(ContainSubstring("cannot reach the runner")))
}

func TestBridgeNobodyComes(t *testing.T) {
	g := leakless(t)
	tp := newTape()
	ctx, cancel := context.WithCancelCause(t.Context())
	w, err := wire.ListenStdio(ctx, wire.StdioListenOptions{Sink: tp.sink})
	g.Expect(err).NotTo(HaveOccurred())
	late, stop := context.WithCancel(t.Context())
	stop()
	_, err = w.Send(late, wire.Out{Data: []byte(ping)})
	g.Expect(err).To(MatchError(ContainSubstring("waiting for the client")))
	cancel(errors.New("the run is over"))
	g.Expect(w.Close(soon(t))).To(Succeed())
	g.Expect(tp.String()).To(Equal("<- closed timeout\n"))
	_, err = w.Send(soon(t), wire.Out{Data: []byte(ping)})
	g.Expect(err).To(MatchError(wire.ErrClosed))
}

func TestBridgeFlood(t *testing.T) {
	g := leakless(t)
	tp := newTape()
	w := listenStdio(t, tp, func(o *wire.StdioListenOptions) { o.Limits = wire.Limits{Events: 100} })
	b := bridge(t, w.Addr(), w.Token())
	var err error
	for err == nil {
		_, err = io.WriteString(b.stdin, strings.Repeat("x\n", 1000))
	}
	<-b.end // whether it was writing or reading in that moment decides what it says
	g.Expect(tp.closed(t, "", trace.Server).End.Detail).To(Equal("flood: more than 100 events"))
	g.Expect(len(tp.events)).To(Equal(101))
}
