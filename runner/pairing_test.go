package runner_test

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/internal/peer"
	"github.com/mcp-conform/mcp-conform/runner"
	"github.com/mcp-conform/mcp-conform/scenarios"
	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

// Faults and requirements are paired, so that every check is proven:
//
//   - every fault is caught: the first requirement that it names fails, in a tour
//     or, when a tour does not provoke it, in a run of the scenarios;
//   - nothing fails that the fault does not name, and nothing at all on the other
//     side: whoever reacts to nonsense is not to blame;
//   - every requirement that the reference peers are seen to fulfil is broken by
//     some fault.
//
// Two lists name what is not so yet, with the reason. They may only shrink.
func TestFaultsAndRequirementsArePaired(t *testing.T) {
	o := options(t)
	proven := map[string]bool{}
	uncaught := listed(t, "testdata/uncaught.txt")
	for name, s := range sightings(t, o) {
		if _, excepted := uncaught.reasons[name]; !s.clean() && !excepted {
			s = look(t, o, s.fault, 1) // once more, alone and with time: a busy machine proves nothing
		}
		s.expected(t, name)
		broken := s.fault.Requirements[0]
		uncaught.settle(t, name, s.failed[broken] != "", fmt.Sprintf("it breaks %s, which does not fail", broken))
		for id := range s.failed {
			proven[string(s.fault.Side)+" "+id] = true
		}
	}
	uncaught.rest(t)
	unproven := listed(t, "testdata/unproven.txt")
	for _, id := range fulfilled(t, o) {
		unproven.settle(t, id, proven[id], "the reference peer fulfils it, and no fault shows that it can fail")
	}
	unproven.rest(t)
}

// list is a reviewed list of exceptions: name, two spaces, reason.
type list struct {
	file    string
	reasons map[string]string
}

func listed(t *testing.T, file string) *list {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	l := &list{file, map[string]string{}}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, why, ok := strings.Cut(line, "  ")
		if !ok {
			t.Errorf("%s: %q gives no reason", file, line)
		}
		l.reasons[name] = strings.TrimSpace(why)
	}
	return l
}

// settle says whether what the list may except is as it should be.
func (l *list) settle(t *testing.T, name string, good bool, otherwise string) {
	t.Helper()
	why, excepted := l.reasons[name]
	delete(l.reasons, name)
	switch {
	case !good && !excepted:
		t.Errorf("%s: %s", name, otherwise)
	case good && excepted:
		t.Errorf("%s is in order now: take it out of %s (%s)", name, l.file, why)
	}
}

func (l *list) rest(t *testing.T) {
	t.Helper()
	for name := range l.reasons {
		t.Errorf("%s: there is no such thing: take it out of %s", name, l.file)
	}
}

// sighting is what was seen of one fault: requirements and how they failed.
type sighting struct {
	fault         peer.Fault
	failed, other map[string]string
}

func (s *sighting) expected(t *testing.T, name string) {
	t.Helper()
	for id, what := range s.other {
		t.Errorf("%s: the other side breaks %s: %s", name, id, what)
	}
	for id, what := range s.failed {
		if !slices.Contains(s.fault.Requirements, id) {
			t.Errorf("%s: %s fails as well: %s", name, id, what)
		}
	}
}

// sightings makes the tours of all faults, and runs where these catch nothing.
func sightings(t *testing.T, o runner.Options) map[string]*sighting {
	t.Helper()
	all := map[string]*sighting{}
	slots := make(chan struct{}, 16) // mostly they wait
	var group sync.WaitGroup
	var mu sync.Mutex
	for _, f := range peer.Faults() {
		group.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			s := look(t, o, f, 0.3)
			mu.Lock()
			defer mu.Unlock()
			all[string(f.Side)+"/"+f.Name] = s
		})
	}
	group.Wait()
	return all
}

// look makes the tours of one fault, and runs where these catch nothing.
func look(t *testing.T, o runner.Options, f peer.Fault, patience float64) *sighting {
	s := &sighting{f, map[string]string{}, map[string]string{}}
	offers := shows(o.Catalogue, f)
	for _, offer := range offers {
		s.note(offer, tour(t, o, offer, f))
	}
	for _, offer := range offers {
		if s.failed[f.Requirements[0]] == "" {
			s.note(offer, ledgerOf(t, o, f, offer, patience))
		}
	}
	return s
}

// clean reports whether the fault was caught, and nothing else was.
func (s *sighting) clean() bool {
	for id := range s.failed {
		if !slices.Contains(s.fault.Requirements, id) {
			return false
		}
	}
	return s.failed[s.fault.Requirements[0]] != "" && len(s.other) == 0
}

// ledgerOf runs the scenarios against the reference peer with a fault. A fault may
// keep the run from its end; what was judged before counts. Silence is one of the
// faults, so patience is short unless there is reason to look twice.
func ledgerOf(t *testing.T, o runner.Options, f peer.Fault, offer runner.Offer, patience float64) *conformance.Ledger {
	o.Target = runner.Target{Role: f.Side, Builtin: true, Faults: []string{f.Name}}
	o.Revisions, o.Transports = []schemas.Revision{offer.Revision}, []trace.Transport{offer.Transport}
	o.Patience = patience
	switch f.Name {
	case "get-served", "versions-not-named": // in a server that speaks no revision with a handshake
		o.Revisions, o.Target.Only = nil, o.Revisions
	case "capabilities-remembered": // before anybody has declared anything: the server remembers over all connections
		o.Scenarios = slices.DeleteFunc(slices.Clone(o.Scenarios), func(s scenarios.Scenario) bool {
			return s.ID != "stateless.capability-forgotten"
		})
	}
	out, err := runner.Run(t.Context(), o)
	if err != nil {
		t.Logf("%s/%s, %s over %s: %v", f.Side, f.Name, offer.Revision, offer.Transport, err)
	}
	return out.Ledger
}

func (s *sighting) note(offer runner.Offer, l *conformance.Ledger) {
	for _, f := range l.Findings() {
		to := s.failed
		if f.Side != s.fault.Side {
			to = s.other
		}
		to[f.Requirement] = fmt.Sprintf("%s over %s: %s: want %s, got %s: %s", offer.Revision, offer.Transport, f.Detail, f.Want, f.Got, f.Wire)
		for _, c := range f.Consequences {
			if c.Side == s.fault.Side && slices.Contains(s.fault.Requirements, c.Requirement) {
				s.failed[c.Requirement] = "in consequence"
			}
		}
	}
}

// shows lists offers in which a fault shows and its requirement stands: the newest
// revision of each era over each transport, the newest first.
func shows(c *conformance.Catalogue, f peer.Fault) []runner.Offer {
	q, _ := c.Get(f.Requirements[0])
	var offers []runner.Offer
	for _, transport := range []trace.Transport{trace.Stdio, trace.StreamableHTTP} {
		eras := map[bool]runner.Offer{}
		for _, r := range schemas.Revisions() {
			stands := q.BindsIn(r, f.Side) && (len(q.Transports) == 0 || slices.Contains(q.Transports, transport))
			if f.Shows(r, transport) && stands {
				eras[r.Stateless()] = runner.Offer{Revision: r, Transport: transport}
			}
		}
		offers = slices.AppendSeq(offers, maps.Values(eras))
	}
	slices.SortFunc(offers, func(a, b runner.Offer) int {
		return cmp.Or(cmp.Compare(b.Revision, a.Revision), cmp.Compare(a.Transport, b.Transport))
	})
	return offers
}

// fulfilled lists, as "side ID", what tours and runs without a fault show to be
// fulfilled.
func fulfilled(t *testing.T, o runner.Options) []string {
	t.Helper()
	seen := map[string]bool{}
	note := func(l *conformance.Ledger, s trace.Side) {
		for _, r := range l.Revisions() {
			for _, j := range l.Verdicts(r, s) {
				if j.Passed > 0 {
					seen[string(s)+" "+j.Requirement.ID] = true
				}
			}
		}
	}
	for _, r := range schemas.Revisions() {
		for _, transport := range []trace.Transport{trace.Stdio, trace.StreamableHTTP} {
			l := tour(t, o, runner.Offer{Revision: r, Transport: transport}, peer.Fault{})
			note(l, trace.Client)
			note(l, trace.Server)
		}
	}
	for _, s := range []trace.Side{trace.Client, trace.Server} {
		o.Target = runner.Target{Role: s, Builtin: true}
		out, err := runner.Run(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range out.Ledger.Findings() {
			t.Errorf("without a fault the %s breaks %s: %s", s, f.Requirement, f.Detail)
		}
		note(out.Ledger, s)
	}
	return slices.Sorted(maps.Keys(seen))
}
