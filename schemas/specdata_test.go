package schemas

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// specData returns the folder of reference data on the protocol, which is not
// part of the module: $MCP_CONFORM_SPEC, or ../shared/spec beside the module.
// Without it there is nothing to compare with, which the test says.
func specData(t testing.TB) (string, bool) {
	t.Helper()
	dir := os.Getenv("MCP_CONFORM_SPEC")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "spec")
	}
	if _, err := os.Stat(dir); err != nil {
		t.Logf("not compared: no reference data at %s (set MCP_CONFORM_SPEC)", dir)
		return "", false
	}
	return dir, true
}

func readJSON(t testing.TB, path string, into any) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}
