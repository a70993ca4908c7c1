package peer_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

// wiretap notes everything that went over a wire, whole messages only.
type wiretap struct {
	mu    sync.Mutex
	said  []saying
	heads []tappedHead
}

type saying struct {
	from trace.Side
	data []byte
}

// tappedHead is an HTTP request with the status and headers of its answer.
type tappedHead struct {
	method  string
	request http.Header
	status  int
	answer  http.Header
}

func (t *wiretap) note(from trace.Side, data []byte) {
	if len(bytes.TrimSpace(data)) > 0 {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.said = append(t.said, saying{from, bytes.Clone(data)})
	}
}

func (t *wiretap) all() []saying {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]saying(nil), t.said...)
}

// text is everything that one side said, a line each.
func (t *wiretap) text(from trace.Side) string {
	var b strings.Builder
	for _, s := range t.all() {
		if s.from == from {
			b.Write(s.data)
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// reader notes the lines that pass through r.
func (t *wiretap) reader(from trace.Side, r io.Reader) io.Reader {
	return &tapReader{tap: t, from: from, r: r}
}

type tapReader struct {
	tap  *wiretap
	from trace.Side
	r    io.Reader
	rest []byte
}

func (r *tapReader) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	r.rest = append(r.rest, p[:n]...)
	for {
		l, rest, ok := bytes.Cut(r.rest, []byte("\n"))
		if !ok {
			return n, err
		}
		r.tap.note(r.from, l)
		r.rest = rest
	}
}

// handler notes the bodies and heads that pass through h.
func (t *wiretap) handler(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		t.note(trace.Client, body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		tw := &tapWriter{ResponseWriter: w, tap: t}
		defer tw.done(r)
		h.ServeHTTP(tw, r)
	})
}

type tapWriter struct {
	http.ResponseWriter
	tap    *wiretap
	status int
	body   []byte
}

func (w *tapWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *tapWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

func (w *tapWriter) Write(p []byte) (int, error) {
	if strings.HasPrefix(w.Header().Get("Content-Type"), "text/event-stream") {
		for l := range bytes.SplitSeq(p, []byte("\n")) {
			if data, ok := bytes.CutPrefix(l, []byte("data: ")); ok {
				w.tap.note(trace.Server, data)
			}
		}
	} else {
		w.body = append(w.body, p...)
	}
	return w.ResponseWriter.Write(p)
}

func (w *tapWriter) done(r *http.Request) {
	w.tap.note(trace.Server, w.body)
	w.tap.mu.Lock()
	defer w.tap.mu.Unlock()
	w.tap.heads = append(w.tap.heads, tappedHead{r.Method, r.Header.Clone(), w.status, w.Header().Clone()})
}

// checkForm validates all that was said against the schemas of the revision.
func (t *wiretap) checkForm(tt *testing.T, rev schemas.Revision) {
	tt.Helper()
	set, err := schemas.Load(schemas.Options{})
	if err != nil {
		tt.Fatal(err)
	}
	asked := map[string]schemas.Message{}
	for _, s := range t.all() {
		m := schemas.Classify(s.data)
		for _, p := range m.Problems {
			tt.Errorf("%s said %s: %s %s", s.from, s.data, p.Code, p.Detail)
		}
		var paired *schemas.Message
		switch m.Kind {
		case schemas.Request:
			asked[string(s.from)+string(m.ID)] = m
		case schemas.Result, schemas.Error:
			if q, ok := asked[string(s.from.Peer())+string(m.ID)]; ok {
				paired = &q
			} else {
				tt.Errorf("%s answered what was not asked: %s", s.from, s.data)
			}
		}
		for _, v := range set.ValidateMessage(rev, &m, paired) {
			tt.Errorf("%s said %s: %v", s.from, s.data, v)
		}
	}
}

// methods lists the methods that one side named, in order, without repetitions.
func (t *wiretap) methods(from trace.Side) []string {
	var names []string
	seen := map[string]bool{}
	for _, s := range t.all() {
		var m struct{ Method string }
		if s.from == from && json.Unmarshal(s.data, &m) == nil && m.Method != "" && !seen[m.Method] {
			seen[m.Method] = true
			names = append(names, m.Method)
		}
	}
	return names
}
