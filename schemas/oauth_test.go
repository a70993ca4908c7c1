package schemas

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"
)

// Each document is a good one and the changes that make it a bad one: a member
// set to another value, or to absent. Pointer is where the fault is reported.

type change struct {
	member  string
	value   any
	pointer string
	erratum string
}

// absent takes the member out.
type absent struct{}

func TestOAuthDocuments(t *testing.T) {
	published, intended := load(t, Options{AsPublished: true}), load(t, Options{})
	for definition, c := range oauthDocuments() {
		for _, good := range c.good {
			raw := encode(t, good)
			if vs := validate(t, intended, OAuth, definition, raw); len(vs) > 0 {
				t.Errorf("%s: %s\ngot %v, want no violation", definition, raw, vs)
			}
		}
		for _, bad := range c.bad {
			doc := maps.Clone(c.good[0])
			doc[bad.member] = bad.value
			if bad.value == (absent{}) {
				delete(doc, bad.member)
			}
			raw := encode(t, doc)
			vs := validate(t, intended, OAuth, definition, raw)
			if !slices.ContainsFunc(vs, func(v Violation) bool { return v.Pointer == bad.pointer && v.Erratum == bad.erratum }) {
				t.Errorf("%s: %s\ngot %v, want a violation at %s of erratum %q", definition, raw, vs, bad.pointer, bad.erratum)
			}
			// What only MCP demands, the RFC allows.
			if vs := validate(t, published, OAuth, definition, raw); (len(vs) == 0) != (bad.erratum != "") {
				t.Errorf("%s as published: %s\ngot %v", definition, raw, vs)
			}
		}
	}
}

func encode(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

type object = map[string]any

type documents struct {
	good []object
	bad  []change
}

func oauthDocuments() map[string]documents {
	return map[string]documents{
		"ProtectedResourceMetadata":   protectedResources(),
		"AuthorizationServerMetadata": authorizationServers(),
		"OpenIDConfiguration":         openIDProviders(),
		"ClientRegistrationRequest":   registrationRequests(),
		"ClientRegistrationResponse":  registrationResponses(),
		"ClientIDMetadata":            clientDocuments(),
	}
}

func protectedResources() documents {
	return documents{
		good: []object{
			{
				"resource": "https://mcp.example.com/mcp", "authorization_servers": []any{"https://auth.example.com/tenant"},
				"scopes_supported": []any{"files:read"}, "bearer_methods_supported": []any{"header"},
				"resource_name": "Files", "resource_name#fr": "Fichiers", "x-vendor": object{"anything": true},
			},
			{"resource": "http://127.0.0.1:3000", "authorization_servers": []any{"http://localhost:9000"}, "scopes_supported": []any{}},
			{"resource": "https://mcp.example.com?tenant=1", "authorization_servers": []any{"https://a.example", "https://b.example/"}},
		},
		bad: []change{
			{"resource", absent{}, "/resource", ""},
			{"resource", "http://mcp.example.com/mcp", "/resource", ""},
			{"resource", "https://mcp.example.com/mcp#x", "/resource", ""},
			{"resource", "https://mcp.example.com/a b", "/resource", "OAUTH-URI"},
			{"authorization_servers", "https://auth.example.com", "/authorization_servers", ""},
			{"authorization_servers", []any{"https://auth.example.com?x=1"}, "/authorization_servers/0", ""},
			{"authorization_servers", []any{"http://localhost.example.com"}, "/authorization_servers/0", ""},
			{"authorization_servers", absent{}, "/authorization_servers", "OAUTH-SERVERS"},
			{"authorization_servers", []any{}, "/authorization_servers", "OAUTH-SERVERS"},
			{"scopes_supported", "files:read", "/scopes_supported", ""},
			{"bearer_methods_supported", []any{"header", "cookie"}, "/bearer_methods_supported/1", ""},
			{"resource_signing_alg_values_supported", []any{"none"}, "/resource_signing_alg_values_supported/0", ""},
			{"resource_name#fr", 1, "/resource_name#fr", ""},
		},
	}
}

func authorizationServer() object {
	return object{
		"issuer":                 "https://auth.example.com",
		"authorization_endpoint": "https://auth.example.com/authorize",
		"token_endpoint":         "https://auth.example.com/token",
		"registration_endpoint":  "https://auth.example.com/register",
		"jwks_uri":               "https://auth.example.com/keys",
		"scopes_supported":       []any{"files:read", "offline_access"},

		"response_types_supported":                       []any{"code"},
		"grant_types_supported":                          []any{"authorization_code", "refresh_token"},
		"token_endpoint_auth_methods_supported":          []any{"none", "private_key_jwt"},
		"code_challenge_methods_supported":               []any{"S256"},
		"authorization_response_iss_parameter_supported": true,
		"client_id_metadata_document_supported":          true,
	}
}

func authorizationServers() documents {
	return documents{
		good: []object{
			authorizationServer(),
			{"issuer": "https://a.example/b", "response_types_supported": []any{}, "grant_types_supported": []any{"client_credentials"}, "token_endpoint": "https://a.example/token"},
			{"issuer": "http://[::1]:8080", "response_types_supported": []any{"token"}, "grant_types_supported": []any{"implicit"}, "authorization_endpoint": "http://[::1]:8080/a"},
			{"issuer": "https://a.example", "response_types_supported": []any{"code"}, "authorization_endpoint": "https://a.example/a?b=c", "token_endpoint": "https://a.example/t"},
		},
		bad: []change{
			{"issuer", absent{}, "/issuer", ""},
			{"issuer", "https://auth.example.com#x", "/issuer", ""},
			{"issuer", "http://auth.example.com", "/issuer", ""},
			{"response_types_supported", absent{}, "/response_types_supported", ""},
			{"authorization_endpoint", absent{}, "/authorization_endpoint", ""},
			{"authorization_endpoint", "javascript:alert(1)", "/authorization_endpoint", ""},
			{"authorization_endpoint", "ftp://auth.example.com/authorize", "/authorization_endpoint", ""},
			{"token_endpoint", absent{}, "/token_endpoint", ""},
			{"token_endpoint", nil, "/token_endpoint", ""},
			{"code_challenge_methods_supported", "S256", "/code_challenge_methods_supported", ""},
			{"client_id_metadata_document_supported", "true", "/client_id_metadata_document_supported", ""},
			{"authorization_response_iss_parameter_supported", 1, "/authorization_response_iss_parameter_supported", ""},
			{"token_endpoint_auth_signing_alg_values_supported", []any{"RS256", "none"}, "/token_endpoint_auth_signing_alg_values_supported/1", ""},
			{"service_documentation", "docs", "/service_documentation", "OAUTH-URI"},
		},
	}
}

func openIDProviders() documents {
	good := authorizationServer()
	good["subject_types_supported"] = []any{"public"}
	good["id_token_signing_alg_values_supported"] = []any{"RS256"}
	good["userinfo_endpoint"] = "https://auth.example.com/me"
	good["claims_parameter_supported"] = false
	return documents{
		good: []object{good},
		bad: []change{
			{"issuer", absent{}, "/issuer", ""},
			{"jwks_uri", absent{}, "/jwks_uri", ""},
			{"subject_types_supported", absent{}, "/subject_types_supported", ""},
			{"subject_types_supported", []any{"private"}, "/subject_types_supported/0", ""},
			{"id_token_signing_alg_values_supported", absent{}, "/id_token_signing_alg_values_supported", ""},
			{"userinfo_endpoint", 1, "/userinfo_endpoint", ""},
			{"claims_parameter_supported", "no", "/claims_parameter_supported", ""},
			{"code_challenge_methods_supported", absent{}, "/code_challenge_methods_supported", "OAUTH-PKCE"},
		},
	}
}

func registrationRequests() documents {
	return documents{
		good: []object{
			{
				"redirect_uris": []any{"http://localhost:3000/callback", "https://app.example.com/callback"},
				"client_name":   "An MCP Client", "client_name#de": "Ein MCP-Client", "client_uri": "https://app.example.com",
				"grant_types": []any{"authorization_code", "refresh_token"}, "response_types": []any{"code"},
				"token_endpoint_auth_method": "none", "scope": "files:read", "application_type": "native",
			},
			{"redirect_uris": []any{"http://127.0.0.1/callback"}},
			{"grant_types": []any{"client_credentials"}, "jwks": object{"keys": []any{object{"kty": "OKP"}}}},
		},
		bad: []change{
			{"redirect_uris", absent{}, "/redirect_uris", ""},
			{"redirect_uris", []any{}, "/redirect_uris", ""},
			{"redirect_uris", "http://localhost/callback", "/redirect_uris", ""},
			{"redirect_uris", []any{"https://app.example.com/callback#x"}, "/redirect_uris/0", ""},
			{"redirect_uris", []any{"http://app.example.com/callback"}, "/redirect_uris/0", "OAUTH-REDIRECT"},
			{"redirect_uris", []any{"com.example.app:/callback"}, "/redirect_uris/0", "OAUTH-REDIRECT"},
			{"grant_types", "authorization_code", "/grant_types", ""},
			{"token_endpoint_auth_method", nil, "/token_endpoint_auth_method", ""},
			{"application_type", "desktop", "/application_type", ""},
			{"scope", []any{"files:read"}, "/scope", ""},
			{"jwks", object{"keys": object{}}, "/jwks/keys", ""},
			{"client_uri", "app", "/client_uri", "OAUTH-URI"},
		},
	}
}

func registrationResponses() documents {
	return documents{
		good: []object{
			{
				"client_id": "s6BhdRkqt3", "client_secret": "secret", "client_secret_expires_at": 0, "client_id_issued_at": 1764500000,
				"redirect_uris": []any{"http://localhost:3000/callback"}, "token_endpoint_auth_method": "client_secret_basic",
				"registration_access_token": "token", "registration_client_uri": "https://auth.example.com/register/s6BhdRkqt3",
			},
			{"client_id": "s6BhdRkqt3"},
		},
		bad: []change{
			{"client_id", absent{}, "/client_id", ""},
			{"client_id", 7, "/client_id", ""},
			{"client_secret", nil, "/client_secret", ""},
			{"client_secret_expires_at", absent{}, "/client_secret_expires_at", ""},
			{"client_secret_expires_at", "never", "/client_secret_expires_at", ""},
			{"client_id_issued_at", 1.5, "/client_id_issued_at", ""},
			{"redirect_uris", []any{7}, "/redirect_uris/0", ""},
			{"redirect_uris", []any{"http://app.example.com/"}, "/redirect_uris/0", "OAUTH-REDIRECT"},
		},
	}
}

func clientDocuments() documents {
	return documents{
		good: []object{
			{
				"client_id": "https://app.example.com/oauth/client.json", "client_name": "An MCP Client", "client_uri": "https://app.example.com",
				"redirect_uris": []any{"http://127.0.0.1:3000/callback"}, "grant_types": []any{"authorization_code"},
				"response_types": []any{"code"}, "token_endpoint_auth_method": "none",
			},
			{
				"client_id": "https://app.example.com:8443/", "client_name": "Signed", "redirect_uris": []any{"https://app.example.com/cb"},
				"token_endpoint_auth_method": "private_key_jwt", "jwks_uri": "https://app.example.com/keys",
			},
		},
		bad: []change{
			{"client_id", absent{}, "/client_id", ""},
			{"client_id", "http://app.example.com/client.json", "/client_id", ""},
			{"client_id", "https://app.example.com", "/client_id", ""},
			{"client_id", "https://app.example.com/client.json#x", "/client_id", ""},
			{"client_id", "https://user@app.example.com/client.json", "/client_id", ""},
			{"client_id", "https://app.example.com/a/../client.json", "/client_id", ""},
			{"client_secret", "secret", "/client_secret", ""},
			{"token_endpoint_auth_method", "client_secret_post", "/token_endpoint_auth_method", ""},
			{"client_name", absent{}, "/client_name", "OAUTH-CIMD"},
			{"redirect_uris", absent{}, "/redirect_uris", "OAUTH-CIMD"},
			{"redirect_uris", []any{}, "/redirect_uris", "OAUTH-CIMD"},
			{"redirect_uris", []any{"com.example.app:/callback"}, "/redirect_uris/0", "OAUTH-REDIRECT"},
		},
	}
}

func TestOAuthClientsGiveTheirKeysOneWay(t *testing.T) {
	s := load(t, Options{})
	both := `{"redirect_uris":["http://localhost/"],"jwks_uri":"https://a.example/k","jwks":{"keys":[]}}`
	if vs := validate(t, s, OAuth, "ClientRegistrationRequest", both); len(vs) != 1 {
		t.Errorf("jwks and jwks_uri together: got %v, want one violation", vs)
	}
}

func TestOAuthAdvice(t *testing.T) {
	advised, intended := load(t, Options{Advice: true}), load(t, Options{})
	for _, c := range []struct{ definition, instance, erratum string }{
		{"ProtectedResourceMetadata", `{"resource":"https://m.example","authorization_servers":["https://a.example"],"scopes_supported":["offline_access"]}`, "OAUTH-OFFLINE"},
		{"ProtectedResourceMetadata", `{"resource":"https://m.example","authorization_servers":["https://a.example"],"bearer_methods_supported":["query"]}`, "OAUTH-HEADER"},
		{"ProtectedResourceMetadata", `{"resource":"https://m.example","authorization_servers":["https://a.example"],"scopes_supported":[]}`, "OAUTH-EMPTY"},
		{"AuthorizationServerMetadata", `{"issuer":"https://a.example","response_types_supported":["code"],"authorization_endpoint":"https://a.example/a","token_endpoint":"https://a.example/t"}`, "OAUTH-PKCE"},
		{"AuthorizationServerMetadata", `{"issuer":"https://a.example","response_types_supported":["code"],"authorization_endpoint":"https://a.example/a","token_endpoint":"https://a.example/t","code_challenge_methods_supported":["plain"]}`, "OAUTH-S256"},
		{"AuthorizationServerMetadata", `{"issuer":"https://a.example","response_types_supported":["code"],"authorization_endpoint":"https://a.example/a","token_endpoint":"https://a.example/t","code_challenge_methods_supported":["S256"],"token_endpoint_auth_methods_supported":["private_key_jwt"]}`, "OAUTH-ALG"},
		{"OpenIDConfiguration", `{"issuer":"https://a.example","response_types_supported":["code"],"authorization_endpoint":"https://a.example/a","token_endpoint":"https://a.example/t","jwks_uri":"https://a.example/k","subject_types_supported":["public"],"id_token_signing_alg_values_supported":["ES256"],"code_challenge_methods_supported":["S256"]}`, "OAUTH-RS256"},
	} {
		vs := validate(t, advised, OAuth, c.definition, c.instance)
		if len(vs) != 1 || vs[0].Erratum != c.erratum || !vs[0].Advice {
			t.Errorf("%s\ngot %v, want one remark of %s", c.instance, vs, c.erratum)
		}
		if vs := validate(t, intended, OAuth, c.definition, c.instance); len(vs) != 0 {
			t.Errorf("%s\ngot %v, want no violation without advice", c.instance, vs)
		}
	}
}
