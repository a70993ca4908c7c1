package peer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"unicode/utf8"
)

// obj is a JSON object under construction. Maps are marshalled with sorted
// keys, so that what the peer says is deterministic.
type obj = map[string]any

// The error codes in use. -32002 was the code for a missing resource up to
// 2025-11-25; 2026-07-28 forbids it and uses -32602.
const (
	codeParse             = -32700
	codeInvalidRequest    = -32600
	codeMethodNotFound    = -32601
	codeInvalidParams     = -32602
	codeInternal          = -32603
	codeNoResource        = -32002
	codeHeaderMismatch    = -32020
	codeMissingCapability = -32021
	codeVersion           = -32022
)

// rpcError is a JSON-RPC error, with the HTTP status that the specification
// gives it; 0 means that it gives none and 200 is sent.
type rpcError struct {
	code    int
	message string
	data    any
	status  int
}

func (e *rpcError) Error() string { return fmt.Sprintf("error %d: %s", e.code, e.message) }

func (e *rpcError) object() obj {
	o := obj{"code": e.code, "message": e.message}
	if e.data != nil {
		o["data"] = e.data
	}
	return o
}

func invalidParams(format string, args ...any) *rpcError {
	return &rpcError{code: codeInvalidParams, message: fmt.Sprintf(format, args...)}
}

// packet is one message as received.
type packet struct {
	id        json.RawMessage // nil when absent or unusable
	method    string
	params    fields
	hasParams bool
	result    json.RawMessage
	err       json.RawMessage
	batch     []packet
	isBatch   bool
	bad       *rpcError // why it cannot be processed
}

func (p *packet) isRequest() bool      { return p.method != "" && p.id != nil }
func (p *packet) isNotification() bool { return p.method != "" && p.id == nil }
func (p *packet) isResponse() bool {
	return p.method == "" && p.bad == nil && (p.result != nil || p.err != nil)
}

// fields is a JSON object as received, member by member: names compare exactly,
// which encoding/json does not do for structs.
type fields map[string]json.RawMessage

func parseFields(raw json.RawMessage) (fields, bool) {
	var f fields
	if len(bytes.TrimSpace(raw)) == 0 || bytes.TrimSpace(raw)[0] != '{' || json.Unmarshal(raw, &f) != nil {
		return nil, false
	}
	return f, true
}

// text returns the string member of that name.
func (f fields) text(name string) (string, bool) {
	raw, ok := f[name]
	if !ok || len(raw) == 0 || raw[0] != '"' {
		return "", false
	}
	var s string
	return s, json.Unmarshal(raw, &s) == nil
}

// object returns the object member of that name.
func (f fields) object(name string) (fields, bool) {
	return parseFields(f[name])
}

// value returns the member decoded, or nil when it is absent.
func (f fields) value(name string) any {
	var v any
	if raw, ok := f[name]; ok {
		_ = json.Unmarshal(raw, &v) // the whole was parsed before
	}
	return v
}

var integerToken = regexp.MustCompile(`^-?(0|[1-9][0-9]*)$`)

// parse reads one message and says in packet.bad what is wrong with it. It is
// as strict as the specification: UTF-8, one JSON value, an object with
// jsonrpc "2.0", an id that is a string or an integer (basic/index Messages).
func parse(data []byte) packet {
	if !utf8.Valid(data) || !json.Valid(data) {
		return packet{bad: &rpcError{code: codeParse, message: "this is not JSON in UTF-8"}}
	}
	data = bytes.TrimSpace(data)
	if data[0] == '[' {
		return parseBatch(data)
	}
	f, ok := parseFields(data)
	if !ok {
		return packet{bad: &rpcError{code: codeInvalidRequest, message: "a message is a JSON object"}}
	}
	var p packet
	p.id, p.bad = readID(f)
	if v, _ := f.text("jsonrpc"); p.bad == nil && v != "2.0" {
		p.bad = &rpcError{code: codeInvalidRequest, message: `jsonrpc must be "2.0"`}
	}
	p.result, p.err = f["result"], f["error"]
	if raw, ok := f["method"]; ok {
		p.readCall(f, raw)
	} else if p.bad == nil && (p.result == nil) == (p.err == nil) {
		p.bad = &rpcError{code: codeInvalidRequest, message: "neither a request, a notification nor a response"}
		if p.result != nil {
			p.id = nil // it names a request of ours: an error under it would answer one of theirs
		}
	}
	return p
}

func readID(f fields) (json.RawMessage, *rpcError) {
	raw, ok := f["id"]
	switch {
	case !ok:
		return nil, nil
	case raw[0] == '"', integerToken.Match(raw):
		return raw, nil
	}
	return nil, &rpcError{code: codeInvalidRequest, message: "an id is a string or an integer"}
}

func (p *packet) readCall(f fields, method json.RawMessage) {
	name, _ := f.text("method")
	raw, has := f["params"]
	var ok bool
	p.params, ok = parseFields(raw)
	p.hasParams = has
	switch {
	case p.bad != nil:
	case name == "" || p.result != nil || p.err != nil:
		p.bad = &rpcError{code: codeInvalidRequest, message: fmt.Sprintf("method %s: not a request", method)}
	case has && !ok:
		p.bad = invalidParams("params must be an object")
	}
	p.method = name
}

func parseBatch(data []byte) packet {
	var raws []json.RawMessage
	_ = json.Unmarshal(data, &raws) // valid JSON that begins with a bracket
	p := packet{isBatch: true}
	for _, raw := range raws {
		m := parse(raw)
		if m.isBatch {
			m = packet{bad: &rpcError{code: codeInvalidRequest, message: "an array inside a batch"}}
		}
		p.batch = append(p.batch, m)
	}
	if len(p.batch) == 0 {
		p.bad = &rpcError{code: codeInvalidRequest, message: "an empty batch"}
	}
	return p
}

// request, notification, answer and failure build the four kinds of message.
func request(id any, method string, params obj) obj {
	m := obj{"jsonrpc": "2.0", "id": id, "method": method}
	if params != nil {
		m["params"] = params
	}
	return m
}

func notification(method string, params obj) obj {
	m := obj{"jsonrpc": "2.0", "method": method}
	if params != nil {
		m["params"] = params
	}
	return m
}

func answer(id json.RawMessage, result obj) obj {
	return obj{"jsonrpc": "2.0", "id": id, "result": result}
}

// failure omits the id when the request's could not be read
// (2025-11-25 basic/index Error Responses).
func failure(id json.RawMessage, e *rpcError) obj {
	m := obj{"jsonrpc": "2.0", "error": e.object()}
	if id != nil {
		m["id"] = id
	}
	return m
}

// encode marshals what the peer built itself. HTML characters stay as they are.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(fmt.Sprintf("peer: encoding its own message: %v", err)) // only maps, slices, strings, numbers
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
