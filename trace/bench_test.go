package trace

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
)

// mixed is a trace of messages such as servers send: many short, some long.
func mixed(b *testing.B) []byte {
	var events []Event
	for i := range 2000 {
		text := strings.Repeat("Some words of a result, \"quoted\" at times.\\n", 1+i%60)
		events = append(events, Event{Seq: int64(i + 1), Time: started, Kind: KindMessage, From: Server, Conn: "c1",
			Data: fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":%q}]}}`, i, text)})
	}
	return write(b, Header{Tool: "t", Made: "run"}, events)
}

func BenchmarkReader(b *testing.B) {
	file := mixed(b)
	b.SetBytes(int64(len(file)))
	b.ReportAllocs()
	for b.Loop() {
		r, err := NewReader(bytes.NewReader(file), ReaderOptions{})
		if err != nil {
			b.Fatal(err)
		}
		for err == nil {
			_, err = r.Next()
		}
		if err != io.EOF {
			b.Fatal(err)
		}
	}
}

func BenchmarkWriter(b *testing.B) {
	file := mixed(b)
	_, events, err := readAll(b, bytes.NewReader(file), ReaderOptions{})
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(file)))
	b.ReportAllocs()
	for b.Loop() {
		w, err := NewWriter(io.Discard, Header{})
		if err != nil {
			b.Fatal(err)
		}
		for _, e := range events {
			w.Record(e)
		}
		if w.Err() != nil {
			b.Fatal(w.Err())
		}
	}
}

func BenchmarkPayloadKind(b *testing.B) {
	msg := []byte(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"` + strings.Repeat("Some words of a result. ", 40) + `"}]}}`)
	b.SetBytes(int64(len(msg)))
	for b.Loop() {
		if PayloadKind(msg) != KindMessage {
			b.Fatal()
		}
	}
}
