package peer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
)

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`, `{"jsonrpc":"2.0","method":"a","params":{"a":1}}`,
		`{"jsonrpc":"2.0","id":"a","result":{}}`, `{"jsonrpc":"2.0","error":{"code":1,"message":""}}`,
		`[{"jsonrpc":"2.0","id":1,"method":"ping"},[],5]`, `[]`, `{}`, `"`, `{"id":null}`, `{"jsonrpc":"2.0","id":1,"method":"a","params":[]}`, " \n ",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p := parse(data)
		kinds := 0
		for _, is := range []bool{p.isRequest(), p.isNotification(), p.isResponse(), p.isBatch, p.bad != nil} {
			if is {
				kinds++
			}
		}
		if kinds == 0 {
			t.Errorf("%q is nothing, not even wrong", data)
		}
		if p.bad != nil && p.bad.code == 0 {
			t.Errorf("%q is wrong for no reason", data)
		}
		if p.id != nil && !json.Valid(p.id) {
			t.Errorf("id %q", p.id)
		}
	})
}

func FuzzHeaderValue(f *testing.F) {
	for _, s := range []string{"us-west1", "Hello, 世界", " padded ", "line1\nline2", "=?base64?literal?=", "", "a\tb", "\x7f", "=?base64?", "?="} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, v string) {
		v = strings.ToValidUTF8(v, "") // values are JSON strings
		h := encodeHeader(v)
		for i := range len(h) {
			if h[i] > 0x7e || (h[i] < 0x20 && h[i] != '\t') {
				t.Fatalf("%q is no header value", h)
			}
		}
		if strings.TrimSpace(h) != h {
			t.Fatalf("%q would be trimmed", h)
		}
		if got, ok := decodeHeader(h); !ok || got != v {
			t.Errorf("%q became %q and then %q", v, h, got)
		}
	})
}

func FuzzReadEvents(f *testing.F) {
	for _, s := range []string{
		"data: a\n\n", "id: 1\ndata: \n\n", ": comment\n\n", "event: message\rdata:a\r\rdata: b\r\n\r\n", "retry: 10\n\n", "data\n\n", "data: a\ndata: b\n\n", "data: cut off",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var whole, slow []string
		readEvents(bytes.NewReader(data), func(e event) { whole = append(whole, show(e)) })
		readEvents(iotest.OneByteReader(bytes.NewReader(data)), func(e event) { slow = append(slow, show(e)) })
		if fmt.Sprint(whole) != fmt.Sprint(slow) {
			t.Errorf("%q: %q at once, %q byte by byte", data, whole, slow)
		}
	})
}

func show(e event) string {
	id := "none"
	if e.id != nil {
		id = *e.id
	}
	return fmt.Sprintf("id %s event %s retry %d data %q", id, e.name, e.retry, e.data)
}

func TestReadEvents(t *testing.T) {
	for in, want := range map[string][]string{
		"data: a\n\n":                           {`id none event  retry -1 data "a"`},
		"data:a\r\rdata:  b\r\n\r\n":            {`id none event  retry -1 data "a"`, `id none event  retry -1 data " b"`},
		"data: a\ndata: b\n\n":                  {`id none event  retry -1 data "a\nb"`},
		"id: 7\ndata: \n\n":                     {`id 7 event  retry -1 data ""`},
		": comment\n\n:\n\n":                    nil,
		"retry: 100\n\nretry: soon\n\n":         {`id none event  retry 100 data ""`},
		"event: endpoint\ndata: /m\nother\n\n":  {`id none event endpoint retry -1 data "/m"`},
		"data: one\n\ndata: the end cuts it of": {`id none event  retry -1 data "one"`},
	} {
		var got []string
		readEvents(strings.NewReader(in), func(e event) { got = append(got, show(e)) })
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func FuzzOpen(f *testing.F) {
	s, err := NewServer(Options{})
	if err != nil {
		f.Fatal(err)
	}
	good := s.seal("cursor tools/list", 8)
	f.Add(good)
	f.Add("")
	f.Add("OA")
	f.Add(".")
	f.Fuzz(func(t *testing.T, token string) {
		var n int
		if s.open("cursor tools/list", token, &n) != (token == good) {
			// A token of another content would need the key.
			t.Errorf("%q was opened: %d", token, n)
		}
		if s.open("cursor prompts/list", token, &n) {
			t.Errorf("%q was opened for another purpose", token)
		}
	})
}

func TestBadHeaders(t *testing.T) {
	property := func(p string) string { return `{"type":"object","properties":{"a":` + p + `}}` }
	for schema, bad := range map[string]bool{
		property(`{"type":"string"}`):                                                                                        false,
		property(`{"type":"string","x-mcp-header":"Region"}`):                                                                false,
		property(`{"type":"integer","x-mcp-header":"Region"}`):                                                               false,
		property(`{"type":"boolean","x-mcp-header":"Region"}`):                                                               false,
		property(`{"type":"number","x-mcp-header":"Region"}`):                                                                true,
		property(`{"type":"object","x-mcp-header":"Region"}`):                                                                true,
		property(`{"type":["string","null"],"x-mcp-header":"Region"}`):                                                       true,
		property(`{"type":"string","x-mcp-header":""}`):                                                                      true,
		property(`{"type":"string","x-mcp-header":"a b"}`):                                                                   true,
		property(`{"type":"string","x-mcp-header":"a:b"}`):                                                                   true,
		property(`{"type":"string","x-mcp-header":"Zürich"}`):                                                                true,
		property(`{"type":"string","x-mcp-header":"a\nb"}`):                                                                  true,
		property(`{"type":"string","x-mcp-header":7}`):                                                                       true,
		property(`{"type":"object","properties":{"b":{"type":"string","x-mcp-header":"B"}}}`):                                false,
		property(`{"type":"array","items":{"type":"string","x-mcp-header":"B"}}`):                                            true,
		property(`{"anyOf":[{"type":"string","x-mcp-header":"B"}]}`):                                                         true,
		`{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"X"},"b":{"type":"string","x-mcp-header":"x"}}}`: true,
		`{"type":"object","properties":{"x-mcp-header":{"type":"string"}}}`:                                                  false,
	} {
		var o obj
		if err := json.Unmarshal([]byte(schema), &o); err != nil {
			t.Fatal(err)
		}
		if why := badHeaders(o); (why != "") != bad {
			t.Errorf("%s: %q", schema, why)
		}
	}
}

func TestAccepts(t *testing.T) {
	for accept, want := range map[string]bool{
		"application/json, text/event-stream": true, "text/event-stream": true, "*/*": true, "text/*;q=0.5": true,
		"application/json": false, "": false, "text/html,application/json": false,
	} {
		r := &http.Request{Header: http.Header{"Accept": {accept}}}
		if accepts(r, typeStream) != want {
			t.Errorf("%q", accept)
		}
	}
}
