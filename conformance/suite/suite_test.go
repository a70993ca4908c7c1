package suite_test

import (
	"os"
	"strings"
	"testing"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"

	"github.com/mcp-conform/mcp-conform/conformance/suite"
	"github.com/mcp-conform/mcp-conform/runner"
	"github.com/mcp-conform/mcp-conform/scenarios"
	"github.com/mcp-conform/mcp-conform/trace"
)

// The reference server in all revisions, over both transports.
var _ = suite.Describe(config())

func TestSpecs(t *testing.T) {
	gomega.RegisterFailHandler(ginkgo.Fail)
	ginkgo.RunSpecs(t, "the reference server")
}

func TestSubtests(t *testing.T) {
	c := config()
	if os.Getenv(guest) == "" {
		c.Transports = []trace.Transport{trace.Stdio} // TestSpecs holds all the others
	}
	suite.Test(t, c)
}

// The two tests above are also run by the tests of this package, in a process of
// their own, against targets that do not pass. These variables tell them which.
const (
	guest         = "MCP_CONFORM_TEST_GUEST"
	faultsOf      = "MCP_CONFORM_TEST_FAULTS"
	commandOf     = "MCP_CONFORM_TEST_COMMAND"
	scenariosFrom = "MCP_CONFORM_TEST_SCENARIOS"
)

func config() suite.Config {
	c := suite.Config{Target: runner.Target{Role: trace.Server, Builtin: true}, Should: true}
	c.Target.Faults = strings.Fields(os.Getenv(faultsOf))
	if command := os.Getenv(commandOf); command != "" {
		c.Target = runner.Target{Role: trace.Server, Command: []string{command}}
	}
	c.Scenarios = scenarios.Filter{IDs: strings.Fields(os.Getenv(scenariosFrom))}
	return c
}
