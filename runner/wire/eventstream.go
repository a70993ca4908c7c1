package wire

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/mcp-conform/mcp-conform/trace"
)

// streamBytes returns what o adds to an event stream: one server-sent event,
// or o.Data itself if it is raw. An id without data makes an event with empty
// data, which primes the client to resume (2025-11-25
// basic/transports#sending-messages-to-the-server); a retry without either is a
// field alone.
func streamBytes(o Out) ([]byte, error) {
	h := HTTP{}
	if o.HTTP != nil {
		h = *o.HTTP
	}
	if h.Raw {
		return o.Data, nil
	}
	var b bytes.Buffer
	for _, f := range [][2]string{{"event", h.Event}, {"id", h.EventID}} {
		if strings.ContainsAny(f[1], "\r\n\x00") {
			return nil, fmt.Errorf("the %s of a server-sent event cannot be %q: send it raw", f[0], f[1])
		}
		if f[1] != "" {
			b.WriteString(f[0] + ": " + f[1] + "\n")
		}
	}
	if h.Retry > 0 {
		b.WriteString("retry: " + strconv.Itoa(h.Retry) + "\n")
	}
	if o.Data != nil || h.EventID != "" || h.Event != "" {
		text := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(o.Data))
		for _, line := range strings.Split(text, "\n") {
			b.WriteString("data: " + line + "\n")
		}
	}
	if b.Len() > 0 {
		b.WriteByte('\n')
	}
	return b.Bytes(), nil
}

// answerHead returns the status and the header fields of an answer: the
// defaults for its kind, overruled by what o says.
func answerHead(o Out) (*trace.Head, error) {
	h := HTTP{}
	if o.HTTP != nil {
		h = *o.HTTP
	}
	if h.Status == 0 {
		h.Status = http.StatusOK
	}
	if h.Status < 200 || h.Status > 999 {
		return nil, fmt.Errorf("an answer cannot have the status %d", h.Status)
	}
	f := headers{}
	switch {
	case h.Stream:
		f.set("Content-Type", "text/event-stream")
		f.set("X-Accel-Buffering", "no") // 2026-07-28 streamable-http, receiving messages
		f.set("Cache-Control", "no-cache")
	case len(o.Data) > 0:
		f.set("Content-Type", "application/json")
	}
	f.setAll(h.Headers)
	for _, name := range h.Drop {
		delete(f, strings.ToLower(name))
	}
	for _, name := range []string{"Content-Type", "Connection", "Date"} {
		if p, given := f[strings.ToLower(name)]; given {
			f.set(name, p[1]) // net/http looks for them in this spelling
		}
	}
	if f.frames() {
		return nil, errFraming
	}
	bodyless := h.Status == http.StatusNoContent || h.Status == http.StatusNotModified
	switch {
	case h.Stream:
	case bodyless && len(o.Data) > 0:
		return nil, fmt.Errorf("an answer with the status %d cannot have a body", h.Status)
	case !bodyless:
		f.set("Content-Length", strconv.Itoa(len(o.Data)))
	}
	return &trace.Head{Status: h.Status, Headers: f.sorted()}, nil
}
