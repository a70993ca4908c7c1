//go:build !unix

package wire

import "os/exec"

// ownGroup does nothing: without process groups only the process itself is ended.
func ownGroup(*exec.Cmd) {}

func (c *child) terminate() error { return c.cmd.Process.Kill() }

func (c *child) kill() {
	if c.cmd.Process.Kill() == nil {
		c.killed.Store(true)
	}
}

// fate says how the process ended; that it was killed shows nowhere but here.
func (c *child) fate() (code int, signal string) {
	if c.killed.Load() {
		return 0, sigkill
	}
	return c.state.ExitCode(), ""
}
