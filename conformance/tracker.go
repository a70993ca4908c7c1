package conformance

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

// observe finds out what an event means and shows it to the rules.
func (j *Judge) observe(e *trace.Event) {
	c := j.connection(e)
	x := c.exchange(e)
	x.take(e)
	if j.aside(c, x, e) {
		return
	}
	switch e.Kind {
	case trace.KindHTTP:
		j.head(c, x, e)
	case trace.KindMessage:
		j.message(c, x, e)
	case trace.KindClosed:
		j.closed(c, x, e)
	case trace.KindNoise, trace.KindSSE, trace.KindStderr:
		j.other(c, x, e)
	}
}

func (j *Judge) connection(e *trace.Event) *connection {
	c := j.conns[e.Conn]
	if c == nil {
		c = &connection{
			id: e.Conn, transport: j.options.Header.Transport, partial: j.lacks[trace.LackStart], header: j.header,
			byID: map[string]*Session{}, exchanges: map[string]*Exchange{},
		}
		if c.transport == "" {
			c.transport = transportOf(e)
		}
		j.conns[e.Conn] = c
		j.order = append(j.order, c)
	}
	return c
}

// transportOf guesses the transport from a connection's first event, when the
// trace does not tell; "" when the event does not tell either.
func transportOf(e *trace.Event) trace.Transport {
	switch {
	case e.Kind == trace.KindHTTP || e.Exchange != "":
		return trace.StreamableHTTP
	case e.Kind == trace.KindStderr:
		return trace.Stdio
	}
	return ""
}

func (c *connection) exchange(e *trace.Event) *Exchange {
	if e.Exchange == "" {
		return nil
	}
	x := c.exchanges[e.Exchange]
	if x == nil {
		x = &Exchange{ID: e.Exchange, Since: e.Seq}
		c.exchanges[e.Exchange] = x
	}
	if e.SSE != nil && e.SSE.ID != nil && e.From == trace.Server {
		x.EventIDs = true
	}
	if e.From == trace.Server {
		x.Bytes += int64(len(e.Data))
	}
	return x
}

// head takes an HTTP head. A POST belongs to a session only once its body is
// seen, so its head is judged with it.
func (j *Judge) head(c *connection, x *Exchange, e *trace.Event) {
	if x == nil || e.HTTP == nil {
		return
	}
	if e.From == trace.Client {
		if x.method() == "POST" {
			return
		}
		x.Session = c.ofHead(x)
	} else {
		j.answered(c, x, e)
	}
	j.evict(c)
	s := j.sessionOf(c, x)
	j.run(&Observation{Event: e, Session: s, Exchange: x, Revision: s.judgedAs(), judge: j})
}

// ofHead finds the session of a GET or DELETE.
func (c *connection) ofHead(x *Exchange) *Session {
	id, ok := x.header("Mcp-Session-Id")
	switch {
	case x.versionHeader().Stateless():
		return c.stateless()
	case ok && (c.modern == nil || c.byID[id] != nil):
		return c.named(id)
	}
	return c.unnamed()
}

// answered takes the head of an answer: the session id that it gives, the
// session that it ends, the requests that it turns away.
func (j *Judge) answered(c *connection, x *Exchange, e *trace.Event) {
	s := x.Session
	if s == nil {
		return
	}
	if x.mediaType() == "text/event-stream" && x.status() < 300 {
		s.streams++
	}
	if x.status() >= 300 {
		for _, r := range x.Requests {
			s.of(trace.Client).refuse(r)
		}
		if s.Stage == Asked && s.Init != nil && s.Init.Exchange == x && (x.status() == 401 || x.status() == 403) {
			s.Stage = Fresh // the client authorizes and asks again
		}
	}
	if x.method() == "DELETE" && x.status() < 300 && s.ID != "" {
		s.EndedAt = e.Seq
		if c.legacy == s {
			c.legacy = nil
		}
	}
	id, ok := x.Response.Get("Mcp-Session-Id")
	if ok && !s.Modern && s.ID == "" && s.Init != nil && x.find(s.Init.Key) != nil && x.status() < 300 {
		s.ID, s.IDSince = id, e.Seq
		c.byID[id] = s
	}
}

// sessionOf returns the session of an event that is no message.
func (j *Judge) sessionOf(c *connection, x *Exchange) *Session {
	if x != nil {
		if x.Session == nil {
			x.Session = c.ofHead(x)
		}
		return x.Session
	}
	return c.latest()
}

// latest returns the session that spoke last.
func (c *connection) latest() *Session {
	if c.legacy != nil && c.modern != nil && c.modern.used > c.legacy.used {
		return c.modern
	}
	return c.unnamed()
}

func (j *Judge) other(c *connection, x *Exchange, e *trace.Event) {
	if x != nil && e.Kind == trace.KindNoise {
		if e.From == trace.Client {
			x.Garbled = true
		} else {
			x.Noise++
		}
	}
	s := j.sessionOf(c, x)
	if e.Kind == trace.KindNoise && e.Note != "" {
		s.Partial = true // it may have been a request, or an answer
	}
	j.run(&Observation{Event: e, Session: s, Exchange: x, Revision: s.judgedAs(), judge: j})
}

func (j *Judge) closed(c *connection, x *Exchange, e *trace.Event) {
	if x != nil {
		if e.End != nil && e.End.Bytes > x.Bytes {
			x.Bytes = e.End.Bytes
		}
		j.endExchange(c, x, e)
		return
	}
	s := c.latest()
	j.run(&Observation{Event: e, Session: s, Revision: s.judgedAs(), judge: j})
	overHTTP := c.transport == trace.StreamableHTTP || c.transport == trace.HTTPSSE
	if !overHTTP && !processEnded(e) {
		return // one pipe is closed, the other may still carry something
	}
	j.endConnection(c)
	delete(j.conns, c.id)
	j.order = slices.DeleteFunc(j.order, func(d *connection) bool { return d == c })
}

// processEnded reports whether a process is over, and not only one of its pipes.
func processEnded(e *trace.Event) bool {
	if e.End == nil {
		return false
	}
	switch e.End.How {
	case "exit", "signal", "timeout":
		return true
	}
	return false
}

func (j *Judge) endExchange(c *connection, x *Exchange, e *trace.Event) {
	if x.Session == nil && x.method() == "" {
		delete(c.exchanges, x.ID)
		return
	}
	s := j.sessionOf(c, x)
	x.Ended = true
	j.run(&Observation{Event: e, Session: s, Exchange: x, Revision: s.judgedAs(), judge: j})
	if x.mediaType() == "text/event-stream" && x.status() < 300 {
		s.streams--
	}
	for _, r := range x.Requests { // a stream without a word may be repeated with the same id
		if r.AnsweredAt == 0 && s.Modern {
			s.of(trace.Client).refuse(r)
		}
	}
	delete(c.exchanges, x.ID)
}

func (j *Judge) endConnection(c *connection) {
	for _, s := range slices.Clone(c.sessions) {
		j.endSession(c, s)
	}
}

func (j *Judge) endSession(c *connection, s *Session) {
	j.run(&Observation{Session: s, Revision: s.judgedAs(), End: true, judge: j})
	if s.Revision == "" {
		j.releaseUnnegotiated(s)
	}
	j.learn(s)
	c.drop(s)
}

// evict gives up the session that was idle for longest when there are too many.
func (j *Judge) evict(c *connection) {
	for len(c.sessions) > mostSessions {
		j.endSession(c, c.sessions[c.stalest()])
	}
}

// claimsRPC reports whether a JSON text wants to be a JSON-RPC message. The body
// of an HTTP error need not be one (basic/transports, sending messages); that of
// OAuth is {"error": "invalid_token"}.
func claimsRPC(data []byte) bool {
	for _, key := range []string{"jsonrpc", "method", "id", "result"} {
		if _, ok := schemas.Member(data, key); ok {
			return true
		}
	}
	raw, _ := schemas.Member(data, "error")
	return len(raw) > 0 && raw[0] == '{'
}

// message takes one JSON text: a message or a batch of them.
func (j *Judge) message(c *connection, x *Exchange, e *trace.Event) {
	m := schemas.Classify(e.Data)
	if m.Kind != schemas.Batch && x.status() >= 400 && e.From == trace.Server && !claimsRPC(e.Data) {
		page := *e
		page.Kind = trace.KindNoise
		j.other(c, x, &page)
		return
	}
	if m.Kind != schemas.Batch {
		j.single(c, x, e, &m, false)
		j.evict(c)
		return
	}
	if x != nil && e.From == trace.Client {
		x.Batch = true
	}
	var s *Session
	if len(m.Batch) > 0 {
		s = j.locate(c, x, e, &m.Batch[0])
	} else {
		s = j.sessionOf(c, x)
	}
	j.run(&Observation{Event: e, Session: s, Exchange: x, Message: &m, Revision: s.judgedAs(), judge: j})
	for i := range m.Batch {
		j.single(c, x, e, &m.Batch[i], true)
	}
	j.evict(c)
}

// single takes one message: it finds the session and the request, lets the
// rules see it, and then settles what it changes.
func (j *Judge) single(c *connection, x *Exchange, e *trace.Event, m *schemas.Message, inBatch bool) {
	s := j.locate(c, x, e, m)
	if x != nil && x.Session == nil {
		x.Session = s
	}
	o := &Observation{Event: e, Session: s, Exchange: x, Message: m, InBatch: inBatch, Revision: s.judgedAs(), judge: j}
	j.count(c, o)
	switch m.Kind {
	case schemas.Request, schemas.Notification:
		j.call(o)
	case schemas.Result, schemas.Error:
		j.response(o)
	}
	j.run(o)
	if o.Request != nil && o.Request.AnsweredAt == e.Seq && o.is(schemas.Result, schemas.Error) {
		s.of(o.Request.From).close(o.Request)
	}
}

// count keeps the exchange's figures.
func (j *Judge) count(c *connection, o *Observation) {
	x := o.Exchange
	if x == nil {
		return
	}
	if o.From() == trace.Server {
		x.Replies++
		return
	}
	if x.method() == "POST" && c.endpoint == "" && o.Message.Kind != schemas.Invalid {
		c.endpoint = x.path()
	}
	switch o.Message.Kind {
	case schemas.Notification:
		x.Notifications++
	case schemas.Result, schemas.Error:
		x.Responses++
	case schemas.Invalid:
		x.Garbled = true
	}
}

// locate finds the session of a message.
func (j *Judge) locate(c *connection, x *Exchange, e *trace.Event, m *schemas.Message) *Session {
	if x != nil && x.Session != nil {
		return x.Session
	}
	if x != nil && e.From == trace.Client {
		return j.locatePosted(c, x, m)
	}
	switch m.Kind {
	case schemas.Result, schemas.Error:
		return c.awaiting(e.From.Peer(), schemas.IDKey(m.ID))
	case schemas.Request, schemas.Notification:
		if e.From == trace.Client {
			return j.locateCall(c, nil, m)
		}
		if _, ok := schemas.Member(m.Params, "_meta", metaSubscriptionID); ok && c.modern != nil {
			return c.modern
		}
		if m.Kind == schemas.Request && c.legacy != nil && c.legacy.Stage != Fresh {
			return c.legacy
		}
	}
	return c.latest()
}

func (j *Judge) locatePosted(c *connection, x *Exchange, m *schemas.Message) *Session {
	id, ok := x.header("Mcp-Session-Id")
	modern := j.isModern(c, x, m)
	if ok && !modern && (m.Method != "initialize" || c.byID[id] != nil) {
		return c.named(id)
	}
	if m.Kind == schemas.Request || m.Kind == schemas.Notification {
		return j.locateCall(c, x, m)
	}
	if x.versionHeader().Stateless() {
		return c.stateless()
	}
	return c.unnamed()
}

func (j *Judge) locateCall(c *connection, x *Exchange, m *schemas.Message) *Session {
	switch {
	case j.isModern(c, x, m):
		return c.stateless()
	case m.Method == "initialize":
		return c.opening(x)
	case m.Method == "notifications/cancelled" && c.modern != nil:
		raw, _ := schemas.Member(m.Params, "requestId")
		return c.awaiting(trace.Client, schemas.IDKey(raw))
	}
	return c.unnamed()
}

// awaiting returns the session in which a side has an open request with that
// key, preferring the one that spoke last.
func (c *connection) awaiting(side trace.Side, key string) *Session {
	last := c.latest()
	for _, s := range []*Session{last, c.legacy, c.modern} {
		if s != nil && s.of(side).open[key] != nil {
			return s
		}
	}
	return last
}

// isModern reports whether a client's message is of the era without handshake
// (2026-07-28 basic/versioning): by its metadata, its version header, or a
// method that only this era has.
func (j *Judge) isModern(c *connection, x *Exchange, m *schemas.Message) bool {
	if m.Kind != schemas.Request && m.Kind != schemas.Notification {
		return x.versionHeader().Stateless()
	}
	if _, ok := schemas.Member(m.Params, "_meta", metaProtocolVersion); ok {
		return true
	}
	if m.Method == "initialize" {
		return false
	}
	return x.versionHeader().Stateless() || m.Method == "server/discover" || m.Method == "subscriptions/listen"
}

// call takes a request or notification.
func (j *Judge) call(o *Observation) {
	s, m := o.Session, o.Message
	if s.Modern {
		j.metadata(o)
	} else if v := o.Exchange.versionHeader(); v != "" && s.hint == "" && !v.Stateless() {
		s.hint = v
	}
	if m.Kind == schemas.Request {
		j.open(o)
	}
	switch {
	case m.Method == "initialize" && m.Kind == schemas.Request && o.From() == trace.Client:
		j.initialize(o)
	case m.Method == "notifications/initialized" && o.From() == trace.Client:
		if s.Stage == Answered {
			s.Stage = Operational
		}
	case m.Method == "notifications/cancelled":
		raw, _ := o.param("requestId")
		for _, side := range []trace.Side{o.From(), o.From().Peer()} {
			if r := s.of(side).open[schemas.IDKey(raw)]; r != nil {
				r.CancelledAt = o.Event.Seq
				break
			}
		}
	}
}

// open enters a request into the table of its sender.
func (j *Judge) open(o *Observation) {
	t := o.Session.of(o.From())
	r := &Request{
		From: o.From(), Key: schemas.IDKey(o.Message.ID), Method: o.Message.Method,
		Params: bytes.Clone(o.Message.Params), Seq: o.Event.Seq, Revision: o.Revision, Exchange: o.Exchange,
	}
	if token, ok := o.param("_meta", "progressToken"); ok {
		r.Token = schemas.IDKey(token)
	}
	_, r.task = o.param("task")
	o.Request = r
	if o.Exchange != nil && o.From() == trace.Client {
		o.Exchange.Requests = append(o.Exchange.Requests, r)
	}
	if o.Session.Modern {
		r.faults = faultsOf(o)
	}
	if id := o.Message.ID; len(id) == 0 || id[0] == 'n' || id[0] == '{' || id[0] == '[' || id[0] == 't' || id[0] == 'f' {
		return // no id that anything could refer to
	}
	o.Earlier = t.open[r.Key]
	o.InFlight = o.Earlier != nil
	o.Reused = !t.used.add(r.Key) && !t.refused[r.Key]
	if t.refused[r.Key] {
		delete(t.refused, r.Key)
		o.InFlight = false
	}
	if o.Earlier == nil {
		o.Earlier = t.recent[r.Key]
	}
	if o.InFlight || o.Reused && !o.Session.Modern {
		t.twice.add(r.Key)
	}
	t.add(r)
}

// initialize takes the request that opens a session.
func (j *Judge) initialize(o *Observation) {
	s := o.Session
	s.Init, s.Stage = o.Request, Asked
	if v := textParam(o.Message.Params, "protocolVersion"); v != "" {
		if r, err := schemas.ParseRevision(v); err == nil && !r.Stateless() {
			s.hint = r
		}
	}
	o.Revision = s.judgedAs()
	o.Request.Revision = o.Revision
	info, _ := o.param("clientInfo")
	caps, _ := o.param("capabilities")
	s.Client = partyOf(info, caps)
}

// metadata reads what a request of the stateless era says of itself.
func (j *Judge) metadata(o *Observation) {
	s := o.Session
	o.Revision = s.Revision
	if o.Message.Kind != schemas.Request {
		return
	}
	if r, err := schemas.ParseRevision(textParam(o.Message.Params, "_meta", metaProtocolVersion)); err == nil && r.Stateless() {
		s.Revision = r
	} else {
		s.Revision = schemas.R20260728 // which defines what such a request looks like
	}
	o.Revision = s.Revision
	if caps, ok := o.param("_meta", metaClientCapabilities); ok {
		info, _ := o.param("_meta", metaClientInfo)
		s.Client = partyOf(info, caps)
		j.learn(s)
	}
}

// response pairs a response with its request.
func (j *Judge) response(o *Observation) {
	s, asker := o.Session, o.From().Peer()
	key := schemas.IDKey(o.Message.ID)
	t := s.of(asker)
	var r *Request
	if asker == trace.Client {
		r = o.Exchange.find(key)
	}
	if r == nil {
		r = t.open[key]
	}
	if r == nil {
		r = t.recent[key]
	}
	if r == nil {
		return
	}
	o.Request = r
	if s.Modern {
		o.Revision = r.Revision
	}
	if r.AnsweredAt != 0 {
		o.Earlier = r
		return
	}
	delete(t.refused, key)
	r.AnsweredAt, r.AnsweredWith = o.Event.Seq, o.Message.Kind
	if r.task && o.Message.Kind == schemas.Result {
		r.became = textParam(o.Message.Result, "task", "taskId")
	}
	if o.Exchange.find(key) == r {
		o.Exchange.Answers++
	}
	switch {
	case r == s.Init:
		j.initialized(o)
	case s.Modern && r.Method == "server/discover" && o.Message.Kind == schemas.Result:
		info, _ := schemas.Member(o.Message.Result, "_meta", metaServerInfo)
		caps, _ := schemas.Member(o.Message.Result, "capabilities")
		s.Server = partyOf(info, caps)
		j.statelessOnly = onlyStateless(o.Message.Result)
		j.learn(s)
	}
}

// onlyStateless reports whether a DiscoverResult lists no revision with the
// handshake.
func onlyStateless(result json.RawMessage) bool {
	raw, _ := schemas.Member(result, "supportedVersions")
	var versions []string
	if json.Unmarshal(raw, &versions) != nil || len(versions) == 0 {
		return false
	}
	return !slices.ContainsFunc(versions, func(v string) bool { return v < string(schemas.R20260728) })
}

// initialized takes the answer to initialize: from here on the revision is known.
func (j *Judge) initialized(o *Observation) {
	s := o.Session
	if o.Message.Kind == schemas.Error {
		s.Stage = Fresh
		return
	}
	s.Stage = Answered
	info, _ := schemas.Member(o.Message.Result, "serverInfo")
	caps, _ := schemas.Member(o.Message.Result, "capabilities")
	s.Server = partyOf(info, caps)
	v := textParam(o.Message.Result, "protocolVersion")
	if r, err := schemas.ParseRevision(v); err == nil && !r.Stateless() {
		s.Revision = r
		o.Revision = r
		s.Init.Revision = r
		j.release(s, r)
	}
	j.learn(s)
}

// partyOf reads how a side introduces itself.
func partyOf(info, capabilities json.RawMessage) Party {
	return Party{
		Name: textParam(info, "name"), Version: textParam(info, "version"),
		Capabilities: bytes.Clone(capabilities), Known: capabilities != nil,
	}
}

// textParam returns the string that the keys lead to in an object, "" if there is none.
func textParam(object json.RawMessage, keys ...string) string {
	raw, ok := schemas.Member(object, keys...)
	if !ok {
		return ""
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}
