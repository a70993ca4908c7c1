// Package reports shows what a run or a check found.
//
// [Report] is a versioned JSON document; every other format is a pure function
// of it, so that a saved result can be rendered, compared and merged later:
//
//	r := reports.New(reports.Input{…})
//	reports.Text(os.Stdout, r, reports.TextOptions{})
//	reports.JUnit(file, r)
//
// The package judges nothing. It folds the ledger of package conformance into
// scores, and says with each figure what a reader may conclude from it.
package reports

import (
	_ "embed"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

// Format and Version open every report document. Version grows when a field
// changes its meaning or goes; new fields do not change it.
const (
	Format  = "mcp-conform-report"
	Version = 1
)

// Schema is the JSON Schema (2020-12) of the report document.
//
//go:embed report.schema.json
var Schema []byte

// Report is what is known about one subject.
type Report struct {
	Format  string  `json:"format"`
	Version int     `json:"version"`
	Tool    string  `json:"tool"` // name and version of the program that judged
	Subject Subject `json:"subject"`
	// Scores has one entry for each revision and role that was judged. A revision
	// that is absent was not offered by the subject, or was not asked for.
	Scores []Score `json:"scores"`
	// Refused lists the ways of speaking that the subject was asked for and does
	// not speak. That is no failure: no server has to speak every revision.
	Refused []Refusal `json:"refused"`
	// Requirements has one entry for each requirement, revision and side. Those
	// that do not apply are left out.
	Requirements []Requirement `json:"requirements"`
	// Scenarios says what was tried. It is no measure of conformance: that is Scores.
	Scenarios []Scenario `json:"scenarios"`
	// Harness lists what went wrong on our side. A report with entries here may
	// be incomplete, but what it says was still seen.
	Harness []string `json:"harness"`
}

// Subject is who was judged.
type Subject struct {
	Role      string          `json:"role"` // "server", "client", or "both" when a capture was judged
	Name      string          `json:"name"` // as the subject calls itself; "" when it never said
	Version   string          `json:"version"`
	Transport trace.Transport `json:"transport"`         // "" when several were used
	Command   string          `json:"command,omitempty"` // secrets masked
	URL       string          `json:"url,omitempty"`     // secrets masked
	Peer      string          `json:"peer,omitempty"`    // role "both": name and version of the client beside the server
}

// Score is the result for one revision and role.
type Score struct {
	Revision schemas.Revision `json:"revision"`
	Role     trace.Side       `json:"role"`
	// Verdict is "conforms", "incomplete" (nothing failed, but a core MUST was
	// not judged, or Harness has entries), "does not conform", or "untested" (nothing was judged at all).
	Verdict conformance.Standing `json:"verdict"`
	Must    Count                `json:"must"`   // MUST and MUST NOT
	Should  Count                `json:"should"` // SHOULD and SHOULD NOT; never part of the verdict
	// Missing names the core MUSTs that were not judged: those that keep an
	// otherwise clean score from "conforms".
	Missing []string `json:"missing"`
}

// Refusal is a revision that the subject does not speak over a transport.
type Refusal struct {
	Revision  schemas.Revision `json:"revision"`
	Transport trace.Transport  `json:"transport"`
	Reason    string           `json:"reason"` // how that showed
}

// Count counts requirements, not checks: one that failed once in a thousand
// messages has failed.
type Count struct {
	Passed     int `json:"passed"`
	Failed     int `json:"failed"`
	Untested   int `json:"untested"`   // applicable, but nothing on the wire exercised it
	Applicable int `json:"applicable"` // passed + failed + untested
}

// Judged is how many requirements have a verdict.
func (c Count) Judged() int { return c.Passed + c.Failed }

// Requirement is the verdict on one requirement in one revision.
type Requirement struct {
	ID       string              `json:"id"`
	Revision schemas.Revision    `json:"revision"`
	Level    conformance.Level   `json:"level"`
	Binds    conformance.Binds   `json:"binds"`
	Side     trace.Side          `json:"side"` // the side judged here: tells the two entries of binds "both" apart
	Area     string              `json:"area"`
	Text     string              `json:"text"`
	Link     string              `json:"link"`               // to the published specification
	Disputed string              `json:"disputed,omitempty"` // the text reads two ways (link): reported, never scored
	Core     bool                `json:"core"`               // demanded of everybody, whatever was declared
	Verdict  conformance.Verdict `json:"verdict"`
	Reason   string              `json:"reason,omitempty"` // why it is untested
	Passes   int                 `json:"passes"`           // how often it was seen to hold
	Findings []Finding           `json:"findings"`
}

// Finding is one way in which a requirement was seen to be broken.
type Finding struct {
	Detail    string          `json:"detail"`
	Want      string          `json:"want,omitempty"`
	Got       string          `json:"got,omitempty"`
	Event     int64           `json:"event,omitempty"` // position in the trace, 0 when something is missing
	Wire      string          `json:"wire,omitempty"`  // excerpt of that event, secrets masked
	Scenario  string          `json:"scenario,omitempty"`
	Transport trace.Transport `json:"transport,omitempty"`
	Cause     string          `json:"cause,omitempty"` // the requirement whose failure explains this one
	Fix       string          `json:"fix,omitempty"`
	Count     int             `json:"count"` // how often it was seen
	// More says where else it was seen: the next few places.
	More []Place `json:"more,omitempty"`
	// Consequences are failures that this one explains. They do not count.
	Consequences []Consequence `json:"consequences,omitempty"`
}

// Place is where a finding was seen again.
type Place struct {
	Event    int64  `json:"event,omitempty"`
	Scenario string `json:"scenario,omitempty"`
}

// Consequence is a failure that another finding explains.
type Consequence struct {
	Requirement string `json:"requirement"`
	Detail      string `json:"detail"`
	Count       int    `json:"count"`
}

// Scenario is one scripted conversation under one offer.
type Scenario struct {
	ID        string              `json:"id"`
	File      string              `json:"file,omitempty"`
	Revision  schemas.Revision    `json:"revision"`
	Transport trace.Transport     `json:"transport"`
	Verdict   conformance.Verdict `json:"verdict"`
	Seconds   float64             `json:"seconds"`
	Reason    string              `json:"reason,omitempty"`
}

// Failed counts the failed requirements, causes only.
func (r *Report) Failed() (must, should int) {
	for _, s := range r.Scores {
		must += s.Must.Failed
		should += s.Should.Failed
	}
	return must, should
}

// Judged counts the requirements that have a verdict, over all scores. A report
// that judged nothing says nothing, and must not be taken for a good one.
func (r *Report) Judged() int {
	n := 0
	for _, s := range r.Scores {
		n += s.Must.Judged() + s.Should.Judged()
	}
	return n
}
