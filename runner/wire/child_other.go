//go:build !unix

package wire

import "os/exec"

// ownGroup does nothing: without process groups only the process itself is ended.
func ownGroup(*exec.Cmd) {}

func (c *child) terminate() error { return c.cmd.Process.Kill() }

func (c *child) kill() { _ = c.cmd.Process.Kill() }

// fate says how the process ended; its state does not show that we killed it.
func (c *child) fate(killed bool) (code int, signal string) {
	if killed {
		return 0, sigkill
	}
	return c.state.ExitCode(), ""
}
