package peer

import (
	"context"
	"encoding/base64"
	"fmt"
	"math/big"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

// postStateless takes a POST of 2026-07-28 (basic/transports/streamable-http).
func (s *Server) postStateless(w http.ResponseWriter, r *http.Request, p packet) {
	h := head{status: 202, rev: schemas.R20260728, verb: r.Method, re: p.method, name: nameIn(p)}
	switch {
	case p.isBatch:
		s.refuseHTTP(w, r, 400, &p, noBatch())
	case p.bad != nil:
		s.refuseHTTP(w, r, 400, &p, p.bad)
	case p.isResponse():
		s.refuseHTTP(w, r, 400, nil, &rpcError{code: codeInvalidRequest, message: "a client sends no responses"})
	case p.isNotification():
		s.send(w, h)
	default:
		for _, check := range s.headerChecks() {
			if e := check(r, p); e != nil {
				s.refuseHTTP(w, r, e.status, &p, s.namingVersions(p, e))
				return
			}
		}
		s.runStateless(w, r, p, h)
	}
}

// runStateless answers a request. That the client leaves cancels it
// (2026-07-28 basic/transports/streamable-http Cancellation).
func (s *Server) runStateless(w http.ResponseWriter, r *http.Request, p packet, h head) {
	st := newStream("", false)
	c := s.newStateless(s.ctx, p, trace.StreamableHTTP, st)
	c.header = r.Header
	stop := context.AfterFunc(r.Context(), func() { c.cancel(errCancelled) })
	defer stop()
	c.start(s.ending(st, h))
	s.deliver(w, r, nil, st, h)
}

// headerCheck refuses a request whose headers and body do not say the same.
type headerCheck func(*http.Request, packet) *rpcError

// headerChecks are made in this order; the specification leaves the order open.
func (s *Server) headerChecks() []headerCheck {
	return []headerCheck{
		func(_ *http.Request, p packet) *rpcError { return s.checkMeta(p) },
		s.checkVersionHeader,
		func(_ *http.Request, p packet) *rpcError { return s.checkVersion(p) },
		s.checkMethodHeader,
		s.checkNameHeader,
	}
}

func mismatch(format string, args ...any) *rpcError {
	return &rpcError{code: codeHeaderMismatch, message: fmt.Sprintf(format, args...), status: 400}
}

func (s *Server) checkVersionHeader(r *http.Request, p packet) *rpcError {
	meta, _ := p.params.object("_meta")
	v, has := meta.text(keyVersion)
	if !has {
		return nil // only where a fault has let it through
	}
	return s.compareHeader(r, headerVersion, v, false)
}

func (s *Server) checkMethodHeader(r *http.Request, p packet) *rpcError {
	return s.compareHeader(r, headerMethod, p.method, false)
}

// checkNameHeader: a request that lacks the name itself is left to the method,
// which has the better error.
func (s *Server) checkNameHeader(r *http.Request, p packet) *rpcError {
	key, ok := map[string]string{"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}[p.method]
	if !ok {
		return nil
	}
	name, has := p.params.text(key)
	if !has && len(r.Header.Values(headerName)) == 0 {
		return nil
	}
	return s.compareHeader(r, headerName, name, true)
}

// compareHeader compares a header with a value of the body; encoded says that
// the header may use the Base64 form.
func (s *Server) compareHeader(r *http.Request, name, want string, encoded bool) *rpcError {
	vs := r.Header.Values(name)
	if len(vs) == 0 && s.broken("missing-header-accepted") {
		return nil
	}
	if len(vs) != 1 {
		return mismatch("the header %s must be there once", name)
	}
	got, ok := vs[0], true
	if encoded {
		got, ok = s.decode(vs[0])
	}
	if (!ok || got != want) && !s.broken("header-mismatch-accepted") {
		return mismatch("the header %s does not match the body", name)
	}
	return nil
}

// The marks of a header value that is Base64 of UTF-8 (Value Encoding).
const (
	base64Begin = "=?base64?"
	base64End   = "?="
)

// decode reads a header value that may be encoded.
func (s *Server) decode(v string) (string, bool) {
	if s.broken("encoded-header-refused") {
		return v, true
	}
	return decodeHeader(v)
}

// decodeHeader reads a header value; false means invalid characters or Base64.
func decodeHeader(v string) (string, bool) {
	for i := range len(v) {
		if (v[i] < 0x20 && v[i] != '\t') || v[i] > 0x7e {
			return "", false
		}
	}
	body, ok := strings.CutPrefix(v, base64Begin)
	if !ok {
		return v, true
	}
	if body, ok = strings.CutSuffix(body, base64End); !ok {
		return v, true // not the full form: a literal
	}
	data, err := base64.StdEncoding.Strict().DecodeString(body)
	return string(data), err == nil && utf8.Valid(data)
}

// encodeHeader writes a value so that decodeHeader gives it back.
func encodeHeader(v string) string {
	plain := strings.Trim(v, " \t") == v && !(strings.HasPrefix(v, base64Begin) && strings.HasSuffix(v, base64End))
	for i := range len(v) {
		plain = plain && (v[i] >= 0x20 || v[i] == '\t') && v[i] <= 0x7e
	}
	if plain {
		return v
	}
	return base64Begin + base64.StdEncoding.EncodeToString([]byte(v)) + base64End
}

// paramHeader is one argument that is mirrored into a header.
type paramHeader struct {
	name string   // of the header
	path []string // of property names
	kind string   // the property's type
}

// paramHeaders finds the x-mcp-header annotations of an input schema: those
// reached by properties alone (2026-07-28 server/tools x-mcp-header).
func paramHeaders(schema obj) []paramHeader {
	var hs []paramHeader
	props, _ := schema["properties"].(obj)
	for k, v := range props {
		p, _ := v.(obj)
		if n, ok := p["x-mcp-header"].(string); ok {
			kind, _ := p["type"].(string)
			hs = append(hs, paramHeader{name: headerParam + n, path: []string{k}, kind: kind})
		}
		for _, h := range paramHeaders(p) {
			h.path = append([]string{k}, h.path...)
			hs = append(hs, h)
		}
	}
	slices.SortFunc(hs, func(a, b paramHeader) int { return strings.Compare(a.name, b.name) })
	return hs
}

// value is the argument at the header's path, nil when absent or null.
func (h paramHeader) value(args obj) any {
	var v any = args
	for _, k := range h.path {
		m, _ := v.(obj)
		v = m[k]
	}
	return v
}

// checkParamHeaders compares mirrored arguments with their headers; an argument
// that is absent or null expects none.
func (c *call) checkParamHeaders(t tool, args obj) *rpcError {
	if c.header == nil || c.srv.broken("param-header-unchecked") {
		return nil
	}
	schema, _ := t.Tool["inputSchema"].(obj)
	for _, h := range paramHeaders(schema) {
		want := h.value(args)
		vs := c.header.Values(h.name)
		if want == nil && !c.srv.broken("param-header-expected") {
			continue
		}
		if len(vs) != 1 {
			return mismatch("the header %s must be there once", h.name)
		}
		got, ok := c.srv.decode(vs[0])
		if !ok || !sameValue(got, want) || c.srv.broken("param-header-compared-as-text") && strings.HasSuffix(got, ".0") {
			return mismatch("the header %s does not match the argument", h.name)
		}
	}
	return nil
}

// sameValue compares a header's text with an argument; numbers by value, so that
// 42 and 42.0 are the same.
func sameValue(got string, want any) bool {
	text, ok := want.(string)
	if !ok {
		text = string(encode(want))
	}
	if _, isNumber := want.(float64); isNumber {
		a, ok1 := new(big.Rat).SetString(got)
		b, ok2 := new(big.Rat).SetString(text)
		return ok1 && ok2 && a.Cmp(b) == 0
	}
	return got == text
}

// badHeaders says why the header annotations of an input schema are invalid, ""
// if they are not (2026-07-28 streamable-http Schema Extension).
func badHeaders(schema obj) string {
	seen := map[string]bool{}
	for _, h := range paramHeaders(schema) {
		name := strings.TrimPrefix(h.name, headerParam)
		switch {
		case name == "" || strings.ContainsFunc(name, notToken):
			return fmt.Sprintf("%q is no header name", name)
		case seen[strings.ToLower(name)]:
			return fmt.Sprintf("the header %s is used twice", name)
		case h.kind != "string" && h.kind != "integer" && h.kind != "boolean":
			return fmt.Sprintf("the header %s is of a property that is no string, integer or boolean", name)
		}
		seen[strings.ToLower(name)] = true
	}
	if annotations(schema) != len(seen) {
		return "a header is annotated where properties alone do not lead, or is no string"
	}
	return ""
}

// annotations counts the x-mcp-header keys anywhere in a schema.
func annotations(v any) int {
	n := 0
	switch v := v.(type) {
	case obj:
		for k, child := range v {
			if props, ok := child.(obj); ok && k == "properties" {
				for _, p := range props { // a property may itself be called x-mcp-header
					n += annotations(p)
				}
				continue
			}
			if k == "x-mcp-header" {
				n++
			}
			n += annotations(child)
		}
	case []any:
		for _, child := range v {
			n += annotations(child)
		}
	}
	return n
}

// notToken reports whether a character may not stand in a header name (RFC 9110
// section 5.6.2).
func notToken(c rune) bool {
	return c > '~' || c <= ' ' || strings.ContainsRune("\"(),/:;<=>?@[\\]{}", c)
}
