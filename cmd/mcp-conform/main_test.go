package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// TestMain lets the test binary stand in for mcp-conform, so that the tests
// drive a real process with real pipes, signals and exit codes.
func TestMain(m *testing.M) {
	if os.Getenv("MCP_CONFORM_AS_MAIN") == "1" {
		main()
		return
	}
	os.Exit(m.Run())
}

// self is the command line that runs this test binary as mcp-conform.
func self(args ...string) []string {
	return append([]string{"/usr/bin/env", "MCP_CONFORM_AS_MAIN=1", os.Args[0]}, args...)
}

// result is what one run of the program came to.
type result struct {
	code     int
	out, err string
}

// limit is how long any command of these tests may take before it counts as hung.
const limit = 4 * time.Minute

// mcp runs the program and waits for it. A hang fails the test.
func mcp(t *testing.T, args ...string) result {
	t.Helper()
	return mcpIn(t, nil, args...)
}

func mcpIn(t *testing.T, in io.Reader, args ...string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	argv := self(args...)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, &out, &errs
	err := cmd.Run()
	if ctx.Err() != nil {
		t.Fatalf("mcp-conform %s did not end within %s\nstdout:\n%s\nstderr:\n%s", strings.Join(args, " "), limit, &out, &errs)
	}
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if strings.Contains(errs.String(), "panic:") || strings.Contains(errs.String(), "DATA RACE") {
		t.Errorf("mcp-conform %s:\n%s", strings.Join(args, " "), &errs)
	}
	return result{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

// want fails the test unless the program ended with code and said each of words
// on one of its streams.
func (r result) want(t *testing.T, code int, words ...string) {
	t.Helper()
	if r.code != code {
		t.Errorf("exit code %d, want %d", r.code, code)
	}
	for _, w := range words {
		if !strings.Contains(r.out+r.err, w) {
			t.Errorf("nothing says %q", w)
		}
	}
	if t.Failed() {
		t.Logf("stdout:\n%s\nstderr:\n%s", r.out, r.err)
	}
}
