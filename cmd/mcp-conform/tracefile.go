package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/mcp-conform/mcp-conform/trace"
)

// withTrace creates a trace file, hands out its writer, and closes it whatever
// happens.
func withTrace(file string, h trace.Header, do func(*trace.Writer) error) (err error) {
	f, err := os.Create(file)
	if err != nil {
		return fail(exitUsage, fmt.Errorf("opening the trace: %w", err))
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w, err := trace.NewWriter(f, h)
	if err != nil {
		return fail(exitUsage, fmt.Errorf("writing %s: %w", file, err))
	}
	if err := do(w); err != nil {
		return err
	}
	if err := w.Err(); err != nil {
		return fail(exitUsage, fmt.Errorf("writing %s: %w", file, err))
	}
	return nil
}
