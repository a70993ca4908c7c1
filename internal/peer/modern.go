package peer

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

// The metadata keys of the stateless era (2026-07-28 basic/index General fields).
const (
	keyVersion      = "io.modelcontextprotocol/protocolVersion"
	keyClientInfo   = "io.modelcontextprotocol/clientInfo"
	keyCapabilities = "io.modelcontextprotocol/clientCapabilities"
	keyLogLevel     = "io.modelcontextprotocol/logLevel"
	keySubscription = "io.modelcontextprotocol/subscriptionId"
	keyServerInfo   = "io.modelcontextprotocol/serverInfo"
)

// isModern reports whether a message carries the metadata of the stateless era,
// which decides how a dual-era server serves it (2026-07-28 basic/versioning).
func isModern(p packet) bool {
	meta, ok := p.params.object("_meta")
	_, has := meta[keyVersion]
	_, caps := meta[keyCapabilities]
	return ok && (has || caps)
}

// checkMeta refuses a request without the required metadata.
func (s *Server) checkMeta(p packet) *rpcError {
	meta, _ := p.params.object("_meta")
	_, version := meta.text(keyVersion)
	_, caps := meta.object(keyCapabilities)
	if (!version || !caps) && !s.broken("missing-meta-accepted") {
		return metaMissing("a stateless request is malformed")
	}
	return nil
}

func metaMissing(why string) *rpcError {
	e := invalidParams("%s: params._meta needs %s and %s", why, keyVersion, keyCapabilities)
	e.status = 400
	return e
}

// checkVersion refuses a revision that is not served without a handshake,
// naming those that are.
func (s *Server) checkVersion(p packet) *rpcError {
	meta, _ := p.params.object("_meta")
	v, _ := meta.text(keyVersion)
	if slices.Contains(s.era(true), schemas.Revision(v)) || s.broken("unsupported-version-accepted") || (v == "" && s.broken("missing-meta-accepted")) {
		return nil
	}
	return unsupportedVersion(s.era(true), v)
}

func unsupportedVersion(supported []schemas.Revision, requested string) *rpcError {
	return &rpcError{
		code: codeVersion, message: "unsupported protocol version", status: 400,
		data: obj{"supported": supported, "requested": requested},
	}
}

func missingCapability(need obj) *rpcError {
	return &rpcError{
		code: codeMissingCapability, message: "the request needs a capability that the client has not declared", status: 400,
		data: obj{"requiredCapabilities": need},
	}
}

// missing returns the part of the needed capabilities that is not declared.
func (c *call) missing(need obj) obj {
	lack := obj{}
	if c.srv.broken("missing-capability-ignored") {
		return nil
	}
	for k, v := range need {
		if !c.declares(k) {
			lack[k] = v
		}
	}
	if len(lack) == 0 {
		return nil
	}
	return lack
}

// newStateless makes a call of a request that stands alone: all that is known
// about the client is in its own metadata (2026-07-28 basic/index Statelessness).
func (s *Server) newStateless(ctx context.Context, p packet, t trace.Transport, out outlet) *call {
	c := &call{
		srv: s, rev: schemas.R20260728, transport: t, id: p.id, method: p.method, params: p.params, out: out,
	}
	c.meta, _ = p.params.object("_meta")
	c.caps, _ = c.meta.object(keyCapabilities)
	if s.broken("capabilities-remembered") {
		c.caps = s.remember(c.caps)
	}
	c.ctx, c.cancel = context.WithCancelCause(ctx)
	return c
}

// subscription is one open subscriptions/listen.
type subscription struct {
	call *call
	want map[string]bool // accepted filters, and "uri "+URI
}

// listen opens a subscription: it acknowledges what it will honour, then lives
// until the client cancels it or the server ends (2026-07-28
// basic/patterns/subscriptions).
func listen(c *call) (obj, *rpcError) {
	filter, ok := c.params.object("notifications")
	if !ok {
		return nil, invalidParams("subscriptions/listen needs a filter: notifications")
	}
	sub, accepted, e := c.accept(filter)
	if e != nil {
		return nil, e
	}
	// Whatever happens from now on is heard; hear waits for the acknowledgment.
	c.mu.Lock()
	c.srv.hears(sub, true)
	defer c.srv.hears(sub, false)
	c.put(sent{msg: notification("notifications/subscriptions/acknowledged", obj{
		"_meta": obj{keySubscription: c.id}, "notifications": accepted,
	})})
	c.mu.Unlock()
	<-c.ctx.Done()
	if context.Cause(c.ctx) == errCancelled {
		return nil, silence
	}
	// The server ends it. basic/patterns/cancellation demands a notification,
	// basic/patterns/subscriptions asks for a result: both are given, the result last.
	c.notify("notifications/cancelled", obj{"_meta": obj{keySubscription: c.id}, "requestId": c.id, "reason": "the server is shutting down"})
	return obj{"_meta": obj{keySubscription: c.id}}, nil
}

func (c *call) accept(filter fields) (*subscription, obj, *rpcError) {
	sub, accepted := &subscription{call: c, want: map[string]bool{}}, obj{}
	for _, k := range []string{"toolsListChanged", "promptsListChanged", "resourcesListChanged"} {
		raw, has := filter[k]
		var yes bool
		if has && json.Unmarshal(raw, &yes) != nil {
			return nil, nil, invalidParams("%s must be true or false", k)
		}
		if yes {
			sub.want[k], accepted[k] = true, true
		}
	}
	if raw, has := filter["resourceSubscriptions"]; has {
		var uris []string
		if json.Unmarshal(raw, &uris) != nil {
			return nil, nil, invalidParams("resourceSubscriptions must be a list of URIs")
		}
		known := []any{}
		for _, u := range uris {
			if c.contents(u) != nil {
				sub.want["uri "+u] = true
				known = append(known, u)
			}
		}
		accepted["resourceSubscriptions"] = known
	}
	return sub, accepted, nil
}

// hear passes on what the subscription asked for, tagged with its id.
func (sub *subscription) hear(method, uri string) {
	params := obj{"_meta": obj{keySubscription: sub.call.id}}
	key := listable(method)
	if uri != "" {
		params["uri"], key = uri, "uri "+uri
	}
	if sub.want[key] {
		sub.call.notify(method, params)
	}
}
