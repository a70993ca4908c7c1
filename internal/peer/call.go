package peer

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"sync"

	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

// Why a call's context ended.
var (
	errCancelled = errors.New("the client cancelled the request")
	errShutdown  = errors.New("the connection has ended")
)

// silence is what a method returns to say that there shall be no response.
var silence = &rpcError{}

// frame is bytes on their way out.
type frame struct {
	data   []byte
	final  bool // answers the request, so that nothing follows
	status int  // the HTTP status that goes with it; 0 means 200
	extra  bool // a fault's addition
}

// outlet is where the messages of one call, or those of a session that belong
// to no call, leave the server.
type outlet interface{ put(frame) }

// call is one request being answered.
type call struct {
	srv       *Server
	ses       *session // nil in the stateless era
	rev       schemas.Revision
	transport trace.Transport
	id        json.RawMessage
	method    string
	params    fields
	meta      fields // params._meta
	caps      fields // the client's capabilities: the session's, or the request's
	out       outlet
	header    http.Header // of the HTTP request, in the stateless era
	ctx       context.Context
	cancel    context.CancelCauseFunc

	mu   sync.Mutex
	over bool // nothing more may be sent for it
}

// name is params.name or params.uri: what Mcp-Name mirrors.
func (c *call) name() string {
	if n, ok := c.params.text("name"); ok {
		return n
	}
	u, _ := c.params.text("uri")
	return u
}

// start runs the call in its own goroutine; done is called when all is sent.
func (c *call) start(done func()) {
	c.srv.working.Add(1)
	go func() {
		defer c.srv.working.Done()
		defer done()
		defer c.cancel(nil)
		c.finish(c.run())
	}()
}

// end answers a call that was never started.
func (c *call) end(result obj, e *rpcError, done func()) {
	c.finish(result, e)
	c.cancel(nil)
	done()
}

func (c *call) run() (obj, *rpcError) {
	m, ok := c.srv.methods[c.method]
	if !ok || !m.in(c.rev) {
		return nil, &rpcError{code: codeMethodNotFound, message: "there is no method " + c.method, status: notFoundStatus(c.rev)}
	}
	if e := c.checkLogLevel(); e != nil {
		return nil, e
	}
	result, e := m.run(c)
	if e == nil {
		result = c.dress(result, m)
	}
	return result, e
}

// notFoundStatus is 404 from 2026-07-28 on (basic/transports/streamable-http);
// before, no status was named.
func notFoundStatus(r schemas.Revision) int {
	if r.Stateless() {
		return 404
	}
	return 0
}

// dress gives a result what every result of the stateless era carries
// (2026-07-28 basic/index ResultType, server/utilities/caching).
func (c *call) dress(result obj, m method) obj {
	if !c.rev.Stateless() {
		return result
	}
	if _, ok := result["resultType"]; !ok {
		result["resultType"] = "complete"
	}
	if m.cached != "" && result["resultType"] == "complete" {
		result["ttlMs"] = 300000
		result["cacheScope"] = m.cached
	}
	meta, _ := result["_meta"].(obj)
	if meta == nil {
		meta = obj{}
	}
	meta[keyServerInfo] = serverInfo(c.rev)
	result["_meta"] = meta
	return result
}

// finish sends the response, unless the call was cancelled: then there shall be
// none (basic/utilities/cancellation).
func (c *call) finish(result obj, e *rpcError) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if (e == silence || context.Cause(c.ctx) == errCancelled) && !c.srv.broken("cancelled-answered") {
		c.over = true
	}
	if c.over {
		return
	}
	c.over = true
	m := answer(c.id, result)
	status := 0
	if e != nil {
		m, status = failure(c.id, e), e.status
	}
	c.put(sent{msg: m, final: true, status: status})
}

// notify sends a notification that belongs to the call.
func (c *call) notify(method string, params obj) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.over && context.Cause(c.ctx) != errCancelled {
		c.put(sent{msg: notification(method, params)})
	}
}

func (c *call) put(m sent) {
	m.rev, m.transport, m.re, m.name, m.id, m.request = c.rev, c.transport, c.method, c.name(), c.id, c.params
	for _, f := range c.srv.frames(m) {
		if !c.srv.misroute(c, m, f) {
			c.out.put(f)
		}
	}
}

// progress reports progress if the request asked for it; message exists since
// 2025-03-26.
func (c *call) progress(done, total float64, message string) {
	token, ok := c.meta["progressToken"]
	if !ok {
		return
	}
	p := obj{"progressToken": token, "progress": done, "total": total}
	if c.rev >= schemas.R20250326 {
		p["message"] = message
	}
	c.notify("notifications/progress", p)
}

// logLevels are the severities in rising order (server/utilities/logging).
func logLevels() []string {
	return []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}
}

// checkLogLevel refuses a request whose metadata names no level (2026-07-28
// server/utilities/logging Error Handling).
func (c *call) checkLogLevel() *rpcError {
	raw, ok := c.meta[keyLogLevel]
	if !ok || !c.rev.Stateless() || c.srv.broken("invalid-level-accepted") {
		return nil
	}
	if l, ok := c.meta.text(keyLogLevel); !ok || !slices.Contains(logLevels(), l) {
		return invalidParams("%s is not a log level", raw)
	}
	return nil
}

// log writes a log message that belongs to the call, if the client wants it: by
// the session's level up to 2025-11-25, by the request's from then on.
func (c *call) log(level string, data any) {
	wanted := -1
	if c.ses != nil {
		wanted = c.ses.logLevel()
	} else if l, ok := c.meta.text(keyLogLevel); ok {
		wanted = slices.Index(logLevels(), l)
	}
	if (wanted < 0 || slices.Index(logLevels(), level) < wanted) && !c.srv.broken("log-level-ignored") {
		return
	}
	c.notify("notifications/message", obj{"level": level, "logger": "reference", "data": data})
}

// declares reports whether the client has declared a capability: a path of keys.
func (c *call) declares(path ...string) bool {
	f, ok := c.caps, true
	for _, k := range path {
		if f, ok = f.object(k); !ok {
			return false
		}
	}
	return true
}
