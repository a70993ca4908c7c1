package trace

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestPayloadKind(t *testing.T) {
	message := []string{
		`{}`, `[]`, ` {"a":1} `, "\t[1,2]\r\n", "\xef\xbb\xbf{}", "{\"a\":\"\xff\"}", `{"a":"\ud800"}`,
		`{"a":1,"a":2}`, `{"n":1e999999}`, `[-0.5E+3,0,true,false,null,"\u0000\/"]`, `[[],{},[{"a":[]}]]`,
		strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000),
	}
	noise := []string{
		``, ` `, `1`, `"x"`, `null`, `hello`, `{`, `{"a"}`, `{"a":}`, `{"a":1,}`, `[1,]`, `[1 2]`, `{} {}`, `{}x`, "{}\x00",
		`{a:1}`, `{'a':1}`, `[01]`, `[.5]`, `[1.]`, `[+1]`, `[NaN]`, `["\x"]`, "[\"\n\"]", `["\u12g4"]`, `]`, `[}`, `{]`, `[1}`,
		`<html></html>`, "{}\f", `["a`, `["\`, `[-]`, `[1e]`, `[tru]`, `,`, `[,1]`, `{,"a":1}`, `{"a":1 "b":2}`,
	}
	for _, s := range message {
		if got := PayloadKind([]byte(s)); got != KindMessage {
			t.Errorf("%.60q is %s, want message", s, got)
		}
	}
	for _, s := range noise {
		if got := PayloadKind([]byte(s)); got != KindNoise {
			t.Errorf("%.60q is %s, want noise", s, got)
		}
	}
}

// FuzzPayloadKind holds the scanner to encoding/json, which knows the same
// grammar and refuses only a byte order mark and extreme depth.
func FuzzPayloadKind(f *testing.F) {
	for _, s := range []string{`{"a":[1,-2.5e3,"\u00e9",true,null,{}]}`, `[1,]`, `{"a":1,}`, `{} x`, ` [ ] `, `[0x]`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if strings.HasPrefix(s, "\xef\xbb\xbf") || strings.Count(s, "[")+strings.Count(s, "{") > 9000 {
			return
		}
		trimmed := strings.TrimLeft(s, " \t\r\n")
		want := KindNoise
		if json.Valid([]byte(s)) && (trimmed[0] == '{' || trimmed[0] == '[') {
			want = KindMessage
		}
		if got := PayloadKind([]byte(s)); got != want {
			t.Errorf("%q: got %s, want %s", s, got, want)
		}
	})
}
