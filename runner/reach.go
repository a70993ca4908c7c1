package runner

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/mcp-conform/mcp-conform/internal/peer"
	"github.com/mcp-conform/mcp-conform/runner/wire"
	"github.com/mcp-conform/mcp-conform/trace"
)

// reach opens connections to a target.
type reach struct {
	target  Target
	limits  limits
	process *process // the command behind a URL, nil if none
	builtin *peer.Server
	serving chan error // what became of the built-in HTTP server
	end     func()     // ends it
}

// Transports lists what the target is spoken to over unless a run names others;
// the first is its own.
func (t Target) Transports() []trace.Transport {
	switch {
	case t.Transport != "":
		return []trace.Transport{t.Transport}
	case t.URL != "", t.Role == trace.Client && !t.Builtin:
		return []trace.Transport{trace.StreamableHTTP}
	case t.Builtin:
		return []trace.Transport{trace.Stdio, trace.StreamableHTTP}
	}
	return []trace.Transport{trace.Stdio}
}

// where names the target for people.
func (t Target) where() string {
	switch {
	case t.Builtin:
		return "the built-in reference " + string(t.Role)
	case t.URL != "":
		return trace.MaskURL(t.URL)
	}
	return strings.Join(trace.MaskArgs(t.Command), " ")
}

// check says what makes no sense about a target.
func (t Target) check() error {
	switch {
	case t.Role != trace.Client && t.Role != trace.Server:
		return usage("the target's role is %q: say client or server", t.Role)
	case t.Builtin && (t.URL != "" || len(t.Command) > 0):
		return usage("the built-in peer takes neither command nor URL")
	case t.Builtin:
		return nil
	case t.Role == trace.Client && t.URL != "":
		return usage("a client under test takes no URL: it is told where to connect")
	case t.Role == trace.Client && len(t.Command) == 0:
		return usage("a client under test needs a command that starts it")
	case t.URL == "" && len(t.Command) == 0:
		return usage("nothing to judge: give a command or a URL")
	case len(t.Command) > 0 && t.Command[0] == "":
		return usage("the command is empty: was a variable not set?")
	case t.URL == "" && t.Role == trace.Server && t.Transport != "" && t.Transport != trace.Stdio:
		return usage("transport %s needs a URL", t.Transport)
	case t.URL != "" && t.Transport == trace.Stdio:
		return usage("transport stdio and a URL exclude each other")
	}
	if t.URL != "" {
		u, err := url.Parse(t.URL)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return usage("%q is no URL of a server: write http://host:port/path", t.URL)
		}
	}
	return nil
}

// open makes a connection; nothing is said on it yet.
func (r *reach) open(ctx context.Context, c *conn, sink trace.Sink) (wire.Wire, error) {
	o, id := c.offer, c.id
	switch {
	case r.target.Role == trace.Client:
		return r.host(ctx, c, sink)
	case r.builtin != nil && o.Transport == trace.Stdio:
		return wire.OpenPipes(ctx, wire.PipesOptions{Serve: r.builtin.ServeStdio, Conn: id, Sink: sink})
	case o.Transport == trace.Stdio:
		return wire.OpenStdio(ctx, wire.StdioOptions{
			Command: r.target.Command, Env: r.target.Env, Dir: r.target.Dir, Conn: id, Sink: sink,
		})
	case o.Transport == trace.StreamableHTTP:
		return wire.OpenHTTP(ctx, wire.HTTPOptions{URL: r.target.URL, Header: r.target.Header, Conn: id, Sink: sink})
	}
	return nil, usage("the harness does not speak %s to servers yet", o.Transport)
}

// loopback reports whether a URL names this machine by its loopback interface.
func loopback(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// start makes the target reachable: it starts the command behind a URL and waits
// until something listens there.
func (r *reach) start(ctx context.Context, limit time.Duration) error {
	switch {
	case r.target.Builtin && r.target.Role == trace.Server:
		return r.startBuiltin(ctx)
	case r.target.URL == "" || len(r.target.Command) == 0:
		return nil
	}
	if address, err := dialable(r.target.URL); err == nil && occupied(ctx, address) {
		return unreachable("starting "+r.target.where(), fmt.Errorf(
			"something listens on %s already and would be judged instead: end it, or leave the command away to judge it", address))
	}
	p, err := startProcess(ctx, r.target)
	if err != nil {
		return unreachable("starting "+r.target.where(), err)
	}
	r.process = p
	if err := p.listening(ctx, r.target.URL, limit); err != nil {
		return errors.Join(unreachable("waiting for "+r.target.where(), err), r.stop(ctx))
	}
	return nil
}

// startBuiltin starts the reference server on a loopback port; over pipes each
// connection has one of its own.
func (r *reach) startBuiltin(ctx context.Context) error {
	s, err := peer.NewServer(peer.Options{Faults: r.target.Faults, Revisions: r.target.Only})
	if err != nil {
		return &UsageError{err}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return &HarnessError{fmt.Errorf("listening for the built-in server: %w", err)}
	}
	ctx, r.end = context.WithCancel(ctx)
	r.builtin, r.serving = s, make(chan error, 1)
	r.target.URL = "http://" + l.Addr().String() + "/mcp"
	go func() { r.serving <- s.ListenAndServe(ctx, l) }()
	return nil
}

func (r *reach) stop(ctx context.Context) error {
	if r.builtin != nil {
		r.end()
		err := <-r.serving
		r.builtin.Close()
		if errors.Is(err, context.Canceled) {
			return nil
		}
		return err
	}
	if r.process == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closing)
	defer cancel()
	return r.process.wire.Close(ctx)
}

// closing bounds the orderly end of one connection or process; after it, force
// is used.
const closing = 15 * time.Second

// process is the command behind a URL. Its pipes carry no messages.
type process struct {
	wire  wire.Wire
	ended chan struct{}

	mu   sync.Mutex
	tail []string // last lines of its standard error
	end  trace.End
}

func startProcess(ctx context.Context, t Target) (*process, error) {
	p := &process{ended: make(chan struct{})}
	w, err := wire.OpenStdio(ctx, wire.StdioOptions{Command: t.Command, Env: t.Env, Dir: t.Dir, Conn: "process", Sink: p.record})
	if err != nil {
		return nil, err
	}
	p.wire = w
	return p, nil
}

func (p *process) record(e trace.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case e.Kind == trace.KindStderr:
		p.tail = append(p.tail, excerpt(e.Data))
		p.tail = p.tail[max(0, len(p.tail)-5):]
	case e.Kind == trace.KindClosed && e.From == trace.Server:
		p.end = *e.End
		close(p.ended)
	}
}

// dialable returns the host and port of a URL.
func dialable(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", err
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return net.JoinHostPort(u.Hostname(), port), nil
}

// occupied reports whether something takes connections at an address now: a
// server left over from before would be judged in place of the one to be started.
func occupied(ctx context.Context, address string) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	c, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return false
	}
	c.Close()
	return true
}

// listening polls the address of a URL until it takes a connection. The end of
// the process ends the wait.
func (p *process) listening(ctx context.Context, address string, limit time.Duration) error {
	address, err := dialable(address)
	if err != nil {
		return err
	}
	deadline := time.NewTimer(limit)
	defer deadline.Stop()
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	var d net.Dialer
	for {
		c, err := d.DialContext(ctx, "tcp", address)
		if err == nil {
			return c.Close()
		}
		select {
		case <-poll.C:
		case <-p.ended:
			p.mu.Lock()
			defer p.mu.Unlock()
			s := "the command ended (" + describeEnd(&p.end) + ") before anything listened there"
			if len(p.tail) > 0 {
				s += "; it said: " + strings.Join(p.tail, " | ")
			}
			return errors.New(s)
		case <-deadline.C:
			return fmt.Errorf("nothing listened within %v: %w", limit, err)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
