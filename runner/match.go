package runner

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/mcp-conform/mcp-conform/scenarios"
	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

// matcher returns the test that an entry must pass to match p. It is called
// under the journal's lock.
func (v *conversation) matcher(p *scenarios.Pattern) func(*entry) bool {
	after := int64(0)
	if x := v.seen[p.After]; x != nil {
		after = x.Seq
	} else if s, ok := v.sent[p.After]; ok {
		after = s.seq
	}
	fits := v.kind(p)
	return func(x *entry) bool { return !x.taken && x.From != v.c.us && x.Seq > after && fits(x) }
}

// anyMethod in a request pattern stands for every method.
const anyMethod = "*"

func (v *conversation) kind(p *scenarios.Pattern) func(*entry) bool {
	switch {
	case p.Reply != "":
		s := v.sent[p.Reply]
		return func(x *entry) bool { return v.c.answers(x, s) }
	case p.Request != "":
		return func(x *entry) bool {
			return x.msg.Kind == schemas.Request && (p.Request == anyMethod || x.msg.Method == p.Request)
		}
	case p.Notification != "":
		return func(x *entry) bool { return x.msg.Kind == schemas.Notification && x.msg.Method == p.Notification }
	case p.HTTP != "":
		s := v.sent[p.HTTP]
		return func(x *entry) bool { return x.Kind == trace.KindHTTP && x.Exchange == s.exchange }
	}
	return func(x *entry) bool { return x.Kind == trace.KindClosed && x.Exchange == "" }
}

// hopeless says why what p awaits can no longer come, "" while it can.
func (v *conversation) hopeless(p *scenarios.Pattern) func() string {
	switch {
	case p.Closed:
		return func() string { return "" }
	case p.Reply != "":
		return func() string { return v.c.over(v.sent[p.Reply]) }
	case p.HTTP != "":
		return func() string { return v.c.over(v.sent[p.HTTP]) }
	case p.Before != "":
		s := v.sent[p.Before]
		return func() string {
			if x := v.c.journal.find(func(x *entry) bool { return v.c.answers(x, s) }); x != nil {
				return p.Before + " was answered first: " + excerpt(x.Data)
			}
			return v.c.over(s)
		}
	}
	return v.gone
}

// gone says that the connection has ended.
func (v *conversation) gone() string { return v.c.over(sent{}) }

func describe(p *scenarios.Pattern) string {
	switch {
	case p.Reply != "":
		return "an answer to " + p.Reply
	case p.Request != "":
		return "the request " + p.Request
	case p.Notification != "":
		return "the notification " + p.Notification
	case p.HTTP != "":
		return "an HTTP response to " + p.HTTP
	}
	return "the end of the connection"
}

// response is what checks of an http pattern look into: {status, headers, body}.
// Header names are in lower case. The body is there when it is one JSON text or
// plain text; an event stream has none, and is not waited for.
func (c *conn) response(ctx context.Context, head *entry, limit time.Duration) json.RawMessage {
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"status":%d,"headers":{`, head.HTTP.Status)
	seen := map[string]bool{}
	for _, h := range head.HTTP.Headers {
		name := strings.ToLower(h[0])
		if seen[name] {
			continue
		}
		if len(seen) > 0 {
			b.WriteByte(',')
		}
		seen[name] = true
		fmt.Fprintf(&b, "%s:%s", jsonString(name), jsonString(h[1]))
	}
	b.WriteString("}")
	if kind, _ := head.HTTP.Get("Content-Type"); !strings.HasPrefix(strings.ToLower(kind), "text/event-stream") {
		if body := c.body(ctx, head.Exchange, limit); body != nil {
			b.WriteString(`,"body":`)
			b.Write(body)
		}
	}
	b.WriteByte('}')
	return b.Bytes()
}

// body waits for the end of an exchange and returns its body as JSON.
func (c *conn) body(ctx context.Context, exchange string, limit time.Duration) json.RawMessage {
	var body *entry
	c.journal.await(ctx, limit, func() bool {
		if body == nil {
			body = c.journal.find(func(x *entry) bool {
				return x.Exchange == exchange && x.From != c.us && (x.Kind == trace.KindMessage || x.Kind == trace.KindNoise)
			})
		}
		return c.journal.find(func(x *entry) bool { return x.Exchange == exchange && x.Kind == trace.KindClosed }) != nil
	})
	switch {
	case body == nil:
		return nil
	case json.Valid(body.Data):
		return body.Data
	}
	return jsonString(string(body.Data))
}

// endView is what checks of a closed pattern look into.
func endView(e *trace.End) json.RawMessage {
	if e == nil {
		return json.RawMessage(`{}`)
	}
	return json.RawMessage(fmt.Sprintf(`{"how":%s,"code":%d,"signal":%s}`, jsonString(e.How), e.Code, jsonString(e.Signal)))
}
