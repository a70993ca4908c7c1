package suite

import (
	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/ginkgo/v2/types"

	"github.com/mcp-conform/mcp-conform/runner"
)

// Describe registers an ordered container with one spec a case, to be called
// while the tree is built:
//
//	var _ = suite.Describe(suite.Config{…})
//
// The text of a spec is the name of its case ("2025-11-25/stdio/tools.list");
// its labels are the scenario's area, the revision and the transport, so that
// --label-filter='tools && 2025-11-25' works; its location is the file of the
// scenario, so that --focus-file=tools/list does. The last spec, labelled
// "requirements", is the view over all conversations. A config that makes no
// sense becomes a single spec that fails with what is wrong.
func Describe(c Config) bool {
	const text = "Model Context Protocol"
	p, err := newPlan(c)
	if err != nil {
		return ginkgo.Describe(text, ginkgo.Offset(1), func() {
			ginkgo.It("can be configured", func() { ginkgo.Fail(err.Error()) })
		})
	}
	return ginkgo.Describe(text, ginkgo.Offset(1), ginkgo.Ordered, ginkgo.ContinueOnFailure, func() {
		ginkgo.BeforeAll(func(ctx ginkgo.SpecContext) {
			if err := p.run(ctx); err != nil {
				ginkgo.Fail(err.Error())
			}
		})
		for _, c := range p.cases {
			at := types.CodeLocation{FileName: c.Scenario.File, LineNumber: 1}
			ginkgo.It(c.String(), at, labels(c), func() {
				if r := p.results[c.String()]; r != nil {
					ginkgo.AddReportEntry("seconds", r.Seconds, ginkgo.ReportEntryVisibilityNever)
				}
				p.tell(c).spec()
			})
		}
		ginkgo.It(requirements, ginkgo.Label(requirements), func() { p.requirements().spec() })
	})
}

func labels(c runner.Case) ginkgo.Labels {
	return ginkgo.Label(c.Scenario.Area(), string(c.Offer.Revision), string(c.Offer.Transport))
}

// spec says in a spec what there is to say.
func (x told) spec() {
	if x.note != "" {
		ginkgo.AddReportEntry("not counted", x.note, ginkgo.ReportEntryVisibilityFailureOrVerbose)
	}
	switch {
	case x.fail != "":
		ginkgo.Fail(x.fail, 1)
	case x.skip != "":
		ginkgo.Skip(x.skip, 1)
	}
}
