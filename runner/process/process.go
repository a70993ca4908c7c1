// Package process starts a program in a process group of its own, with pipes,
// and ends it in the manner of MCP: close its standard input, wait, SIGTERM,
// wait, SIGKILL (2025-11-25 basic/lifecycle#shutdown), each signal to the whole
// group, so that nothing of it is left behind.
//
//	p, err := process.Start(process.Spec{Command: []string{"node", "server.js"}})
//	…  write p.Stdin, read p.Stdout and p.Stderr until they end …
//	exit := p.End(ctx, 2*time.Second) // and say how it went
//
// It knows nothing of messages. A process that moves to another group or
// session, as browsers and daemons do, is found by a mark in its environment, on
// Linux; elsewhere it leaves the reach of this package. On systems without
// process groups, such as Windows, only the program itself is ended, and at once when
// closing its standard input did not do.
package process

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/mcp-conform/mcp-conform/trace"
)

// Spec says what to start.
type Spec struct {
	Command []string
	Env     []string // NAME=VALUE, added to the environment of this process
	Dir     string   // "" means the current one
}

// Exit says how a process ended.
type Exit struct {
	How    string        // "exit", "signal" or "error", as in trace.End
	Code   int           // when How is "exit"
	Signal string        // when How is "signal", such as "SIGKILL"
	Time   time.Time     // when it was seen to end
	After  time.Duration // from the first call of End to the exit; 0 when the process ended unasked
	// Step is the last step of End that was taken before the exit: "stdin",
	// "SIGTERM", "SIGKILL", or "" when the process ended unasked.
	Step string
	// Orphans counts the members of the group that were still there a moment
	// after the leader had exited. End ends them too.
	Orphans int
	Err     error // when How is "error"
	number  int   // of Signal
}

// Status is what a shell would say of the exit: its code, or 128 and the number
// of the signal.
func (x Exit) Status() int {
	switch x.How {
	case "exit":
		return x.Code
	case "signal":
		return 128 + x.number
	}
	return 1
}

// End returns the exit as a trace shows it.
func (x Exit) End() *trace.End {
	e := &trace.End{How: x.How, Code: x.Code, Signal: x.Signal, After: x.After}
	switch {
	case x.Err != nil:
		e.Detail = x.Err.Error()
	case x.Step == "SIGTERM" || x.Step == "SIGKILL":
		e.Detail = "did not end when its standard input was closed; " + x.Step + " was needed"
	}
	if x.Orphans > 0 {
		if e.Detail != "" {
			e.Detail += "; "
		}
		e.Detail += fmt.Sprintf("left %d of its processes behind", x.Orphans)
	}
	return e
}

// Process is a started program. Its methods are safe for concurrent use.
type Process struct {
	// Stdin, Stdout and Stderr are the near ends of its pipes. Reads end when
	// nothing holds the far end any more, at the latest a moment after End.
	// Writes to Stdin fail once the process is gone or End was called.
	Stdin, Stdout, Stderr *os.File

	cmd  *exec.Cmd
	mark string        // in the environment of all that comes of it
	done chan struct{} // closed when the leader has been waited for

	mu    sync.Mutex
	exit  Exit
	asked time.Time
	step  string
	gone  bool // nothing of the group is left: its number may be in use by others

	ending sync.Once
	ended  chan struct{}
}

// markName is the variable that holds the marks of the processes that one
// descends from.
const markName = "MCP_CONFORM_STARTED"

const (
	// settle is how long members of the group may outlive the leader before
	// they count as orphans: a launcher such as npx often ends a little before
	// the program that it launched.
	settle = 250 * time.Millisecond
	// linger is how long readers have, after the group is gone, to drain what
	// is in the pipes, should a daemon that left the group hold them open.
	linger = 2 * time.Second
)

// Start starts the program.
func Start(s Spec) (*Process, error) {
	if len(s.Command) == 0 {
		return nil, errors.New("no command to start")
	}
	cmd := exec.Command(s.Command[0], s.Command[1:]...)
	cmd.Dir = s.Dir
	mark := rand.Text()
	// Marks add up, should the program start programs by this package itself.
	cmd.Env = append(append(os.Environ(), s.Env...), markName+"="+os.Getenv(markName)+mark)
	ownGroup(cmd)
	p := &Process{cmd: cmd, mark: mark, done: make(chan struct{}), ended: make(chan struct{})}
	far, err := p.pipes()
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", s.Command[0], err)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = far[0], far[1], far[2]
	err = cmd.Start()
	for _, f := range far {
		f.Close()
	}
	if err != nil {
		p.closePipes()
		return nil, startError(s, err)
	}
	go p.wait()
	return p, nil
}

func startError(s Spec, err error) error {
	name := s.Command[0]
	switch {
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		if s.Dir != "" {
			if _, statErr := os.Stat(s.Dir); statErr != nil {
				return fmt.Errorf("starting %s: the folder %s does not exist: %w", name, s.Dir, err)
			}
		}
		return fmt.Errorf("starting %s: there is no such program: check its name and PATH: %w", name, err)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("starting %s: it may not be executed: check its mode: %w", name, err)
	}
	return fmt.Errorf("starting %s: %w", name, err)
}

// pipes opens the three pipes and returns their far ends.
func (p *Process) pipes() (far [3]*os.File, err error) {
	near := [3]**os.File{&p.Stdin, &p.Stdout, &p.Stderr}
	for i := range far {
		r, w, err := os.Pipe()
		if err != nil {
			p.closePipes()
			for _, f := range far[:i] {
				f.Close()
			}
			return far, err
		}
		if far[i], *near[i] = w, r; i == 0 {
			far[i], *near[i] = r, w
		}
	}
	return far, nil
}

func (p *Process) closePipes() {
	for _, f := range []*os.File{p.Stdin, p.Stdout, p.Stderr} {
		if f != nil {
			f.Close()
		}
	}
}

// wait waits for the leader and keeps how it ended.
func (p *Process) wait() {
	err := p.cmd.Wait()
	now := time.Now()
	p.mu.Lock()
	p.exit = exitOf(p.cmd.ProcessState, err)
	p.exit.Step, p.exit.Time = p.step, now
	if !p.asked.IsZero() {
		p.exit.After = max(1, now.Sub(p.asked))
	}
	p.gone = members(p.cmd.Process.Pid) == 0
	p.mu.Unlock()
	close(p.done)
}

// Pid returns the number of the process, which is that of its group.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Done is closed when the program has exited. Members of its group may still run.
func (p *Process) Done() <-chan struct{} { return p.done }

// Exit returns how the program ended; it is meaningful once Done is closed, and
// its Orphans once End has returned.
func (p *Process) Exit() Exit {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.exit
}

// Signal sends a signal to the whole group. It is no error if nothing is left.
func (p *Process) Signal(sig os.Signal) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gone {
		return nil
	}
	if err := signalGroup(p.cmd.Process, sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("sending %v to %s: %w", sig, p.cmd.Path, err)
	}
	return nil
}

// End ends the program and its group and returns when nothing of it is left:
// it closes standard input, waits up to grace, sends SIGTERM, waits up to
// grace, sends SIGKILL. When ctx ends it goes on to SIGKILL without waiting.
// The caller keeps reading Stdout and Stderr meanwhile, or the program may
// hang on a full pipe. Every call returns the same; the first decides.
func (p *Process) End(ctx context.Context, grace time.Duration) Exit {
	p.ending.Do(func() {
		defer close(p.ended)
		p.end(ctx, grace)
	})
	<-p.ended
	return p.Exit()
}

func (p *Process) end(ctx context.Context, grace time.Duration) {
	p.advance("stdin")
	p.Stdin.Close()
	if !p.await(ctx, grace) {
		p.advance("SIGTERM")
		p.Signal(terminate) // a failure shows as a process that stays
		if !p.await(ctx, grace) {
			p.advance("SIGKILL")
			p.Signal(os.Kill)
			<-p.done
		}
	}
	if n := p.remaining(ctx, min(settle, grace)); n > 0 {
		p.mu.Lock()
		p.exit.Orphans = n
		p.mu.Unlock()
		p.Signal(terminate)
		if p.remaining(ctx, grace) > 0 {
			p.Signal(os.Kill)
			p.remaining(context.WithoutCancel(ctx), linger)
		}
	}
	p.gather(ctx, grace)
	deadline := time.Now().Add(linger)
	p.Stdout.SetReadDeadline(deadline) // fails only on a file that is closed already
	p.Stderr.SetReadDeadline(deadline)
}

// gather ends what left the group and lives on.
func (p *Process) gather(ctx context.Context, grace time.Duration) {
	timeout := time.NewTimer(grace)
	defer timeout.Stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for asked := map[int]bool{}; ; {
		left := strays(p.mark)
		if len(left) == 0 {
			return
		}
		for _, pid := range left {
			if !asked[pid] {
				asked[pid] = true
				kill(pid, false)
			}
		}
		select {
		case <-tick.C:
			continue
		case <-timeout.C:
		case <-ctx.Done():
		}
		for _, pid := range strays(p.mark) {
			kill(pid, true)
		}
		return
	}
}

// advance notes the step that is about to be taken, unless the program has
// ended by itself before.
func (p *Process) advance(step string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.asked.IsZero() {
		p.asked = time.Now()
	}
	p.step = step
}

func (p *Process) await(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-p.done:
		return true
	case <-t.C:
	case <-ctx.Done():
	}
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// remaining polls the group, whose end makes no event, until it is empty or
// the time is up, and returns how many are left.
func (p *Process) remaining(ctx context.Context, d time.Duration) int {
	timeout := time.NewTimer(d)
	defer timeout.Stop()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		p.mu.Lock()
		n := 0
		if !p.gone {
			n = members(p.cmd.Process.Pid)
			p.gone = n == 0
		}
		p.mu.Unlock()
		if n == 0 {
			return 0
		}
		select {
		case <-tick.C:
		case <-timeout.C:
			return n
		case <-ctx.Done():
			return n
		}
	}
}

// Close closes the near ends of the pipes. Call it after End, when the readers
// are done.
func (p *Process) Close() { p.closePipes() }
