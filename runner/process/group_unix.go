//go:build unix

package process

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
)

const terminate = syscall.SIGTERM

// ownGroup makes the program the leader of a new process group, out of reach
// of a terminal's Ctrl-C, which is the runner's to handle.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// Terminates reports whether a signal asks a program to end.
func Terminates(s os.Signal) bool {
	return s == syscall.SIGTERM || s == syscall.SIGINT || s == syscall.SIGHUP || s == syscall.SIGQUIT || s == os.Kill
}

func signalGroup(p *os.Process, sig os.Signal) error {
	s, ok := sig.(syscall.Signal)
	if !ok {
		return fmt.Errorf("no signal of this system: %v", sig)
	}
	err := syscall.Kill(-p.Pid, s)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}

// members counts the living members of a process group. A member that has
// exited and that nobody waits for, as happens in containers without an init,
// does not count. Where there is no /proc to tell, it answers 0 or 1.
func members(group int) int {
	if syscall.Kill(-group, 0) != nil {
		return 0
	}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is fine
	if len(stats) == 0 {
		return 1
	}
	n := 0
	for _, name := range stats {
		b, err := os.ReadFile(name)
		if err != nil {
			continue // gone meanwhile
		}
		// pid (name) state ppid pgrp …; the name may hold spaces and brackets.
		f := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
		if len(f) > 2 && string(f[2]) == strconv.Itoa(group) && f[0][0] != 'Z' && f[0][0] != 'X' {
			n++
		}
	}
	return n
}

func exitOf(s *os.ProcessState, err error) Exit {
	if s == nil {
		return Exit{How: "error", Err: err}
	}
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return Exit{How: "signal", Signal: SignalName(w.Signal()), number: int(w.Signal())}
	}
	return Exit{How: "exit", Code: s.ExitCode()}
}

// SignalName returns a signal's name as in SIGTERM.
func SignalName(s os.Signal) string {
	switch s {
	case syscall.SIGHUP:
		return "SIGHUP"
	case syscall.SIGINT:
		return "SIGINT"
	case syscall.SIGQUIT:
		return "SIGQUIT"
	case syscall.SIGILL:
		return "SIGILL"
	case syscall.SIGTRAP:
		return "SIGTRAP"
	case syscall.SIGABRT:
		return "SIGABRT"
	case syscall.SIGBUS:
		return "SIGBUS"
	case syscall.SIGFPE:
		return "SIGFPE"
	case syscall.SIGKILL:
		return "SIGKILL"
	case syscall.SIGSEGV:
		return "SIGSEGV"
	case syscall.SIGPIPE:
		return "SIGPIPE"
	case syscall.SIGALRM:
		return "SIGALRM"
	case syscall.SIGTERM:
		return "SIGTERM"
	case syscall.SIGUSR1:
		return "SIGUSR1"
	case syscall.SIGUSR2:
		return "SIGUSR2"
	}
	if n, ok := s.(syscall.Signal); ok {
		return fmt.Sprintf("signal %d", int(n))
	}
	return s.String()
}
