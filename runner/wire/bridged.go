package wire

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/mcp-conform/mcp-conform/trace"
)

// StdioListenOptions say how to be a server that a client under test starts.
type StdioListenOptions struct {
	Conn string // names the connection in events
	Sink trace.Sink
	// Stay keeps the server up when the client closes its standard input, as a
	// server does that the client has to terminate (2025-11-25
	// basic/lifecycle#stdio). Without it the server ends then.
	Stay bool
	// Grace is how long, in Close, what was sent has to be read: 2 s unless given.
	Grace  time.Duration
	Limits Limits
}

// StdioListener is the server's side of stdio, for clients under test. A client
// cannot be given the pipes of a process that already runs, so it is told to
// start [Bridge], which connects here.
//
// It is one connection: the first bridge that knows the token. Others are
// turned away and say so.
type StdioListener struct {
	stay  bool
	grace time.Duration
	rep   *reporter
	l     net.Listener
	token string

	ctx    context.Context
	cancel context.CancelCauseFunc
	wg     sync.WaitGroup // of those that accept, greet and read
	met    chan struct{}  // closed when conn and out are set
	read   chan struct{}  // closed when the client's side has ended
	ended  chan struct{}  // closed when nothing is left

	mu      sync.Mutex
	closing bool // conn and out do not change any more
	conn    *net.TCPConn
	out     *writer

	left time.Time // when the client closed its standard input; only listen looks at it
}

// Why a bridged connection ends, beside what ends every wire.
var (
	errLeft  = errors.New("the client closed the standard input of the server")
	errBroke = errors.New("the bridge broke off")
)

// ListenStdio listens for a bridge on a port of the loopback interface that the
// system chooses. ctx bounds the life of the listener.
func ListenStdio(ctx context.Context, o StdioListenOptions) (*StdioListener, error) {
	if o.Grace <= 0 {
		o.Grace = 2 * time.Second
	}
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listening for the bridge: %w", err)
	}
	w := &StdioListener{
		stay: o.Stay, grace: o.Grace, l: l, token: rand.Text(),
		met: make(chan struct{}), read: make(chan struct{}), ended: make(chan struct{}),
	}
	w.ctx, w.cancel = context.WithCancelCause(ctx)
	w.rep = newReporter(o.Conn, o.Sink, trace.Server, o.Limits, func() { w.cancel(errFlood) })
	w.wg.Add(1)
	go w.accept()
	go w.finish()
	return w, nil
}

// Addr is where the bridge has to connect.
func (w *StdioListener) Addr() string { return w.l.Addr().String() }

// Token is what the bridge has to know.
func (w *StdioListener) Token() string { return w.token }

// Met is closed when a bridge has connected.
func (w *StdioListener) Met() <-chan struct{} { return w.met }

func (w *StdioListener) accept() {
	defer w.wg.Done()
	for {
		c, err := w.l.Accept()
		if err != nil {
			w.cancel(fmt.Errorf("listening for the bridge: %w", err)) // says nothing if it has ended already
			return
		}
		w.wg.Add(1)
		go w.greet(c.(*net.TCPConn))
	}
}

// greet lets the first bridge in that knows the token, and reads from it.
func (w *StdioListener) greet(c *net.TCPConn) {
	defer w.wg.Done()
	stop := context.AfterFunc(w.ctx, func() { c.Close() })
	c.SetDeadline(time.Now().Add(handshaking)) // if it fails, so does what follows
	in := bufio.NewReaderSize(c, 4096)
	hello, err := in.ReadSlice('\n')
	want := bridgeHello + w.token + "\n"
	if err != nil || subtle.ConstantTimeCompare(hello, []byte(want)) != 1 {
		io.WriteString(c, "the token is not that of this runner\n")
		c.Close()
		return
	}
	if !stop() || !w.meet(c) {
		io.WriteString(c, "the runner has a client already\n")
		c.Close()
		return
	}
	c.SetDeadline(time.Time{})
	if _, err := io.WriteString(c, bridgeWelcome+"\n"); err != nil {
		w.cancel(errBroke)
	}
	close(w.met)
	w.listen(in)
}

func (w *StdioListener) meet(c *net.TCPConn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.conn != nil || w.closing {
		return false
	}
	w.conn, w.out = c, newWriter(halfClosed{c}, w.rep)
	return true
}

// halfClosed closes one direction alone: the client may have more to say.
type halfClosed struct{ *net.TCPConn }

// Close says that nothing more will be written.
func (h halfClosed) Close() error { return h.CloseWrite() }

// listen reports what the client says until its end, and that end unless it
// follows from ours.
func (w *StdioListener) listen(in io.Reader) {
	defer close(w.read)
	done := make(chan struct{})
	err := readLines(&chunks{from: in}, w.rep, done)
	if err == io.EOF {
		w.leave()
		if !w.stay {
			w.cancel(errLeft)
			return
		}
		var one [1]byte
		_, err = in.Read(one[:]) // nothing comes but the end of the bridge
	}
	if w.ctx.Err() != nil {
		return
	}
	end := trace.End{How: "reset", Detail: "the bridge ended: " + err.Error()}
	if !w.left.IsZero() {
		end.After = max(1, time.Since(w.left))
	}
	w.rep.emit(trace.Event{Kind: trace.KindClosed, From: trace.Client, End: &end})
	w.cancel(errBroke)
}

func (w *StdioListener) leave() {
	w.left = time.Now()
	w.rep.emit(trace.Event{Kind: trace.KindClosed, From: trace.Client, End: &trace.End{
		How: "eof", Detail: StandardInput,
	}})
}

// Send writes o.Data as a line. It waits for a client.
func (w *StdioListener) Send(ctx context.Context, o Out) (string, error) {
	select {
	case <-w.met:
		return "", w.out.write(ctx, o.Data, o.Partial)
	case <-w.ended:
		return "", fmt.Errorf("sending: %w", ErrClosed)
	case <-ctx.Done():
		return "", fmt.Errorf("waiting for the client to start the bridge: %w", ctx.Err())
	}
}

// Do performs drop: to the client, the server dies.
func (w *StdioListener) Do(ctx context.Context, a Act) (string, error) {
	if a.Do != Drop {
		return "", fmt.Errorf("%s on the listening side of stdio: %w", a.Do, ErrUnsupported)
	}
	w.cancel(errDropped)
	select {
	case <-w.ended:
		return "", nil
	case <-ctx.Done():
		return "", fmt.Errorf("dropping the client: %w", ctx.Err())
	}
}

// Close ends the server's output once what was sent has been written, and
// waits for the bridge to leave.
func (w *StdioListener) Close(ctx context.Context) error {
	w.cancel(errClosing)
	select {
	case <-w.ended:
		return nil
	case <-ctx.Done():
	}
	w.mu.Lock()
	if w.conn != nil {
		w.conn.Close()
	}
	w.mu.Unlock()
	<-w.ended
	return nil
}

// finish waits for the end of the wire, whatever causes it, and clears up.
func (w *StdioListener) finish() {
	defer close(w.ended)
	<-w.ctx.Done()
	w.l.Close()
	w.mu.Lock()
	w.closing = true
	w.mu.Unlock()
	cause := context.Cause(w.ctx)
	end := trace.End{}
	end.How, end.Detail = ourEnd(cause, w.rep)
	ordered := cause == errLeft || cause == errClosing
	if w.conn != nil {
		if ordered {
			w.part(end)
		} else {
			w.conn.SetLinger(0) // so that the bridge does not take it for the end of the output
		}
		w.conn.Close()
		w.out.abandon()
	}
	if w.conn == nil || !ordered && cause != errBroke {
		w.rep.emit(trace.Event{Kind: trace.KindClosed, From: trace.Server, End: &end})
	}
	w.wg.Wait()
}

// part ends the connection so that the client gets all that was sent.
func (w *StdioListener) part(end trace.End) {
	soon, cancel := context.WithTimeout(context.Background(), w.grace)
	defer cancel()
	_, _ = w.out.close(soon, end) // if it is broken, so be it
	select {
	case <-w.read:
	case <-soon.Done():
	}
}
