package conformance

import (
	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

// Requirement is one demand of the specification, in our words.
type Requirement struct {
	ID    string // upper-case words joined by hyphens, never changed once published
	Area  string // the catalogue file it stands in, such as "stdio"
	Text  string // one sentence
	Binds Binds
	// In has one clause for each revision in which the demand stands.
	In map[schemas.Revision]Clause
	// When names what must be declared for the demand to apply; nil means core.
	When *Condition
	// Transports limits the demand; empty means every transport.
	Transports []trace.Transport
	Judged     Judged
	Why        string // why it cannot be judged, when Judged is No
	Disputed   string // link to the open issue when the text reads two ways: reported, never scored
	Fix        string // a hint for whoever fails it
	File       string
	Line       int
}

// Clause is the place of a demand in one revision.
type Clause struct {
	Level Level
	At    string   // page below the revision's specification, with anchor: "basic/transports#stdio"
	SHA   []string // the sentences it restates: first 12 hex digits of their SHA-256
}

// Link returns the published address of the clause.
func (c Clause) Link(r schemas.Revision) string {
	return "https://modelcontextprotocol.io/specification/" + string(r) + "/" + c.At
}

// Binds says who has to fulfil a requirement.
type Binds string

// The parties that a requirement can bind.
const (
	BindsClient Binds = "client"
	BindsServer Binds = "server"
	BindsBoth   Binds = "both"
)

// On reports whether the demand binds side s.
func (b Binds) On(s trace.Side) bool { return b == BindsBoth || string(b) == string(s) }

// Condition is the capability that makes a requirement apply, as a dotted path
// into the capabilities of one side: {Server: "resources.subscribe"}.
type Condition struct {
	Server string
	Client string
}

// Judged says by what a requirement can be judged.
type Judged string

// The ways of judging.
const (
	ByTrace    Judged = "trace"
	ByScenario Judged = "scenario"
	ByBoth     Judged = "both"
	No         Judged = "no"
)
