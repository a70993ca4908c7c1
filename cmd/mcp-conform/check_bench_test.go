package main

import (
	"bufio"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// BenchmarkCheckOfALongCapture judges a generated capture of plain lines, which
// never exists as a whole, in a process of its own, and reports how much memory
// that took at its peak. One run of b.N = 1 is 64 MiB; for the gigabyte:
//
//	go test ./cmd/mcp-conform -run '^$' -bench LongCapture -benchtime 16x
func BenchmarkCheckOfALongCapture(b *testing.B) {
	const chunk = 64 << 20
	argv := self("check", "--json", "-")
	cmd := exec.CommandContext(b.Context(), argv[0], argv[1:]...)
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	var out strings.Builder
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	generate(b, in, int64(b.N)*chunk)
	if err := cmd.Wait(); err != nil {
		b.Fatalf("%v\n%s", err, out.String())
	}
	usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	b.SetBytes(chunk)
	b.ReportMetric(float64(usage.Maxrss)/1024, "peak-MiB")
}

// generate writes one long session of at least size bytes and closes w.
func generate(b *testing.B, w io.WriteCloser, size int64) {
	b.Helper()
	out := bufio.NewWriterSize(w, 1<<20)
	lines := strings.SplitAfter(goodSession, "\n")
	var n int64
	put := func(s string) {
		if _, err := out.WriteString(s); err != nil {
			b.Fatal(err)
		}
		n += int64(len(s))
	}
	for _, l := range lines {
		put(l)
	}
	text := strings.Repeat("lorem ipsum dolor sit amet ", 20)
	for id := 3; n < size; id++ {
		put(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"add","arguments":{"n":%d},"_meta":{"progressToken":%d}}}`+"\n", id, id, id))
		put(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%d,"progress":1,"total":2}}`+"\n", id))
		put(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"%d %s"}]}}`+"\n", id, id, text))
	}
	if err := out.Flush(); err != nil {
		b.Fatal(err)
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
}
