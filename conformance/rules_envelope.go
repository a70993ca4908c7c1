package conformance

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

func envelopeRules() []ruleEntry {
	return []ruleEntry{
		plain(jsonrpc, "ENVELOPE-JSONRPC"),
		plain(encoding, "ENVELOPE-UTF8"),
		plain(single, "ENVELOPE-SINGLE", "BATCH-SHAPE", "BATCH-NO-INITIALIZE"),
		plain(outcome, "ENVELOPE-RESULT-OR-ERROR"),
		plain(errorShape, "ENVELOPE-ERROR-CODE", "ENVELOPE-ERROR-MESSAGE"),
		plain(errorCodes, "ERROR-RESERVED-CODES", "ERROR-RETIRED-CODES", "ERROR-APPLICATION-CODES"),
		plain(params, "ENVELOPE-PARAMS-OBJECT", "ENVELOPE-NOTIFICATION-NO-ID"),
		stateful(func() Rule { return &unansweredNotifications{} }, "ENVELOPE-NOTIFICATION-UNANSWERED"),
		plain(metaKeys, "META-KEY-PREFIX", "META-KEY-NAME", "META-KEY-REVERSE-DNS"),
	}
}

// problem returns the first problem of the message with one of the codes.
func problem(m *schemas.Message, codes ...schemas.ProblemCode) *schemas.Problem {
	for i := range m.Problems {
		for _, c := range codes {
			if m.Problems[i].Code == c {
				return &m.Problems[i]
			}
		}
	}
	return nil
}

// isNotificationName reports whether a method can only be a notification.
func isNotificationName(method string) bool { return strings.HasPrefix(method, "notifications/") }

// jsonrpc: every message is a JSON-RPC 2.0 object (basic/index, messages).
// Duplicate keys and big numbers are legal JSON and pass.
func jsonrpc(o *Observation) {
	if o.Message == nil || o.Message.Kind == schemas.Batch {
		return
	}
	p := problem(o.Message, schemas.NotJSON, schemas.NotObject, schemas.MissingVersion, schemas.WrongVersion,
		schemas.BadMethod, schemas.MissingID, schemas.NoKind)
	if p == nil {
		o.Pass("ENVELOPE-JSONRPC", o.From())
		return
	}
	if p.Code == schemas.NoKind && len(o.Message.ID) > 0 {
		return // a response without outcome: outcome says so
	}
	o.Fail("ENVELOPE-JSONRPC", o.From(), Fault{
		Detail: "the message is no JSON-RPC 2.0 message", Want: p.Detail, Got: string(p.Code), Cause: strayCause(o),
	})
}

// strayCause names the requirement under which everything goes that is wrong
// with a line on standard output or input that is no message at all.
func strayCause(o *Observation) string {
	if o.Session.Transport != trace.Stdio || o.Message == nil || o.Message.Kind != schemas.Invalid || len(o.Message.ID) > 0 {
		return ""
	}
	if o.From() == trace.Server {
		return "STDIO-STDOUT-MESSAGES-ONLY"
	}
	return "STDIO-STDIN-MESSAGES-ONLY"
}

// encoding: messages are UTF-8 (since 2025-03-26, page on transports). A byte
// order mark is remarked upon by nobody's text and passes.
func encoding(o *Observation) {
	switch {
	case o.Event == nil || len(o.Event.Data) == 0 || o.InBatch:
	case o.Lacks(trace.LackBytes):
		o.Untested("ENVELOPE-UTF8", o.From(), "the capture holds messages written anew, not the bytes on the wire")
	case o.Message != nil:
		o.Check(problem(o.Message, schemas.InvalidUTF8) == nil, "ENVELOPE-UTF8", o.From(), notUTF8)
	case o.Event.Kind == trace.KindNoise && o.Event.Note == "" && !utf8.Valid(o.Event.Data) && looksLikeMessage(o.Event.Data):
		o.Fail("ENVELOPE-UTF8", o.From(), notUTF8)
	}
}

var notUTF8 = Fault{Detail: "the text of a message is not UTF-8", Want: "UTF-8", Got: "other bytes"}

func looksLikeMessage(data []byte) bool {
	text := strings.TrimSpace(string(data))
	return strings.HasPrefix(text, "{") && strings.Contains(text, `"jsonrpc"`)
}

// single: arrays are legal in 2025-03-26 alone. Clauses decide which of the
// demands stands in the revision.
func single(o *Observation) {
	if o.Message == nil || o.InBatch {
		return
	}
	if o.Message.Kind != schemas.Batch {
		if o.Message.Kind != schemas.Invalid {
			o.Pass("ENVELOPE-SINGLE", o.From())
		}
		return
	}
	o.Fail("ENVELOPE-SINGLE", o.From(), Fault{Detail: "several messages are sent as one array", Want: "one object", Got: "an array"})
	calls, responses, initialize := 0, 0, false
	for _, m := range o.Message.Batch {
		switch m.Kind {
		case schemas.Request, schemas.Notification:
			calls++
		case schemas.Result, schemas.Error:
			responses++
		}
		initialize = initialize || m.Method == "initialize"
	}
	o.Check(len(o.Message.Batch) > 0 && (calls == 0 || responses == 0), "BATCH-SHAPE", o.From(), Fault{
		Detail: "a batch is empty or mixes requests with responses",
		Want:   "requests and notifications, or responses", Got: strconv.Itoa(calls) + " calls and " + strconv.Itoa(responses) + " responses",
	})
	if calls > 0 && o.From() == trace.Client {
		o.Check(!initialize, "BATCH-NO-INITIALIZE", trace.Client, Fault{
			Detail: "initialize is part of a batch", Want: "initialize by itself", Got: "a batch with it",
		})
	}
}

// outcome: a response has a result or an error (basic/index, responses).
func outcome(o *Observation) {
	if o.Message == nil {
		return
	}
	m := o.Message
	switch {
	case problem(m, schemas.ResultAndError) != nil:
		o.Fail("ENVELOPE-RESULT-OR-ERROR", o.From(), Fault{Detail: "a response has both result and error", Want: "one of them", Got: "both"})
	case problem(m, schemas.MethodAndOutcome) != nil:
		o.Fail("ENVELOPE-RESULT-OR-ERROR", o.From(), Fault{Detail: "a message has a method and an outcome", Want: "a call or a response", Got: "both"})
	case problem(m, schemas.NoKind) != nil && len(m.ID) > 0:
		o.Fail("ENVELOPE-RESULT-OR-ERROR", o.From(), Fault{Detail: "a response has neither result nor error", Want: "one of them", Got: "neither"})
	case m.Kind == schemas.Result || m.Kind == schemas.Error:
		o.Pass("ENVELOPE-RESULT-OR-ERROR", o.From())
	}
}

// errorShape: an error has an integer code and a message (basic/index, error
// responses). 1.0 is an integer.
func errorShape(o *Observation) {
	if !o.is(schemas.Error) {
		return
	}
	code, has := schemas.Member(o.Message.Error, "code")
	o.Check(has && isInteger(code), "ENVELOPE-ERROR-CODE", o.From(), Fault{
		Detail: "the code of an error is no integer", Want: "/error/code: integer", Got: got(code, has),
	})
	text, has := schemas.Member(o.Message.Error, "message")
	o.Check(has && text[0] == '"', "ENVELOPE-ERROR-MESSAGE", o.From(), Fault{
		Detail: "an error has no message", Want: "/error/message: string", Got: got(text, has),
	})
}

func isInteger(raw json.RawMessage) bool {
	key := schemas.IDKey(raw)
	return strings.HasPrefix(key, "number ") && !strings.Contains(key, "e-")
}

// got describes a raw value for a finding.
func got(raw json.RawMessage, has bool) string {
	if !has {
		return "absent"
	}
	return clip(string(raw))
}

func clip(s string) string {
	const most = 120
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// errorCodes: the allocation policy of 2026-07-28 (basic/index, error codes).
func errorCodes(o *Observation) {
	if !o.is(schemas.Error) || !o.Revision.Stateless() {
		return
	}
	code, err := strconv.Atoi(o.errorCode())
	if err != nil {
		return
	}
	defined := code == -32020 || code == -32021 || code == -32022
	reserved := code >= -32099 && code <= -32020
	o.Check(!reserved || defined, "ERROR-RESERVED-CODES", o.From(), Fault{
		Detail: "an error code is of the range that the specification reserves, but not defined",
		Want:   "-32020, -32021, -32022 or a code outside of -32099 to -32020", Got: o.errorCode(),
	})
	o.Check(code != -32002 && code != -32042, "ERROR-RETIRED-CODES", o.From(), Fault{
		Detail: "an error code of earlier revisions is sent", Want: "-32602 or another code of this revision", Got: o.errorCode(),
	})
	if reserved || code == -32002 {
		return
	}
	standard := code == -32700 || code <= -32600 && code >= -32603
	own := code < -32768 || code > -32000
	o.Check(standard || own, "ERROR-APPLICATION-CODES", o.From(), Fault{
		Detail: "an error code of one's own lies in the range that JSON-RPC reserves", Want: "a code outside of -32768 to -32000", Got: o.errorCode(),
	})
}

// params: params is an object; notifications carry no id.
func params(o *Observation) {
	if !o.is(schemas.Request, schemas.Notification) {
		return
	}
	if o.Message.Params != nil {
		o.Check(problem(o.Message, schemas.BadParams) == nil, "ENVELOPE-PARAMS-OBJECT", o.From(), Fault{
			Detail: "params is not an object", Want: "/params: object", Got: got(o.Message.Params, true),
		})
	}
	switch {
	case o.Message.Kind == schemas.Notification:
		o.Pass("ENVELOPE-NOTIFICATION-NO-ID", o.From())
	case isNotificationName(o.Message.Method):
		o.Fail("ENVELOPE-NOTIFICATION-NO-ID", o.From(), Fault{
			Detail: "a notification has an id", Want: "/id: absent", Got: got(o.Message.ID, true),
		})
	}
}

// unansweredNotifications watches for responses to notifications
// (basic/index, notifications). On HTTP a response in the exchange of a POST
// that held only notifications answers them; an error without id beside a
// refusing status is permitted (transports, sending messages). Elsewhere a
// response without a usable id is taken for one only while nothing else from
// that sender could have called for it.
type unansweredNotifications struct {
	pending map[trace.Side]int64 // Seq of a notification that nothing followed yet
	unclear map[trace.Side]bool  // the sender has sent something unreadable, or under an id that none can repeat
}

func (u *unansweredNotifications) Observe(o *Observation) {
	if o.Event == nil {
		return
	}
	if o.Event.Kind == trace.KindNoise || o.is(schemas.Invalid) || o.Message != nil && problem(o.Message, schemas.NullID, schemas.BadID) != nil {
		u.note(&u.unclear, o.From())
	}
	if o.Exchange != nil {
		u.posted(o)
		return
	}
	side := o.From()
	switch {
	case o.is(schemas.Notification):
		if u.pending == nil {
			u.pending = map[trace.Side]int64{}
		}
		u.pending[side] = o.Event.Seq
	case o.is(schemas.Result, schemas.Error):
		u.reply(o, side)
	}
}

func (u *unansweredNotifications) note(m *map[trace.Side]bool, side trace.Side) {
	if *m == nil {
		*m = map[trace.Side]bool{}
	}
	(*m)[side] = true
}

// reply looks at a response of side on a transport without exchanges.
func (u *unansweredNotifications) reply(o *Observation, side trace.Side) {
	asked := u.pending[side.Peer()]
	id := string(o.Message.ID)
	switch {
	case asked == 0:
	case o.Request != nil && o.Request.Seq > asked && o.Earlier == nil:
		// A later request was answered first, so the notification was not.
		o.Pass("ENVELOPE-NOTIFICATION-UNANSWERED", side)
		delete(u.pending, side.Peer())
	case (id == "" || id == "null") && !u.unclear[side.Peer()] && !o.Lacks(trace.LackOrder) && !o.Lacks(trace.LackNoise) &&
		len(o.Session.of(side.Peer()).open) == 0 && !o.Session.Partial:
		o.Fail("ENVELOPE-NOTIFICATION-UNANSWERED", side, answeredNotification)
	}
}

var answeredNotification = Fault{Detail: "a notification is answered", Want: "no response", Got: "a response"}

func (u *unansweredNotifications) posted(o *Observation) {
	x := o.Exchange
	if o.From() != trace.Server || x.Notifications == 0 || len(x.Requests) > 0 || x.Responses > 0 || x.Garbled {
		return
	}
	switch {
	case o.is(schemas.Result, schemas.Error, schemas.Invalid) && x.status() < 400 && x.status() != 0:
		o.Fail("ENVELOPE-NOTIFICATION-UNANSWERED", trace.Server, answeredNotification)
	case o.Event.Kind == trace.KindClosed && x.status() < 400 && x.status() != 0 && x.Replies == 0:
		o.Pass("ENVELOPE-NOTIFICATION-UNANSWERED", trace.Server)
	}
}

func metaKeys(o *Observation) {
	if o.Message == nil {
		return
	}
	for _, part := range []json.RawMessage{o.Message.Params, o.Message.Result} {
		raw, ok := schemas.Member(part, "_meta")
		if !ok {
			continue
		}
		var meta map[string]json.RawMessage
		if json.Unmarshal(raw, &meta) != nil {
			continue // the schema says what it has to be
		}
		for key := range meta {
			metaKey(o, key)
		}
	}
}

// metaKey judges one key by the grammar of _meta keys since 2025-06-18
// (basic/index, _meta): an optional prefix of dotted labels before a slash, and
// a name.
func metaKey(o *Observation, key string) {
	prefix, name, has := strings.Cut(key, "/")
	if !has {
		prefix, name = "", key
	}
	rev := max(o.Revision, schemas.R20250618)
	if has {
		o.Check(schemas.CheckMetaKey(rev, prefix+"/") == nil, "META-KEY-PREFIX", o.From(), Fault{
			Detail: "the prefix of a _meta key is not made of dotted labels", Want: "labels such as com.example", Got: clip(key),
		})
	}
	if first, last := ends(prefix); topLevel(first) != topLevel(last) {
		o.Check(topLevel(first), "META-KEY-REVERSE-DNS", o.From(), Fault{
			Detail: "the prefix of a _meta key is a domain name the right way round", Want: "a prefix such as com.example", Got: clip(key),
		})
	}
	o.Check(schemas.CheckMetaKey(rev, name) == nil, "META-KEY-NAME", o.From(), Fault{
		Detail: "the name of a _meta key does not begin and end with a letter or digit", Want: "a name such as my-key", Got: clip(key),
	})
}

// ends returns the first and the last label of a prefix that has several.
func ends(prefix string) (first, last string) {
	first, _, several := strings.Cut(prefix, ".")
	if !several {
		return "", ""
	}
	return first, prefix[strings.LastIndexByte(prefix, '.')+1:]
}

// topLevel names the top-level domains by which a domain name is told from its
// reverse. A prefix without one of them at exactly one end is not judged: whether
// it is a domain name at all nobody can tell.
func topLevel(label string) bool {
	switch strings.ToLower(label) {
	case "com", "org", "net", "edu", "gov", "io", "dev":
		return true
	}
	return false
}
