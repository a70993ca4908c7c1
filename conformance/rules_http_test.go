package conformance

import "strings"

func httpCases() []ruleCase {
	ping := "-> {\"id\":1,\"method\":\"ping\"}\n"
	pong := "answer {\"id\":1,\"result\":{}}\n"
	note := "-> {\"method\":\"notifications/x\"}\n"
	return []ruleCase{
		{"a whole session", "http\nopen 2025-11-25\nPOST\n" + ping + pong + "GET\n405\nend\nDELETE\n200\nend",
			"+HTTP-POST-ACCEPT +HTTP-GET-ACCEPT +HTTP-POST-EACH +HTTP-NOTIFICATION-202 +HTTP-REQUEST-CONTENT-TYPE +HTTP-GET-STREAM-OR-405 " +
				"+HTTP-SESSION-ID-CHARACTERS +HTTP-SESSION-ID-SENT +HTTP-SESSION-DELETED +HTTP-VERSION-HEADER +HTTP-VERSION-HEADER-NEGOTIATED"},
		{"only JSON accepted", "http\nopen 2025-11-25\nPOST Accept=application/json\n" + ping + pong, "-HTTP-POST-ACCEPT"},
		{"Accept in another order and case", "http\nopen 2025-11-25\nPOST Accept=Text/Event-Stream;q=0.5,application/json\n" + ping + pong, "+HTTP-POST-ACCEPT"},
		{"everything accepted", "http\nPOST Accept=*/*\n" + initializeLine + "200 json\n" + initializedLine + "end", "?HTTP-POST-ACCEPT"},
		{"a GET that accepts JSON", "http\nopen 2025-11-25\nGET Accept=application/json\n406\nend", "-HTTP-GET-ACCEPT !HTTP-GET-STREAM-OR-405"},
		{"a message in a GET", "http\nopen 2025-11-25\nGET\n" + ping, "-HTTP-POST-EACH"},
		{"a notification answered with 200", "http\nopen 2025-11-25\nPOST\n" + note + "200\nend", "-HTTP-NOTIFICATION-202"},
		{"a notification answered with 202 and a body", "http\nopen 2025-11-25\nPOST\n" + note + "202 json\n<-! null\nend", "-HTTP-NOTIFICATION-202"},
		{"a notification met by a gateway", "http\nopen 2025-11-25\nPOST\n" + note + "503\nend", "!HTTP-REFUSED-STATUS"},
		{"a response answered with 202", "http\nopen 2025-11-25 client={\"roots\":{}}\nGET@g\n200 sse\n<- {\"id\":1,\"method\":\"roots/list\"}\nPOST\n-> {\"id\":1,\"result\":{\"roots\":[]}}\naccepted", "+HTTP-NOTIFICATION-202 +HTTP-GET-NO-RESPONSE +IDS-RESPONSE-ECHO@client +ROOTS-DECLARED"},
		{"a request answered with HTML", "http\nopen 2025-11-25\nPOST\n" + ping + "200 text/html\n<-! <html>", "-HTTP-REQUEST-CONTENT-TYPE"},
		{"a request met by a gateway", "http\nopen 2025-11-25\nPOST\n" + ping + "502 text/html\n<-! <html>\nend", "+HTTP-REQUEST-CONTENT-TYPE"},
		{"a GET answered with JSON", "http\nopen 2025-11-25\nGET\n200 json\n<- {\"id\":0,\"error\":{\"code\":-32601,\"message\":\"x\"}}\nend", "-HTTP-GET-STREAM-OR-405 -IDS-RESPONSE-ECHO@server"},
		{"a GET answered with 404", "http\nopen 2025-11-25\nGET\n404\nend", "-HTTP-GET-STREAM-OR-405"},
		{"a GET without the session id refused", "http\nopen 2025-11-25\nGET -Mcp-Session-Id\n400\nend", "!HTTP-GET-STREAM-OR-405 -HTTP-SESSION-ID-SENT"},
		{"a second GET refused", "http\nopen 2025-11-25\nGET@a\n200 sse\nGET@b\n409\nend", "+HTTP-GET-STREAM-OR-405"},
		{"a response on the stream of a GET", "http\nopen 2025-11-25\nGET@g\n200 sse\nPOST@p\n" + ping + "@g\n<- {\"id\":1,\"result\":{}}", "-HTTP-GET-NO-RESPONSE"},
		{"a stream without response", "http\nopen 2025-11-25\nPOST\n" + ping + "200 sse\nend", "-HTTP-STREAM-HOLDS-RESPONSE"},
		{"a stream that can be resumed", "http\nopen 2025-11-25\nPOST\n" + ping + "200 sse\nevent e1\nend", "!HTTP-STREAM-HOLDS-RESPONSE"},
		{"a stream with response", "http\nopen 2025-11-25\nPOST\n" + ping + "200 sse\nevent e1\nevent e2 {\"id\":1,\"result\":{}}\nend", "+HTTP-STREAM-HOLDS-RESPONSE +HTTP-STREAM-ENDS +HTTP-EVENT-IDS-UNIQUE +IDS-RESPONSE-ECHO@server"},
		{"a server that cancels a subscription and says so on its stream", "http\nPOST\n" + `-> {"id":1,"method":"subscriptions/listen","params":{"notifications":{},$meta}}` + "\n200 sse\n" +
			`<- {"method":"notifications/subscriptions/acknowledged","params":{"notifications":{},"_meta":{"io.modelcontextprotocol/subscriptionId":1}}}` + "\n" +
			`<- {"method":"notifications/cancelled","params":{"requestId":1,"_meta":{"io.modelcontextprotocol/subscriptionId":1}}}` + "\nend", "!HTTP-STREAM-ENDS"},
		{"a stream that goes on", "http\nopen 2025-11-25\nPOST\n" + ping + "200 sse\n<- {\"id\":1,\"result\":{}}\n<- {\"method\":\"notifications/x\"}", "-HTTP-STREAM-ENDS"},
		{"a cancellation that crosses the answer to initialize", "http\nPOST\n" + initializeLine + "200 json Mcp-Session-Id=session-1\n" + initializedLine + "end\n" +
			`POST -Mcp-Session-Id -MCP-Protocol-Version
			-> {"method":"notifications/cancelled","params":{"requestId":0}}
			accepted`, "!HTTP-SESSION-ID-SENT !HTTP-VERSION-HEADER"},
		{"a session id with a space", "http\nPOST\n" + initializeLine + "200 json Mcp-Session-Id=session-\u00e9\n" + initializedLine + "end", "-HTTP-SESSION-ID-CHARACTERS"},
		{"a session id that can be guessed", "http\nPOST\n" + initializeLine + "200 json Mcp-Session-Id=1\n" + initializedLine + "end", "-HTTP-SESSION-ID-UNIQUE +HTTP-SESSION-ID-CHARACTERS"},
		{"a session id given twice", "http\nopen 2025-11-25\nPOST -Mcp-Session-Id -MCP-Protocol-Version\n" + initializeLine + "200 json Mcp-Session-Id=session-1\n" + initializedLine + "end", "-HTTP-SESSION-ID-UNIQUE"},
		{"session ids that a recorder has cut", "http\nPOST\n" + initializeLine + "200 json Mcp-Session-Id=****\n" + initializedLine + "end", "!HTTP-SESSION-ID-UNIQUE"},
		{"the session id forgotten", "http\nopen 2025-11-25\nPOST -Mcp-Session-Id\n" + ping + "400\nend", "-HTTP-SESSION-ID-SENT"},
		{"a session that has ended", "http\nopen 2025-11-25\nDELETE\n204\nend\nPOST\n" + ping + "404\nend", "+HTTP-SESSION-ENDED-404 +HTTP-SESSION-DELETED"},
		{"a session that lives on", "http\nopen 2025-11-25\nDELETE\n200\nend\nPOST\n" + ping + pong, "-HTTP-SESSION-ENDED-404"},
		{"a session id that the capture did not see given", "http lacks=start revision=2025-11-25\nPOST Mcp-Session-Id=old MCP-Protocol-Version=2025-11-25\n" + ping + "400\nend", "!HTTP-SESSION-ENDED-404 !HTTP-SESSION-ID-SENT"},
		{"no version header", "http\nopen 2025-06-18\nPOST -MCP-Protocol-Version\n" + ping + pong, "-HTTP-VERSION-HEADER"},
		{"no version header where there is none", "http\nopen 2025-03-26\nPOST\n" + ping + pong, "!HTTP-VERSION-HEADER"},
		{"another version in the header", "http\nopen 2025-06-18\nPOST MCP-Protocol-Version=2025-11-25\n" + ping + pong, "-HTTP-VERSION-HEADER-NEGOTIATED +HTTP-VERSION-HEADER"},
		{"one event id twice", "http\nopen 2025-11-25\nPOST\n" + ping + "200 sse\nevent e1\nevent e1 {\"id\":1,\"result\":{}}\nend", "-HTTP-EVENT-IDS-UNIQUE"},
		{"one request on two streams", "http\nopen 2025-11-25 client={\"roots\":{}}\nGET@a\n200 sse\nGET@b\n200 sse\n@a\n<- {\"id\":1,\"method\":\"roots/list\"}\n@b\n<- {\"id\":1,\"method\":\"roots/list\"}", "-HTTP-NO-BROADCAST !IDS-NOT-IN-FLIGHT"},
		{"one request on one of two streams", "http\nopen 2025-11-25 client={\"roots\":{}}\nGET@a\n200 sse\nGET@b\n200 sse\n@a\n<- {\"id\":1,\"method\":\"roots/list\"}", "+HTTP-NO-BROADCAST"},
		{"HTTP+SSE begins with its endpoint", "sse\nGET@g\n200 sse\n@g\nendpoint /messages?session=1\nopen 2024-11-05", "+SSE-ENDPOINT-FIRST +SSE-POST-TO-ENDPOINT +SSE-ENDPOINTS"},
		{"HTTP+SSE begins otherwise", "sse\nGET@g\n200 sse\n@g\nevent 1 {\"method\":\"notifications/x\"}", "-SSE-ENDPOINT-FIRST"},
		{"a capture without heads", "http lacks=headers revision=2025-11-25\nPOST -Accept\n" + ping + "200\n<- {\"id\":1,\"result\":{}}\nend", "!HTTP-POST-ACCEPT !HTTP-REQUEST-CONTENT-TYPE"},
	}
}

func statelessCases() []ruleCase {
	list := "<- {\"id\":1,\"result\":{\"tools\":[],$ok,$hints}}\n"
	ask := "-> {\"id\":1,\"method\":\"tools/list\",\"params\":{$meta}}\n"
	bare := "-> {\"id\":1,\"method\":\"tools/list\",\"params\":{}}\n"
	version := func(v string) string {
		return `-> {"id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"` + v + `","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}` + "\n"
	}
	discover := func(result string) string {
		return "-> {\"id\":1,\"method\":\"server/discover\",\"params\":{$meta}}\n<- {\"id\":1,\"result\":" + result + "}\n"
	}
	lacking := `<- {"id":1,"error":{"code":-32021,"message":"x","data":{"requiredCapabilities":{"elicitation":{"form":{}}}}}}`
	refused := `<- {"id":1,"error":{"code":-32022,"message":"x","data":{"supported":["2026-07-28"],"requested":"2099-01-01"}}}`
	extended := discover(`{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{},"extensions":{"io.modelcontextprotocol/tasks":{}}},$ok,$hints}`)
	again := func(kind string) string {
		return "-> {\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"t\",$meta}}\n<- {\"id\":2,\"result\":{" + kind + `"content":[],"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}}}`
	}
	return []ruleCase{
		{"as it should be", "stdio\n" + ask + list, "+META-REQUIRED +META-CLIENT-INFO +META-SERVER-INFO +RESULT-TYPE +RESULT-TYPE-KNOWN +SERVER-NO-REQUESTS +CLIENT-NO-RESPONSES +CACHE-HINTS +CACHE-TTL"},
		{"no metadata", "stdio revision=2026-07-28\n" + bare + "<- {\"id\":1,\"error\":{\"code\":-32602,\"message\":\"x\"}}", "-META-REQUIRED -META-CLIENT-INFO +META-MISSING-REJECTED"},
		{"no metadata and a result", "stdio revision=2026-07-28\n" + bare + list, "-META-REQUIRED -META-CLIENT-INFO -META-MISSING-REJECTED"},
		{"no metadata over HTTP", "http revision=2026-07-28\nPOST MCP-Protocol-Version=2026-07-28 Mcp-Method=tools/list\n" + bare + "400 json\n<- {\"id\":1,\"error\":{\"code\":-32602,\"message\":\"x\"}}\nend", "-META-REQUIRED -META-CLIENT-INFO +META-MISSING-REJECTED +META-MISSING-400"},
		{"no metadata over HTTP and another status", "http revision=2026-07-28\nPOST MCP-Protocol-Version=2026-07-28 Mcp-Method=tools/list\n" + bare + "answer {\"id\":1,\"error\":{\"code\":-32602,\"message\":\"x\"}}", "-META-REQUIRED -META-CLIENT-INFO +META-MISSING-REJECTED -META-MISSING-400"},
		{"nobody says who they are", "stdio\n" + `-> {"id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}` + "\n<- {\"id\":1,\"result\":{\"tools\":[],\"resultType\":\"complete\",$hints}}", "-META-CLIENT-INFO -META-SERVER-INFO"},
		{"trace context", "stdio\n" + `-> {"id":1,"method":"tools/list","params":{"_meta":{"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01","io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}` + "\n" + `<- {"method":"notifications/x","params":{"_meta":{"traceparent":"none"}}}`, "+META-TRACE-CONTEXT@client -META-TRACE-CONTEXT@server"},
		{"an unsupported version refused", "stdio\n" + version("2099-01-01") + `<- {"id":1,"error":{"code":-32022,"message":"x","data":{"supported":["2026-07-28"],"requested":"2099-01-01"}}}`, "+VERSION-UNSUPPORTED"},
		{"an unsupported version refused without a list", "stdio\n" + version("2099-01-01") + `<- {"id":1,"error":{"code":-32022,"message":"x","data":{"supported":[],"requested":"2099-01-01"}}}`, "-VERSION-UNSUPPORTED"},
		{"an unsupported version served", "stdio\n" + version("2099-01-01") + list, "-VERSION-UNSUPPORTED"},
		{"an unsupported version in a discovery", "stdio\n" + strings.Replace(version("2099-01-01"), "tools/list", "server/discover", 1) + `<- {"id":1,"result":{"supportedVersions":["2026-07-28"],"capabilities":{},$ok,$hints}}`, "!VERSION-UNSUPPORTED !DISCOVER-VERSIONS +DISCOVER-IMPLEMENTED"},
		{"an unsupported version over HTTP", "http\nPOST\n" + version("2099-01-01") + "400 json\n" + `<- {"id":1,"error":{"code":-32022,"message":"x","data":{"supported":["2026-07-28"],"requested":"2099-01-01"}}}` + "\nend", "+VERSION-UNSUPPORTED +VERSION-UNSUPPORTED-400"},
		{"an unsupported version over HTTP with another status", "http\nPOST\n" + version("2099-01-01") + "answer " + `{"id":1,"error":{"code":-32022,"message":"x","data":{"supported":["2026-07-28"],"requested":"2099-01-01"}}}`, "+VERSION-UNSUPPORTED -VERSION-UNSUPPORTED-400"},
		{"a missing capability", "stdio\n" + ask + `<- {"id":1,"error":{"code":-32021,"message":"x","data":{"requiredCapabilities":{"elicitation":{"form":{}}}}}}`, "+CAPABILITY-MISSING"},
		{"a missing capability without its name", "stdio\n" + ask + `<- {"id":1,"error":{"code":-32021,"message":"x","data":{"requiredCapabilities":{}}}}`, "-CAPABILITY-MISSING"},
		{"a missing capability over HTTP", "http\nPOST\n" + ask + "400 json\n" + lacking + "\nend", "+CAPABILITY-MISSING +CAPABILITY-MISSING-400"},
		{"a missing capability over HTTP and another status", "http\nPOST\n" + ask + "200 json\n" + lacking + "\nend", "+CAPABILITY-MISSING -CAPABILITY-MISSING-400"},
		{"extensions well named", "stdio\n" + discover(`{"supportedVersions":["2026-07-28"],"capabilities":{"extensions":{"com.example/x":{}}},$ok,$hints}`), "+EXTENSION-ID@server"},
		{"an extension without prefix", "stdio\n" + discover(`{"supportedVersions":["2026-07-28"],"capabilities":{"extensions":{"x":{}}},$ok,$hints}`), "-EXTENSION-ID@server -SCHEMA-RESULT"},
		{"an extension of the client without prefix", "stdio\n" + strings.Replace(version("2026-07-28"), `Capabilities":{}`, `Capabilities":{"extensions":{"x":{}}}`, 1) + list, "-EXTENSION-ID@client -SCHEMA-REQUEST"},
		{"an extension of the server alone", "stdio\n" + extended + again(`"resultType":"complete",`), "+EXTENSION-FALLBACK"},
		{"an extension of the server alone, used", "stdio\n" + extended + again(`"resultType":"task",`), "-EXTENSION-FALLBACK -RESULT-TYPE-KNOWN -SCHEMA-RESULT"},
		{"a refused version, and one of those offered", "stdio\n" + version("2099-01-01") + refused + "\n" + strings.Replace(ask, `"id":1`, `"id":2`, 1), "+VERSION-RETRY-SUPPORTED +VERSION-UNSUPPORTED"},
		{"a refused version, and the same again", "stdio\n" + version("2099-01-01") + refused + "\n" + strings.Replace(version("2099-01-01"), `"id":1`, `"id":2`, 1), "-VERSION-RETRY-SUPPORTED"},
		{"a refused version, and something else that was under way", "stdio\n" + version("2099-01-01") + refused + "\n" + strings.NewReplacer(`"id":1`, `"id":2`, "tools/list", "prompts/list").Replace(version("2099-01-01")), "!VERSION-RETRY-SUPPORTED"},
		{"no result type", "stdio\n" + ask + `<- {"id":1,"result":{"tools":[],"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}},$hints}}`, "-RESULT-TYPE"},
		{"an unknown result type", "stdio\n" + ask + `<- {"id":1,"result":{"tools":[],"resultType":"bogus","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}},$hints}}`, "-RESULT-TYPE-KNOWN +RESULT-TYPE"},
		{"discovery", "stdio\n" + discover(`{"supportedVersions":["2026-07-28"],"capabilities":{},$ok,$hints}`), "+DISCOVER-IMPLEMENTED +DISCOVER-VERSIONS"},
		{"no discovery, in a server that speaks the revision", "stdio\n" + strings.Replace(ask, "tools/list", "server/discover", 1) + "<- {\"id\":1,\"error\":{\"code\":-32601,\"message\":\"x\"}}\n" + strings.ReplaceAll(ask+list, `"id":1`, `"id":2`), "-DISCOVER-IMPLEMENTED"},
		{"discovery without the version used", "stdio\n" + discover(`{"supportedVersions":["2025-11-25"],"capabilities":{},$ok,$hints}`), "-DISCOVER-VERSIONS"},
		{"a request of the server", "stdio\n" + ask + "<- {\"id\":1,\"method\":\"roots/list\"}\n-> {\"id\":1,\"result\":{\"roots\":[]}}", "-SERVER-NO-REQUESTS -CLIENT-NO-RESPONSES"},
		{"both eras on one connection", "stdio\nopen 2025-11-25 client={\"roots\":{}}\n" + ask + list + "<- {\"id\":1,\"method\":\"roots/list\"}\n-> {\"id\":1,\"result\":{\"roots\":[]}}", "+SERVER-NO-REQUESTS +CLIENT-NO-RESPONSES +ROOTS-DECLARED +IDS-NOT-REUSED@client"},
	}
}

func headerCases() []ruleCase {
	ask := "-> {\"id\":1,\"method\":\"tools/list\",\"params\":{$meta}}\n"
	call := "-> {\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"t\u00e9\",$meta}}\n"
	list := "{\"id\":1,\"result\":{\"tools\":[],$ok,$hints}}\n"
	mismatch := "400 json\n<- {\"id\":1,\"error\":{\"code\":-32020,\"message\":\"x\"}}\nend"
	only := "POST\n-> {\"id\":\"d\",\"method\":\"server/discover\",\"params\":{$meta}}\nanswer {\"id\":\"d\",\"result\":{\"supportedVersions\":[\"2026-07-28\"],\"capabilities\":{},$ok,$hints}}\n"
	return []ruleCase{
		{"as it should be", "http\nPOST\n" + ask + "answer " + list, "+HEADER-PROTOCOL-VERSION +HEADER-PROTOCOL-VERSION-MATCHES +HEADER-METHOD +HTTP-NO-SESSION-ID"},
		{"no version header", "http\nPOST -MCP-Protocol-Version\n" + ask + mismatch, "-HEADER-PROTOCOL-VERSION +HEADER-MISSING-REJECTED"},
		{"another version in the header", "http\nPOST MCP-Protocol-Version=2025-11-25\n" + ask + mismatch, "-HEADER-PROTOCOL-VERSION-MATCHES +HEADER-MISMATCH-REJECTED"},
		{"another version in the header let pass", "http\nPOST MCP-Protocol-Version=2025-11-25\n" + ask + "answer " + list, "-HEADER-PROTOCOL-VERSION-MATCHES -HEADER-MISMATCH-REJECTED"},
		{"a missing version header let pass", "http\nPOST -MCP-Protocol-Version\n" + ask + "answer " + list, "-HEADER-PROTOCOL-VERSION !HEADER-MISSING-REJECTED"},
		{"no method header", "http\nPOST -Mcp-Method\n" + ask + "answer " + list, "-HEADER-METHOD -HEADER-MISSING-REJECTED"},
		{"a wrong method header refused with another status", "http\nPOST Mcp-Method=tools/call\n" + ask + "answer {\"id\":1,\"error\":{\"code\":-32020,\"message\":\"x\"}}", "-HEADER-METHOD -HEADER-MISMATCH-REJECTED"},
		{"a name encoded", "http\nPOST Mcp-Name==?base64?dMOp?=\n" + call + "400 json\n<- {\"id\":1,\"error\":{\"code\":-32602,\"message\":\"x\"}}\nend", "+HEADER-NAME !HEADER-MISMATCH-REJECTED"},
		{"a name not encoded right", "http\nPOST Mcp-Name==?base64?###?=\n" + call + mismatch, "-HEADER-NAME +HEADER-MISMATCH-REJECTED"},
		{"a modern error that the client reads", "http\nPOST MCP-Protocol-Version=2025-11-25\n" + ask + mismatch + "\nPOST\n" + strings.Replace(ask, "1", "2", 1) + "answer " + strings.Replace(list, "1", "2", 1), "-HEADER-PROTOCOL-VERSION-MATCHES +HTTP-FALLBACK-INSPECTED"},
		{"a modern error that the client does not read", "http\nPOST MCP-Protocol-Version=2025-11-25\n" + ask + mismatch + "\nPOST\n" + initializeLine + "400\nend", "-HEADER-PROTOCOL-VERSION-MATCHES -HTTP-FALLBACK-INSPECTED"},
		{"a modern error that leaves the handshake only", "http\nPOST\n" + ask + "400 json\n" + `<- {"id":1,"error":{"code":-32022,"message":"x","data":{"supported":["2025-11-25"],"requested":"2026-07-28"}}}` + "\nend\nPOST\n" + initializeLine + "400\nend", "!HTTP-FALLBACK-INSPECTED"},
		{"a modern error and another client", "http\nPOST MCP-Protocol-Version=2025-11-25\n" + ask + mismatch + "\nPOST\n" + strings.Replace(initializeLine, `"name":"c"`, `"name":"d"`, 1) + "400\nend", "-HEADER-PROTOCOL-VERSION-MATCHES !HTTP-FALLBACK-INSPECTED"},
		{"an unknown method", "http\nPOST\n-> {\"id\":1,\"method\":\"x/y\",\"params\":{$meta}}\n404 json\n<- {\"id\":1,\"error\":{\"code\":-32601,\"message\":\"x\"}}\nend", "+HTTP-UNKNOWN-METHOD-404"},
		{"an unknown method with status 200", "http\nPOST\n-> {\"id\":1,\"method\":\"x/y\",\"params\":{$meta}}\nanswer {\"id\":1,\"error\":{\"code\":-32601,\"message\":\"x\"}}", "-HTTP-UNKNOWN-METHOD-404"},
		{"GET to a server of this revision only", "http\n" + only + "GET MCP-Protocol-Version=2026-07-28\n405\nend", "+HTTP-LEGACY-METHODS-405"},
		{"GET answered with 404", "http\n" + only + "GET MCP-Protocol-Version=2026-07-28\n404\nend", "-HTTP-LEGACY-METHODS-405"},
		{"a session id", "http\nPOST\n" + ask + "200 json Mcp-Session-Id=s\n<- " + list + "end", "-HTTP-NO-SESSION-ID"},
		{"progress on its stream", "http\nPOST\n" + `-> {"id":1,"method":"tools/list","params":{"_meta":{"progressToken":5,"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}` + "\n200 sse\n<- {\"method\":\"notifications/progress\",\"params\":{\"progressToken\":5,\"progress\":1}}\n<- " + list + "end", "+HTTP-STREAM-RELATED +HTTP-STREAM-ENDS +PROGRESS-TOKEN-ACTIVE@server"},
		{"something else on its stream", "http\nPOST\n" + ask + "200 sse\n<- {\"method\":\"notifications/tools/list_changed\",\"params\":{}}\n<- " + list + "end", "-HTTP-STREAM-RELATED !LISTEN-SUBSCRIPTION-ID"},
	}
}

func subscriptionCases() []ruleCase {
	listen := func(filter string) string {
		return "-> {\"id\":1,\"method\":\"subscriptions/listen\",\"params\":{\"notifications\":" + filter + ",$meta}}\n"
	}
	ack := "<- {\"method\":\"notifications/subscriptions/acknowledged\",\"params\":{\"notifications\":{\"toolsListChanged\":true},\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":1}}}\n"
	changed := "<- {\"method\":\"notifications/tools/list_changed\",\"params\":{\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":1}}}\n"
	read := func(members string) string {
		return "-> {\"id\":2,\"method\":\"tools/list\",\"params\":{$meta}}\n<- {\"id\":2,\"result\":{\"tools\":[],$ok" + members + "}}\n"
	}
	return []ruleCase{
		{"as it should be", "stdio\n" + listen(`{"toolsListChanged":true}`) + ack + changed, "+LISTEN-ACKNOWLEDGED-FIRST +LISTEN-ONLY-REQUESTED +LISTEN-SUBSCRIPTION-ID"},
		{"not acknowledged", "stdio\n" + listen(`{"toolsListChanged":true}`) + changed, "-LISTEN-ACKNOWLEDGED-FIRST"},
		{"not asked for", "stdio\n" + listen(`{"promptsListChanged":true}`) + ack + changed, "-LISTEN-ONLY-REQUESTED"},
		{"without id", "stdio\n" + listen(`{"toolsListChanged":true}`) + ack + "<- {\"method\":\"notifications/tools/list_changed\",\"params\":{}}", "-LISTEN-SUBSCRIPTION-ID"},
		{"a part of a resource", "stdio\n" + listen(`{"resourceSubscriptions":["file:///a"]}`) + ack + "<- {\"method\":\"notifications/resources/updated\",\"params\":{\"uri\":\"file:///a/b\",\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":1}}}", "+LISTEN-ONLY-REQUESTED"},
		{"an id of another JSON type", "stdio\n" + listen(`{"toolsListChanged":true}`) + "<- {\"method\":\"notifications/subscriptions/acknowledged\",\"params\":{\"notifications\":{},\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":\"1\"}}}", "+LISTEN-ACKNOWLEDGED-FIRST"},
		{"no caching hints", "stdio\n" + read(""), "-CACHE-HINTS"},
		{"a negative time", "stdio\n" + read(`,"ttlMs":-1,"cacheScope":"public"`), "-CACHE-TTL +CACHE-HINTS"},
		{"a log message that nobody asked for", "stdio\n-> {\"id\":1,\"method\":\"tools/list\",\"params\":{$meta}}\n<- {\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":1}}", "-LOG-LEVEL-REQUESTED ?LOGGING-DECLARED"},
		{"a log message that was asked for", "stdio\n" + `-> {"id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/logLevel":"info","io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}` + "\n<- {\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":1}}", "+LOG-LEVEL-REQUESTED"},
	}
}

func inputCases() []ruleCase {
	const caps = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}`
	ask := func(method, params string) string {
		return "-> {\"id\":1,\"method\":\"" + method + "\",\"params\":{" + params + caps + "}}\n"
	}
	result := func(members string) string {
		return "<- {\"id\":1,\"result\":{\"resultType\":\"input_required\",\"_meta\":{\"io.modelcontextprotocol/serverInfo\":{\"name\":\"s\",\"version\":\"1\"}}" + members + "}}\n"
	}
	const elicit = `,"inputRequests":{"a":{"method":"elicitation/create","params":{"message":"x","requestedSchema":{"type":"object","properties":{}}}}}`
	retry := func(id, members string) string {
		return "-> {\"id\":" + id + ",\"method\":\"tools/call\",\"params\":{\"name\":\"t\"," + members + caps + "}}\n"
	}
	const answers = `"inputResponses":{"a":{"action":"decline"}},`
	call := "stdio\n" + ask("tools/call", `"name":"t",`)
	return []ruleCase{
		{"asked and answered", call + result(elicit+`,"requestState":"z"`) + retry("2", answers+`"requestState":"z",`),
			"+INPUT-REQUIRED-METHODS +INPUT-REQUIRED-CONTENT +INPUT-REQUIRED-KINDS +INPUT-REQUIRED-DECLARED +INPUT-RESPONSES-STATE +INPUT-RETRY-NEW-ID +ELICITATION-MODE-DECLARED"},
		{"where it may not stand", "stdio\n" + ask("tools/list", "") + result(elicit), "-INPUT-REQUIRED-METHODS"},
		{"nothing asked", call + result(""), "-INPUT-REQUIRED-CONTENT"},
		{"something else asked", call + result(`,"inputRequests":{"a":{"method":"ping"}}`), "-INPUT-REQUIRED-KINDS"},
		{"sampling not declared", call + result(`,"inputRequests":{"a":{"method":"sampling/createMessage","params":{"messages":[{"role":"user","content":{"type":"text","text":"x"}}],"maxTokens":5}}}`), "-INPUT-REQUIRED-DECLARED +SAMPLING-MAX-TOKENS"},
		{"the state forgotten", call + result(elicit+`,"requestState":"z"`) + retry("2", answers), "-INPUT-RESPONSES-STATE"},
		{"the state changed", call + result(elicit+`,"requestState":"z"`) + retry("2", answers+`"requestState":"y",`), "-INPUT-RESPONSES-STATE"},
		{"a key twice", call + result(strings.Replace(elicit, `"inputRequests":{`, `"inputRequests":{"a":{"method":"elicitation/create","params":{"message":"y","requestedSchema":{"type":"object","properties":{}}}},`, 1)), "-INPUT-KEYS-UNIQUE"},
		{"an answer missing", call + result(strings.Replace(elicit, `"inputRequests":{`, `"inputRequests":{"b":{"method":"elicitation/create","params":{"message":"y","requestedSchema":{"type":"object","properties":{}}}},`, 1)) + retry("2", answers), "-INPUT-RESPONSES-COMPLETE +INPUT-KEYS-UNIQUE +INPUT-RESPONSES-OWN +ELICITATION-DECLARED"},
		{"all answers", call + result(elicit) + retry("2", answers), "+INPUT-RESPONSES-COMPLETE +INPUT-RESPONSES-OWN"},
		{"the state of another tool", call + result(elicit+`,"requestState":"z"`) + strings.Replace(retry("2", answers+`"requestState":"z",`), `"name":"t"`, `"name":"u"`, 1), "-INPUT-RESPONSES-OWN !INPUT-RESPONSES-STATE"},
		{"answered by a client that no longer can", call + result(elicit) + strings.Replace(retry("2", answers), `{"elicitation":{}}`, `{}`, 1), "-ELICITATION-DECLARED"},
		{"roots answered by a client without", call + result(`,"inputRequests":{"a":{"method":"roots/list"}}`) + retry("2", `"inputResponses":{"a":{"roots":[]}},`), "-ROOTS-DECLARED -INPUT-REQUIRED-DECLARED"},
		{"the same id again", call + result(elicit) + retry("1", answers), "-INPUT-RETRY-NEW-ID"},
	}
}
