package schemas

import (
	"encoding/json"
	"slices"
	"strconv"
)

// ValidateMessage checks a classified message against the definitions that its
// method calls for, never against a union. A request or notification is judged
// by its method, a response by the method of paired, the request that it
// answers; with paired nil only its envelope is judged. So is the envelope
// alone of a method that the revision does not have: whether such a method may
// be used is no question of form. An Invalid message has no form: its Problems
// say all. Each member of a batch is judged by itself; pair them with their
// requests by calling ValidateMessage on the members.
func (s *Set) ValidateMessage(rev Revision, m *Message, paired *Message) []Violation {
	v := verdict{set: s, rev: rev}
	switch m.Kind {
	case Request, Notification:
		v.call(m)
	case Result:
		v.result(m, paired)
	case Error:
		v.failure(m)
	case Batch:
		v.batch(m)
	}
	return tidy(v.found)
}

// verdict collects the violations of one message.
type verdict struct {
	set   *Set
	rev   Revision
	found []Violation
}

// intended reports whether the text of the specification is judged, not only
// the published schema.
func (v *verdict) intended() bool { return !v.set.options.AsPublished }

// check validates one part of the message against one definition.
func (v *verdict) check(schema Revision, definition, pointer string, part json.RawMessage) {
	if definition == "" {
		return
	}
	vs, err := v.set.Validate(schema, definition, part)
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

// call judges a request or a notification.
func (v *verdict) call(m *Message) {
	method, known := LookupMethod(v.rev, m.Method)
	envelope := "JSONRPCRequest"
	if known && method.Kind == Notification || !known && m.Kind == Notification {
		envelope = "JSONRPCNotification"
	}
	// Definitions of calls carry the envelope themselves since 2025-11-25;
	// embedded ones never do (protocol errata L4).
	if !known || v.rev < R20251125 || method.Embedded {
		v.check(v.rev, envelope, "", m.Raw)
	}
	if !known {
		return
	}
	v.check(method.Schema, method.Definition, "", m.Raw)
	if v.intended() && m.Kind == Request && method.Kind == Notification {
		v.found = append(v.found, Violation{
			Pointer: "/id", Definition: method.Definition, Keyword: "id", Erratum: "L2",
			Want: "no id: " + m.Method + " is a notification", Got: gotRaw(m.ID),
		})
	}
	if v.rev.Stateless() && m.Kind == Request {
		// The answers to embedded requests are judged with their requests: see InputResponses.
		v.tasksMeta(method, m)
	}
}

// tasksMeta demands of the requests of the tasks extension what every request
// of 2026-07-28 carries: its schema leaves _meta out (L8).
func (v *verdict) tasksMeta(method Method, m *Message) {
	if !v.intended() || method.Extension == "" {
		return
	}
	meta, ok := Member(m.Params, "_meta")
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

// result judges a successful response.
func (v *verdict) result(m, paired *Message) {
	v.check(v.rev, v.envelopeOf(Result), "", m.Raw)
	if paired == nil || paired.Method == "" {
		return
	}
	method, known := LookupMethod(v.rev, paired.Method)
	if !known || method.Result == "" {
		return
	}
	schema, definition := v.resultDefinition(method, m, paired)
	v.check(schema, definition, "/result", m.Result)
}

// resultDefinition picks the definition of a result.
func (v *verdict) resultDefinition(method Method, m, paired *Message) (Revision, string) {
	if v.rev == R20251125 {
		// No discriminator in 2025-11-25: a request that asks for a task is
		// answered by one (basic/utilities/tasks, L42).
		if _, asTask := Member(paired.Params, "task"); asTask && slices.Contains([]string{"tools/call", "sampling/createMessage", "elicitation/create"}, method.Name) {
			return v.rev, "CreateTaskResult"
		}
	}
	if v.rev.Stateless() {
		if raw, ok := Member(m.Result, "resultType"); ok {
			return v.byResultType(method, raw)
		}
	}
	return method.Schema, method.Result
}

// byResultType is the dispatch of 2026-07-28 (basic/index, ResultType): the
// core has "complete" and "input_required", the tasks extension adds "task".
func (v *verdict) byResultType(method Method, raw json.RawMessage) (Revision, string) {
	kind, _ := text(raw)
	switch kind {
	case "input_required":
		if v.intended() && !slices.Contains([]string{"tools/call", "prompts/get", "resources/read"}, method.Name) {
			v.found = append(v.found, Violation{
				Pointer: "/result/resultType", Definition: method.Result, Keyword: "resultType", Erratum: "L10",
				Want: `"complete": ` + method.Name + " cannot ask for input", Got: gotRaw(raw),
			})
		}
		return v.rev, "InputRequiredResult"
	case "task":
		if method.Name == "tools/call" {
			return Tasks, "CreateTaskResult"
		}
	}
	return method.Schema, method.Result
}

// failure judges an error response, and the data of the errors that the
// revision defines.
func (v *verdict) failure(m *Message) {
	v.check(v.rev, v.envelopeOf(Error), "", m.Raw)
	code, _ := Member(m.Error, "code")
	if definition := errorDefinition(v.rev, string(code)); definition != "" {
		v.check(v.rev, definition, "", m.Raw)
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
