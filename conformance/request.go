package conformance

import (
	"encoding/json"

	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

// Request is a request that was seen, from when it was sent until a while after
// it was answered.
type Request struct {
	From     trace.Side
	Key      string // see schemas.IDKey
	Method   string
	Params   json.RawMessage // a copy; dropped once answered
	Seq      int64           // of the event that carried it
	Revision schemas.Revision
	Exchange *Exchange // HTTP: the exchange that carried it

	Token        string // key of its progress token, "" if none
	Told         string // the last progress value told for it, as written
	CancelledAt  int64  // Seq of the cancellation, 0 if none
	AnsweredAt   int64  // Seq of the first response, 0 while open
	AnsweredWith schemas.Kind

	task   bool   // it asks for a task (2025-11-25)
	became string // id of the task that its result announced, "" if none
	faults requestFaults
}

// requestFaults is what is wrong with a request of 2026-07-28 and decides how
// it may be answered. Several at once leave the answer open: the specification
// does not order them.
type requestFaults struct {
	meta    bool // a required _meta field is missing
	missing bool // a required header is missing
	differs bool // a header contradicts the body
	version bool // the version is no revision that there is
	other   bool // another fault of form, so that any error is right
}

// declares looks up a capability that the request itself declares (2026-07-28).
func (r *Request) declares(path string) bool {
	raw, ok := schemas.Member(r.Params, "_meta", metaClientCapabilities)
	return ok && Declares(raw, path)
}

// table holds the requests of one sender in one session: those that are open,
// and the last few that were answered.
type table struct {
	open   map[string]*Request
	recent map[string]*Request
	queue  []string // of recent, oldest first
	used   idSet
	twice  idSet               // ids that wait, or waited, for more than one response
	tokens map[string]*Request // by progress token, the latest
	// refused holds ids whose request was turned away by HTTP status and may be
	// sent again as it was: a client that gets 401 authorizes and repeats.
	refused map[string]bool
}

// recently is how many answered requests are remembered, to tell a second
// response or late progress from one that answers nothing.
const recently = 512

func (t *table) add(r *Request) {
	if t.open == nil {
		t.open = map[string]*Request{}
	}
	if len(t.open) >= remembered { // a flood that nobody answers
		for k := range t.open {
			delete(t.open, k)
			break
		}
	}
	t.open[r.Key] = r
	if r.Token != "" {
		if t.tokens == nil {
			t.tokens = map[string]*Request{}
		}
		t.tokens[r.Token] = r
	}
}

// close moves an answered request from open to recent.
func (t *table) close(r *Request) {
	if t.open[r.Key] == r {
		delete(t.open, r.Key)
	}
	r.Params = nil
	if t.recent == nil {
		t.recent = map[string]*Request{}
	}
	if _, ok := t.recent[r.Key]; !ok {
		t.queue = append(t.queue, r.Key)
	}
	t.recent[r.Key] = r
	if len(t.queue) > recently {
		t.forget(t.queue[0])
		t.queue = t.queue[1:]
	}
}

// byToken finds the latest request with that progress token, open or answered
// not long ago.
func (t *table) byToken(token string) *Request { return t.tokens[token] }

// forget drops an answered request.
func (t *table) forget(key string) {
	if r := t.recent[key]; r != nil && t.tokens[r.Token] == r {
		delete(t.tokens, r.Token)
	}
	delete(t.recent, key)
}

// refuse notes that a request was turned away without an answer.
func (t *table) refuse(r *Request) {
	if t.open[r.Key] == r {
		delete(t.open, r.Key)
	}
	if t.refused == nil || len(t.refused) > recently {
		t.refused = map[string]bool{}
	}
	t.refused[r.Key] = true
}
