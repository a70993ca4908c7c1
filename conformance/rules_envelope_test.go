package conformance

func envelopeCases() []ruleCase {
	return []ruleCase{
		{"jsonrpc missing", "stdio\nopen 2025-11-25\n=> {\"id\":1,\"method\":\"ping\"}", "-ENVELOPE-JSONRPC@client"},
		{"jsonrpc of another version", "stdio\nopen 2025-11-25\n=> {\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}", "-ENVELOPE-JSONRPC@client"},
		{"JSON that is no message on stdout has one cause", "stdio\nopen 2025-11-25\n<= {\"event\":\"started\"}", "-ENVELOPE-JSONRPC@server -STDIO-STDOUT-MESSAGES-ONLY"},
		{"duplicate keys and big numbers are legal JSON", `stdio
			open 2025-11-25
			-> {"id":9007199254740993,"method":"ping","method":"ping"}
			<- {"id":9007199254740993,"result":{}}`, "+ENVELOPE-JSONRPC@client +IDS-RESPONSE-ECHO@server"},
		{"UTF-8", "stdio\nopen 2025-11-25\n-> {\"id\":1,\"method\":\"ping\",\"params\":{\"x\":\"\xff\"}}", "-ENVELOPE-UTF8@client +ENVELOPE-UTF8@server"},
		{"the first revision says nothing of UTF-8", "stdio\nopen 2024-11-05\n-> {\"id\":1,\"method\":\"ping\",\"params\":{\"x\":\"\xff\"}}", "!ENVELOPE-UTF8@client"},
		{"bytes written anew prove no encoding", "stdio lacks=bytes\nopen 2025-11-25\n-> {\"id\":1,\"method\":\"ping\"}", "?ENVELOPE-UTF8@client"},
		{"a batch after batches were removed", `stdio
			open 2025-06-18
			=> [{"jsonrpc":"2.0","id":1,"method":"ping"}]
			<- {"id":1,"result":{}}`, "-ENVELOPE-SINGLE@client +ENVELOPE-SINGLE@server"},
		{"a batch in the revision that has them", `stdio
			open 2025-03-26
			=> [{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}]
			<= [{"jsonrpc":"2.0","id":1,"result":{}}]`, "!ENVELOPE-SINGLE@client +BATCH-SHAPE@client +BATCH-SHAPE@server +BATCH-NO-INITIALIZE +IDS-RESPONSE-ECHO@server -LIFECYCLE-CLIENT-CAPABILITIES-RESPECTED"},
		{"an empty batch", "stdio\nopen 2025-03-26\n=> []", "-BATCH-SHAPE@client"},
		{"a mixed batch", `stdio
			open 2025-03-26
			-> {"id":1,"method":"ping"}
			<= [{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":7,"method":"ping"}]`, "-BATCH-SHAPE@server"},
		{"initialize in a batch", `stdio
			=> [{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}]
			<- {"id":0,"result":{"protocolVersion":"2025-03-26","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}`, "-BATCH-NO-INITIALIZE"},
		{"result and error", `stdio
			open 2025-11-25
			-> {"id":1,"method":"ping"}
			<- {"id":1,"result":{},"error":{"code":1,"message":"x"}}`, "-ENVELOPE-RESULT-OR-ERROR@server -PING-ANSWERED@server"},
		{"neither result nor error", `stdio
			open 2025-11-25
			-> {"id":1,"method":"ping"}
			<- {"id":1}`, "-ENVELOPE-RESULT-OR-ERROR@server"},
		{"errors of every shape", `stdio
			open 2025-11-25
			-> {"id":1,"method":"a/b"}
			<- {"id":1,"error":{"code":-32601.0,"message":"x"}}
			-> {"id":2,"method":"a/b"}
			<- {"id":2,"error":{"code":"-32601"}}`, "-ENVELOPE-ERROR-CODE@server -ENVELOPE-ERROR-MESSAGE@server +ENVELOPE-RESULT-OR-ERROR@server"},
		{"an integer code as a float is an integer", `stdio
			open 2025-11-25
			-> {"id":1,"method":"a/b"}
			<- {"id":1,"error":{"code":-32601.0,"message":"x"}}`, "+ENVELOPE-ERROR-CODE@server +ENVELOPE-ERROR-MESSAGE@server +SCHEMA-ERROR@server"},
		{"an error that does not fit the definition", `stdio
			open 2025-11-25
			-> {"id":1,"method":"tools/call","params":{"name":"x"}}
			<- {"id":1,"error":{"code":-32042,"message":"x","data":{"elicitations":7}}}`, "-ELICITATION-REQUIRED-ERROR -SCHEMA-ERROR@server -LIFECYCLE-CLIENT-CAPABILITIES-RESPECTED"},
		{"params as an array", "stdio\nopen 2025-11-25\n-> {\"id\":1,\"method\":\"ping\",\"params\":[]}", "-ENVELOPE-PARAMS-OBJECT@client"},
		{"params as null", "stdio\nopen 2025-11-25\n<- {\"method\":\"notifications/x\",\"params\":null}", "-ENVELOPE-PARAMS-OBJECT@server"},
		{"params as an object", "stdio\nopen 2025-11-25\n-> {\"id\":1,\"method\":\"ping\",\"params\":{}}", "+ENVELOPE-PARAMS-OBJECT@client"},
		{"a notification with an id", "stdio\nopen 2025-11-25\n-> {\"id\":null,\"method\":\"notifications/initialized\"}", "-ENVELOPE-NOTIFICATION-NO-ID@client"},
		{"notifications without", "stdio\nopen 2025-11-25", "+ENVELOPE-NOTIFICATION-NO-ID@client +SCHEMA-NOTIFICATION@client +SCHEMA-REQUEST@client"},
		{"an answered notification", `stdio
			open 2025-11-25
			<- {"id":null,"error":{"code":-32601,"message":"no such method"}}`, "-ENVELOPE-NOTIFICATION-UNANSWERED@server"},
		{"an error without id after something unreadable answers that", `stdio
			open 2025-11-25
			->! {"id":
			<- {"id":null,"error":{"code":-32700,"message":"parse error"}}`, "!ENVELOPE-NOTIFICATION-UNANSWERED@server -STDIO-STDIN-MESSAGES-ONLY"},
		{"an error without id answers a request whose id is null", `stdio
			open 2025-11-25
			-> {"id":null,"method":"ping"}
			-> {"method":"notifications/roots/list_changed"}
			<- {"error":{"code":-32600,"message":"an id is a string or an integer"}}`, "!ENVELOPE-NOTIFICATION-UNANSWERED@server -IDS-NOT-NULL@client -LIFECYCLE-CLIENT-CAPABILITIES-RESPECTED"},
		{"an unanswered notification", `stdio
			open 2025-11-25
			-> {"id":1,"method":"ping"}
			<- {"id":1,"result":{}}`, "+ENVELOPE-NOTIFICATION-UNANSWERED@server"},
		{"a notification answered over HTTP", `http
			open 2025-11-25
			POST
			-> {"method":"notifications/roots/list_changed"}
			answer {"id":null,"error":{"code":-32601,"message":"no such method"}}`,
			"-ENVELOPE-NOTIFICATION-UNANSWERED@server -HTTP-NOTIFICATION-202 -HTTP-REFUSED-STATUS -LIFECYCLE-CLIENT-CAPABILITIES-RESPECTED"},
		{"a notification refused over HTTP with an error without id", `http
			open 2025-11-25
			POST
			-> {"method":"notifications/x"}
			400 json
			<- {"error":{"code":-32600,"message":"no"}}
			end`, "+HTTP-REFUSED-STATUS +ENVELOPE-NOTIFICATION-UNANSWERED@server"},
		{"_meta keys", `stdio
			open 2025-06-18
			-> {"id":1,"method":"ping","params":{"_meta":{"com.example/a-b":1,"plain":2,"com.example/":3}}}
			<- {"id":1,"result":{"_meta":{"1com/a":1,"-x":2}}}`,
			"+META-KEY-PREFIX@client +META-KEY-NAME@client -META-KEY-PREFIX@server -META-KEY-NAME@server"},
		{"a domain name as prefix, the right way round", `stdio
			open 2025-11-25
			-> {"id":1,"method":"ping","params":{"_meta":{"example.com/a":1}}}`, "+META-KEY-PREFIX@client -META-KEY-REVERSE-DNS@client"},
		{"a domain name in reverse, and what may be one", `stdio
			open 2025-11-25
			-> {"id":1,"method":"ping","params":{"_meta":{"com.example/a":1}}}
			<- {"id":1,"result":{"_meta":{"vendor/a":1,"vendor.app/b":1,"c":1}}}`, "+META-KEY-REVERSE-DNS@client !META-KEY-REVERSE-DNS@server"},
		{"_meta keys before there was a grammar", `stdio
			open 2025-03-26
			-> {"id":1,"method":"ping","params":{"_meta":{"1com/-a":1}}}`, "!META-KEY-PREFIX@client !META-KEY-NAME@client"},
		{"error codes of 2026-07-28", `stdio
			-> {"id":1,"method":"tools/list","params":{$meta}}
			<- {"id":1,"error":{"code":-32050,"message":"x"}}
			-> {"id":2,"method":"tools/list","params":{$meta}}
			<- {"id":2,"error":{"code":-32002,"message":"x"}}
			-> {"id":3,"method":"tools/list","params":{$meta}}
			<- {"id":3,"error":{"code":-32001,"message":"x"}}`, "-ERROR-RESERVED-CODES -ERROR-RETIRED-CODES -ERROR-APPLICATION-CODES"},
		{"codes that may be sent", `stdio
			-> {"id":1,"method":"tools/list","params":{$meta}}
			<- {"id":1,"error":{"code":-32603,"message":"x"}}
			-> {"id":2,"method":"tools/list","params":{$meta}}
			<- {"id":2,"error":{"code":1001,"message":"x"}}`, "+ERROR-RESERVED-CODES +ERROR-RETIRED-CODES +ERROR-APPLICATION-CODES"},
		{"a request that does not fit", `stdio
			open 2025-11-25 server={"tools":{}}
			-> {"id":1,"method":"tools/call","params":{"name":7}}`, "-SCHEMA-REQUEST@client"},
		{"a result that does not fit", `stdio
			open 2025-11-25 server={"tools":{}}
			-> {"id":1,"method":"tools/call","params":{"name":"x"}}
			<- {"id":1,"result":{"toolResult":[]}}`, "-SCHEMA-RESULT@server"},
		{"a notification that does not fit", `stdio
			open 2025-11-25 server={"logging":{}}
			<- {"method":"notifications/message","params":{"level":"LOUD","data":1}}`, "-SCHEMA-NOTIFICATION@server"},
	}
}

func idCases() []ruleCase {
	return []ruleCase{
		{"null", "stdio\nopen 2025-11-25\n-> {\"id\":null,\"method\":\"ping\"}", "-IDS-NOT-NULL@client"},
		{"fraction", "stdio\nopen 2025-11-25\n-> {\"id\":1.5,\"method\":\"ping\"}", "-IDS-STRING-OR-INTEGER@client"},
		{"zero and the empty string are ids", `stdio
			open 2025-11-25
			-> {"id":0,"method":"ping"}
			<- {"id":0,"result":{}}
			-> {"id":"","method":"ping"}
			<- {"id":"","result":{}}`, "+IDS-NOT-NULL@client +IDS-STRING-OR-INTEGER@client +IDS-RESPONSE-ECHO@server +IDS-NOT-REUSED@client"},
		{"used again", `stdio
			open 2025-11-25
			-> {"id":1,"method":"ping"}
			<- {"id":1,"result":{}}
			-> {"id":1,"method":"ping"}
			<- {"id":1,"result":{}}`, "-IDS-NOT-REUSED@client +IDS-RESPONSE-ECHO@server"},
		{"both sides count for themselves", `stdio
			open 2025-11-25
			-> {"id":1,"method":"ping"}
			<- {"id":1,"method":"ping"}
			-> {"id":1,"result":{}}
			<- {"id":1,"result":{}}`, "+IDS-NOT-REUSED@client +IDS-NOT-REUSED@server +IDS-RESPONSE-ECHO@client +IDS-RESPONSE-ECHO@server"},
		{"1 and \"1\" are two ids", `stdio
			open 2025-11-25
			-> {"id":1,"method":"ping"}
			-> {"id":"1","method":"ping"}
			<- {"id":"1","result":{}}
			<- {"id":1,"result":{}}`, "+IDS-NOT-REUSED@client +IDS-RESPONSE-ECHO@server"},
		{"in flight in 2026-07-28", `stdio
			-> {"id":1,"method":"tools/list","params":{$meta}}
			-> {"id":1,"method":"tools/list","params":{$meta}}`, "-IDS-NOT-IN-FLIGHT"},
		{"again after the answer in 2026-07-28", `stdio
			-> {"id":1,"method":"server/discover","params":{$meta}}
			<- {"id":1,"result":{"supportedVersions":["2026-07-28"],"capabilities":{},$ok,$hints}}
			-> {"id":1,"method":"server/discover","params":{$meta}}
			<- {"id":1,"result":{"supportedVersions":["2026-07-28"],"capabilities":{},$ok,$hints}}`, "+IDS-NOT-IN-FLIGHT +IDS-ANSWERED-ONCE"},
		{"answered with another type", `stdio
			open 2025-11-25
			-> {"id":1,"method":"ping"}
			<- {"id":"1","result":{}}`, "-IDS-RESPONSE-ECHO@server"},
		{"answered with an unknown id", "stdio\nopen 2025-11-25\n<- {\"id\":77,\"result\":{}}", "-IDS-RESPONSE-ECHO@server"},
		{"answered with an unknown id in mid-session", "stdio lacks=start revision=2025-11-25\n<- {\"id\":77,\"result\":{}}", "?IDS-RESPONSE-ECHO@server"},
		{"answered with an unknown id where the order is not known", "stdio lacks=order revision=2025-11-25\n<- {\"id\":77,\"result\":{}}", "?IDS-RESPONSE-ECHO@server"},
		{"exact beyond 2^53", `stdio
			open 2025-11-25
			-> {"id":9007199254740993,"method":"ping"}
			<- {"id":9007199254740992,"result":{}}`, "-IDS-RESPONSE-ECHO@server"},
		{"answered twice", `stdio
			open 2025-11-25
			-> {"id":1,"method":"ping"}
			<- {"id":1,"result":{}}
			<- {"id":1,"result":{}}`, "-IDS-ANSWERED-ONCE@server"},
		{"asked twice under one id, answered twice", `stdio
			open 2025-11-25
			-> {"id":1,"method":"ping"}
			-> {"id":1,"method":"ping"}
			<- {"id":1,"result":{}}
			<- {"id":1,"result":{}}`, "-IDS-NOT-REUSED@client +IDS-ANSWERED-ONCE@server"},
		{"asked twice under one id in flight, answered twice", `stdio
			-> {"id":1,"method":"server/discover","params":{$meta}}
			-> {"id":1,"method":"server/discover","params":{$meta}}
			<- {"id":1,"result":{"supportedVersions":["2026-07-28"],"capabilities":{},$ok,$hints}}
			<- {"id":1,"result":{"supportedVersions":["2026-07-28"],"capabilities":{},$ok,$hints}}`, "-IDS-NOT-IN-FLIGHT@client +IDS-ANSWERED-ONCE@server"},
		{"a refused request may be sent again as it was", `http
			open 2025-11-25
			POST
			-> {"id":1,"method":"ping"}
			401
			end
			POST Authorization=Bearer
			-> {"id":1,"method":"ping"}
			answer {"id":1,"result":{}}`, "+IDS-NOT-REUSED@client +IDS-RESPONSE-ECHO@server +REQUEST-ANSWERED@server"},
		{"accepted over HTTP and never answered", `http
			open 2025-11-25
			POST
			-> {"id":1,"method":"ping"}
			200 json
			end`, "-REQUEST-ANSWERED@server"},
		{"an answer that cannot be read follows from its content type", `http
			open 2025-11-25
			POST
			-> {"id":1,"method":"ping"}
			200 text/html
			<-! <html>
			end`, "-HTTP-REQUEST-CONTENT-TYPE -REQUEST-ANSWERED@server"},
		{"an error without the id of a request that was read", `http
			open 2025-11-25
			POST
			-> {"id":1,"method":"ping"}
			answer {"id":null,"error":{"code":-32603,"message":"x"}}`, "-IDS-RESPONSE-ECHO@server -REQUEST-ANSWERED@server"},
		{"a resumed stream repeats a response", `http
			open 2025-11-25
			POST
			-> {"id":1,"method":"ping"}
			200 sse
			event e0
			event e1 {"id":1,"result":{}}
			end client
			GET Last-Event-ID=e0
			200 sse
			event e1 {"id":1,"result":{}}
			end`, "+IDS-ANSWERED-ONCE@server !HTTP-GET-NO-RESPONSE"},
	}
}
