package schemas

import (
	"strings"
	"testing"
)

// BenchmarkFirstMessage is what a run pays before its first verdict: the schema
// and the errata of one revision, and the definitions of one method.
func BenchmarkFirstMessage(b *testing.B) {
	m := Classify([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`))
	r := Classify([]byte(`{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a","inputSchema":{"type":"object"}}]}}`))
	for b.Loop() {
		s := load(b, Options{})
		if vs := append(s.ValidateMessage(R20251125, &m, nil), s.ValidateMessage(R20251125, &r, &m)...); len(vs) > 0 {
			b.Fatal(vs)
		}
	}
}

// BenchmarkClassify measures the scanner on a result with a page of text.
func BenchmarkClassify(b *testing.B) {
	text := []byte(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"` + strings.Repeat("lorem ipsum ", 200) + `"}],"structuredContent":{"rows":[` + strings.Repeat(`{"id":12345,"name":"x","ok":true},`, 50) + `{}]}}}`)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if m := Classify(text); m.Kind != Result {
			b.Fatal(m.Problems)
		}
	}
}

// BenchmarkValidateMessage measures classification and validation of a call.
func BenchmarkValidateMessage(b *testing.B) {
	s := load(b, Options{})
	text := []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{"a":1,"b":2},"_meta":{"progressToken":7}}}`)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		m := Classify(text)
		if vs := s.ValidateMessage(R20251125, &m, nil); len(vs) > 0 {
			b.Fatal(vs)
		}
	}
}
