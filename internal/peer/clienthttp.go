package peer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"sync"
	"time"

	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

// RunHTTP talks to a server over Streamable HTTP.
func (c *Client) RunHTTP(ctx context.Context, url string) error {
	t := c.newTalk(trace.StreamableHTTP)
	ctx, stop := context.WithCancel(ctx)
	l := &httpLink{
		talk: t, url: url, client: &http.Client{Transport: &http.Transport{}}, ctx: ctx,
		flows: map[string]context.CancelFunc{},
	}
	t.link = l
	err := t.begin(ctx)
	if err == nil {
		err = t.tour(ctx)
	}
	t.settled(ctx)
	err = errors.Join(err, l.close(ctx))
	stop()
	l.open.Wait()
	t.working.Wait()
	l.client.CloseIdleConnections()
	return err
}

// httpLink is a conversation over Streamable HTTP: each message is a POST of its
// own, whose answer may be a stream.
type httpLink struct {
	talk   *talk
	url    string
	client *http.Client
	ctx    context.Context // of the whole conversation
	open   sync.WaitGroup  // exchanges in progress

	mu      sync.Mutex
	session string
	closing context.CancelFunc            // ends the standing stream
	flows   map[string]context.CancelFunc // ends the exchange of a request, by its id
}

// send posts a message. For a request it returns at once, and the answer comes
// through the talk; for others it waits until they are accepted, so that they
// arrive in order.
func (l *httpLink) send(ctx context.Context, m sent) error {
	for _, f := range l.talk.c.frames(m) {
		switch {
		case f.extra:
			_ = l.exchange(ctx, m, f.data) // a fault's addition: nobody waits for its answer
		case m.msg["method"] != nil && m.msg["id"] != nil:
			l.start(m, f.data)
		default:
			if err := l.exchange(ctx, m, f.data); err != nil {
				return err
			}
		}
	}
	return nil
}

// start posts a request. Its exchange outlives the wait for the answer, because
// the server ends the stream after it.
func (l *httpLink) start(m sent, body []byte) {
	id := string(encode(m.msg["id"]))
	ctx, stop := context.WithCancel(l.ctx)
	l.mu.Lock()
	l.flows[id] = stop
	l.mu.Unlock()
	l.open.Add(1)
	go func() {
		defer l.open.Done()
		defer l.stop(id)
		if err := l.exchange(ctx, m, body); err != nil {
			l.talk.fail(m.msg["id"], err)
		}
	}()
}

func (l *httpLink) stop(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if stop := l.flows[id]; stop != nil {
		stop()
	}
	delete(l.flows, id)
}

// drop closes the stream of a request.
func (l *httpLink) drop(id int) { l.stop(string(idToken(id))) }

// exchange posts one message and reads what answers it.
func (l *httpLink) exchange(ctx context.Context, m sent, body []byte) error {
	resp, sentSession, err := l.post(ctx, m, body)
	if err != nil {
		return err
	}
	defer drain(resp)
	if resp.StatusCode == http.StatusNotFound && sentSession {
		if l.talk.c.broken("session-not-renewed") {
			return errors.New("the session is gone")
		}
		l.mu.Lock()
		l.session = ""
		l.mu.Unlock()
		return errSessionGone
	}
	isCall := m.msg["method"] != nil && m.msg["id"] != nil
	if resp.StatusCode >= 300 {
		return refusal(resp)
	}
	if !isCall {
		return nil
	}
	if m.re == "initialize" {
		l.mu.Lock()
		l.session = resp.Header.Get(headerSession)
		l.mu.Unlock()
	}
	switch t, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); t {
	case typeJSON:
		data, err := io.ReadAll(io.LimitReader(resp.Body, bodyLimit))
		if err != nil {
			return fmt.Errorf("%w: %w", errLost, err)
		}
		l.talk.receive(l.ctx, data)
		return errLost // unless that was the answer: then nobody hears it
	case typeStream:
		if l.talk.c.broken("stream-unread") {
			return errors.New("the answer is no JSON")
		}
		return l.follow(ctx, resp.Body)
	default:
		return fmt.Errorf("the answer is %q, neither JSON nor a stream of events", t)
	}
}

// refusal makes an error of an HTTP error status: the JSON-RPC error in its body
// if there is one.
func refusal(resp *http.Response) error {
	data, _ := io.ReadAll(io.LimitReader(resp.Body, bodyLimit))
	if p := parse(data); p.isResponse() && p.err != nil {
		e := readError(p.err)
		e.status = resp.StatusCode
		return e
	}
	return fmt.Errorf("HTTP status %d", resp.StatusCode)
}

func (l *httpLink) post(ctx context.Context, m sent, body []byte) (*http.Response, bool, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, l.url, bytes.NewReader(body))
	if err != nil {
		return nil, false, err
	}
	req.Header.Set("Content-Type", typeJSON)
	req.Header.Set("Accept", typeJSON+", "+typeStream)
	l.standardHeaders(req, m)
	return l.do(req, m)
}

func (l *httpLink) do(req *http.Request, m sent) (*http.Response, bool, error) {
	for _, f := range l.talk.c.faults {
		if f.request != nil {
			f.request(req, &m)
		}
	}
	resp, err := l.client.Do(req)
	return resp, req.Header.Get(headerSession) != "", err
}

// standardHeaders sets what goes with a message: the session and the negotiated
// version up to 2025-11-25, and the mirrored body since 2026-07-28.
func (l *httpLink) standardHeaders(req *http.Request, m sent) {
	if m.rev.Stateless() {
		req.Header.Set(headerVersion, string(m.rev))
		if m.method() == "" {
			return
		}
		req.Header.Set(headerMethod, m.method())
		switch m.method() {
		case "tools/call", "prompts/get", "resources/read":
			req.Header.Set(headerName, encodeHeader(m.name))
		}
		if m.method() == "tools/call" {
			l.paramHeaders(req, m)
		}
		return
	}
	if m.re == "initialize" && m.method() == "initialize" {
		return // a new session has neither an id nor a version yet
	}
	l.mu.Lock()
	if l.session != "" {
		req.Header.Set(headerSession, l.session)
	}
	l.mu.Unlock()
	if m.rev >= schemas.R20250618 {
		req.Header.Set(headerVersion, string(m.rev))
	}
}

// paramHeaders mirrors annotated arguments (2026-07-28 streamable-http Custom
// Headers from Tool Parameters).
func (l *httpLink) paramHeaders(req *http.Request, m sent) {
	l.talk.mu.Lock()
	listed := l.talk.tools[m.name]
	l.talk.mu.Unlock()
	schema, _ := listed["inputSchema"].(obj)
	args, _ := m.params()["arguments"].(obj)
	for _, h := range paramHeaders(schema) {
		switch v := h.value(args).(type) {
		case nil:
		case string:
			req.Header.Set(h.name, encodeHeader(v))
		default:
			req.Header.Set(h.name, string(encode(v)))
		}
	}
}

// maxResumes bounds how often one stream is taken up again.
const maxResumes = 5

// follow reads a stream until the server ends it. One that breaks off is resumed
// after its last event, when it had event ids (2025-11-25 basic/transports
// Resumability and Redelivery); if it cannot be, the answer is lost.
func (l *httpLink) follow(ctx context.Context, body io.Reader) error {
	last, pause := "", time.Duration(0)
	for n := 0; ; n++ {
		answered := l.events(body, &last, &pause)
		if answered || ctx.Err() != nil {
			return ctx.Err()
		}
		if last == "" || n == maxResumes || l.talk.revision().Stateless() {
			return errLost
		}
		if l.talk.c.broken("retry-ignored") {
			pause = 0
		}
		if err := rest(ctx, pause); err != nil {
			return err
		}
		resp, err := l.get(ctx, last)
		if err != nil {
			return fmt.Errorf("%w: %w", errLost, err)
		}
		defer drain(resp)
		body = resp.Body
	}
}

// rest waits as long as the server asked for before a reconnect.
func rest(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// events reads events until the connection ends and reports whether a response
// was among them.
func (l *httpLink) events(body io.Reader, last *string, pause *time.Duration) bool {
	answered := false
	readEvents(body, func(e event) {
		if e.id != nil {
			*last = *e.id
		}
		if e.retry >= 0 {
			*pause = time.Duration(e.retry) * time.Millisecond
		}
		if len(e.data) > 0 { // an event of empty data only carries an id
			answered = answered || isAnswer(e.data)
			l.talk.receive(l.ctx, e.data)
		}
	})
	return answered
}

func isAnswer(data []byte) bool {
	p := parse(data)
	return p.isResponse() || (p.isBatch && len(p.batch) > 0 && p.batch[0].isResponse())
}

// get opens the standing stream, or resumes a stream after an event.
func (l *httpLink) get(ctx context.Context, last string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, l.url, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", typeStream)
	if last != "" {
		req.Header.Set(headerLast, last)
	}
	m := sent{msg: obj{}, rev: l.talk.revision(), transport: l.talk.transport}
	l.standardHeaders(req, m)
	resp, _, err := l.do(req, m)
	if err == nil && resp.StatusCode != http.StatusOK {
		drain(resp)
		return nil, fmt.Errorf("GET: HTTP status %d", resp.StatusCode)
	}
	return resp, err
}

// standPatience is how long the standing stream may take to begin before the
// conversation goes on without waiting for it.
const standPatience = time.Second

// opened opens the stream for what belongs to no request, and waits until it has
// begun, so that nothing said from now on is missed. A server need not offer one.
func (l *httpLink) opened(context.Context) {
	ctx, stop := context.WithCancel(l.ctx)
	l.mu.Lock()
	if l.closing != nil {
		l.closing()
	}
	l.closing = stop
	l.mu.Unlock()
	begun := make(chan struct{})
	l.open.Add(1)
	go func() {
		defer l.open.Done()
		resp, err := l.get(ctx, "")
		close(begun)
		if err != nil {
			return
		}
		defer drain(resp)
		_ = l.follow(ctx, resp.Body) // its end is no error: the server may close it at any time
	}()
	timer := time.NewTimer(standPatience)
	defer timer.Stop()
	select {
	case <-begun:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// close ends the session by DELETE; a server may refuse that.
func (l *httpLink) close(ctx context.Context) error {
	l.mu.Lock()
	session, closing := l.session, l.closing
	l.mu.Unlock()
	if closing != nil {
		closing()
	}
	if session == "" || l.talk.c.broken("session-left-open") || ctx.Err() != nil {
		return nil
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodDelete, l.url, nil)
	if err != nil {
		return err
	}
	m := sent{msg: obj{}, rev: l.talk.revision(), transport: l.talk.transport}
	l.standardHeaders(req, m)
	resp, _, err := l.do(req, m)
	if err != nil {
		return fmt.Errorf("ending the session: %w", err)
	}
	drain(resp)
	return nil
}

// drain finishes a body so that its connection can be used again.
func drain(resp *http.Response) {
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<16))
	_ = resp.Body.Close()
}
