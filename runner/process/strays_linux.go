package process

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// strays returns the processes that inherited a mark in their environment: those
// that moved to another group or session, as browsers and daemons do. /proc shows
// them to their own user alone, which is whose they are.
func strays(mark string) []int {
	files, _ := filepath.Glob("/proc/[0-9]*/environ") // the pattern is fine
	var pids []int
	for _, name := range files {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		if err != nil || pid == os.Getpid() {
			continue
		}
		// Who has gone meanwhile has no environment, and a zombie's is empty.
		if env, err := os.ReadFile(name); err == nil && bytes.Contains(env, []byte(mark)) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// kill ends a process that is left to itself.
func kill(pid int, hard bool) {
	sig := syscall.SIGTERM
	if hard {
		sig = syscall.SIGKILL
	}
	_ = syscall.Kill(pid, sig) // one that is gone is what was wanted
}
