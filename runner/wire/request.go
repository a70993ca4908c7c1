package wire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/mcp-conform/mcp-conform/trace"
)

// headers are the header fields of a request in the making, by lower-case
// name: names compare without case and keep the spelling they were given last.
type headers map[string][2]string

func (h headers) set(name, value string) { h[strings.ToLower(name)] = [2]string{name, value} }

func (h headers) setAll(m map[string]string) {
	for name, value := range m {
		h.set(name, value)
	}
}

// sorted returns the pairs in the order of their names.
func (h headers) sorted() [][2]string {
	out := make([][2]string, 0, len(h))
	for _, p := range h {
		out = append(out, p)
	}
	slices.SortFunc(out, func(a, b [2]string) int {
		return strings.Compare(strings.ToLower(a[0]), strings.ToLower(b[0]))
	})
	return out
}

// newRequest makes a request, and its head as the trace shows it. What o asks
// for overrules what the wire was opened with, and that the wire's defaults.
func newRequest(ctx context.Context, base *url.URL, data []byte, o HTTP, opened, defaults map[string]string) (*http.Request, *trace.Head, error) {
	ref, err := url.Parse(o.Path)
	if err != nil {
		return nil, nil, fmt.Errorf("path of the request: %w", err)
	}
	to := base
	if o.Path != "" {
		to = base.ResolveReference(ref)
	}
	h := headers{}
	h.setAll(defaults)
	h.setAll(opened)
	h.setAll(o.Headers)
	for _, name := range o.Drop {
		delete(h, strings.ToLower(name))
	}
	var from io.Reader
	if data != nil {
		from = bytes.NewReader(bytes.Clone(data))
	}
	req, err := http.NewRequestWithContext(ctx, o.Method, to.String(), from)
	if err != nil {
		return nil, nil, fmt.Errorf("making the request: %w", err)
	}
	head := &trace.Head{Method: o.Method, URL: to.String()}
	if head.Headers, err = dress(req, h); err != nil {
		return nil, nil, err
	}
	return req, head, nil
}

// frames reports whether h holds a field that says how long the body is.
func (h headers) frames() bool {
	for _, name := range []string{"content-length", "transfer-encoding", "trailer"} {
		if _, given := h[name]; given {
			return true
		}
	}
	return false
}

var errFraming = errors.New("Content-Length and Transfer-Encoding follow from the body and cannot be chosen")

// dress gives req the header fields h and returns them in the order in which
// they go out. Host and User-Agent are fields like any other to the caller, but
// not to net/http, which writes them first.
func dress(req *http.Request, h headers) ([][2]string, error) {
	if h.frames() {
		return nil, errFraming
	}
	var out [][2]string
	host := req.URL.Host
	if p, given := h["host"]; given {
		host = p[1]
		req.Host = host
	}
	out = append(out, [2]string{"Host", host})
	req.Header = http.Header{"User-Agent": {h["user-agent"][1]}} // "" sends none
	if agent := h["user-agent"][1]; agent != "" {
		out = append(out, [2]string{"User-Agent", agent})
	}
	if req.ContentLength > 0 || req.Body == http.NoBody && (req.Method == http.MethodPost || req.Method == http.MethodPut || req.Method == http.MethodPatch) {
		out = append(out, [2]string{"Content-Length", strconv.FormatInt(req.ContentLength, 10)})
	}
	delete(h, "host")
	delete(h, "user-agent")
	for _, p := range h.sorted() {
		req.Header[p[0]] = []string{p[1]}
		out = append(out, p)
	}
	return out, nil
}

// headPairs returns header fields as the trace shows them: net/http keeps
// neither their order nor the spelling of their names, so they are sorted.
func headPairs(h http.Header, codings []string) [][2]string {
	var out [][2]string
	for name, values := range h {
		for _, v := range values {
			out = append(out, [2]string{name, v})
		}
	}
	if len(codings) > 0 {
		out = append(out, [2]string{"Transfer-Encoding", strings.Join(codings, ", ")})
	}
	slices.SortStableFunc(out, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
	return out
}
