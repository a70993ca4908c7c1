//go:build unix

package process_test

import (
	"bufio"
	"context"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gleak"

	"github.com/mcp-conform/mcp-conform/runner/process"
)

const patience = 20 * time.Second

// noLeak fails the test if a goroutine outlives it.
func noLeak(t *testing.T) {
	before := gleak.Goroutines()
	t.Cleanup(func() { NewWithT(t).Eventually(gleak.Goroutines, patience).ShouldNot(gleak.HaveLeaked(before)) })
}

func sh(t *testing.T, script string) *process.Process {
	t.Helper()
	noLeak(t)
	p, err := process.Start(process.Spec{Command: []string{"/bin/sh", "-c", script}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.End(t.Context(), 0)
		p.Close()
		if err := syscall.Kill(-p.Pid(), 0); err == nil && living(p.Pid()) {
			t.Error("something of the group is left")
		}
	})
	return p
}

// living reports whether a process runs and is not merely waiting to be reaped.
func living(pid int) bool {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && !strings.Contains(string(b), ") Z ")
}

// ready waits for the first line of output.
func ready(t *testing.T, p *process.Process) string {
	t.Helper()
	p.Stdout.SetReadDeadline(time.Now().Add(patience))
	l, err := bufio.NewReader(p.Stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(l)
}

func TestBytesBothWays(t *testing.T) {
	g := NewWithT(t)
	p := sh(t, `cat; echo "done" >&2; exit 3`)
	_, err := p.Stdin.Write([]byte("a\x00\xff\nb"))
	g.Expect(err).NotTo(HaveOccurred())
	exit := p.End(t.Context(), patience)
	out, _ := io.ReadAll(p.Stdout)
	errs, _ := io.ReadAll(p.Stderr)
	g.Expect(string(out)).To(Equal("a\x00\xff\nb"))
	g.Expect(string(errs)).To(Equal("done\n"))
	g.Expect(exit).To(And(HaveField("How", "exit"), HaveField("Code", 3), HaveField("Step", "stdin"), HaveField("Orphans", 0)))
	g.Expect(exit.After).To(BeNumerically(">", 0))
	g.Expect(exit.End().Detail).To(BeEmpty())
}

func TestEndUnasked(t *testing.T) {
	g := NewWithT(t)
	p := sh(t, `exit 7`)
	g.Eventually(p.Done(), patience).Should(BeClosed())
	exit := p.End(t.Context(), patience)
	g.Expect(exit).To(Equal(process.Exit{How: "exit", Code: 7, Time: exit.Time}))
	g.Expect(exit.Time).NotTo(BeZero())
}

func TestKilledFromOutside(t *testing.T) {
	g := NewWithT(t)
	p := sh(t, `kill -SEGV $$`)
	g.Eventually(p.Done(), patience).Should(BeClosed())
	g.Expect(p.Exit()).To(And(HaveField("How", "signal"), HaveField("Signal", "SIGSEGV"), HaveField("Step", "")))
	g.Expect(p.Signal(syscall.SIGTERM)).To(Succeed())
}

func TestIgnoresStdin(t *testing.T) {
	g := NewWithT(t)
	p := sh(t, `trap 'exit 5' TERM; echo up; while :; do sleep 0.05; done`)
	ready(t, p)
	exit := p.End(t.Context(), 50*time.Millisecond)
	// The shell's sleep is in the group too and may die of the signal before the trap runs.
	g.Expect(exit).To(And(HaveField("How", "exit"), HaveField("Code", 5), HaveField("Step", "SIGTERM")), "%+v", exit)
	g.Expect(exit.End().Detail).To(ContainSubstring("SIGTERM was needed"))
}

func TestIgnoresEverything(t *testing.T) {
	g := NewWithT(t)
	p := sh(t, `trap '' TERM; echo up; while :; do sleep 0.05; done`)
	ready(t, p)
	g.Expect(p.End(t.Context(), 50*time.Millisecond)).To(And(HaveField("How", "signal"), HaveField("Signal", "SIGKILL"), HaveField("Step", "SIGKILL")))
}

func TestContextCutsTheGraceShort(t *testing.T) {
	g := NewWithT(t)
	p := sh(t, `trap '' TERM; echo up; while :; do sleep 0.05; done`)
	ready(t, p)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	g.Expect(p.End(ctx, time.Hour).Signal).To(Equal("SIGKILL"))
}

func TestOrphansAreEndedAndReported(t *testing.T) {
	for name, script := range map[string]string{
		"polite":   `sleep 600 & echo $!`,
		"stubborn": `(trap '' TERM; echo up; while :; do sleep 0.05; done) & read go`,
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			p := sh(t, script)
			first := ready(t, p)
			exit := p.End(t.Context(), 300*time.Millisecond)
			g.Expect(exit.How).To(Equal("exit"))
			g.Expect(exit.Orphans).To(BeNumerically(">=", 1))
			g.Expect(exit.End().Detail).To(ContainSubstring("of its processes behind"))
			if pid, err := strconv.Atoi(first); err == nil {
				g.Expect(living(pid)).To(BeFalse())
			}
		})
	}
}

// Closing must also release a writer that waits for a program that never reads.
func TestWriterIsReleased(t *testing.T) {
	g := NewWithT(t)
	p := sh(t, `echo up; while :; do sleep 0.05; done`)
	ready(t, p)
	wrote := make(chan error, 1)
	go func() {
		_, err := p.Stdin.Write(make([]byte, 1<<20)) // more than a pipe holds
		wrote <- err
	}()
	p.End(t.Context(), 10*time.Millisecond)
	g.Eventually(wrote, patience).Should(Receive(HaveOccurred()))
}

// A daemon that left the group and its environment behind may hold the pipes open for ever; readers end all the same.
func TestReadersEndDespiteADaemon(t *testing.T) {
	if _, err := os.Stat("/usr/bin/setsid"); err != nil {
		t.Log("no setsid here: not tried")
		return
	}
	g := NewWithT(t)
	p := sh(t, `setsid env -i sh -c 'echo $$; exec sleep 600' & read go`)
	pid, err := strconv.Atoi(ready(t, p))
	g.Expect(err).NotTo(HaveOccurred())
	defer syscall.Kill(pid, syscall.SIGKILL)
	p.End(t.Context(), patience)
	_, err = io.ReadAll(p.Stdout)
	g.Expect(err).To(MatchError(os.ErrDeadlineExceeded))
}

func TestConcurrentEnd(t *testing.T) {
	g := NewWithT(t)
	p := sh(t, `read x; exit 2`)
	exits := make(chan process.Exit, 4)
	for range 4 {
		go func() { exits <- p.End(t.Context(), patience) }()
	}
	for range 4 {
		g.Eventually(exits, patience).Should(Receive(HaveField("Code", 2)))
	}
}

func TestStartErrors(t *testing.T) {
	noLeak(t)
	plain := t.TempDir() + "/plain"
	if err := os.WriteFile(plain, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		spec process.Spec
		want string
	}{
		{process.Spec{}, "no command"},
		{process.Spec{Command: []string{"no-such-program-anywhere"}}, "there is no such program: check its name and PATH"},
		{process.Spec{Command: []string{"/no/such/file"}}, "there is no such program"},
		{process.Spec{Command: []string{"/bin/sh"}, Dir: "/no/such/folder"}, "the folder /no/such/folder does not exist"},
		{process.Spec{Command: []string{plain}}, "may not be executed"},
	} {
		_, err := process.Start(c.spec)
		NewWithT(t).Expect(err).To(MatchError(ContainSubstring(c.want)))
	}
}

func TestEnvironment(t *testing.T) {
	g := NewWithT(t)
	noLeak(t)
	p, err := process.Start(process.Spec{Command: []string{"/bin/sh", "-c", `echo "$MCP_TEST $PWD"`}, Env: []string{"MCP_TEST=yes"}, Dir: "/"})
	g.Expect(err).NotTo(HaveOccurred())
	defer p.Close()
	out, err := io.ReadAll(p.Stdout)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(out)).To(Equal("yes /\n"))
	g.Expect(p.End(t.Context(), patience).How).To(Equal("exit"))
}
