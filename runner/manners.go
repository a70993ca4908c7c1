package runner

import (
	"encoding/json"
	"fmt"

	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

// answer is what manners say to a request: one of result and error, and over
// HTTP a status, 0 for 200.
type answer struct {
	result, err json.RawMessage
	status      int
}

// manners answers a request that no step expects, so that a peer is never left
// waiting: as a client answers its server, or as a small well-behaved server
// answers any client that connects. known is false for the catch-all.
func manners(us trace.Side, d *dressing, m schemas.Message) answer {
	switch {
	case us == trace.Client:
		return clientManners(d, m)
	case d.revision.Stateless():
		return statelessManners(d.revision, m)
	}
	return sessionManners(d.revision, m)
}

// clientManners: a client answers ping, and what it declared (basic/lifecycle,
// capability negotiation); the rest is unknown to it.
func clientManners(d *dressing, m schemas.Message) answer {
	declared := func(name string) bool {
		_, ok := schemas.Member(d.capabilities, name)
		return ok
	}
	switch {
	case m.Method == "ping":
		return ok(`{}`)
	case m.Method == "roots/list" && declared("roots"):
		return ok(`{"roots":[]}`)
	case m.Method == "sampling/createMessage" && declared("sampling"):
		return ok(`{"role":"assistant","content":{"type":"text","text":"ok"},"model":"mcp-conform","stopReason":"endTurn"}`)
	case m.Method == "elicitation/create" && declared("elicitation"):
		return ok(`{"action":"decline"}`)
	}
	return unknownMethod(m)
}

const (
	echoTool   = `{"name":"echo","description":"Returns its text.","inputSchema":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}}`
	echoResult = `"content":[{"type":"text","text":"ok"}]`
)

// sessionManners: the smallest server of the revisions with a handshake.
func sessionManners(r schemas.Revision, m schemas.Message) answer {
	switch m.Method {
	case "initialize":
		return ok(fmt.Sprintf(`{"protocolVersion":%q,"capabilities":{"tools":{}},"serverInfo":%s}`, r, self))
	case "ping":
		return ok(`{}`)
	case "tools/list":
		return ok(`{"tools":[` + echoTool + `]}`)
	case "tools/call":
		if name, _ := schemas.Member(m.Params, "name"); text(name) != "echo" {
			return fault(-32602, "unknown tool", "", 0)
		}
		return ok(`{` + echoResult + `}`)
	}
	return unknownMethod(m)
}

// statelessManners: the smallest server of 2026-07-28. Statuses are those of
// basic/transports/streamable-http.
func statelessManners(r schemas.Revision, m schemas.Message) answer {
	const meta = `"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":` + self + `}`
	const cached = meta + `,"ttlMs":0,"cacheScope":"private"`
	version, versioned := schemas.Member(m.Params, "_meta", metaVersion)
	supported := fmt.Sprintf(`{"supported":[%q],"requested":%s}`, r, jsonString(text(version)))
	switch {
	case m.Method == "initialize" && !versioned:
		return fault(-32022, "the handshake is no part of this revision", supported, 400)
	case !versioned:
		return fault(-32602, "the request lacks "+metaVersion+" in _meta", "", 400)
	case text(version) != string(r):
		return fault(-32022, "unsupported protocol version", supported, 400)
	}
	switch m.Method {
	case "server/discover":
		return ok(fmt.Sprintf(`{"supportedVersions":[%q],"capabilities":{"tools":{}},%s}`, r, cached))
	case "tools/list":
		return ok(`{"tools":[` + echoTool + `],` + cached + `}`)
	case "tools/call":
		if name, _ := schemas.Member(m.Params, "name"); text(name) != "echo" {
			return fault(-32602, "unknown tool", "", 0)
		}
		return ok(`{` + echoResult + `,` + meta + `}`)
	}
	a := unknownMethod(m)
	a.status = 404
	return a
}

func ok(result string) answer { return answer{result: json.RawMessage(result)} }

func unknownMethod(m schemas.Message) answer {
	return fault(-32601, "unknown method "+m.Method, "", 0)
}

func fault(code int, message, data string, status int) answer {
	e := fmt.Sprintf(`{"code":%d,"message":%s`, code, jsonString(message))
	if data != "" {
		e += `,"data":` + data
	}
	return answer{err: json.RawMessage(e + "}"), status: status}
}
