package conformance

import (
	"net/url"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/trace"
)

// serverPlaces lists where the metadata of an authorization server is looked for,
// in order (2025-11-25 basic/authorization, authorization server metadata
// discovery).
func serverPlaces(issuer string) []string {
	u, err := url.Parse(issuer)
	if err != nil || u.Host == "" {
		return nil
	}
	host, path := u.Scheme+"://"+u.Host, strings.TrimSuffix(u.EscapedPath(), "/")
	if path == "" {
		return []string{host + wellKnownServer, host + wellKnownOpenID}
	}
	return []string{host + wellKnownServer + path, host + wellKnownOpenID + path, host + path + wellKnownOpenID}
}

// gone reports whether a place was asked and has nothing.
func (a *authorization) gone(place string) bool {
	return a.tried[place] == 404 || a.tried[place] == 410
}

// serverDiscovery judges where a client looks for the metadata of an authorization
// server, once the protected resource metadata has named some.
func (a *authorization) serverDiscovery(o *Observation) {
	if o.Lacks(trace.LackOrder) || len(a.servers) == 0 {
		return
	}
	at := o.Exchange.address()
	for _, issuer := range a.servers {
		places := serverPlaces(issuer)
		i := slices.Index(places, at)
		if i < 0 {
			continue
		}
		o.Pass("AUTH-METADATA-USED", trace.Client)
		if i > 0 && a.gone(places[0]) {
			o.Pass("AUTH-SERVER-METADATA-PLACES", trace.Client)
		}
		if len(places) > 2 {
			missed := slices.IndexFunc(places[:i], func(p string) bool { _, asked := a.tried[p]; return !asked })
			o.Check(missed < 0, "AUTH-SERVER-METADATA-ORDER", trace.Client, Fault{
				Detail: "a client passes over a place at which the metadata of the authorization server may be", Want: clip(strings.Join(places[:i+1], ", ")), Got: clip(at),
			})
		}
		return
	}
	if slices.ContainsFunc(a.servers, func(issuer string) bool { return sameHost(issuer, at) }) {
		return // another place on the right host: one more try
	}
	o.Fail("AUTH-METADATA-USED", trace.Client, Fault{
		Detail: "a client asks for the metadata of an authorization server that the protected resource metadata does not name",
		Want:   clip(strings.Join(a.servers, ", ")), Got: clip(issuerOf(at)),
	})
}

// endpointUsed judges which endpoint a client sends its code to: that of the
// metadata, or by 2025-03-26, where there is none, the default one. A client
// goes there itself, while user agents are sent from place to place.
func (a *authorization) endpointUsed(o *Observation) {
	at := o.Exchange.address()
	u, err := url.Parse(at)
	if err != nil {
		return
	}
	root := u.Scheme + "://" + u.Host
	switch want := withoutQuery(a.endpoints["token_endpoint"]); {
	case sameHost(want, at):
		o.Check(samePlace(want, at), "AUTH-SERVER-METADATA-USED", trace.Client, Fault{
			Detail: "a client asks for a token at another endpoint than the metadata names", Want: clip(want), Got: clip(at),
		})
	case a.issuer == "" && a.gone(root+wellKnownServer):
		o.Check(u.Path == "/token", "AUTH-DEFAULT-ENDPOINTS-USED", trace.Client, Fault{
			Detail: "a client that found no metadata asks for a token at another endpoint than the default one", Want: root + "/token", Got: clip(at),
		})
	}
	for _, issuer := range a.servers {
		places := serverPlaces(issuer)
		if a.issuer != "" || !sameHost(issuer, at) || !a.gone(places[0]) {
			continue
		}
		if !slices.ContainsFunc(places[1:], func(p string) bool { _, asked := a.tried[p]; return asked }) {
			o.Fail("AUTH-SERVER-METADATA-PLACES", trace.Client, Fault{
				Detail: "a client goes on without having looked for metadata of OpenID Connect", Want: clip(strings.Join(places[1:], ", ")), Got: "no request for it",
			})
		}
	}
}

// nearly reports whether two issuers are equal once they are normalized in the
// ways in which clients must not (2026-07-28 basic/authorization, authorization
// response validation).
func nearly(a, b string) bool {
	plain := func(s string) string {
		u, err := url.Parse(s)
		if err != nil {
			return s
		}
		host := strings.ToLower(u.Host)
		host = strings.TrimSuffix(strings.TrimSuffix(host, ":443"), ":80")
		return strings.ToLower(u.Scheme) + "://" + host + strings.TrimSuffix(u.Path, "/")
	}
	return a != b && plain(a) == plain(b)
}
