package runner

import (
	"context"
	"fmt"

	"github.com/mcp-conform/mcp-conform/runner/wire"
	"github.com/mcp-conform/mcp-conform/scenarios"
	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

// send says what a step wants said.
func (v *conversation) send(ctx context.Context, s *scenarios.Send) error {
	h, err := v.http(s.HTTP)
	if err != nil {
		return err
	}
	// What these forms change is broken on purpose; nothing of it is held against
	// the harness.
	purpose := s.Raw != nil || s.Bare || s.HTTP != nil && (s.HTTP.Method != "" || s.HTTP.Headers != nil)
	var out sent
	switch {
	case s.Call != "" || s.Notify != "":
		out, err = v.call(ctx, s, h, purpose)
	case s.Reply != "":
		err = v.reply(ctx, s, h, purpose)
	default:
		out, err = v.raw(ctx, s, h)
	}
	if s.As != "" {
		v.sent[s.As] = out
	}
	return err
}

func (v *conversation) call(ctx context.Context, s *scenarios.Send, h wire.HTTP, purpose bool) (sent, error) {
	m := message{http: h}
	var err error
	if m.method, err = v.vars.ExpandText(s.Call + s.Notify); err != nil {
		return sent{}, err
	}
	if m.params, err = v.vars.Expand(s.Params); err != nil {
		return sent{}, err
	}
	if s.Notify != "" {
		out, err := v.c.say(ctx, m, nil, !s.Bare, purpose)
		out.bare, out.note = true, true
		return out, err
	}
	id := s.ID
	if id == nil {
		id = v.c.newID()
	} else if id, err = v.vars.Expand(id); err != nil {
		return sent{}, err
	}
	out, err := v.c.say(ctx, m, id, !s.Bare, purpose)
	out.called = !purpose
	return out, err
}

func (v *conversation) reply(ctx context.Context, s *scenarios.Send, h wire.HTTP, purpose bool) error {
	result, err := v.vars.Expand(s.Result)
	if err != nil {
		return err
	}
	fault, err := v.vars.Expand(s.Error)
	if err != nil {
		return err
	}
	a := answer{err: fault}
	if fault == nil {
		a.result = result
	}
	x := v.seen[s.Reply]
	v.c.journal.answer(x)
	return v.c.answer(ctx, x, a, h, purpose)
}

// raw sends text as it is, or an HTTP request without a message.
func (v *conversation) raw(ctx context.Context, s *scenarios.Send, h wire.HTTP) (sent, error) {
	out := sent{bare: true}
	var data []byte
	if s.Raw != nil {
		text, err := v.vars.ExpandText(string(s.Raw.Data))
		if err != nil {
			return out, err
		}
		data = []byte(text)
		m := schemas.Classify(data)
		if m.Kind == schemas.Request {
			out.id, out.bare = m.ID, false
		}
		for _, member := range m.Batch {
			if member.Kind == schemas.Request {
				out.batch = append(out.batch, member.ID)
			}
		}
	} else if v.c.offer.Transport == trace.Stdio {
		return out, &refused{fmt.Sprintf("%s is not possible over stdio", s.HTTP.Method)}
	}
	if !s.Bare && v.c.us == trace.Client {
		if v.c.dress.revision.Stateless() {
			m := message{http: h}
			setHeader(&m.http, "MCP-Protocol-Version", string(v.c.dress.revision))
			if c := schemas.Classify(data); c.Kind == schemas.Request || c.Kind == schemas.Notification {
				m.method, m.params = c.Method, c.Params
				v.c.dress.standardHeaders(&m, c.Kind == schemas.Request)
			}
			h = m.http
		} else {
			v.c.dress.sessionHeaders(&h)
		}
	}
	return out, v.c.put(ctx, wire.Out{Data: data, HTTP: &h}, true, &out)
}

func (v *conversation) http(s *scenarios.SendHTTP) (wire.HTTP, error) {
	if s == nil {
		return wire.HTTP{}, nil
	}
	h := wire.HTTP{Method: s.Method, Status: s.Status, Stream: s.Stream, EventID: s.EventID, Retry: s.Retry}
	for name, value := range s.Headers {
		if value == nil {
			h.Drop = append(h.Drop, name)
			continue
		}
		text, err := v.vars.ExpandText(*value)
		if err != nil {
			return h, err
		}
		setHeader(&h, name, text)
	}
	return h, nil
}
