package peer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

// Options say what a server is like. The zero value is a good server that
// speaks every revision.
type Options struct {
	// Faults are names of faults to commit; see [Faults].
	Faults []string
	// Revisions are those that the server speaks; nil means all.
	Revisions []schemas.Revision
	// Page is the number of entries in one page of a list, 0 for a number that
	// makes every long list take more than one page.
	Page int
	// Hosts are host names under which the HTTP server may be addressed, beside
	// those of the loopback interface.
	Hosts []string
	// Key seals cursors and request states. A 2026-07-28 client may present them
	// to another process, so the default is the same everywhere: a fixture has no
	// secret worth keeping.
	Key []byte
	// Patience bounds how long a tool waits for the client's answer to a request
	// of its own; 0 means 30 seconds.
	Patience time.Duration
}

// Server is the reference server. One Server serves any number of connections.
type Server struct {
	opts    Options
	faults  []Fault
	fixture *fixture
	methods map[string]method
	args    *argumentSchemas
	ctx     context.Context // ends with Close
	stop    context.CancelFunc

	mu       sync.Mutex
	sessions map[string]*session // Streamable HTTP and HTTP+SSE, by session id
	hearers  map[hearer]bool     // who wants to hear of changes
	memory   fields              // capabilities once declared, kept by a fault
	working  sync.WaitGroup      // calls in progress
}

// method is one request that the server answers.
type method struct {
	span
	run func(*call) (obj, *rpcError)
	// cached says that its result carries caching hints from 2026-07-28 on, and
	// with which scope (server/utilities/caching).
	cached string
}

// NewServer prepares a server; it starts nothing.
func NewServer(o Options) (*Server, error) {
	faults, err := pickFaults(trace.Server, o.Faults)
	if err != nil {
		return nil, err
	}
	if o.Revisions == nil {
		o.Revisions = schemas.Revisions()
	}
	if len(o.Revisions) == 0 {
		return nil, errors.New("a server must speak at least one revision")
	}
	if o.Page <= 0 {
		o.Page = 2
	}
	if o.Key == nil {
		o.Key = []byte("the reference peer of mcp-conform")
	}
	if o.Patience <= 0 {
		o.Patience = 30 * time.Second
	}
	f, err := loadFixture()
	if err != nil {
		return nil, err
	}
	s := &Server{opts: o, faults: faults, fixture: f, sessions: map[string]*session{}, hearers: map[hearer]bool{}}
	if s.args, err = compileArguments(f); err != nil {
		return nil, err
	}
	s.methods = serverMethods()
	s.ctx, s.stop = context.WithCancel(context.Background())
	return s, nil
}

// Close ends all sessions and subscriptions and waits for calls in progress.
func (s *Server) Close() {
	s.stop()
	s.working.Wait()
}

// serverMethods is the table of requests. Those that 2026-07-28 removed end
// there; all others serve both eras, and dress gives the result its era's form.
func serverMethods() map[string]method {
	legacy := span{Until: schemas.R20260728}
	modern := span{Since: schemas.R20260728}
	return map[string]method{
		"ping":                     {span: legacy, run: func(*call) (obj, *rpcError) { return obj{}, nil }},
		"logging/setLevel":         {span: legacy, run: setLevel},
		"resources/subscribe":      {span: legacy, run: subscribe},
		"resources/unsubscribe":    {span: legacy, run: unsubscribe},
		"tools/list":               {run: list, cached: "public"},
		"tools/call":               {run: callTool},
		"resources/list":           {run: list, cached: "public"},
		"resources/templates/list": {run: list, cached: "public"},
		"resources/read":           {run: readResource, cached: "private"},
		"prompts/list":             {run: list, cached: "public"},
		"prompts/get":              {run: getPrompt},
		"completion/complete":      {run: complete},
		"server/discover":          {span: modern, run: discover, cached: "public"},
		"subscriptions/listen":     {span: modern, run: listen},
	}
}

// broken reports whether the server commits the fault of that name. It guards
// checks to skip and duties to neglect; what can be broken at a message or an
// HTTP head about to leave is broken there.
func (s *Server) broken(name string) bool {
	return slices.ContainsFunc(s.faults, func(f Fault) bool { return f.Name == name })
}

func (s *Server) speaks(r schemas.Revision) bool { return slices.Contains(s.opts.Revisions, r) }

// era returns the revisions that the server speaks of one era, oldest first.
func (s *Server) era(stateless bool) []schemas.Revision {
	var rs []schemas.Revision
	for _, r := range schemas.Revisions() {
		if s.speaks(r) && r.Stateless() == stateless {
			rs = append(rs, r)
		}
	}
	return rs
}

func serverInfo(r schemas.Revision) obj {
	o := obj{"name": "mcp-conform-reference-server", "version": "1.0.0", "title": "Reference server of mcp-conform"}
	return trim(o, r, otherMembers())
}

// capabilities are what the server declares; completion had no capability of
// its own in 2024-11-05.
func (s *Server) capabilities(r schemas.Revision) obj {
	o := obj{
		"tools":     obj{"listChanged": true},
		"prompts":   obj{"listChanged": true},
		"resources": obj{"listChanged": true, "subscribe": true},
		"logging":   obj{},
	}
	if r >= schemas.R20250326 {
		o["completions"] = obj{}
	}
	return o
}

// initialize answers the handshake: the requested revision if it is spoken,
// else the latest that is (2025-11-25 basic/lifecycle Version Negotiation).
func (s *Server) initialize(p fields, spoken []schemas.Revision) (schemas.Revision, obj, *rpcError) {
	wanted, ok := p.text("protocolVersion")
	_, caps := p.object("capabilities")
	info, client := p.object("clientInfo")
	_, name := info.text("name")
	_, version := info.text("version")
	if !ok || !caps || !client || !name || !version {
		return "", nil, invalidParams("initialize needs protocolVersion, capabilities and clientInfo with name and version")
	}
	rev := spoken[len(spoken)-1]
	if r := schemas.Revision(wanted); slices.Contains(spoken, r) {
		rev = r
	}
	return rev, obj{
		"protocolVersion": string(rev),
		"capabilities":    s.capabilities(rev),
		"serverInfo":      serverInfo(rev),
		"instructions":    "Every tool, resource and prompt of this server answers with fixed values, for testing clients.",
	}, nil
}

// hearer is someone who wants to hear of changes: a session or a subscription.
type hearer interface {
	hear(method, uri string)
}

func (s *Server) hears(h hearer, yes bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if yes {
		s.hearers[h] = true
	} else {
		delete(s.hearers, h)
	}
}

// announce tells everyone who wants to hear it that something has changed.
func (s *Server) announce(method, uri string) {
	s.mu.Lock()
	var hs []hearer
	for h := range s.hearers {
		hs = append(hs, h)
	}
	s.mu.Unlock()
	for _, h := range hs {
		h.hear(method, uri)
	}
}

// pickFaults finds the named faults of one side.
func pickFaults(side trace.Side, names []string) ([]Fault, error) {
	var picked []Fault
	for _, n := range names {
		i := slices.IndexFunc(Faults(), func(f Fault) bool { return f.Name == n && f.Side == side })
		if i < 0 {
			return nil, fmt.Errorf("unknown fault %q of a %s: `mcp-conform peer faults` lists them", n, side)
		}
		picked = append(picked, Faults()[i])
	}
	return picked, nil
}
