package record_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/internal/peer"
	"github.com/mcp-conform/mcp-conform/runner/record"
	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
	"github.com/mcp-conform/mcp-conform/trace/capture"
)

// asServer makes this test binary the reference server, for tests that need a process.
const asServer = "MCP_CONFORM_RECORD_TEST_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(asServer) == "" {
		os.Exit(m.Run())
	}
	s, err := peer.NewServer(peer.Options{})
	if err == nil {
		err = s.ServeStdio(context.Background(), os.Stdin, os.Stdout, os.Stderr)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// clean judges a capture of the reference peers, who do nothing wrong: whatever
// the recorder or an importer made of it, there must be no failure, and enough
// must have been seen for that to mean something.
func clean(t *testing.T, rev schemas.Revision, passes int, paths []string, o capture.Options) {
	t.Helper()
	catalogue, err := conformance.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	set, err := schemas.Load(schemas.Options{})
	if err != nil {
		t.Fatal(err)
	}
	src, err := capture.Open(paths, o)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	passed := map[string]bool{}
	j := conformance.NewJudge(conformance.JudgeOptions{Catalogue: catalogue, Schemas: set, Header: src.Header(), Emit: func(e conformance.Evidence) {
		q, ok := catalogue.Get(e.Requirement)
		if !ok || !q.BindsIn(e.Revision, e.Side) {
			return // the ledger drops it, too
		}
		switch {
		case e.Verdict == conformance.Fail:
			t.Errorf("%s %s: %s; want %s, got %s\n%s", e.Side, e.Requirement, e.Detail, e.Want, e.Got, e.Wire)
		case e.Verdict == conformance.Pass && e.Revision == rev:
			passed[e.Requirement+" "+string(e.Side)] = true
		}
	}})
	for {
		e, err := src.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		j.Observe(e)
	}
	j.Finish()
	if len(passed) < passes {
		t.Errorf("only %d requirements of %s passed, want %d", len(passed), rev, passes)
	}
}

// file writes something to be read as a capture.
func file(t *testing.T, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// traceFile writes events as a trace of our own format.
func traceFile(t *testing.T, transport trace.Transport, list []trace.Event) string {
	t.Helper()
	var b bytes.Buffer
	w, err := trace.NewWriter(&b, trace.Header{Tool: "test", Made: "record", Transport: transport})
	if err != nil {
		t.Fatal(err)
	}
	log := trace.NewLog(w.Record)
	for _, e := range list {
		log.Record(e)
	}
	if err := w.Err(); err != nil {
		t.Fatal(err)
	}
	return file(t, "trace.jsonl", b.Bytes())
}

// A conversation of the reference peers over a recorded stdio is clean as a
// trace, as plain lines in one file, and in two.
func TestStdioRecordingsAreClean(t *testing.T) {
	for _, rev := range schemas.Revisions() {
		t.Run(string(rev), func(t *testing.T) {
			g := NewWithT(t)
			noLeak(t)
			exe, err := os.Executable()
			g.Expect(err).NotTo(HaveOccurred())
			client, err := peer.NewClient(peer.ClientOptions{Revision: rev, Patience: patience})
			g.Expect(err).NotTo(HaveOccurred())
			fromClient, toServer := io.Pipe()
			fromServer, toClient := io.Pipe()
			seen := &events{}
			done := make(chan error, 1)
			go func() {
				exit, err := record.Stdio{Command: []string{exe}, Env: []string{asServer + "=1"}, Stdin: fromClient, Stdout: toClient, Stderr: io.Discard, Sink: seen.sink}.Run(t.Context())
				if err == nil && (exit.How != "exit" || exit.Code != 0) {
					err = fmt.Errorf("%+v", exit)
				}
				toClient.Close()
				done <- err
			}()
			g.Expect(client.RunStdio(t.Context(), fromServer, toServer)).To(Succeed())
			toServer.Close()
			go io.Copy(io.Discard, fromServer)
			g.Eventually(done, patience).Should(Receive(BeNil()))

			clean(t, rev, 40, []string{traceFile(t, trace.Stdio, seen.list)}, capture.Options{})
			var mixed bytes.Buffer
			sides := map[trace.Side]*bytes.Buffer{trace.Client: {}, trace.Server: {}}
			for _, e := range seen.list {
				if e.Kind == trace.KindMessage {
					for _, b := range []*bytes.Buffer{&mixed, sides[e.From]} {
						b.Write(append(bytes.Clone(e.Data), '\n'))
					}
				}
			}
			clean(t, rev, 30, []string{file(t, "mixed", mixed.Bytes())}, capture.Options{})
			clean(t, rev, 20, nil, capture.Options{FromClient: file(t, "in", sides[trace.Client].Bytes()), FromServer: file(t, "out", sides[trace.Server].Bytes())})
		})
	}
}

// The same over recorded HTTP, and for what a browser would have exported of it.
func TestHTTPRecordingsAreClean(t *testing.T) {
	for _, rev := range schemas.Revisions() {
		if rev == schemas.R20241105 {
			continue // has no Streamable HTTP
		}
		t.Run(string(rev), func(t *testing.T) {
			g := NewWithT(t)
			noLeak(t)
			server, err := peer.NewServer(peer.Options{})
			g.Expect(err).NotTo(HaveOccurred())
			up := httptest.NewServer(server.Handler())
			defer up.Close()
			defer server.Close()
			p := proxyTo(t, up.URL+"/mcp")
			client, err := peer.NewClient(peer.ClientOptions{Revision: rev, Patience: patience})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(client.RunHTTP(t.Context(), p.url)).To(Succeed())
			p.stop()

			clean(t, rev, 40, []string{traceFile(t, trace.StreamableHTTP, p.events.list)}, capture.Options{})
			for _, streams := range []bool{true, false} {
				clean(t, rev, 20, []string{file(t, "session.har", archive(t, p.events.list, streams))}, capture.Options{})
			}
		})
	}
}

// archive makes an HTTP Archive of recorded exchanges. Without streams the
// bodies of event streams are missing, as in what many tools export.
func archive(t *testing.T, list []trace.Event, streams bool) []byte {
	t.Helper()
	type object = map[string]any
	type exchange struct {
		first, last trace.Event
		entry       object
		body        string
		stream      bool
	}
	named := func(pairs [][2]string) []object {
		var out []object
		for _, p := range pairs {
			out = append(out, object{"name": strings.ToLower(p[0]), "value": p[1]})
		}
		return out
	}
	var order []*exchange
	by := map[string]*exchange{}
	for _, e := range list {
		x := by[e.Exchange]
		if x == nil {
			x = &exchange{first: e, entry: object{"request": object{"bodySize": 0}, "response": object{"status": 0, "bodySize": -1}}}
			by[e.Exchange], order = x, append(order, x)
		}
		x.last = e
		request, response := x.entry["request"].(object), x.entry["response"].(object)
		switch {
		case e.Kind == trace.KindHTTP && e.From == trace.Client:
			request["method"], request["url"], request["headers"] = e.HTTP.Method, e.HTTP.URL, named(e.HTTP.Headers)
		case e.Kind == trace.KindHTTP:
			response["status"], response["headers"] = e.HTTP.Status, named(e.HTTP.Headers)
			kind, _ := e.HTTP.Get("Content-Type")
			x.stream = strings.HasPrefix(kind, "text/event-stream")
		case e.From == trace.Client && e.Kind != trace.KindClosed:
			request["postData"], request["bodySize"] = object{"mimeType": "application/json", "text": string(e.Data)}, len(e.Data)
		case e.SSE != nil:
			if e.SSE.ID != nil {
				x.body += "id: " + *e.SSE.ID + "\n"
			}
			if e.SSE.Retry != nil {
				x.body += fmt.Sprintf("retry: %d\n", *e.SSE.Retry)
			}
			if e.SSE.Comment {
				x.body += ":\n"
			}
			if e.Data != nil {
				x.body += "data: " + strings.ReplaceAll(string(e.Data), "\n", "\ndata: ") + "\n"
			}
			x.body += "\n"
		case e.Kind != trace.KindClosed:
			x.body += string(e.Data)
		}
	}
	var entries []any
	for _, x := range order {
		content := object{"size": len(x.body), "text": x.body}
		if x.stream && !streams {
			content = object{"size": 0}
		}
		x.entry["response"].(object)["content"] = content
		x.entry["startedDateTime"], x.entry["time"] = x.first.Time, float64(x.last.Time.Sub(x.first.Time))/1e6
		entries = append(entries, x.entry)
	}
	b, err := json.Marshal(object{"log": object{"version": "1.2", "entries": entries}})
	if err != nil {
		t.Fatal(err)
	}
	return b
}
