package conformance

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

// Seen is what a judge learnt of the two sides: who they said they are, and the
// facts that decide which requirements apply.
type Seen struct {
	Client SeenParty
	Server SeenParty
	// Facts has one entry for every revision that was spoken, oldest first.
	Facts []Facts
}

// SeenParty is one side as it introduced itself. With several sessions the last
// word counts for the name, and capabilities add up.
type SeenParty struct {
	Name, Version string
	Capabilities  json.RawMessage
}

// Seen returns what was learnt so far.
func (j *Judge) Seen() Seen {
	j.mu.Lock()
	defer j.mu.Unlock()
	s := j.seen
	s.Facts = nil
	for _, f := range j.facts {
		f.Transports = slices.Clone(f.Transports)
		s.Facts = append(s.Facts, *f)
	}
	slices.SortFunc(s.Facts, func(a, b Facts) int { return cmp.Compare(a.Revision, b.Revision) })
	return s
}

func (j *Judge) fact(r schemas.Revision, t trace.Transport) *Facts {
	f := j.facts[r]
	if f == nil {
		f = &Facts{Revision: r}
		j.facts[r] = f
	}
	if t != "" && !slices.Contains(f.Transports, t) {
		f.Transports = append(f.Transports, t)
		slices.Sort(f.Transports)
	}
	return f
}

// learn keeps what a session knows of its parties.
func (j *Judge) learn(s *Session) {
	r := s.judgedAs()
	if r == "" {
		return
	}
	f := j.fact(r, s.Transport)
	if s.Client.Known {
		f.ClientCapabilities = union(f.ClientCapabilities, s.Client.Capabilities)
		j.seen.Client.take(s.Client)
	}
	if s.Server.Known {
		f.ServerCapabilities = union(f.ServerCapabilities, s.Server.Capabilities)
		j.seen.Server.take(s.Server)
	}
}

func (p *SeenParty) take(q Party) {
	if q.Name != "" {
		p.Name, p.Version = q.Name, q.Version
	}
	p.Capabilities = union(p.Capabilities, q.Capabilities)
}
