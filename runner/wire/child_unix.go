//go:build unix

package wire

import (
	"fmt"
	"os/exec"
	"syscall"
)

func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// terminate asks the whole group to end.
func (c *child) terminate() error { return c.signal(syscall.SIGTERM) }

// kill ends the whole group. That there is none left is no error.
func (c *child) kill() { _ = c.signal(syscall.SIGKILL) }

func (c *child) signal(s syscall.Signal) error { return syscall.Kill(-c.cmd.Process.Pid, s) }

// fate says how the process ended: its exit code, or the name of the signal.
// It needs not be told whether we killed it.
func (c *child) fate(bool) (code int, signal string) {
	ws, ok := c.state.Sys().(syscall.WaitStatus)
	if !ok || !ws.Signaled() {
		return c.state.ExitCode(), ""
	}
	names := map[syscall.Signal]string{
		syscall.SIGHUP: "SIGHUP", syscall.SIGINT: "SIGINT", syscall.SIGQUIT: "SIGQUIT",
		syscall.SIGILL: "SIGILL", syscall.SIGTRAP: "SIGTRAP", syscall.SIGABRT: "SIGABRT",
		syscall.SIGBUS: "SIGBUS", syscall.SIGFPE: "SIGFPE", syscall.SIGKILL: sigkill,
		syscall.SIGSEGV: "SIGSEGV", syscall.SIGPIPE: "SIGPIPE", syscall.SIGALRM: "SIGALRM",
		syscall.SIGTERM: "SIGTERM",
	}
	if name, ok := names[ws.Signal()]; ok {
		return 0, name
	}
	return 0, fmt.Sprintf("signal %d", int(ws.Signal()))
}
