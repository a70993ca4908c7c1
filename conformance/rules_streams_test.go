package conformance

import "strings"

func streamCases() []ruleCase {
	const (
		ping    = "-> {\"id\":1,\"method\":\"ping\"}\n"
		pong    = "{\"id\":1,\"result\":{}}\n"
		cut     = "http\nopen 2025-11-25\nPOST\n" + ping + "200 sse\nevent a0\nretry 1000\nend\n" // a stream that the server closes early
		call    = "-> {\"id\":1,\"method\":\"ping\",\"params\":{\"_meta\":{\"progressToken\":\"p\"}}}\n"
		other   = "-> {\"id\":2,\"method\":\"ping\",\"params\":{\"_meta\":{\"progressToken\":\"q\"}}}\n"
		told    = "<- {\"method\":\"notifications/progress\",\"params\":{\"progressToken\":\"p\",\"progress\":1}}\n"
		changed = "<- {\"method\":\"notifications/tools/list_changed\"}\n"
		tools   = ` server={"tools":{"listChanged":true}}`
		ask     = "-> {\"id\":1,\"method\":\"tools/list\",\"params\":{$meta}}\n"
		list    = "<- {\"id\":1,\"result\":{\"tools\":[],$ok,$hints}}\n"
	)
	return []ruleCase{
		{"a stream is polled", cut + "wait 1000\nGET Last-Event-ID=a0\n200 sse\nevent a1 " + pong + "end",
			"+HTTP-STREAM-PRIMED +HTTP-RETRY-SENT +HTTP-RETRY-RESPECTED +HTTP-RESUME-LAST-EVENT-ID +HTTP-CLIENT-POLLS +HTTP-NO-FOREIGN-REPLAY +REQUEST-ANSWERED@server"},
		{"a stream is polled a little early", cut + "wait 850\nGET Last-Event-ID=a0", "+HTTP-RETRY-RESPECTED"},
		{"a stream is polled too early", cut + "wait 500\nGET Last-Event-ID=a0\n200 sse\nevent a1 " + pong + "end", "-HTTP-RETRY-RESPECTED"},
		{"a capture without times", strings.Replace(cut, "http", "http lacks=timing", 1) + "GET Last-Event-ID=a0", "!HTTP-RETRY-RESPECTED +HTTP-CLIENT-POLLS"},
		{"a stream that breaks off is resumed at once", "http\nopen 2025-11-25\nPOST\n" + ping + "200 sse\nevent a0\nretry 1000\nend client\nGET Last-Event-ID=a0\n200 sse\nevent a1 " + pong + "end",
			"!HTTP-RETRY-RESPECTED !HTTP-RETRY-SENT !HTTP-CLIENT-POLLS +HTTP-RESUME-LAST-EVENT-ID"},
		{"no retry field before the connection is closed", "http\nopen 2025-11-25\nPOST\n" + ping + "200 sse\nevent a0\nend\nGET Last-Event-ID=a0\n200 sse\nevent a1 " + pong + "end", "-HTTP-RETRY-SENT !HTTP-RETRY-RESPECTED"},
		{"a stream that the server will not resume", cut + "wait 1000\nGET Last-Event-ID=a0\n400\nend", "!HTTP-RETRY-SENT +HTTP-CLIENT-POLLS"},
		{"a stream resumed after an event that never was", cut + "GET Last-Event-ID=z\n400\nend", "-HTTP-RESUME-LAST-EVENT-ID"},
		{"a stream resumed of which the capture has nothing", "http\nopen 2025-11-25\nGET Last-Event-ID=z\n400\nend", "?HTTP-RESUME-LAST-EVENT-ID"},
		{"a stream that begins with a message", "http\nopen 2025-11-25\nPOST\n" + ping + "200 sse\nevent a0 " + pong + "end", "-HTTP-STREAM-PRIMED"},
		{"a stream for a request without a version", "http\nopen 2025-11-25\nPOST -MCP-Protocol-Version\n" + ping + "200 sse\nevent a0 " + pong + "end", "-HTTP-VERSION-HEADER !HTTP-STREAM-PRIMED"},
		{"a stream that begins with a retry field", "http\nopen 2025-11-25\nPOST\n" + ping + "200 sse\nretry 10\nevent a0\nevent a1 " + pong + "end", "+HTTP-STREAM-PRIMED"},
		{"a stream without ids", "http\nopen 2025-11-25\nPOST\n" + ping + "200 sse\nevent  " + pong + "end", "?HTTP-STREAM-PRIMED"},
		{"a stream of 2025-06-18 begins with a message", "http\nopen 2025-06-18\nPOST\n" + ping + "200 sse\nevent a0 " + pong + "end", "!HTTP-STREAM-PRIMED"},
		{"another stream is repeated", "http\nopen 2025-11-25\nPOST\n" + call + "200 sse\nevent a0\nretry 1\nend\nPOST\n" + other + "200 sse\nevent b0\nevent b1 {\"id\":2,\"result\":{}}\nend\nwait 5\nGET Last-Event-ID=a0\n200 sse\nevent b1 {\"id\":2,\"result\":{}}\nevent a1 " + pong + "end",
			"-HTTP-NO-FOREIGN-REPLAY"},
		{"the response of another stream under a new id", "http\nopen 2025-11-25\nPOST\n" + call + "200 sse\nevent a0\nretry 1\nend\nPOST\n" + other + "200 sse\nevent b0\nretry 1\nend\nwait 5\nGET Last-Event-ID=a0\n200 sse\nevent a1 {\"id\":2,\"result\":{}}\nevent a2 " + pong + "end",
			"-HTTP-NO-FOREIGN-REPLAY"},
		{"progress on the stream of its request", "http\nopen 2025-11-25\nPOST\n" + call + "200 sse\n" + told + "<- " + pong + "end", "+HTTP-STREAM-RELATED"},
		{"progress on the stream of another request", "http\nopen 2025-11-25\nPOST@a\n" + call + "200 sse\nPOST@b\n" + other + "200 sse\n@b\n" + told, "-HTTP-STREAM-RELATED"},
		{"progress of what is over", "http\nopen 2025-11-25\nPOST\n" + call + "answer " + pong + "POST@b\n" + other + "200 sse\n@b\n" + told, "!HTTP-STREAM-RELATED"},
		{"progress on the stream of a GET", "http\nopen 2025-11-25\nGET@g\n200 sse\nPOST\n" + call + "200 sse\n@g\n" + told, "-HTTP-GET-UNRELATED"},
		{"a changed list on the stream of a GET", "http\nopen 2025-11-25" + tools + "\nGET@g\n200 sse\n" + changed, "+HTTP-GET-UNRELATED"},
		{"a stream that proxies pass on", "http\nPOST\n" + ask + "200 sse\n" + list + "end", "+HTTP-NOT-BUFFERED"},
		{"a stream that proxies may hold back", "http\nPOST\n" + ask + "200 sse -X-Accel-Buffering\n" + list + "end", "-HTTP-NOT-BUFFERED"},
		{"a POST refused where POSTs are taken", "http\nopen 2025-11-25\nPOST\n" + ping + "405\nend", "-HTTP-ENDPOINT"},
		{"a POST refused where none was taken", "http\nPOST\n" + initializeLine + "405\nend", "!HTTP-ENDPOINT"},
	}
}

func sseCases() []ruleCase {
	const (
		opened = "sse\nGET@g\n200 sse\nendpoint /messages?session=1\n"
		hello  = `-> {"id":0,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}` + "\n"
	)
	return []ruleCase{
		{"posted elsewhere", opened + "POST /mcp\n" + hello + "404\nend", "-SSE-POST-TO-ENDPOINT !SSE-ENDPOINTS"},
		{"posted with another session", opened + "POST /messages?session=2\n" + hello + "404\nend", "-SSE-POST-TO-ENDPOINT !SSE-ENDPOINTS"},
		{"posted with one more parameter", opened + "POST /messages?key=k&session=1\n" + hello + "202\nend", "+SSE-POST-TO-ENDPOINT +SSE-ENDPOINTS"},
		{"posted before the endpoint is known", "sse\nPOST /mcp\n" + hello + "404\nend", "!SSE-POST-TO-ENDPOINT"},
		{"nothing at the endpoint", opened + "POST\n" + hello + "405\nend", "-SSE-ENDPOINTS"},
		{"nothing at the endpoint of a stream that is closed", opened + "end\nPOST\n" + hello + "404\nend", "!SSE-ENDPOINTS"},
	}
}
