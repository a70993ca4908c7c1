package conformance

import (
	"fmt"
	"strings"
	"sync"

	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

// JudgeOptions say what a judge judges by and where it reports.
type JudgeOptions struct {
	Catalogue *Catalogue
	Schemas   *schemas.Set
	Header    trace.Header   // of the trace: transport, revision, what it lacks
	Scenario  string         // goes into all evidence
	Emit      func(Evidence) // called for each piece of evidence, in order
}

// Judge runs all rules over one trace, of any number of connections, and judges
// both sides. It keeps what is open, never the trace. Its methods may be called
// from several goroutines, but events must come in the order of the trace.
//
//	j := conformance.NewJudge(conformance.JudgeOptions{Catalogue: c, Schemas: s, Emit: ledger.Add})
//	for { e, err := reader.Next(); …; j.Observe(e) }
//	j.Finish()
type Judge struct {
	options JudgeOptions
	lacks   map[trace.Lack]bool
	header  schemas.Revision // known from outside of the traffic, or ""

	mu         sync.Mutex
	conns      map[string]*connection
	order      []*connection
	passes     map[verdictKey]struct{}
	methods    map[methodKey]methodEntry
	sessionIDs map[string]bool           // given by servers
	served     map[schemas.Revision]bool // versions that the server has answered initialize with
	// statelessOnly is set when a server says that it supports no revision with
	// the handshake.
	statelessOnly bool
	seen          Seen
	facts         map[schemas.Revision]*Facts
	explain       string
	done          bool
}

type verdictKey struct {
	revision    schemas.Revision
	requirement string
	side        trace.Side
	transport   trace.Transport
	reason      string // "" for a pass
}

type methodKey struct {
	revision schemas.Revision
	name     string
}

type methodEntry struct {
	schemas.Method
	known bool
}

// NewJudge returns a judge for one trace.
func NewJudge(o JudgeOptions) *Judge {
	j := &Judge{
		options: o, lacks: map[trace.Lack]bool{}, conns: map[string]*connection{},
		passes: map[verdictKey]struct{}{}, methods: map[methodKey]methodEntry{},
		sessionIDs: map[string]bool{}, served: map[schemas.Revision]bool{}, facts: map[schemas.Revision]*Facts{},
	}
	for _, l := range o.Header.Lacks {
		j.lacks[l] = true
	}
	if r, err := schemas.ParseRevision(o.Header.Revision); err == nil {
		j.header = r
	}
	return j
}

// Observe judges one event.
func (j *Judge) Observe(e trace.Event) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if !j.done {
		j.observe(&e)
	}
}

// Finish says that the trace has ended. Evidence that needs the end, or the
// negotiated revision of a session that never negotiated, is emitted now.
func (j *Judge) Finish() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.done {
		return
	}
	j.done = true
	for _, c := range j.order {
		j.endConnection(c)
	}
}

// Explains returns the requirement whose failure explains why an answer did not
// come or could not be read: bytes on standard output that are no message, a
// wrong content type. It is "" when there is no such failure. A check that
// waited in vain names it as its cause.
func (j *Judge) Explains() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.explain
}

// method looks up a method, once for each revision and name.
func (j *Judge) method(r schemas.Revision, name string) (schemas.Method, bool) {
	k := methodKey{r, name}
	e, ok := j.methods[k]
	if !ok {
		e.Method, e.known = schemas.LookupMethod(r, name)
		if len(j.methods) < remembered {
			j.methods[k] = e
		}
	}
	return e.Method, e.known
}

// run shows an observation to the rules of its session.
func (j *Judge) run(o *Observation) {
	s := o.Session
	if s.rules == nil {
		s.rules, s.aside = j.newRules()
	}
	if o.Event != nil {
		s.used = o.Event.Seq
	}
	rules := s.rules
	if o.Exchange != nil && o.Exchange.step != noStep {
		rules = s.aside
	}
	for _, r := range rules {
		r.Observe(o)
	}
}

// revisionOf is the revision under which evidence on o goes: that of the
// message, or else of the session; "" means that it has to wait.
func (j *Judge) revisionOf(o *Observation) schemas.Revision {
	if o.Session.Modern && o.Revision != "" {
		return o.Revision
	}
	return o.Session.Revision
}

// pass emits one pass for each requirement, side, revision and transport: that
// something was fulfilled a thousand times says no more.
func (j *Judge) pass(o *Observation, requirement string, side trace.Side) {
	k := verdictKey{j.revisionOf(o), requirement, side, o.Session.Transport, ""}
	if _, ok := j.passes[k]; ok {
		return
	}
	if k.revision != "" {
		j.passes[k] = struct{}{}
	}
	j.emit(o, Evidence{Requirement: requirement, Side: side, Verdict: Pass})
}

func (j *Judge) untested(o *Observation, requirement string, side trace.Side, reason string) {
	k := verdictKey{j.revisionOf(o), requirement, side, o.Session.Transport, reason}
	if _, ok := j.passes[k]; ok {
		return
	}
	if k.revision != "" {
		j.passes[k] = struct{}{}
	}
	j.emit(o, Evidence{Requirement: requirement, Side: side, Verdict: Untested, Detail: reason})
}

// mostPending bounds the evidence that waits for the negotiated revision.
const mostPending = 512

// emit completes evidence and hands it on, or keeps it until the revision of
// the session is known: the revision that was negotiated is the one that is judged.
func (j *Judge) emit(o *Observation, e Evidence) {
	e.Revision = j.revisionOf(o)
	e.Transport = o.Session.Transport
	e.Scenario = j.options.Scenario
	if o.Event != nil {
		e.Event = o.Event.Seq
		if e.Verdict == Fail {
			e.Wire = excerpt(o.Event)
		}
	}
	if e.Verdict == Fail && explains(e.Requirement) && j.explain == "" {
		j.explain = e.Requirement
	}
	if e.Revision != "" {
		j.options.Emit(e)
		return
	}
	s := o.Session
	if e.Verdict != Fail {
		for _, p := range s.pending {
			if p.Requirement == e.Requirement && p.Side == e.Side && p.Verdict == e.Verdict {
				return
			}
		}
	}
	if len(s.pending) < mostPending {
		s.pending = append(s.pending, e)
	}
}

// explains says which failures keep answers from arriving.
func explains(requirement string) bool {
	switch requirement {
	case "STDIO-STDOUT-MESSAGES-ONLY", "STDIO-ONE-LINE", "HTTP-REQUEST-CONTENT-TYPE":
		return true
	}
	return false
}

// release emits what waited, under revision r.
func (j *Judge) release(s *Session, r schemas.Revision) {
	for _, e := range s.pending {
		e.Revision = r
		if e.Verdict == Pass {
			k := verdictKey{r, e.Requirement, e.Side, e.Transport, ""}
			if _, ok := j.passes[k]; ok {
				continue
			}
			j.passes[k] = struct{}{}
		}
		j.options.Emit(e)
	}
	s.pending = nil
}

// releaseUnnegotiated emits what waited in a session whose revision never became
// known: under the revision that the trace's header, a version header or the
// request for initialize names. Failing that, only what holds in every revision
// with a handshake is said, under the latest of them.
func (j *Judge) releaseUnnegotiated(s *Session) {
	only := schemas.Revision("")
	if s.Transport == trace.HTTPSSE {
		only = schemas.R20241105 // the one revision that describes it
	}
	for _, r := range []schemas.Revision{j.header, s.hint, only} {
		if r != "" && !r.Stateless() {
			j.fact(r, s.Transport)
			j.release(s, r)
			return
		}
	}
	kept := s.pending[:0]
	for _, e := range s.pending {
		if q, ok := j.options.Catalogue.Get(e.Requirement); ok && q.everyHandshake() {
			kept = append(kept, e)
		}
	}
	if s.pending = kept; len(kept) > 0 {
		j.fact(schemas.R20251125, s.Transport)
	}
	j.release(s, schemas.R20251125)
}

// everyHandshake reports whether the demand stands in every revision that has
// the handshake.
func (q *Requirement) everyHandshake() bool {
	for _, r := range schemas.Revisions() {
		if _, ok := q.In[r]; !ok && !r.Stateless() {
			return false
		}
	}
	return true
}

// excerpt shows an event to people, secrets masked, in one line.
func excerpt(e *trace.Event) string {
	const most, look = 300, 4096
	arrow := "-> "
	if e.From == trace.Server {
		arrow = "<- "
	}
	var text string
	switch {
	case e.HTTP != nil && e.HTTP.Method != "":
		text = e.HTTP.Method + " " + trace.MaskURL(e.HTTP.URL)
	case e.HTTP != nil:
		text = fmt.Sprintf("HTTP %d", e.HTTP.Status)
		if t, ok := e.HTTP.Get("Content-Type"); ok {
			text += " " + t
		}
	case e.End != nil:
		text = "(" + e.End.How + ")"
	default:
		text = strings.ToValidUTF8(trace.MaskText(string(e.Data[:min(len(e.Data), look)])), "\uFFFD")
	}
	text = strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, text)
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return arrow + text
}
