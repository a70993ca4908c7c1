package conformance

// fieldCases are faults and false alarms that people reported, under the name
// of the report. Those whose verdict is that nothing is wrong are the reason
// why half of the rules say so little.
func fieldCases() []ruleCase {
	const server = "-LIFECYCLE-CLIENT-CAPABILITIES-RESPECTED "
	return []ruleCase{
		{"helidon-mcp#175: 200 for a notification", "http\nPOST\n" + initializeLine + "200 json Mcp-Session-Id=session-1\n" + initializedLine + "end\nPOST Mcp-Session-Id=session-1 MCP-Protocol-Version=2025-11-25\n-> {\"method\":\"notifications/initialized\"}\n200\nend", "-HTTP-NOTIFICATION-202"},
		{"oramacore#335: 200 and an empty envelope for a notification", "http\nopen 2025-11-25\nPOST\n-> {\"method\":\"notifications/x\"}\nanswer {\"id\":null}", "-HTTP-NOTIFICATION-202 -ENVELOPE-RESULT-OR-ERROR@server -ENVELOPE-NOTIFICATION-UNANSWERED@server"},
		{"conformance#429: DELETE answered with 200", "http\nopen 2025-11-25\nDELETE\n200\nend", "+HTTP-SESSION-DELETED"},
		{"conformance#429: DELETE answered with 204", "http\nopen 2025-11-25\nDELETE\n204\nend", "+HTTP-SESSION-DELETED"},
		{"conformance#429: DELETE answered with 405", "http\nopen 2025-11-25\nDELETE\n405\nend\nPOST\n-> {\"id\":1,\"method\":\"ping\"}\nanswer {\"id\":1,\"result\":{}}", "!HTTP-SESSION-ENDED-404"},
		{"webtrees-API#27: GET answered with a JSON error", "http\nopen 2025-11-25\nGET\n200 json\n<- {\"error\":{\"code\":-32601,\"message\":\"no method\"}}\nend", "-HTTP-GET-STREAM-OR-405"},
		{"mcp-remote#136: one 405 for each connection", "http\nopen 2025-11-25\nGET\n405\nend\nPOST\n-> {\"id\":1,\"method\":\"ping\"}\nanswer {\"id\":1,\"result\":{}}", "+HTTP-GET-STREAM-OR-405"},
		{"typescript-sdk#1635: GET answered with 406", "http\nopen 2025-11-25\nGET\n406\nend", "-HTTP-GET-STREAM-OR-405"},
		{"python-sdk#2349: the client's Accept is at fault, not the 406", "http\nopen 2025-11-25\nPOST Accept=text/event-stream\n-> {\"id\":1,\"method\":\"ping\"}\n406\nend", "-HTTP-POST-ACCEPT"},
		{"go-sdk#198: no version header, and served", "http\nopen 2025-06-18\nPOST -MCP-Protocol-Version\n-> {\"id\":1,\"method\":\"ping\"}\nanswer {\"id\":1,\"result\":{}}", "-HTTP-VERSION-HEADER"},
		{"vercel/ai#14413: the header on initialize is free, the wrong one later is not", "http\nPOST MCP-Protocol-Version=2025-11-25\n" + initializeLine + "200 json\n<- {\"id\":0,\"result\":{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},\"serverInfo\":{\"name\":\"s\",\"version\":\"1\"}}}\nend\nPOST MCP-Protocol-Version=2025-11-25\n-> {\"method\":\"notifications/initialized\"}\naccepted", "-HTTP-VERSION-HEADER-NEGOTIATED +HTTP-VERSION-HEADER"},
		{"conformance#312: two things wrong, any error right", "http revision=2026-07-28\nPOST MCP-Protocol-Version=2026-07-28\n-> {\"id\":1,\"method\":\"tools/list\",\"params\":{\"_meta\":{}}}\n400 json\n<- {\"id\":1,\"error\":{\"code\":-32020,\"message\":\"x\"}}\nend", "-HEADER-METHOD -META-REQUIRED -META-CLIENT-INFO +HEADER-MISSING-REJECTED !META-MISSING-REJECTED"},
		{"typescript-sdk#1184: a priming event is no message", "http\nopen 2025-11-25\nPOST\n-> {\"id\":1,\"method\":\"ping\"}\n200 sse\nevent e1\nevent e2 {\"id\":1,\"result\":{}}\nend", "+IDS-RESPONSE-ECHO@server +ENVELOPE-JSONRPC@server"},
		{"conformance#115: no Origin", "http\nopen 2025-11-25", "+HTTP-REQUEST-CONTENT-TYPE"},
		{"conformance#516: an undeclared method answers -32601", "stdio\nopen 2025-11-25 server={\"tools\":{}}\n" + refusing("prompts/list", "{}"), server + "!PROMPTS-LIST-ANSWERED !PROMPTS-DECLARED"},
		{"mcpsnoop: two clients that count alike", "http\nPOST\n-> {\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}}}\n200 json Mcp-Session-Id=session-1\n<- {\"id\":1,\"result\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"serverInfo\":{\"name\":\"s\",\"version\":\"1\"}}}\nend\n" +
			"POST\n-> {\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}}}\n200 json Mcp-Session-Id=session-2\n<- {\"id\":1,\"result\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"serverInfo\":{\"name\":\"s\",\"version\":\"1\"}}}\nend\n" +
			"POST Mcp-Session-Id=session-1 MCP-Protocol-Version=2025-11-25\n-> {\"id\":2,\"method\":\"ping\"}\nanswer {\"id\":2,\"result\":{}}\nPOST Mcp-Session-Id=session-2 MCP-Protocol-Version=2025-11-25\n-> {\"id\":2,\"method\":\"ping\"}\nanswer {\"id\":2,\"result\":{}}", "+IDS-NOT-REUSED@client +HTTP-SESSION-ID-SENT"},
		{"go-sdk#225: a server may answer before it is told that the client is ready", "stdio\n" + initializeLine + initializedLine + "-> {\"id\":1,\"method\":\"ping\"}\n<- {\"id\":1,\"result\":{}}\n-> {\"method\":\"notifications/initialized\"}", "+LIFECYCLE-CLIENT-WAITS +LIFECYCLE-SERVER-WAITS"},
		{"claude-code#59835: never initialized", "stdio\n" + initializeLine + initializedLine + "-> {\"id\":1,\"method\":\"tools/list\"}\n<- {\"id\":1,\"error\":{\"code\":-32600,\"message\":\"expected initialized\"}}", "-LIFECYCLE-INITIALIZED-SENT " + server},
		{"java-sdk#130: a server that says nothing to a cancellation", "stdio\nopen 2025-11-25\n-> {\"id\":5,\"method\":\"x/y\"}\n-> {\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":5}}", "+CANCEL-OWN-REQUEST@client"},
		{"fastmcp#3446: setLevel to a server without logging", "stdio\nopen 2025-11-25 server={\"tools\":{}}\n" + refusing("logging/setLevel", `{"level":"info"}`), server + "!LOGGING-SET-LEVEL"},
		{"inspector#610: log messages before any level was set", "stdio\nopen 2025-11-25 server={\"logging\":{}}\n<- {\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":\"hi\"}}", "+LOGGING-DECLARED !LOGGING-LEVEL-RESPECTED"},
		{"python-sdk#2546: Content-Length is no framing of stdio", "stdio\n->! Content-Length: 157\n" + initializeLine, "-STDIO-STDIN-MESSAGES-ONLY"},
		{"xiaohongshu-mcp#677: an input schema without properties", toolsOf("2025-06-18", `{"name":"status","inputSchema":{"type":"object"}}`), "+TOOLS-INPUT-SCHEMA"},
		{"typescript-sdk#1943: structured content of an error result", toolsOf("2025-06-18", `{"name":"t","inputSchema":{"type":"object"},"outputSchema":{"type":"object","required":["items"]}}`) + calling(`{"content":[{"type":"text","text":"nf"}],"structuredContent":{"err":"NF"},"isError":true}`), "!TOOLS-STRUCTURED-CONFORMS !TOOLS-STRUCTURED-PRESENT !TOOLS-STRUCTURED-TEXT"},
		{"langchain#40186: a blob without mimeType", toolsOf("2025-06-18", `{"name":"t","inputSchema":{"type":"object"}}`) + calling(`{"content":[{"type":"resource","resource":{"uri":"file:///b","blob":"AAAA"}}]}`), "-TOOLS-EMBEDDED-RESOURCES +SCHEMA-RESULT@server"},
		{"llxprt-code#1902: the dialect named", toolsOf("2025-06-18", `{"name":"t","inputSchema":{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object"}}`), "+TOOLS-INPUT-SCHEMA"},
		{"rootly-mcp-server#82: an array without items", toolsOf("2025-11-25", `{"name":"t","inputSchema":{"type":"object","properties":{"ids":{"type":"array"}}}}`), "+TOOLS-INPUT-SCHEMA"},
		{"gemini-cli#9574: properties with a reference or nothing", toolsOf("2025-11-25", `{"name":"t","inputSchema":{"type":"object","$defs":{"K":{"type":"string","enum":["a"]}},"properties":{"k":{"$ref":"#/$defs/K"},"any":{}}}}`), "+TOOLS-INPUT-SCHEMA"},
		{"claude-code#88049: one bad tool is one finding", toolsOf("2025-11-25", `{"name":"ok","inputSchema":{"type":"object"}}`, `{"name":"bad","inputSchema":{"anyOf":[{"type":"object"},{"type":"object"}]}}`), "-TOOLS-INPUT-SCHEMA"},
		{"open-liberty#33746: an output schema for an array", toolsOf("2025-06-18", `{"name":"p","inputSchema":{"type":"object"},"outputSchema":{"type":"array","items":{"type":"object"}}}`), "-TOOLS-OUTPUT-SCHEMA"},
		{"wassette#263: no structured content", toolsOf("2025-06-18", `{"name":"t","inputSchema":{"type":"object"},"outputSchema":{"type":"object","properties":{"n":{"type":"number"}}}}`) + calling(`{"content":[{"type":"text","text":"{\"n\":1}"}]}`), "-TOOLS-STRUCTURED-PRESENT"},
		{"rust-sdk#1283: result and error", "stdio\nopen 2025-11-25\n-> {\"id\":1,\"method\":\"x/y\"}\n<- {\"id\":1,\"result\":{\"content\":[]},\"error\":{\"code\":-32603,\"message\":\"x\"}}", "-ENVELOPE-RESULT-OR-ERROR@server"},
		{"twenty#24559: progress without a token asked for", "stdio\nopen 2025-11-25\n-> {\"id\":4,\"method\":\"ping\"}\n<- {\"method\":\"notifications/progress\",\"params\":{\"progressToken\":\"tool-call-4\",\"progress\":0,\"total\":1}}", "-PROGRESS-TOKEN-ACTIVE@server"},
		{"gitlab-mcp#649: list_changed without capability", "stdio\nopen 2025-11-25 server={\"tools\":{}}\n<- {\"method\":\"notifications/tools/list_changed\"}", "-LIFECYCLE-SERVER-CAPABILITIES-RESPECTED"},
		{"kotlin-sdk#581: null where a member may be absent", "stdio\n-> {\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}}}\n<- {\"id\":0,\"result\":{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},\"serverInfo\":{\"name\":\"s\",\"version\":\"1\"},\"_meta\":null}}", "-SCHEMA-RESULT@server"},
		{"gyazo-mcp-server#129: a data URI for base64", toolsOf("2025-11-25", `{"name":"t","inputSchema":{"type":"object"}}`) + calling(`{"content":[{"type":"image","data":"data:image/png;base64,iVBORw0KGgo=","mimeType":"image/png"}]}`), "-SCHEMA-RESULT@server"},
		{"mcp#1504: sampling without maxTokens", "stdio\nopen 2025-11-25 client={\"sampling\":{}}\n<- {\"id\":1,\"method\":\"sampling/createMessage\",\"params\":{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":\"x\"}}]}}", "-SAMPLING-MAX-TOKENS"},
	}
}
