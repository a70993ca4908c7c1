package capture_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-conform/mcp-conform/trace"
	"github.com/mcp-conform/mcp-conform/trace/capture"
)

// put writes files into a fresh folder and returns their paths.
func put(t testing.TB, files ...string) []string {
	t.Helper()
	dir := t.TempDir()
	var paths []string
	for i, content := range files {
		path := filepath.Join(dir, fmt.Sprintf("f%d", i+1))
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return paths
}

// read returns the header, one line for each event, and the error.
func read(t testing.TB, paths []string, o capture.Options) (trace.Header, []string, error) {
	t.Helper()
	s, err := capture.Open(paths, o)
	if err != nil {
		return trace.Header{}, nil, err
	}
	defer s.Close()
	var got []string
	for i := int64(1); ; i++ {
		e, err := s.Next()
		if err == io.EOF {
			return s.Header(), got, nil
		}
		if err != nil {
			return s.Header(), got, err
		}
		if e.Seq != i {
			t.Errorf("event %d has number %d", i, e.Seq)
		}
		got = append(got, show(e))
	}
}

func show(e trace.Event) string {
	arrow := map[trace.Side]string{trace.Client: "->", trace.Server: "<-"}[e.From]
	s := fmt.Sprintf("%s %s", arrow, e.Kind)
	if e.Exchange != "" {
		s = e.Conn + " " + e.Exchange + " " + s
	}
	if h := e.HTTP; h != nil {
		s += fmt.Sprintf(" %s%s%d", h.Method, h.URL, h.Status)
	}
	if e.End != nil {
		s += fmt.Sprintf(" %s %d", e.End.How, e.End.Bytes)
	}
	if len(e.Data) > 0 {
		s += " " + string(e.Data)
	}
	return s
}

func same(t testing.TB, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

// text makes lines of a shorthand: the arrow that is expected and the line.
func unarrow(lines []string) string {
	var b strings.Builder
	for _, l := range lines {
		_, rest, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(l, "-> "), "<- "), " ")
		b.WriteString(rest + "\n")
	}
	return b.String()
}

const (
	initialize = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}`
	initResult = `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25"}}`
	initialzd  = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
)

func TestDirections(t *testing.T) {
	want := []string{
		`<- noise server started on node 22`,
		`-> message ` + initialize,
		`<- message ` + initResult,
		`-> message ` + initialzd,
		// Both count from 1; the server's request arose later and is answered first.
		`-> message {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"progressToken":"p"}}}`,
		`<- message {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":1}}`,
		`<- message {"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{"_meta":{"progressToken":"q"}}}`,
		`-> message {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"q","progress":1}}`,
		`-> message {"jsonrpc":"2.0","id":1,"result":{"role":"assistant"}}`,
		`<- message {"jsonrpc":"2.0","id":1,"result":{"content":[]}}`,
		// "1" and 1 are different ids.
		`<- message {"jsonrpc":"2.0","id":"1","method":"roots/list"}`,
		`<- message {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"1"}}`,
		`-> message {"jsonrpc":"2.0","id":"1","error":{"code":-1,"message":"x"}}`,
		`-> message {"jsonrpc":"2.0","id":2,"method":"ping"}`,
		`<- message {"jsonrpc":"2.0","id":2,"result":{}}`,
		`-> message {"jsonrpc":"2.0","id":3,"method":"vendor/thing"}`,
		`<- message {"jsonrpc":"2.0","method":"vendor/happened"}`,
		`<- message {"jsonrpc":"2.0","id":99,"result":{}}`,
		`<- message {"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}`,
		`-> message [{"jsonrpc":"2.0","id":4,"method":"tools/list"},{"jsonrpc":"2.0","id":5,"method":"ping"}]`,
		`<- message [{"jsonrpc":"2.0","id":5,"result":{}},{"jsonrpc":"2.0","id":4,"result":{}}]`,
		`<- noise {"hello":1}`,
	}
	h, got, err := read(t, put(t, unarrow(want)+"\n \n"), capture.Options{})
	if err != nil {
		t.Fatal(err)
	}
	same(t, got, want)
	if h.Made != "import:lines" || h.Transport != "" || fmt.Sprint(h.Lacks) != "[headers timing close]" {
		t.Errorf("header %+v", h)
	}
}

func TestLinesThatBeginLate(t *testing.T) {
	h, got, err := read(t, put(t, `{"jsonrpc":"2.0","id":7,"result":{}}`+"\n"), capture.Options{Transport: trace.Stdio})
	if err != nil || len(got) != 1 || h.Transport != trace.Stdio || !slices.Contains(h.Lacks, trace.LackStart) {
		t.Errorf("%v %v %+v", err, got, h)
	}
	stateless := `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`
	if h, _, _ := read(t, put(t, stateless+"\n"), capture.Options{}); slices.Contains(h.Lacks, trace.LackStart) {
		t.Errorf("a stateless request needs no beginning: %v", h.Lacks)
	}
}

// Bytes come through as they are: a CR, spaces, duplicate keys, bad UTF-8.
func TestLinesKeepBytes(t *testing.T) {
	file := initialize + "\r\n" + " {\"jsonrpc\":\"2.0\",\"id\":9007199254740993,\"id\":2, \"method\":\"ping\\u0000\"}\n" + "{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":{\"a\":\"\xff\"}}"
	s, err := capture.Open(put(t, file), capture.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, want := range strings.Split(file, "\n") {
		if e, err := s.Next(); err != nil || string(e.Data) != want || e.Kind != trace.KindMessage {
			t.Errorf("%v, %s\n got %q\nwant %q", err, e.Kind, e.Data, want)
		}
	}
}

func TestPair(t *testing.T) {
	client := []string{
		initialize, initialzd,
		`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call"}`,
		`{"jsonrpc":"2.0","id":"s1","result":{}}`,
		`{"jsonrpc":"2.0","id":3,"method":"ping"}`,
	}
	server := []string{
		"starting", initResult,
		`{"jsonrpc":"2.0","method":"notifications/message","params":{}}`,
		`{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}`,
		`{"jsonrpc":"2.0","id":"s1","method":"roots/list"}`,
		`{"jsonrpc":"2.0","id":2,"result":{}}`,
		"bye",
		`{"jsonrpc":"2.0","id":3,"result":{}}`,
		`{"jsonrpc":"2.0","id":44,"result":{}}`,
	}
	paths := put(t, strings.Join(client, "\n"), strings.Join(server, "\n"))
	h, got, err := read(t, nil, capture.Options{FromClient: paths[0], FromServer: paths[1]})
	if err != nil {
		t.Fatal(err)
	}
	same(t, got, []string{
		"<- noise starting",
		"-> message " + client[0], "-> message " + client[1],
		"<- message " + server[1], "<- message " + server[2],
		"-> message " + client[2], "<- message " + server[3], "<- message " + server[4],
		"-> message " + client[3], "-> message " + client[4], "<- message " + server[5],
		"<- noise bye",
		"-> message " + client[5], "<- message " + server[7], "<- message " + server[8],
	})
	if h.Transport != trace.Stdio || fmt.Sprint(h.Lacks) != "[headers timing close order]" {
		t.Errorf("header %+v", h)
	}
}

// All requests written at once, as by printf … | server, and files that do not match at all.
func TestPairOddities(t *testing.T) {
	req := func(i int) string { return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ping"}`, i) }
	res := func(i int) string { return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{}}`, i) }
	for _, c := range []struct {
		name           string
		client, server []string
		want           []string
	}{
		{"answers out of order", []string{req(1), req(2)}, []string{res(2), res(1)}, []string{"-> " + req(1), "-> " + req(2), "<- " + res(2), "<- " + res(1)}},
		{"each waits for the other", []string{res(9)}, []string{res(8)}, []string{"-> " + res(9), "<- " + res(8)}},
		{"noise from the client", []string{"hello", req(1)}, []string{res(1)}, []string{"-> hello", "-> " + req(1), "<- " + res(1)}},
		{"silent server", []string{req(1)}, nil, []string{"-> " + req(1)}},
		{"silent client", nil, []string{res(1)}, []string{"<- " + res(1)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			paths := put(t, strings.Join(c.client, "\n"), strings.Join(c.server, "\n"))
			_, got, err := read(t, nil, capture.Options{FromClient: paths[0], FromServer: paths[1]})
			if err != nil {
				t.Fatal(err)
			}
			for i := range got {
				got[i] = strings.Replace(strings.Replace(got[i], " message", "", 1), " noise", "", 1)
			}
			same(t, got, c.want)
		})
	}
}

func TestOwnFormat(t *testing.T) {
	head := `{"format":"mcp-conform-trace","version":1,"tool":"t","made":"record","transport":"stdio"}` + "\n"
	ev := `{"seq":7,"kind":"message","from":"client","conn":"a","text":"{}"}` + "\n"
	h, got, err := read(t, put(t, head+ev+ev), capture.Options{})
	if err != nil || h.Made != "record" {
		t.Fatal(err, h)
	}
	same(t, got, []string{"-> message {}", "-> message {}"})

	// Several files: connections stay apart, numbers count through.
	s, err := capture.Open(put(t, head+ev, head+ev, initialize+"\n"), capture.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for i, want := range []string{"1:a", "2:a", "3:c1"} {
		if e, err := s.Next(); err != nil || e.Conn != want || e.Seq != int64(i+1) {
			t.Errorf("%v %+v", err, e)
		}
	}
	if h := s.Header(); h.Transport != "" || h.Made != "record, import:lines" || len(h.Lacks) != 3 {
		t.Errorf("%+v", h)
	}
}

func TestUnreadableFiles(t *testing.T) {
	known := "known formats: a trace of mcp-conform, plain JSON-RPC messages one a line, HAR 1.2"
	cases := []struct{ name, file, want string }{
		{"empty", "", "f1: the file is empty; " + known},
		{"blank", " \n\n", "f1: the file is empty; " + known},
		{"binary", "\x7fELF\x02\x01\x01\x00\x00\x00", "f1: binary data at offset 7; " + known},
		{"latin-1", "caf\xe9 au lait, bien s\xfbr", "f1: binary data at offset 3"},
		{"gzip", "\x1f\x8b\x08\x00", "f1: the file is compressed by gzip: decompress it first"},
		{"UTF-16", "\xff\xfe{\x00", "f1: the file is UTF-16 text"},
		{"pcap", "\xd4\xc3\xb2\xa1\x02\x00", "f1: the file is a packet capture"},
		{"mitmproxy", "1234:9:websocket;0:~7:request;", "f1: the file is a flow file of mitmproxy"},
		{"prose", "hello\nworld\n", `f1: no message found in the first 12 bytes, which begin "hello\nworld\n"; ` + known},
		{"other JSON", `{"openapi":"3.1"}`, "f1: no message found"},
		{"pretty", "{\n  \"jsonrpc\": \"2.0\",\n  \"id\": 1\n}\n", "f1: the messages are spread over several lines"},
		{"wrapped", `{"ts":1,"dir":"c2s","msg":{"jsonrpc":"2.0"}}` + "\n" + `{"ts":2}` + "\n", "f1: messages are wrapped in other text or objects"},
		{"a cut-off message", `{"jsonrpc":"2.0","id":`, "f1: the file is truncated"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, got, err := read(t, put(t, c.file), capture.Options{})
			if err == nil || !strings.Contains(err.Error(), c.want) || len(got) > 0 {
				t.Errorf("%q, %v; want %s", got, err, c.want)
			}
		})
	}
	if _, _, err := read(t, []string{"/no/such/file"}, capture.Options{}); err == nil || !strings.Contains(err.Error(), "/no/such/file") {
		t.Error(err)
	}
	if _, _, err := read(t, []string{t.TempDir()}, capture.Options{}); err == nil || !strings.Contains(err.Error(), "a folder") {
		t.Error(err)
	}
	if _, _, err := read(t, nil, capture.Options{}); err == nil {
		t.Error("nothing to read is no error")
	}
	if _, _, err := read(t, []string{"a"}, capture.Options{FromClient: "b"}); err == nil {
		t.Error("half a pair is no error")
	}
	if _, _, err := read(t, put(t, "x"), capture.Options{Format: "pcap"}); err == nil || !strings.Contains(err.Error(), "trace, lines, har") {
		t.Error(err)
	}
}

func TestBrokenInTheMiddle(t *testing.T) {
	cases := []struct{ name, file, want string }{
		{"lines cut off", initialize + "\n" + initResult + "\n" + `{"jsonrpc":"2.0","met`, "f1:3: the file is truncated"},
		{"long line", initialize + "\n" + initResult + "\n" + strings.Repeat("x", 5000) + "\n" + initialzd, "f1:3: the line is longer than 4096 bytes"},
		{"own format cut off", `{"format":"mcp-conform-trace","version":1,"tool":"","made":"run"}` + "\n" + strings.Repeat(`{"seq":1,"kind":"noise"}`+"\n", 2) + `{"seq":3,"ki`, "f1:4: the file is truncated"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, got, err := read(t, put(t, c.file), capture.Options{MaxLine: 4096})
			if err == nil || !strings.Contains(err.Error(), c.want) || len(got) != 2 {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}

// A capture may still be growing: an event is out as soon as its line is in.
func TestFollowStdin(t *testing.T) {
	pr, pw := io.Pipe()
	defer pw.Close()
	opened := make(chan *capture.Source)
	go func() {
		s, err := capture.Open([]string{"-"}, capture.Options{Stdin: pr})
		if err != nil {
			t.Error(err)
		}
		opened <- s
	}()
	io.WriteString(pw, "starting\n"+initialize+"\n")
	s := <-opened
	for _, want := range []string{"<- noise starting", "-> message " + initialize} {
		if e, err := s.Next(); err != nil || show(e) != want {
			t.Errorf("%v %s", err, show(e))
		}
	}
	go io.WriteString(pw, initResult+"\n")
	if e, err := s.Next(); err != nil || show(e) != "<- message "+initResult {
		t.Errorf("%v %s", err, show(e))
	}
}

func FuzzLines(f *testing.F) {
	f.Add(initialize + "\n" + initResult + "\nnoise\n[" + initialzd + "]\n")
	f.Fuzz(func(t *testing.T, s string) {
		want := 0
		for l := range strings.SplitSeq(s, "\n") {
			if strings.TrimSpace(l) != "" {
				want++
			}
		}
		if want == 0 {
			return
		}
		path := put(t, s)
		if _, got, err := read(t, path, capture.Options{Format: capture.Lines}); err == nil && len(got) != want {
			t.Errorf("%d of %d lines", len(got), want)
		}
		if _, got, err := read(t, nil, capture.Options{FromClient: path[0], FromServer: path[0]}); err == nil && len(got) != 2*want {
			t.Errorf("%d of %d lines", len(got), 2*want)
		}
		read(t, path, capture.Options{})
	})
}
