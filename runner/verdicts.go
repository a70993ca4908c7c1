package runner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/scenarios"
	"github.com/mcp-conform/mcp-conform/trace"
)

// watch gives a connection its judge.
func (r *run) watch(c *conn) {
	c.judge = conformance.NewJudge(conformance.JudgeOptions{
		Catalogue: r.opts.Catalogue,
		Schemas:   r.opts.Schemas,
		Header:    trace.Header{Transport: c.offer.Transport, Revision: string(c.offer.Revision), Subject: r.opts.Target.Role},
		Emit:      func(e conformance.Evidence) { c.found = append(c.found, e) },
	})
}

// verdicts takes over what the judge of a connection that has been closed found.
func (r *run) verdicts(c *conn) {
	c.judge.Finish()
	for _, f := range c.judge.Seen().Facts {
		if f.Revision == c.offer.Revision {
			r.out.Ledger.Learn(f)
		}
	}
	target, harness := c.sort(r.opts.Catalogue, c.found)
	for _, e := range target {
		r.account(c.offer, e)
	}
	for _, err := range harness {
		r.harness(err)
	}
}

// span says which scenario had the connection from an event on.
type span struct {
	from   int64
	id     string
	breaks []string
}

// enter notes that from now on the connection belongs to a scenario.
func (c *conn) enter(s *scenarios.Scenario) {
	c.journal.mu.Lock()
	defer c.journal.mu.Unlock()
	c.spans = append(c.spans, span{c.journal.last + 1, s.ID, s.Breaks})
}

func (c *conn) hasEnded() bool {
	c.journal.mu.Lock()
	defer c.journal.mu.Unlock()
	return c.journal.ended != nil
}

// owner returns the scenario during which an event happened.
func (c *conn) owner(event int64) string {
	id := ""
	for _, s := range c.spans {
		if event == 0 && len(c.spans) > 1 {
			return "" // nothing shows which of them it was
		}
		if event == 0 || s.from <= event {
			id = s.id
		}
	}
	return id
}

// onPurpose reports whether the harness broke a rule because a scenario wanted it.
func (c *conn) onPurpose(e conformance.Evidence) bool {
	return c.journal.onPurpose[e.Event] || slices.ContainsFunc(c.spans, func(s span) bool {
		return slices.Contains(s.breaks, e.Requirement)
	})
}

// followsFromIDs reports whether the harness cannot but break a requirement when
// it answers requests whose ids are null or not their own.
func followsFromIDs(id string) bool {
	return id == "IDS-ANSWERED-ONCE" || id == "IDS-RESPONSE-ECHO" || id == "ENVELOPE-NOTIFICATION-UNANSWERED"
}

// sort separates what a judge has to say about the target from what it holds
// against the harness, which is returned as errors unless it was on purpose.
func (c *conn) sort(cat *conformance.Catalogue, es []conformance.Evidence) (target []conformance.Evidence, harness []error) {
	confused := slices.ContainsFunc(es, func(e conformance.Evidence) bool {
		return e.Side != c.us && e.Verdict == conformance.Fail && strings.HasPrefix(e.Requirement, "IDS-")
	})
	for _, e := range es {
		// Another revision in a conversation is a probe of the peer's, or has
		// connections of its own.
		if q, ok := cat.Get(e.Requirement); e.Revision != c.offer.Revision || ok && !q.BindsIn(e.Revision, e.Side) {
			continue
		}
		e.Scenario = c.owner(e.Event)
		switch {
		case e.Side != c.us:
			target = append(target, e)
		case confused && followsFromIDs(e.Requirement):
		case e.Verdict == conformance.Fail && !c.onPurpose(e):
			harness = append(harness, fmt.Errorf("connection %s, %s: the harness itself broke %s: %s (want %s, got %s): %s",
				c.id, e.Scenario, e.Requirement, e.Detail, e.Want, e.Got, e.Wire))
		}
	}
	return target, harness
}
