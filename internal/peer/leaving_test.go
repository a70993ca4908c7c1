package peer

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// slowly calls the slow tool, reads the first event of the answer and leaves.
// It returns the id of that event.
func slowly(t *testing.T, url, params string, headers ...string) string {
	t.Helper()
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"test_slow_tool",` + params + `}}`
	r, err := http.NewRequestWithContext(ctx, "POST", url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", typeJSON)
	r.Header.Set("Accept", typeJSON+","+typeStream)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	id := ""
	for sc := bufio.NewScanner(resp.Body); sc.Scan() && !strings.HasPrefix(sc.Text(), "data: {"); {
		if v, ok := strings.CutPrefix(sc.Text(), "id: "); ok {
			id = v
		}
	}
	return id
}

// In the stateless era that the client leaves cancels its request: the call
// ends, although its tool would take a minute (2026-07-28 streamable-http
// Cancellation).
func TestLeavingCancelsAStatelessRequest(t *testing.T) {
	s, err := NewServer(Options{})
	if err != nil {
		t.Fatal(err)
	}
	hs := httptest.NewServer(s.Handler())
	defer hs.Close()
	defer s.Close()
	slowly(t, hs.URL, `"arguments":{"milliseconds":60000},"_meta":{"progressToken":1,"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`,
		headerVersion, "2026-07-28", headerMethod, "tools/call", headerName, "test_slow_tool")
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.working.Wait()
	}()
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		t.Error("the call goes on")
	}
}

// Before, it did not: the answer waits for the client to come back (2025-11-25
// basic/transports).
func TestLeavingDoesNotCancelInASession(t *testing.T) {
	s, err := NewServer(Options{})
	if err != nil {
		t.Fatal(err)
	}
	hs := httptest.NewServer(s.Handler())
	defer hs.Close()
	defer s.Close()
	ses := s.newSession("session", "streamable-http")
	ses.out, ses.opening, ses.rev = &ses.streams, true, r2511
	s.sessions[ses.id] = ses
	event := slowly(t, hs.URL, `"arguments":{"milliseconds":100},"_meta":{"progressToken":1}`, headerSession, ses.id)
	r, err := http.NewRequestWithContext(t.Context(), "GET", hs.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header = http.Header{"Accept": {typeStream}, headerSession: {ses.id}, headerLast: {event}}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	rest, err := io.ReadAll(resp.Body)
	if err != nil || !strings.Contains(string(rest), "Waited 100 milliseconds.") {
		t.Errorf("%s (%v)", rest, err)
	}
}
