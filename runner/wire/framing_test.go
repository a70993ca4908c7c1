package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/mcp-conform/mcp-conform/trace/sse"
)

// cutInto writes data to w in pieces of the sizes that cuts names.
func cutInto(w io.Writer, data, cuts []byte) {
	for _, n := range cuts {
		n := min(int(n), len(data))
		w.Write(data[:n])
		data = data[n:]
	}
	w.Write(data)
}

// Lines come out the same however their bytes are cut, and none is lost.
func FuzzLines(f *testing.F) {
	f.Add([]byte("a\nb\r\n\nlast"), []byte{1, 1, 2})
	f.Add([]byte("\xe2\x82\xac\n"), []byte{1, 1, 1, 1})
	f.Add([]byte("longer than ten\nshort\nexactly-10\n"), []byte{3, 0, 9})
	f.Add([]byte{}, []byte{})
	f.Fuzz(func(t *testing.T, data, cuts []byte) {
		const limit = 10
		var got []string
		l := lines{max: limit, emit: func(line []byte, over int64) {
			got = append(got, string(line)+strings.Repeat("?", int(over)))
		}}
		cutInto(&l, data, cuts)
		l.Close()
		want := strings.Split(string(data), "\n")
		if want[len(want)-1] == "" {
			want = want[:len(want)-1]
		}
		if len(got) != len(want) {
			t.Fatalf("%d lines, want %d: %q", len(got), len(want), got)
		}
		for i, line := range want {
			if len(line) > limit {
				line = line[:limit] + strings.Repeat("?", len(line)-limit)
			}
			if got[i] != line {
				t.Errorf("line %d is %q, want %q", i, got[i], line)
			}
		}
	})
}

// What goes in at one end of the bridge comes out at the other.
func FuzzChunks(f *testing.F) {
	f.Add([]byte("{}\n"))
	f.Add([]byte{})
	f.Add(make([]byte, 2*bridgeChunk+1))
	f.Fuzz(func(t *testing.T, data []byte) {
		var sent bytes.Buffer
		if err := sendChunks(&sent, iotest.DataErrReader(bytes.NewReader(data))); err != nil {
			t.Fatal(err)
		}
		whole := sent.Bytes()
		got, err := io.ReadAll(&chunks{from: iotest.OneByteReader(bytes.NewReader(whole))})
		if err != nil || !bytes.Equal(got, data) {
			t.Fatalf("%d bytes and %v, want %d", len(got), err, len(data))
		}
		_, err = io.ReadAll(&chunks{from: bytes.NewReader(whole[:len(whole)-1])})
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("cut off: %v", err)
		}
	})
}

// Whatever stands where chunks belong is read without a panic and comes to an end.
func FuzzChunksOfStrangers(f *testing.F) {
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"))
	f.Add(binary.BigEndian.AppendUint32(nil, bridgeChunk+1))
	f.Add([]byte{0, 0, 0, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		got, _ := io.ReadAll(&chunks{from: bytes.NewReader(data)})
		if len(got) > len(data) {
			t.Errorf("%d bytes out of %d", len(got), len(data))
		}
	})
}

func TestChunkTooLarge(t *testing.T) {
	_, err := io.ReadAll(&chunks{from: strings.NewReader("GET / HTTP/1.1")})
	if err == nil || !strings.Contains(err.Error(), "another version") {
		t.Errorf("%v", err)
	}
}

// An event that we write is read as what it was, up to the kind of line ends.
func FuzzStreamBytes(f *testing.F) {
	f.Add([]byte("{}"), "1", "message", 0)
	f.Add([]byte("a\nb\r\nc\rd\n"), "", "", 10)
	f.Add([]byte(" leading"), " x", "\u20ac", 3)
	f.Add([]byte{}, "", "", 0)
	f.Fuzz(func(t *testing.T, data []byte, id, event string, retry int) {
		b, err := streamBytes(Out{Data: data, HTTP: &HTTP{EventID: id, Event: event, Retry: retry}})
		if strings.ContainsAny(id+event, "\r\n\x00") {
			if err == nil {
				t.Fatal("an event that cannot be is written")
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		var items []sse.Item
		d := sse.NewDecoder(0, func(it sse.Item) { items = append(items, it) })
		d.Write(b)
		d.Close()
		if data == nil && id == "" && event == "" && retry <= 0 {
			if len(items) != 0 {
				t.Fatalf("nothing became %v", items)
			}
			return
		}
		if len(items) != 1 {
			t.Fatalf("%d items from %q", len(items), b)
		}
		it := items[0]
		want := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(data))
		if string(it.Data) != want || it.Event != event || (it.ID == nil) != (id == "") || it.ID != nil && *it.ID != id {
			t.Errorf("%q became %+v", b, it)
		}
		if (it.Retry != nil) != (retry > 0) || it.Retry != nil && *it.Retry != retry {
			t.Errorf("retry of %q", b)
		}
	})
}
