package schemas

import "encoding/json"

// Kind is the kind of a JSON-RPC message, decided by its keys alone.
type Kind int

// The kinds. Classification never looks at a schema: validating against the
// published unions would accept nearly everything.
const (
	Invalid      Kind = iota // not JSON, not an object or array, or an object that fits no kind
	Request                  // method and id, whatever else there is
	Notification             // method, no id, whatever else there is
	Result                   // result and id, no method, no error
	Error                    // error, no method
	Batch                    // an array (2025-03-26 only)
)

// Message is one classified message. Raw parts are verbatim.
type Message struct {
	Kind   Kind
	Raw    json.RawMessage
	ID     json.RawMessage // the token as written; nil when absent
	Method string
	Params json.RawMessage // nil when absent
	Result json.RawMessage
	Error  json.RawMessage
	Batch  []Message // members, when Kind is Batch
	// Problems are faults of the text or the envelope: what a parser would hide
	// and what the keys contradict.
	Problems []Problem
}

// Problem is one fault of a message's text or envelope.
type Problem struct {
	Code    ProblemCode
	Pointer string // JSON Pointer of the place, "" for the whole
	Offset  int    // byte offset in Raw
	Detail  string
}

// ProblemCode names a kind of fault.
type ProblemCode string

// The faults that Classify can see. Those marked "notice" break no rule of JSON
// or of JSON-RPC by themselves: parsers merely treat them differently.
const (
	NotJSON          ProblemCode = "not-json"
	NotObject        ProblemCode = "not-object"
	DuplicateKey     ProblemCode = "duplicate-key"
	InvalidUTF8      ProblemCode = "invalid-utf8"
	ByteOrderMark    ProblemCode = "bom"
	LoneSurrogate    ProblemCode = "lone-surrogate"
	NUL              ProblemCode = "nul"            // notice: an escaped NUL; a raw one is not-json
	TooDeep          ProblemCode = "too-deep"       // notice: deeper than 512 levels
	UnsafeInteger    ProblemCode = "unsafe-integer" // notice: beyond 2^53 in magnitude
	HugeNumber       ProblemCode = "huge-number"    // notice: an exponent that no double holds
	FloatInteger     ProblemCode = "float-integer"  // notice: 1.0 where 1 is meant (id, error code, progress token)
	MissingVersion   ProblemCode = "missing-jsonrpc"
	WrongVersion     ProblemCode = "wrong-jsonrpc"
	NullID           ProblemCode = "null-id"    // on requests and results; an error may carry null when the id was unreadable
	MissingID        ProblemCode = "missing-id" // a result without id
	BadID            ProblemCode = "bad-id"     // fraction, boolean, array, object
	ResultAndError   ProblemCode = "result-and-error"
	MethodAndOutcome ProblemCode = "method-and-outcome"
	BadMethod        ProblemCode = "bad-method" // not a string
	BadParams        ProblemCode = "bad-params" // not an object
	BadError         ProblemCode = "bad-error"  // error without integer code and string message
	EmptyBatch       ProblemCode = "empty-batch"
	NoKind           ProblemCode = "no-kind" // neither method nor result nor error
)

// String returns the name of the kind, such as "request".
func (k Kind) String() string {
	switch k {
	case Request:
		return "request"
	case Notification:
		return "notification"
	case Result:
		return "result"
	case Error:
		return "error"
	case Batch:
		return "batch"
	}
	return "invalid"
}

// Notice reports whether a fault of this code is legal JSON and legal JSON-RPC
// that deserves a remark at most.
func (c ProblemCode) Notice() bool {
	switch c {
	case NUL, TooDeep, UnsafeInteger, HugeNumber, FloatInteger:
		return true
	}
	return false
}
