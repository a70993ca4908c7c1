package runner

import (
	"context"
	"encoding/json"
	"time"

	"github.com/mcp-conform/mcp-conform/runner/wire"
	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

// mostResumes bounds how often one connection polls for what it waits for.
const mostResumes = 50

// broken returns the end of a stream that broke off before the answer that it was
// to carry, after the server had given an event id: it may be polled for the rest
// (2025-11-25 basic/transports, resumability and redelivery). Each end is
// returned once; the caller holds the journal's lock.
func (c *conn) broken() *entry {
	if c.us != trace.Client || len(c.journal.asked) == 0 || c.resumes >= mostResumes {
		return nil
	}
	return c.journal.find(func(x *entry) bool {
		id, asked := c.journal.asked[x.Exchange]
		return asked && !x.answered && x.Kind == trace.KindClosed && x.End.How != "closed-by-us" &&
			resumable(c.journal, x.Exchange) && c.journal.find(func(y *entry) bool {
			return y.From != c.us && (y.msg.Kind == schemas.Result || y.msg.Kind == schemas.Error) && schemas.SameID(y.msg.ID, id)
		}) == nil
	})
}

// resume polls for the rest of a stream, after the time that the server asked for.
func (c *conn) resume(ctx context.Context, end *entry) {
	c.journal.mu.Lock()
	id, after := c.journal.asked[end.Exchange], time.Duration(0)
	for _, x := range c.journal.entries {
		if x.Exchange == end.Exchange && x.SSE != nil && x.SSE.Retry != nil {
			after = time.Duration(*x.SSE.Retry) * time.Millisecond
		}
	}
	c.journal.mu.Unlock()
	wait := time.NewTimer(min(after, longestAnswer))
	defer wait.Stop()
	select {
	case <-wait.C:
	case <-ctx.Done():
		return
	}
	act := wire.Act{Do: wire.Resume, Exchange: end.Exchange, HTTP: &wire.HTTP{}}
	c.dress.sessionHeaders(act.HTTP)
	var s sent
	// A stream that cannot be resumed leaves the request unanswered, and that shows.
	if c.act(false, &s, func() (string, error) { return c.wire.Do(ctx, act) }) == nil {
		c.journal.ask(s.exchange, id)
	}
}

// ask notes that an exchange is to carry the answer to a request.
func (j *journal) ask(exchange string, id json.RawMessage) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.asked[exchange] = id
	j.wake()
}
