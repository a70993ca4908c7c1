package conformance

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

func paramRules() []ruleEntry {
	return []ruleEntry{
		stateful(func() Rule {
			return &paramRule{tools: map[string]*annotated{}, calls: map[*Request]*mirroring{}, refused: map[string][sha256.Size]byte{}}
		},
			"HEADER-PARAM", "HEADER-PARAM-OMITTED", "HEADER-PARAM-SAFE-INTEGER", "HEADER-PARAM-INVALID-TOOL", "HEADER-PARAM-REFRESH",
			"HEADER-ENCODED", "HEADER-ENCODED-MARKERS", "HEADER-ENCODED-LITERAL", "HEADER-DECODED", "HEADER-PARAM-NOT-EXPECTED",
			"HEADER-PARAM-MISSING-REJECTED", "HEADER-PARAM-MISMATCH-REJECTED", "HEADER-PARAM-INVALID-REJECTED", "HEADER-PARAM-NUMERIC"),
	}
}

// mirroredParam is an argument of a tool that goes into a header.
type mirroredParam struct {
	header string   // Mcp-Param-…
	path   []string // of property names
}

// annotated is a tool with header annotations, as it was listed last.
type annotated struct {
	given   [sha256.Size]byte
	params  []mirroredParam
	invalid bool // an annotation breaks a rule: HTTP clients leave the tool out
	changed bool // the annotations are not always the same: which ones a client goes by is its secret
}

// mirroring is how the headers of a request relate to its body: what the server
// has to make of it.
type mirroring struct {
	absent  bool // an argument is left out or null, and its header too
	missing bool // an argument has no header
	differs bool // a header has another value
	invalid bool // a header has bytes that must not be there, or no Base64 between the markers
	loose   bool // an integer is written in another way: 42.0 for 42
	encoded bool // a header is encoded, and right
	unclear bool // something that the specification does not speak of
}

// paramRule watches the headers that mirror arguments (2026-07-28
// streamable-http, custom headers from tool parameters).
type paramRule struct {
	tools   map[string]*annotated
	calls   map[*Request]*mirroring
	refused map[string][sha256.Size]byte // calls refused with -32020, by tool; the digest is of the arguments
	offered bool                         // a tool with invalid annotations was listed
}

func (p *paramRule) Observe(o *Observation) {
	x := o.Exchange
	if !o.Session.Modern || o.Session.Transport != trace.StreamableHTTP || x == nil || x.Request == nil || o.Message == nil || o.InBatch || o.Lacks(trace.LackHeaders) {
		return
	}
	switch {
	case o.isResult("tools/list") && o.Earlier == nil && o.From() == trace.Server:
		p.list(o)
	case o.isCall(trace.Client, "tools/list"):
		for name := range p.refused {
			o.Pass("HEADER-PARAM-REFRESH", trace.Client)
			delete(p.refused, name)
		}
	case o.is(schemas.Request) && o.From() == trace.Client:
		p.request(o)
	case o.is(schemas.Result, schemas.Error) && o.From() == trace.Server && o.Request != nil:
		p.answer(o)
	case o.End:
		clear(p.calls)
	}
}

func (p *paramRule) list(o *Observation) {
	raw, _ := schemas.Member(o.Message.Result, "tools")
	var list []struct {
		Name        string          `json:"name"`
		InputSchema json.RawMessage `json:"inputSchema"`
	}
	if json.Unmarshal(raw, &list) != nil {
		return
	}
	for _, t := range list {
		known := p.tools[t.Name]
		if known == nil && (!strings.Contains(string(t.InputSchema), `"x-mcp-header"`) || len(p.tools) >= mostTools) {
			continue
		}
		given := sha256.Sum256(t.InputSchema)
		switch {
		case known == nil:
			_, found := o.toolSchema(schemas.Input, t.InputSchema)
			broken, _ := splitAnnotations(found)
			known = &annotated{given: given, params: mirroredParams(t.InputSchema, nil, 0), invalid: len(broken) > 0}
			p.tools[t.Name] = known
			p.offered = p.offered || known.invalid
		case known.given != given:
			known.changed = true
		}
	}
}

// deepest bounds the nesting of properties that is looked into.
const deepest = 64

// mirroredParams finds the annotations that properties alone lead to.
func mirroredParams(schema json.RawMessage, path []string, depth int) []mirroredParam {
	raw, _ := schemas.Member(schema, "properties")
	var properties map[string]json.RawMessage
	if depth > deepest || json.Unmarshal(raw, &properties) != nil {
		return nil
	}
	var out []mirroredParam
	for name, property := range properties {
		at := append(path[:len(path):len(path)], name)
		if header := textParam(property, "x-mcp-header"); header != "" {
			out = append(out, mirroredParam{"Mcp-Param-" + header, at})
		}
		out = append(out, mirroredParams(property, at, depth+1)...)
	}
	return out
}

// request judges the client, and notes what the server may make of it.
func (p *paramRule) request(o *Observation) {
	m := &mirroring{}
	for _, h := range headersOf(o) {
		if h.encoded && h.present && h.inBody && isEncoded(h.value) {
			m.encoded = m.encoded || h.matches()
		}
	}
	if o.Message.Method == "tools/call" {
		p.call(o, m)
	}
	if *m != (mirroring{}) && o.Request != nil && len(p.calls) < remembered {
		p.calls[o.Request] = m
	}
}

func (p *paramRule) call(o *Observation, m *mirroring) {
	name := textParam(o.Message.Params, "name")
	arguments, _ := o.param("arguments")
	digest := sha256.Sum256(arguments)
	if refused, ok := p.refused[name]; ok && refused == digest {
		delete(p.refused, name)
		o.Fail("HEADER-PARAM-REFRESH", trace.Client, Fault{
			Detail: "a call that was refused for its headers is repeated without listing the tools", Want: "tools/list", Got: "tools/call of " + clip(name),
		})
	}
	t := p.tools[name]
	switch {
	case t == nil:
		if p.offered {
			o.Pass("HEADER-PARAM-INVALID-TOOL", trace.Client)
		}
	case t.changed:
		m.unclear = true
	case t.invalid:
		m.unclear = true
		o.Fail("HEADER-PARAM-INVALID-TOOL", trace.Client, Fault{
			Detail: "a tool is called whose header annotations are invalid", Want: "the tool left out of the list", Got: "tools/call of " + clip(name),
		})
	default:
		for _, param := range t.params {
			value, ok := schemas.Member(arguments, param.path...)
			p.param(o, m, param, value, ok)
		}
	}
}

// param judges one header against one argument.
func (p *paramRule) param(o *Observation, m *mirroring, param mirroredParam, value json.RawMessage, given bool) {
	header, present := o.Exchange.header(param.header)
	if !given || string(value) == "null" {
		o.Check(!present, "HEADER-PARAM-OMITTED", trace.Client, Fault{
			Detail: "there is a header for an argument that has no value", Want: "no " + param.header, Got: clip(header),
		})
		m.absent, m.unclear = m.absent || !present, m.unclear || present
		return
	}
	body, ok := headerText(value)
	if !ok || body == "" && !present { // no type that may be mirrored; HTTP stacks drop empty headers
		m.unclear = true
		return
	}
	if value[0] != '"' && body[0] != 't' && body[0] != 'f' {
		n, err := strconv.ParseFloat(body, 64)
		exact := err == nil && math.Abs(n) <= 1<<53-1
		m.unclear = m.unclear || !exact
		o.Check(exact, "HEADER-PARAM-SAFE-INTEGER", trace.Client, Fault{
			Detail: "an integer that goes into a header is not safe", Want: "-(2^53-1) to 2^53-1", Got: clip(body),
		})
	}
	if !present {
		m.missing = true
		o.Fail("HEADER-PARAM", trace.Client, Fault{
			Detail: "an argument is not mirrored into its header", Want: param.header + ": " + clip(body), Got: "absent",
		})
		return
	}
	p.compare(o, m, param.header, header, body, value[0] == '"')
}

func (p *paramRule) compare(o *Observation, m *mirroring, name, header, body string, isText bool) {
	if !safe(header) {
		m.invalid = true
	}
	if !encodedRightly(o, name, header, body) {
		m.differs = m.differs || !m.invalid
		return
	}
	decoded, ok := decodeSentinel(header)
	if !ok {
		m.invalid = true
	}
	same := ok && decoded == body
	if !same && !isText && ok {
		a, err1 := strconv.ParseFloat(decoded, 64)
		b, err2 := strconv.ParseFloat(body, 64)
		if same = err1 == nil && err2 == nil && a == b; same {
			m.loose = true
		}
	}
	m.encoded = m.encoded || same && isEncoded(header)
	m.differs = m.differs || !same && ok && !m.invalid
	o.Check(same, "HEADER-PARAM", trace.Client, Fault{
		Detail: "a header differs from the argument that it mirrors", Want: name + ": " + clip(body), Got: clip(header),
	})
}

// headerText returns an argument as it goes into a header (value encoding, type
// conversion); false for types that cannot be mirrored.
func headerText(value json.RawMessage) (string, bool) {
	switch value[0] {
	case '"':
		var s string
		err := json.Unmarshal(value, &s)
		return s, err == nil
	case 't', 'f':
		return string(value), true
	case '{', '[', 'n':
		return "", false
	}
	n, err := strconv.ParseFloat(string(value), 64)
	return string(value), err == nil && n == math.Trunc(n)
}

// isEncoded reports whether a header value has the form of an encoded one.
func isEncoded(v string) bool {
	return len(v) >= len("=?base64??=") && strings.HasPrefix(v, "=?base64?") && strings.HasSuffix(v, "?=")
}

// safe reports whether a value can stand in a header as it is: visible ASCII,
// spaces and tabs, and no white space at an end.
func safe(v string) bool {
	return strings.Trim(v, " \t") == v && !strings.ContainsFunc(v, func(r rune) bool { return r < ' ' && r != '\t' || r > '~' })
}

// encodedRightly judges whether a value is encoded where it has to be, and in the right
// way (2026-07-28 streamable-http, value encoding). Encoding what need not be is
// no fault. It reports whether the value is left to be compared.
func encodedRightly(o *Observation, name, header, body string) bool {
	fault := Fault{Want: name + ": =?base64?" + base64.StdEncoding.EncodeToString([]byte(clip(body))) + "?=", Got: clip(header)}
	if lower, ok := markersInLower(header); ok && header != body && !isEncoded(header) {
		if decoded, _ := decodeSentinel(lower); decoded == body {
			fault.Detail = "the markers of an encoded header are not in lower case"
			o.Fail("HEADER-ENCODED-MARKERS", trace.Client, fault)
			return false
		}
	}
	if isEncoded(header) && header != body {
		o.Pass("HEADER-ENCODED-MARKERS", trace.Client)
	}
	switch {
	case !safe(body):
		fault.Detail = "a value that cannot stand in a header as it is is not encoded"
		o.Check(isEncoded(header), "HEADER-ENCODED", trace.Client, fault)
		return isEncoded(header)
	case isEncoded(body):
		fault.Detail = "a value that looks like an encoded one is not encoded"
		o.Check(header != body, "HEADER-ENCODED-LITERAL", trace.Client, fault)
		return header != body
	}
	return true
}

// markersInLower returns an encoded value with its markers in lower case.
func markersInLower(v string) (string, bool) {
	const begin, end = "=?base64?", "?="
	if len(v) < len(begin)+len(end) || !utf8.ValidString(v) || !strings.EqualFold(v[:len(begin)], begin) || !strings.HasSuffix(v, end) {
		return v, false
	}
	return begin + v[len(begin):], true
}

// answer judges what the server makes of headers that are wrong, and of those
// that are right but odd. With other faults in the request the order is open.
func (p *paramRule) answer(o *Observation) {
	r := o.Request
	m := p.calls[r]
	delete(p.calls, r)
	f := r.faults
	if o.Earlier != nil || o.Exchange.find(r.Key) != r || f.missing || f.differs || f.meta || f.version || f.other {
		return
	}
	refused := o.is(schemas.Error) && o.errorCode() == "-32020"
	if name := textParam(r.Params, "name"); refused && r.Method == "tools/call" && name != "" && len(p.refused) < remembered {
		arguments, _ := schemas.Member(r.Params, "arguments")
		p.refused[name] = sha256.Sum256(arguments)
	}
	switch {
	case m == nil || m.unclear:
	case m.missing || m.differs || m.invalid:
		p.wrong(o, m, refused)
	case refused:
		p.refusal(o, m)
	default:
		p.accepted(o, m)
	}
}

// wrong judges the answer to a call with a wrong header. An error of another
// kind may have come first.
func (p *paramRule) wrong(o *Observation, m *mirroring, refused bool) {
	requirement, detail := "", ""
	switch {
	case m.missing && !m.differs && !m.invalid:
		requirement, detail = "HEADER-PARAM-MISSING-REJECTED", "a call is accepted that has no header for an argument"
	case m.differs && !m.missing && !m.invalid:
		requirement, detail = "HEADER-PARAM-MISMATCH-REJECTED", "a call is accepted whose header differs from the argument"
	case m.invalid && !m.missing && !m.differs:
		requirement, detail = "HEADER-PARAM-INVALID-REJECTED", "a call is accepted whose header has invalid characters"
	default:
		return
	}
	status := o.Exchange.status()
	switch {
	case refused && status != 0 && !gatewayStatus(status):
		o.Check(status == 400, requirement, trace.Server, Fault{
			Detail: "the error on a header does not come with status 400", Want: "status 400", Got: "status " + strconv.Itoa(status),
		})
	case o.is(schemas.Result):
		o.Fail(requirement, trace.Server, Fault{Detail: detail, Want: "status 400 and error -32020", Got: "status " + strconv.Itoa(status) + " and a result"})
	}
}

// refusal judges error -32020 for a request whose headers are right.
func (p *paramRule) refusal(o *Observation, m *mirroring) {
	f := Fault{Want: "no error on headers", Got: "error -32020"}
	switch {
	case m.loose:
		f.Detail = "a header is refused that has the same integer in another form"
		o.Fail("HEADER-PARAM-NUMERIC", trace.Server, f)
	case m.encoded:
		f.Detail = "a request is refused for a header that is encoded"
		o.Fail("HEADER-DECODED", trace.Server, f)
	case m.absent:
		f.Detail = "a call is refused that has no header for an argument without value"
		o.Fail("HEADER-PARAM-NOT-EXPECTED", trace.Server, f)
	}
}

func (p *paramRule) accepted(o *Observation, m *mirroring) {
	if !o.is(schemas.Result) {
		return
	}
	if m.loose {
		o.Pass("HEADER-PARAM-NUMERIC", trace.Server)
	}
	if m.encoded {
		o.Pass("HEADER-DECODED", trace.Server)
	}
	if m.absent {
		o.Pass("HEADER-PARAM-NOT-EXPECTED", trace.Server)
	}
}
