package conformance

import (
	"bytes"
	"encoding/json"
	"net"
	"net/url"
	"strings"

	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

// step is the part that an HTTP exchange has in authorization. A recorder that
// stands before a server sees metadata fetched and tokens asked for on the same
// connection as messages. Those exchanges are no messages: only the rules on
// authorization look at them.
type step int

const (
	noStep           step = iota
	resourceMetadata      // protected resource metadata (RFC 9728)
	serverMetadata        // of an authorization server (RFC 8414, OpenID Connect Discovery)
	authorizing           // an authorization request
	askingForToken        // a form that is posted: a token request, or another one of OAuth
	registering           // dynamic client registration (RFC 7591)
)

const (
	wellKnownResource = "/.well-known/oauth-protected-resource"
	wellKnownServer   = "/.well-known/oauth-authorization-server"
	wellKnownOpenID   = "/.well-known/openid-configuration"
)

// stepOf recognises what a client's event begins. named is the address at which a
// challenge on this connection has put the protected resource metadata.
func stepOf(x *Exchange, e *trace.Event, named string) step {
	if e.From != trace.Client || x.Request == nil {
		return noStep
	}
	if e.Kind == trace.KindMessage {
		return stepOfBody(x, e.Data)
	}
	if e.Kind != trace.KindHTTP {
		return noStep
	}
	u, err := url.Parse(x.Request.URL)
	if err != nil {
		return noStep
	}
	switch kind, _ := x.header("Content-Type"); {
	case x.method() == "POST" && strings.HasPrefix(strings.ToLower(kind), "application/x-www-form-urlencoded"):
		return askingForToken
	case x.method() != "GET":
		return noStep
	case strings.HasPrefix(u.Path, wellKnownResource), samePlace(named, x.Request.URL):
		return resourceMetadata
	case strings.HasPrefix(u.Path, wellKnownServer), strings.HasPrefix(u.Path, wellKnownOpenID), strings.HasSuffix(u.Path, wellKnownOpenID):
		return serverMetadata
	case u.Query().Has("response_type") && (u.Query().Has("client_id") || u.Query().Has("redirect_uri")):
		return authorizing
	}
	return noStep
}

// stepOfBody recognises a registration, which is a JSON object like a message.
func stepOfBody(x *Exchange, data []byte) step {
	if x.method() != "POST" || !bytes.Contains(data, []byte("redirect_uris")) || schemas.Classify(data).Kind != schemas.Invalid {
		return noStep
	}
	_, uris := schemas.Member(data, "redirect_uris")
	_, rpc := schemas.Member(data, "jsonrpc")
	_, method := schemas.Member(data, "method")
	if uris && !rpc && !method {
		return registering
	}
	return noStep
}

// aside shows what belongs to authorization to the rules on it alone.
func (j *Judge) aside(c *connection, x *Exchange, e *trace.Event) bool {
	if x == nil {
		return false
	}
	if x.step == noStep {
		x.step = stepOf(x, e, c.metadata)
	} else if x.step == askingForToken && e.Kind == trace.KindMessage && e.From == trace.Client {
		x.step = noStep // a message under the wrong content type
	}
	if x.step == noStep {
		return false
	}
	if x.Session == nil {
		x.Session = c.latest()
	}
	j.run(&Observation{Event: e, Session: x.Session, Exchange: x, Revision: x.Session.judgedAs(), judge: j})
	if e.Kind == trace.KindClosed {
		delete(c.exchanges, x.ID)
	}
	return true
}

// query returns the parameters of the request's address.
func (x *Exchange) query() url.Values {
	u, err := url.Parse(x.Request.URL)
	if err != nil {
		return url.Values{}
	}
	return u.Query()
}

// address returns the request's address without its parameters.
func (x *Exchange) address() string { return withoutQuery(x.Request.URL) }

func withoutQuery(s string) string {
	s, _, _ = strings.Cut(s, "#")
	s, _, _ = strings.Cut(s, "?")
	return s
}

// samePlace reports whether two addresses are equal but for scheme and parameters:
// a recorder may stand where the encryption has ended already.
func samePlace(a, b string) bool {
	u, errA := url.Parse(a)
	v, errB := url.Parse(b)
	return errA == nil && errB == nil && u.Host != "" && strings.EqualFold(u.Host, v.Host) && u.EscapedPath() == v.EscapedPath()
}

// sameHost reports whether two addresses lead to the same host and port.
func sameHost(a, b string) bool {
	u, errA := url.Parse(a)
	v, errB := url.Parse(b)
	return errA == nil && errB == nil && u.Host != "" && strings.EqualFold(u.Host, v.Host)
}

// loopback reports whether a host is the local one.
func loopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || strings.HasSuffix(strings.ToLower(host), ".localhost") || ip != nil && ip.IsLoopback()
}

// textsIn returns the strings of a list, and whether it is a list of strings.
func textsIn(raw json.RawMessage) ([]string, bool) {
	var list []string
	err := json.Unmarshal(raw, &list)
	return list, err == nil && list != nil
}
