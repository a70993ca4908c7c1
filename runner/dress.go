package runner

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/mcp-conform/mcp-conform/runner/wire"
	"github.com/mcp-conform/mcp-conform/schemas"
)

// The reserved _meta keys of a request (2026-07-28 basic/index, general fields).
const (
	metaVersion      = "io.modelcontextprotocol/protocolVersion"
	metaClientInfo   = "io.modelcontextprotocol/clientInfo"
	metaCapabilities = "io.modelcontextprotocol/clientCapabilities"
)

// self is how the harness introduces itself, in both roles.
const self = `{"name":"mcp-conform","version":"1"}`

// dressing is what a client has to carry along on one connection.
type dressing struct {
	revision     schemas.Revision // proposed, then negotiated
	capabilities json.RawMessage  // the client's own
	session      string           // given by the server, "" if none
	open         bool             // the handshake is over
}

// message is a request or notification in the making.
type message struct {
	method string
	params json.RawMessage
	http   wire.HTTP
}

// dress adds what the revision demands of every client message: the metadata
// and standard headers of the stateless revision, or the headers of a session.
// What the scenario has set stays as it is.
func (d *dressing) dress(m *message, request bool) {
	if d.revision.Stateless() {
		if request {
			d.metadata(m)
		}
		d.standardHeaders(m, request)
		return
	}
	d.sessionHeaders(&m.http)
}

// sessionHeaders adds the session id (2025-03-26 basic/transports, session
// management) and, after the handshake, the negotiated version (2025-06-18,
// protocol version header).
func (d *dressing) sessionHeaders(h *wire.HTTP) {
	if d.session != "" {
		setHeader(h, "Mcp-Session-Id", d.session)
	}
	if d.open && d.revision >= schemas.R20250618 {
		setHeader(h, "MCP-Protocol-Version", string(d.revision))
	}
}

// metadata fills in the keys that every request must or should have (2026-07-28
// basic/index, _meta).
func (d *dressing) metadata(m *message) {
	capabilities := d.capabilities
	if capabilities == nil {
		capabilities = json.RawMessage(`{}`)
	}
	meta, has := schemas.Member(m.params, "_meta")
	if has && !isObject(meta) || len(m.params) > 0 && !isObject(m.params) {
		return // broken on purpose
	}
	for _, f := range []struct {
		key string
		val json.RawMessage
	}{
		{metaVersion, jsonString(string(d.revision))},
		{metaClientInfo, json.RawMessage(self)},
		{metaCapabilities, capabilities},
	} {
		if _, given := schemas.Member(meta, f.key); !given {
			meta = withMember(meta, f.key, f.val)
		}
	}
	m.params = withMember(m.params, "_meta", meta)
}

// namedBy is the member of params that the Mcp-Name header repeats, "" if none.
func namedBy(method string) string {
	switch method {
	case "tools/call", "prompts/get":
		return "name"
	case "resources/read":
		return "uri"
	}
	return ""
}

// standardHeaders repeats parts of the body where intermediaries can see them
// (2026-07-28 basic/transports/streamable-http, standard request headers).
func (d *dressing) standardHeaders(m *message, request bool) {
	version := string(d.revision)
	if v, ok := schemas.Member(m.params, "_meta", metaVersion); ok {
		version = text(v)
	}
	setHeader(&m.http, "MCP-Protocol-Version", version)
	setHeader(&m.http, "Mcp-Method", m.method)
	member := namedBy(m.method)
	if v, ok := schemas.Member(m.params, member); ok && request && member != "" && v[0] == '"' {
		setHeader(&m.http, "Mcp-Name", headerValue(text(v)))
	}
}

// signOfLife is the method that any peer of the revision answers at once:
// basic/utilities/ping, or the one that took its place.
func (d *dressing) signOfLife() string {
	if d.revision.Stateless() {
		return "server/discover"
	}
	return "ping"
}

// headerValue encodes what cannot stand in a header as it is (2026-07-28
// basic/transports/streamable-http, value encoding).
func headerValue(s string) string {
	plain := s == strings.TrimSpace(s) && !(strings.HasPrefix(s, "=?base64?") && strings.HasSuffix(s, "?="))
	for i := range len(s) {
		plain = plain && (s[i] >= 0x20 && s[i] < 0x7f || s[i] == '\t')
	}
	if plain {
		return s
	}
	return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(s)) + "?="
}

// setHeader sets a header unless the scenario has set or dropped it.
func setHeader(h *wire.HTTP, name, value string) {
	for _, dropped := range h.Drop {
		if strings.EqualFold(dropped, name) {
			return
		}
	}
	for given := range h.Headers {
		if strings.EqualFold(given, name) {
			return
		}
	}
	if h.Headers == nil {
		h.Headers = map[string]string{}
	}
	h.Headers[name] = value
}

func isObject(raw json.RawMessage) bool {
	raw = bytes.TrimSpace(raw)
	return len(raw) > 0 && raw[0] == '{'
}

// withMember returns object with one more member at its end, or in place of the
// one that is there. An empty text stands for an empty object.
func withMember(object json.RawMessage, key string, value json.RawMessage) json.RawMessage {
	object = bytes.TrimSpace(object)
	if len(object) == 0 {
		object = json.RawMessage(`{}`)
	}
	if _, has := schemas.Member(object, key); has {
		var m map[string]json.RawMessage
		if json.Unmarshal(object, &m) != nil {
			return object
		}
		m[key] = value
		out, err := json.Marshal(m)
		if err != nil {
			return object
		}
		return out
	}
	var b bytes.Buffer
	b.Write(object[:len(object)-1])
	if len(bytes.TrimSpace(object[1:len(object)-1])) > 0 {
		b.WriteByte(',')
	}
	b.Write(jsonString(key))
	b.WriteByte(':')
	b.Write(value)
	b.WriteByte('}')
	return b.Bytes()
}

// jsonString writes a JSON string with the characters it has, HTML or not.
func jsonString(s string) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(s) != nil {
		return json.RawMessage(`""`) // unreachable: every string can be encoded
	}
	return bytes.TrimSpace(b.Bytes())
}

// text is the content of a JSON string, or the text of any other value.
func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}
