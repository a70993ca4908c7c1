package schemas

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func faultsOf(m Message) string {
	var parts []string
	for _, p := range m.Problems {
		parts = append(parts, fmt.Sprintf("%s@%s:%d", p.Code, p.Pointer, p.Offset))
	}
	return strings.Join(parts, " ")
}

func TestClassify(t *testing.T) {
	for _, c := range []struct {
		text   string
		kind   Kind
		faults string
	}{
		{`{"jsonrpc":"2.0","id":1,"method":"ping"}`, Request, ""},
		{`{"jsonrpc":"2.0","id":0,"method":"ping"}`, Request, ""},
		{`{"jsonrpc":"2.0","id":"","method":"ping","params":{}}`, Request, ""},
		{` {"jsonrpc":"2.0","method":"x"} ` + "\n", Notification, ""},
		{`{"jsonrpc":"2.0","id":1,"result":{}}`, Result, ""},
		{`{"jsonrpc":"2.0","id":1,"result":null}`, Result, ""},
		{`{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"m"}}`, Error, ""},
		{`{"jsonrpc":"2.0","error":{"code":-1,"message":"m"}}`, Error, ""},
		{`{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"m"}}`, Error, ""},
		{`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, Batch, ""},

		// Keys decide, and match exactly, escapes resolved.
		{`{"jsonrpc":"2.0","ID":1,"method":"ping"}`, Notification, ""},
		{`{"jsonrpc":"2.0","\u0069d":1,"method":"ping"}`, Request, ""},
		{`{"jsonrpc":"2.0","id":1,"Method":"ping"}`, Invalid, "no-kind@:0"},
		{`{}`, Invalid, "missing-jsonrpc@:0 no-kind@:0"},

		// The envelope.
		{`{"id":1,"method":"x"}`, Request, "missing-jsonrpc@:0"},
		{`{"jsonrpc":2.0,"id":1,"method":"x"}`, Request, "wrong-jsonrpc@/jsonrpc:11"},
		{`{"jsonrpc":"1.0","id":1,"method":"x"}`, Request, "wrong-jsonrpc@/jsonrpc:11"},
		{`{"jsonrpc":"2.0","id":null,"method":"x"}`, Request, "null-id@/id:22"},
		{`{"jsonrpc":"2.0","id":1.5,"method":"x"}`, Request, "bad-id@/id:22"},
		{`{"jsonrpc":"2.0","id":true,"method":"x"}`, Request, "bad-id@/id:22"},
		{`{"jsonrpc":"2.0","id":[1],"method":"x"}`, Request, "bad-id@/id:22"},
		{`{"jsonrpc":"2.0","id":1.0,"method":"x"}`, Request, "float-integer@/id:22"},
		{`{"jsonrpc":"2.0","id":1e2,"method":"x"}`, Request, "float-integer@/id:22"},
		{`{"jsonrpc":"2.0","id":9007199254740992,"method":"x"}`, Request, ""},
		{`{"jsonrpc":"2.0","id":-9007199254740993,"method":"x"}`, Request, "unsafe-integer@/id:22"},
		{`{"jsonrpc":"2.0","id":1,"method":7}`, Request, "bad-method@/method:33"},
		{`{"jsonrpc":"2.0","id":1,"method":"x","params":[]}`, Request, "bad-params@/params:46"},
		{`{"jsonrpc":"2.0","id":1,"method":"x","params":null}`, Request, "bad-params@/params:46"},
		{`{"jsonrpc":"2.0","id":1,"method":"x","result":{}}`, Request, "method-and-outcome@/result:46"},
		{`{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":""}}`, Error, "result-and-error@/result:33"},
		{`{"jsonrpc":"2.0","result":{}}`, Invalid, "missing-id@:0"},
		{`{"jsonrpc":"2.0","id":1,"error":"no"}`, Error, "bad-error@/error:32 bad-error@/error:32"},
		{`{"jsonrpc":"2.0","id":1,"error":{"code":"1","message":"m"}}`, Error, "bad-error@/error:32"},
		{`{"jsonrpc":"2.0","id":1,"error":{"code":1.5,"message":"m"}}`, Error, "bad-error@/error:32"},
		{`{"jsonrpc":"2.0","id":1,"error":{"code":1.0,"message":"m"}}`, Error, "float-integer@/error/code:40"},
		{`{"jsonrpc":"2.0","id":1,"error":{"code":1}}`, Error, "bad-error@/error:32"},
		{`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2.0}}`, Notification, "float-integer@/params/requestId:74"},
		{`{"jsonrpc":"2.0","id":1,"method":"x","params":{"_meta":{"progressToken":1e0}}}`, Request, "float-integer@/params/_meta/progressToken:72"},

		// What parsers hide.
		{`{"jsonrpc":"2.0","id":1,"id":2,"method":"x"}`, Request, "duplicate-key@/id:24"},
		{`{"jsonrpc":"2.0","id":1,"\u0069\u0064":2,"method":"x"}`, Request, "duplicate-key@/id:24"},
		{`{"jsonrpc":"2.0","method":"x","params":{"a":{"b":1,"b":1}}}`, Notification, "duplicate-key@/params/a/b:51"},
		{`{"jsonrpc":"2.0","method":"x","params":{"a":[{"a/b":1,"a\/b":1}]}}`, Notification, "duplicate-key@/params/a/0/a~1b:54"},
		{"\xEF\xBB\xBF" + `{"jsonrpc":"2.0","id":1,"method":"ping"}`, Request, "bom@:0"},
		{`{"jsonrpc":"2.0","method":"x","params":{"a":"` + "\xff" + `"}}`, Notification, "invalid-utf8@/params/a:45"},
		{`{"jsonrpc":"2.0","method":"x","params":{"a":"\ud83d"}}`, Notification, "lone-surrogate@/params/a:45"},
		{`{"jsonrpc":"2.0","method":"x","params":{"a":"\ude00\ud83d"}}`, Notification, "lone-surrogate@/params/a:45 lone-surrogate@/params/a:51"},
		{`{"jsonrpc":"2.0","method":"x","params":{"a":"\ud83d\ude00"}}`, Notification, ""},
		{`{"jsonrpc":"2.0","method":"x","params":{"a":"\u0000"}}`, Notification, "nul@/params/a:45"},
		{`{"jsonrpc":"2.0","method":"x","params":{"n":1e400}}`, Notification, "huge-number@/params/n:44"},
		{`{"jsonrpc":"2.0","method":"x","params":{"n":-1E-99999999999999999999}}`, Notification, "huge-number@/params/n:44"},
		{`{"jsonrpc":"2.0","method":"x","params":{"n":0e99999}}`, Notification, ""},
		{`{"jsonrpc":"2.0","method":"x","params":{"n":12345678901234567890}}`, Notification, "unsafe-integer@/params/n:44"},

		// No JSON.
		{``, Invalid, "not-json@:0"},
		{` `, Invalid, "not-json@:1"},
		{`hello`, Invalid, "not-json@:0"},
		{`{"jsonrpc":"2.0"`, Invalid, "not-json@:16"},
		{`{"a":1,}`, Invalid, "not-json@:7"},
		{`{'a':1}`, Invalid, "not-json@:1"},
		{`{"a":01}`, Invalid, "not-json@/a:5"},
		{`{"a":1.}`, Invalid, "not-json@/a:7"},
		{`{"a":.5}`, Invalid, "not-json@/a:5"},
		{`{"a":+1}`, Invalid, "not-json@/a:5"},
		{`{"a":-}`, Invalid, "not-json@/a:6"},
		{`{"a":1e}`, Invalid, "not-json@/a:7"},
		{`{"a":NaN}`, Invalid, "not-json@/a:5"},
		{`{"a":tru}`, Invalid, "not-json@/a:5"},
		{`{"a":"\x"}`, Invalid, "not-json@/a:6"},
		{`{"a":"\u12g4"}`, Invalid, "not-json@/a:6"},
		{"{\"a\":\"\n\"}", Invalid, "not-json@/a:6"},
		{"{\"a\":\"\x00\"}", Invalid, "not-json@/a:6"},
		{"\x00", Invalid, "not-json@:0"},
		{`{"a":"`, Invalid, "not-json@/a:6"},
		{`{"jsonrpc":"2.0","method":"x"}{"jsonrpc":"2.0","method":"x"}`, Invalid, "not-json@:30"},
		{`[{"jsonrpc":"2.0","method":"x"}] x`, Invalid, "not-json@:33"},
		{`[{"jsonrpc":"2.0","method":"x"}`, Invalid, "not-json@:31"},
		{`[{"a":}]`, Invalid, "not-json@/a:6"},

		// JSON, but no message.
		{`"hello"`, Invalid, "not-object@:0"},
		{`3`, Invalid, "not-object@:0"},
		{`null`, Invalid, "not-object@:0"},
		{`[]`, Batch, "empty-batch@:0"},
	} {
		m := Classify([]byte(c.text))
		if m.Kind != c.kind || faultsOf(m) != c.faults {
			t.Errorf("%s\n got %s %q\nwant %s %q", c.text, m.Kind, faultsOf(m), c.kind, c.faults)
		}
		if string(m.Raw) != c.text {
			t.Errorf("%q: Raw is %q", c.text, m.Raw)
		}
	}
}

func TestClassifyKeepsPartsVerbatim(t *testing.T) {
	m := Classify([]byte(`{ "id" : 1.50e1 , "method":"a\u0062c", "params" : {"a": 1} , "jsonrpc":"2.0" }`))
	if string(m.ID) != "1.50e1" || m.Method != "abc" || string(m.Params) != `{"a": 1}` {
		t.Errorf("got id %s, method %q, params %s", m.ID, m.Method, m.Params)
	}
}

func TestClassifyBatchMembers(t *testing.T) {
	m := Classify([]byte(`[{"jsonrpc":"2.0","id":1,"method":"ping"}, [], 3 ,{"jsonrpc":"2.0","id":null,"method":"x"}]`))
	var got []string
	for _, b := range m.Batch {
		got = append(got, fmt.Sprintf("%s %s %s", b.Kind, b.Raw, faultsOf(b)))
	}
	want := []string{
		`request {"jsonrpc":"2.0","id":1,"method":"ping"} `,
		`invalid [] not-object@:0`,
		`invalid 3 not-object@:0`,
		`request {"jsonrpc":"2.0","id":null,"method":"x"} null-id@/id:22`,
	}
	if m.Kind != Batch || !slices.Equal(got, want) {
		t.Errorf("got %s\n%s", m.Kind, strings.Join(got, "\n"))
	}
}

func TestClassifyDepth(t *testing.T) {
	nest := func(n int) []byte {
		return []byte(`{"jsonrpc":"2.0","method":"x","params":` + strings.Repeat(`{"a":`, n) + `1` + strings.Repeat(`}`, n) + `}`)
	}
	if m := Classify(nest(511)); m.Kind != Notification || len(m.Problems) != 0 {
		t.Errorf("512 levels: got %s %s", m.Kind, faultsOf(m))
	}
	m := Classify(nest(512))
	if m.Kind != Notification || len(m.Problems) != 1 || m.Problems[0].Code != TooDeep || m.Problems[0].Offset != len(`{"jsonrpc":"2.0","method":"x","params":`)+511*5 {
		t.Errorf("513 levels: got %s %+v", m.Kind, m.Problems)
	}
	if m := Classify(nest(9000)); m.Kind != Notification || !m.has(TooDeep) || m.has(NotJSON) {
		t.Errorf("9001 levels: got %s", m.Kind)
	}
	if m := Classify(nest(200000)); m.Kind != Invalid || !m.has(TooDeep) {
		t.Errorf("200001 levels: got %s", m.Kind)
	}
	if m := Classify(bytes.Repeat([]byte("["), 1<<20)); m.Kind != Invalid {
		t.Errorf("a million brackets: got %s", m.Kind)
	}
}

func TestClassifyBoundsItsReports(t *testing.T) {
	text := `{"jsonrpc":"2.0","method":"x","params":{` + strings.Repeat(`"a":1,`, 10000) + `"a":1}}`
	if m := Classify([]byte(text)); len(m.Problems) != maxTextProblems {
		t.Errorf("got %d problems, want %d", len(m.Problems), maxTextProblems)
	}
	var many strings.Builder
	many.WriteString(`{"jsonrpc":"2.0","method":"x","params":{`)
	for i := range 1000 {
		fmt.Fprintf(&many, `"k%d":1,`, i)
	}
	many.WriteString(`"k77":1}}`)
	if m := Classify([]byte(many.String())); len(m.Problems) != 1 || m.Problems[0].Pointer != "/params/k77" {
		t.Errorf("a duplicate among a thousand keys: got %s", faultsOf(m))
	}
}

func TestSameID(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{`1`, `1`, true}, {`1`, `"1"`, false}, {`1`, `1.0`, true}, {`1`, `1e0`, true}, {`10`, `1e1`, true},
		{`0`, `-0`, true}, {`9007199254740992`, `9007199254740993`, false}, {`1`, `-1`, false},
		{`1e1000000000`, `1e1000000001`, false}, {`1.5`, `15e-1`, true},
		{`"a"`, `"\u0061"`, true}, {`"a/b"`, `"a\/b"`, true}, {`"a"`, `"A"`, false}, {`"\ud800"`, `"\ufffd"`, false},
		{`""`, `""`, true}, {`""`, ``, false}, {`null`, `null`, true}, {`null`, ``, false}, {`null`, `"null"`, false},
		{`true`, `true`, true}, {`"1`, `"1"`, false}, {`[1]`, `[1]`, true},
	} {
		if got := SameID(json.RawMessage(c.a), json.RawMessage(c.b)); got != c.same {
			t.Errorf("SameID(%s, %s) = %v; keys %q and %q", c.a, c.b, got, IDKey(json.RawMessage(c.a)), IDKey(json.RawMessage(c.b)))
		}
	}
}

func TestMember(t *testing.T) {
	raw := json.RawMessage(` {"a":{"b":null,"B":1,"c":[{"b":2}],"b":3}} `)
	if v, ok := Member(raw, "a", "b"); !ok || string(v) != "3" {
		t.Errorf("a.b: got %s %v", v, ok)
	}
	if v, ok := Member(raw, "a", "c"); !ok || string(v) != `[{"b":2}]` {
		t.Errorf("a.c: got %s %v", v, ok)
	}
	for _, keys := range [][]string{{"b"}, {"a", "c", "b"}, {"A"}} {
		if v, ok := Member(raw, keys...); ok {
			t.Errorf("%v: got %s", keys, v)
		}
	}
	if v, ok := Member(json.RawMessage(`{"x":null}`), "x"); !ok || string(v) != "null" {
		t.Errorf("null: got %s %v", v, ok)
	}
}

// FuzzClassify holds Classify to encoding/json: what one refuses as text, the
// other refuses too, and kinds agree with the keys that encoding/json finds.
func FuzzClassify(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"progressToken":"a"}}}`,
		`[{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"\ud83d\ude00"}},[]]`,
		"\xEF\xBB\xBF{}", `{"a":[1e400,-0.5,12345678901234567890]}`, `{"a":"\ud800\u0000"}`, `[`, `"`, "{\"\xff\":1}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m := Classify(data)
		for _, p := range m.Problems {
			if p.Offset < 0 || p.Offset > len(data) || p.Detail == "" || !utf8.ValidString(p.Pointer) {
				t.Fatalf("%q: problem %+v", data, p)
			}
		}
		text := bytes.TrimPrefix(data, []byte("\xEF\xBB\xBF"))
		if valid := json.Valid(text); valid == m.has(NotJSON) {
			t.Fatalf("%q: json.Valid says %v, the problems are %s", data, valid, faultsOf(m))
		}
		var keys map[string]json.RawMessage
		if json.Unmarshal(text, &keys) == nil && keys != nil && utf8.Valid(data) && !m.has(LoneSurrogate) {
			_, method := keys["method"]
			if got := m.Kind == Request || m.Kind == Notification; got != method {
				t.Fatalf("%q: kind %s, but method is there: %v", data, m.Kind, method)
			}
		}
	})
}

// FuzzIDKey holds IDKey to what encoding/json makes of strings and numbers.
func FuzzIDKey(f *testing.F) {
	for _, seed := range []string{`1`, `"a"`, `1.0`, `"\u0061"`, `-0`, `1e999`, `"\ud800"`, `00`, `"`} {
		f.Add([]byte(seed), []byte(seed))
	}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		same := SameID(a, b)
		if bytes.Equal(a, b) && !same {
			t.Fatalf("%q differs from itself", a)
		}
		var x, y string
		if json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && len(a) > 0 && len(b) > 0 && a[0] == '"' && b[0] == '"' {
			if same && x != y {
				t.Fatalf("%s and %s are %q and %q, and said to be the same", a, b, x, y)
			}
		}
	})
}
