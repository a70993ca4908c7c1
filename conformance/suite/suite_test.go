package suite_test

import (
	"testing"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"

	"github.com/mcp-conform/mcp-conform/conformance/suite"
	"github.com/mcp-conform/mcp-conform/runner"
	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

// The reference server in all revisions, over both transports.
var _ = suite.Describe(suite.Config{Target: server()})

func TestSpecs(t *testing.T) {
	gomega.RegisterFailHandler(ginkgo.Fail)
	ginkgo.RunSpecs(t, "the reference server")
}

func TestSubtests(t *testing.T) {
	suite.Test(t, suite.Config{Target: server(), Revisions: []schemas.Revision{schemas.R20251125}})
}

func server() runner.Target { return runner.Target{Role: trace.Server, Builtin: true} }
