package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mcp-conform/mcp-conform/conformance"
)

// A short session of 2025-11-25, one message a line, in which nothing is wrong.
const goodSession = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}
{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"add","inputSchema":{"type":"object"}}]}}
`

func write(t *testing.T, name, content string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// failedIn returns the ids of the failed requirements of a report, as one string.
func failedIn(t *testing.T, res result) string {
	t.Helper()
	var ids []string
	for _, q := range readReport(t, res.out).Requirements {
		if q.Verdict == conformance.Fail {
			ids = append(ids, string(q.Side)+" "+q.ID)
		}
	}
	return strings.Join(ids, ", ")
}

func TestCheckJudgesPlainLines(t *testing.T) {
	res := mcp(t, "check", "--json", write(t, "good.log", goodSession))
	res.want(t, exitConforms)
	if got := failedIn(t, res); got != "" {
		t.Errorf("a good session fails %s", got)
	}
	bad := strings.Replace(goodSession, `"inputSchema":{"type":"object"}`, `"title":"no schema"`, 1)
	res = mcp(t, "check", "--json", write(t, "bad.log", bad))
	res.want(t, exitFails)
	if got := failedIn(t, res); got != "server TOOLS-INPUT-SCHEMA" {
		t.Errorf("a tool without inputSchema fails %q", got)
	}
}

func TestEachBadToolOfAListIsAFindingOfItsOwn(t *testing.T) {
	bad := strings.Replace(goodSession, `{"name":"add","inputSchema":{"type":"object"}}`,
		`{"name":"one","inputSchema":{}},{"name":"good","inputSchema":{"type":"object"}},{"name":"two","inputSchema":{}}`, 1)
	r := readReport(t, mcp(t, "check", "--json", write(t, "bad.log", bad)).out)
	judged := false
	for _, q := range r.Requirements {
		if q.ID != "TOOLS-INPUT-SCHEMA" {
			continue
		}
		judged = true
		if len(q.Findings) != 2 || !strings.Contains(q.Findings[0].Detail, `"one"`) || !strings.Contains(q.Findings[1].Detail, `"two"`) {
			t.Errorf("two bad tools give %+v", q.Findings)
		}
	}
	if !judged {
		t.Error("the schemas of the tools were not judged")
	}
}

func TestCheckJudgesOneFileForEachSide(t *testing.T) {
	var client, server strings.Builder
	for i, line := range strings.SplitAfter(goodSession, "\n") {
		if i == 1 || i == 4 {
			server.WriteString(line)
		} else {
			client.WriteString(line)
		}
	}
	c, s := write(t, "stdin.log", client.String()), write(t, "stdout.log", "server listening\n"+server.String())
	res := mcp(t, "check", "--json", "--from-client", c, "--from-server", s)
	res.want(t, exitFails)
	if got := failedIn(t, res); got != "server STDIO-STDOUT-MESSAGES-ONLY" {
		t.Errorf("fails %q", got)
	}
}

const har = `{"log":{"version":"1.2","entries":[{"startedDateTime":"2026-01-02T03:04:05.678Z","time":9,
"request":{"method":"POST","url":"http://127.0.0.1:3000/mcp","headers":[{"name":"accept","value":"application/json, text/event-stream"},{"name":"content-type","value":"application/json"}],
"postData":{"mimeType":"application/json","text":"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}}}"}},
"response":{"status":200,"headers":[{"name":"content-type","value":"application/json"}],"content":{"size":10,"mimeType":"application/json","text":"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"serverInfo\":{\"name\":\"s\",\"version\":\"1\"}}}"}}},
{"startedDateTime":"2026-01-02T03:04:06.678Z","time":9,
"request":{"method":"POST","url":"http://127.0.0.1:3000/mcp","headers":[{"name":"accept","value":"application/json, text/event-stream"},{"name":"mcp-protocol-version","value":"2025-11-25"}],
"postData":{"mimeType":"application/json","text":"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}"}},
"response":{"status":STATUS,"headers":[],"content":{"size":0,"mimeType":""}}}]}}`

func TestCheckJudgesHAR(t *testing.T) {
	res := mcp(t, "check", "--json", write(t, "good.har", strings.Replace(har, "STATUS", "202", 1)))
	res.want(t, exitConforms)
	res = mcp(t, "check", "--json", write(t, "bad.har", strings.Replace(har, "STATUS", "200", 1)))
	res.want(t, exitFails)
	if got := failedIn(t, res); !strings.Contains(got, "server HTTP-NOTIFICATION-202") {
		t.Errorf("a notification answered by 200 fails %q", got)
	}
}

// Whoever looks at a pipe that nothing comes from can stop doing so.
func TestCheckCanBeInterruptedWhileItWaits(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	pipe, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	for name, args := range map[string][]string{
		"named pipe":     {"check", fifo},
		"standard input": {"check", "-"},
		"a schema":       {"schema", "validate", "--definition", "Tool", "-"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, interrupt := context.WithCancel(t.Context())
			ended := make(chan int, 1)
			var errs strings.Builder
			go func() { ended <- execute(ctx, args, streams{pipe, io.Discard, &errs}) }()
			interrupt()
			select {
			case code := <-ended:
				if code != exitUsage || !strings.Contains(errs.String(), "interrupted") {
					t.Errorf("ended with %d and said %s", code, &errs)
				}
			case <-time.After(limit):
				t.Fatal("it did not end")
			}
		})
	}
}

// What is no message in a file that does not tell who wrote what is held against
// neither side.
func TestCheckBlamesNobodyForALineThatTellsNoSide(t *testing.T) {
	deep := `{"jsonrpc":"2.0","id":1,"method":"ping","params":` + strings.Repeat(`{"a":`, 100_000) + "1" + strings.Repeat("}", 100_001)
	for name, line := range map[string]string{"deep": deep, "array": "[1,2,3]", "a log in JSON": `{"level":"info","msg":"x"}`} {
		t.Run(name, func(t *testing.T) {
			ping := `{"jsonrpc":"2.0","id":7,"method":"ping"}` + "\n" + `{"jsonrpc":"2.0","id":7,"result":{}}` + "\n"
			res := mcp(t, "check", "--json", write(t, "t.log", ping+line+"\n"))
			res.want(t, exitConforms)
			if failed := failedIn(t, res); failed != "" {
				t.Errorf("failed: %s", failed)
			}
		})
	}
}

func TestBrokenCapturesAreErrorsThatNameThePlace(t *testing.T) {
	dir := t.TempDir()
	own := filepath.Join(dir, "own.jsonl")
	mcp(t, "run", "--revision", "2025-11-25", "--scenario", "lifecycle.*", "--trace", own).want(t, exitConforms)
	b, err := os.ReadFile(own)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ content, word string }{
		"empty":     {"", "empty"},
		"binary":    {"\x00\x01\x02\xff\xfe\x7fELF", "HAR"},
		"truncated": {string(b[:len(b)-20]), "truncated.log:"},
		"HTML":      {"<!DOCTYPE html><p>no</p>", "HAR"},
	} {
		t.Run(name, func(t *testing.T) {
			mcp(t, "check", write(t, name+".log", c.content)).want(t, exitUsage, c.word)
		})
	}
	// What was read before the break is judged all the same.
	res := mcp(t, "check", "--json", write(t, "truncated.log", string(b[:len(b)-20])))
	if r := readReport(t, res.out); r.Judged() == 0 {
		t.Error("nothing of a truncated trace was judged")
	}
}
