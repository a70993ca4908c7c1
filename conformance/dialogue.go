package conformance

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"maps"
	"slices"

	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

// question is what a server asks a client: a request of its own up to
// 2025-11-25, and since then a request that travels in a result.
type question struct {
	method string
	params json.RawMessage
	at     string // where params stand in the message that asks
	// capabilities are what the client has declared; nil when not known.
	capabilities json.RawMessage
}

// answer is what a client returns to a question: a response, or a member of
// inputResponses.
type answer struct {
	question
	result json.RawMessage // nil for an error
	code   string          // of the error
	place  string          // where the result stands in the message that answers
}

// declares reports whether the client declares a capability, no when nothing is known.
func (q question) declares(path string) bool {
	return q.capabilities != nil && Declares(q.capabilities, path)
}

// mode is that of a question for input: form unless it says otherwise.
func (q question) mode() string {
	if mode := textParam(q.params, "mode"); mode != "" {
		return mode
	}
	return "form"
}

// talk is what both eras have in common when a server asks a client: it finds
// the questions, and the answers to them, and hands them on.
type talk struct {
	asked  func(o *Observation, q question)
	answer func(o *Observation, a answer)
	issued []inquiry // of 2026-07-28, the latest last
}

// inquiry is one result of 2026-07-28 that asked for input.
type inquiry struct {
	request   [sha256.Size]byte // what was asked for input: method and params
	state     string
	questions map[string]question
}

// mostInquiries bounds the results that are remembered until they are answered.
const mostInquiries = 64

func (t *talk) Observe(o *Observation) {
	switch {
	case o.Message == nil || o.Earlier != nil:
	case o.Session.Modern:
		t.modern(o)
	case o.is(schemas.Request) && o.From() == trace.Server:
		t.asked(o, question{o.Message.Method, o.Message.Params, "/params", o.Session.clientCapabilities()})
	case o.is(schemas.Result, schemas.Error) && o.From() == trace.Client && o.Request != nil && !o.Request.task:
		q := question{o.Request.Method, o.Request.Params, "/params", o.Session.clientCapabilities()}
		if o.is(schemas.Error) {
			t.answer(o, answer{question: q, code: o.errorCode()})
		} else {
			t.answer(o, answer{question: q, result: o.Message.Result, place: "/result"})
		}
	}
}

// clientCapabilities returns what the client declared when the session was opened.
func (s *Session) clientCapabilities() json.RawMessage {
	if !s.Client.Known {
		return nil
	}
	return s.Client.Capabilities
}

func (t *talk) modern(o *Observation) {
	if o.is(schemas.Request) && o.From() == trace.Client {
		t.retried(o)
		return
	}
	asked := inputRequestsOf(o)
	if len(asked) == 0 {
		return
	}
	capabilities, _ := schemas.Member(o.Request.Params, "_meta", metaClientCapabilities)
	state, _ := schemas.Member(o.Message.Result, "requestState")
	i := inquiry{request: fingerprint(o.Request.Method, o.Request.Params), state: schemas.IDKey(state), questions: map[string]question{}}
	for _, in := range asked {
		params, _ := schemas.Member(in.raw, "params")
		q := question{in.method, bytes.Clone(params), "/result/inputRequests/" + in.key + "/params", bytes.Clone(capabilities)}
		i.questions[in.key] = q
		t.asked(o, q)
	}
	if t.issued = append(t.issued, i); len(t.issued) > mostInquiries {
		t.issued = t.issued[1:]
	}
}

// retried hands on the answers of a retry. Which questions they answer is known
// when state or request are the same; otherwise nothing is said of them.
func (t *talk) retried(o *Observation) {
	responses, has := o.param("inputResponses")
	if !has {
		return
	}
	state, _ := o.param("requestState")
	request, key := fingerprint(o.Message.Method, o.Message.Params), schemas.IDKey(state)
	for i := len(t.issued) - 1; i >= 0; i-- {
		one := t.issued[i]
		if one.request != request || one.state != key {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(one.questions)) {
			if result, ok := schemas.Member(responses, name); ok {
				q := one.questions[name]
				q.capabilities, _ = schemas.Member(o.Message.Params, "_meta", metaClientCapabilities)
				t.answer(o, answer{question: q, result: result, place: "/params/inputResponses/" + name})
			}
		}
		return
	}
}

// fingerprint tells requests apart by method and params, apart from what a
// retry adds and what changes from request to request.
func fingerprint(method string, params json.RawMessage) [sha256.Size]byte {
	var members map[string]json.RawMessage
	_ = json.Unmarshal(params, &members) // what is no object has no members
	h := sha256.New()
	h.Write([]byte(method))
	for _, k := range slices.Sorted(maps.Keys(members)) {
		if k == "_meta" || k == "inputResponses" || k == "requestState" {
			continue
		}
		var compact bytes.Buffer
		if json.Compact(&compact, members[k]) != nil {
			compact.Write(members[k])
		}
		h.Write([]byte{0})
		h.Write([]byte(k))
		h.Write([]byte{0})
		h.Write(compact.Bytes())
	}
	return [sha256.Size]byte(h.Sum(nil))
}
