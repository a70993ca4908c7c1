package schemas

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
)

// FuzzBuild holds the fast decoder to encoding/json: what it decodes, the other
// decodes to the same.
func FuzzBuild(f *testing.F) {
	for _, seed := range []string{
		`{"a":[1,2.5,-0,1e5,null,true,false,"x\u00e9\ud83d\ude00"],"b":{}}`, ` [ ] `, `{"a":1,"a":2}`, `"\ud800"`, "\"\xff\"",
		`1e400`, `{"a":}`, `[1,]`, `{"a" : "b" , "c":[ [] , {} ]}`, `"a" x`, ``, `9007199254740993`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got, ok := build(text)
		if !ok {
			return
		}
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		var want any
		if err := d.Decode(&want); err != nil {
			t.Fatalf("%q: build decodes it, encoding/json says %v", text, err)
		}
		if want = tame(want); !reflect.DeepEqual(got, want) {
			t.Fatalf("%q: got %#v, want %#v", text, got, want)
		}
	})
}

// TestBuildDecodesWhatIsPlain: the fast way must be the usual way.
func TestBuildDecodesWhatIsPlain(t *testing.T) {
	for _, text := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{"a":[1.5,{"b":"\u00e9\n"}],"c":null}}}`,
		` {"a" : [ 1 , 2 ] } `, `[]`, `"x"`, `-0.5e-3`, `true`, `null`,
	} {
		if _, ok := build([]byte(text)); !ok {
			t.Errorf("%s: given up", text)
		}
	}
	for _, text := range []string{`{"a":1,"a":2}`, `"\ud800"`, `1e999`, `[`, `{"a"}`, `12345678901234567890`} {
		if _, ok := build([]byte(text)); ok {
			t.Errorf("%s: decoded", text)
		}
	}
}
