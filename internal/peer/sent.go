package peer

import (
	"encoding/json"

	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

// sent is a message about to leave a peer: the seam at which faults edit.
type sent struct {
	msg       obj
	final     bool
	status    int
	rev       schemas.Revision
	transport trace.Transport
	re        string          // method of the request that it answers or belongs to
	name      string          // name or URI in that request
	id        json.RawMessage // id of that request
	request   fields          // params of that request

	// What faults may make of it besides editing msg.
	drop   bool   // do not send it
	raw    []byte // send these bytes instead
	before []any  // send these before it
	after  []any  // send these after it
}

// method is the method of the message itself, "" for a response.
func (m *sent) method() string { s, _ := m.msg["method"].(string); return s }

// result is the result that the message carries, nil if none.
func (m *sent) result() obj { o, _ := m.msg["result"].(obj); return o }

// params are the message's own.
func (m *sent) params() obj { o, _ := m.msg["params"].(obj); return o }

// frames turns a message into bytes, after the faults have had their way.
func (s *Server) frames(m sent) []frame {
	for _, f := range s.faults {
		if f.edit != nil {
			f.edit(&m)
		}
	}
	return m.frames()
}

func (m sent) frames() []frame {
	var fs []frame
	for _, o := range m.before {
		fs = append(fs, frame{data: encode(o), extra: true})
	}
	data := m.raw
	if data == nil {
		data = encode(m.msg)
	}
	if !m.drop {
		fs = append(fs, frame{data: data, final: m.final, status: m.status})
	}
	for _, o := range m.after {
		fs = append(fs, frame{data: encode(o), extra: true})
	}
	return fs
}
