package main

import (
	"bytes"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/reports"
	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

func readReport(t *testing.T, doc string) *reports.Report {
	t.Helper()
	r, err := reports.Read(bytes.NewReader([]byte(doc)))
	if err != nil {
		t.Fatalf("%v in:\n%s", err, doc)
	}
	return r
}

func TestRunWithoutATargetJudgesTheReferenceServerInEveryRevision(t *testing.T) {
	dir := t.TempDir()
	file, junit, traced := filepath.Join(dir, "r.json"), filepath.Join(dir, "r.xml"), filepath.Join(dir, "t.jsonl")
	res := mcp(t, "run", "--report", "json="+file, "--report", "junit="+junit, "--trace", traced)
	res.want(t, exitConforms, "conforms")
	doc, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	r := readReport(t, string(doc))
	if len(r.Scores) != len(schemas.Revisions()) {
		t.Errorf("%d scores, want one for each revision", len(r.Scores))
	}
	for _, s := range r.Scores {
		if s.Verdict != conformance.Conforms || s.Must.Failed+s.Should.Failed > 0 || s.Must.Passed < 20 {
			t.Errorf("%s: %s, MUST %+v, SHOULD %+v, missing %v", s.Revision, s.Verdict, s.Must, s.Should, s.Missing)
		}
	}
	transports := map[trace.Transport]bool{}
	for _, sc := range r.Scenarios {
		transports[sc.Transport] = true
	}
	if !transports[trace.Stdio] || !transports[trace.StreamableHTTP] {
		t.Errorf("transports tried: %v", transports)
	}
	fitsSchema(t, doc)
	if b, err := os.ReadFile(junit); err != nil || !bytes.Contains(b, []byte("<testsuites")) {
		t.Errorf("JUnit file: %v", err)
	}
	mcp(t, "check", traced).want(t, exitConforms, "conforms")
}

func fitsSchema(t *testing.T, doc []byte) {
	t.Helper()
	schema, err := jsonschema.UnmarshalJSON(bytes.NewReader(reports.Schema))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("report.schema.json", schema); err != nil {
		t.Fatal(err)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(doc))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.MustCompile("report.schema.json").Validate(v); err != nil {
		t.Error(err)
	}
}

func TestAFaultOfTheReferenceServerFailsTheRun(t *testing.T) {
	traced := filepath.Join(t.TempDir(), "t.jsonl")
	res := mcp(t, "run", "--fault", "stdout-banner", "--revision", "2025-11-25", "--transport", "stdio", "--json", "--trace", traced)
	res.want(t, exitFails)
	mcp(t, "check", traced).want(t, exitFails, "STDIO-STDOUT-MESSAGES-ONLY (MUST NOT, server)  2025-11-25 stdio")
	r := readReport(t, res.out)
	for _, q := range r.Requirements {
		if got := q.Verdict == conformance.Fail; got != (q.ID == "STDIO-STDOUT-MESSAGES-ONLY") {
			t.Errorf("%s is %s", q.ID, q.Verdict)
		}
	}
}

func TestAStdioServerAndAnHTTPServerStartedByUs(t *testing.T) {
	args := append([]string{"run", "--json", "--revision", "2025-11-25", "--revision", "2026-07-28", "--"}, self("peer", "server")...)
	res := mcp(t, args...)
	res.want(t, exitConforms)
	if r := readReport(t, res.out); len(r.Scores) != 2 || r.Subject.Transport != trace.Stdio || r.Subject.Name == "" {
		t.Errorf("stdio: %+v %+v", r.Subject, r.Scores)
	}
	address := freeAddress(t)
	args = append([]string{"run", "--json", "--revision", "2025-11-25", "--url", "http://" + address + "/mcp", "--"}, self("peer", "server", "--http", address)...)
	res = mcp(t, args...)
	res.want(t, exitConforms)
	if r := readReport(t, res.out); len(r.Scores) != 1 || r.Subject.Transport != trace.StreamableHTTP {
		t.Errorf("http: %+v %+v", r.Subject, r.Scores)
	}
}

// freeAddress returns a loopback address that nobody listens on.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func TestAClientOverHTTPAndOverStdio(t *testing.T) {
	for transport, want := range map[string]trace.Transport{"http": trace.StreamableHTTP, "stdio": trace.Stdio} {
		args := []string{"run", "--client", "--transport", transport, "--json", "--"}
		res := mcp(t, append(append(args, self("peer", "client")...), map[string][]string{"stdio": {"--"}}[transport]...)...)
		res.want(t, exitConforms)
		r := readReport(t, res.out)
		if len(r.Scores) != len(schemas.Revisions()) || r.Subject.Transport != want || r.Subject.Role != "client" {
			t.Errorf("%s: %+v %+v", transport, r.Subject, r.Scores)
		}
	}
	res := mcp(t, "run", "--client", "--json", "--patience", "0.1", "--", "true")
	res.want(t, exitTarget)
	if r := readReport(t, res.out); r.Judged() != 0 {
		t.Errorf("a client that does nothing has %d verdicts", r.Judged())
	}
}

func TestBadStdioServersEndInBoundedTimeWithTheRightCode(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		code   int
		word   string
	}{
		"dies at once":           {`echo boom >&2; exit 7`, exitTarget, "boom"},
		"prints garbage":         {`echo hello; while read l; do echo "not json"; done`, exitTarget, "hello"},
		"floods":                 {`while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done`, exitTarget, "no message: xxx"},
		"never answers":          {`while read l; do :; done`, exitTarget, "answer"},
		"never reads":            {`exec sleep 600`, exitTarget, "answer"},
		"echoes":                 {`exec cat`, exitTarget, ""},
		"answers the same error": {`while read l; do echo '{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"no"}}'; done`, exitTarget, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			res := mcp(t, "run", "--patience", "0.1", "--", "sh", "-c", c.script)
			res.want(t, c.code, c.word)
		})
	}
	t.Run("does not exist", func(t *testing.T) {
		mcp(t, "run", "--", "/no/such/command").want(t, exitTarget, "/no/such/command")
	})
}

// Nothing that a peer says may drive the terminal of who reads the error.
func TestErrorsMoveNoTerminal(t *testing.T) {
	res := mcp(t, "run", "--revision", "2025-11-25", "--", "printf", `\033[2J\033]0;x\a no message\n`)
	res.want(t, exitTarget, "no message")
	if strings.ContainsAny(res.out+res.err, "\x1b\a") {
		t.Errorf("%q", res.err)
	}
}

func TestBadHTTPServersEndInBoundedTimeWithTheRightCode(t *testing.T) {
	for name, h := range map[string]http.HandlerFunc{
		"HTML": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			w.Write([]byte("<html><body>Welcome</body></html>"))
		},
		"redirects": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) },
		"404":       http.NotFound,
		"500":       func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "broken", 500) },
		"never ends": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			w.WriteHeader(200)
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		},
		"same error": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Write([]byte(`{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"no"}}`))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := httptest.NewServer(h)
			defer srv.Close()
			res := mcp(t, "run", "--patience", "0.1", "--json", "--url", srv.URL)
			res.want(t, exitTarget)
			var doc struct{ Scores []reports.Score }
			if err := json.Unmarshal([]byte(res.out), &doc); err != nil {
				t.Fatalf("no report: %v\n%s\n%s", err, res.out, res.err)
			}
			for _, s := range doc.Scores {
				if s.Must.Passed > 0 {
					t.Errorf("%s: a server that never speaks the protocol passes %d MUSTs", s.Revision, s.Must.Passed)
				}
			}
		})
	}
	for code, word := range map[int]string{401: "--header 'Authorization", 404: "is the path of the URL right?"} {
		t.Run("what to do about "+http.StatusText(code), func(t *testing.T) {
			t.Parallel()
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }))
			defer srv.Close()
			mcp(t, "run", "--patience", "0.1", "--url", srv.URL).want(t, exitTarget, word)
		})
	}
	t.Run("refuses", func(t *testing.T) {
		mcp(t, "run", "--patience", "0.1", "--url", "http://127.0.0.1:1/mcp").want(t, exitTarget, "127.0.0.1:1")
	})
}
