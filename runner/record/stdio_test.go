//go:build unix

package record_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gleak"

	"github.com/mcp-conform/mcp-conform/runner/process"
	"github.com/mcp-conform/mcp-conform/runner/record"
	"github.com/mcp-conform/mcp-conform/trace"
)

const patience = 20 * time.Second

func noLeak(t *testing.T) {
	before := gleak.Goroutines()
	t.Cleanup(func() { NewWithT(t).Eventually(gleak.Goroutines, patience).ShouldNot(gleak.HaveLeaked(before)) })
}

// events collects what is recorded.
type events struct {
	mu   sync.Mutex
	list []trace.Event
}

func (e *events) sink(ev trace.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.list = append(e.list, ev)
}

// shown is one line for each event.
func (e *events) shown() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var out []string
	for _, ev := range e.list {
		out = append(out, show(ev))
	}
	return out
}

// of returns the events of some kinds, as shown.
func (e *events) of(kinds ...trace.Kind) []string {
	var out []string
	for _, l := range e.shown() {
		for _, k := range kinds {
			if strings.Contains(l, " "+string(k)+" ") || strings.HasSuffix(l, " "+string(k)) {
				out = append(out, l)
			}
		}
	}
	return out
}

func show(e trace.Event) string {
	s := strings.TrimSpace(e.Exchange+" "+map[trace.Side]string{trace.Client: "->", trace.Server: "<-", "": "--"}[e.From]) + " " + string(e.Kind)
	if h := e.HTTP; h != nil {
		s += " " + strings.TrimSpace(h.Method+" "+h.URL)
		if h.Status != 0 {
			s += fmt.Sprint(h.Status)
		}
	}
	if e.End != nil {
		s += fmt.Sprintf(" %s %d", e.End.How, e.End.Code) + e.End.Signal
	}
	if len(e.Data) > 0 {
		s += fmt.Sprintf(" %.80s", e.Data)
	}
	return s
}

// recording is a recorder at work, seen from its client.
type recording struct {
	in       *io.PipeWriter
	out, err *bufio.Reader
	outEnd   *io.PipeReader
	signals  chan os.Signal
	events   *events
	done     chan process.Exit
	cancel   context.CancelFunc
}

func start(t *testing.T, script string, edit ...func(*record.Stdio)) *recording {
	t.Helper()
	noLeak(t)
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	errR, errW := io.Pipe()
	r := &recording{in: inW, out: bufio.NewReader(outR), err: bufio.NewReader(errR), outEnd: outR, signals: make(chan os.Signal, 4), events: &events{}, done: make(chan process.Exit, 1)}
	s := record.Stdio{Command: []string{"/bin/sh", "-c", script}, Stdin: inR, Stdout: outW, Stderr: errW, Signals: r.signals, Sink: r.events.sink, Grace: 200 * time.Millisecond}
	for _, f := range edit {
		f(&s)
	}
	var ctx context.Context
	ctx, r.cancel = context.WithCancel(t.Context())
	go func() {
		exit, err := s.Run(ctx)
		if err != nil {
			t.Error(err)
		}
		outW.Close()
		errW.Close()
		r.done <- exit
	}()
	t.Cleanup(func() { r.cancel(); inW.Close(); outR.Close(); errR.Close() })
	return r
}

func (r *recording) say(t *testing.T, s string) {
	t.Helper()
	if _, err := io.WriteString(r.in, s); err != nil {
		t.Fatal(err)
	}
}

func (r *recording) hear(t *testing.T) string {
	t.Helper()
	l, err := r.out.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func (r *recording) exit(t *testing.T) process.Exit {
	t.Helper()
	select {
	case x := <-r.done:
		return x
	case <-time.After(patience):
		t.Fatalf("the recorder does not end; so far: %q", r.events.shown())
		return process.Exit{}
	}
}

// drain reads the rest of both outputs, which a client must do.
func (r *recording) drain() (out, errs <-chan string) {
	read := func(b *bufio.Reader) <-chan string {
		c := make(chan string, 1)
		go func() { s, _ := io.ReadAll(b); c <- string(s) }()
		return c
	}
	return read(r.out), read(r.err)
}

func TestStdioConversation(t *testing.T) {
	g := NewWithT(t)
	r := start(t, `echo hi >&2; while read -r l; do echo "got $l"; echo "{\"echo\":$l}"; done; echo '{"bye":1}'; exit 4`)
	r.say(t, "{\"id\":1}\n")
	g.Expect(r.hear(t)).To(Equal("got {\"id\":1}\n"))
	g.Expect(r.hear(t)).To(Equal("{\"echo\":{\"id\":1}}\n"))
	r.in.Close()
	out, errs := r.drain()
	exit := r.exit(t)
	g.Expect(<-out).To(Equal("{\"bye\":1}\n"))
	g.Expect(<-errs).To(Equal("hi\n"))
	g.Expect(exit).To(And(HaveField("How", "exit"), HaveField("Code", 4), HaveField("Step", "")))
	g.Expect(r.events.of(trace.KindMessage, trace.KindNoise, trace.KindClosed)).To(Equal([]string{
		`-> message {"id":1}`, `<- noise got {"id":1}`, `<- message {"echo":{"id":1}}`, `-> closed eof 0`, `<- message {"bye":1}`, `<- closed exit 4`,
	}))
	g.Expect(r.events.of(trace.KindStderr)).To(Equal([]string{"<- stderr hi"}))
	last := r.events.list[len(r.events.list)-1]
	g.Expect(last.End.After).To(BeNumerically(">", 0))
	g.Expect(last.End.Detail).To(Equal("asked to end by end of standard input"))
	g.Expect(last.Conn).To(Equal("c1"))
	g.Expect(last.Time).NotTo(BeZero())
}

// The forward path does not wait for line ends, in either direction.
func TestStdioPassesPiecesOn(t *testing.T) {
	g := NewWithT(t)
	r := start(t, `head -c 3; printf abc; head -c 1 >/dev/null; printf '\n'`)
	r.say(t, "xyz")
	buf := make([]byte, 6)
	_, err := io.ReadFull(r.out, buf)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(buf)).To(Equal("xyzabc"))
	r.say(t, "!")
	g.Expect(r.hear(t)).To(Equal("\n"))
	out, errs := r.drain()
	g.Expect(r.exit(t).Code).To(Equal(0))
	<-out
	<-errs
	g.Expect(r.events.of(trace.KindNoise)).To(ConsistOf("<- noise xyzabc", "-> noise xyz!"))
}

func TestStdioBytesAreUntouched(t *testing.T) {
	for name, data := range map[string][]byte{
		"binary":       {0, 255, '\r', '\n', 0xfe, '\n', '\n', 0xef, 0xbb, 0xbf, '{', '}', '\r', '\n'},
		"no line end":  []byte("{}\n{\"a\":1}"),
		"20 MB line":   append(append([]byte(`["`), bytes.Repeat([]byte("x"), 20<<20)...), "\"]\n"...),
		"flood":        bytes.Repeat([]byte("{\"jsonrpc\":\"2.0\",\"method\":\"m\"}\n"), 50_000),
		"never a line": bytes.Repeat([]byte("y"), 3<<20),
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			r := start(t, "exec cat")
			out, errs := r.drain()
			go func() { r.in.Write(data); r.in.Close() }()
			got := <-out
			<-errs
			g.Expect(got == string(data)).To(BeTrue(), "%d of %d bytes", len(got), len(data))
			g.Expect(r.exit(t).Code).To(Equal(0))
			for _, side := range []trace.Side{trace.Client, trace.Server} {
				var rec [][]byte
				for _, e := range r.events.list {
					if e.From == side && e.Kind != trace.KindClosed {
						rec = append(rec, e.Data)
						if e.Note != "" {
							t.Errorf("%s: %s", side, e.Note)
						}
					}
				}
				joined := bytes.Join(rec, []byte("\n"))
				g.Expect(bytes.Equal(joined, bytes.TrimSuffix(data, []byte("\n")))).To(BeTrue(), "%s: %d of %d bytes recorded", side, len(joined), len(data))
			}
		})
	}
}

func TestStdioLongLineIsPassedOnAndCut(t *testing.T) {
	g := NewWithT(t)
	r := start(t, "exec cat", func(s *record.Stdio) { s.MaxLine = 10_000 })
	line := `["` + strings.Repeat("x", 100_000) + `"]`
	out, errs := r.drain()
	go func() { io.WriteString(r.in, line+"\n{}\n"); r.in.Close() }()
	g.Expect(<-out).To(Equal(line + "\n{}\n"))
	<-errs
	r.exit(t)
	first := r.events.list[0]
	g.Expect(first.Kind).To(Equal(trace.KindNoise))
	g.Expect(first.Note).To(Equal("too long: 100004 bytes; the first 4096 are kept"))
	g.Expect(first.Data).To(HaveLen(4096))
	g.Expect(r.events.of(trace.KindMessage)).To(ConsistOf("-> message {}", "<- message {}"))
}

func TestStdioServerDies(t *testing.T) {
	g := NewWithT(t)
	r := start(t, `read -r l; printf '{"half'; kill -9 $$`)
	r.say(t, "{}\n")
	out, errs := r.drain()
	g.Expect(r.exit(t)).To(And(HaveField("How", "signal"), HaveField("Signal", "SIGKILL"), HaveField("Step", "")))
	g.Expect(<-out).To(Equal(`{"half`))
	<-errs
	g.Expect(r.events.shown()).To(Equal([]string{"-> message {}", `<- noise {"half`, "<- closed signal 0SIGKILL"}))
	g.Expect(r.events.list[2].End.After).To(BeZero())
}

func TestStdioSignalsArePassedOn(t *testing.T) {
	g := NewWithT(t)
	r := start(t, `trap 'echo usr' USR1; trap 'echo term; exit 9' TERM; echo up; while :; do sleep 0.02; done`)
	g.Expect(r.hear(t)).To(Equal("up\n"))
	r.signals <- syscall.SIGTERM
	g.Expect(r.hear(t)).To(Equal("term\n"))
	out, errs := r.drain()
	g.Expect(r.exit(t)).To(And(HaveField("Code", 9), HaveField("Step", "")))
	<-out
	<-errs
	end := r.events.list[len(r.events.list)-1].End
	g.Expect(end.Detail).To(Equal("asked to end by SIGTERM"))
	g.Expect(end.After).To(BeNumerically(">", 0))
}

func TestStdioStubbornServerIsKilled(t *testing.T) {
	stubborn := `trap '' TERM; echo up; while :; do sleep 0.02; done`
	for name, act := range map[string]func(*recording){
		"signal":  func(r *recording) { r.signals <- syscall.SIGTERM },
		"context": func(r *recording) { r.cancel() },
		"client that takes no more output": func(r *recording) {
			r.outEnd.Close()
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			script := stubborn
			if strings.HasPrefix(name, "client") {
				script = `trap '' TERM PIPE; echo up; while :; do echo more; sleep 0.02; done`
			}
			r := start(t, script)
			g.Expect(r.hear(t)).To(Equal("up\n"))
			act(r)
			out, errs := r.drain()
			g.Expect(r.exit(t)).To(And(HaveField("How", "signal"), HaveField("Signal", "SIGKILL")))
			<-out
			<-errs
		})
	}
}

// A server that ignores the end of its input is ended when it has been silent for long enough.
func TestStdioServerThatIgnoresEOF(t *testing.T) {
	g := NewWithT(t)
	r := start(t, `echo up; while :; do sleep 0.02; done`, func(s *record.Stdio) { s.Idle = 50 * time.Millisecond })
	g.Expect(r.hear(t)).To(Equal("up\n"))
	r.in.Close()
	out, errs := r.drain()
	g.Expect(r.exit(t).Step).To(Equal("SIGTERM"))
	<-out
	<-errs
	g.Expect(r.events.list[len(r.events.list)-1].End.Detail).To(ContainSubstring("did not end when its standard input was closed"))
}

// … but not while it is still at work on what it was asked.
func TestStdioServerThatWorksOnAfterEOF(t *testing.T) {
	g := NewWithT(t)
	r := start(t, `cat >/dev/null; for i in 1 2 3 4 5 6 7 8; do sleep 0.1; echo "[$i]"; done`, func(s *record.Stdio) { s.Idle = 2 * time.Second })
	r.in.Close()
	out, errs := r.drain()
	g.Expect(r.exit(t)).To(And(HaveField("How", "exit"), HaveField("Step", "")))
	g.Expect(<-out).To(Equal("[1]\n[2]\n[3]\n[4]\n[5]\n[6]\n[7]\n[8]\n"))
	<-errs
}

func TestStdioOrphansAreEnded(t *testing.T) {
	g := NewWithT(t)
	r := start(t, `sleep 600 & echo $!; exit 0`)
	var pid int
	fmt.Sscan(r.hear(t), &pid)
	out, errs := r.drain()
	g.Expect(r.exit(t).Orphans).To(Equal(1))
	<-out
	<-errs
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	g.Expect(err != nil || strings.Contains(string(b), ") Z ")).To(BeTrue(), "%s", b)
}

// The end of the server is not held up by a client that keeps its end open, and
// what it wrote last is not lost on a client that is slow to read.
func TestStdioSlowClient(t *testing.T) {
	g := NewWithT(t)
	r := start(t, `head -c 200000 /dev/zero | tr '\0' 'z'`)
	first, err := r.out.ReadByte()
	g.Expect(err).NotTo(HaveOccurred())
	// Longer than readers have to drain a pipe whose owner is gone.
	g.Consistently(r.done, "2300ms").ShouldNot(Receive())
	out, errs := r.drain()
	g.Expect(string(first) + <-out).To(HaveLen(200000))
	<-errs
	g.Expect(r.exit(t).Code).To(Equal(0))
}

func TestStdioCannotStart(t *testing.T) {
	noLeak(t)
	_, err := record.Stdio{Command: []string{"no-such-program-anywhere"}, Sink: func(trace.Event) {}}.Run(t.Context())
	NewWithT(t).Expect(err).To(MatchError(ContainSubstring("there is no such program")))
}

// What is recorded can be written and read back.
func TestStdioTrace(t *testing.T) {
	g := NewWithT(t)
	var file bytes.Buffer
	w, err := trace.NewWriter(&file, trace.Header{Tool: "test", Made: "record", Transport: trace.Stdio})
	g.Expect(err).NotTo(HaveOccurred())
	r := start(t, "echo 'api_key=PLANTED' >&2; exec cat", func(s *record.Stdio) { s.Sink = trace.NewLog(w.Record).Record })
	out, errs := r.drain()
	r.say(t, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n")
	r.in.Close()
	r.exit(t)
	<-out
	<-errs
	g.Expect(w.Err()).NotTo(HaveOccurred())
	g.Expect(file.String()).NotTo(ContainSubstring("PLANTED"))
	rd, err := trace.NewReader(&file, trace.ReaderOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	n := int64(0)
	for {
		e, err := rd.Next()
		if err == io.EOF {
			break
		}
		g.Expect(err).NotTo(HaveOccurred())
		n++
		g.Expect(e.Seq).To(Equal(n))
	}
	g.Expect(n).To(Equal(int64(5)))
}
