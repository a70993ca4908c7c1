package conformance

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

// longTalk feeds a judge n calls over stdio, with progress.
func longTalk(j *Judge, n int) {
	seq := int64(0)
	say := func(from trace.Side, text string) {
		seq++
		j.Observe(trace.Event{Seq: seq, Kind: trace.KindMessage, From: from, Conn: "c", Data: []byte(text)})
	}
	say(trace.Client, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`)
	say(trace.Server, `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}`)
	say(trace.Client, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	for i := 1; i <= n; i++ {
		say(trace.Client, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"add","arguments":{"a":1,"b":2},"_meta":{"progressToken":%d}}}`, i, i))
		say(trace.Server, fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%d,"progress":1}}`, i))
		say(trace.Server, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"3"}]}}`, i))
	}
}

func talkingJudge(tb testing.TB, emit func(Evidence)) *Judge {
	tb.Helper()
	c, err := Builtin()
	if err != nil {
		tb.Fatal(err)
	}
	set, err := schemas.Load(schemas.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	return NewJudge(JudgeOptions{Catalogue: c, Schemas: set, Header: trace.Header{Transport: trace.Stdio}, Emit: emit})
}

// What a judge holds does not grow with the length of the trace.
func TestMemoryIsFlat(t *testing.T) {
	held := func(n int) uint64 {
		j := talkingJudge(t, func(Evidence) {})
		longTalk(j, n)
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		runtime.KeepAlive(j)
		return m.HeapAlloc
	}
	held(1000) // schemas are compiled once
	few, many := held(1000), held(4000)
	if many > few+few/4+(1<<20) {
		t.Errorf("%d bytes are held after 1000 calls and %d after 4000", few, many)
	}
}

func BenchmarkJudge(b *testing.B) {
	j := talkingJudge(b, func(Evidence) {})
	b.ReportAllocs()
	longTalk(j, b.N)
}
