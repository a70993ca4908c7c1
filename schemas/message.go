package schemas

import "encoding/json"

// Kind is the kind of a JSON-RPC message, decided by its keys alone.
type Kind int

// The kinds. Classification never looks at a schema: validating against the
// published unions would accept nearly everything.
const (
	Invalid      Kind = iota // not JSON, not an object or array, or an object that fits no kind
	Request                  // method and id
	Notification             // method, no id
	Result                   // result and id, no method
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

// The faults that Classify can see.
const (
	NotJSON          ProblemCode = "not-json"
	NotObject        ProblemCode = "not-object"
	DuplicateKey     ProblemCode = "duplicate-key"
	InvalidUTF8      ProblemCode = "invalid-utf8"
	ByteOrderMark    ProblemCode = "bom"
	LoneSurrogate    ProblemCode = "lone-surrogate"
	TooDeep          ProblemCode = "too-deep"
	UnsafeInteger    ProblemCode = "unsafe-integer" // beyond 2^53 in magnitude
	FloatInteger     ProblemCode = "float-integer"  // 1.0 where 1 is meant
	MissingVersion   ProblemCode = "missing-jsonrpc"
	WrongVersion     ProblemCode = "wrong-jsonrpc"
	NullID           ProblemCode = "null-id"
	BadID            ProblemCode = "bad-id" // fraction, boolean, array, object
	ResultAndError   ProblemCode = "result-and-error"
	MethodAndOutcome ProblemCode = "method-and-outcome"
	BadMethod        ProblemCode = "bad-method" // not a string
	BadParams        ProblemCode = "bad-params" // not an object
	BadError         ProblemCode = "bad-error"  // error without integer code and string message
	EmptyBatch       ProblemCode = "empty-batch"
	NoKind           ProblemCode = "no-kind" // neither method nor result nor error
)
