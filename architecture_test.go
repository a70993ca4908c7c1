// Package architecture is a test only: it pins which package may import which, so
// that the parts stay as separate as they are drawn.
package architecture

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// Imports run one way. Each layer is a folder with all below it, unless a deeper
// one is listed; it may import itself and the layers named behind it.
var layers = map[string][]string{
	"schemas":           {},
	"trace":             {},
	"conformance":       {"schemas", "trace"},
	"scenarios":         {"schemas", "trace", "conformance"},
	"runner":            {"schemas", "trace", "conformance", "scenarios"},
	"reports":           {"schemas", "trace", "conformance"},
	"internal/peer":     {"schemas", "trace"},
	"conformance/suite": {"schemas", "trace", "conformance", "scenarios", "runner", "reports"},
	"cmd":               {"schemas", "trace", "conformance", "scenarios", "runner", "reports", "internal/peer"},
}

// exceptions are single packages that import what their layer may not, each with
// the reason. One that is no longer needed has to go.
var exceptions = map[string]string{
	"trace/capture -> schemas": "other tools' captures do not say which lines are messages, nor of which side; classification tells",
	"runner -> internal/peer":  "the built-in target runs in this process",
}

// outside says who may import what from other modules.
var outside = map[string][]string{
	"github.com/onsi/ginkgo":                {"conformance/suite"},
	"github.com/onsi/gomega":                {"conformance/suite"},
	"github.com/santhosh-tekuri/jsonschema": {"schemas", "scenarios", "internal/peer"},
	"go.yaml.in/yaml":                       {"schemas", "conformance", "scenarios", "cmd"},
	"github.com/spf13/cobra":                {"cmd"},
	"github.com/spf13/pflag":                {"cmd"}, // the flags that cobra hands out
	"golang.org/x/term":                     {"cmd"},
}

const module = "github.com/mcp-conform/mcp-conform"

// listed is what `go list` says about a package. Imports and Deps leave out what
// only tests import.
type listed struct {
	ImportPath, Name string
	Imports, Deps    []string
}

func list(t *testing.T) []listed {
	t.Helper()
	text, err := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Name,Imports,Deps", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []listed
	for dec := json.NewDecoder(strings.NewReader(string(text))); ; {
		var p listed
		err := dec.Decode(&p)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// layerOf returns the deepest layer that holds a package of the module.
func layerOf(path string) string {
	best := ""
	for l := range layers {
		if (path == l || strings.HasPrefix(path, l+"/")) && len(l) > len(best) {
			best = l
		}
	}
	return best
}

// violation says what is wrong with an import, "" if nothing; by is the
// exception that allows it.
func violation(importer, imported string) (wrong, by string) {
	from := layerOf(importer)
	if path, ours := strings.CutPrefix(imported, module+"/"); ours {
		to := layerOf(path)
		if to == from || slices.Contains(layers[from], to) {
			return "", ""
		}
		edge := importer + " -> " + path
		if exceptions[edge] != "" {
			return "", edge
		}
		return edge + ": imports run one way, and " + from + " may not import " + to, ""
	}
	first, _, _ := strings.Cut(imported, "/")
	if !strings.Contains(first, ".") {
		return "", "" // the standard library
	}
	for prefix, who := range outside {
		if strings.HasPrefix(imported, prefix) && slices.Contains(who, from) {
			return "", ""
		}
	}
	return fmt.Sprintf("%s -> %s: this module's place is elsewhere, or it is not a dependency yet", importer, imported), ""
}

func TestImportsRunOneWay(t *testing.T) {
	used := map[string]bool{}
	populated := map[string]bool{}
	for _, p := range list(t) {
		importer := strings.TrimPrefix(p.ImportPath, module+"/")
		if p.ImportPath == module { // this test
			continue
		}
		if layerOf(importer) == "" {
			t.Errorf("%s belongs to no layer: say in this file where it stands", importer)
			continue
		}
		populated[layerOf(importer)] = true
		for _, imported := range p.Imports {
			wrong, by := violation(importer, imported)
			if wrong != "" {
				t.Error(wrong)
			}
			used[by] = true
		}
	}
	for edge := range exceptions {
		if !used[edge] {
			t.Errorf("the exception %q is not needed any more", edge)
		}
	}
	if len(populated) < 8 {
		t.Errorf("only %d layers have packages: was the whole module listed?", len(populated))
	}
}

// In a binary ginkgo owns standard output, the flags and os.Exit, and adds 9 MB.
func TestBinariesDoNotLinkTestFrameworks(t *testing.T) {
	framework := func(p string) bool { return strings.HasPrefix(p, "github.com/onsi/") }
	seen := false
	for _, p := range list(t) {
		links := slices.IndexFunc(p.Deps, framework)
		switch {
		case p.Name == "main" && links >= 0:
			t.Errorf("%s links %s", p.ImportPath, p.Deps[links])
		case p.ImportPath == module+"/conformance/suite":
			seen = links >= 0
		}
	}
	if !seen {
		t.Error("conformance/suite does not show up with ginkgo: this test sees nothing")
	}
}

// The test above would pass if violation never said anything.
func TestViolationsAreSeen(t *testing.T) {
	for _, edge := range [][2]string{
		{"trace", module + "/runner"},
		{"schemas", module + "/trace"},
		{"conformance", module + "/conformance/suite"},
		{"cmd/mcp-conform", module + "/conformance/suite"},
		{"reports", module + "/runner"},
		{"internal/peer", module + "/runner/wire"},
		{"runner/wire", module + "/internal/peer"},
		{"runner", "github.com/onsi/gomega"},
		{"cmd/mcp-conform", "github.com/onsi/ginkgo/v2"},
		{"trace", "github.com/somebody/else"},
	} {
		if wrong, _ := violation(edge[0], edge[1]); wrong == "" {
			t.Errorf("%s -> %s was let pass", edge[0], edge[1])
		}
	}
}
