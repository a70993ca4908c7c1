package main

import (
	"bufio"
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestRecordStandsBetweenAClientAndAStdioServer(t *testing.T) {
	file := filepath.Join(t.TempDir(), "t.jsonl")
	args := append([]string{"peer", "client", "--"}, self("record", "--trace", file, "--")...)
	mcp(t, append(args, self("peer", "server")...)...).want(t, exitConforms)
	res := mcp(t, "check", "--json", file)
	res.want(t, exitConforms)
	if r := readReport(t, res.out); r.Judged() < 30 || r.Subject.Name == "" || r.Subject.Peer == "" {
		t.Errorf("judged %d, subject %+v", r.Judged(), r.Subject)
	}
}

func TestRecordEndsWithTheServersExitCode(t *testing.T) {
	file := filepath.Join(t.TempDir(), "t.jsonl")
	mcpIn(t, strings.NewReader(""), "record", "--trace", file, "--", "sh", "-c", "exit 7").want(t, 7)
	mcpIn(t, strings.NewReader(""), "record", "--trace", file, "--", "/no/such/server").want(t, exitTarget, "/no/such/server")
}

// background starts the program and returns the first line that it writes to
// standard error after word, and how to stop it.
func background(t *testing.T, word string, args ...string) (line string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	argv := self(args...)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 20 * time.Second
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != exitConforms {
			t.Errorf("%s ended with %d after SIGTERM", strings.Join(args, " "), code)
		}
	})
	in := bufio.NewScanner(stderr)
	for in.Scan() {
		if _, after, ok := strings.Cut(in.Text(), word); ok {
			return strings.TrimSpace(after)
		}
	}
	t.Fatalf("%s ended without a word of %q", strings.Join(args, " "), word)
	return ""
}

func TestRecordStandsBetweenAClientAndAnHTTPServer(t *testing.T) {
	file := filepath.Join(t.TempDir(), "t.jsonl")
	t.Run("record", func(t *testing.T) {
		server := background(t, "listening on", "peer", "server", "--http", "127.0.0.1:0")
		proxy := background(t, "point the client at", "record", "--trace", file, "--listen", "127.0.0.1:0", "--upstream", server)
		mcp(t, "peer", "client", proxy).want(t, exitConforms)
	})
	res := mcp(t, "check", "--json", file)
	res.want(t, exitConforms)
	if r := readReport(t, res.out); r.Judged() < 30 {
		t.Errorf("judged %d", r.Judged())
	}
}
