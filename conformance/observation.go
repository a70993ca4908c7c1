package conformance

import (
	"encoding/json"

	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

// The keys of _meta that the specification reserves since 2026-07-28
// (basic/index, general fields).
const (
	metaProtocolVersion    = "io.modelcontextprotocol/protocolVersion"
	metaClientInfo         = "io.modelcontextprotocol/clientInfo"
	metaClientCapabilities = "io.modelcontextprotocol/clientCapabilities"
	metaLogLevel           = "io.modelcontextprotocol/logLevel"
	metaSubscriptionID     = "io.modelcontextprotocol/subscriptionId"
	metaServerInfo         = "io.modelcontextprotocol/serverInfo"
)

// Observation is one event with all that is known about it, as a rule gets to
// see it. It is valid only during the call.
type Observation struct {
	Event   *trace.Event
	Session *Session
	// Exchange is the HTTP exchange that the event belongs to, nil elsewhere.
	Exchange *Exchange
	// Message is the classified message; nil for other events. The members of a
	// batch come one by one, each with InBatch set, after the batch itself.
	Message *schemas.Message
	InBatch bool
	// Request is the request that a response answers, or that the message itself
	// is; nil for a response that answers nothing known.
	Request *Request
	// Earlier is set on a request whose id its sender had used before, and on a
	// response to a request that was answered already.
	Earlier *Request
	// Reused says that the sender used the id before in this session; InFlight
	// that another request with this id is still open.
	Reused, InFlight bool
	// Revision governs the message: the negotiated one, the one that the request
	// names, or "" when it is not known.
	Revision schemas.Revision
	// End is set on the last observation of a session; there is no event then.
	End bool

	judge  *Judge
	failed bool // a rule failed something on this observation
}

// From is the sender of the event, "" at the end of a session.
func (o *Observation) From() trace.Side {
	if o.Event == nil {
		return ""
	}
	return o.Event.From
}

// Lacks reports whether the capture cannot show something.
func (o *Observation) Lacks(l trace.Lack) bool { return o.judge.lacks[l] }

// Fault is what is wrong.
type Fault struct {
	Detail string // one sentence, without values: equal faults are counted together
	Want   string
	Got    string
	Cause  string // the requirement whose failure explains this one
}

// Pass says that the side fulfilled the requirement here.
func (o *Observation) Pass(requirement string, side trace.Side) {
	o.judge.pass(o, requirement, side)
}

// Fail says that the side broke the requirement here.
func (o *Observation) Fail(requirement string, side trace.Side, f Fault) {
	o.failed = true
	o.judge.emit(o, Evidence{
		Requirement: requirement, Side: side, Verdict: Fail,
		Detail: f.Detail, Want: f.Want, Got: f.Got, Cause: f.Cause,
	})
}

// Untested says why the requirement could not be judged here.
func (o *Observation) Untested(requirement string, side trace.Side, reason string) {
	o.judge.untested(o, requirement, side, reason)
}

// Check passes or fails.
func (o *Observation) Check(ok bool, requirement string, side trace.Side, f Fault) {
	if ok {
		o.Pass(requirement, side)
	} else {
		o.Fail(requirement, side, f)
	}
}

// is reports whether the observation is a message of one of the kinds.
func (o *Observation) is(kinds ...schemas.Kind) bool {
	if o.Message == nil {
		return false
	}
	for _, k := range kinds {
		if o.Message.Kind == k {
			return true
		}
	}
	return false
}

// isCall reports whether the observation is a request or notification with that
// method from that side. A notification that wrongly has an id counts.
func (o *Observation) isCall(side trace.Side, method string) bool {
	return o.is(schemas.Request, schemas.Notification) && o.Message.Method == method && o.From() == side
}

// isResult reports whether the observation is a successful response to a
// request of that method, made by the other side.
func (o *Observation) isResult(method string) bool {
	return o.is(schemas.Result) && o.Request != nil && o.Request.Method == method
}

// head reports whether the event is an HTTP head from that side.
func (o *Observation) head(side trace.Side) bool {
	return o.Event != nil && o.Event.Kind == trace.KindHTTP && o.Event.From == side && o.Exchange != nil
}

// param looks into the params of the message.
func (o *Observation) param(keys ...string) (json.RawMessage, bool) {
	return schemas.Member(o.Message.Params, keys...)
}

// errorCode returns the code of an error response as written.
func (o *Observation) errorCode() string {
	code, _ := schemas.Member(o.Message.Error, "code")
	return string(code)
}

// toolSchema compiles a schema that came over the wire. Servers list the same
// tools in every session, so what the judge's schemas remember is used again;
// the results are shared and must not be changed.
func (o *Observation) toolSchema(role schemas.SchemaRole, raw json.RawMessage) (*schemas.ToolSchema, []schemas.Violation) {
	if set := o.judge.options.Schemas; set != nil {
		return set.ToolSchema(o.Revision, role, raw)
	}
	return schemas.CompileToolSchema(o.Revision, role, raw)
}
