package conformance

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

// documents holds what the authorization server has said of itself.
type documents struct {
	issuer     string
	expected   string            // the issuer that the address of its metadata was built from
	endpoints  map[string]string // by member name
	noPKCE     bool
	methods    []string // code_challenge_methods_supported
	iss        bool     // it says that it sends iss
	documented bool     // and that it takes client ID metadata documents
	registered map[string]registration
	latest     registration // that is being answered
}

// registration is what a client registered.
type registration struct{ redirects, grants []string }

// grant holds the authorization response that was last seen.
type grant struct {
	responded bool
	wrong     string // what is wrong with its iss
	near      bool   // which is nearly right
}

// mostTried bounds how many addresses of metadata are remembered.
const mostTried = 1024

// step judges an exchange of authorization.
func (a *authorization) step(o *Observation) {
	x := o.Exchange
	switch {
	case o.head(trace.Client):
		defer a.try(x.Request.URL, 0)
		switch x.step {
		case resourceMetadata:
			a.discovery(o)
		case serverMetadata:
			a.serverDiscovery(o)
		case authorizing:
			a.authorize(o)
		}
	case o.head(trace.Server):
		a.try(x.Request.URL, x.status())
		if x.step == authorizing {
			a.redirected(o)
		}
	case o.Event.Kind == trace.KindNoise && o.From() == trace.Client && x.step == askingForToken:
		if form, err := url.ParseQuery(strings.TrimSpace(string(o.Event.Data))); err == nil {
			a.askToken(o, form)
		}
	case o.Event.Kind == trace.KindMessage && o.From() == trace.Client && x.step == registering:
		a.register(o)
	case o.Event.Kind == trace.KindMessage && o.From() == trace.Server:
		a.document(o)
	}
}

// try remembers what was asked for, and the status of the answer once there is one.
func (a *authorization) try(address string, status int) {
	if _, known := a.tried[address]; !known && len(a.tried) < mostTried || known && status != 0 {
		a.tried[address] = status
	}
}

func (a *authorization) document(o *Observation) {
	switch o.Exchange.step {
	case resourceMetadata:
		a.protected(o)
	case serverMetadata:
		a.server(o)
	case registering:
		if id := textParam(o.Event.Data, "client_id"); id != "" && o.Exchange.status() < 300 && len(a.registered) < mostTried {
			a.registered[id] = a.latest
		}
	}
}

// server takes the metadata of an authorization server.
func (a *authorization) server(o *Observation) {
	data := o.Event.Data
	issuer := textParam(data, "issuer")
	if o.Exchange.status() != 200 || issuer == "" {
		return
	}
	a.issuer, a.expected = issuer, issuerOf(o.Exchange.Request.URL)
	a.endpoints = map[string]string{}
	for _, name := range []string{"authorization_endpoint", "token_endpoint"} {
		a.endpoints[name] = textParam(data, name)
	}
	methods, has := schemas.Member(data, "code_challenge_methods_supported")
	a.methods, _ = textsIn(methods)
	a.noPKCE = !has
	iss, _ := schemas.Member(data, "authorization_response_iss_parameter_supported")
	a.iss = string(iss) == "true"
	documents, _ := schemas.Member(data, "client_id_metadata_document_supported")
	a.documented = string(documents) == "true"
}

// issuerOf undoes what makes an address of metadata of an issuer: the well-known
// part stands between host and path, or at the end.
func issuerOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	path := u.EscapedPath()
	for _, known := range []string{wellKnownServer, wellKnownOpenID} {
		if rest, ok := strings.CutPrefix(path, known); ok {
			path = rest
			break
		}
		path = strings.TrimSuffix(path, known)
	}
	return u.Scheme + "://" + u.Host + path
}

// at reports whether the exchange is with the endpoint that the metadata names.
func (a *authorization) at(o *Observation, endpoint string) bool {
	return samePlace(a.endpoints[endpoint], o.Exchange.Request.URL)
}

// validated: a client goes on only with metadata whose issuer is the one that it
// asked for (RFC 8414 section 3.3). Whether that one ended in a slash does not
// show in the address.
func (a *authorization) validated(o *Observation) {
	o.Check(strings.TrimSuffix(a.issuer, "/") == strings.TrimSuffix(a.expected, "/"), "AUTH-ISSUER-VALIDATED", trace.Client, Fault{
		Detail: "a client goes on with metadata of another issuer than it asked for", Want: "/issuer: " + clip(a.expected), Got: clip(a.issuer),
	})
}

// authorize judges an authorization request. An authorization server may send the
// user agent on to another one with a request of its own. One whose parameters stand in
// another place (RFC 9101, RFC 9126) shows nothing.
func (a *authorization) authorize(o *Observation) {
	q := o.Exchange.query()
	if q.Has("request") || q.Has("request_uri") || !slices.Contains(strings.Fields(q.Get("response_type")), "code") ||
		a.endpoints["authorization_endpoint"] != "" && !a.at(o, "authorization_endpoint") { // where the user agent was sent on to
		return
	}
	if a.near {
		o.Pass("AUTH-ISS-EXACT", trace.Client) // it begins anew
	}
	a.grant = grant{}
	o.Check(q.Get("client_id") != "", "AUTH-CLIENT-ID", trace.Client, Fault{
		Detail: "an authorization request has no client_id", Want: "client_id", Got: "absent",
	})
	clientDocument(o, q.Get("client_id"))
	o.Check(q.Get("state") != "", "AUTH-STATE", trace.Client, Fault{
		Detail: "an authorization request has no state", Want: "state", Got: "absent",
	})
	a.pkce(o, q)
	o.Check(q.Has("resource"), "AUTH-RESOURCE-ASKED", trace.Client, Fault{
		Detail: "an authorization request does not name the server", Want: "resource", Got: "absent",
	})
	a.canonical(o, q["resource"])
	if uri := q.Get("redirect_uri"); uri != "" {
		redirect(o, uri)
		a.known(o, q.Get("client_id"), uri)
	}
	a.scope(o, strings.Fields(q.Get("scope")))
	if a.at(o, "authorization_endpoint") {
		a.validated(o)
		o.Check(!a.noPKCE, "AUTH-PKCE-SUPPORT", trace.Client, Fault{
			Detail: "a client goes on though the metadata does not say that PKCE is supported", Want: "code_challenge_methods_supported", Got: "absent",
		})
		if id := q.Get("client_id"); strings.HasPrefix(id, "https://") {
			o.Check(a.documented, "AUTH-CIMD-LOOKED-UP", trace.Client, Fault{
				Detail: "a client names a metadata document though the metadata does not say that those are supported",
				Want:   "client_id_metadata_document_supported", Got: clip(id),
			})
		}
	}
}

// pkce: OAuth 2.1 section 7.5.2. An authorization server that has no S256 leaves
// the client none.
func (a *authorization) pkce(o *Observation, q url.Values) {
	o.Check(q.Get("code_challenge") != "", "AUTH-PKCE", trace.Client, Fault{
		Detail: "an authorization request has no code_challenge", Want: "code_challenge", Got: "absent",
	})
	if q.Get("code_challenge") == "" || len(a.methods) > 0 && !slices.Contains(a.methods, "S256") {
		return
	}
	method := q.Get("code_challenge_method")
	o.Check(method == "S256", "AUTH-PKCE-S256", trace.Client, Fault{
		Detail: "the code challenge is not made by S256", Want: "code_challenge_method=S256", Got: quoteOr(method, "absent"),
	})
}

// clientDocument: a client ID that is an address is an https one with a path; on
// the local host it is one of a test.
func clientDocument(o *Observation, id string) {
	u, err := url.Parse(id)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || loopback(u.Hostname()) {
		return
	}
	o.Check(u.Scheme == "https" && strings.Trim(u.Path, "/") != "", "AUTH-CIMD-URL", trace.Client, Fault{
		Detail: "a client ID is an address, but not an https one with a path", Want: "https://HOST/PATH", Got: clip(id),
	})
}

// canonical: the resource is an absolute URI without fragment (RFC 8707 section 2),
// and a host alone has no slash unless the server names itself so.
func (a *authorization) canonical(o *Observation, resources []string) {
	for _, r := range resources {
		u, err := url.Parse(r)
		o.Check(err == nil && u.Scheme != "" && u.Host != "" && !strings.Contains(r, "#"), "AUTH-RESOURCE-CANONICAL", trace.Client, Fault{
			Detail: "the resource parameter is no canonical URI of a server", Want: "scheme, host and no fragment", Got: clip(r),
		})
		o.Check(err != nil || u.Path != "/" || r == a.resource, "AUTH-RESOURCE-NO-SLASH", trace.Client, Fault{
			Detail: "the resource parameter is a host with a slash", Want: clip(strings.TrimSuffix(r, "/")), Got: clip(r),
		})
	}
}

// redirect: redirect URIs are https or lead to the local host. The scheme of an
// application of its own does the latter in a way that the text does not name.
func redirect(o *Observation, uri string) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" {
		o.Untested("AUTH-REDIRECT-URI", trace.Client, "the redirect URI has a scheme of the application's own")
		return
	}
	o.Check(u.Scheme == "https" || loopback(u.Hostname()), "AUTH-REDIRECT-URI", trace.Client, Fault{
		Detail: "a redirect URI is neither https nor on the local host", Want: "https, or the local host", Got: clip(withoutQuery(uri)),
	})
}

// known: the redirect URI is a registered one. On the local host the port is free
// (RFC 8252 section 7.3).
func (a *authorization) known(o *Observation, client, uri string) {
	reg, ok := a.registered[client]
	if !ok {
		return
	}
	o.Check(slices.ContainsFunc(reg.redirects, func(r string) bool { return portless(r) == portless(uri) }), "AUTH-REDIRECT-REGISTERED", trace.Client, Fault{
		Detail: "a client asks with a redirect URI that it has not registered", Want: clip(strings.Join(reg.redirects, ", ")), Got: clip(uri),
	})
}

func portless(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || !loopback(u.Hostname()) {
		return uri
	}
	u.Host = u.Hostname()
	return u.String()
}

// scope: the scopes of the challenge, else all that the resource has, else none
// (2025-11-25 basic/authorization, scope selection strategy). More than that is
// no fault: a client keeps what it had, and may want to refresh.
func (a *authorization) scope(o *Observation, asked []string) {
	before := a.requested
	a.requested = asked
	if a.challenge != nil && a.challenge.params["error"] == "insufficient_scope" && len(before) > 0 {
		o.Check(covers(asked, before), "AUTH-SCOPE-UNION", trace.Client, Fault{
			Detail: "a client that needs more scope gives up what it had", Want: "scope=" + clip(strings.Join(before, " ")) + " and more", Got: quoteOr(strings.Join(asked, " "), "absent"),
		})
	}
	want, requirement := a.scopes, "AUTH-SCOPE-ORDER"
	if a.challenge != nil && a.challenge.params["scope"] != "" {
		want, requirement = strings.Fields(a.challenge.params["scope"]), "AUTH-SCOPE-AUTHORITATIVE"
	} else if !a.published || a.challenge == nil {
		return
	}
	good := covers(asked, want)
	if len(want) == 0 {
		good = !slices.ContainsFunc(asked, func(s string) bool { return s != "offline_access" })
	}
	o.Check(good, requirement, trace.Client, Fault{
		Detail: "an authorization request does not ask for the scopes that it should", Want: "scope=" + quoteOr(strings.Join(want, " "), "absent"), Got: quoteOr(strings.Join(asked, " "), "absent"),
	})
}

// covers reports whether some scopes have all of others.
func covers(scopes, others []string) bool {
	return !slices.ContainsFunc(others, func(s string) bool { return !slices.Contains(scopes, s) })
}

// redirected takes the authorization response on its way through the user agent,
// and holds its iss against the issuer, letter for letter (RFC 9207 section 2.4).
func (a *authorization) redirected(o *Observation) {
	to, _ := o.Exchange.Response.Get("Location")
	u, err := url.Parse(to)
	if s := o.Exchange.status(); err != nil || s < 300 || s > 399 || !u.Query().Has("code") || a.issuer == "" || !a.at(o, "authorization_endpoint") {
		return
	}
	a.grant = grant{responded: true}
	switch q := u.Query(); {
	case q.Has("iss") && q.Get("iss") != a.issuer:
		a.wrong, a.near = "iss is "+clip(q.Get("iss")), nearly(q.Get("iss"), a.issuer)
	case !q.Has("iss") && a.iss:
		a.wrong = "iss is absent, though the metadata says that it is sent"
	}
}

// askToken judges a token request. A client may leave the resource out when it
// refreshes: that token is for the same one.
func (a *authorization) askToken(o *Observation, form url.Values) {
	kind := form.Get("grant_type")
	if reg, ok := a.registered[form.Get("client_id")]; ok && kind == "refresh_token" {
		o.Check(slices.Contains(reg.grants, kind), "AUTH-REFRESH-GRANT", trace.Client, Fault{
			Detail: "a client refreshes a token and has not registered that it would", Want: "/grant_types with refresh_token", Got: quoteOr(strings.Join(reg.grants, ", "), "absent"),
		})
	}
	if kind != "authorization_code" && kind != "client_credentials" {
		return
	}
	o.Check(form.Has("resource"), "AUTH-RESOURCE-TOKEN", trace.Client, Fault{
		Detail: "a token request does not name the server", Want: "resource", Got: "absent",
	})
	a.canonical(o, form["resource"])
	if a.at(o, "token_endpoint") {
		a.validated(o)
	}
	if kind != "authorization_code" {
		return
	}
	a.endpointUsed(o)
	o.Check(form.Has("code_verifier"), "AUTH-PKCE", trace.Client, Fault{
		Detail: "a token request has no code_verifier", Want: "code_verifier", Got: "absent",
	})
	if a.near {
		o.Fail("AUTH-ISS-EXACT", trace.Client, Fault{
			Detail: "a client takes an issuer that is only nearly the right one", Want: "iss is " + clip(a.issuer), Got: a.wrong,
		})
	}
	if a.responded {
		o.Check(a.wrong == "", "AUTH-ISS-VALIDATED", trace.Client, Fault{
			Detail: "a client sends a code on though the response is not from the issuer that it went to", Want: "iss is " + clip(a.issuer), Got: a.wrong,
			Cause: causeIf(a.near, "AUTH-ISS-EXACT"),
		})
	}
	a.grant = grant{}
}

// register judges a registration. Applications of the local host are native; what
// others are does not show, for those may have an https redirect too (RFC 8252
// section 7.2).
func (a *authorization) register(o *Observation) {
	data := json.RawMessage(o.Event.Data)
	kind := textParam(data, "application_type")
	o.Check(kind != "", "AUTH-DCR-APPLICATION-TYPE", trace.Client, Fault{
		Detail: "a registration has no application_type", Want: "/application_type: native or web", Got: "absent",
	})
	raw, _ := schemas.Member(data, "redirect_uris")
	grants, _ := schemas.Member(data, "grant_types")
	a.latest.redirects, _ = textsIn(raw)
	a.latest.grants, _ = textsIn(grants)
	native := len(a.latest.redirects) > 0
	for _, uri := range a.latest.redirects {
		redirect(o, uri)
		u, err := url.Parse(uri)
		native = native && err == nil && (loopback(u.Hostname()) || u.Scheme != "https" && u.Scheme != "http")
	}
	if native && kind != "" {
		o.Check(kind == "native", "AUTH-DCR-NATIVE", trace.Client, Fault{
			Detail: "an application of the local host does not register as native", Want: "/application_type: native", Got: clip(kind),
		})
	}
}
