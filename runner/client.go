package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/mcp-conform/mcp-conform/internal/peer"
	"github.com/mcp-conform/mcp-conform/runner/wire"
	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

// hosted is a connection to a client under test: the listening side, and the
// process that was told where to connect.
type hosted struct {
	wire.Wire
	process wire.Wire
}

// Close ends the client first, so that its last words are still heard.
func (h *hosted) Close(ctx context.Context) error {
	return errors.Join(h.process.Close(ctx), h.Wire.Close(ctx))
}

// host listens and starts the client.
func (r *reach) host(ctx context.Context, c *conn, sink trace.Sink) (wire.Wire, error) {
	w, where, err := r.listen(ctx, c, sink)
	if err != nil {
		return nil, err
	}
	p, err := r.startClient(ctx, c, where, besideTheWire(c, sink))
	if err != nil {
		return nil, errors.Join(err, w.Close(ctx))
	}
	return &hosted{w, p}, nil
}

// address is what a client is told about where to connect.
type address struct {
	url         string // Streamable HTTP
	addr, token string // for a bridge
}

func (r *reach) listen(ctx context.Context, c *conn, sink trace.Sink) (wire.Wire, address, error) {
	switch c.offer.Transport {
	case trace.StreamableHTTP:
		l, err := wire.ListenHTTP(ctx, wire.ListenOptions{Conn: c.id, Sink: sink})
		if err != nil {
			return nil, address{}, &HarnessError{err}
		}
		return l, address{url: l.URL()}, nil
	case trace.Stdio:
		l, err := wire.ListenStdio(ctx, wire.StdioListenOptions{Conn: c.id, Sink: sink})
		if err != nil {
			return nil, address{}, &HarnessError{err}
		}
		return l, address{addr: l.Addr(), token: l.Token()}, nil
	}
	return nil, address{}, usage("the harness does not speak %s to clients yet", c.offer.Transport)
}

func (r *reach) startClient(ctx context.Context, c *conn, to address, sink trace.Sink) (wire.Wire, error) {
	if r.target.Builtin {
		return r.startBuiltinClient(ctx, c, to, sink)
	}
	command := withURL(r.target.Command, to.url)
	if to.url == "" {
		bridge := r.target.Bridge
		if bridge == nil {
			self, err := os.Executable()
			if err != nil {
				return nil, &HarnessError{fmt.Errorf("finding the bridge: %w", err)}
			}
			bridge = []string{self, "bridge"}
		}
		command = withBridge(r.target.Command, append(slices.Clone(bridge), to.addr, to.token))
	}
	return wire.OpenStdio(ctx, wire.StdioOptions{
		Command: command, Env: r.target.Env, Dir: r.target.Dir, Conn: c.id, Sink: sink,
	})
}

// startBuiltinClient runs the reference client in this process. The end of its
// input is all that it is told.
func (r *reach) startBuiltinClient(ctx context.Context, c *conn, to address, sink trace.Sink) (wire.Wire, error) {
	client, err := peer.NewClient(peer.ClientOptions{Faults: r.target.Faults, Revision: c.offer.Revision, Patience: r.limits.scale(longestAnswer) / 3})
	if err != nil {
		return nil, &UsageError{err}
	}
	serve := func(ctx context.Context, in io.Reader, _, _ io.Writer) error {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		go func() {
			defer cancel()
			_, _ = io.Copy(io.Discard, in)
		}()
		if to.url != "" {
			return client.RunHTTP(ctx, to.url)
		}
		return throughBridge(ctx, client, to)
	}
	return wire.OpenPipes(ctx, wire.PipesOptions{Conn: c.id, Sink: sink, Serve: serve})
}

// throughBridge lets the reference client speak to a bridge as it would to a
// server that it has started.
func throughBridge(ctx context.Context, client *peer.Client, to address) error {
	in, toBridge := io.Pipe()
	fromBridge, out := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := wire.Bridge(ctx, to.addr, to.token, in, out)
		out.Close()
		done <- err
	}()
	err := client.RunStdio(ctx, fromBridge, toBridge)
	fromBridge.Close()
	toBridge.Close()
	return errors.Join(err, <-done)
}

// withURL puts the URL where the command wants it, or at its end.
func withURL(command []string, url string) []string {
	var out []string
	placed := false
	for _, a := range command {
		placed = placed || strings.Contains(a, "{url}")
		out = append(out, strings.ReplaceAll(a, "{url}", url))
	}
	if !placed {
		out = append(out, url)
	}
	return out
}

// withBridge puts the server's command, which is the bridge, where the client
// wants it: {command} and {args}, or at the end of its arguments.
func withBridge(command, bridge []string) []string {
	var out []string
	placed := false
	for _, a := range command {
		switch a {
		case "{command}":
			out = append(out, bridge[0])
		case "{args}":
			out = append(out, bridge[1:]...)
		default:
			out = append(out, a)
			continue
		}
		placed = true
	}
	if !placed {
		out = append(out, bridge...)
	}
	return out
}

// besideTheWire takes what a client's process shows beside its connection: its
// standard error and its end. Its standard output is its own affair.
func besideTheWire(c *conn, sink trace.Sink) trace.Sink {
	return func(e trace.Event) {
		if e.From != trace.Server {
			return
		}
		e.From = trace.Client
		switch e.Kind {
		case trace.KindStderr:
			sink(e)
		case trace.KindClosed:
			c.journal.end(e)
		}
	}
}

// meet waits until a client has opened the conversation in the revision of the
// offer, and learns who it is.
func (s *survey) meet(ctx context.Context, c *conn, limit time.Duration) error {
	if err := c.met(ctx, limit, c.begins); err != nil {
		return err
	}
	c.journal.mu.Lock()
	defer c.journal.mu.Unlock()
	x := c.journal.find(func(x *entry) bool { return x.From != c.us && c.opens(x) })
	if x == nil {
		return &refused{"the client says that it is initialized and never sent initialize"}
	}
	if s.offer.Revision.Stateless() {
		s.capabilities, _ = schemas.Member(x.msg.Params, "_meta", metaCapabilities)
		s.introduced(schemas.Member(x.msg.Params, "_meta", metaClientInfo))
		return nil
	}
	s.capabilities, _ = schemas.Member(x.msg.Params, "capabilities")
	s.introduced(schemas.Member(x.msg.Params, "clientInfo"))
	return nil
}

// opens reports whether a request is the one by which a client says who it is.
func (c *conn) opens(x *entry) bool {
	if x.msg.Kind != schemas.Request {
		return false
	}
	if c.offer.Revision.Stateless() {
		v, ok := schemas.Member(x.msg.Params, "_meta", metaVersion)
		return ok && text(v) == string(c.offer.Revision)
	}
	return x.msg.Method == "initialize"
}

// begins reports whether a message shows that the client speaks the revision of
// the offer: a request in it, notifications/initialized, or another request
// after initialize was answered. Who goes on without that notification has agreed
// to the version all the same (basic/lifecycle, version negotiation: who does not,
// disconnects), and breaks a rule that only a conversation shows. The caller holds
// the journal's lock.
func (c *conn) begins(x *entry) bool {
	switch {
	case x.From == c.us:
		return false
	case c.offer.Revision.Stateless():
		return c.opens(x)
	case x.msg.Kind == schemas.Notification:
		return x.msg.Method == "notifications/initialized"
	case x.msg.Kind != schemas.Request || slices.Contains([]string{"initialize", "ping", "server/discover"}, x.msg.Method):
		return false
	}
	if _, modern := schemas.Member(x.msg.Params, "_meta", metaVersion); modern {
		return false
	}
	asked := c.journal.find(func(y *entry) bool { return y.From != c.us && c.opens(y) })
	return asked != nil && c.journal.find(func(y *entry) bool {
		return y.From == c.us && y.msg.Kind == schemas.Result && y.Seq < x.Seq && string(y.msg.ID) == string(asked.msg.ID)
	}) != nil
}

// ready reports whether a message shows that the client may be sent requests:
// basic/lifecycle holds a server back until notifications/initialized.
func (c *conn) ready(x *entry) bool {
	return c.begins(x) && (x.msg.Kind == schemas.Notification || c.offer.Revision.Stateless())
}

// met waits until a message of the client shows enough: that it begins, or that
// it is ready.
func (c *conn) met(ctx context.Context, limit time.Duration, enough func(*entry) bool) error {
	why := ""
	c.journal.await(ctx, limit, func() bool {
		if c.journal.find(enough) != nil {
			why = ""
			return true
		}
		why = fmt.Sprintf("the client did not open a conversation in %s within %v", c.offer.Revision, limit)
		if c.journal.ended != nil {
			why = "the client ended before it spoke " + string(c.offer.Revision) + ": " + c.over(sent{})
			return true
		}
		return false
	})
	if why != "" {
		return &refused{why}
	}
	return ctx.Err()
}

// quiet waits until the peer has nothing more to say: it has ended, or nothing
// has happened for a while. most bounds the wait for those that never rest.
func (c *conn) quiet(ctx context.Context, still, most time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	for {
		last := int64(-1)
		moved := c.journal.await(ctx, still, func() bool {
			if last < 0 {
				last = c.journal.last
			}
			return c.journal.ended != nil || c.journal.last != last
		})
		c.journal.mu.Lock()
		over := c.journal.ended != nil
		c.journal.mu.Unlock()
		if !moved || over {
			return
		}
	}
}
