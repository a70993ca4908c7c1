// Package runner holds scripted conversations with a target: it starts or
// reaches it, speaks each revision over each transport that the target offers,
// runs scenarios over package wire, and hands everything that happened to the
// judge of package conformance.
//
// The harness never uses an MCP SDK, so it can always say what an SDK would
// refuse to say. Its own traffic is judged too and must be clean.
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
}

// Offer is one way of speaking to a target.
type Offer struct {
	Revision  schemas.Revision
	Transport trace.Transport
}

// Result is what came of one scenario under one offer.
type Result struct {
	Scenario string
	Offer    Offer
	Verdict  conformance.Verdict
	Reason   string // why it is untested or n/a, or what failed
	Seconds  float64
	Harness  error // the harness's own fault; never a verdict
}

// Outcome is what came of a run.
type Outcome struct {
	Subject Subject
	Offers  []Offer // those that the target really speaks
	Ledger  *conformance.Ledger
	Results []Result
	Harness []error
}

// Subject says who was judged, as far as it said so itself.
type Subject struct {
	Role      trace.Side
	Name      string
	Version   string
	Transport trace.Transport
	Where     string // command or URL, secrets masked
}
