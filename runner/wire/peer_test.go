//go:build unix

package wire_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"github.com/mcp-conform/mcp-conform/runner/wire"
)

// The test binary, started again with this variable, is the peer of that name.
const peerVariable = "WIRE_TEST_PEER"

func TestMain(m *testing.M) {
	name, isPeer := os.LookupEnv(peerVariable)
	if !isPeer {
		os.Exit(m.Run())
	}
	peer, ok := peers()[name]
	if !ok {
		fmt.Fprintf(os.Stderr, "no peer %q\n", name)
		os.Exit(99)
	}
	peer()
}

func peers() map[string]func() {
	return map[string]func(){
		"echo": func() { io.Copy(os.Stdout, os.Stdin) },
		"dies": func() {
			fmt.Fprintln(os.Stderr, "cannot open the database")
			os.Exit(7)
		},
		"garbage": func() {
			fmt.Print("starting up\n\n42\n{\"a\":1}\r\n[]\n{\"a\":\xff}\n{\"a\":\"\xff\"}\n {}x\n{\"last\":1}")
		},
		"split": func() {
			for _, b := range []byte("{\"a\":\"\u20ac\"}\n[\"\u00e9\"]\n") {
				os.Stdout.Write([]byte{b})
			}
		},
		"many": func() { fmt.Print(strings.Repeat("{}\n", 5000)) },
		"long": func() { fmt.Print(`{"a":"` + strings.Repeat("x", 20<<20) + "\"}\n{}\n") },
		"floods": func() {
			out := bufio.NewWriterSize(os.Stdout, 1<<16)
			for {
				if _, err := out.WriteString("log line\n"); err != nil {
					return
				}
			}
		},
		"floods without a line end": func() {
			for chunk := []byte(strings.Repeat("x", 1<<16)); ; {
				if _, err := os.Stdout.Write(chunk); err != nil {
					return
				}
			}
		},
		"floods stderr": func() {
			for i := range 50000 {
				fmt.Fprintln(os.Stderr, "debug", i)
			}
			fmt.Println("{}")
		},
		"never answers": func() { io.Copy(io.Discard, os.Stdin) },
		"never reads": func() {
			fmt.Println("{}")
			stubborn()
		},
		"ignores the end of its input": func() {
			fmt.Println("{}")
			term := make(chan os.Signal, 1)
			signal.Notify(term, syscall.SIGTERM)
			fmt.Println("[]")
			<-term
			os.Exit(3)
		},
		"stubborn": stubborn,
		"closes its output": func() {
			fmt.Println("{}")
			os.Stdout.Close()
			stubborn()
		},
		"closes its input": func() {
			os.Stdin.Close()
			fmt.Println("{}")
			stubborn()
		},
		"leaves a descendant": func() {
			self, _ := os.Executable()
			p, err := os.StartProcess(self, []string{self}, &os.ProcAttr{
				Env: []string{peerVariable + "=stubborn"}, Files: []*os.File{nil, os.Stdout, os.Stderr},
			})
			if err != nil {
				os.Exit(9)
			}
			fmt.Printf("[%d]\n", p.Pid)
		},
		"aborts": func() {
			signal.Reset(syscall.SIGSEGV)
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		},
		"bridge": func() {
			addr, token, _ := strings.Cut(os.Getenv("WIRE_TEST_MORE"), " ")
			if err := wire.Bridge(context.Background(), addr, token, os.Stdin, os.Stdout); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
		},
		"environment": func() {
			dir, _ := os.Getwd()
			fmt.Printf("{\"env\":%q,\"dir\":%q}\n", os.Getenv("WIRE_TEST_MORE"), dir)
		},
	}
}

// stubborn ends for nothing less than SIGKILL.
func stubborn() {
	signal.Ignore(syscall.SIGTERM)
	fmt.Println("[]")
	<-make(chan struct{})
}

// command is how to start a peer.
func command(t *testing.T, peer string) (cmd, env []string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return []string{self}, []string{peerVariable + "=" + peer}
}

func openStdio(t *testing.T, peer string, tp *tape, change ...func(*wire.StdioOptions)) wire.Wire {
	t.Helper()
	cmd, env := command(t, peer)
	o := wire.StdioOptions{Command: cmd, Env: env, Conn: "p", Sink: tp.sink}
	for _, f := range change {
		f(&o)
	}
	w, err := wire.OpenStdio(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	closing(t, w)
	return w
}
