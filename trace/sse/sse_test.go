package sse_test

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/mcp-conform/mcp-conform/trace"
	"github.com/mcp-conform/mcp-conform/trace/sse"
)

func ptr[T any](v T) *T { return &v }

// decode reads all items of s, whole or in pieces of one byte.
func decode(s string, one bool) []sse.Item {
	var src io.Reader = strings.NewReader(s)
	if one {
		src = iotest.OneByteReader(src)
	}
	r := sse.NewReader(src)
	var items []sse.Item
	for {
		it, err := r.Next()
		if err != nil {
			return items
		}
		items = append(items, it)
	}
}

func data(s string) sse.Item { return sse.Item{Data: []byte(s), HasData: true} }

func TestDecode(t *testing.T) {
	withID := func(it sse.Item, id string) sse.Item { it.ID = &id; return it }
	cases := []struct {
		name, in string
		want     []sse.Item
	}{
		{"nothing", "", nil},
		{"blank lines only", "\n\n\r\n\r", nil},
		{"one event", "data: x\n\n", []sse.Item{data("x")}},
		{"one space is dropped, not two", "data:  x\n\n", []sse.Item{data(" x")}},
		{"no space", "data:x\n\n", []sse.Item{data("x")}},
		{"data lines are joined", "data: a\ndata: b\ndata\n\n", []sse.Item{data("a\nb\n")}},
		{"CR", "data: a\rdata: b\r\r", []sse.Item{data("a\nb")}},
		{"CRLF", "data: a\r\ndata: b\r\n\r\n", []sse.Item{data("a\nb")}},
		{"mixed ends", "data: a\r\ndata: b\rdata: c\n\r\ndata: d\n\n", []sse.Item{data("a\nb\nc"), data("d")}},
		{"leading BOM", "\xef\xbb\xbfdata: x\n\n", []sse.Item{data("x")}},
		{"second BOM is part of a name", "\xef\xbb\xbf\xef\xbb\xbfdata: x\n\n", []sse.Item{{}}},
		{"priming event", "id: 7\ndata:\n\n", []sse.Item{withID(data(""), "7")}},
		{"lone id", "id: 7\n\n", []sse.Item{{ID: ptr("7")}}},
		{"empty id", "id\ndata: x\n\n", []sse.Item{withID(data("x"), "")}},
		{"id with NUL is ignored", "id: a\x00b\ndata: x\n\n", []sse.Item{data("x")}},
		{"retry", "retry: 150\n\n", []sse.Item{{Retry: ptr(150)}}},
		{"retry must be digits", "retry: +5\nretry: 1.5\nretry:\nretry: 99999999999999999999\n\n", []sse.Item{{}}},
		{"event type", "event: endpoint\ndata: /m?s=1\n\n", []sse.Item{{Event: "endpoint", Data: []byte("/m?s=1"), HasData: true}}},
		{"comment", ": keep-alive\n\n", []sse.Item{{Comment: true}}},
		{"comment inside an event", ": a\ndata: x\n\n", []sse.Item{data("x")}},
		{"unknown field", "foo: bar\n\n", []sse.Item{{}}},
		{"names are exact", "Data: x\ndata : y\n\n", []sse.Item{{}}},
		{"colons in values", "data: a: b\n\n", []sse.Item{data("a: b")}},
		{"cut off before the blank line", "data: x\n", []sse.Item{{Data: []byte("x"), HasData: true, Incomplete: true}}},
		{"cut off in a line", "data: x\n\ndata: y", []sse.Item{data("x"), {Data: []byte("y"), HasData: true, Incomplete: true}}},
		{"not text", "data: \xff\xfe\x00\n\n", []sse.Item{data("\xff\xfe\x00")}},
	}
	for _, c := range cases {
		for _, one := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/one=%v", c.name, one), func(t *testing.T) {
				if got := decode(c.in, one); !reflect.DeepEqual(got, c.want) {
					t.Errorf("%q\n got %+v\nwant %+v", c.in, got, c.want)
				}
			})
		}
	}
}

// A blank line that ends in CR must not wait for the byte after it: on a live
// stream that byte may come minutes later.
func TestCREndsAnEventAtOnce(t *testing.T) {
	var got []sse.Item
	d := sse.NewDecoder(0, func(it sse.Item) { got = append(got, it) })
	d.Write([]byte("data: x\r\r"))
	if len(got) != 1 {
		t.Fatalf("got %d items before the next byte, want 1", len(got))
	}
	d.Write([]byte("\ndata: y\r\n\r"))
	if len(got) != 2 || string(got[1].Data) != "y" {
		t.Fatalf("got %+v", got)
	}
}

func TestLastID(t *testing.T) {
	r := sse.NewReader(strings.NewReader("id: 1\ndata: a\n\ndata: b\n\nid: 2\n\nid: 3"))
	var ids []string
	for {
		if _, err := r.Next(); err != nil {
			break
		}
		ids = append(ids, r.LastID())
	}
	// All three blocks arrive in one read, so the id is that of the newest; the
	// cut-off block does not count.
	if want := []string{"2", "2", "2", "2"}; !reflect.DeepEqual(ids, want) {
		t.Errorf("got %q, want %q", ids, want)
	}
}

func TestLimit(t *testing.T) {
	var got []sse.Item
	d := sse.NewDecoder(10, func(it sse.Item) { got = append(got, it) })
	for range 1000 {
		d.Write([]byte("data: " + strings.Repeat("x", 999) + "\n"))
	}
	d.Write([]byte("\ndata: next\n\n"))
	if len(got) != 2 {
		t.Fatalf("got %d items, want 2", len(got))
	}
	if len(got[0].Data) > 10+1000 || got[0].Dropped < 1000*999-10 {
		t.Errorf("kept %d, dropped %d", len(got[0].Data), got[0].Dropped)
	}
	if string(got[1].Data) != "next" || got[1].Dropped != 0 {
		t.Errorf("after the long event: %+v", got[1])
	}
}

func TestFill(t *testing.T) {
	cases := []struct {
		in   string
		kind trace.Kind
	}{
		{"data: {\"a\":1}\n\n", trace.KindMessage},
		{"event: message\ndata: [1]\n\n", trace.KindMessage},
		{"event: ping\ndata: {}\n\n", trace.KindSSE},
		{"event: endpoint\ndata: /messages\n\n", trace.KindSSE},
		{"id: 1\ndata:\n\n", trace.KindSSE},
		{": hi\n\n", trace.KindSSE},
		{"data: hello\n\n", trace.KindNoise},
		{"data: {}\n", trace.KindSSE}, // cut off: no client sees it
	}
	for _, c := range cases {
		items := decode(c.in, false)
		if len(items) != 1 {
			t.Fatalf("%q: %d items", c.in, len(items))
		}
		var e trace.Event
		items[0].Fill(&e)
		if e.Kind != c.kind || e.SSE == nil {
			t.Errorf("%q: kind %q, fields %v; want kind %q", c.in, e.Kind, e.SSE, c.kind)
		}
	}
}

func TestReaderPassesTheError(t *testing.T) {
	broken := errors.New("broken")
	r := sse.NewReader(io.MultiReader(strings.NewReader("data: a\n\ndata: b"), iotest.ErrReader(broken)))
	for _, want := range []string{"a", "b"} {
		it, err := r.Next()
		if err != nil || string(it.Data) != want {
			t.Fatalf("got %q, %v; want %q", it.Data, err, want)
		}
	}
	if _, err := r.Next(); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

// FuzzDecode checks that pieces do not matter and that what is dispatched
// survives being written again in the plainest form.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{"data: x\n\n", "\xef\xbb\xbf: c\r\rdata:a\r\ndata\n\nid: 1\n", "event: e\nretry: 5\ndata: \r\r\n\n", "\r\n\r"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		whole, pieces := decode(s, false), decode(s, true)
		if !reflect.DeepEqual(whole, pieces) {
			t.Fatalf("whole %+v\npieces %+v", whole, pieces)
		}
		var b strings.Builder
		var want []sse.Item
		for _, it := range whole {
			if !it.Dispatched() {
				continue
			}
			want = append(want, it)
			if it.ID != nil {
				fmt.Fprintf(&b, "id: %s\n", *it.ID)
			}
			if it.Event != "" {
				fmt.Fprintf(&b, "event: %s\n", it.Event)
			}
			if it.Retry != nil {
				fmt.Fprintf(&b, "retry: %d\n", *it.Retry)
			}
			fmt.Fprintf(&b, "data: %s\n\n", strings.ReplaceAll(string(it.Data), "\n", "\ndata: "))
		}
		if again := decode(b.String(), false); !reflect.DeepEqual(again, want) {
			t.Fatalf("again %+v\nwant %+v", again, want)
		}
	})
}
