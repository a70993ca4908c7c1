package conformance_test

import (
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/scenarios"
)

// What the catalogue says is judged by scenarios is named by one, and what a
// scenario names is said to be.
func TestCatalogueAndScenariosAgree(t *testing.T) {
	c, err := conformance.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	all, err := scenarios.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for _, s := range all {
		for _, id := range s.Requirements() {
			named[id] = true
		}
	}
	for _, err := range c.LintScenarios(named) {
		t.Error(err)
	}
}
