package conformance

import (
	"encoding/json"
	"regexp"
	"slices"

	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

// lastWithHandshake is the last revision that initialize can negotiate.
const lastWithHandshake = schemas.R20251125

// versionShape matches dates, which all versions are, and the names of drafts.
var versionShape = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}$|^DRAFT-`)

// versionAsked: a client asks for the latest version that it supports
// (basic/lifecycle, version negotiation). Which versions those are it shows in
// what it goes on with: one that goes on in a later version than it asked for
// supports that one; one that asks for the last there is has none beyond it.
type versionAsked struct{ asked string }

func (r *versionAsked) Observe(o *Observation) {
	switch {
	case o.Message == nil || o.Session.Modern:
	case o.isCall(trace.Client, "initialize"):
		r.asked = textParam(o.Message.Params, "protocolVersion")
		if r.asked != "" && !versionShape.MatchString(r.asked) {
			o.Fail("LIFECYCLE-CLIENT-VERSION-SUPPORTED", trace.Client, Fault{
				Detail: "the client asks for what is no protocol version", Want: "/params/protocolVersion: a date such as " + string(lastWithHandshake), Got: clip(r.asked),
			})
		}
	case o.isCall(trace.Client, "notifications/initialized") && r.asked != "" && o.Session.Revision != "":
		r.wentOn(o, schemas.Revision(r.asked), o.Session.Revision)
		r.asked = ""
	}
}

// wentOn judges a client that goes on in the version that the server answered.
func (r *versionAsked) wentOn(o *Observation, asked, answered schemas.Revision) {
	if asked == answered {
		o.Pass("LIFECYCLE-CLIENT-VERSION-SUPPORTED", trace.Client)
	}
	known, err := schemas.ParseRevision(r.asked)
	switch {
	case err != nil:
	case known >= lastWithHandshake:
		o.Pass("LIFECYCLE-CLIENT-VERSION-LATEST", trace.Client)
	case answered > known:
		o.Fail("LIFECYCLE-CLIENT-VERSION-LATEST", trace.Client, Fault{
			Detail: "the client goes on in a later version than it asked for", Want: "/params/protocolVersion: " + string(answered), Got: clip(r.asked),
		})
	}
}

// versionRetry: a client whose version is refused picks one of those that the
// server supports (2026-07-28 basic/versioning, protocol version negotiation).
// Only the same request made again is taken for its second try: others may have
// been under way before the refusal was read. A handshake is a choice as well.
type versionRetry struct {
	method    string
	supported []string
}

func (r *versionRetry) Observe(o *Observation) {
	if !o.Session.Modern || o.Message == nil {
		return
	}
	if o.is(schemas.Error) && o.errorCode() == "-32022" && o.From() == trace.Server && o.Request != nil && o.Earlier == nil {
		raw, _ := schemas.Member(o.Message.Error, "data", "supported")
		r.method, r.supported = o.Request.Method, nil
		if json.Unmarshal(raw, &r.supported) != nil || len(r.supported) == 0 || o.Lacks(trace.LackOrder) {
			r.method = ""
		}
		return
	}
	if r.method == "" || !o.is(schemas.Request) || o.From() != trace.Client || o.Message.Method != r.method {
		return
	}
	version := textParam(o.Message.Params, "_meta", metaProtocolVersion)
	if version == "" {
		return // META-REQUIRED demands it
	}
	o.Check(slices.Contains(r.supported, version), "VERSION-RETRY-SUPPORTED", trace.Client, Fault{
		Detail: "a request whose version was refused is made again in one that the server does not support either",
		Want:   "/params/_meta/" + metaProtocolVersion + ": one of those that the error lists", Got: clip(version),
	})
	r.method = ""
}

// eraRemembered: a client that has found a server to be of the era with a
// handshake keeps to that while the process runs (2026-07-28 basic/versioning,
// backward compatibility). The probe was answered, the handshake is over: asking
// again is a probe that tells nothing new.
type eraRemembered struct{ refused, again bool }

func (r *eraRemembered) Observe(o *Observation) {
	if !o.Session.Modern || o.Session.Transport != trace.Stdio || o.Session.Partial || o.Lacks(trace.LackOrder) {
		return
	}
	c := o.judge.conns[o.Session.Conn]
	settled := c != nil && c.legacy != nil && c.legacy.Stage == Operational
	switch {
	case o.End:
		if r.refused && settled && !r.again {
			o.Pass("VERSION-ERA-REMEMBERED", trace.Client)
		}
	case o.is(schemas.Error) && o.Request != nil && o.Request.Method == "server/discover":
		r.refused = true
	case o.isCall(trace.Client, "server/discover") && r.refused && settled:
		r.again = true
		o.Fail("VERSION-ERA-REMEMBERED", trace.Client, Fault{
			Detail: "the client probes a process again with which it has shaken hands", Want: "what the handshake has agreed upon", Got: "server/discover",
		})
	}
}
