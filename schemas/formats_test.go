package schemas

import (
	"strings"
	"testing"
)

// TestFormats lists, for each format, what has the form and what has not.
func TestFormats(t *testing.T) {
	trace := "0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7"
	for _, c := range []struct {
		format    string
		good, bad []string
	}{
		{"byte", []string{"", "eA==", "eHk=", "eHl6", "+/+/"},
			[]string{"!!!", "eA", "eA=", "eA===", "e A=", "-_-_", "eHl6\n", "====", "=eA=", "eA=="[:3] + "A=="}},
		{"uri", []string{"a:b", "http://x", "file:///a/b", "urn:isbn:1", "http://u:p@h:80/a;b?c=d&e#f", "http://[::1]:80/", "data:,a%20b", "mailto:a@b", "http://h:/", "x://", "test://static-text", "a:"},
			[]string{"", "not a uri", "/a", "//h/a", "1a:b", "a_b:c", "http://h/a b", "http://h/%", "http://h/%zz", "http://h:x/", "http://[::1", "http://[zz]/", "http://h/ä", "http://h/#a#b", "http://h/[x]", "http://h/<x>", ":x"}},
		{"uri-template", []string{"", "a", "file:///{path}", "{+a}", "{?q,r*}", "{a:3}", "{&a.b}", "{a%20b}", "x{#f}y{/p*}", "t://{a}{b}", "it's"},
			[]string{"{", "}", "{}", "{a", "a}", "{a b}", "{a:0}", "{a:}", "{a:10000}", "{.}", "{a..b}", "{,}", "{a,}", "a b", "%", "<a>", "{{a}}", "{a-b}"}},
		{"timestamp", []string{"2025-01-12T15:00:58Z", "2025-01-12T15:00:58.123+02:00", "2025-01-12t15:00:58z", "2016-12-31T23:59:60Z", "2025-01-12", "20250112T150058Z", "2025-01-12T15:00", "2025-01-12 15:00:58-0700", "2024-02-29T00:00:00Z"},
			[]string{"", "yesterday", "x", "2025-13-01T00:00:00Z", "2025-02-29T00:00:00Z", "2025-01-12T25:00:00Z", "2025-01-12T15:61:00Z", "2025-01-12T15:00:58Z ", "12/01/2025", "1736694058", "2025-01-12T15:00:58+24:00", "2025-1-2"}},
		{"meta-key", []string{"", "a", "a/", "com.example/name", "a-b.c1/x_y-z.1", "io.modelcontextprotocol/related-task", "progressToken", "0"},
			[]string{"-a", "a-", "-bad/ key", "/a", "a..b/c", "1a/b", "a-/b", "a_b/c", "a/b/c", "ä", "a b", ".", "a./b"}},
		{"extension-id", []string{"io.modelcontextprotocol/ui", "com.example/x", "x/y"}, []string{"", "noprefix", "/x", "1.a/x", "a/x y", "a/b/c"}},
		{"media-type", []string{"text/plain", "image/svg+xml", "text/plain; charset=utf-8", `a/b;c="d;e";f=g`, "text/html;profile=mcp-app", "a/b;"},
			[]string{"", "text", "/plain", "text/", "text/pl ain", "text/plain; charset", "a/b;c=d e", "a/b/c"}},
		{"header-name", []string{"Region", "X-A_1", "a"}, []string{"", "A B", "A:B", "ä", "a\n", "(a)"}},
		{"traceparent", []string{"00-" + trace + "-01", "cc-" + trace + "-01-more"},
			[]string{"", "5", "00-" + trace, "00-" + trace + "-01-more", "ff-" + trace + "-01", "00-" + strings.ToUpper(trace) + "-01", "00-" + strings.Repeat("0", 32) + "-00f067aa0ba902b7-01", "00-0af7651916cd43dd8448eb211c80319c-" + strings.Repeat("0", 16) + "-01", "cc-" + trace + "-01more", "00_" + trace + "-01"}},
		{"tracestate", []string{"", "a=1", "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE", "t@v=x, ,b=y", "1a=x"},
			[]string{"a", "A=1", "=1", "a=", "a=1,a=2", "a=b=c", "a@b@c=1", "a=ü", strings.Repeat("x", 257) + "=1", "_a=1"}},
		{"baggage", []string{"a=b", "userId=alice,serverNode=DF%2028", "k = v ; p ; q=r", "a="}, []string{"", "a", "a=b c", `a="b"`, "a=b,,c=d", "a b=c", "a=ü"}},
		{"file-uri", []string{"file:///a", "file://h/a", "FILE:///a"}, []string{"", "http://x", "file:/a", "/a"}},
		{"icon-uri", []string{"https://x", "http://x", "data:image/png;base64,eA=="}, []string{"", "javascript:alert(1)", "file:///a", "ws://x", "a.png"}},
		{"not-empty", []string{"a", " "}, []string{""}},
	} {
		var check func(string) error
		for _, f := range Formats(R20260728) {
			if f.Name == c.format {
				check = f.Check
			}
		}
		for _, s := range c.good {
			if err := check(s); err != nil {
				t.Errorf("%s %q: %v", c.format, s, err)
			}
		}
		for _, s := range c.bad {
			if check(s) == nil {
				t.Errorf("%s %q passes", c.format, s)
			}
		}
	}
}

func TestMetaKeysDependOnTheRevision(t *testing.T) {
	if err := CheckMetaKey(R20250326, "-bad/ key"); err != nil {
		t.Errorf("2025-03-26 has no grammar: %v", err)
	}
	if CheckMetaKey(R20250618, "-bad/ key") == nil {
		t.Error("2025-06-18 has a grammar")
	}
	for _, c := range []struct {
		rev  Revision
		key  string
		want bool
	}{
		{R20250618, "modelcontextprotocol.io/x", true}, {R20250618, "mcp.dev/x", true}, {R20250618, "api.modelcontextprotocol.org/x", true},
		{R20250618, "tools.mcp.com/x", true}, {R20250618, "io.modelcontextprotocol/x", false}, {R20250618, "mcp/x", false},
		{R20251125, "io.modelcontextprotocol/x", true}, {R20251125, "dev.mcp/x", true}, {R20251125, "com.mcp.tools/x", true},
		{R20260728, "mcp.dev/x", false}, {R20260728, "com.example.mcp/x", false}, {R20260728, "mcp/x", false}, {R20260728, "x", false},
		{R20250326, "mcp.dev/x", false}, {Draft, "dev.mcp/", true},
	} {
		if got := ReservedMetaKey(c.rev, c.key); got != c.want {
			t.Errorf("%s %s: got %v", c.rev, c.key, got)
		}
	}
}

// FuzzFormats: no format check panics, and each is deterministic.
func FuzzFormats(f *testing.F) {
	for _, seed := range []string{"", "a:b", "{a}", "00-" + strings.Repeat("1", 32), "a=b;c", `a/b;c="`, "http://[", "2025-01-12T1", "%"} {
		f.Add(seed)
	}
	formats := Formats(R20260728)
	f.Fuzz(func(t *testing.T, s string) {
		for _, format := range formats {
			if first, second := format.Check(s), format.Check(s); (first == nil) != (second == nil) {
				t.Fatalf("%s %q: %v, then %v", format.Name, s, first, second)
			}
		}
	})
}
