package runner

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/scenarios"
	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

// survey is what a target said about itself under one offer.
type survey struct {
	offer                    Offer
	capabilities             json.RawMessage
	name, version            string
	tools, prompts, resource []string
	slowest                  time.Duration // of the answers after the first
	session                  bool          // session ids are given
	local                    bool          // on the loopback interface
	alone                    bool          // no revision with a handshake is offered beside this
	mute                     bool          // a list that it declares was asked for and never came
}

// vars are the variables that an offer gives to scenarios.
func (s *survey) vars(n scenarios.Needs) scenarios.Vars {
	v := scenarios.Vars{}
	for _, x := range []struct {
		name, need string
		listed     []string
	}{
		{scenarios.VarTool, n.Tool, s.tools},
		{scenarios.VarPrompt, n.Prompt, s.prompts},
		{scenarios.VarResource, n.Resource, s.resource},
	} {
		switch {
		case x.need == scenarios.Any && len(x.listed) > 0:
			v[x.name] = jsonString(x.listed[0])
		case x.need != "":
			v[x.name] = jsonString(x.need)
		}
	}
	return v
}

// lacks says what a scenario needs and the target has not, "" if nothing.
func (s *survey) lacks(n scenarios.Needs, role trace.Side) string {
	for _, side := range []struct {
		of   trace.Side
		path string
	}{{trace.Server, n.Server}, {trace.Client, n.Client}} {
		if side.path != "" && side.of == role && !conformance.Declares(s.capabilities, side.path) {
			return fmt.Sprintf("the %s does not declare %s", role, side.path)
		}
	}
	for _, x := range []struct {
		need, has bool
		without   string
	}{
		{n.Session, s.session, "the server gives no session id"},
		{n.Local, s.local, "the server is not reached over the loopback interface"},
		{n.Alone, s.alone, "the server speaks, or may speak, revisions with a handshake as well"},
	} {
		if x.need && !x.has {
			return x.without
		}
	}
	return s.unlisted(n)
}

// unlisted says what a scenario needs and no list has.
func (s *survey) unlisted(n scenarios.Needs) string {
	for _, x := range []struct {
		what, need string
		listed     []string
	}{{"tool", n.Tool, s.tools}, {"prompt", n.Prompt, s.prompts}, {"resource", n.Resource, s.resource}} {
		switch {
		case x.need == scenarios.Any && len(x.listed) == 0:
			return "the server lists no " + x.what
		case x.need != "" && x.need != scenarios.Any && !slices.Contains(x.listed, x.need):
			return fmt.Sprintf("the server lists no %s %s", x.what, x.need)
		}
	}
	return ""
}

// discover proposes each revision over each transport, on a connection of its
// own, and returns what the target really speaks.
func (r *run) discover(ctx context.Context) error {
	var offers []Offer
	for _, t := range r.transports {
		for _, rev := range r.revisions {
			offers = append(offers, Offer{rev, t})
		}
	}
	p := &probing{run: r, end: time.Now().Add(r.limits.scale(startLimit)), waiting: map[*time.Timer]bool{}}
	r.each(len(offers), func(i int) { p.probe(ctx, offers[i]) })
	byOffer := func(a, b Offer) int {
		return cmp.Or(cmp.Compare(a.Revision, b.Revision), cmp.Compare(a.Transport, b.Transport))
	}
	slices.SortFunc(r.surveys, func(a, b *survey) int { return byOffer(a.offer, b.offer) })
	slices.SortFunc(r.out.Refused, func(a, b Refusal) int { return byOffer(a.Offer, b.Offer) })
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case p.broken != nil:
		return p.broken
	case len(r.surveys) == 0 && p.speechless():
		return nil
	case len(r.surveys) == 0:
		return unreachable(r.opts.Target.where(), errors.New(p.reasons()))
	}
	r.settle()
	return nil
}

// settle takes over what the surveys say about the target and its pace.
func (r *run) settle() {
	for _, s := range r.surveys {
		s.local = loopback(r.reach.target.URL)
		s.alone = r.alone(s.offer.Transport)
		r.out.Offers = append(r.out.Offers, s.offer)
		r.limits.answer = max(r.limits.answer, 10*s.slowest)
		if s.name != "" {
			r.out.Subject.Name, r.out.Subject.Version = s.name, s.version
		}
	}
	r.limits.answer = min(r.limits.answer, longestAnswer)
	r.out.Subject.Transport = r.surveys[0].offer.Transport
}

// alone reports whether every revision with a handshake was proposed over a
// transport, and none is spoken.
func (r *run) alone(t trace.Transport) bool {
	refused := 0
	for _, f := range r.out.Refused {
		if f.Transport == t && !f.Revision.Stateless() {
			refused++
		}
	}
	return refused == len(schemas.Revisions())-1
}

const (
	// startLimit is how long a target may take from its start to its first
	// answer. Servers that are fetched or compiled on the way take that long.
	startLimit = 60 * time.Second
	// An answer may take ten times as long as the slowest seen while exploring,
	// and no less and no more than this. A server in a shell script needs 0.1 s.
	shortestAnswer = 5 * time.Second
	longestAnswer  = 60 * time.Second
)

// probing is the exploration of one target: all probes together have the time of
// a start. Once one was answered, silence in another revision ends soon: a server
// may not answer what it does not understand. The time that a probe waits for its
// turn is not held against the target.
type probing struct {
	run *run
	end time.Time // of the patience with a target that has answered nothing yet

	mu      sync.Mutex
	met     bool                 // some probe was answered
	pace    time.Duration        // how long the others may take from then, or from their start
	waiting map[*time.Timer]bool // what ends the patience with each probe
	broken  error                // a usage or harness error, which is none of the target's
	wrong   []*conn              // answered initialize by no usable result
}

// patience returns a context that ends when a probe that starts now has had its
// time; done ends it as well.
func (p *probing) patience(ctx context.Context) (patient context.Context, done func()) {
	patient, cancel := context.WithCancel(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	left := p.pace
	if !p.met {
		left = time.Until(p.end)
	}
	t := time.AfterFunc(left, cancel)
	p.waiting[t] = true
	return patient, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		t.Stop()
		delete(p.waiting, t)
		cancel()
	}
}

func (p *probing) answered(since time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.met {
		p.met = true
		p.pace = p.run.limits.scale(max(shortestAnswer, 10*time.Since(since)))
		for t := range p.waiting {
			t.Reset(p.pace)
		}
	}
}

func (p *probing) probe(ctx context.Context, o Offer) {
	began := time.Now()
	patient, done := p.patience(ctx)
	defer done()
	s, err := p.ask(ctx, patient, o, func() { p.answered(began) })
	r := p.run
	r.mu.Lock()
	defer r.mu.Unlock()
	var usage *UsageError
	var harness *HarnessError
	switch {
	case errors.As(err, &usage), errors.As(err, &harness):
		p.broken = err
	case ctx.Err() != nil: // whoever ended the run cut the probe short: it says nothing of the target
	case err != nil:
		r.out.Refused = append(r.out.Refused, Refusal{o, err.Error()})
	default:
		r.surveys = append(r.surveys, s)
	}
}

// ask opens a connection for one offer and looks around.
func (p *probing) ask(ctx, patient context.Context, o Offer, answered func()) (*survey, error) {
	c, err := p.run.connect(ctx, o, nil)
	if err != nil {
		return nil, err
	}
	s := &survey{offer: o}
	open := s.open
	if c.us == trace.Server {
		open = s.meet
	}
	err = open(patient, c, p.run.limits.scale(startLimit))
	var no *refused
	if err == nil || errors.As(err, &no) {
		answered()
	}
	switch {
	case err != nil:
	case c.us == trace.Client:
		s.list(ctx, c, p.run.limits.scale(longestAnswer))
	default:
		c.quiet(ctx, p.run.limits.scale(lingering), p.run.limits.scale(startLimit))
	}
	p.run.close(ctx, c, err == nil)
	if err != nil {
		p.keep(c)
	}
	if patient.Err() != nil && ctx.Err() == nil && errors.Is(err, context.Canceled) {
		err = p.silence(c)
	}
	return s, err
}

// silence says that a probe was not answered in time.
func (p *probing) silence(c *conn) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.met {
		return errors.New("no answer, while other revisions were answered long since")
	}
	c.journal.mu.Lock()
	defer c.journal.mu.Unlock()
	said := ""
	for _, x := range c.journal.entries {
		if x.From != c.us && x.Kind == trace.KindMessage {
			said = "; what it said is no answer: " + excerpt(x.Data)
		}
	}
	return fmt.Errorf("no answer within %v%s%s", p.run.limits.scale(startLimit), said, c.hint())
}

// keep remembers a conversation that a server opened wrongly: it answered
// initialize with a result, but names no version in it or answers another id.
func (p *probing) keep(c *conn) {
	c.journal.mu.Lock()
	defer c.journal.mu.Unlock()
	if c.us != trace.Client || c.offer.Revision.Stateless() || c.agreed != "" || c.results() == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wrong = append(p.wrong, c)
}

// results returns the first result that the peer sent, whatever its id.
func (c *conn) results() *entry {
	return c.journal.find(func(x *entry) bool { return x.From != c.us && x.msg.Kind == schemas.Result })
}

// speechless takes over what was seen of a server that answers initialize, but in
// no revision so that a conversation could begin. That is a verdict, and no
// target that could not be reached. It is judged by the latest revision that it
// was asked for, and reports whether there was anything to judge.
func (p *probing) speechless() bool {
	if len(p.wrong) == 0 {
		return false
	}
	r := p.run
	last := slices.MaxFunc(p.wrong, func(a, b *conn) int { return compareOffers(a.offer, b.offer) })
	answer := last.results()
	r.verdicts(last)
	r.out.Offers = append(r.out.Offers, last.offer)
	r.out.Refused = slices.DeleteFunc(r.out.Refused, func(f Refusal) bool { return f.Offer == last.offer })
	e := conformance.Evidence{
		Requirement: "LIFECYCLE-INITIALIZE-ANSWERED", Side: trace.Server, Revision: last.offer.Revision, Transport: last.offer.Transport,
		Verdict: conformance.Fail, Detail: "initialize is not answered so that a session could begin",
		Want: "a result with the id of the request, and protocolVersion in it", Got: excerpt(answer.Data),
		Event: answer.Seq, Wire: "<- " + excerpt(answer.Data),
	}
	r.account(last.offer, e)
	return true
}

// open does what opens a conversation in the revision, and learns who is there.
func (s *survey) open(ctx context.Context, c *conn, limit time.Duration) error {
	if !s.offer.Revision.Stateless() {
		err := c.handshake(ctx, nil, "", limit)
		// Who answered initialize in the revision speaks it. That it was gone right
		// after depends on the moment; the conversations meet it too, and judge it.
		if _, gone := errors.AsType[*noShow](err); err != nil && !(gone && c.agreed == string(s.offer.Revision)) {
			return err
		}
		s.capabilities, _ = schemas.Member(c.opened.msg.Result, "capabilities")
		s.introduced(schemas.Member(c.opened.msg.Result, "serverInfo"))
		s.session = c.dress.session != ""
		return nil
	}
	x, err := c.alive(ctx, limit)
	if err != nil {
		return err
	}
	if x.msg.Kind == schemas.Error {
		return &refused{"server/discover was answered with the error " + excerpt(x.msg.Error)}
	}
	var versions []string
	if v, ok := schemas.Member(x.msg.Result, "supportedVersions"); ok {
		// What is no list of strings is for the judge; here it offers nothing.
		_ = json.Unmarshal(v, &versions)
	}
	if !slices.Contains(versions, string(s.offer.Revision)) {
		return &refused{fmt.Sprintf("server/discover lists the versions %v", versions)}
	}
	s.capabilities, _ = schemas.Member(x.msg.Result, "capabilities")
	s.introduced(schemas.Member(x.msg.Result, "_meta", "io.modelcontextprotocol/serverInfo"))
	return nil
}

func (s *survey) introduced(info json.RawMessage, _ bool) {
	name, _ := schemas.Member(info, "name")
	version, _ := schemas.Member(info, "version")
	s.name, s.version = text(name), text(version)
}

// list learns the names of what the server has.
func (s *survey) list(ctx context.Context, c *conn, limit time.Duration) {
	for _, l := range []struct {
		capability, key string
		to              *[]string
	}{
		{"tools", "name", &s.tools}, {"prompts", "name", &s.prompts}, {"resources", "uri", &s.resource},
	} {
		if conformance.Declares(s.capabilities, l.capability) && !s.mute {
			s.pages(ctx, c, l.capability, l.key, l.to, limit)
		}
	}
}

// pages walks one list. What is wrong with it is for the judge to say; here it
// just ends.
func (s *survey) pages(ctx context.Context, c *conn, list, key string, to *[]string, limit time.Duration) {
	const most = 50
	var params json.RawMessage
	for range most {
		began := time.Now()
		q, err := c.request(ctx, list+"/list", params)
		if err != nil {
			return
		}
		x, err := c.reply(ctx, q, limit)
		if err != nil {
			s.mute = true
			return
		}
		s.slowest = max(s.slowest, time.Since(began))
		raw, _ := schemas.Member(x.msg.Result, list)
		var items []map[string]json.RawMessage
		if json.Unmarshal(raw, &items) != nil {
			return
		}
		for _, it := range items {
			if k := it[key]; len(k) > 0 && k[0] == '"' {
				*to = append(*to, text(k))
			}
		}
		var more bool
		if params, more = nextPage(params, x.msg.Result, c.dress.revision); !more {
			return
		}
	}
}

// nextPage returns the params that ask for the page after a result. null is no
// cursor; up to 2025-11-25 an empty one is undefined and is taken for the end,
// since 2026-07-28 it is a cursor like any other (server/utilities/pagination).
func nextPage(params, result json.RawMessage, r schemas.Revision) (json.RawMessage, bool) {
	next, more := schemas.Member(result, "nextCursor")
	if !more || string(next) == "null" || string(next) == `""` && !r.Stateless() {
		return nil, false
	}
	return withMember(params, "cursor", next), true
}

// reasons joins why nothing is offered; equal reasons are given once.
func (p *probing) reasons() string {
	var parts []string
	seen := map[string]bool{}
	for _, f := range p.run.out.Refused {
		if !seen[f.Reason] {
			seen[f.Reason] = true
			parts = append(parts, fmt.Sprintf("%s over %s: %s", f.Revision, f.Transport, f.Reason))
		}
	}
	return strings.Join(parts, "; ")
}
