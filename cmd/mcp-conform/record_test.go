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
	mcpIn(t, strings.NewReader(""), "record", "--trace", file, "--", "sh", "-c", "kill -KILL $$").want(t, 128+9)
	mcpIn(t, strings.NewReader(""), "record", "--trace", file, "--", "/no/such/server").want(t, exitTarget, "/no/such/server")
}

// A full disk must not end the session that is recorded: what cannot be written
// is said at the end.
func TestRecordGoesOnWhenTheTraceCannotBeWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "t.jsonl")
	message := `{"jsonrpc":"2.0","method":"x","params":{"x":"` + strings.Repeat("y", 20_000) + `"}}` + "\n"
	argv := append([]string{"/bin/sh", "-c", `ulimit -f 16; trap "" XFSZ; exec "$@"`, "sh"}, self("record", "--trace", file, "--", "cat")...)
	cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
	cmd.Stdin = strings.NewReader(message + message + message)
	var errs strings.Builder
	cmd.Stderr = &errs
	out, _ := cmd.Output() // its exit code is looked at below
	if string(out) != message+message+message {
		t.Errorf("%d bytes came back, want %d", len(out), 3*len(message))
	}
	if code := cmd.ProcessState.ExitCode(); code != exitUsage || !strings.Contains(errs.String(), "writing "+file) {
		t.Errorf("ended with %d and said %s", code, &errs)
	}
}

func TestRecordShowsNoSecretsOfTheURL(t *testing.T) {
	for url, want := range map[string]string{
		"http://127.0.0.1:1/mcp":         "http://127.0.0.1:1/mcp",
		"http://127.0.0.1:1/mcp?token=s": "http://127.0.0.1:1/mcp?token=**** (**** as in --upstream)",
	} {
		if got := pointer(url); got != want {
			t.Errorf("%s is shown as %s, want %s", url, got, want)
		}
	}
}

func TestRecordRefusesToPassOnToItself(t *testing.T) {
	addr := freeAddress(t)
	mcp(t, "record", "--trace", filepath.Join(t.TempDir(), "t.jsonl"), "--listen", addr, "--upstream", "http://"+addr+"/mcp").
		want(t, exitUsage, "the recorder itself listens")
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
