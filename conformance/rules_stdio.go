package conformance

import (
	"bytes"
	"strings"

	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

func stdioRules() []ruleEntry {
	return []ruleEntry{
		stateful(func() Rule { return &lines{} }, "STDIO-STDOUT-MESSAGES-ONLY", "STDIO-STDIN-MESSAGES-ONLY", "STDIO-ONE-LINE"),
		stateful(func() Rule { return &probe{} }, "STDIO-PROBE-DISCOVER"),
		stateful(func() Rule { return &shutdown{} }, "STDIO-CLIENT-CLOSES-STDIN", "STDIO-SERVER-EXITS"),
	}
}

// lines: nothing but messages on standard output and input, each on one line
// (basic/transports, stdio). Blank lines, a carriage return before the newline
// and all of standard error are no findings.
type lines struct {
	spread map[trace.Side]bool // inside of a message that goes over several lines
}

func (l *lines) Observe(o *Observation) {
	if o.Session.Transport != trace.Stdio || o.Event == nil || o.InBatch {
		return
	}
	requirement := "STDIO-STDOUT-MESSAGES-ONLY"
	if o.From() == trace.Client {
		requirement = "STDIO-STDIN-MESSAGES-ONLY"
	}
	switch {
	case o.Event.Kind == trace.KindNoise:
		l.noise(o, requirement)
	case o.Message == nil:
	case o.is(schemas.Invalid) && len(o.Message.ID) == 0:
		o.Fail(requirement, o.From(), Fault{
			Detail: "a line that is no message stands where only messages belong", Want: "a JSON-RPC message", Got: clip(string(o.Event.Data)),
		})
	default:
		if bytes.ContainsRune(bytes.TrimRight(o.Event.Data, "\r\n"), '\n') {
			o.Fail("STDIO-ONE-LINE", o.From(), spreadMessage)
		} else if !o.Lacks(trace.LackBytes) {
			o.Pass("STDIO-ONE-LINE", o.From())
		}
		if o.Lacks(trace.LackNoise) {
			o.Untested(requirement, o.From(), "the capture does not keep what is no message")
		} else {
			o.Pass(requirement, o.From())
		}
	}
}

var spreadMessage = Fault{Detail: "a message is spread over several lines", Want: "one line", Got: "line breaks inside of the message"}

func (l *lines) noise(o *Observation, requirement string) {
	text := strings.TrimSpace(string(o.Event.Data))
	if text == "" || o.Event.Note != "" { // only part of it was kept, which says nothing of the whole
		return
	}
	side, cause := o.From(), ""
	if l.spread == nil {
		l.spread = map[trace.Side]bool{}
	}
	// Pretty-printed JSON comes as a line with a lone brace, then members.
	if text == "{" {
		if !l.spread[side] {
			o.Fail("STDIO-ONE-LINE", side, spreadMessage)
		}
		l.spread[side] = true
	}
	if l.spread[side] {
		cause = "STDIO-ONE-LINE"
		if string(bytes.TrimRight(o.Event.Data, "\r\n")) == "}" {
			l.spread[side] = false
		}
	}
	o.Fail(requirement, side, Fault{
		Detail: "a line that is no message stands where only messages belong", Want: "a JSON-RPC message", Got: clip(text), Cause: cause,
	})
}

// shutdown: the client closes standard input and the server exits
// (basic/lifecycle, shutdown; since 2026-07-28 basic/transports/stdio). Who does
// not need to be ended by a signal has done its part.
type shutdown struct{ stdinClosed bool }

func (s *shutdown) Observe(o *Observation) {
	if o.Session.Transport != trace.Stdio || o.Event == nil || o.Event.Kind != trace.KindClosed || o.Exchange != nil ||
		o.Event.End == nil || o.Lacks(trace.LackClose) {
		return
	}
	end := o.Event.End
	if !processEnded(o.Event) {
		if o.From() == trace.Client {
			s.stdinClosed = true
			o.Pass("STDIO-CLIENT-CLOSES-STDIN", trace.Client)
		}
		return
	}
	forced := end.How == "signal" || strings.Contains(end.Detail, "SIGTERM")
	switch {
	case end.How == "timeout":
	case s.stdinClosed:
		o.Check(!forced, "STDIO-SERVER-EXITS", trace.Server, Fault{
			Detail: "the server does not exit when its standard input is closed", Want: "it exits",
			Got: "it was ended by " + quoteOr(end.Signal, "a signal"),
		})
	case end.Signal == "SIGTERM":
		o.Fail("STDIO-CLIENT-CLOSES-STDIN", trace.Client, Fault{
			Detail: "the server is ended by a signal before its standard input was closed", Want: "standard input closed first", Got: end.Signal,
		})
	}
}

// probe: the first thing that a client of 2026-07-28 asks a process is what it is
// (2026-07-28 stdio, backward compatibility). A harness that tests servers knows
// that already.
type probe struct{ done bool }

func (p *probe) Observe(o *Observation) {
	if p.done || o.Session.Transport != trace.Stdio || !o.is(schemas.Request) || o.From() != trace.Client {
		return
	}
	p.done = true
	c := o.judge.conns[o.Session.Conn]
	if !o.Session.Modern || o.Session.Partial || c == nil || c.legacy != nil || o.judge.options.Header.Subject == trace.Server {
		return
	}
	o.Check(o.Message.Method == "server/discover", "STDIO-PROBE-DISCOVER", trace.Client, Fault{
		Detail: "the first request to a process is not server/discover", Want: "server/discover", Got: clip(o.Message.Method),
	})
}
