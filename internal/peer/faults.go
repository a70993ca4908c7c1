package peer

import (
	"net/http"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

// Fault is one way to break one rule and nothing else.
type Fault struct {
	Name   string
	Side   trace.Side
	Breaks string // one sentence: what the peer does wrong
	// Requirements are the ids of the requirements that fail: first the one that
	// is broken, then those that cannot but fail with it.
	Requirements []string
	// Since, Until and Transports say where it shows; empty means everywhere.
	Since      schemas.Revision
	Until      schemas.Revision
	Transports []trace.Transport

	edit    func(*sent)                // at a message about to leave
	head    func(*head)                // at the head of an HTTP response about to leave
	request func(*http.Request, *sent) // at an HTTP request about to leave
}

// Shows reports whether the fault can be seen in a revision over a transport.
func (f Fault) Shows(r schemas.Revision, t trace.Transport) bool {
	return r.In(f.Since, f.Until) && (len(f.Transports) == 0 || slices.Contains(f.Transports, t))
}

// Faults lists all faults: those of the server, then those of the client. A name
// is unique within its side.
func Faults() []Fault { return append(serverFaults(), clientFaults()...) }

// Shorthands for the tables.
const (
	r2024  = schemas.R20241105
	r2503  = schemas.R20250326
	r2506  = schemas.R20250618
	r2511  = schemas.R20251125
	modern = schemas.R20260728
)

func overHTTP() []trace.Transport  { return []trace.Transport{trace.StreamableHTTP} }
func overStdio() []trace.Transport { return []trace.Transport{trace.Stdio} }

// when limits an edit to the messages that match.
func when(match func(*sent) bool, change func(*sent)) func(*sent) {
	return func(m *sent) {
		if match(m) {
			change(m)
		}
	}
}

// isProbe matches the victim of faults that could strike any answer: the result
// of the simplest tool. Striking only there leaves the rest of a run in order.
func isProbe(m *sent) bool {
	return m.final && m.re == "tools/call" && m.name == "test_simple_text" && m.msg != nil && m.result() != nil
}

// resultOf matches the results of one method.
func resultOf(method string) func(*sent) bool {
	return func(m *sent) bool { return m.final && m.re == method && m.result() != nil }
}

// calling matches the results of calls of one tool.
func calling(tool string) func(*sent) bool {
	return func(m *sent) bool { return resultOf("tools/call")(m) && m.name == tool }
}

// saying matches requests and notifications of one method.
func saying(method string) func(*sent) bool {
	return func(m *sent) bool { return m.method() == method }
}

// refusing matches errors of one code whose message contains a text.
func refusing(code int, text string) func(*sent) bool {
	return func(m *sent) bool {
		e, _ := m.msg["error"].(obj)
		message, _ := e["message"].(string)
		return e["code"] == code && strings.Contains(message, text)
	}
}

// heard matches the moment at which a notification has been received.
func heard(method string) func(*sent) bool {
	return func(m *sent) bool { return m.drop && m.re == method }
}

// before and after add messages around the one that leaves.
func before(ms ...any) func(*sent) { return func(m *sent) { m.before = append(m.before, ms...) } }
func after(ms ...any) func(*sent)  { return func(m *sent) { m.after = append(m.after, ms...) } }

// member sets a member of the result; nil removes it.
func member(key string, value any) func(*sent) { return func(m *sent) { put(m.result(), key, value) } }

// param sets a member of the message's params; nil removes it.
func param(key string, value any) func(*sent) {
	return func(m *sent) {
		p := copyOf(m.params())
		put(p, key, value)
		m.msg["params"] = p
	}
}

func put(o obj, key string, value any) {
	if value == nil {
		delete(o, key)
	} else {
		o[key] = value
	}
}

// whole sets a member of the message itself; nil removes it.
func whole(key string, value any) func(*sent) { return func(m *sent) { put(m.msg, key, value) } }

// becomes turns an error into a result.
func becomes(result obj) func(*sent) {
	return func(m *sent) {
		result := copyOf(result)
		if m.rev.Stateless() {
			result["resultType"], result["_meta"] = "complete", obj{keyServerInfo: serverInfo(m.rev)}
		}
		delete(m.msg, "error")
		m.msg["result"], m.status = result, 0
	}
}

// fails turns an answer into an error.
func fails(code int, message string) func(*sent) {
	return func(m *sent) {
		delete(m.msg, "result")
		m.msg["error"] = obj{"code": code, "message": message}
		if code == codeMethodNotFound {
			m.status = notFoundStatus(m.rev)
		}
	}
}

// recodes changes the code of an error.
func recodes(code any) func(*sent) {
	return func(m *sent) {
		e, _ := m.msg["error"].(obj)
		put(e, "code", code)
	}
}
