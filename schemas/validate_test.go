package schemas

import (
	"strings"
	"testing"
)

const metaE = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`

func TestValidateMessage(t *testing.T) {
	s := load(t, Options{})
	call := func(method, params string) string {
		if params != "" {
			params = `,"params":` + params
		}
		return `{"jsonrpc":"2.0","id":1,"method":"` + method + `"` + params + `}`
	}
	result := func(r string) string { return `{"jsonrpc":"2.0","id":1,"result":` + r + `}` }
	for _, c := range []struct {
		name    string
		rev     Revision
		message string
		paired  string
		want    string
	}{
		// Requests and notifications, by method.
		{"ping", R20241105, call("ping", ""), "", ""},
		{"call without a name", R20250618, call("tools/call", `{}`), "", "/params/name required: want string, got absent"},
		{"call without a name, D", R20251125, call("tools/call", `{}`), "", "/params/name required: want string, got absent"},
		{"no jsonrpc", R20241105, `{"id":1,"method":"ping"}`, "", `/jsonrpc required: want "2.0", got absent`},
		{"request without an id", R20250326, `{"jsonrpc":"2.0","method":"tools/list"}`, "", "/id required: want a RequestId, got absent"},
		{"request without an id, D", R20251125, `{"jsonrpc":"2.0","method":"tools/list"}`, "", "/id required: want a RequestId, got absent"},
		{"null id", R20251125, `{"jsonrpc":"2.0","id":null,"method":"ping"}`, "", "/id type: want integer or string, got null"},
		{"notification with an id", R20251125, call("notifications/initialized", ""), "", "/id false: want no such member, got number 1"},
		{"unknown method", R20251125, call("x/y", `{"a":1}`), "", ""},
		{"unknown notification", R20260728, `{"jsonrpc":"2.0","method":"x/y"}`, "", ""},
		{"unknown method, bad envelope", R20251125, call("x/y", `3`), "", "/params type: want object, got number 3"},
		{"method of another revision", R20260728, call("initialize", `{}`), "", ""},
		{"E without _meta", R20260728, call("tools/list", `{}`), "", "/params/_meta required: want a RequestMetaObject, got absent"},
		{"E", R20260728, call("tools/list", `{`+metaE+`}`), "", ""},
		{"draft", Draft, call("tools/list", `{`+metaE+`}`), "", ""},
		{"tasks extension without _meta", R20260728, call("tasks/get", `{"taskId":"t"}`), "", "/params/_meta required: want a RequestMetaObject, got absent"},
		{"tasks extension, poor _meta", R20260728, call("tasks/get", `{"taskId":"t","_meta":{}}`), "",
			"/params/_meta/io.modelcontextprotocol~1clientCapabilities required: want a ClientCapabilities, got absent\n/params/_meta/io.modelcontextprotocol~1protocolVersion required: want string, got absent"},

		// Results, by the request.
		{"result alone", R20251125, result(`{"tools":3}`), "", ""},
		{"result of tools/list", R20251125, result(`{"tools":3}`), call("tools/list", ""), "/result/tools type: want array, got number 3"},
		{"result of ping with more", R20241105, result(`{"more":1}`), call("ping", ""), ""},
		{"result of an unknown method", R20251125, result(`{"tools":3}`), call("x/y", ""), ""},
		{"null result", R20251125, result(`null`), "", "/result type: want object, got null"},
		{"task asked and given", R20251125, result(`{"task":{"taskId":"t"}}`), call("tools/call", `{"name":"x","task":{}}`),
			"/result/task/createdAt required: want string, got absent\n/result/task/lastUpdatedAt required: want string, got absent\n/result/task/status required: want a TaskStatus, got absent\n/result/task/ttl required: want a value, got absent"},
		{"task asked, not given", R20251125, result(`{"content":[]}`), call("tools/call", `{"name":"x","task":{}}`), ""},
		{"task not asked", R20251125, result(`{"task":{}}`), call("tools/call", `{"name":"x"}`), "/result/content required: want array, got absent"},

		// 2026-07-28 reads resultType first.
		{"complete", R20260728, result(`{"resultType":"complete","content":[]}`), call("tools/call", `{"name":"x",`+metaE+`}`), ""},
		{"no resultType", R20260728, result(`{"content":[]}`), call("tools/call", `{"name":"x",`+metaE+`}`), "/result/resultType required: want a ResultType, got absent"},
		{"input required", R20260728, result(`{"resultType":"input_required","requestState":"s"}`), call("tools/call", `{"name":"x",`+metaE+`}`), ""},
		{"input required, of a list", R20260728, result(`{"resultType":"input_required","requestState":"s"}`), call("tools/list", `{`+metaE+`}`),
			`/result/resultType resultType: want "complete": tools/list cannot ask for input, got string "input_required"`},
		{"input required, with a bad request", R20260728, result(`{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":{"mode":"url","message":"m"}}}}`), call("tools/call", `{"name":"x",`+metaE+`}`),
			"/result/inputRequests/a/params/url required: want string, got absent"},
		{"task", R20260728, result(`{"resultType":"task","taskId":"t","status":"working","createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z","ttlMs":null}`), call("tools/call", `{"name":"x",`+metaE+`}`), ""},
		{"task, of a list", R20260728, result(`{"resultType":"task","resources":[],"ttlMs":0,"cacheScope":"private"}`), call("resources/list", `{`+metaE+`}`), `/result/resultType const: want "complete", got string "task"`},
		{"type of no extension", R20260728, result(`{"resultType":"x","content":[]}`), call("tools/call", `{"name":"x",`+metaE+`}`), `/result/resultType const: want "complete", got string "x"`},
		{"type of an unknown extension", R20260728, result(`{"resultType":"x"}`),
			call("tools/call", `{"name":"x","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"extensions":{"com.example/x":{}}}}}`), ""},

		// Input responses, by the result that asked.
		{"input responses", R20260728, call("tools/call", `{"name":"x","inputResponses":{"a":{"roots":[]},"b":{"action":"accept","content":{}},"c":{"action":"decline"}},`+metaE+`}`),
			result(`{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"},"b":{"method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object","properties":{}}}}}}`), ""},
		{"input responses, exchanged", R20260728, call("tools/call", `{"name":"x","inputResponses":{"a":{"action":"accept","content":{}}},`+metaE+`}`),
			result(`{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"}}}`), "/params/inputResponses/a/roots required: want array, got absent"},

		// Errors.
		{"error", R20251125, `{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"m"}}`, "", ""},
		{"error without an id", R20251125, `{"jsonrpc":"2.0","error":{"code":-1,"message":"m"}}`, "", ""},
		{"error with a null id", R20260728, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m"}}`, "", ""},
		{"error without a message", R20241105, `{"jsonrpc":"2.0","id":1,"error":{"code":-1}}`, "", "/error/message required: want string, got absent"},
		{"URL elicitation without data", R20251125, `{"jsonrpc":"2.0","id":1,"error":{"code":-32042,"message":"m"}}`, "", "/error/data required: want object, got absent"},
		{"unsupported version without data", R20260728, `{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"m"}}`, "", "/error/data required: want object, got absent"},

		// Batches.
		{"batch, B", R20250326, `[` + call("ping", "") + `,` + call("tools/call", `{}`) + `]`, "", "/1/params/name required: want string, got absent"},
		{"batch of both, B", R20250326, `[` + call("ping", "") + `,` + result(`{}`) + `]`, "", " anyOf: want requests and notifications, or responses, got both in one batch"},
		{"batch, C", R20250618, `[` + call("ping", "") + `]`, "", " type: want object, got array"},
		{"batch, A", R20241105, `[]`, "", " type: want object, got array"},

		{"invalid", R20251125, `{"a":1}`, "", ""},
		{"byte order mark", R20251125, "\xEF\xBB\xBF" + call("tools/call", `{}`), "", "/params/name required: want string, got absent"},
		{"very deep", R20251125, call("tools/call", `{"name":"x","arguments":`+strings.Repeat(`{"a":`, 3000)+`1`+strings.Repeat(`}`, 3000)+`}`), "", ""},
	} {
		m := Classify([]byte(c.message))
		var paired *Message
		if c.paired != "" {
			p := Classify([]byte(c.paired))
			paired = &p
		}
		if got := lines(s.ValidateMessage(c.rev, &m, paired)); got != c.want {
			t.Errorf("%s (%s)\n got %s\nwant %s", c.name, c.rev, got, c.want)
		}
	}
}

// TestAnyOfSpeaksOfTheAlternativeThatWasMeant: not of all of them.
func TestAnyOfSpeaksOfTheAlternativeThatWasMeant(t *testing.T) {
	s := load(t, Options{})
	for _, c := range []struct{ definition, instance, want string }{
		{"ContentBlock", `{"type":"image","data":"AA=="}`, "/mimeType required: want string, got absent"},
		{"ContentBlock", `{"type":"resource","resource":{"uri":"a:b"}}`, "/resource/text required: want string, got absent"},
		{"ContentBlock", `{"type":"resource","resource":{"uri":"a:b","blob":7}}`, "/resource/blob type: want string, got number 7"},
		{"ContentBlock", `{"type":"video"}`, `/type const: want "audio" or "image" or "resource" or "resource_link" or "text", got string "video"`},
		{"ContentBlock", `7`, ` type: want object, got number 7`},
		{"ProgressToken", `null`, ` type: want integer or string, got null`},
		{"ElicitRequestParams", `{"mode":"url","message":"m","url":"https://x"}`, "/elicitationId required: want string, got absent"},
		{"PrimitiveSchemaDefinition", `{"type":"integer","minimum":"1"}`, `/minimum type: want number, got string "1"`},
	} {
		if got := lines(validate(t, s, R20251125, c.definition, c.instance)); got != c.want {
			t.Errorf("%s %s\n got %s\nwant %s", c.definition, c.instance, got, c.want)
		}
	}
}

// FuzzValidateMessage: no message makes validation panic, and the verdict does
// not depend on the run.
func FuzzValidateMessage(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}`), []byte(`{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"}}}}`))
	f.Add([]byte(`[{"jsonrpc":"2.0","method":"x","params":{"n":1e99999}}]`), []byte(`{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a","inputSchema":{"$ref":"#"}}]}}`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`), []byte(`{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a","inputSchema":{"type":"object","properties":[]}}]}}`))
	s, err := Load(Options{Advice: true})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, first, second []byte) {
		a, b := Classify(first), Classify(second)
		for _, rev := range Revisions() {
			for _, pair := range [][2]*Message{{&a, &b}, {&b, &a}, {&a, nil}} {
				if one, two := lines(s.ValidateMessage(rev, pair[0], pair[1])), lines(s.ValidateMessage(rev, pair[0], pair[1])); one != two {
					t.Fatalf("%s %q:\n%s\nthen\n%s", rev, pair[0].Raw, one, two)
				}
			}
		}
	})
}
