package wire

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
)

// child is a process in a process group of its own, with our ends of its pipes.
type child struct {
	stdin  *os.File
	stdout *os.File
	stderr *os.File
	done   chan struct{} // closed when the process has ended; then state is set
	state  *os.ProcessState

	cmd *exec.Cmd
}

// startChild starts a process. Its pipes are given to it as files, so that
// waiting for the process is not waiting for whoever else holds them.
func startChild(command, env []string, dir string) (*child, error) {
	if len(command) == 0 {
		return nil, errors.New("starting the server: the command is empty")
	}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Dir = dir
	ownGroup(cmd)
	c := &child{cmd: cmd, done: make(chan struct{})}
	var theirs []*os.File
	for _, ours := range []**os.File{&c.stdin, &c.stdout, &c.stderr} {
		r, w, err := os.Pipe()
		if err != nil {
			c.closePipes(theirs)
			return nil, fmt.Errorf("starting %q: making a pipe: %w", command[0], err)
		}
		if ours == &c.stdin {
			r, w = w, r
		}
		*ours, theirs = r, append(theirs, w)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs[0], theirs[1], theirs[2]
	if err := cmd.Start(); err != nil {
		c.closePipes(theirs)
		return nil, fmt.Errorf("starting %q: %w", command[0], err)
	}
	for _, f := range theirs {
		f.Close()
	}
	go c.await()
	return c, nil
}

// await reaps the process. How it ended is in its state; that it ended badly is
// no error here.
func (c *child) await() {
	_ = c.cmd.Wait()
	c.state = c.cmd.ProcessState
	close(c.done)
}

func (c *child) closePipes(theirs []*os.File) {
	for _, f := range append(theirs, c.stdin, c.stdout, c.stderr) {
		if f != nil {
			f.Close()
		}
	}
}
