package runner

import (
	"errors"
	"fmt"
)

// UnreachableError says that the target could not be started or reached, or
// speaks nothing that was asked for (exit code 3).
type UnreachableError struct {
	Doing string
	Err   error
}

func (e *UnreachableError) Error() string { return e.Doing + ": " + e.Err.Error() }
func (e *UnreachableError) Unwrap() error { return e.Err }

// UsageError says that the run was asked for in a way that makes no sense (exit code 2).
type UsageError struct{ Err error }

func (e *UsageError) Error() string { return e.Err.Error() }
func (e *UsageError) Unwrap() error { return e.Err }

// HarnessError says that the harness itself broke (exit code 4). It is never a verdict.
type HarnessError struct{ Err error }

func (e *HarnessError) Error() string { return "the harness broke: " + e.Err.Error() }
func (e *HarnessError) Unwrap() error { return e.Err }

func usage(format string, args ...any) error { return &UsageError{fmt.Errorf(format, args...)} }

// unreachable wraps err unless it says already what kind of error it is.
func unreachable(doing string, err error) error {
	var u *UsageError
	var h *HarnessError
	if err == nil || errors.As(err, &u) || errors.As(err, &h) {
		return err
	}
	return &UnreachableError{doing, err}
}
