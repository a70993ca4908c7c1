package conformance

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

func headerRules() []ruleEntry {
	return []ruleEntry{
		plain(onHTTP(modern(standardHeaders)), "HEADER-PROTOCOL-VERSION", "HEADER-PROTOCOL-VERSION-MATCHES", "HEADER-METHOD", "HEADER-NAME",
			"HEADER-ENCODED", "HEADER-ENCODED-MARKERS", "HEADER-ENCODED-LITERAL"),
		plain(onHTTP(modern(headersRefused)), "HEADER-MISMATCH-REJECTED", "HEADER-MISSING-REJECTED"),
		plain(onHTTP(modern(unknownMethod)), "HTTP-UNKNOWN-METHOD-404"),
		plain(onHTTP(fallback), "HTTP-FALLBACK-INSPECTED"),
		plain(onHTTP(modern(legacyHTTP)), "HTTP-LEGACY-METHODS-405", "HTTP-NO-SESSION-ID"),
		plain(onHTTP(modern(related)), "HTTP-STREAM-RELATED"),
	}
}

// faultsOf finds what is wrong with a request of 2026-07-28, for the rules that
// judge its answer.
func faultsOf(o *Observation) requestFaults {
	f := requestFaults{meta: missingMeta(o.Message.Params) != ""}
	version := textParam(o.Message.Params, "_meta", metaProtocolVersion)
	_, err := schemas.ParseRevision(version)
	f.version = version != "" && err != nil && !plausible.MatchString(version)
	_, known := o.judge.method(o.Revision, o.Message.Method)
	f.other = !known || len(o.Message.Problems) > 0 || err != nil && !f.meta
	if o.Session.Transport != trace.StreamableHTTP || o.Exchange == nil || o.Exchange.Request == nil {
		return f
	}
	for _, h := range headersOf(o) {
		f.missing = f.missing || h.missing()
		f.differs = f.differs || !h.missing() && !h.matches()
	}
	return f
}

// mirror is a header that repeats a part of the body (2026-07-28
// streamable-http, standard request headers).
type mirror struct {
	requirement string // that the header is there
	equals      string // that it matches; may be the same
	name, value string
	present     bool
	body        string
	inBody      bool
	encoded     bool // the sentinel form is allowed
}

func (h mirror) missing() bool { return !h.present && h.inBody }

func (h mirror) matches() bool {
	if !h.present || !h.inBody {
		return true
	}
	value := h.value
	if h.encoded {
		decoded, ok := decodeSentinel(value)
		if !ok {
			return false
		}
		value = decoded
	}
	return value == h.body
}

// decodeSentinel decodes =?base64?…?= (streamable-http, value encoding).
func decodeSentinel(v string) (string, bool) {
	inner, ok := strings.CutPrefix(v, "=?base64?")
	if !ok {
		return v, true
	}
	if inner, ok = strings.CutSuffix(inner, "?="); !ok {
		return v, true
	}
	raw, err := base64.StdEncoding.DecodeString(inner)
	return string(raw), err == nil && utf8.Valid(raw)
}

// headersOf lists the standard headers of a request.
func headersOf(o *Observation) []mirror {
	x, m := o.Exchange, o.Message
	version := textParam(m.Params, "_meta", metaProtocolVersion)
	list := []mirror{
		{requirement: "HEADER-PROTOCOL-VERSION", equals: "HEADER-PROTOCOL-VERSION-MATCHES", name: "MCP-Protocol-Version", body: version, inBody: version != ""},
		{requirement: "HEADER-METHOD", equals: "HEADER-METHOD", name: "Mcp-Method", body: m.Method, inBody: true},
	}
	key := ""
	switch m.Method {
	case "tools/call", "prompts/get":
		key = "name"
	case "resources/read":
		key = "uri"
	}
	if name := textParam(m.Params, key); key != "" {
		_, ok := o.param(key)
		list = append(list, mirror{requirement: "HEADER-NAME", equals: "HEADER-NAME", name: "Mcp-Name", body: name, inBody: ok, encoded: true})
	}
	for i := range list {
		list[i].value, list[i].present = x.header(list[i].name)
	}
	return list
}

// standardHeaders judges the client. Notifications are left alone: the page
// says itself that nothing is defined for them.
func standardHeaders(o *Observation) {
	if !o.is(schemas.Request) || o.From() != trace.Client || o.InBatch {
		return
	}
	for _, h := range headersOf(o) {
		if h.requirement == "HEADER-PROTOCOL-VERSION" && !h.present {
			h.inBody = true // it is demanded of every POST
		}
		if !h.inBody {
			continue
		}
		if h.missing() {
			o.Fail(h.requirement, trace.Client, Fault{
				Detail: "a request lacks a standard header", Want: h.name + ": " + clip(h.body), Got: "absent",
			})
			continue
		}
		if h.encoded && !encodedRightly(o, h.name, h.value, h.body) {
			continue
		}
		if h.requirement != h.equals {
			o.Pass(h.requirement, trace.Client)
		}
		o.Check(h.matches(), h.equals, trace.Client, Fault{
			Detail: "a header differs from the body of its request", Want: h.name + ": " + clip(h.body), Got: clip(h.value),
		})
	}
}

// headersRefused judges what the server answers to missing and contradicting
// headers (streamable-http, server validation). With several faults at once the
// order is open, and so is what a server that also serves earlier revisions
// makes of a missing version header.
func headersRefused(o *Observation) {
	r, x := o.Request, o.Exchange
	if !o.is(schemas.Result, schemas.Error) || r == nil || o.From() != trace.Server || o.Earlier != nil || x.find(r.Key) != r {
		return
	}
	if !r.faults.missing && !r.faults.differs {
		return
	}
	requirement := "HEADER-MISSING-REJECTED"
	if r.faults.differs {
		requirement = "HEADER-MISMATCH-REJECTED"
	}
	if o.errorCode() == "-32020" {
		if status := x.status(); status != 0 && !gatewayStatus(status) {
			o.Check(status == 400, requirement, trace.Server, Fault{
				Detail: "the error on a header does not come with status 400", Want: "status 400", Got: "status " + strconv.Itoa(status),
			})
		}
		return
	}
	_, version := x.header("MCP-Protocol-Version")
	alone := !r.faults.meta && !r.faults.version && !r.faults.other && version && !(r.faults.missing && r.faults.differs)
	if !alone || o.errorCode() == "-32022" {
		return
	}
	o.Fail(requirement, trace.Server, Fault{
		Detail: "a request whose headers are missing or contradict its body is not rejected", Want: "status 400 and error -32020",
		Got: "status " + strconv.Itoa(x.status()) + " and " + outcomeOf(o),
	})
}

// unknownMethod: -32601 comes with status 404.
func unknownMethod(o *Observation) {
	if o.is(schemas.Error) && o.errorCode() == "-32601" && o.Request != nil && o.From() == trace.Server && o.Earlier == nil {
		checkStatus(o, "HTTP-UNKNOWN-METHOD-404", 404)
	}
}

// fallback: a client that is answered with status 400 looks for an error of
// 2026-07-28 in the body before it goes back to the handshake (streamable-http,
// backward compatibility). When none of the versions that the server names has
// another beginning, the handshake is right. Other clients may use the same
// connection, so that it has to be the one that was refused.
func fallback(o *Observation) {
	c := o.judge.conns[o.Session.Conn]
	switch {
	case c == nil || o.InBatch:
	case o.is(schemas.Error) && o.From() == trace.Server && o.Session.Modern && o.Request != nil && o.Exchange.status() == 400:
		switch o.errorCode() {
		case "-32020", "-32021":
			c.modernError = true
		case "-32022":
			supported, _ := schemas.Member(o.Message.Error, "data", "supported")
			c.modernError = namesStateless(supported)
		}
	case c.modernError && o.is(schemas.Request) && posted(o):
		c.modernError = false
		info, _ := o.param("clientInfo")
		at := *o
		at.Session, at.Revision = c.stateless(), schemas.R20260728
		if name := textParam(info, "name"); o.Message.Method == "initialize" && name != "" && name == at.Session.Client.Name {
			at.Fail("HTTP-FALLBACK-INSPECTED", trace.Client, Fault{
				Detail: "a client goes back to the handshake though the server has shown that it speaks 2026-07-28", Want: "a corrected request", Got: "initialize",
			})
		} else if o.Session.Modern {
			o.Pass("HTTP-FALLBACK-INSPECTED", trace.Client)
		}
	}
}

// namesStateless reports whether a list of versions has one without handshake.
func namesStateless(list json.RawMessage) bool {
	var versions []string
	_ = json.Unmarshal(list, &versions) // what is no list names none
	return slices.ContainsFunc(versions, func(v string) bool { return v >= string(schemas.R20260728) })
}

// legacyHTTP: a server of this revision only answers GET and DELETE with 405
// and gives no session ids (streamable-http, earlier revisions). Whether it is
// such a server shows in what it says that it supports.
func legacyHTTP(o *Observation) {
	x := o.Exchange
	if !o.head(trace.Server) {
		return
	}
	if x.method() == "POST" && len(x.Requests) > 0 {
		id, has := x.Response.Get("Mcp-Session-Id")
		o.Check(!has, "HTTP-NO-SESSION-ID", trace.Server, Fault{
			Detail: "an answer to a request without session gives a session id", Want: "no Mcp-Session-Id header", Got: clip(id),
		})
	}
	if m := x.method(); (m == "GET" || m == "DELETE") && atEndpoint(o) && o.judge.statelessOnly && !gatewayStatus(x.status()) {
		o.Check(x.status() == 405, "HTTP-LEGACY-METHODS-405", trace.Server, Fault{
			Detail: "a GET or DELETE is not answered with status 405", Want: "status 405", Got: m + " answered with status " + strconv.Itoa(x.status()),
		})
	}
}

// related: the stream that answers a request carries what belongs to it
// (streamable-http, receiving messages). Subscriptions have rules of their own.
func related(o *Observation) {
	x := o.Exchange
	if !o.is(schemas.Notification) || o.From() != trace.Server || x.mediaType() != "text/event-stream" || len(x.Requests) != 1 ||
		x.Requests[0].Method == "subscriptions/listen" {
		return
	}
	r := x.Requests[0]
	good := true
	switch m := o.Message.Method; {
	case m == "notifications/progress":
		token, _ := o.param("progressToken")
		good = r.Token != "" && r.Token == schemas.IDKey(token)
	case strings.HasSuffix(m, "/list_changed"), m == "notifications/resources/updated", m == "notifications/subscriptions/acknowledged":
		good = false
	case m == "notifications/message":
	default:
		return // of an extension: who knows
	}
	o.Check(good, "HTTP-STREAM-RELATED", trace.Server, Fault{
		Detail: "the stream of a request carries what does not belong to it", Want: "notifications on " + clip(r.Method), Got: clip(o.Message.Method),
	})
}
