package trace

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
)

func TestMaskURL(t *testing.T) {
	for in, want := range map[string]string{
		"http://127.0.0.1:3000/mcp":                 "http://127.0.0.1:3000/mcp",
		"https://ann:pw@h/mcp":                      "https://****@h/mcp",
		"https://ann:p@w@h/mcp?x=1":                 "https://****@h/mcp?x=1",
		"/cb?code=abc&state=xyz":                    "/cb?code=****&state=xyz",
		"/mcp?API_KEY=s&a=b&apiKey=t&access_token=": "/mcp?API_KEY=****&a=b&apiKey=****&access_token=",
		"/cb#access_token=s&token_type=Bearer":      "/cb#access_token=****&token_type=Bearer",
		"/cb?x=1#id_token=s":                        "/cb?x=1#id_token=****",
		"/x?%63ode=s&to%6Ben=t":                     "/x?%63ode=****&to%6Ben=****",
		"/message?sessionId=abc":                    "/message?sessionId=abc",
		"/list?cursor=a&pageToken=b":                "/list?cursor=a&pageToken=b",
		"":                                          "",
	} {
		if got := MaskURL(in); got != want {
			t.Errorf("MaskURL(%q) = %q, want %q", in, got, want)
		}
		if got := MaskURL(want); got != want {
			t.Errorf("masking again: MaskURL(%q) = %q", want, got)
		}
	}
}

func TestMaskArgs(t *testing.T) {
	cases := []struct{ in, want []string }{
		{[]string{"node", "server.js", "--port", "80"}, nil},
		{[]string{"s", "--token", "abc"}, []string{"s", "--token", "****"}},
		{[]string{"s", "--token=abc", "-x"}, []string{"s", "--token=****", "-x"}},
		{[]string{"s", "--api-key", "abc", "--apiKey=d"}, []string{"s", "--api-key", "****", "--apiKey=****"}},
		{[]string{"env", "FOO_TOKEN=abc", "s"}, []string{"env", "FOO_TOKEN=****", "s"}},
		{[]string{"docker", "run", "-e", "DB_PASSWORD=a b=c", "img"}, []string{"docker", "run", "-e", "DB_PASSWORD=****", "img"}},
		{[]string{"r", "--header", "Authorization: Bearer abc.def"}, []string{"r", "--header", "Authorization: Bearer ****"}},
		{[]string{"r", "https://u:p@h/x?token=abc"}, []string{"r", "https://****@h/x?token=****"}},
		{[]string{"sh", "-c", "exec env GITHUB_TOKEN=abc s --secret 'xyz' --v"}, []string{"sh", "-c", "exec env GITHUB_TOKEN=**** s --secret '****' --v"}},
		{[]string{"s", "--token", "--verbose"}, nil},
		{[]string{"s", "--max-tokens", "5", "--tokenizer", "x"}, nil},
	}
	for _, c := range cases {
		want := c.want
		if want == nil {
			want = c.in
		}
		if got := MaskArgs(c.in); !reflect.DeepEqual(got, want) {
			t.Errorf("MaskArgs(%q)\n got %q\nwant %q", c.in, got, want)
		}
	}
}

func TestMaskBody(t *testing.T) {
	cases := []struct{ name, in, want string }{
		{"token response", `{"access_token": "abc" ,"token_type":"Bearer","expires_in":3600,"refresh_token":"d\"ef"}`,
			`{"access_token": "****" ,"token_type":"Bearer","expires_in":3600,"refresh_token":"****"}`},
		{"registration", `{"client_id":"c","client_secret":"s","redirect_uris":["http://h/cb"]}`, `{"client_id":"c","client_secret":"****","redirect_uris":["http://h/cb"]}`},
		{"escaped key", `{"access\u005ftoken":"abc"}`, `{"access\u005ftoken":"****"}`},
		{"nested", `[{"x":{"code":"abc"}}]`, `[{"x":{"code":"****"}}]`},
		{"byte order mark", "\xef\xbb\xbf{\"code\":\"abc\"}", "\xef\xbb\xbf{\"code\":\"****\"}"},
		{"JSON-RPC error code", `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"x","data":{"code":"E1"}}}`, ""},
		{"JSON-RPC without its version", `{"id":1,"error":{"code":"-32601"}}`, ""},
		{"JSON-RPC progress token", `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":1}}`, ""},
		{"JSON-RPC batch", `[{"jsonrpc":"2.0","method":"m","params":{"code":"a","token":"b"}}]`, ""},
		{"JSON-RPC arguments", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"login","arguments":{"password":"p w","user":"u","apiKey":"k"}}}`,
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"login","arguments":{"password":"****","user":"u","apiKey":"****"}}}`},
		{"a schema that describes a password", `{"jsonrpc":"2.0","id":1,"result":{"tools":[{"inputSchema":{"properties":{"password":{"type":"string"},"code":{"type":"string"}}}}]}}`, ""},
		{"not a string", `{"access_token":5,"password":null,"client_secret":["a"]}`, ""},
		{"form", "grant_type=authorization_code&code=abc&code_verifier=v-1&client_id=c", "grant_type=authorization_code&code=****&code_verifier=****&client_id=c"},
		{"cut-off JSON", `{"jsonrpc":"2.0","result":{"access_token":"abc`, `{"jsonrpc":"2.0","result":{"access_token":"****`},
		{"log line", "GET https://u:p@h/ Authorization: Bearer abcdefgh", "GET https://****@h/ Authorization: Bearer ****"},
		{"harmless log line", "listening on http://127.0.0.1:80/mcp, exit code=1, key pressed", ""},
		{"not UTF-8", "\xff\xfe token=abc \xff", "\xff\xfe token=**** \xff"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if c.want == "" {
				c.want = c.in
			}
			in := []byte(c.in)
			e := Mask(Event{Kind: PayloadKind(in), Data: in})
			if string(e.Data) != c.want {
				t.Errorf("\n got %s\nwant %s", e.Data, c.want)
			}
			if changed := c.want != c.in; changed != (len(e.Masked) > 0) {
				t.Errorf("Masked is %q", e.Masked)
			}
			if string(in) != c.in {
				t.Error("the given bytes were changed")
			}
			if again := Mask(e); !reflect.DeepEqual(again, e) {
				t.Errorf("masking again changed %+v to %+v", e, again)
			}
		})
	}
}

func TestMaskHead(t *testing.T) {
	h := &Head{Method: "GET", URL: "https://h/cb?code=c1", Headers: [][2]string{
		{"authorization", "Bearer s1"}, {"Authorization", "s2"}, {"Proxy-Authorization", "Basic s3 s4"}, {"Cookie", "a=s5; b=s6"},
		{"Set-Cookie", "sid=s7; Path=/"}, {"X-Api-Key", "s8"}, {"Location", "http://h/cb?code=s9&iss=http://h"}, {"Mcp-Session-Id", "keep-1"},
		{"Mcp-Param-Token", "keep-2"}, {"WWW-Authenticate", `Bearer resource_metadata="http://h/keep-3"`}, {"Accept", "*/*"}, {"X-Auth-Token", ""},
	}}
	e := Mask(Event{Kind: KindHTTP, HTTP: h})
	want := [][2]string{
		{"authorization", "Bearer ****"}, {"Authorization", "****"}, {"Proxy-Authorization", "Basic ****"}, {"Cookie", "****"},
		{"Set-Cookie", "****"}, {"X-Api-Key", "****"}, {"Location", "http://h/cb?code=****&iss=http://h"}, {"Mcp-Session-Id", "keep-1"},
		{"Mcp-Param-Token", "keep-2"}, {"WWW-Authenticate", `Bearer resource_metadata="http://h/keep-3"`}, {"Accept", "*/*"}, {"X-Auth-Token", ""},
	}
	if !reflect.DeepEqual(e.HTTP.Headers, want) {
		t.Errorf("\n got %q\nwant %q", e.HTTP.Headers, want)
	}
	wantMasked := []string{"url code", "header authorization", "header Authorization", "header Proxy-Authorization", "header Cookie", "header Set-Cookie", "header X-Api-Key", "header Location"}
	if e.HTTP.URL != "https://h/cb?code=****" || !reflect.DeepEqual(e.Masked, wantMasked) {
		t.Errorf("URL %q, masked %q", e.HTTP.URL, e.Masked)
	}
	if h.Headers[0][1] != "Bearer s1" {
		t.Error("the given head was changed")
	}
}

// Nothing planted survives into the file, wherever it was planted.
func TestNothingPlantedSurvives(t *testing.T) {
	const secret = "PLANTED-5eCr3t"
	var events []Event
	for _, h := range []string{"Authorization", "PROXY-AUTHORIZATION", "cookie", "Set-Cookie", "X-API-Key", "Api-Key", "X-Auth-Token", "X-Client-Secret"} {
		for _, v := range []string{secret, "Bearer " + secret, "Basic  " + secret, "a=" + secret + "; b=" + secret} {
			events = append(events, Event{Kind: KindHTTP, HTTP: &Head{Status: 200, Headers: [][2]string{{h, v}}}})
		}
	}
	for _, p := range []string{"access_token", "refresh_token", "id_token", "client_secret", "code", "code_verifier", "assertion", "client_assertion", "password", "api_key", "token"} {
		q := p + "=" + secret
		events = append(events,
			Event{Kind: KindHTTP, HTTP: &Head{Method: "GET", URL: "/cb?state=1&" + q}},
			Event{Kind: KindHTTP, HTTP: &Head{Status: 302, Headers: [][2]string{{"Location", "http://127.0.0.1/cb?" + q + "#" + q}}}},
			Event{Kind: KindNoise, Data: []byte("a=1&" + q)},
			Event{Kind: KindStderr, Data: []byte("visit http://h/cb?" + q)},
			Event{Kind: KindSSE, SSE: &SSE{Event: "endpoint"}, Data: []byte("/messages?" + q)},
			Event{Kind: KindMessage, Data: []byte(`{"x":[{"` + p + `" : "` + secret + `"}]}`)},
			Event{Kind: KindClosed, End: &End{How: "error", Detail: `Post "http://u:` + secret + `@h/?` + q + `": refused`}},
		)
		if p != "code" && p != "token" && p != "assertion" {
			events = append(events,
				Event{Kind: KindMessage, Data: []byte(`{"jsonrpc":"2.0","id":1,"result":{"` + p + `":"` + secret + `"}}`)},
				Event{Kind: KindStderr, Data: []byte(p + ": " + secret)},
				Event{Kind: KindStderr, Data: []byte("--" + p + " " + secret)},
				Event{Kind: KindNoise, Data: []byte(`{"` + p + `":"` + secret)},
				Event{Kind: KindStderr, Data: []byte(`got "{\"` + p + `\":\"` + secret + `\"}"`)})
		}
	}
	var file bytes.Buffer
	w, err := NewWriter(&file, Header{Target: "s --token " + secret + " FOO_SECRET=" + secret + " http://" + secret + "@h/?key=" + secret})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if err := w.Write(e); err != nil {
			t.Fatal(err)
		}
	}
	for i, l := range strings.Split(strings.TrimSpace(file.String()), "\n") {
		if strings.Contains(l, "PLANTED") || strings.Contains(l, "5eCr3t") {
			t.Errorf("line %d: %s", i+1, l)
		}
		if i > 0 && !strings.Contains(l, `"masked":[`) {
			t.Errorf("line %d does not say that it was masked: %s", i+1, l)
		}
	}
}

func FuzzMask(f *testing.F) {
	for _, s := range []string{`{"access_token":"a","x":1}`, "code=a&b=c", "Authorization: Bearer abcdef", "http://a:b@c/?key=d#token=e", `--token "a b"`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, k := range []Kind{PayloadKind(b), KindStderr, KindSSE} {
			e := Mask(Event{Kind: k, Data: b})
			if k == KindMessage && PayloadKind(e.Data) != KindMessage {
				t.Errorf("%q is no message any more: %q", b, e.Data)
			}
			if len(e.Masked) == 0 && !bytes.Equal(e.Data, b) {
				t.Errorf("%q became %q and nothing says so", b, e.Data)
			}
			if again := Mask(e); !bytes.Equal(again.Data, e.Data) {
				t.Errorf("%s: masking twice: %q, %q, %q", k, b, e.Data, again.Data)
			}
		}
	})
}
