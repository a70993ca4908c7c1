package trace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

func ptr[T any](v T) *T { return &v }

var started = time.Date(2026, 1, 2, 3, 4, 5, 678_000_009, time.UTC)

// everyKind has one event of each kind with every optional part in use.
func everyKind() []Event {
	return []Event{
		{Seq: 1, Time: started, Kind: KindHTTP, From: Client, Conn: "c1", Exchange: "x1", HTTP: &Head{Method: "POST", URL: "http://h/mcp?a=b&c=d", Headers: [][2]string{{"Accept", "a, b"}, {"X-Latin", "caf\xe9"}, {"Empty", ""}}}},
		{Seq: 2, Kind: KindMessage, From: Client, Conn: "c1", Exchange: "x1", Data: []byte(`{"jsonrpc":"2.0","id":9007199254740993,"id":1}`)},
		{Seq: 3, Kind: KindMessage, From: Server, Data: []byte("{\"a\":\"\xff\"}\r"), SSE: &SSE{ID: ptr(""), Event: "message", Retry: ptr(0)}},
		{Seq: 4, Kind: KindNoise, From: Server, Data: []byte("\xef\xbb\xbf\u2028\u2029\ufffd\x00\x1b\x7f\u0085 <b>&\t\r\n\\\"")},
		{Seq: 5, Kind: KindNoise, From: Server, Data: []byte{}},
		{Seq: 6, Kind: KindSSE, From: Server, SSE: &SSE{Comment: true}},
		{Seq: 7, Kind: KindStderr, From: Server, Data: []byte("warn"), Note: "cut \xff", Masked: []string{"text scheme"}},
		{Seq: 8, Kind: KindHTTP, From: Server, HTTP: &Head{Status: 202}},
		{Seq: 9, Kind: KindClosed, From: Server, Conn: "\xff", End: &End{How: "exit", Code: -1, Bytes: 1 << 40, After: 1500*time.Millisecond + 1, Detail: "why"}},
		{Seq: 10, Kind: KindClosed, End: &End{How: "signal", Signal: "SIGKILL"}},
	}
}

func write(t testing.TB, h Header, events []Event) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := NewWriter(&b, h)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if err := w.Write(e); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

func readAll(t testing.TB, r io.Reader, o ReaderOptions) (Header, []Event, error) {
	t.Helper()
	tr, err := NewReader(r, o)
	if err != nil {
		return Header{}, nil, err
	}
	var events []Event
	for {
		e, err := tr.Next()
		if err == io.EOF {
			return tr.Header(), events, nil
		}
		if err != nil {
			if _, again := tr.Next(); again != err {
				t.Errorf("the error is not final: %v, then %v", err, again)
			}
			return tr.Header(), events, err
		}
		events = append(events, e)
	}
}

func TestRoundTrip(t *testing.T) {
	h := Header{Tool: "mcp-conform 1", Made: "run", Transport: Stdio, Revision: "2025-11-25", Target: "node <x> & y", Subject: Server, Started: started, Lacks: []Lack{LackOrder, LackTiming}}
	gotHeader, got, err := readAll(t, bytes.NewReader(write(t, h, everyKind())), ReaderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	h.Format, h.Version = Format, Version
	if !reflect.DeepEqual(gotHeader, h) {
		t.Errorf("header\n got %+v\nwant %+v", gotHeader, h)
	}
	for i, want := range everyKind() {
		if !reflect.DeepEqual(got[i], want) {
			t.Errorf("event %d\n got %+v\nwant %+v", i+1, got[i], want)
		}
	}
}

// A field that is added to the types must be added to the format: each is in
// use in some event of everyKind, and TestRoundTrip compares them all.
func TestNoFieldIsForgotten(t *testing.T) {
	used := map[string]bool{}
	var visit func(v reflect.Value)
	visit = func(v reflect.Value) {
		if v.Kind() == reflect.Pointer {
			v = v.Elem()
		}
		if v.Kind() != reflect.Struct || v.Type() == reflect.TypeFor[time.Time]() {
			return
		}
		for i := range v.NumField() {
			name := v.Type().Name() + "." + v.Type().Field(i).Name
			used[name] = used[name] || !v.Field(i).IsZero()
			visit(v.Field(i))
		}
	}
	for _, e := range everyKind() {
		visit(reflect.ValueOf(e))
	}
	for name, yes := range used {
		if !yes {
			t.Errorf("%s is not in use", name)
		}
	}
	if len(used) < 20 {
		t.Errorf("only %d fields seen", len(used))
	}
}

// The file is made to be read by people: this pins its look.
func TestFileLook(t *testing.T) {
	lines := strings.Split(string(write(t, Header{Tool: "t", Made: "run"}, everyKind())), "\n")
	want := map[int]string{
		0:  `{"format":"mcp-conform-trace","version":1,"tool":"t","made":"run"}`,
		1:  `{"seq":1,"time":"2026-01-02T03:04:05.678000009Z","kind":"http","from":"client","conn":"c1","exchange":"x1","http":{"method":"POST","url":"http://h/mcp?a=b&c=d","headers":[["Accept","a, b"],["X-Latin",{"base64":"Y2Fm6Q=="}],["Empty",""]]}}`,
		2:  `{"seq":2,"kind":"message","from":"client","conn":"c1","exchange":"x1","text":"{\"jsonrpc\":\"2.0\",\"id\":9007199254740993,\"id\":1}"}`,
		3:  `{"seq":3,"kind":"message","from":"server","base64":"eyJhIjoi/yJ9DQ==","sse":{"id":"","event":"message","retry":0}}`,
		4:  `{"seq":4,"kind":"noise","from":"server","text":"\ufeff\u2028\u2029` + "\ufffd" + `\u0000\u001b\u007f\u0085 <b>&\t\r\n\\\""}`,
		5:  `{"seq":5,"kind":"noise","from":"server","text":""}`,
		9:  `{"seq":9,"kind":"closed","from":"server","conn":{"base64":"/w=="},"end":{"how":"exit","code":-1,"bytes":1099511627776,"afterNs":1500000001,"detail":"why"}}`,
		11: ``,
	}
	for i, w := range want {
		if lines[i] != w {
			t.Errorf("line %d\n got %s\nwant %s", i+1, lines[i], w)
		}
	}
}

func compileSchema(t testing.TB) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("trace.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("trace.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func validate(s *jsonschema.Schema, l string) error {
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(l))
	if err != nil {
		return err
	}
	return s.Validate(v)
}

func TestEveryLineFitsTheSchema(t *testing.T) {
	s := compileSchema(t)
	h := Header{Tool: "t", Made: "import:har", Transport: HTTPSSE, Started: started,
		Lacks: []Lack{LackHeaders, LackBytes, LackTiming, LackOrder, LackClose, LackNoise, LackStart}}
	for _, l := range strings.Split(strings.TrimSpace(string(write(t, h, everyKind()))), "\n") {
		if err := validate(s, l); err != nil {
			t.Errorf("%s: %v", l, err)
		}
	}
}

// What the reader refuses, the schema refuses, and the message says where.
func TestBadFiles(t *testing.T) {
	const head = `{"format":"mcp-conform-trace","version":1,"tool":"t","made":"run"}`
	schema := compileSchema(t)
	cases := []struct{ name, file, want string }{
		{"empty", "", "f.jsonl: the file is empty"},
		{"another format", `{"log":{}}` + "\n", "f.jsonl:1: not the header of a trace"},
		{"a message", `{"jsonrpc":"2.0","method":"ping"}` + "\n", "f.jsonl:1: not the header of a trace"},
		{"text", "hello\n", "f.jsonl:1: not the header of a trace"},
		{"newer version", `{"format":"mcp-conform-trace","version":2,"new":1}` + "\n", "f.jsonl:1: the trace has version 2 of the format and this tool reads version 1"},
		{"unknown header key", strings.Replace(head, "}", `,"colour":1}`, 1) + "\n", `f.jsonl:1: not the header of a trace: json: unknown field "colour"`},
		{"cut-off header", `{"format":"mcp-con`, "f.jsonl:1: the file is truncated"},
		{"unknown key", head + "\n" + `{"seq":1,"kind":"noise","x":1}` + "\n", `f.jsonl:2: not an event of a trace: x: unknown member`},
		{"unknown kind", head + "\n" + `{"seq":1,"kind":"smoke"}` + "\n", `f.jsonl:2: not an event of a trace: unknown kind "smoke"`},
		{"no kind", head + "\n" + `{"seq":1}` + "\n", `f.jsonl:2: not an event of a trace: no kind`},
		{"unknown side", head + "\n" + `{"seq":1,"kind":"noise","from":"me"}` + "\n", `f.jsonl:2: not an event of a trace: from is "me"`},
		{"two payloads", head + "\n" + `{"seq":1,"kind":"noise","text":"a","base64":"YQ=="}` + "\n", `f.jsonl:2: not an event of a trace: base64: both text and base64`},
		{"http without head", head + "\n" + `{"seq":1,"kind":"http"}` + "\n", `f.jsonl:2: not an event of a trace: kind http without http`},
		{"three in a header", head + "\n" + `{"seq":1,"kind":"http","http":{"headers":[["a","b","c"]]}}` + "\n", `f.jsonl:2: not an event of a trace`},
		{"wrong case", head + "\n" + `{"seq":1,"Kind":"noise"}` + "\n", `f.jsonl:2: not an event of a trace: Kind: unknown member`},
		{"wrong type", head + "\n" + `{"seq":"1","kind":"noise"}` + "\n", `f.jsonl:2: not an event of a trace: seq: want an integer`},
		{"fraction", head + "\n" + `{"seq":1,"kind":"closed","end":{"code":1.5}}` + "\n", `f.jsonl:2: not an event of a trace: end: code: want an integer`},
		{"no time", head + "\n" + `{"seq":1,"kind":"noise","time":"now"}` + "\n", `f.jsonl:2: not an event of a trace: time: want a time`},
		{"null", head + "\n" + `{"seq":1,"kind":"noise","conn":null}` + "\n", `f.jsonl:2: not an event of a trace: conn: want a string`},
		{"broken base64", head + "\n" + `{"seq":1,"kind":"noise","base64":"*"}` + "\n" + `{"seq":1}` + "\n", `f.jsonl:2: not an event of a trace: base64: base64: illegal`},
		{"an array", head + "\n[]\n", `f.jsonl:2: not an event of a trace: want an object`},
		{"odd octets", head + "\n" + `{"seq":1,"kind":"noise","conn":{"hex":"00"}}` + "\n", `f.jsonl:2: not an event of a trace`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := readAll(t, strings.NewReader(c.file), ReaderOptions{Name: "f.jsonl"})
			if err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("got %v, want %s…", err, c.want)
			}
			valid := true
			for l := range strings.Lines(c.file) {
				valid = valid && validate(schema, l) == nil
			}
			if valid && c.file != "" {
				t.Error("the schema accepts every line")
			}
		})
	}
}

func TestTruncatedFileYieldsWhatCameBefore(t *testing.T) {
	whole := write(t, Header{Tool: "t", Made: "run"}, everyKind())
	lines := bytes.SplitAfter(whole, []byte("\n"))
	cut := whole[:len(whole)-len(lines[10])-5] // within the line of event 9
	_, events, err := readAll(t, bytes.NewReader(cut), ReaderOptions{Name: "f.jsonl"})
	if len(events) != 8 || err == nil || !strings.HasPrefix(err.Error(), "f.jsonl:10: the file is truncated") {
		t.Errorf("%d events, %v", len(events), err)
	}
	// A missing last line end alone is no loss.
	_, events, err = readAll(t, bytes.NewReader(bytes.TrimSpace(whole)), ReaderOptions{})
	if len(events) != 10 || err != nil {
		t.Errorf("%d events, %v", len(events), err)
	}
}

func TestLongLine(t *testing.T) {
	events := []Event{{Seq: 1, Kind: KindNoise, Data: []byte("a")}, {Seq: 2, Kind: KindNoise, Data: bytes.Repeat([]byte("x"), 1<<20)}, {Seq: 3, Kind: KindNoise}}
	file := write(t, Header{Tool: "t", Made: "run"}, events)
	_, got, err := readAll(t, bytes.NewReader(file), ReaderOptions{Name: "f", MaxLine: 1 << 20})
	if len(got) != 1 || err == nil || err.Error() != "f:3: the line is longer than 1048576 bytes" {
		t.Errorf("%d events, %v", len(got), err)
	}
	_, got, err = readAll(t, bytes.NewReader(file), ReaderOptions{MaxLine: 1<<20 + 100})
	if len(got) != 3 || err != nil {
		t.Errorf("%d events, %v", len(got), err)
	}
}

// What no JSON Schema can say.
func TestBadText(t *testing.T) {
	for in, want := range map[string]string{
		`{"seq":1,"kind":"noise","kind":"noise"}`:          `member "kind" stands twice`,
		"{\"seq\":1,\"kind\":\"noise\",\"text\":\"\xff\"}": "text: the string is not UTF-8",
		`{"seq":1,"kind":"noise","text":"\ud800x"}`:        "text: the string has half a surrogate pair",
		`{"seq":1,"kind":"noise"} {}`:                      `more text after the JSON object: "{}"`,
		`{"seq":1,"kind":"noise",}`:                        "no JSON text",
		`{"seq":01,"kind":"noise"}`:                        "no JSON text",
		`{"seq":1 "kind":"noise"}`:                         "no JSON text",
		`{"seq":1,"kind":"noise","text":"\q"}`:             "text: no JSON text",
	} {
		if _, err := decodeEvent([]byte(in)); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", in, err, want)
		}
	}
	// Escapes that the writer never makes are read all the same.
	e, err := decodeEvent([]byte(" {\"seq\" : 1 ,\"kind\":\"no\\u0069se\",\"text\":\"\\ud83d\\ude00\\/\\b\\f\\\\\\u0000\", \"masked\":[ ] }\r"))
	if err != nil || string(e.Data) != "😀/\b\f\\\x00" || e.Kind != KindNoise {
		t.Errorf("%q, %v", e.Data, err)
	}
}

// Whatever is written can be read with the default limit: what escapes would
// swell too much goes as base64, and what is too long for any form is cut, and says so.
func TestLongData(t *testing.T) {
	const limit = 40 << 10
	whole := bytes.Repeat([]byte{1}, limit)
	over := append(bytes.Repeat([]byte("[1],"), limit/4), ']')
	var b bytes.Buffer
	w, err := NewWriter(&b, Header{})
	if err != nil {
		t.Fatal(err)
	}
	w.max = limit
	w.Record(Event{Kind: KindNoise, Data: whole})
	w.Record(Event{Kind: KindMessage, Data: over, Note: "n"})
	if b.Len() > 2*limit {
		t.Errorf("the file has %d bytes", b.Len())
	}
	_, got, err := readAll(t, &b, ReaderOptions{})
	if err != nil || len(got) != 2 {
		t.Fatal(len(got), err)
	}
	if !bytes.Equal(got[0].Data, whole) || got[0].Note != "" {
		t.Errorf("%d bytes, %q", len(got[0].Data), got[0].Note)
	}
	if got[1].Kind != KindNoise || len(got[1].Data) != 4<<10 || got[1].Note != "n; too long: 40961 bytes, the limit is 40960; the first 4096 are kept" {
		t.Errorf("%s, %d bytes, %q", got[1].Kind, len(got[1].Data), got[1].Note)
	}
}

// An event is readable as soon as it was written: neither side holds back.
func TestFollowAPipe(t *testing.T) {
	pr, pw := io.Pipe()
	wrote := make(chan error, 1)
	seen := make(chan struct{})
	go func() {
		w, err := NewWriter(pw, Header{Tool: "t", Made: "run"})
		for i := int64(1); i <= 3 && err == nil; i++ {
			err = w.Write(Event{Seq: i, Kind: KindStderr, Data: []byte("x")})
			<-seen // the next event is written only after this one was read
		}
		pw.CloseWithError(io.EOF)
		wrote <- err
	}()
	r, err := NewReader(pr, ReaderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := int64(1); i <= 3; i++ {
		if e, err := r.Next(); err != nil || e.Seq != i {
			t.Fatalf("got %d, %v", e.Seq, err)
		}
		seen <- struct{}{}
	}
	if _, err := r.Next(); err != io.EOF {
		t.Error(err)
	}
	if err := <-wrote; err != nil {
		t.Error(err)
	}
}

type failing struct{ after int }

func (f *failing) Write(p []byte) (int, error) {
	if f.after--; f.after < 0 {
		return 0, errors.New("disk full")
	}
	return len(p), nil
}

func TestWriterKeepsItsFirstError(t *testing.T) {
	w, err := NewWriter(&failing{after: 2}, Header{})
	if err != nil {
		t.Fatal(err)
	}
	w.Record(Event{Seq: 1, Kind: KindNoise})
	if err := w.Err(); err != nil {
		t.Error(err)
	}
	w.Record(Event{Seq: 2, Kind: KindNoise})
	w.Record(Event{Seq: 3, Kind: KindNoise})
	if err := w.Err(); err == nil || err.Error() != "writing event 2: disk full" {
		t.Error(err)
	}
	bad, _ := NewWriter(io.Discard, Header{})
	if err := bad.Write(Event{Seq: 4}); err == nil || err.Error() != "writing event 4: no kind" {
		t.Error(err)
	}
}

func TestLog(t *testing.T) {
	var a, b []int64
	log := NewLog(func(e Event) { a = append(a, e.Seq) }, func(e Event) { b = append(b, e.Seq) })
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				log.Record(Event{Kind: KindNoise})
			}
		})
	}
	wg.Wait()
	for i := range 800 {
		if a[i] != int64(i+1) || b[i] != a[i] {
			t.Fatalf("event %d has numbers %d and %d", i+1, a[i], b[i])
		}
	}
	if log.Len() != 800 || len(a) != 800 {
		t.Errorf("%d events", log.Len())
	}
}

func FuzzRoundTrip(f *testing.F) {
	f.Add("message", "client", []byte(`{}`), "c", "/x", "Accept", "id", int64(1), 200, 5)
	f.Add("http", "", []byte("\xff\x00"), "\xfe", "http://a@b", "", "\u2028", int64(-1), -2, 0)
	kinds := []Kind{KindMessage, KindHTTP, KindSSE, KindNoise, KindStderr, KindClosed}
	f.Fuzz(func(t *testing.T, kind, from string, data []byte, conn, url, header, id string, ns int64, n, k int) {
		e := Event{Seq: ns, Time: time.Unix(0, ns).UTC(), Kind: kinds[uint(k)%6], Data: data, Conn: conn, Exchange: id, Note: url,
			HTTP: &Head{Method: header, URL: url, Status: n, Headers: [][2]string{{header, id}}},
			SSE:  &SSE{ID: &id, Event: header, Retry: &n, Comment: n%2 == 0},
			End:  &End{How: "eof", Code: n, Bytes: ns, After: time.Duration(ns), Detail: conn}, Masked: []string{id}}
		if from == "client" {
			e.From, e.SSE, e.End, e.Masked, e.Time = Client, nil, nil, nil, time.Time{}
		}
		want := Mask(e)
		_, got, err := readAll(t, bytes.NewReader(write(t, Header{}, []Event{e})), ReaderOptions{})
		if err != nil || len(got) != 1 || fmt.Sprintf("%#v", dump(got[0])) != fmt.Sprintf("%#v", dump(want)) {
			t.Errorf("%v\n got %#v\nwant %#v", err, dump(got[0]), dump(want))
		}
	})
}

// dump follows the pointers of an event, so that two can be compared as text
// and nil can be told from empty.
func dump(e Event) []any {
	out := []any{e.Seq, e.Time, e.Kind, e.From, e.Conn, e.Exchange, e.Data, e.Note, e.Masked}
	if e.HTTP != nil {
		out = append(out, *e.HTTP)
	}
	if e.SSE != nil {
		if out = append(out, e.SSE.Event, e.SSE.Comment); e.SSE.ID != nil {
			out = append(out, *e.SSE.ID)
		}
		if e.SSE.Retry != nil {
			out = append(out, *e.SSE.Retry)
		}
	}
	if e.End != nil {
		out = append(out, *e.End)
	}
	return out
}

// What the decoder accepts, encoding/json and the schema accept.
func FuzzDecodeEvent(f *testing.F) {
	for l := range bytes.Lines(write(f, Header{}, everyKind())) {
		f.Add(l)
	}
	schema := compileSchema(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := decodeEvent(b)
		if err != nil {
			return
		}
		if err := validate(schema, string(b)); err != nil {
			t.Errorf("%q was read as %#v, but: %v", b, dump(e), err)
		}
	})
}

func FuzzReader(f *testing.F) {
	f.Add(write(f, Header{Tool: "t", Made: "run"}, everyKind()))
	f.Add([]byte(`{"format":"mcp-conform-trace","version":1}` + "\n{"))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, events, _ := readAll(t, bytes.NewReader(b), ReaderOptions{})
		if h.Format == "" {
			return
		}
		for i := range events {
			events[i] = Mask(events[i])
		}
		_, again, err := readAll(t, bytes.NewReader(write(t, h, events)), ReaderOptions{})
		if err != nil || len(again) != len(events) {
			t.Errorf("what was read cannot be written and read again: %v", err)
		}
	})
}
