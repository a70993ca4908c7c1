package conformance

import (
	"strings"

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
	// Occasion names what a party has to do before the demand arises, when it may
	// as well never do it: "progress is told". Untested then leaves a score
	// complete.
	Occasion string
	Judged   Judged
	Why      string // why it cannot be judged, when Judged is No
	Disputed string // link to the open issue when the text reads two ways: reported, never scored
	Fix      string // a hint for whoever fails it
	File     string
	Line     int
}

// Clause is the place of a demand in one revision.
type Clause struct {
	Level Level
	At    string   // page below the revision's specification, with anchor: "basic/transports#stdio"
	SHA   []string // the sentences it restates: first 12 hex digits of their SHA-256
	// Binds, when set, takes the place of the requirement's in this revision:
	// since 2026-07-28 only clients send requests and only servers respond.
	Binds Binds
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
	// BindsAuthorizationServer is for what authorization servers have to do. They
	// are no side of an MCP conversation, so that no trace of one judges them and
	// neither a client's nor a server's score counts them.
	BindsAuthorizationServer Binds = "authorization-server"
)

func (b Binds) known() bool {
	return b == BindsClient || b == BindsServer || b == BindsBoth || b == BindsAuthorizationServer
}

// On reports whether the demand binds side s.
func (b Binds) On(s trace.Side) bool { return b == BindsBoth || string(b) == string(s) }

// BindsIn reports whether the demand stands in revision r and binds side s there.
func (q *Requirement) BindsIn(r schemas.Revision, s trace.Side) bool {
	c, ok := q.In[r]
	if c.Binds != "" {
		return ok && c.Binds.On(s)
	}
	return ok && q.Binds.On(s)
}

// Open reports whether nothing judges the demand yet although something could:
// its why says what.
func (q *Requirement) Open() bool { return q.Judged == No && strings.HasPrefix(q.Why, "open:") }

// Core reports whether the demand arises in every conversation over its transport.
func (q *Requirement) Core() bool { return q.When == nil && q.Occasion == "" && q.Judged != No }

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
