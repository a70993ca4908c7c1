package conformance

import (
	"regexp"
	"strings"

	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

func lifecycleRules() []ruleEntry {
	return []ruleEntry{
		stateful(func() Rule { return &initializeFirst{} }, "LIFECYCLE-INITIALIZE-FIRST"),
		stateful(func() Rule { return &handshakeOrder{} }, "LIFECYCLE-CLIENT-WAITS", "LIFECYCLE-SERVER-WAITS", "LIFECYCLE-INITIALIZED-SENT"),
		plain(negotiation, "LIFECYCLE-INITIALIZE-ANSWERED", "LIFECYCLE-VERSION-ECHOED", "LIFECYCLE-VERSION-OFFERED"),
		stateful(func() Rule { return &versionAsked{} }, "LIFECYCLE-CLIENT-VERSION-SUPPORTED", "LIFECYCLE-CLIENT-VERSION-LATEST"),
		plain(revisionRespected, "LIFECYCLE-REVISION-RESPECTED"),
		plain(capabilitiesRespected, "LIFECYCLE-CLIENT-CAPABILITIES-RESPECTED", "LIFECYCLE-SERVER-CAPABILITIES-RESPECTED"),
		plain(ping, "PING-ANSWERED"),
	}
}

// initializeFirst: initialization is the first interaction (basic/lifecycle). A
// ping before it is let pass in silence: pings are free at any time.
type initializeFirst struct{ done bool }

func (r *initializeFirst) Observe(o *Observation) {
	if r.done || o.Session.Modern || o.Message == nil || o.Event.From != trace.Client || o.is(schemas.Invalid, schemas.Batch) {
		return
	}
	if o.Message.Method == "ping" {
		return
	}
	r.done = true
	switch {
	case o.isCall(trace.Client, "initialize"):
		o.Pass("LIFECYCLE-INITIALIZE-FIRST", trace.Client)
	case o.Session.Partial:
		o.Untested("LIFECYCLE-INITIALIZE-FIRST", trace.Client, "the capture begins in mid-session")
	case o.Lacks(trace.LackOrder):
		o.Untested("LIFECYCLE-INITIALIZE-FIRST", trace.Client, "the capture does not show the order of messages")
	default:
		o.Fail("LIFECYCLE-INITIALIZE-FIRST", trace.Client, Fault{
			Detail: "the first message of the client is not initialize", Want: "initialize", Got: firstWords(o.Message),
		})
	}
}

func firstWords(m *schemas.Message) string {
	if m.Method != "" {
		return clip(m.Method)
	}
	return "a " + m.Kind.String()
}

// handshakeOrder: who may send what until the handshake is over
// (basic/lifecycle, initialization). The text binds senders: a server that
// answers an early request does nothing wrong, and responses are free.
type handshakeOrder struct {
	early       bool // the client did not wait
	serverEarly bool
	ready       bool // notifications/initialized was sent
	worked      bool // the client sent requests after the handshake was answered
}

func (r *handshakeOrder) Observe(o *Observation) {
	s := o.Session
	if s.Modern || s.Init == nil {
		return
	}
	if o.End {
		r.end(o)
		return
	}
	if o.Message == nil {
		return
	}
	ordered := !o.Lacks(trace.LackOrder)
	method := o.Message.Method
	switch {
	case o.isCall(trace.Client, "notifications/initialized"):
		r.ready = true
		if s.Stage == Operational {
			o.Pass("LIFECYCLE-INITIALIZED-SENT", trace.Client)
			if !r.serverEarly && ordered {
				o.Pass("LIFECYCLE-SERVER-WAITS", trace.Server)
			}
		}
	case o.is(schemas.Request) && o.From() == trace.Client && method != "initialize" && method != "ping":
		r.clientRequest(o, ordered)
	case o.is(schemas.Request) && o.From() == trace.Server && method != "ping" && !r.ready && ordered:
		r.serverEarly = true
		o.Fail("LIFECYCLE-SERVER-WAITS", trace.Server, Fault{
			Detail: "the server sends a request before the client has said that it is initialized", Want: "ping or nothing", Got: clip(method),
		})
	case o.is(schemas.Result) && o.Request == s.Init && o.Earlier == nil && !r.early && ordered:
		o.Pass("LIFECYCLE-CLIENT-WAITS", trace.Client)
	}
}

func (r *handshakeOrder) clientRequest(o *Observation, ordered bool) {
	if o.Session.Stage != Asked {
		r.worked = r.worked || o.Session.Stage == Answered
		return
	}
	r.early = true
	if ordered {
		o.Fail("LIFECYCLE-CLIENT-WAITS", trace.Client, Fault{
			Detail: "the client sends a request before initialize is answered", Want: "ping or nothing", Got: clip(o.Message.Method),
		})
	}
}

func (r *handshakeOrder) end(o *Observation) {
	if r.ready || o.Session.Stage != Answered {
		return
	}
	if r.worked {
		o.Fail("LIFECYCLE-INITIALIZED-SENT", trace.Client, Fault{
			Detail: "the client works with the session and never says that it is initialized", Want: "notifications/initialized", Got: "absent",
		})
		return
	}
	o.Untested("LIFECYCLE-INITIALIZED-SENT", trace.Client, "the session ends right after initialize was answered")
}

// plausible matches version strings that exist or may come to exist: dates of
// this century's first half, and the names of drafts.
var plausible = regexp.MustCompile(`^20[0-4][0-9]-[01][0-9]-[0-3][0-9]$|^DRAFT-`)

// negotiation: the server echoes a version that it supports and otherwise
// offers another one (basic/lifecycle, version negotiation). Which versions a
// server supports shows only in what it answers, so a different answer is no
// fault by itself.
func negotiation(o *Observation) {
	if !o.is(schemas.Result) || o.Request == nil || o.Request != o.Session.Init || o.Earlier != nil {
		return
	}
	asked := textParam(o.Request.Params, "protocolVersion")
	answer := textParam(o.Message.Result, "protocolVersion")
	complete := true
	for _, key := range []string{"protocolVersion", "capabilities", "serverInfo"} {
		if _, ok := schemas.Member(o.Message.Result, key); !ok {
			complete = false
		}
	}
	if complete {
		o.Pass("LIFECYCLE-INITIALIZE-ANSWERED", trace.Server)
	}
	if answer == "" {
		return
	}
	rev, err := schemas.ParseRevision(answer)
	known := err == nil && !rev.Stateless()
	switch {
	case known && answer == asked:
		o.judge.served[rev] = true
		o.Pass("LIFECYCLE-VERSION-ECHOED", trace.Server)
	case known:
		o.judge.served[rev] = true
		if asked != "" { // else nothing could be agreed
			otherVersion(o, asked, answer)
		}
	case rev.Stateless() || !plausible.MatchString(answer):
		o.Fail("LIFECYCLE-VERSION-OFFERED", trace.Server, Fault{
			Detail: "the server answers initialize with a version that it cannot speak after a handshake",
			Want:   "/result/protocolVersion: a revision with a handshake", Got: clip(answer),
		})
	}
}

func otherVersion(o *Observation, asked, answer string) {
	if rev, err := schemas.ParseRevision(asked); err == nil && o.judge.served[rev] {
		o.Fail("LIFECYCLE-VERSION-ECHOED", trace.Server, Fault{
			Detail: "the server answers with another version than asked for, though it has spoken that one before", Want: asked, Got: answer,
		})
		return
	}
	o.Pass("LIFECYCLE-VERSION-OFFERED", trace.Server)
}

// revisionRespected: after the handshake nothing is used that only later
// revisions have (basic/lifecycle, operation). Members of objects are open and
// pass; methods are what can be told.
func revisionRespected(o *Observation) {
	s := o.Session
	if s.Modern || s.Revision == "" || !o.is(schemas.Request, schemas.Notification) || o.Message.Method == "initialize" {
		return
	}
	if _, ok := o.judge.method(s.Revision, o.Message.Method); ok {
		o.Pass("LIFECYCLE-REVISION-RESPECTED", o.From())
		return
	}
	for _, r := range schemas.Revisions() {
		if r <= s.Revision {
			continue
		}
		if m, ok := o.judge.method(r, o.Message.Method); ok && m.Extension == "" && !m.Embedded {
			o.Fail("LIFECYCLE-REVISION-RESPECTED", o.From(), Fault{
				Detail: "a method of a later revision than the negotiated one is used", Want: "a method of " + string(s.Revision), Got: clip(o.Message.Method),
			})
			return
		}
	}
}

// capabilitiesRespected: both sides use only what was declared
// (basic/lifecycle, operation). What needs a requirement of its own, such as
// log messages, is left to that.
func capabilitiesRespected(o *Observation) {
	s := o.Session
	if s.Modern || s.Revision == "" || !o.is(schemas.Request, schemas.Notification) {
		return
	}
	m, ok := o.judge.method(s.Revision, o.Message.Method)
	if !ok || m.Needs == "" || m.Extension != "" || o.Message.Method == "notifications/message" ||
		o.From() == trace.Client && !m.FromClient || o.From() == trace.Server && !m.FromServer {
		return
	}
	needed := trace.Side(m.NeedsOf)
	switch m.NeedsOf {
	case schemas.Receiver:
		needed = o.From().Peer()
	case schemas.Sender:
		needed = o.From()
	}
	declared, known := s.declared(needed, m.Needs)
	if !known {
		return
	}
	requirement := "LIFECYCLE-CLIENT-CAPABILITIES-RESPECTED"
	if o.From() == trace.Server {
		requirement = "LIFECYCLE-SERVER-CAPABILITIES-RESPECTED"
	}
	o.Check(declared, requirement, o.From(), Fault{
		Detail: "a method is used without the capability that it needs",
		Want:   "the " + string(needed) + " declares " + m.Needs, Got: clip(o.Message.Method),
	})
}

// ping: the answer is an empty result; _meta may be in it (basic/utilities/ping).
func ping(o *Observation) {
	if o.Session.Modern || o.Request == nil || o.Request.Method != "ping" || o.Earlier != nil || !o.is(schemas.Result, schemas.Error) {
		return
	}
	if o.Exchange.status() >= 400 {
		return // the HTTP request was refused, for its session or its headers: no ping came in
	}
	rest := ""
	if o.is(schemas.Result) {
		rest = beyondMeta(o.Message.Result)
	} else {
		rest = "an error"
	}
	o.Check(rest == "", "PING-ANSWERED", o.From(), Fault{
		Detail: "a ping is not answered with an empty result", Want: "/result: {}", Got: rest,
	})
}

// beyondMeta describes what an object holds beside _meta; "" if nothing.
func beyondMeta(raw []byte) string {
	members, ok := objectKeys(raw)
	if !ok {
		return clip(string(raw))
	}
	var rest []string
	for _, k := range members {
		if k != "_meta" {
			rest = append(rest, k)
		}
	}
	if len(rest) == 0 {
		return ""
	}
	return "members " + clip(strings.Join(rest, ", "))
}
