// Package schemas says what a message looks like in each revision of the Model
// Context Protocol.
//
// # Messages
//
// [Classify] reads one JSON-RPC message. It decides the kind by the keys of the
// object alone, keeps every part as it was written, and reports with pointer
// and offset what parsers hide: duplicate keys, invalid UTF-8, lone surrogates,
// integers beyond 2^53, 1.0 where 1 is meant. [SameID] and [IDKey] compare ids
// exactly.
//
// [Set.ValidateMessage] judges a message by the definition that its method
// calls for. A response is judged by the method of the request that it answers,
// and since 2026-07-28 its resultType is read first. Nothing is ever validated
// against a union such as ServerResult: those accept nearly everything.
//
//	set, err := schemas.Load(schemas.Options{})
//	…
//	m := schemas.Classify(line)
//	for _, v := range set.ValidateMessage(schemas.R20251125, &m, request) {
//		fmt.Println(v) // /result/tools/0/inputSchema/type: want "object", got absent [Tool]
//	}
//
// # Definitions
//
// Each revision has a folder with schema.json, which says what the official
// schema says under the official names, and errata.yaml, which says where that
// and the text of the specification part (see [Erratum]). As intended is the
// default; [Options].AsPublished is the official schema to the letter. A
// [Violation] names the erratum without which it would be none.
// [Set.Validate] judges by one definition, [Set.Definitions] lists them, and
// [LookupMethod] and [Methods] say which method uses which.
//
// # Schemas in traffic
//
// Tools and elicitations send JSON Schemas of their own. [CompileToolSchema]
// reads one under its declared dialect, never fetches anything, and bounds what
// it does; the [ToolSchema] then judges arguments and results.
//
// # What it is not for
//
// It does not judge conversations: order, pairing and headers belong to package
// conformance, and so do levels. A violation here is a fact about one message.
package schemas

import "fmt"

// Revision is a protocol revision as it appears on the wire: a date, so that
// revisions compare as strings.
type Revision string

// The revisions that are alive.
const (
	R20241105 Revision = "2024-11-05"
	R20250326 Revision = "2025-03-26"
	R20250618 Revision = "2025-06-18"
	R20251125 Revision = "2025-11-25"
	R20260728 Revision = "2026-07-28"
)

// Latest is the newest revision.
const Latest = R20260728

// Revisions lists the revisions from the oldest to the newest.
func Revisions() []Revision {
	return []Revision{R20241105, R20250326, R20250618, R20251125, R20260728}
}

// ParseRevision returns the revision that s names; the error lists those that exist.
func ParseRevision(s string) (Revision, error) {
	for _, r := range Revisions() {
		if string(r) == s {
			return r, nil
		}
	}
	return "", fmt.Errorf("unknown revision %q: the revisions are %v", s, Revisions())
}

// Stateless reports whether the revision is of the modern era: no handshake and
// no session, each request carries its version and capabilities
// (2026-07-28 basic/versioning). The earlier ones open a session by initialize.
func (r Revision) Stateless() bool { return r >= R20260728 }

// In reports whether r lies in [since, until); an empty bound is open.
func (r Revision) In(since, until Revision) bool {
	return (since == "" || r >= since) && (until == "" || r < until)
}
