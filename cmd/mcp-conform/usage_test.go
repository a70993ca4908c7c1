package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func TestWrongUsageEndsWithCode2AndSaysWhatToDo(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		args []string
		word string
	}{
		{[]string{"frobnicate"}, "unknown command"},
		{[]string{"run", "--frobnicate"}, "see mcp-conform run --help"},
		{[]string{"list", "frobnicate"}, "see mcp-conform list --help"},
		{[]string{"peer", "frobnicate"}, "see mcp-conform peer --help"},
		{[]string{"schema", "show"}, "see mcp-conform schema show --help"},
		{[]string{"schema", "validate", "tool.json"}, "mcp-conform schema list"},
		{[]string{"run", "--patience", "0"}, "more than 0"},
		{[]string{"run", "--concurrency", "0"}, "1 or more"},
		{[]string{"run", "--trace", filepath.Join(dir, "gone", "t.jsonl")}, "opening the trace"},
		{[]string{"run", "--report", "json=" + filepath.Join(dir, "gone", "r.json")}, "does not exist"},
		{[]string{"run", "--scenarios", dir}, "no scenario in it"},
		{[]string{"run", "--scenarios", "usage_test.go"}, "name the folder"},
		{[]string{"run", "--url", "localhost:3000/mcp"}, "http://host:port/path"},
		{[]string{"run", "--revision", "2025-01-01"}, "2025-11-25"},
		{[]string{"run", "--transport", "pigeon"}, "stdio, http or sse"},
		{[]string{"run", "--scenario", "no.such.*"}, "no.such.*"},
		{[]string{"run", "--scenarios", filepath.Join(dir, "gone")}, "gone"},
		{[]string{"run", "--client", "--url", "http://127.0.0.1:1/"}, "do not go together"},
		{[]string{"run", "--header", "nonsense"}, "NAME: VALUE"},
		{[]string{"run", "--header", "A: b\r\nC: d"}, "NAME: VALUE"},
		{[]string{"run", "--url", ""}, "variable"},
		{[]string{"run", "--"}, "variable"},
		{[]string{"run", "--client", "--"}, "variable"},
		{[]string{"run", "--", ""}, "variable"},
		{[]string{"run", "--env", "nonsense"}, "NAME=VALUE"},
		{[]string{"run", "--report", "pdf=x"}, "junit=FILE"},
		{[]string{"run", "--fault", "no-such-fault"}, "mcp-conform peer faults"},
		{[]string{"run", "--schema-dir", filepath.Join(dir, "gone")}, "gone"},
		{[]string{"check"}, "name files"},
		{[]string{"check", filepath.Join(dir, "gone.jsonl")}, "gone.jsonl"},
		{[]string{"check", "--from-client", "a"}, "from the server"},
		{[]string{"record"}, "--upstream"},
		{[]string{"record", "--listen", "127.0.0.1:0"}, "--upstream"},
		{[]string{"explain"}, "list --requirements"},
		{[]string{"explain", "tools.list"}, "is a scenario, which tests TOOLS-LIST-ANSWERED"},
		{[]string{"explain", "stdio-stdout-mesages-only"}, "STDIO-STDOUT-MESSAGES-ONLY"},
		{[]string{"explain", "STDIO"}, "STDIO-CLIENT-CLOSES-STDIN"},
		{[]string{"lint", filepath.Join(dir, "gone")}, "gone"},
		{[]string{"lint", dir}, "no scenario in it"},
	} {
		t.Run(strings.Join(c.args, " "), func(t *testing.T) {
			res := mcp(t, c.args...)
			res.want(t, exitUsage, c.word)
			if res.out != "" {
				t.Errorf("a report where nothing was done:\n%s", res.out)
			}
		})
	}
}

func TestLintNamesFileLineAndMistake(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "tools"), 0o755); err != nil {
		t.Fatal(err)
	}
	broken := "title: T\ntarget: server\nsteps:\n  - shout: {call: ping}\n"
	if err := os.WriteFile(filepath.Join(dir, "tools", "broken.yaml"), []byte(broken), 0o644); err != nil {
		t.Fatal(err)
	}
	mcp(t, "lint", dir).want(t, exitUsage, "broken.yaml:4", "shout")
	mcp(t, "run", "--scenarios", dir).want(t, exitUsage, "broken.yaml:4", "shout")
	mcp(t, "lint").want(t, exitConforms, "no mistakes")
	unknown := "title: T\ntarget: server\nsteps:\n  - use: open\n  - walk: {call: tools/list}\n    req: NO-SUCH-DEMAND\n"
	if err := os.WriteFile(filepath.Join(dir, "tools", "broken.yaml"), []byte(unknown), 0o644); err != nil {
		t.Fatal(err)
	}
	mcp(t, "run", "--scenarios", dir).want(t, exitUsage, filepath.Join(dir, "tools", "broken.yaml")+":5", "NO-SUCH-DEMAND", "list --requirements")
}

func TestEveryCommandAndFlagIsDocumented(t *testing.T) {
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		if c.Short == "" {
			t.Errorf("%s has no short description", c.CommandPath())
		}
		if c.Runnable() && c.Example == "" {
			t.Errorf("%s has no example", c.CommandPath())
		}
		c.NonInheritedFlags().VisitAll(func(f *pflag.Flag) {
			if f.Name != "help" && c.Runnable() && !strings.Contains(c.Example, "--"+f.Name) {
				t.Errorf("%s: no example shows --%s", c.CommandPath(), f.Name)
			}
		})
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(rootCommand(streams{}))
	for _, c := range []string{"run", "check", "record", "bridge", "list", "explain", "lint", "version", "peer"} {
		mcp(t, c, "--help").want(t, exitConforms, "Usage:")
	}
}

func TestListAndExplainAndVersion(t *testing.T) {
	mcp(t, "list").want(t, exitConforms, "lifecycle.", "server")
	mcp(t, "list", "--requirements").want(t, exitConforms, "STDIO-STDOUT-MESSAGES-ONLY")
	mcp(t, "explain", "STDIO-STDOUT-MESSAGES-ONLY").want(t, exitConforms, "2024-11-05", "https://modelcontextprotocol.io/specification/2026-07-28/", "MUST NOT")
	mcp(t, "version").want(t, exitConforms, "mcp-conform", "2026-07-28")
}
