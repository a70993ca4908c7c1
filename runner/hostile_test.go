package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/scenarios"
	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

// What every test judges by is read once.
var (
	catalogue = sync.OnceValues(conformance.Builtin)
	set       = sync.OnceValues(func() (*schemas.Set, error) { return schemas.Load(schemas.Options{}) })
	builtins  = sync.OnceValues(scenarios.Builtin)
)

// options are those of a run of all built-in scenarios against a target.
func options(t *testing.T, target Target) Options {
	t.Helper()
	o := Options{Target: target}
	var errs [3]error
	o.Scenarios, errs[0] = builtins()
	o.Catalogue, errs[1] = catalogue()
	o.Schemas, errs[2] = set()
	if err := errors.Join(errs[:]...); err != nil {
		t.Fatal(err)
	}
	return o
}

// A target that cannot be spoken to ends in bounded time, with an error that
// says what it did instead.
func TestHostileCommands(t *testing.T) {
	for name, c := range map[string]struct{ script, want string }{
		"dies at once":  {"echo boom >&2; exit 3", "exit code 3; it said: boom"},
		"garbage":       {"while read -r l; do echo garbage; done", "what it wrote is no message: garbage"},
		"never answers": {"while read -r l; do :; done", "no answer within"},
		"floods":        {"yes", "what it wrote is no message: y"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mustBeUnreachable(t, Target{Role: trace.Server, Command: []string{"sh", "-c", c.script}}, c.want)
		})
	}
	t.Run("does not exist", func(t *testing.T) {
		mustBeUnreachable(t, Target{Role: trace.Server, Command: []string{"/no/such/server"}}, "no such file")
	})
}

func TestHostileURLs(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		want    string
	}{
		"redirect": {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) }, "status 302"},
		"HTML": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<html>hello</html>")
		}, "<html>hello"},
		"never ends": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			w.(http.Flusher).Flush()
			select {
			case <-r.Context().Done():
			case <-release:
			}
		}, "no answer within"},
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(c.handler)
			defer s.Close()
			mustBeUnreachable(t, Target{Role: trace.Server, URL: s.URL}, c.want)
		})
	}
	t.Run("refuses", func(t *testing.T) {
		s := httptest.NewServer(nil)
		s.Close()
		mustBeUnreachable(t, Target{Role: trace.Server, URL: s.URL}, "refused")
	})
	t.Run("the command behind it dies", func(t *testing.T) {
		s := httptest.NewServer(nil)
		s.Close()
		mustBeUnreachable(t, Target{Role: trace.Server, URL: s.URL, Command: []string{"sh", "-c", "echo boom >&2; exit 3"}}, "it said: boom")
	})
}

func TestAServerLeftOverOnTheAddressIsNotJudgedInPlaceOfTheCommand(t *testing.T) {
	s := httptest.NewServer(nil)
	defer s.Close()
	mustBeUnreachable(t, Target{Role: trace.Server, URL: s.URL, Command: []string{"true"}}, "listens on "+s.Listener.Addr().String()+" already")
}

// A server that answers initialize wrongly was reached: it has a verdict, and the
// requirement that it breaks is named.
func TestAnAnswerToInitializeThatLeadsNowhereIsAFailure(t *testing.T) {
	for name, c := range map[string]struct{ answer, breaks string }{
		"no version":     {`{"jsonrpc":"2.0","id":1,"result":{"capabilities":{},"serverInfo":{"name":"s","version":"1"}}}`, "SCHEMA-RESULT"},
		"id as a string": {`{"jsonrpc":"2.0","id":"1","result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}`, "IDS-RESPONSE-ECHO"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := options(t, Target{Role: trace.Server, Command: []string{"sh", "-c", "while read -r l; do echo '" + c.answer + "'; done"}})
			o.Patience = 0.1
			o.Revisions = []schemas.Revision{schemas.R20250618, schemas.R20251125}
			out, err := Run(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			if len(out.Offers) != 1 || out.Offers[0].Revision != schemas.R20251125 || len(out.Refused) != 1 {
				t.Errorf("offers %v, refused %v", out.Offers, out.Refused)
			}
			failed := map[string]bool{}
			for _, f := range out.Ledger.Findings() {
				failed[f.Requirement] = true
			}
			if !failed["LIFECYCLE-INITIALIZE-ANSWERED"] || !failed[c.breaks] {
				t.Errorf("failed: %v, want LIFECYCLE-INITIALIZE-ANSWERED and %s", failed, c.breaks)
			}
		})
	}
}

func TestAClientThatNeverSaysThatItIsInitializedIsJudged(t *testing.T) {
	o := options(t, Target{Role: trace.Client, Builtin: true, Faults: []string{"initialized-missing"}})
	o.Revisions = []schemas.Revision{schemas.R20250618}
	out, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range out.Ledger.Findings() {
		if f.Requirement == "LIFECYCLE-INITIALIZED-SENT" {
			return
		}
	}
	t.Errorf("offers %v, refused %v, findings %v", out.Offers, out.Refused, out.Ledger.Findings())
}

func mustBeUnreachable(t *testing.T, target Target, want string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	o := options(t, target)
	o.Patience = 0.02
	out, err := Run(ctx, o)
	if _, ok := errors.AsType[*UnreachableError](err); !ok || !strings.Contains(err.Error(), want) {
		t.Errorf("got  %v\nwant an UnreachableError with %q", err, want)
	}
	if out == nil || len(out.Harness) > 0 {
		t.Errorf("outcome %+v", out)
	}
}

// Servers that answer the handshake and then everything in the same way obey no
// rule by that: what they were asked for in particular is not proven.
func TestWhoRefusesEverythingPassesNothingByIt(t *testing.T) {
	refusing := func(status int) Target {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			m := schemas.Classify(body)
			if m.Method != "initialize" {
				http.Error(w, "no", status)
				return
			}
			v, _ := schemas.Member(m.Params, "protocolVersion")
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Mcp-Session-Id", "s1")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":%s,"capabilities":{},"serverInfo":{"name":"no","version":"1"}}}`, m.ID, v)
		}))
		t.Cleanup(s.Close)
		return Target{Role: trace.Server, URL: s.URL}
	}
	const unknown = `while read -r l; do
		id=$(printf %s "$l" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
		case $l in
		*'"initialize"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"prompts":{}},"serverInfo":{"name":"no","version":"1"}}}';;
		*) [ -z "$id" ] || echo '{"jsonrpc":"2.0","id":'$id',"error":{"code":-32601,"message":"no"}}';;
		esac
	done`
	for name, c := range map[string]struct {
		target Target
		ids    []string
	}{
		"404":    {refusing(404), []string{"HTTP-ORIGIN-VALIDATED", "HTTP-SESSION-ENDED-404"}},
		"400":    {refusing(400), []string{"HTTP-ORIGIN-VALIDATED", "HTTP-VERSION-HEADER-INVALID", "HTTP-SESSION-ID-REQUIRED"}},
		"-32601": {Target{Role: trace.Server, Command: []string{"sh", "-c", unknown}}, []string{"TOOLS-UNKNOWN", "PROMPTS-UNKNOWN"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := options(t, c.target)
			o.Revisions, o.Patience = []schemas.Revision{schemas.R20251125}, 0.2
			out, err := Run(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			for _, j := range out.Ledger.Verdicts(schemas.R20251125, trace.Server) {
				if slices.Contains(c.ids, j.Requirement.ID) && j.Verdict == conformance.Pass {
					t.Errorf("%s passes", j.Requirement.ID)
				}
			}
		})
	}
}

// An interrupted run says so, and blames nobody for what it cut off.
func TestAnInterruptedRunSaysSoAndNothingElse(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o := options(t, Target{Role: trace.Server, Builtin: true})
	o.Progress = func(p Progress) {
		if p.Result.Verdict == conformance.Pass {
			cancel()
		}
	}
	out, err := Run(ctx, o)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if len(out.Harness) != 1 || !strings.Contains(out.Harness[0].Error(), "ended early") {
		t.Errorf("harness errors %v", out.Harness)
	}
	for _, f := range out.Ledger.Findings() {
		if f.Verdict == conformance.Fail {
			t.Errorf("blamed: %+v", f)
		}
	}
}

func TestAnEmptyCommandIsWrongUsage(t *testing.T) {
	_, err := Run(t.Context(), options(t, Target{Role: trace.Server, Command: []string{""}}))
	if _, ok := errors.AsType[*UsageError](err); !ok {
		t.Errorf("%v", err)
	}
}
