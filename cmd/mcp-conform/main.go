// Command mcp-conform tests how well a server or client speaks the Model
// Context Protocol.
//
// This package turns flags into calls and outcomes into exit codes; it knows
// nothing that the packages below it could know.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/mcp-conform/mcp-conform/reports"
)

// The exit codes. They are part of the interface: scripts and pipelines branch on them.
const (
	exitConforms = 0
	exitFails    = 1 // a MUST is broken, or nothing could be judged
	exitUsage    = 2 // wrong flags, or a broken configuration, scenario or capture
	exitTarget   = 3 // the target could not be started or reached
	exitHarness  = 4 // mcp-conform itself broke
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the first signal ends in good order, the second at once
	code := execute(ctx, os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr})
	stop()
	os.Exit(code)
}

// streams are the standard streams, so that tests can bring their own.
type streams struct {
	in  io.Reader
	out io.Writer
	err io.Writer
}

// exitError carries the exit code that an error asks for.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

// fail wraps err so that the program ends with code.
func fail(code int, err error) error {
	if err == nil {
		return nil
	}
	return &exitError{code, err}
}

// silent is an error whose message has been printed already.
var errSilent = errors.New("")

// execute runs one command line and returns its exit code.
func execute(ctx context.Context, args []string, s streams) int {
	root := rootCommand(s)
	root.SetArgs(args)
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitConforms
	}
	code := exitUsage // what cobra itself refuses is wrong usage
	if e := (*exitError)(nil); errors.As(err, &e) {
		code = e.code
	}
	if !errors.Is(err, errSilent) {
		fmt.Fprintf(s.err, "mcp-conform: %s\n", reports.Plain(err.Error()))
	}
	return code
}
