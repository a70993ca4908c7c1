package conformance

import "strings"

// erratumCases are the places where the specification reads two ways or says
// nothing: every reading passes, or no verdict is given.
func erratumCases() []ruleCase {
	ping := "-> {\"id\":1,\"method\":\"ping\"}\n"
	listen := "-> {\"id\":1,\"method\":\"subscriptions/listen\",\"params\":{\"notifications\":{\"toolsListChanged\":true},$meta}}\n" +
		"<- {\"method\":\"notifications/subscriptions/acknowledged\",\"params\":{\"notifications\":{\"toolsListChanged\":true},\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":1}}}\n"
	listened := "<- {\"id\":1,\"result\":{\"resultType\":\"complete\",\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":1,\"io.modelcontextprotocol/serverInfo\":{\"name\":\"s\",\"version\":\"1\"}}}}\n"
	cancelled := "<- {\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}}\n"
	unreadable := func(id string) string {
		return "stdio\nopen 2025-11-25\n->! {\"id\":\n<= {\"jsonrpc\":\"2.0\"," + id + "\"error\":{\"code\":-32700,\"message\":\"parse error\"}}"
	}
	return []ruleCase{
		{"6.1 a subscription ends by its result", "stdio\n" + listen + listened, "+IDS-RESPONSE-ECHO@server"},
		{"6.1 a subscription ends by a cancellation", "stdio\n" + listen + cancelled, "+CANCEL-SERVER-LISTEN-ONLY"},
		{"6.1 a subscription ends by both", "stdio\n" + listen + listened + cancelled, "+CANCEL-SERVER-LISTEN-ONLY"},
		{"6.1 a subscription ends by both the other way round", "stdio\n" + listen + cancelled + listened, "+CANCEL-SERVER-LISTEN-ONLY +IDS-RESPONSE-ECHO@server"},
		{"6.1 a subscription ends with its connection", "http\nPOST\n" + strings.Replace(listen, "<- ", "200 sse\n<- ", 1) + "end", "!REQUEST-ANSWERED +LISTEN-ACKNOWLEDGED-FIRST"},
		{"6.2.1 an error without id for what could not be read", unreadable(""), "-STDIO-STDIN-MESSAGES-ONLY +IDS-RESPONSE-ECHO@server"},
		{"6.2.1 an error with id null for what could not be read", unreadable(`"id":null,`), "-STDIO-STDIN-MESSAGES-ONLY +IDS-RESPONSE-ECHO@server"},
		{"6.2.1 an error with an empty id for what could not be read", unreadable(`"id":"",`), "-STDIO-STDIN-MESSAGES-ONLY +IDS-RESPONSE-ECHO@server"},
		{"6.2.2 silence about what could not be read", "stdio\nopen 2025-11-25\n->! {\"id\":\n" + ping + "<- {\"id\":1,\"result\":{}}", "-STDIO-STDIN-MESSAGES-ONLY +PING-ANSWERED@server"},
		{"6.2.3 an array answered with 400", "http\nopen 2025-11-25\nPOST\n=> [{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]\n400\nend", "-ENVELOPE-SINGLE@client"},
		{"6.2.4 a batch answered line by line", "stdio\nopen 2025-03-26\n=> [{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"},{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}]\n<- {\"id\":2,\"result\":{}}\n<- {\"id\":1,\"result\":{}}", "+IDS-RESPONSE-ECHO@server +IDS-ANSWERED-ONCE@server"},
		{"6.2.6 1.0 answers 1", "stdio\nopen 2025-11-25\n" + ping + "<- {\"id\":1.0,\"result\":{}}", "+IDS-RESPONSE-ECHO@server"},
		{"6.2.11 an error result with structured content that does not fit", toolsOf("2025-11-25", `{"name":"t","inputSchema":{"type":"object"},"outputSchema":{"type":"object","required":["n"]}}`) +
			calling(`{"content":[],"structuredContent":{},"isError":true}`), "!TOOLS-STRUCTURED-CONFORMS"},
		{"6.2.12 a JSON-RPC error with status 400 up to 2025-11-25", "http\nopen 2025-11-25\nPOST\n-> {\"id\":1,\"method\":\"x/y\"}\n400 json\n<- {\"id\":1,\"error\":{\"code\":-32601,\"message\":\"x\"}}\nend", "+IDS-RESPONSE-ECHO@server !HTTP-UNKNOWN-METHOD-404"},
		{"6.3.15 an unsupported version in the header alone", "http\nPOST MCP-Protocol-Version=2099-01-01\n-> {\"id\":1,\"method\":\"tools/list\",\"params\":{$meta}}\n400 json\n" +
			`<- {"id":1,"error":{"code":-32022,"message":"x","data":{"supported":["2025-11-25"],"requested":"2026-07-28"}}}` + "\nend",
			"-HEADER-PROTOCOL-VERSION-MATCHES !HEADER-MISMATCH-REJECTED +VERSION-UNSUPPORTED +VERSION-UNSUPPORTED-400"},
		{"6.3.21 initialize first, then the modern era", "stdio\nopen 2025-11-25\n-> {\"id\":1,\"method\":\"tools/list\",\"params\":{$meta}}\n<- {\"id\":1,\"result\":{\"tools\":[],$ok,$hints}}", "+META-REQUIRED +LIFECYCLE-INITIALIZE-FIRST"},
		{"6.3.22 extensions in initialize", "stdio\nopen 2025-06-18 client={\"extensions\":{\"io.modelcontextprotocol/ui\":{}}}", "+SCHEMA-REQUEST@client"},
		{"6.4.23 the session header in another spelling", "http\nopen 2025-11-25\nPOST -Mcp-Session-Id MCP-SESSION-ID=s1\n" + ping + "answer {\"id\":1,\"result\":{}}", "+HTTP-SESSION-ID-SENT"},
		{"6.4.24 DELETE of an unknown session", "http lacks=start\nDELETE Mcp-Session-Id=gone\n404\nend", "!HTTP-SESSION-ENDED-404"},
		{"6.4.26 a content type with parameters in capitals", "http\nopen 2025-11-25\nPOST\n" + ping + "200 Content-Type=Application/JSON;charset=UTF-8\n<- {\"id\":1,\"result\":{}}\nend", "+HTTP-REQUEST-CONTENT-TYPE +REQUEST-ANSWERED@server"},
		{"6.4.30 a priming event and a retry", "http\nopen 2025-11-25\nPOST\n" + ping + "200 sse\nevent e1\nretry 500\nend\nwait 450\nGET Last-Event-ID=e1\n200 sse\nevent e2 {\"id\":1,\"result\":{}}\nend", "+REQUEST-ANSWERED@server !HTTP-STREAM-HOLDS-RESPONSE !HTTP-GET-NO-RESPONSE"},
		{"6.4.33 blank lines", "stdio\nopen 2025-11-25\n->! \n<-! \n", "+STDIO-STDIN-MESSAGES-ONLY +STDIO-STDOUT-MESSAGES-ONLY"},
		{"6.5.39 annotations within an embedded resource", toolsOf("2025-06-18", `{"name":"t","inputSchema":{"type":"object"}}`) +
			calling(`{"content":[{"type":"resource","resource":{"uri":"a:b","text":"x","annotations":{"priority":1}}}]}`), "-TOOLS-EMBEDDED-RESOURCES +SCHEMA-RESULT@server"},
		{"6.5.58 a log message without data but null", "stdio\nopen 2025-11-25 server={\"logging\":{}}\n<- {\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":null}}", "+SCHEMA-NOTIFICATION@server"},
	}
}
