package runner

import (
	"strings"
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/schemas"
)

type reaction = map[string]func(w *fakeWire, m schemas.Message)

func says(lines ...string) func(*fakeWire, schemas.Message) {
	return func(w *fakeWire, m schemas.Message) {
		for _, l := range lines {
			w.say(strings.ReplaceAll(l, "ID", string(m.ID)))
		}
	}
}

// Each row is a scenario, a server's reaction and what must come of it.
func TestConversation(t *testing.T) {
	const open = "steps:\n  - use: open\n"
	const ping = open + "  - send: {call: ping, as: p}\n"
	const call = open + "  - send: {call: x/y, as: p, params: {n: \"${nonce}\"}}\n"
	asks := `{"jsonrpc":"2.0","id":"s1","method":"roots/list"}`
	for name, c := range map[string]struct {
		on     reaction
		steps  string
		want   conformance.Verdict
		reason string
	}{
		"reply passes":          {nil, ping + "  - {expect: {reply: p}, req: PING-ANSWERED}\n", "pass", ""},
		"no req proves nothing": {nil, ping + "  - {expect: {reply: p}}\n", "untested", "no requirement"},
		"silence fails":         {reaction{"ping": says()}, ping + "  - {expect: {reply: p}, req: PING-ANSWERED}\n", "fail", "an answer to p did not come: within"},
		"other id is no reply": {reaction{"ping": says(`{"jsonrpc":"2.0","id":"ID","result":{}}`)},
			ping + "  - {expect: {reply: p}, req: PING-ANSWERED}\n", "fail", "did not come"},
		"the end is noticed": {reaction{"ping": func(w *fakeWire, _ schemas.Message) { w.end() }},
			ping + "  - {expect: {reply: p, within: 1h}, req: PING-ANSWERED}\n", "fail", "the connection has ended (exit code 3)"},
		"check fails": {reaction{"ping": says(`{"jsonrpc":"2.0","id":ID,"result":{"x":1}}`)},
			ping + "  - expect: {reply: p}\n    checks: [{req: PING-ANSWERED, at: /result, is: {}}]\n", "fail", `want /result: {}, got {"x":1}`},
		"silence leaves a request unanswered": {reaction{"ping": says()},
			ping + "  - expect: {reply: p}\n    checks: [{req: PING-ANSWERED, at: /result, is: {}}]\n", "fail", "REQUEST-ANSWERED: want an answer to p"},
		"later steps are untested": {reaction{"x/y": says()},
			call + "  - {expect: {notification: n}}\n  - {do: ping, req: PING-ANSWERED}\n", "untested", "did not come"},
		"optional": {reaction{"x/y": says()},
			call + "  - {expect: {reply: p, optional: true, within: 10ms}, req: REQUEST-ANSWERED}\n  - {do: ping, req: PING-ANSWERED}\n", "pass", ""},
		"assume ends it": {nil,
			call + "  - {expect: {reply: p, assume: {required: [result]}}, req: REQUEST-ANSWERED}\n", "untested", "leads elsewhere"},
		"assume holds": {nil,
			call + "  - {expect: {reply: p, assume: {required: [error]}}, req: REQUEST-ANSWERED}\n", "pass", ""},
		"before": {nil,
			call + "  - {expect: {request: roots/list, before: p, within: 1h}, req: REQUEST-ANSWERED}\n", "fail", "p was answered first"},
		"absent passes": {nil, open + "  - {absent: {notification: a, for: 10ms}, req: PING-ANSWERED}\n", "pass", ""},
		"absent fails": {reaction{"ping": says(`{"jsonrpc":"2.0","method":"a"}`)},
			ping + "  - {absent: {notification: a, for: 1m}, req: PING-ANSWERED}\n", "fail", "want nothing"},
		"answered notification": {reaction{"note": says(`{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":""}}`)},
			open + "  - send: {notify: note, as: n}\n  - {absent: {reply: n, for: 1m}, req: ENVELOPE-NOTIFICATION-UNANSWERED}\n", "fail", "want nothing"},
		"other answers are no answer to a notification": {nil,
			open + "  - send: {notify: note, as: n}\n  - send: {call: ping, as: p}\n  - {absent: {reply: n, for: 10ms}, req: ENVELOPE-NOTIFICATION-UNANSWERED}\n", "pass", ""},
		"leaves the rest": {reaction{"x/y": says(`{"jsonrpc":"2.0","method":"b"}`, `{"jsonrpc":"2.0","method":"a"}`, `{"jsonrpc":"2.0","id":ID,"result":{}}`)},
			call + "  - expect: {reply: p}\n  - expect: {notification: a, as: a}\n  - {expect: {notification: b}, req: PING-ANSWERED}\n", "pass", ""},
		"after": {reaction{"x/y": says(`{"jsonrpc":"2.0","method":"b"}`, `{"jsonrpc":"2.0","method":"a"}`)},
			call + "  - expect: {notification: a, as: a}\n  - {expect: {notification: b, after: a}, req: PING-ANSWERED}\n", "fail", "did not come"},
		"taken once": {reaction{"x/y": says(`{"jsonrpc":"2.0","method":"a"}`)},
			call + "  - expect: {notification: a}\n  - {expect: {notification: a}, req: PING-ANSWERED}\n", "fail", "did not come"},
		"capture": {reaction{"x/y": func(w *fakeWire, m schemas.Message) {
			if strings.Contains(string(m.Params), "9007199254740993") {
				w.answer(m)
				return
			}
			says(`{"jsonrpc":"2.0","id":ID,"result":{"token":9007199254740993}}`)(w, m)
		}}, call + "  - expect: {reply: p}\n    capture: {token: /result/token}\n  - send: {call: x/y, as: q, params: {t: \"${token}\"}}\n  - expect: {reply: q}\n    checks: [{req: ERROR-METHOD-NOT-FOUND, at: /error/code, is: -32601}]\n", "pass", ""},
		"nothing to capture": {nil,
			call + "  - expect: {reply: p}\n    capture: {token: /result/token}\n  - {do: ping, req: PING-ANSWERED}\n", "untested", "nothing at /result/token"},
		"request is answered by a step": {reaction{
			"x/y": says(asks),
			"": func(w *fakeWire, m schemas.Message) {
				w.say(`{"jsonrpc":"2.0","method":"got","params":` + string(m.Result) + `}`)
			},
		}, call + "  - expect: {request: roots/list, as: r}\n  - send: {reply: r, result: {mine: true}}\n  - expect: {notification: got}\n    checks: [{req: PING-ANSWERED, at: /params, is: {mine: true}}]\n", "pass", ""},
		"request is answered by manners": {reaction{
			"x/y": says(`{"jsonrpc":"2.0","id":"s1","method":"no/such"}`),
			"": func(w *fakeWire, m schemas.Message) {
				w.say(`{"jsonrpc":"2.0","method":"got","params":` + string(m.Error) + `}`)
			},
		}, call + "  - expect: {notification: got}\n    checks: [{req: PING-ANSWERED, at: /params/code, is: -32601}]\n", "pass", ""},
		"expected request without reply step is answered by manners": {reaction{
			"x/y": says(`{"jsonrpc":"2.0","id":"s1","method":"ping"}`),
			"": func(w *fakeWire, m schemas.Message) {
				w.say(`{"jsonrpc":"2.0","method":"got","params":` + string(m.Result) + `}`)
			},
		}, call + "  - expect: {request: ping}\n  - expect: {notification: got}\n    checks: [{req: PING-ANSWERED, at: /params, is: {}}]\n", "pass", ""},
		"raw without id": {reaction{"": says(`{"jsonrpc":"2.0","error":{"code":-32700,"message":""}}`)},
			open + "  - send: {raw: \"{\", as: r}\n  - expect: {reply: r}\n    checks: [{req: PING-ANSWERED, at: /error/code, is: -32700}]\n", "pass", ""},
		"batch": {reaction{"": says(`[{"jsonrpc":"2.0","id":"a","result":{}},{"jsonrpc":"2.0","id":"b","result":{}}]`)},
			open + "  - send: {raw: '[{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"ping\"},{\"jsonrpc\":\"2.0\",\"id\":\"b\",\"method\":\"ping\"}]', as: r}\n  - {expect: {reply: r}, req: REQUEST-ANSWERED}\n  - {expect: {reply: r}, req: REQUEST-ANSWERED}\n", "pass", ""},
		"half a batch": {reaction{"": says(`[{"jsonrpc":"2.0","id":"a","result":{}}]`)},
			open + "  - send: {raw: '[{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"ping\"},{\"jsonrpc\":\"2.0\",\"id\":\"b\",\"method\":\"ping\"}]', as: r}\n  - {expect: {reply: r}, req: REQUEST-ANSWERED}\n  - {expect: {reply: r}, req: REQUEST-ANSWERED}\n", "fail", "did not come"},
		"walk": {reaction{"x/list": func(w *fakeWire, m schemas.Message) {
			if strings.Contains(string(m.Params), `"cursor":"2"`) {
				says(`{"jsonrpc":"2.0","id":ID,"result":{"page":2}}`)(w, m)
				return
			}
			says(`{"jsonrpc":"2.0","id":ID,"result":{"page":1,"nextCursor":"2"}}`)(w, m)
		}}, open + "  - walk: {call: x/list}\n    req: PING-ANSWERED\n    checks: [{req: PING-ANSWERED, at: /result/page, like: {maximum: 1}}]\n", "fail", "got 2"},
		"walk without end": {reaction{"x/list": says(`{"jsonrpc":"2.0","id":ID,"result":{"nextCursor":"2"}}`)},
			open + "  - {walk: {call: x/list}, req: PING-ANSWERED}\n", "untested", "not come to an end"},
		"closed":         {nil, open + "  - do: close-stdin\n  - {expect: {closed: true}, req: PING-ANSWERED, checks: [{req: PING-ANSWERED, at: /code, is: 3}]}\n", "pass", ""},
		"impossible":     {nil, open + "  - do: listen\n  - {do: ping, req: PING-ANSWERED}\n", "untested", "not possible over stdio"},
		"other revision": {nil, open + "  - {do: ping, req: RESULT-TYPE}\n", "untested", "no requirement of this revision"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newTestRun(t, &fakeServer{on: c.on}, "fresh: true\nbreaks: [SCHEMA-RESULT, ROOTS-DECLARED]\n"+c.steps)
			res := judged(t, r)
			if len(res) != 1 || res[0].Verdict != c.want || !strings.Contains(res[0].Reason, c.reason) {
				t.Errorf("got  %+v\nwant %s, %s", res, c.want, c.reason)
			}
		})
	}
}

func TestPickPassesOverNothingThatMayFitLater(t *testing.T) {
	j := newJournal()
	wanted := func(x *entry) bool { return !x.answered && !x.reserved }
	for i := range 4 {
		j.entries = append(j.entries, &entry{answered: i < 2, reserved: i == 2})
	}
	if x := j.pick(wanted); x != j.entries[3] || j.passed != 2 {
		t.Errorf("picked %+v, passed %d: want the last, and to stop at what is reserved", x, j.passed)
	}
	j.entries[3].answered = true
	if x := j.pick(wanted); x != nil {
		t.Errorf("picked %+v", x)
	}
	j.release()
	if x := j.pick(wanted); x != j.entries[2] {
		t.Errorf("after the release picked %+v", x)
	}
}
