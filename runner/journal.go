package runner

import (
	"bytes"
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/mcp-conform/mcp-conform/runner/wire"
	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

// entry is one event as a conversation sees it. Each member of a batch is an
// entry of its own.
type entry struct {
	trace.Event
	msg      schemas.Message // of kind Invalid unless the event is a message
	taken    bool            // an expect has matched it
	reserved bool            // a request that a step will take, so manners leave it
	answered bool            // a request that has had its answer
}

// journal holds what happened on one connection and wakes those who wait for more.
type journal struct {
	mu      sync.Mutex
	changed chan struct{} // closed and replaced at each change
	entries []*entry
	passed  int // entries before this one ask nothing of manners any more
	// awaited counts, by method, the requests that the running conversation has
	// steps for. What arrives for them is reserved.
	awaited map[string]int
	// ended is set by the event that ends the whole connection.
	ended *entry
	// tails are the last lines on standard output that are no messages, and on
	// standard error. No step matches them, so that a flood costs no memory.
	tails map[trace.Kind][]string
	asked map[string]json.RawMessage // by exchange, the id of the request that it is to answer
	last  int64                      // Seq of the newest event
	ours  map[string]bool            // keys of the ids of the harness's requests
	// purpose is set while a step sends what may break rules on purpose;
	// onPurpose collects the events that this made.
	purpose   bool
	onPurpose map[int64]bool
}

func newJournal() *journal {
	return &journal{
		changed: make(chan struct{}), awaited: map[string]int{},
		tails: map[trace.Kind][]string{}, asked: map[string]json.RawMessage{}, ours: map[string]bool{}, onPurpose: map[int64]bool{},
	}
}

// record appends e, of which it keeps a copy. us is the harness's side.
func (j *journal) record(e trace.Event, us trace.Side) {
	e.Data = bytes.Clone(e.Data)
	var added []*entry
	if e.Kind == trace.KindMessage {
		m := schemas.Classify(e.Data)
		if m.Kind != schemas.Batch {
			added = append(added, &entry{Event: e, msg: m})
		}
		for _, member := range m.Batch {
			one := e
			one.Data = member.Raw
			added = append(added, &entry{Event: one, msg: member})
		}
	} else {
		added = append(added, &entry{Event: e})
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.last = e.Seq
	if j.purpose && e.From == us {
		j.onPurpose[e.Seq] = true
	}
	if e.Exchange == "" && (e.Kind == trace.KindNoise || e.Kind == trace.KindStderr) {
		const kept = 5
		tail := append(j.tails[e.Kind], excerpt(e.Data))
		j.tails[e.Kind] = tail[max(0, len(tail)-kept):]
		return
	}
	for _, x := range added {
		if x.msg.Kind == schemas.Request && j.awaited[x.msg.Method] > 0 {
			j.awaited[x.msg.Method]--
			x.reserved = true
		}
		if x.Kind == trace.KindClosed && x.Exchange == "" && j.ended == nil && x.End.Detail != wire.StandardInput {
			j.ended = x
		}
		j.entries = append(j.entries, x)
	}
	j.wake()
}

// end says that the peer's process has ended, where that is no event of the wire.
func (j *journal) end(e trace.Event) {
	j.mu.Lock()
	defer j.mu.Unlock()
	e.Seq = j.last + 1
	x := &entry{Event: e}
	j.entries = append(j.entries, x)
	if j.ended == nil {
		j.ended = x
	}
	j.wake()
}

func (j *journal) wake() {
	close(j.changed)
	j.changed = make(chan struct{})
}

// begin forgets what earlier conversations left and reserves the requests that
// the next one awaits.
func (j *journal) begin(awaited map[string]int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	var open []*entry
	for _, x := range j.entries {
		if x.msg.Kind == schemas.Request && !x.answered {
			open = append(open, x)
		}
	}
	j.entries, j.passed, j.awaited = open, 0, awaited
}

// release hands what is still reserved to manners, at the end of a conversation.
func (j *journal) release() {
	j.mu.Lock()
	defer j.mu.Unlock()
	clear(j.awaited)
	for _, x := range j.entries {
		x.reserved = false
	}
	j.passed = 0
	j.wake()
}

// await calls look, under the lock, after every change until it returns true,
// the time is over or ctx ends. It reports whether look returned true.
func (j *journal) await(ctx context.Context, limit time.Duration, look func() bool) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for {
		j.mu.Lock()
		done, changed := look(), j.changed
		j.mu.Unlock()
		if done {
			return true
		}
		select {
		case <-changed:
		case <-timer.C:
			j.mu.Lock()
			defer j.mu.Unlock()
			return look()
		case <-ctx.Done():
			return false
		}
	}
}

// answer marks a request as answered. It reports whether it was not before: who
// is told so has to answer it, and nobody else.
func (j *journal) answer(x *entry) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	claimed := !x.answered
	x.answered = true
	return claimed
}

// find returns the first entry that fits; the caller holds the lock or looks in await.
func (j *journal) find(fits func(*entry) bool) *entry {
	for _, x := range j.entries {
		if fits(x) {
			return x
		}
	}
	return nil
}

// pick returns the first entry that fits, as find does, and remembers how far
// nothing can fit any more: what did not and is not reserved. Manners look after
// every event, and a flood of them must not cost its square.
func (j *journal) pick(fits func(*entry) bool) *entry {
	for i := j.passed; i < len(j.entries); i++ {
		x := j.entries[i]
		if fits(x) {
			return x
		}
		if i == j.passed && !x.reserved {
			j.passed++
		}
	}
	return nil
}
