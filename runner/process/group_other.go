//go:build !unix

package process

import (
	"os"
	"os/exec"
)

// terminate is the hardest way here, for there is no other.
var terminate = os.Kill

func ownGroup(*exec.Cmd) {}

// Terminates reports whether a signal asks a program to end.
func Terminates(s os.Signal) bool { return s == os.Interrupt || s == os.Kill }

// SignalName returns a signal's name.
func SignalName(s os.Signal) string { return s.String() }

func signalGroup(p *os.Process, sig os.Signal) error { return p.Signal(sig) }

func members(int) int { return 0 }

func exitOf(s *os.ProcessState, err error) Exit {
	if s == nil {
		return Exit{How: "error", Err: err}
	}
	return Exit{How: "exit", Code: s.ExitCode()}
}
