package capture

import (
	"slices"

	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

// conversation remembers which requests are open, to tell who sent a message
// and what answers what. Its memory grows with what is open.
type conversation struct {
	open   map[trace.Side]map[string]int64 // requests by sender and id, with the order in which they came
	tokens map[string]trace.Side           // progress tokens, by who gave them
	token  map[trace.Side]map[string]string
	n      int64
}

func newConversation() *conversation {
	c := &conversation{open: map[trace.Side]map[string]int64{}, tokens: map[string]trace.Side{}, token: map[trace.Side]map[string]string{}}
	for _, s := range []trace.Side{trace.Client, trace.Server} {
		c.open[s], c.token[s] = map[string]int64{}, map[string]string{}
	}
	return c
}

// members returns the messages that m is made of.
func members(m schemas.Message) []schemas.Message {
	if m.Kind == schemas.Batch {
		return m.Batch
	}
	return []schemas.Message{m}
}

func isResponse(m schemas.Message) bool { return m.Kind == schemas.Result || m.Kind == schemas.Error }

// note remembers what from has sent.
func (c *conversation) note(from trace.Side, m schemas.Message) {
	for _, m := range members(m) {
		id := schemas.IDKey(m.ID)
		switch {
		case m.Kind == schemas.Request:
			c.n++
			c.open[from][id] = c.n
			if t, ok := schemas.Member(m.Params, "_meta", "progressToken"); ok {
				c.tokens[schemas.IDKey(t)] = from
				c.token[from][id] = schemas.IDKey(t)
			}
		case isResponse(m):
			asker := from.Peer()
			delete(c.open[asker], id)
			delete(c.tokens, c.token[asker][id])
			delete(c.token[asker], id)
		}
	}
}

// answers reports whether m, sent by from, answers only requests that are open.
// A response without an id answers nothing in particular.
func (c *conversation) answers(from trace.Side, m schemas.Message) bool {
	for _, m := range members(m) {
		if !isResponse(m) || len(m.ID) == 0 || string(m.ID) == "null" {
			continue
		}
		if _, ok := c.open[from.Peer()][schemas.IDKey(m.ID)]; !ok {
			return false
		}
	}
	return true
}

// sender says who sent m, in a file that does not tell:
//
//   - a request or notification that only one side may send, in whatever
//     revision, comes from that side;
//   - cancelled comes from the side that made the request, progress goes to the
//     side that gave the token;
//   - what both may send and nothing decides comes from the client, except
//     progress, which comes from the server;
//   - an unknown request comes from the client, an unknown notification from the server;
//   - a response comes from the side that has been asked; if both have been
//     asked with that id, from the one that was asked last, since a request
//     that arises from another is answered before it; if none, from the server.
func (c *conversation) sender(m schemas.Message) trace.Side {
	if m.Kind == schemas.Batch {
		return c.sender(m.Batch[max(0, slices.IndexFunc(m.Batch, speaks))])
	}
	if isResponse(m) || m.Kind == schemas.Invalid && m.Method == "" {
		id := schemas.IDKey(m.ID)
		byClient, a := c.open[trace.Client][id]
		byServer, b := c.open[trace.Server][id]
		if b && (!a || byServer > byClient) {
			return trace.Client
		}
		return trace.Server
	}
	client, server := senders(m.Method)
	switch {
	case client != server:
		if client {
			return trace.Client
		}
		return trace.Server
	case m.Method == "notifications/cancelled":
		if id, ok := schemas.Member(m.Params, "requestId"); ok {
			return c.whoseOpen(schemas.IDKey(id))
		}
	case m.Method == "notifications/progress":
		if token, ok := schemas.Member(m.Params, "progressToken"); ok && c.tokens[schemas.IDKey(token)] == trace.Server {
			return trace.Client
		}
		return trace.Server
	case m.Kind == schemas.Notification && !client:
		return trace.Server
	}
	return trace.Client
}

func (c *conversation) whoseOpen(id string) trace.Side {
	_, client := c.open[trace.Client][id]
	_, server := c.open[trace.Server][id]
	if server && !client {
		return trace.Server
	}
	return trace.Client
}

// senders says which sides may send a method in any revision.
func senders(method string) (client, server bool) {
	for _, r := range schemas.Revisions() {
		if m, ok := schemas.LookupMethod(r, method); ok && !m.Embedded {
			client, server = client || m.FromClient, server || m.FromServer
		}
	}
	return client, server
}

// opens reports whether m begins a conversation: initialize, or a request of
// the stateless era, which needs no beginning.
func opens(m schemas.Message) bool {
	for _, m := range members(m) {
		if m.Method == "initialize" || m.Method == "server/discover" {
			return true
		}
		if _, ok := schemas.Member(m.Params, "_meta", "io.modelcontextprotocol/protocolVersion"); ok {
			return true
		}
	}
	return false
}
