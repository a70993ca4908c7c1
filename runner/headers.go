package runner

import (
	"encoding/base64"
	"strings"

	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

// headersContradict says in what the headers of a client's request differ from
// its body, "" if in nothing. A server of the stateless revision has to look
// (2026-07-28 basic/transports/streamable-http, server validation).
func (c *conn) headersContradict(x *entry) string {
	version, versioned := schemas.Member(x.msg.Params, "_meta", metaVersion)
	if c.us == trace.Client || !c.dress.revision.Stateless() || c.offer.Transport != trace.StreamableHTTP || !versioned {
		return ""
	}
	c.journal.mu.Lock()
	head := c.journal.find(func(y *entry) bool {
		return y.Kind == trace.KindHTTP && y.From != c.us && y.Exchange == x.Exchange
	})
	c.journal.mu.Unlock()
	if head == nil {
		return ""
	}
	want := [][2]string{{"MCP-Protocol-Version", text(version)}, {"Mcp-Method", x.msg.Method}}
	name := namedBy(x.msg.Method)
	if v, ok := schemas.Member(x.msg.Params, name); ok && name != "" {
		want = append(want, [2]string{"Mcp-Name", text(v)})
	}
	for _, w := range want {
		got, ok := head.HTTP.Get(w[0])
		if !ok {
			return "the header " + w[0] + " is missing"
		}
		if plainValue(got) != w[1] {
			return "the header " + w[0] + " contradicts the body"
		}
	}
	return ""
}

// plainValue undoes headerValue.
func plainValue(s string) string {
	if enc, ok := strings.CutPrefix(s, "=?base64?"); ok && strings.HasSuffix(enc, "?=") {
		if b, err := base64.StdEncoding.DecodeString(strings.TrimSuffix(enc, "?=")); err == nil {
			return string(b)
		}
	}
	return s
}
