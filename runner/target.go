// Package runner holds scripted conversations with a target: it starts or
// reaches it, speaks each revision over each transport that the target offers,
// runs scenarios over package wire, and hands everything that happened to the
// judge of package conformance.
//
//	out, err := runner.Run(ctx, runner.Options{
//		Target:    runner.Target{Role: trace.Server, Command: []string{"my-server"}},
//		Scenarios: all,
//		Catalogue: catalogue,
//		Schemas:   set,
//	})
//	score := out.Ledger.Score(schemas.R20251125, trace.Server)
//
// The harness never uses an MCP SDK, so it can always say what an SDK would
// refuse to say. Its own traffic is judged too and must be clean: what the judge
// holds against it, unless a scenario broke the rule on purpose, is an error of
// the harness and never a verdict.
//
// # Who answers what
//
// A conversation awaits some requests of the peer; all others are answered by
// manners, so that no peer is left waiting. What every message of a revision has
// to carry is added by dress. Both are one function per era.
//
// # Time
//
// Nothing sleeps: a step ends when what it awaits has come, or can no longer
// come (the exchange or the connection has ended), or its time is over. Times
// follow the pace of the target and are scaled by one factor, the patience. An
// event that did not come is awaited once more, on a new connection and with
// twice the patience, before its absence counts.
package runner

import (
	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

// Target is what is judged: how to start or reach it.
type Target struct {
	Role trace.Side // the side under test
	// Command starts the target. A server is spoken to over its pipes, unless
	// URL is set: then the command is started and the URL awaited. A client is
	// told where to connect by placeholders or by its last argument.
	Command []string
	Env     []string // added to the environment
	Dir     string
	URL     string
	// Transport forces one; "" means: pipes for a command, Streamable HTTP for a URL.
	Transport trace.Transport
	Header    map[string]string // sent with every HTTP request
	// Builtin is the reference peer of this project, in this process: then
	// Command and URL are empty.
	Builtin bool
	// Bridge is the command that a client under test starts over stdio in place of
	// a server: it runs [wire.Bridge] with the two arguments that are appended,
	// address and token. nil means this executable with the argument "bridge".
	Bridge []string
	// Faults are named faults of the built-in peer.
	Faults []string
	// Only are the revisions that the built-in server speaks, nil for all.
	Only []schemas.Revision
}

// Offer is one way of speaking to a target.
type Offer struct {
	Revision  schemas.Revision
	Transport trace.Transport
}

// Refusal is a way of speaking that the target has not, and how that showed.
type Refusal struct {
	Offer
	Reason string
}

// Result is what came of one scenario under one offer.
type Result struct {
	Scenario string
	Offer    Offer
	Verdict  conformance.Verdict
	Reason   string // why it is untested or n/a, or what failed
	// Findings is what failed in this conversation, the scenario's own checks and
	// what rules found; the first of each kind, and of a flood the first few. It
	// is complete in an [Outcome], not yet in [Progress].
	Findings []conformance.Evidence
	Seconds  float64
	Harness  error // the harness's own fault; never a verdict
}

// Outcome is what came of a run.
type Outcome struct {
	Subject Subject
	Offers  []Offer   // those that the target really speaks
	Refused []Refusal // those that it was asked for and does not speak
	Ledger  *conformance.Ledger
	Results []Result // by scenario, revision and transport
	Harness []error
}

// Subject says who was judged, as far as it said so itself.
type Subject struct {
	Role      trace.Side
	Name      string
	Version   string
	Transport trace.Transport // the first of the offers'
	Where     string          // command or URL, secrets masked
}
