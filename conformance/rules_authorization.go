package conformance

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

// authorizationRules judge what heads and metadata on a trace show
// (basic/authorization). Nobody has to demand authorization, and a server may
// have a way of its own: where nothing names OAuth, by a Bearer challenge or by
// metadata, nothing is judged.
func authorizationRules() []ruleEntry {
	return []ruleEntry{{
		requirements: []string{
			"AUTH-401", "AUTH-403", "AUTH-400", "AUTH-INVALID-TOKEN-401", "AUTH-CHALLENGE-METADATA", "AUTH-CHALLENGE-SCOPE",
			"AUTH-INSUFFICIENT-SCOPE", "AUTH-INSUFFICIENT-SCOPE-NAMED", "AUTH-NO-OFFLINE-ACCESS", "AUTH-METADATA-PUBLISHED",
			"AUTH-METADATA-SERVERS", "AUTH-CHALLENGE-READ", "AUTH-WELL-KNOWN-TRIED", "AUTH-BEARER", "AUTH-EVERY-REQUEST",
			"AUTH-NOT-IN-QUERY", "AUTH-PKCE", "AUTH-PKCE-S256", "AUTH-PKCE-SUPPORT", "AUTH-RESOURCE-ASKED", "AUTH-RESOURCE-TOKEN",
			"AUTH-RESOURCE-CANONICAL", "AUTH-CLIENT-ID", "AUTH-CIMD-URL", "AUTH-REDIRECT-URI", "AUTH-REDIRECT-REGISTERED", "AUTH-STATE",
			"AUTH-SCOPE-AUTHORITATIVE", "AUTH-SCOPE-ORDER", "AUTH-ISSUER-VALIDATED", "AUTH-ISS-VALIDATED", "AUTH-DCR-APPLICATION-TYPE",
			"AUTH-DCR-NATIVE", "AUTH-METADATA-USED", "AUTH-SERVER-METADATA-USED", "AUTH-SERVER-METADATA-PLACES", "AUTH-SERVER-METADATA-ORDER",
			"AUTH-DEFAULT-ENDPOINTS-USED", "AUTH-SCOPE-UNION", "AUTH-REFRESH-GRANT", "AUTH-CIMD-LOOKED-UP", "AUTH-RESOURCE-NO-SLASH",
			"AUTH-ISS-EXACT",
		},
		make: func(*Judge) Rule {
			return &authorization{tried: map[string]int{}, documents: documents{registered: map[string]registration{}}}
		},
		aside: true,
	}}
}

// authorization remembers what was demanded and what was said about how to get it.
type authorization struct {
	refused   bool       // the server has answered 401
	challenge *challenge // the latest Bearer challenge
	only      bool       // and it offers nothing but Bearer
	challenged
	sent  bool           // the client has sent a token that was not refused since
	asked bool           // the client has asked for metadata since it was refused
	tried map[string]int // addresses of metadata and the status of the answer

	published bool
	resource  string   // of the protected resource metadata
	scopes    []string // its scopes_supported
	servers   []string // its authorization_servers
	requested []string // the scopes of the latest authorization request
	documents
	grant
}

// challenged holds what waits: until the revision is known, or for the metadata.
type challenged struct {
	endpoint  string       // address that was refused
	lacking   *trace.Event // the 401 whose challenge has no resource_metadata
	having    *trace.Event // one whose challenge has
	scopeless *trace.Event // a 401 whose challenge names no scope
}

// Observe implements Rule.
func (a *authorization) Observe(o *Observation) {
	if o.End {
		a.end(o)
		return
	}
	onHTTP(func(o *Observation) {
		switch x := o.Exchange; {
		case x.step != noStep:
			a.step(o)
		case o.head(trace.Server) && (x.method() == "POST" || atEndpoint(o)):
			a.answered(o)
		case posted(o), o.head(trace.Client) && x.method() != "POST" && x.method() != "OPTIONS" && atEndpoint(o):
			a.token(o)
		}
	})(o)
	a.settle(o)
}

// answered judges the challenge of an answer. The error in it says what the
// server means, so that its status can be held against that.
func (a *authorization) answered(o *Observation) {
	status := o.Exchange.status()
	all := challengesOf(o.Exchange.Response)
	i := slices.IndexFunc(all, func(c challenge) bool { return c.scheme == "bearer" })
	if status == 401 {
		a.refused, a.sent, a.endpoint = true, false, o.Exchange.address()
	}
	if i < 0 {
		if status == 401 {
			a.asked, a.challenge = false, nil
			o.Untested("AUTH-CHALLENGE-METADATA", trace.Server, "the server has a way of authorization that names no OAuth")
		}
		return
	}
	c := &all[i]
	if status == 401 || status == 403 {
		named := c.params["resource_metadata"]
		if a.challenge == nil || a.challenge.params["resource_metadata"] != named {
			a.asked = false
		}
		a.challenge, a.only = c, !slices.ContainsFunc(all, func(c challenge) bool { return c.scheme != "bearer" })
		if conn := o.judge.conns[o.Session.Conn]; conn != nil && named != "" {
			conn.metadata = named
		}
	}
	statusOf(o, c, status)
	a.params(o, c, status)
}

// statusOf: 401 for who lacks authorization, 403 for who lacks scope, 400 for
// what is malformed (basic/authorization, error handling; RFC 6750 section 3.1).
// Many servers answer a request without token by 401 and error="invalid_request",
// which both can be said to demand.
func statusOf(o *Observation, c *challenge, status int) {
	_, token := o.Exchange.header("Authorization")
	_, cookie := o.Exchange.header("Cookie")
	got := "status " + strconv.Itoa(status)
	switch code := c.params["error"]; {
	case code == "insufficient_scope":
		o.Check(status == 403, "AUTH-403", trace.Server, Fault{
			Detail: "a lack of scope is not answered by status 403", Want: "status 403", Got: got,
		})
	case !token:
		if status == 401 {
			o.Pass("AUTH-401", trace.Server)
		} else if status == 403 && !cookie && code == "" {
			o.Fail("AUTH-401", trace.Server, Fault{
				Detail: "a request without a token is challenged, but not by status 401", Want: "status 401", Got: got,
			})
		}
	case code == "invalid_token":
		o.Check(status == 401, "AUTH-INVALID-TOKEN-401", trace.Server, Fault{
			Detail: "a token that is not valid is not answered by status 401", Want: "status 401", Got: got,
		})
	case code == "invalid_request" && status == 400:
		o.Pass("AUTH-400", trace.Server)
	case code == "invalid_request" && status != 401:
		o.Fail("AUTH-400", trace.Server, Fault{
			Detail: "a malformed authorization is not answered by status 400", Want: "status 400", Got: got,
		})
	}
}

// params judges what else the challenge says.
func (a *authorization) params(o *Observation, c *challenge, status int) {
	scope, metadata := strings.Fields(c.params["scope"]), c.params["resource_metadata"]
	if len(scope) > 0 {
		o.Check(!slices.Contains(scope, "offline_access"), "AUTH-NO-OFFLINE-ACCESS", trace.Server, Fault{
			Detail: "a challenge asks for offline_access", Want: "the scopes of the resource", Got: clip(c.params["scope"]),
		})
	}
	if c.params["error"] == "insufficient_scope" {
		o.Check(status == 403 && metadata != "", "AUTH-INSUFFICIENT-SCOPE", trace.Server, Fault{
			Detail: "the challenge for a lack of scope is not as it should be", Want: "status 403 and resource_metadata",
			Got:   "status " + strconv.Itoa(status) + ", resource_metadata " + quoteOr(metadata, "absent"),
			Cause: causeIf(status != 403 && metadata != "", "AUTH-403"),
		})
		o.Check(len(scope) > 0, "AUTH-INSUFFICIENT-SCOPE-NAMED", trace.Server, Fault{
			Detail: "the challenge for a lack of scope names no scope", Want: "scope=\"…\"", Got: "absent",
		})
	}
	if status != 401 {
		return
	}
	event := *o.Event
	if metadata == "" {
		a.lacking = &event
	} else {
		a.having = &event
	}
	if len(scope) > 0 {
		o.Pass("AUTH-CHALLENGE-SCOPE", trace.Server)
	} else {
		a.scopeless = &event
	}
}

// settle judges what waited for the revision. That every challenge has
// resource_metadata is demanded by 2025-06-18 alone, and whether a server speaks
// that is known once it has said so.
func (a *authorization) settle(o *Observation) {
	if o.Session.Revision == "" {
		return
	}
	at := *o
	if at.Event = a.lacking; at.Event != nil {
		at.Fail("AUTH-CHALLENGE-METADATA", trace.Server, Fault{
			Detail: "the challenge of a 401 does not say where the protected resource metadata is", Want: "resource_metadata=\"…\"", Got: "absent",
		})
	}
	if at.Event = a.having; at.Event != nil {
		at.Pass("AUTH-CHALLENGE-METADATA", trace.Server)
	}
	a.lacking, a.having = nil, nil
}

// token judges how a client sends its token: in the header, in each request, and
// never in the address (basic/authorization, token requirements).
func (a *authorization) token(o *Observation) {
	x := o.Exchange
	v, _ := x.header("Authorization")
	scheme, rest, _ := strings.Cut(v, " ")
	bearer := strings.EqualFold(scheme, "Bearer") && rest != ""
	if x.query().Has("access_token") {
		o.Fail("AUTH-NOT-IN-QUERY", trace.Client, Fault{
			Detail: "an access token stands in the query of an address", Want: "Authorization: Bearer", Got: "access_token in the query",
		})
	} else if bearer {
		o.Pass("AUTH-NOT-IN-QUERY", trace.Client)
	}
	if a.only && v != "" {
		a.scheme(o, v, bearer)
	}
	switch {
	case bearer && a.sent:
		o.Pass("AUTH-EVERY-REQUEST", trace.Client)
	case bearer:
		a.sent = true
	case v == "" && a.sent && ownTraffic(o):
		o.Fail("AUTH-EVERY-REQUEST", trace.Client, Fault{
			Detail: "a client that has sent a token leaves it out of a later request", Want: "Authorization: Bearer", Got: "absent",
		})
	}
}

func (a *authorization) scheme(o *Observation, v string, bearer bool) {
	switch {
	case bearer:
		o.Pass("AUTH-BEARER", trace.Client)
	case strings.Trim(v, "*") == "" || strings.Contains(strings.ToLower(v), "redacted"):
		o.Untested("AUTH-BEARER", trace.Client, "a recorder has cut the Authorization header")
	case !strings.Contains(v, " "):
		o.Fail("AUTH-BEARER", trace.Client, Fault{
			Detail: "the Authorization header has no scheme", Want: "Authorization: Bearer and the token", Got: "one word",
		})
	}
}

// ownTraffic reports whether a request comes from the client that sent the ones
// before: in one session, or in a run that has one client. A proxy's traffic
// without session is that of many.
func ownTraffic(o *Observation) bool {
	id, ok := o.Exchange.header("Mcp-Session-Id")
	return ok && id == o.Session.ID || o.judge.options.Header.Subject == trace.Client
}

// end judges what never came.
func (a *authorization) end(o *Observation) {
	if a.lacking != nil {
		o.Untested("AUTH-CHALLENGE-METADATA", trace.Server, "the server never said which revision it speaks")
	}
	if a.challenge == nil || a.published || a.endpoint == "" {
		return
	}
	named := a.challenge.params["resource_metadata"]
	places := append(wellKnownPlaces(a.endpoint), named)
	if named == "" {
		places = places[:len(places)-1]
	}
	if slices.ContainsFunc(places, func(p string) bool { return !a.gone(p) }) {
		return
	}
	o.Fail("AUTH-METADATA-PUBLISHED", trace.Server, Fault{
		Detail: "the server demands authorization and has protected resource metadata nowhere", Want: "a document at one of the addresses", Got: "404 at " + clip(strings.Join(places, ", ")),
	})
}

// wellKnownPlaces lists where protected resource metadata is looked for: with the
// path of the endpoint, and at the root.
func wellKnownPlaces(endpoint string) []string {
	u, err := url.Parse(endpoint)
	if err != nil {
		return nil
	}
	root := u.Scheme + "://" + u.Host + wellKnownResource
	if path := strings.TrimSuffix(u.EscapedPath(), "/"); path != "" {
		return []string{root + path, root}
	}
	return []string{root}
}

// discovery judges where a client looks for the protected resource metadata after
// it was refused (2025-11-25 basic/authorization, protected resource metadata
// discovery requirements).
func (a *authorization) discovery(o *Observation) {
	if !a.refused || a.asked || o.Lacks(trace.LackOrder) {
		return
	}
	a.asked = true
	at, places := o.Exchange.address(), wellKnownPlaces(a.endpoint)
	named := ""
	if a.challenge != nil {
		named = a.challenge.params["resource_metadata"]
	}
	switch {
	case samePlace(named, at):
		if !slices.Contains(places, named) { // which it would have guessed
			o.Pass("AUTH-CHALLENGE-READ", trace.Client)
		}
	case named != "" && sameHost(named, at):
		o.Fail("AUTH-CHALLENGE-READ", trace.Client, Fault{
			Detail: "the client does not ask for the protected resource metadata where the challenge puts it", Want: clip(named), Got: clip(at),
		})
	case named == "" && len(places) > 1 && slices.Contains(places, at):
		o.Check(at == places[0], "AUTH-WELL-KNOWN-TRIED", trace.Client, Fault{
			Detail: "the client asks at the root first, not with the path of the endpoint", Want: clip(places[0]), Got: clip(at),
		})
	}
}

// mostServers bounds what is kept of a list.
const mostServers = 64

// protected takes the protected resource metadata (RFC 9728 section 3.2). A server
// that answers every path by something else than that document has none.
func (a *authorization) protected(o *Observation) {
	data := o.Event.Data
	_, resource := schemas.Member(data, "resource")
	servers, has := schemas.Member(data, "authorization_servers")
	if o.Exchange.status() != 200 || !resource && !has {
		return
	}
	a.published = true
	o.Pass("AUTH-METADATA-PUBLISHED", trace.Server)
	a.resource = textParam(data, "resource")
	list, ok := textsIn(servers)
	a.servers = list[:min(len(list), mostServers)]
	o.Check(ok && len(list) > 0, "AUTH-METADATA-SERVERS", trace.Server, Fault{
		Detail: "the protected resource metadata names no authorization server", Want: "/authorization_servers: at least one", Got: quoteOr(string(servers), "absent"),
	})
	supported, _ := schemas.Member(data, "scopes_supported")
	if a.scopes, _ = textsIn(supported); len(a.scopes) == 0 {
		return
	}
	o.Check(!slices.Contains(a.scopes, "offline_access"), "AUTH-NO-OFFLINE-ACCESS", trace.Server, Fault{
		Detail: "the protected resource metadata lists offline_access", Want: "the scopes of the resource", Got: clip(strings.Join(a.scopes, " ")),
	})
	if a.scopeless != nil {
		at := *o
		at.Event, a.scopeless = a.scopeless, nil
		at.Fail("AUTH-CHALLENGE-SCOPE", trace.Server, Fault{
			Detail: "the challenge of a 401 names no scope, though the server has some", Want: "scope=\"…\"", Got: "absent",
		})
	}
}
