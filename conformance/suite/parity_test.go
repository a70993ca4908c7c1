package suite_test

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/onsi/ginkgo/v2/types"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/runner"
	"github.com/mcp-conform/mcp-conform/scenarios"
	"github.com/mcp-conform/mcp-conform/schemas"
)

// told maps the names of cases to passed, failed or skipped.
type told map[string]string

// Ginkgo, plain testing and the engine itself say the same of the same peer.
func TestParity(t *testing.T) {
	for name, faults := range map[string]string{
		"the reference server":           "",
		"a server with two of its rules": "missing-jsonrpc unknown-method-code",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			engine := byEngine(t, faults)
			_, specs := byGinkgo(t, faultsOf+"="+faults)
			compare(t, "ginkgo", engine, verdicts(specs))
			compare(t, "testing", engine, bySubtests(t, faultsOf+"="+faults))
			failed := slices.Contains(slices.Collect(maps.Values(engine)), "failed")
			if want := faults != ""; failed != want {
				t.Errorf("something failed: %v, want %v", failed, want)
			}
		})
	}
}

func compare(t *testing.T, by string, want, got told) {
	t.Helper()
	for name, v := range want {
		if got[name] != v {
			t.Errorf("%s: the engine says %s, %s says %q", name, v, by, got[name])
		}
	}
	for name, v := range got {
		if want[name] == "" {
			t.Errorf("%s: %s says %s, the engine knows no such case", name, by, v)
		}
	}
}

// byEngine runs the engine without the suite.
func byEngine(t *testing.T, faults string) told {
	t.Helper()
	all, err := scenarios.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	catalogue, err := conformance.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	set, err := schemas.Load(schemas.Options{})
	if err != nil {
		t.Fatal(err)
	}
	target := config().Target
	target.Faults = strings.Fields(faults)
	out, err := runner.Run(t.Context(), runner.Options{Target: target, Scenarios: all, Catalogue: catalogue, Schemas: set})
	if err != nil {
		t.Fatal(err)
	}
	say := map[conformance.Verdict]string{
		conformance.Pass: "passed", conformance.Fail: "failed", conformance.Untested: "skipped", conformance.NotApplicable: "skipped",
	}
	got := told{"requirements": "passed"}
	for _, r := range out.Results {
		got[string(r.Offer.Revision)+"/"+string(r.Offer.Transport)+"/"+r.Scenario] = say[r.Verdict]
	}
	if len(out.Ledger.Findings()) > 0 {
		got["requirements"] = "failed"
	}
	return got
}

// again runs one test of this binary in a process of its own.
func again(t *testing.T, test string, env []string, args ...string) (output string, passed bool) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], append([]string{"-test.run=^" + test + "$", "-ginkgo.no-color"}, args...)...)
	cmd.Env = append(append(os.Environ(), guest+"=1"), env...)
	out, err := cmd.CombinedOutput()
	return string(out), err == nil
}

// byGinkgo returns whether the specs passed, and what became of each.
func byGinkgo(t *testing.T, env ...string) (bool, types.SpecReports) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "report.json")
	out, passed := again(t, "TestSpecs", env, "-ginkgo.json-report="+file)
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var reports []types.Report
	if err := json.Unmarshal(data, &reports); err != nil || len(reports) != 1 {
		t.Fatalf("%d reports (%v)\n%s", len(reports), err, out)
	}
	return passed, reports[0].SpecReports.WithLeafNodeType(types.NodeTypeIt)
}

func verdicts(specs types.SpecReports) told {
	got := told{}
	for _, s := range specs {
		got[s.LeafNodeText] = s.State.String()
	}
	return got
}

var line = regexp.MustCompile(`(?m)^    --- (PASS|FAIL|SKIP): TestSubtests/(\S+) `)

func bySubtests(t *testing.T, env ...string) told {
	t.Helper()
	out, _ := again(t, "TestSubtests", env, "-test.v")
	got := told{}
	for _, m := range line.FindAllStringSubmatch(out, -1) {
		got[m[2]] = map[string]string{"PASS": "passed", "FAIL": "failed", "SKIP": "skipped"}[m[1]]
	}
	return got
}

// What the reference server is not asked has a reason, and it is this one: it
// speaks revisions with a handshake, too.
func TestReferenceServerIsAskedEverything(t *testing.T) {
	_, specs := byGinkgo(t)
	for _, s := range specs.WithState(types.SpecStateSkipped) {
		if !strings.HasPrefix(s.Failure.Message, "n/a: the server speaks, or may speak, revisions with a handshake as well") {
			t.Errorf("%s was skipped: %s", s.LeafNodeText, s.Failure.Message)
		}
	}
}

// The text of a failure is all that is needed to understand it.
func TestFailureStandsAlone(t *testing.T) {
	passed, specs := byGinkgo(t, faultsOf+"=unknown-method-code", scenariosFrom+"=envelope.unknown-method")
	if passed {
		t.Error("the suite passed")
	}
	for _, s := range specs {
		want := []string{
			"FAIL  envelope.unknown-method  2025-06-18  stdio  scenarios/envelope/unknown-method.yaml:",
			"ERROR-METHOD-NOT-FOUND (", "want  ", "-32601", "got   -32603", `wire  <- {`, `"code":-32603`,
			"spec  https://modelcontextprotocol.io/specification/2025-06-18/",
		}
		switch s.LeafNodeText {
		case "2025-06-18/stdio/envelope.unknown-method":
			if got := s.Labels(); !slices.Equal(got, []string{"envelope", "2025-06-18", "stdio"}) {
				t.Errorf("the labels are %q", got)
			}
			if got := s.LeafNodeLocation.String(); got != "scenarios/envelope/unknown-method.yaml:1" {
				t.Errorf("the location is %s", got)
			}
		case "requirements":
			want = append(want, "2025-11-25  stdio", "2025-03-26  streamable-http")
		default:
			continue
		}
		for _, part := range want {
			if !strings.Contains(s.Failure.Message, part) {
				t.Errorf("%s: %q is missing in\n%s", s.LeafNodeText, part, s.Failure.Message)
			}
		}
	}
	if !strings.Contains(passedLabels(specs), "requirements") {
		t.Error("there is no spec labelled requirements")
	}
}

func passedLabels(specs types.SpecReports) string {
	var all []string
	for _, s := range specs {
		all = append(all, s.Labels()...)
	}
	return strings.Join(all, " ")
}

// Nothing is green when nothing was judged.
func TestNothingToJudge(t *testing.T) {
	for name, c := range map[string]struct{ env, want string }{
		"no such command":           {commandOf + "=/nonexistent/server", "/nonexistent/server"},
		"no such scenario":          {scenariosFrom + "=tools.lost", "did you mean tools.list"},
		"no such fault of the peer": {faultsOf + "=never-heard-of", "never-heard-of"},
	} {
		t.Run(name, func(t *testing.T) {
			passed, specs := byGinkgo(t, c.env)
			if passed || len(specs.WithState(types.SpecStatePassed)) > 0 {
				t.Errorf("the suite passed: %v, with %d specs", passed, len(specs.WithState(types.SpecStatePassed)))
			}
			said := false
			for _, s := range specs {
				said = said || strings.Contains(s.Failure.Message, c.want)
			}
			if !said {
				t.Errorf("no spec says %q", c.want)
			}
			out, passed := again(t, "TestSubtests", []string{c.env})
			if passed || !strings.Contains(out, c.want) {
				t.Errorf("plain testing passed: %v, and said\n%s", passed, out)
			}
		})
	}
}
