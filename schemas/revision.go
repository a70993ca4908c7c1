// Package schemas says what a message looks like in each revision of the Model
// Context Protocol.
//
// It classifies JSON-RPC messages by their keys, keeps what parsers hide
// (number text, duplicate keys, invalid UTF-8), and validates messages and
// single definitions against the schema of a revision, as published or as
// intended (see errata.yaml beside each schema).
//
//	set, err := schemas.Load(schemas.Options{})
//	vs := set.Validate(schemas.R20251125, "Tool", []byte(`{"name":"add"}`))
//	// vs[0]: /inputSchema, want object, got absent
//
// It does not judge conversations: order, ids and headers belong to package
// conformance.
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
