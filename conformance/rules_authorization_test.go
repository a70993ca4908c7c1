package conformance

import (
	"reflect"
	"strings"
	"testing"
)

const (
	refusedPing = "POST\n-> {\"id\":9,\"method\":\"ping\"}\n"
	prmAt       = "/.well-known/oauth-protected-resource"
	asAt        = "/.well-known/oauth-authorization-server"
	origin      = "http://127.0.0.1:1"
	prm         = `{"resource":"` + origin + `/mcp","authorization_servers":["` + origin + `"]}`
)

// challenging is a session in which a ping is answered by a status and a challenge.
func challenging(revision, status, challenge string) string {
	return "http\nopen " + revision + "\n" + refusedPing + status + " WWW-Authenticate=" + strings.ReplaceAll(challenge, " ", "+") + "\nend\n"
}

// fetched is a document that a client asks for.
func fetched(at, answer string) string {
	if answer[0] != '{' {
		return "GET " + at + "\n" + answer + "\nend\n"
	}
	return "GET " + at + "\n200 json\n<= " + answer + "\nend\n"
}

func serverMetadataOf(members string) string {
	return `{"issuer":"` + origin + `","authorization_endpoint":"` + origin + `/authorize","token_endpoint":"` + origin + `/token"` + members + `}`
}

// asking is an authorization request without some parameters and with others.
func asking(without, with string) string {
	q := "response_type=code&client_id=abc&redirect_uri=http://127.0.0.1:7/cb&state=s&code_challenge=c&code_challenge_method=S256&resource=" + origin + "/mcp"
	return "GET /authorize?" + strings.Replace(q, without, "", 1) + with + "\n"
}

func forToken(form string) string {
	return "POST Content-Type=application/x-www-form-urlencoded /token\n->! " + form + "\n200 json\n<= {\"access_token\":\"****\"}\nend\n"
}

func registers(body string) string {
	return "POST /register\n=> " + body + "\n201 json\n<= {\"client_id\":\"abc\"}\nend\n"
}

func authorizationCases() []ruleCase {
	const (
		c, d, e  = "2025-06-18", "2025-11-25", "2026-07-28"
		ping     = "-> {\"id\":1,\"method\":\"ping\"}\n"
		pong     = "answer {\"id\":1,\"result\":{}}\n"
		again    = "-> {\"id\":2,\"method\":\"ping\"}\nanswer {\"id\":2,\"result\":{}}\n"
		modern   = "http revision=2026-07-28\nPOST\n-> {\"id\":1,\"method\":\"tools/list\",\"params\":{$meta}}\n"
		found    = "302 Location="
		verified = "grant_type=authorization_code&code=x&code_verifier=v&resource=" + origin + "/mcp"
		pkce     = `,"code_challenge_methods_supported":["S256"]`
	)
	bare := func(status string) string { return challenging(d, status, "Bearer") }
	open := "http\nopen " + d + "\n"
	modernChallenge := func(challenge string) string {
		return modern + "401 WWW-Authenticate=" + strings.ReplaceAll(challenge, " ", "+") + "\nend\n"
	}
	named := `Bearer resource_metadata="` + origin + `/meta"`
	return slicesOf(
		// What a server says.
		ruleCase{"a challenge with status 401", bare("401"), "+AUTH-401 !AUTH-CHALLENGE-METADATA !AUTH-CHALLENGE-SCOPE"},
		ruleCase{"a challenge with status 403 and no token", bare("403"), "-AUTH-401"},
		ruleCase{"403 for another reason", "http\nopen " + d + "\n" + refusedPing + "403\nend", "!AUTH-401 !AUTH-403"},
		ruleCase{"a way of authorization of one's own", challenging(c, "401", `Basic realm="x"`), "!AUTH-401 ?AUTH-CHALLENGE-METADATA"},
		ruleCase{"no challenge at all", "http\nopen " + c + "\n" + refusedPing + "401\nend", "?AUTH-CHALLENGE-METADATA"},
		ruleCase{"a challenge without resource_metadata", challenging(c, "401", `Bearer realm="x"`), "-AUTH-CHALLENGE-METADATA"},
		ruleCase{"a challenge without resource_metadata later on", challenging(d, "401", `Bearer realm="x"`), "!AUTH-CHALLENGE-METADATA"},
		ruleCase{"a challenge with resource_metadata", challenging(c, "401", named), "+AUTH-CHALLENGE-METADATA"},
		ruleCase{"a challenge before the handshake, of a server that turns out to speak a later revision",
			"http\nPOST\n-> {\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}}}\n401 WWW-Authenticate=Bearer\nend\nopen " + d, "!AUTH-CHALLENGE-METADATA +AUTH-401"},
		ruleCase{"a challenge before the handshake, of a server that turns out to speak this revision",
			"http\nPOST\n-> {\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}}}\n401 WWW-Authenticate=Bearer\nend\nopen " + c, "-AUTH-CHALLENGE-METADATA"},
		ruleCase{"a challenge of a server that never says what it speaks",
			"http\nPOST\n-> {\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}}}\n401 WWW-Authenticate=Bearer\nend", "?AUTH-CHALLENGE-METADATA"},
		ruleCase{"the body of a 401 is no message", open + refusedPing + "401 json WWW-Authenticate=Bearer\n<= {\"error\":\"invalid_token\"}\nend", "+AUTH-401"},
		ruleCase{"the body of a 404 is no message", open + refusedPing + "404 json\n<= {\"message\":\"nothing here\"}\nend", "!ENVELOPE-ERROR-CODE"},
		ruleCase{"an error of JSON-RPC with a 401 is judged as one", open + refusedPing + "401 json\n<= {\"jsonrpc\":\"2.0\",\"id\":9,\"error\":{\"message\":\"x\"}}\nend", "-ENVELOPE-ERROR-CODE"},
		ruleCase{"a token left out in a run", strings.Replace(modern, "http", "http subject=client", 1) + "401\nend\nPOST Authorization=Bearer+t\n-> {\"id\":2,\"method\":\"x/y\",\"params\":{$meta}}\nanswer {\"id\":2,\"result\":{$ok}}\nPOST\n-> {\"id\":3,\"method\":\"x/y\",\"params\":{$meta}}\n401\nend", "-AUTH-EVERY-REQUEST"},
		ruleCase{"an invalid token", open + "POST Authorization=Bearer+t\n" + ping + "401 WWW-Authenticate=Bearer+error=\"invalid_token\"\nend", "+AUTH-INVALID-TOKEN-401"},
		ruleCase{"an invalid token and another status", open + "POST Authorization=Bearer+t\n" + ping + "400 WWW-Authenticate=Bearer+error=\"invalid_token\"\nend", "-AUTH-INVALID-TOKEN-401"},
		ruleCase{"a malformed authorization", open + "POST Authorization=Bearer+t\n" + ping + "400 WWW-Authenticate=Bearer+error=\"invalid_request\"\nend", "+AUTH-400"},
		ruleCase{"a malformed authorization and another status", open + "POST Authorization=Bearer+t\n" + ping + "403 WWW-Authenticate=Bearer+error=\"invalid_request\"\nend", "-AUTH-400"},
		ruleCase{"no token called an invalid request", challenging(d, "401", `Bearer error="invalid_request"`), "+AUTH-401 !AUTH-400"},
		ruleCase{"too little scope", challenging(d, "403", `Bearer error="insufficient_scope", scope="a b", resource_metadata="x"`), "+AUTH-403 +AUTH-INSUFFICIENT-SCOPE +AUTH-INSUFFICIENT-SCOPE-NAMED"},
		ruleCase{"too little scope and the wrong status", challenging(d, "401", `Bearer error="insufficient_scope", scope="a", resource_metadata="x"`), "-AUTH-403 -AUTH-INSUFFICIENT-SCOPE"},
		ruleCase{"too little scope and no more words", challenging(d, "403", `Bearer error="insufficient_scope"`), "+AUTH-403 -AUTH-INSUFFICIENT-SCOPE -AUTH-INSUFFICIENT-SCOPE-NAMED"},
		ruleCase{"a challenge with scope", modernChallenge(`Bearer scope="a"`), "+AUTH-CHALLENGE-SCOPE +AUTH-NO-OFFLINE-ACCESS"},
		ruleCase{"a challenge without scope, of a server with scopes", bare("401") + fetched(prmAt+"/mcp", strings.Replace(prm, "{", `{"scopes_supported":["a"],`, 1)), "-AUTH-CHALLENGE-SCOPE +AUTH-WELL-KNOWN-TRIED"},
		ruleCase{"a challenge for offline_access", modernChallenge(`Bearer scope="a offline_access"`), "-AUTH-NO-OFFLINE-ACCESS"},
		ruleCase{"metadata with offline_access", modern + "401\nend\n" + fetched(prmAt, strings.Replace(prm, "{", `{"scopes_supported":["offline_access"],`, 1)), "-AUTH-NO-OFFLINE-ACCESS -AUTH-WELL-KNOWN-TRIED"},
		ruleCase{"metadata", open + fetched(prmAt, prm), "+AUTH-METADATA-PUBLISHED +AUTH-METADATA-SERVERS"},
		ruleCase{"metadata before any message", "http\n" + fetched(prmAt, prm) + "open " + d, "+AUTH-METADATA-PUBLISHED"},
		ruleCase{"metadata without authorization servers", open + fetched(prmAt, `{"resource":"x","authorization_servers":[]}`), "-AUTH-METADATA-SERVERS"},
		ruleCase{"something else in the place of metadata", open + fetched(prmAt, `{"hello":1}`), "!AUTH-METADATA-SERVERS !AUTH-METADATA-PUBLISHED"},
		ruleCase{"metadata nowhere", bare("401") + fetched(prmAt+"/mcp", "404") + fetched(prmAt, "404"), "-AUTH-METADATA-PUBLISHED"},
		ruleCase{"metadata looked for in one place only", bare("401") + fetched(prmAt+"/mcp", "404"), "!AUTH-METADATA-PUBLISHED"},
		ruleCase{"no metadata where nothing is demanded", open + fetched(prmAt+"/mcp", "404") + fetched(prmAt, "404"), "!AUTH-METADATA-PUBLISHED"},
		ruleCase{"metadata at the root only", bare("401") + fetched(prmAt+"/mcp", "404") + fetched(prmAt, prm), "+AUTH-METADATA-PUBLISHED"},

		// Where a client looks.
		ruleCase{"metadata asked for where the challenge puts it", challenging(d, "401", named) + fetched("/meta", prm), "+AUTH-CHALLENGE-READ"},
		ruleCase{"metadata asked for where one would guess", challenging(d, "401", named) + fetched(prmAt+"/mcp", "404"), "-AUTH-CHALLENGE-READ"},
		ruleCase{"metadata looked for before the challenge", open + fetched(prmAt, "404") + refusedPing + "401 WWW-Authenticate=" + strings.ReplaceAll(named, " ", "+") + "\nend\n" + fetched("/meta", prm), "+AUTH-CHALLENGE-READ"},
		ruleCase{"metadata at another host, which the trace does not show", challenging(d, "401", `Bearer resource_metadata="https://elsewhere.example/meta"`) + fetched(prmAt+"/mcp", "404"), "!AUTH-CHALLENGE-READ"},

		// Tokens.
		ruleCase{"a token in each request", open + "POST Authorization=Bearer+t\n" + ping + pong + "POST Authorization=Bearer+t\n" + again, "+AUTH-EVERY-REQUEST +AUTH-NOT-IN-QUERY !AUTH-BEARER"},
		ruleCase{"a token left out", open + "POST Authorization=Bearer+t\n" + ping + pong + "POST\n" + again, "-AUTH-EVERY-REQUEST"},
		ruleCase{"a token left out of a GET", open + "POST Authorization=Bearer+t\n" + ping + pong + "GET\n405\nend", "-AUTH-EVERY-REQUEST"},
		ruleCase{"a token left out once it was refused", open + "POST Authorization=Bearer+t\n" + ping + "401\nend\nPOST\n" + again, "!AUTH-EVERY-REQUEST"},
		ruleCase{"two clients without a session", modern + "401\nend\nPOST Authorization=Bearer+t\n-> {\"id\":2,\"method\":\"x/y\",\"params\":{$meta}}\nanswer {\"id\":2,\"result\":{$ok}}\nPOST\n-> {\"id\":3,\"method\":\"x/y\",\"params\":{$meta}}\n401\nend", "!AUTH-EVERY-REQUEST"},
		ruleCase{"a token in the query", open + "POST /mcp?access_token=t\n" + ping + pong, "-AUTH-NOT-IN-QUERY"},
		ruleCase{"a token as Bearer", bare("401") + "POST Authorization=bearer+t\n" + ping + pong, "+AUTH-BEARER"},
		ruleCase{"a token without scheme", bare("401") + "POST Authorization=t\n" + ping + pong, "-AUTH-BEARER"},
		ruleCase{"a token that was masked", bare("401") + "POST Authorization=****\n" + ping + pong, "?AUTH-BEARER"},

		// Authorization and token requests.
		ruleCase{"an authorization request", open + asking("", "") + "302\nend", "+AUTH-PKCE +AUTH-PKCE-S256 +AUTH-RESOURCE-ASKED +AUTH-RESOURCE-CANONICAL +AUTH-REDIRECT-URI +AUTH-STATE !AUTH-PKCE-SUPPORT !AUTH-SCOPE-ORDER"},
		ruleCase{"an authorization request without PKCE", open + asking("&code_challenge=c&code_challenge_method=S256", "") + "302\nend", "-AUTH-PKCE !AUTH-PKCE-S256"},
		ruleCase{"a plain challenge", open + asking("&code_challenge_method=S256", "") + "302\nend", "-AUTH-PKCE-S256"},
		ruleCase{"a plain challenge where there is no other", open + fetched(asAt, serverMetadataOf(`,"code_challenge_methods_supported":["plain"]`)) + asking("&code_challenge_method=S256", "") + "302\nend", "!AUTH-PKCE-S256"},
		ruleCase{"an authorization request without resource", open + asking("&resource="+origin+"/mcp", "") + "302\nend", "-AUTH-RESOURCE-ASKED"},
		ruleCase{"a resource without scheme", open + asking("&resource="+origin+"/mcp", "&resource=mcp.example.com") + "302\nend", "-AUTH-RESOURCE-CANONICAL"},
		ruleCase{"a resource with a fragment", open + asking("&resource="+origin+"/mcp", "&resource=https://mcp.example.com%23x") + "302\nend", "-AUTH-RESOURCE-CANONICAL"},
		ruleCase{"an authorization request without state", open + asking("&state=s", "") + "302\nend", "-AUTH-STATE"},
		ruleCase{"an authorization request without client", modern + "401\nend\n" + asking("&client_id=abc", "") + "302\nend", "-AUTH-CLIENT-ID"},
		ruleCase{"an authorization request whose parameters are elsewhere", modern + "401\nend\nGET /authorize?response_type=code&client_id=abc&request_uri=x\n302\nend", "!AUTH-PKCE !AUTH-CLIENT-ID"},
		ruleCase{"a client ID with a document", modern + "401\nend\n" + asking("&client_id=abc", "&client_id=https://app.example/client.json") + "302\nend", "+AUTH-CIMD-URL +AUTH-CLIENT-ID"},
		ruleCase{"a client ID that is no https address with a path", open + asking("&client_id=abc", "&client_id=https://app.example/") + "302\nend", "-AUTH-CIMD-URL"},
		ruleCase{"a redirect to a host in the clear", open + asking("&redirect_uri=http://127.0.0.1:7/cb", "&redirect_uri=http://app.example/cb") + "302\nend", "-AUTH-REDIRECT-URI"},
		ruleCase{"a redirect to an application", open + asking("&redirect_uri=http://127.0.0.1:7/cb", "&redirect_uri=app://cb") + "302\nend", "?AUTH-REDIRECT-URI"},
		ruleCase{"a token request", open + forToken(verified), "+AUTH-PKCE +AUTH-RESOURCE-TOKEN +AUTH-RESOURCE-CANONICAL"},
		ruleCase{"a token request without verifier", open + forToken(strings.Replace(verified, "&code_verifier=v", "", 1)), "-AUTH-PKCE"},
		ruleCase{"a token request without resource", open + forToken("grant_type=authorization_code&code=x&code_verifier=v"), "-AUTH-RESOURCE-TOKEN"},
		ruleCase{"a refresh without resource", open + forToken("grant_type=refresh_token&refresh_token=x"), "!AUTH-RESOURCE-TOKEN !AUTH-PKCE"},
		ruleCase{"another form", open + forToken("token=x"), "!AUTH-RESOURCE-TOKEN"},
		ruleCase{"a message that is sent as a form", open + "POST Content-Type=application/x-www-form-urlencoded\n" + ping + pong, "+IDS-RESPONSE-ECHO@server"},
		ruleCase{"metadata that supports PKCE", open + fetched(asAt, serverMetadataOf(pkce)) + asking("", "") + "302\nend", "+AUTH-PKCE-SUPPORT"},
		ruleCase{"metadata that does not", open + fetched(asAt, serverMetadataOf("")) + asking("", "") + "302\nend", "-AUTH-PKCE-SUPPORT"},
		ruleCase{"metadata of another authorization server", open + fetched(asAt, strings.ReplaceAll(serverMetadataOf(""), origin, "https://other.example")) + asking("", "") + "302\nend", "!AUTH-PKCE-SUPPORT"},

		// Scopes.
		ruleCase{"the scopes of the challenge", challenging(d, "401", `Bearer scope="a b"`) + asking("", "&scope=b%20a%20c") + "302\nend", "+AUTH-SCOPE-AUTHORITATIVE"},
		ruleCase{"not the scopes of the challenge", challenging(d, "401", `Bearer scope="a b"`) + asking("", "&scope=a") + "302\nend", "-AUTH-SCOPE-AUTHORITATIVE"},
		ruleCase{"no scopes anywhere", bare("401") + fetched(prmAt+"/mcp", prm) + asking("", "") + "302\nend", "+AUTH-SCOPE-ORDER"},
		ruleCase{"scopes out of nowhere", bare("401") + fetched(prmAt+"/mcp", prm) + asking("", "&scope=a") + "302\nend", "-AUTH-SCOPE-ORDER"},

		// Issuers.
		ruleCase{"the issuer asked for", modern + "401\nend\n" + fetched(asAt, serverMetadataOf(pkce)) + asking("", "") + "302\nend", "+AUTH-ISSUER-VALIDATED"},
		ruleCase{"the issuer asked for, with a slash", modern + "401\nend\n" + fetched(asAt, strings.Replace(serverMetadataOf(pkce), origin, origin+"/", 1)) + asking("", "") + "302\nend", "+AUTH-ISSUER-VALIDATED"},
		ruleCase{"another issuer", modern + "401\nend\n" + fetched(asAt, strings.Replace(serverMetadataOf(pkce), origin, "https://honest.example", 1)) + asking("", "") + "302\nend", "-AUTH-ISSUER-VALIDATED"},
		ruleCase{"another issuer, and the client leaves", modern + "401\nend\n" + fetched(asAt, strings.Replace(serverMetadataOf(pkce), origin, "https://honest.example", 1)), "!AUTH-ISSUER-VALIDATED"},
		ruleCase{"the right iss", modern + "401\nend\n" + fetched(asAt, serverMetadataOf(pkce)) + asking("", "") + found + "http://127.0.0.1:7/cb?code=x&iss=" + origin + "\nend\n" + forToken(verified), "+AUTH-ISS-VALIDATED"},
		ruleCase{"the wrong iss", modern + "401\nend\n" + fetched(asAt, serverMetadataOf(pkce)) + asking("", "") + found + "http://127.0.0.1:7/cb?code=x&iss=https://wrong.example\nend\n" + forToken(verified), "-AUTH-ISS-VALIDATED !AUTH-ISS-EXACT"},
		ruleCase{"no iss", modern + "401\nend\n" + fetched(asAt, serverMetadataOf(pkce)) + asking("", "") + found + "http://127.0.0.1:7/cb?code=x\nend\n" + forToken(verified), "+AUTH-ISS-VALIDATED"},
		ruleCase{"no iss though there should be one", modern + "401\nend\n" + fetched(asAt, serverMetadataOf(pkce+`,"authorization_response_iss_parameter_supported":true`)) + asking("", "") + found + "http://127.0.0.1:7/cb?code=x\nend\n" + forToken(verified), "-AUTH-ISS-VALIDATED"},
		ruleCase{"the wrong iss, and the client leaves", modern + "401\nend\n" + fetched(asAt, serverMetadataOf(pkce)) + asking("", "") + found + "http://127.0.0.1:7/cb?code=x&iss=y\nend\n", "!AUTH-ISS-VALIDATED"},

		ruleCase{"an iss that is nearly right", modern + "401\nend\n" + fetched(asAt, serverMetadataOf(pkce)) + asking("", "") + found + "http://127.0.0.1:7/cb?code=x&iss=HTTP://127.0.0.1:1\nend\n" + forToken(verified), "-AUTH-ISS-EXACT -AUTH-ISS-VALIDATED"},
		ruleCase{"an iss that is nearly right, and the client begins anew", modern + "401\nend\n" + fetched(asAt, serverMetadataOf(pkce)) + asking("", "") + found + "http://127.0.0.1:7/cb?code=x&iss=" + origin + "/\nend\n" + asking("", ""), "+AUTH-ISS-EXACT !AUTH-ISS-VALIDATED"},
		ruleCase{"a user agent that is sent on by the authorization server", open + fetched(asAt, serverMetadataOf(pkce)) + asking("", "") + "302\nend\nGET /idp/authorize?response_type=code&client_id=proxy&redirect_uri=" + origin + "/back\n302\nend\n", "+AUTH-PKCE +AUTH-STATE"},

		// Where the authorization server is.
		ruleCase{"the authorization server that was named", open + fetched(prmAt, prm) + fetched(asAt, serverMetadataOf(pkce)) + forToken(verified), "+AUTH-METADATA-USED +AUTH-SERVER-METADATA-USED !AUTH-SERVER-METADATA-ORDER"},
		ruleCase{"an authorization server that was guessed", open + fetched(prmAt, strings.Replace(prm, `["`+origin, `["https://auth.example`, 1)) + fetched(asAt, "404"), "-AUTH-METADATA-USED"},
		ruleCase{"an authorization server that was guessed before", open + fetched(asAt, "404") + fetched(prmAt, strings.Replace(prm, `["`+origin, `["https://auth.example`, 1)), "!AUTH-METADATA-USED"},
		ruleCase{"a token endpoint that was guessed", open + fetched(asAt, strings.Replace(serverMetadataOf(pkce), "/token", "/other", 1)) + forToken(verified), "-AUTH-SERVER-METADATA-USED"},
		ruleCase{"metadata of OpenID Connect", open + fetched(prmAt, prm) + fetched(asAt, "404") + fetched("/.well-known/openid-configuration", serverMetadataOf(pkce)) + asking("", "") + "302\nend", "+AUTH-SERVER-METADATA-PLACES +AUTH-PKCE-SUPPORT"},
		ruleCase{"metadata of OpenID Connect not looked for", open + fetched(prmAt, prm) + fetched(asAt, "404") + forToken(verified), "-AUTH-SERVER-METADATA-PLACES !AUTH-DEFAULT-ENDPOINTS-USED"},
		ruleCase{"an issuer with a path, in order", open + fetched(prmAt, strings.Replace(prm, `["`+origin, `["`+origin+"/t1", 1)) + fetched(asAt+"/t1", "404") + fetched("/.well-known/openid-configuration/t1", "404") + fetched("/t1/.well-known/openid-configuration", "404"), "+AUTH-SERVER-METADATA-ORDER +AUTH-SERVER-METADATA-PLACES"},
		ruleCase{"an issuer with a path, out of order", open + fetched(prmAt, strings.Replace(prm, `["`+origin, `["`+origin+"/t1", 1)) + fetched(asAt+"/t1", "404") + fetched("/t1/.well-known/openid-configuration", "404"), "-AUTH-SERVER-METADATA-ORDER"},
		ruleCase{"an issuer with a path, and one more try at the root", open + fetched(prmAt, strings.Replace(prm, `["`+origin, `["`+origin+"/t1", 1)) + fetched(asAt, "404"), "!AUTH-SERVER-METADATA-ORDER !AUTH-METADATA-USED"},
		ruleCase{"the default endpoint", "http\nopen 2025-03-26\n" + fetched(asAt, "404") + forToken(verified), "+AUTH-DEFAULT-ENDPOINTS-USED"},
		ruleCase{"not the default endpoint", "http\nopen 2025-03-26\n" + fetched(asAt, "404") + strings.Replace(forToken(verified), "/token", "/oauth/token", 1), "-AUTH-DEFAULT-ENDPOINTS-USED"},
		ruleCase{"more scope on top", modern + "401\nend\n" + asking("", "&scope=a") + "302\nend\nPOST Authorization=Bearer+t\n-> {\"id\":2,\"method\":\"tools/list\",\"params\":{$meta}}\n403 WWW-Authenticate=Bearer+error=insufficient_scope,scope=b,resource_metadata=x\nend\n" + asking("", "&scope=a%20b"), "+AUTH-SCOPE-UNION +AUTH-SCOPE-AUTHORITATIVE"},
		ruleCase{"more scope instead", modern + "401\nend\n" + asking("", "&scope=a") + "302\nend\nPOST Authorization=Bearer+t\n-> {\"id\":2,\"method\":\"tools/list\",\"params\":{$meta}}\n403 WWW-Authenticate=Bearer+error=insufficient_scope,scope=b,resource_metadata=x\nend\n" + asking("", "&scope=b"), "-AUTH-SCOPE-UNION"},
		ruleCase{"a document that is supported", open + fetched(asAt, serverMetadataOf(pkce+`,"client_id_metadata_document_supported":true`)) + asking("&client_id=abc", "&client_id=https://app.example/c.json") + "302\nend", "+AUTH-CIMD-LOOKED-UP"},
		ruleCase{"a document that is not supported", open + fetched(asAt, serverMetadataOf(pkce)) + asking("&client_id=abc", "&client_id=https://app.example/c.json") + "302\nend", "-AUTH-CIMD-LOOKED-UP"},
		ruleCase{"a resource that is a host", open + asking("&resource="+origin+"/mcp", "&resource=https://mcp.example.com") + "302\nend", "+AUTH-RESOURCE-NO-SLASH"},
		ruleCase{"a resource that is a host with a slash", open + asking("&resource="+origin+"/mcp", "&resource=https://mcp.example.com/") + "302\nend", "-AUTH-RESOURCE-NO-SLASH"},
		ruleCase{"a resource that the server names with a slash", open + fetched(prmAt, strings.Replace(prm, origin+"/mcp", origin+"/", 1)) + asking("&resource="+origin+"/mcp", "&resource="+origin+"/") + "302\nend", "+AUTH-RESOURCE-NO-SLASH"},
		ruleCase{"a refresh that was registered", modern + "401\nend\n" + registers(`{"redirect_uris":["https://a.example/cb"],"application_type":"web","grant_types":["authorization_code","refresh_token"]}`) + forToken("grant_type=refresh_token&client_id=abc"), "+AUTH-REFRESH-GRANT"},
		ruleCase{"a refresh that was not registered", modern + "401\nend\n" + registers(`{"redirect_uris":["https://a.example/cb"],"application_type":"web"}`) + forToken("grant_type=refresh_token&client_id=abc"), "-AUTH-REFRESH-GRANT"},

		// Registration.
		ruleCase{"a registration", modern + "401\nend\n" + registers(`{"redirect_uris":["http://localhost:1/cb"],"application_type":"native"}`) + asking("", "") + "302\nend", "+AUTH-DCR-APPLICATION-TYPE +AUTH-DCR-NATIVE -AUTH-REDIRECT-REGISTERED"},
		ruleCase{"a registration as what it is not", modern + "401\nend\n" + registers(`{"redirect_uris":["http://localhost:1/cb"],"application_type":"web"}`), "-AUTH-DCR-NATIVE"},
		ruleCase{"a registration as nothing", modern + "401\nend\n" + registers(`{"redirect_uris":["https://app.example/cb"]}`), "-AUTH-DCR-APPLICATION-TYPE !AUTH-DCR-NATIVE"},
		ruleCase{"a registered redirect with another port", open + registers(`{"redirect_uris":["http://127.0.0.1:1/cb"]}`) + asking("", "") + "302\nend", "+AUTH-REDIRECT-REGISTERED"},
	)
}

func slicesOf(cases ...ruleCase) []ruleCase { return cases }

func TestParseChallenges(t *testing.T) {
	type p = map[string]string
	cases := []struct {
		value string
		want  []challenge
	}{
		{"", nil},
		{"Bearer", []challenge{{"bearer", p{}}}},
		{`BEARER Realm="a, b", error=invalid_token`, []challenge{{"bearer", p{"realm": "a, b", "error": "invalid_token"}}}},
		{`Basic realm="x", Bearer scope="a \"b\"" , resource_metadata = "https://h/p?q=1"`, []challenge{
			{"basic", p{"realm": "x"}}, {"bearer", p{"scope": `a "b"`, "resource_metadata": "https://h/p?q=1"}}}},
		{"Negotiate, Bearer", []challenge{{"negotiate", p{}}, {"bearer", p{}}}},
		{`Bearer realm="open`, []challenge{{"bearer", p{"realm": "open"}}}},
		{`realm="x", Bearer`, []challenge{{"bearer", p{}}}},
		{`Bearer scope="a", scope="b"`, []challenge{{"bearer", p{"scope": "a"}}}},
		{`;;Bearer`, []challenge{{"bearer", p{}}}},
	}
	for _, k := range cases {
		if got := parseChallenges(k.value); !reflect.DeepEqual(got, k.want) {
			t.Errorf("%s: got %v, want %v", k.value, got, k.want)
		}
	}
}

func FuzzParseChallenges(f *testing.F) {
	f.Add(`Bearer realm="a", error=b, Basic x==`)
	f.Add(`"=,\`)
	f.Fuzz(func(t *testing.T, value string) {
		for _, c := range parseChallenges(value) {
			if c.scheme == "" || c.scheme != strings.ToLower(c.scheme) {
				t.Errorf("the scheme %q", c.scheme)
			}
		}
	})
}

func TestIssuerOf(t *testing.T) {
	for address, want := range map[string]string{
		"https://h/.well-known/oauth-authorization-server":    "https://h",
		"https://h/.well-known/oauth-authorization-server/t1": "https://h/t1",
		"https://h/.well-known/openid-configuration/t1":       "https://h/t1",
		"https://h/t1/.well-known/openid-configuration":       "https://h/t1",
		"https://h:8/.well-known/openid-configuration?x=1":    "https://h:8",
	} {
		if got := issuerOf(address); got != want {
			t.Errorf("%s: got %s, want %s", address, got, want)
		}
	}
}
