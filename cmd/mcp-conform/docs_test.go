package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// fence is a code block of a Markdown file: its language and its text.
type fence struct{ language, text string }

var fences = regexp.MustCompile("(?ms)^```(\\w*)\n(.*?)^```")

func blocks(t *testing.T, file string) []fence {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", file))
	if err != nil {
		t.Fatal(err)
	}
	var out []fence
	for _, m := range fences.FindAllStringSubmatch(string(text), -1) {
		out = append(out, fence{m[1], m[2]})
	}
	return out
}

// invocation matches a line that runs the program, in a shell, a transcript or a
// step of a pipeline.
var invocation = regexp.MustCompile(`^\s*(?:\$ |- run: )?(?:go run \./cmd/mcp-conform|mcp-conform)((?: .*)?)$`)

// invocations returns the arguments of each command line in a text.
func invocations(text string) [][]string {
	var out [][]string
	for line := range strings.Lines(text) {
		m := invocation.FindStringSubmatch(strings.TrimRight(line, "\n"))
		if m == nil {
			continue
		}
		command, _, _ := strings.Cut(m[1], " # ")
		var args []string
		for _, w := range strings.Fields(command) {
			args = append(args, strings.Trim(w, "'"))
		}
		out = append(out, args)
	}
	return out
}

// accepted parses a command line as the program would, and returns its command.
func accepted(t *testing.T, args []string) *cobra.Command {
	t.Helper()
	c, rest, err := rootCommand(streams{}).Find(args)
	if err == nil {
		err = c.ParseFlags(rest)
	}
	if err == nil {
		err = c.ValidateArgs(c.Flags().Args())
	}
	if err != nil || !c.Runnable() {
		t.Errorf("mcp-conform %s: %v", strings.Join(args, " "), err)
	}
	return c
}

// offline are the commands that need no target, and no file of the reader's.
var offline = []string{"explain", "list", "version", "faults", "show", "coverage"}

func TestEveryCommandThatIsShownWorks(t *testing.T) {
	shown := map[string][][]string{}
	for _, file := range []string{"README.md", "CI.md"} {
		for _, b := range blocks(t, file) {
			shown[file] = append(shown[file], invocations(b.text)...)
		}
		if len(shown[file]) < 5 {
			t.Errorf("%s shows %d commands", file, len(shown[file]))
		}
	}
	var help func(c *cobra.Command)
	help = func(c *cobra.Command) {
		shown[c.CommandPath()+" --help"] = invocations(c.Example)
		if c.Runnable() && len(invocations(c.Example)) == 0 {
			t.Errorf("%s: no example is a command line", c.CommandPath())
		}
		for _, sub := range c.Commands() {
			help(sub)
		}
	}
	help(rootCommand(streams{}))
	for where, lines := range shown {
		for _, args := range lines {
			t.Run(where+"/"+strings.Join(args, " "), func(t *testing.T) {
				if c := accepted(t, args); slices.Contains(offline, c.Name()) {
					mcp(t, args...).want(t, exitConforms)
				}
			})
		}
	}
}

// A scenario that is shown names its file in its first line.
func TestEveryScenarioThatIsShownIsOneWithoutMistakes(t *testing.T) {
	named := regexp.MustCompile(`^# my-scenarios/(\S+\.yaml)\n`)
	dir, n := t.TempDir(), 0
	for _, file := range []string{"README.md", "CI.md"} {
		for _, b := range blocks(t, file) {
			m := named.FindStringSubmatch(b.text)
			if m == nil {
				continue
			}
			n++
			to := filepath.Join(dir, m[1])
			if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(to, []byte(b.text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n == 0 {
		t.Fatal("no scenario is shown")
	}
	mcp(t, "lint", dir).want(t, exitConforms, "no mistakes")
}
