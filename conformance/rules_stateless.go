package conformance

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

func statelessRules() []ruleEntry {
	return []ruleEntry{
		plain(modern(metadata), "META-REQUIRED", "META-CLIENT-INFO", "META-SERVER-INFO"),
		plain(modern(metadataRefused), "META-MISSING-REJECTED", "META-MISSING-400"),
		plain(modern(traceContext), "META-TRACE-CONTEXT"),
		plain(modern(unsupported), "VERSION-UNSUPPORTED", "VERSION-UNSUPPORTED-400"),
		plain(modern(missingCapability), "CAPABILITY-MISSING", "CAPABILITY-MISSING-400"),
		plain(modern(resultType), "RESULT-TYPE", "RESULT-TYPE-KNOWN"),
		plain(modern(extensionIDs), "EXTENSION-ID"),
		plain(modern(extensionFallback), "EXTENSION-FALLBACK"),
		stateful(func() Rule { return &versionRetry{} }, "VERSION-RETRY-SUPPORTED"),
		stateful(func() Rule { return &eraRemembered{} }, "VERSION-ERA-REMEMBERED"),
		stateful(func() Rule { return &discovery{} }, "DISCOVER-IMPLEMENTED", "DISCOVER-VERSIONS"),
		plain(modern(oneWay), "SERVER-NO-REQUESTS", "CLIENT-NO-RESPONSES"),
	}
}

// modern limits a rule to sessions of the era without handshake.
func modern(f func(o *Observation)) func(o *Observation) {
	return func(o *Observation) {
		if o.Session.Modern && o.Event != nil {
			f(o)
		}
	}
}

// metadata: what every request and every result says of its sender (2026-07-28
// basic/index, general fields).
func metadata(o *Observation) {
	switch {
	case o.is(schemas.Request) && o.From() == trace.Client:
		o.Check(!o.Request.faults.meta, "META-REQUIRED", trace.Client, Fault{
			Detail: "a request lacks required metadata",
			Want:   "/params/_meta: " + metaProtocolVersion + " and " + metaClientCapabilities, Got: missingMeta(o.Message.Params),
		})
		_, ok := o.param("_meta", metaClientInfo)
		o.Check(ok, "META-CLIENT-INFO", trace.Client, Fault{
			Detail: "a request does not say who the client is", Want: "/params/_meta: " + metaClientInfo, Got: "absent",
		})
	case o.is(schemas.Result) && o.From() == trace.Server:
		_, ok := schemas.Member(o.Message.Result, "_meta", metaServerInfo)
		o.Check(ok, "META-SERVER-INFO", trace.Server, Fault{
			Detail: "a result does not say who the server is", Want: "/result/_meta: " + metaServerInfo, Got: "absent",
		})
	}
}

// missingMeta lists the required metadata that params lack; "" if none.
func missingMeta(params json.RawMessage) string {
	var missing []string
	if v, ok := schemas.Member(params, "_meta", metaProtocolVersion); !ok || v[0] != '"' {
		missing = append(missing, metaProtocolVersion+" "+got(v, ok))
	}
	if v, ok := schemas.Member(params, "_meta", metaClientCapabilities); !ok || v[0] != '{' {
		missing = append(missing, metaClientCapabilities+" "+got(v, ok))
	}
	return strings.Join(missing, ", ")
}

// metadataRefused: a request without required metadata gets -32602, over HTTP
// with status 400. When something else is wrong with the request as well any
// error is right, for no order is given; and a server that also speaks earlier
// revisions may take the request for one of theirs.
func metadataRefused(o *Observation) {
	r := o.Request
	if !o.is(schemas.Result, schemas.Error) || r == nil || o.From() != trace.Server || !r.faults.meta || o.Earlier != nil {
		return
	}
	alone := !r.faults.missing && !r.faults.differs && !r.faults.other
	code := o.errorCode()
	switch {
	case code == "-32602":
		o.Pass("META-MISSING-REJECTED", trace.Server)
		checkStatus(o, "META-MISSING-400", 400)
	case o.Session.Server.Known && len(o.judge.served) > 0:
	case alone || o.is(schemas.Result):
		o.Fail("META-MISSING-REJECTED", trace.Server, Fault{
			Detail: "a request without required metadata is not rejected as having invalid params", Want: "error -32602", Got: outcomeOf(o),
		})
	}
}

func outcomeOf(o *Observation) string {
	if o.is(schemas.Result) {
		return "a result"
	}
	return "error " + clip(o.errorCode())
}

// checkStatus judges the HTTP status that goes with an error, where there is one.
func checkStatus(o *Observation, requirement string, want int) {
	status := o.Exchange.status()
	if status == 0 || gatewayStatus(status) {
		return
	}
	o.Check(status == want, requirement, trace.Server, Fault{
		Detail: "the error does not come with its HTTP status", Want: "status " + strconv.Itoa(want), Got: "status " + strconv.Itoa(status) + " with " + outcomeOf(o),
	})
}

// traceContext: three keys of _meta have the formats of W3C Trace Context and
// Baggage (2026-07-28 basic/index).
func traceContext(o *Observation) {
	if o.Message == nil {
		return
	}
	for _, part := range []json.RawMessage{o.Message.Params, o.Message.Result} {
		meta, ok := schemas.Member(part, "_meta")
		if !ok {
			continue
		}
		for _, k := range []struct {
			key   string
			check func(string) error
		}{{"traceparent", schemas.CheckTraceparent}, {"tracestate", schemas.CheckTracestate}, {"baggage", schemas.CheckBaggage}} {
			if raw, ok := schemas.Member(meta, k.key); ok {
				o.Check(raw[0] == '"' && k.check(textParam(meta, k.key)) == nil, "META-TRACE-CONTEXT", o.From(), Fault{
					Detail: "a trace context key of _meta has another format than the W3C gives it", Want: "_meta/" + k.key + ": the format of the W3C", Got: got(raw, true),
				})
			}
		}
	}
}

// unsupported: what a server answers to a version that it does not implement
// (2026-07-28 basic/versioning). Which those are it says itself. The result of a
// discovery is taken too: a client may pick from it after it has asked in the
// version that it prefers (2026-07-28 basic/transports/stdio).
func unsupported(o *Observation) {
	r := o.Request
	if !o.is(schemas.Result, schemas.Error) || r == nil || o.From() != trace.Server || o.Earlier != nil {
		return
	}
	asked := textParam(r.Params, "_meta", metaProtocolVersion)
	if o.errorCode() == "-32022" {
		raw, _ := schemas.Member(o.Message.Error, "data", "supported")
		var supported []string
		err := json.Unmarshal(raw, &supported)
		requested := textParam(o.Message.Error, "data", "requested")
		o.Check(err == nil && len(supported) > 0 && (asked == "" || requested == asked) && !slices.Contains(supported, asked),
			"VERSION-UNSUPPORTED", trace.Server, Fault{
				Detail: "the error on an unsupported version does not say what is supported and what was requested",
				Want:   "/error/data: supported, a list without the requested version, and requested", Got: got(member(o.Message.Error, "data")),
			})
		checkStatus(o, "VERSION-UNSUPPORTED-400", 400)
		return
	}
	if r.faults.version && !r.faults.meta && o.is(schemas.Result) && r.Method != "server/discover" {
		o.Fail("VERSION-UNSUPPORTED", trace.Server, Fault{
			Detail: "a request in a version that does not exist is answered as if it did", Want: "error -32022", Got: "a result for version " + clip(asked),
		})
	}
}

func member(object json.RawMessage, keys ...string) (json.RawMessage, bool) {
	return schemas.Member(object, keys...)
}

// missingCapability: the error for a capability that the request lacks names
// what it lacks (2026-07-28 basic/index).
func missingCapability(o *Observation) {
	if !o.is(schemas.Error) || o.errorCode() != "-32021" || o.Request == nil || o.From() != trace.Server || o.Earlier != nil {
		return
	}
	required, ok := schemas.Member(o.Message.Error, "data", "requiredCapabilities")
	keys, isObject := objectKeys(required)
	lacking := false
	for _, k := range keys {
		for _, path := range paths(required, k) {
			lacking = lacking || !o.Request.declares(path)
		}
	}
	o.Check(ok && isObject && lacking, "CAPABILITY-MISSING", trace.Server, Fault{
		Detail: "the error on a missing capability does not name one that the request lacks",
		Want:   "/error/data/requiredCapabilities: what the request did not declare", Got: got(required, ok),
	})
	checkStatus(o, "CAPABILITY-MISSING-400", 400)
}

// paths lists the dotted paths below key in a capabilities object.
func paths(object json.RawMessage, key string) []string {
	raw, _ := schemas.Member(object, key)
	out := []string{key}
	if keys, ok := objectKeys(raw); ok && len(out) < 64 {
		for _, k := range keys {
			out = append(out, key+"."+k)
		}
	}
	return out
}

// resultType: every result says its type, one of the core or of an extension
// that the request declares (2026-07-28 basic/index, ResultType).
func resultType(o *Observation) {
	if !o.is(schemas.Result) || o.From() != trace.Server || o.Request == nil || o.Earlier != nil {
		return
	}
	raw, ok := schemas.Member(o.Message.Result, "resultType")
	o.Check(ok && raw[0] == '"', "RESULT-TYPE", trace.Server, Fault{
		Detail: "a result does not say its type", Want: "/result/resultType: string", Got: got(raw, ok),
	})
	if !ok || raw[0] != '"' {
		return
	}
	kind := textParam(o.Message.Result, "resultType")
	extensions, _ := schemas.Member(o.Request.Params, "_meta", metaClientCapabilities, "extensions")
	keys, _ := objectKeys(extensions)
	switch {
	case kind == "complete" || kind == "input_required":
		o.Pass("RESULT-TYPE-KNOWN", trace.Server)
	case kind == "task" && slices.Contains(keys, "io.modelcontextprotocol/tasks"):
		o.Pass("RESULT-TYPE-KNOWN", trace.Server)
	case kind != "task" && len(keys) > 0: // an extension may define it
	default:
		o.Fail("RESULT-TYPE-KNOWN", trace.Server, Fault{
			Detail: "a result has a type that neither the core nor a declared extension has", Want: "/result/resultType: complete or input_required", Got: clip(kind),
		})
	}
}

// discovery: every server implements it and counts the version in which it
// answers among those that it supports (2026-07-28 server/discover). A server that
// does not know it may be one of the revisions before, which clients of both eras
// ask so on purpose (basic/versioning): it has to answer something else in this
// era before that counts, unless it is said to speak the revision.
type discovery struct{ refused, speaks bool }

func (d *discovery) Observe(o *Observation) {
	if !o.Session.Modern || o.Event == nil {
		return
	}
	d.discover(o)
	d.speaks = d.speaks || o.judge.header.Stateless()
	if o.is(schemas.Result) && o.Request != nil && o.From() == trace.Server {
		_, typed := schemas.Member(o.Message.Result, "resultType")
		d.speaks = d.speaks || typed
	}
	if d.refused && d.speaks {
		d.refused = false
		o.Fail("DISCOVER-IMPLEMENTED", trace.Server, Fault{
			Detail: "server/discover does not exist on a server that answers other requests of the revision", Want: "a result of server/discover", Got: "error -32601",
		})
	}
}

func (d *discovery) discover(o *Observation) {
	if o.Request == nil || o.Request.Method != "server/discover" || o.From() != trace.Server || !o.is(schemas.Result, schemas.Error) || o.Earlier != nil {
		return
	}
	if o.is(schemas.Error) {
		if o.errorCode() == "-32601" {
			d.refused = true
			o.Untested("DISCOVER-IMPLEMENTED", trace.Server, "server/discover does not exist, and nothing shows that the server speaks the revision")
		}
		return
	}
	o.Pass("DISCOVER-IMPLEMENTED", trace.Server)
	raw, ok := schemas.Member(o.Message.Result, "supportedVersions")
	var versions []string
	asked := textParam(o.Request.Params, "_meta", metaProtocolVersion)
	if _, err := schemas.ParseRevision(asked); err != nil || json.Unmarshal(raw, &versions) != nil {
		return // that a version is served which does not exist is VERSION-UNSUPPORTED
	}
	o.Check(slices.Contains(versions, asked), "DISCOVER-VERSIONS", trace.Server, Fault{
		Detail: "the supported versions lack the one in which the server answers", Want: "/result/supportedVersions: with " + clip(asked), Got: got(raw, ok),
	})
}

// oneWay: servers send no requests and clients no responses (2026-07-28
// basic/patterns). What a receiver does with them is not said.
func oneWay(o *Observation) {
	if o.Message == nil || o.is(schemas.Invalid, schemas.Batch) {
		return
	}
	if o.From() == trace.Server {
		o.Check(!o.is(schemas.Request), "SERVER-NO-REQUESTS", trace.Server, Fault{
			Detail: "the server sends a request", Want: "responses and notifications", Got: clip(o.Message.Method),
		})
		return
	}
	o.Check(!o.is(schemas.Result, schemas.Error), "CLIENT-NO-RESPONSES", trace.Client, Fault{
		Detail: "the client sends a response", Want: "requests and notifications", Got: "a " + o.Message.Kind.String(),
	})
}
