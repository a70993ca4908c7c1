package schemas

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
)

// ValidateMessage checks a classified message against the definitions that its
// method calls for, never against a union.
//
// A request or notification is judged by its method; a response by the method
// of paired, the request that it answers. With paired nil, only the envelope of
// a response is judged. For a request, paired may be the result that asked for
// input: each of the request's inputResponses is then judged by the
// inputRequest of the same key.
//
// Of a method that the revision does not have, the envelope alone is judged:
// whether it may be used is no question of form. An Invalid message has no
// form: its Problems say all. Each member of a batch is judged by itself; to
// pair them with their requests, call ValidateMessage on the members.
func (s *Set) ValidateMessage(rev Revision, m *Message, paired *Message) []Violation {
	v := verdict{set: s, rev: rev}
	if m.Kind == Invalid {
		return nil
	}
	if m.Kind == Batch {
		v.batch(m)
		return tidy(v.found)
	}
	value, err := decodeJSON(m.Raw)
	if err != nil { // deeper than the decoder goes, or a byte order mark
		if value, err = decodeJSON(bytes.TrimPrefix(m.Raw, []byte("\xEF\xBB\xBF"))); err != nil {
			return []Violation{{Keyword: "json", Want: "a message that can be read", Got: err.Error()}}
		}
	}
	v.value, _ = value.(map[string]any)
	switch m.Kind {
	case Request, Notification:
		v.call(m, paired)
	case Result:
		v.result(m, paired)
	case Error:
		v.failure(m)
	}
	return tidy(v.found)
}

// verdict collects the violations of one message.
type verdict struct {
	set   *Set
	rev   Revision
	value map[string]any // the message
	found []Violation
}

// intended reports whether the text of the specification is judged, not only
// the published schema.
func (v *verdict) intended() bool { return !v.set.options.AsPublished }

// check validates one part of the message against one definition.
func (v *verdict) check(schema Revision, definition, pointer string, part any) {
	if definition == "" {
		return
	}
	vs, err := v.set.ValidateValue(schema, definition, part)
	if err != nil {
		vs = []Violation{{Definition: definition, Keyword: "schema", Want: "something that can be validated", Got: err.Error()}}
	}
	v.add(pointer, vs)
}

func (v *verdict) add(pointer string, vs []Violation) {
	for _, one := range vs {
		one.Pointer = pointer + one.Pointer
		v.found = append(v.found, one)
	}
}

// params returns the params of the message, nil if they are no object.
func (v *verdict) params() map[string]any {
	p, _ := v.value["params"].(map[string]any)
	return p
}

// call judges a request or a notification.
func (v *verdict) call(m, paired *Message) {
	method, known := LookupMethod(v.rev, m.Method)
	envelope := "JSONRPCRequest"
	if known && method.Kind == Notification || !known && m.Kind == Notification {
		envelope = "JSONRPCNotification"
	}
	if !known || !v.carriesEnvelope(method, m) {
		v.check(v.rev, envelope, "", v.value)
	}
	if !known {
		return
	}
	v.check(method.Schema, method.Definition, "", v.value)
	if method.Extension != "" && m.Kind == Request && v.intended() {
		v.extensionMeta(method)
	}
	if paired != nil && paired.Kind == Result && v.intended() {
		v.inputResponses(paired)
	}
}

// carriesEnvelope reports whether the definition of a method says all that the
// envelope's would. Since 2025-11-25 definitions have jsonrpc and id of their
// own, embedded ones never; before that they have them as intended (L4). What
// no typed definition forbids are members that contradict the method (L2).
func (v *verdict) carriesEnvelope(method Method, m *Message) bool {
	if method.Embedded || v.rev < R20251125 {
		return v.intended() && !method.Embedded
	}
	contradicts := m.Result != nil || m.Error != nil || m.ID != nil && method.Kind == Notification
	return !v.intended() || !contradicts
}

// extensionMeta demands of an extension's request what every request of
// 2026-07-28 carries: the schema of the tasks extension leaves _meta out (L8).
func (v *verdict) extensionMeta(method Method) {
	meta, ok := v.params()["_meta"]
	if !ok {
		v.found = append(v.found, Violation{
			Pointer: "/params/_meta", Definition: method.Definition, Keyword: "required", Erratum: "L8",
			Want: "a RequestMetaObject", Got: "absent",
		})
		return
	}
	before := len(v.found)
	v.check(v.rev, "RequestMetaObject", "/params/_meta", meta)
	for i := range v.found[before:] {
		v.found[before+i].Erratum = "L8"
	}
}

// inputResponses judges each response by the request of its key
// (2026-07-28 basic/patterns/mrtr, L14). A response that nobody asked for is
// ignored by its receiver, so it is not judged.
func (v *verdict) inputResponses(asked *Message) {
	responses, _ := v.params()["inputResponses"].(map[string]any)
	for key, response := range responses {
		name, ok := Member(asked.Result, "inputRequests", key, "method")
		if !ok {
			continue
		}
		requested, _ := text(name)
		method, known := LookupMethod(v.rev, requested)
		if !known {
			continue
		}
		before := len(v.found)
		v.check(method.Schema, method.Result, "/params/inputResponses/"+escapePointer(key), response)
		for i := range v.found[before:] {
			v.found[before+i].Erratum = "L14"
		}
	}
}

// result judges a successful response.
func (v *verdict) result(m, paired *Message) {
	v.check(v.rev, v.envelopeOf(Result), "", v.value)
	if paired == nil || paired.Kind != Request {
		return
	}
	method, known := LookupMethod(v.rev, paired.Method)
	if !known || method.Result == "" {
		return
	}
	schema, definition := v.resultDefinition(method, m, paired)
	v.check(schema, definition, "/result", v.value["result"])
}

// resultDefinition picks the definition of a result.
func (v *verdict) resultDefinition(method Method, m, paired *Message) (Revision, string) {
	if v.rev == R20251125 && v.isTask(method, m, paired) {
		return v.rev, "CreateTaskResult"
	}
	if v.rev.Stateless() {
		if raw, ok := Member(m.Result, "resultType"); ok {
			return v.byResultType(method, raw, paired)
		}
	}
	return method.Schema, method.Result
}

// isTask tells a created task from the result itself. 2025-11-25 has no
// discriminator (L42): only a request with a task parameter is answered by a
// task, and a receiver without the capability ignores the parameter
// (basic/utilities/tasks).
func (v *verdict) isTask(method Method, m, paired *Message) bool {
	if !slices.Contains([]string{"tools/call", "sampling/createMessage", "elicitation/create"}, method.Name) {
		return false
	}
	_, asked := Member(paired.Params, "task")
	_, given := Member(m.Result, "task")
	return asked && given
}

// byResultType is the dispatch of 2026-07-28 (basic/index, ResultType): the
// core has "complete" and "input_required", the tasks extension adds "task",
// and extensions that we do not know may add more.
func (v *verdict) byResultType(method Method, raw json.RawMessage, paired *Message) (Revision, string) {
	switch kind, _ := text(raw); {
	case kind == "input_required":
		if v.intended() && !slices.Contains([]string{"tools/call", "prompts/get", "resources/read"}, method.Name) && method.Extension == "" {
			v.found = append(v.found, Violation{
				Pointer: "/result/resultType", Definition: method.Result, Keyword: "resultType", Erratum: "L10",
				Want: `"complete": ` + method.Name + " cannot ask for input", Got: gotRaw(raw),
			})
		}
		return v.rev, "InputRequiredResult"
	case kind == "task" && method.Name == "tools/call":
		return Tasks, "CreateTaskResult"
	case kind != "complete" && declaresUnknownExtension(paired):
		return v.rev, "Result"
	}
	return method.Schema, method.Result
}

// declaresUnknownExtension reports whether the client of a request declared an
// extension whose results we cannot know.
func declaresUnknownExtension(request *Message) bool {
	extensions, _ := Member(request.Params, "_meta", "io.modelcontextprotocol/clientCapabilities", "extensions")
	found := false
	part{raw: extensions}.each(func(id string, _ part) {
		found = found || id != tasksExtension
	})
	return found
}

// failure judges an error response, and the data of the errors that the
// revision defines.
func (v *verdict) failure(m *Message) {
	v.check(v.rev, v.envelopeOf(Error), "", v.value)
	code, _ := Member(m.Error, "code")
	if definition := errorDefinition(v.rev, string(code)); definition != "" {
		v.check(v.rev, definition, "", v.value)
	}
}

// errorDefinition names the definition of a whole error response by its code.
func errorDefinition(rev Revision, code string) string {
	switch {
	case rev == R20251125 && code == "-32042":
		return "URLElicitationRequiredError"
	case !rev.Stateless():
	case code == "-32020":
		return "HeaderMismatchError"
	case code == "-32021":
		return "MissingRequiredClientCapabilityError"
	case code == "-32022":
		return "UnsupportedProtocolVersionError"
	}
	return ""
}

// envelopeOf names the definition of a response's envelope, which changed with
// 2025-11-25.
func (v *verdict) envelopeOf(k Kind) string {
	switch {
	case k == Result && v.rev < R20251125:
		return "JSONRPCResponse"
	case k == Result:
		return "JSONRPCResultResponse"
	case v.rev < R20251125:
		return "JSONRPCError"
	default:
		return "JSONRPCErrorResponse"
	}
}

// batch judges an array: legal in 2025-03-26 alone, which has requests and
// notifications in one batch or responses in one batch, never both.
func (v *verdict) batch(m *Message) {
	if v.rev != R20250326 {
		v.found = append(v.found, Violation{
			Definition: "JSONRPCMessage", Keyword: "type", Want: "object", Got: "array",
		})
		return
	}
	calls, answers := 0, 0
	for i := range m.Batch {
		member := &m.Batch[i]
		if member.Kind == Result || member.Kind == Error {
			answers++
		} else {
			calls++
		}
		v.add("/"+strconv.Itoa(i), v.set.ValidateMessage(v.rev, member, nil))
	}
	if calls > 0 && answers > 0 {
		v.found = append(v.found, Violation{
			Definition: "JSONRPCMessage", Keyword: "anyOf",
			Want: "requests and notifications, or responses", Got: "both in one batch",
		})
	}
}

// gotRaw describes a raw value.
func gotRaw(raw json.RawMessage) string {
	v, err := decodeJSON(raw)
	if err != nil {
		return clip(string(raw))
	}
	return describe(v)
}
