package conformance

import "strings"

// tools is a 2025-11-25 session (or another) that lists tools.
func toolsOf(revision string, tools ...string) string {
	if revision == "2026-07-28" {
		return "stdio\n-> {\"id\":1,\"method\":\"tools/list\",\"params\":{$meta}}\n<- {\"id\":1,\"result\":{\"tools\":[" + strings.Join(tools, ",") + "],$ok,$hints}}\n" +
			"-> {\"id\":9,\"method\":\"server/discover\",\"params\":{$meta}}\n<- {\"id\":9,\"result\":{\"supportedVersions\":[\"2026-07-28\"],\"capabilities\":{\"tools\":{}},$ok,$hints}}\n"
	}
	return "stdio\nopen " + revision + " server={\"tools\":{}}\n" + listing("tools/list", `{"tools":[`+strings.Join(tools, ",")+`]}`)
}

func calling(result string) string {
	return "-> {\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"t\",\"arguments\":{}}}\n<- {\"id\":2,\"result\":" + result + "}\n"
}

func toolCases() []ruleCase {
	const (
		plain      = `{"name":"t","inputSchema":{"type":"object"}}`
		structured = `{"name":"t","inputSchema":{"type":"object"},"outputSchema":{"type":"object","properties":{"n":{"type":"number"}},"required":["n"]}}`
	)
	return []ruleCase{
		{"a plain tool", toolsOf("2025-11-25", plain), "+TOOLS-NAMES-UNIQUE +TOOLS-NAME-LENGTH +TOOLS-NAME-CHARACTERS +TOOLS-INPUT-SCHEMA"},
		{"two of one name", toolsOf("2025-11-25", plain, plain), "-TOOLS-NAMES-UNIQUE"},
		{"two of one name before names were spoken of", toolsOf("2025-06-18", plain, plain), "!TOOLS-NAMES-UNIQUE"},
		{"the same list twice", toolsOf("2025-11-25", plain) + "-> {\"id\":3,\"method\":\"tools/list\"}\n<- {\"id\":3,\"result\":{\"tools\":[" + plain + "]}}", "+TOOLS-NAMES-UNIQUE"},
		{"one name on two pages", "stdio\nopen 2025-11-25 server={\"tools\":{}}\n" + listing("tools/list", `{"tools":[`+plain+`],"nextCursor":""}`) +
			"-> {\"id\":3,\"method\":\"tools/list\",\"params\":{\"cursor\":\"\"}}\n<- {\"id\":3,\"result\":{\"tools\":[" + plain + "]}}", "-TOOLS-NAMES-UNIQUE +PAGINATION-CURSOR-OPAQUE"},
		{"the same list for a cursor that was never given", toolsOf("2025-11-25", plain) + "-> {\"id\":3,\"method\":\"tools/list\",\"params\":{\"cursor\":\"made up\"}}\n<- {\"id\":3,\"result\":{\"tools\":[" + plain + "]}}", "+TOOLS-NAMES-UNIQUE -PAGINATION-CURSOR-OPAQUE"},
		{"a name with a space", toolsOf("2025-11-25", `{"name":"Create Share","inputSchema":{"type":"object"}}`), "-TOOLS-NAME-CHARACTERS +TOOLS-NAME-LENGTH"},
		{"a name too long", toolsOf("2025-11-25", `{"name":"`+strings.Repeat("x", 129)+`","inputSchema":{"type":"object"}}`), "-TOOLS-NAME-LENGTH"},
		{"an input schema without type", toolsOf("2025-11-25", `{"name":"t","inputSchema":{"$schema":"http://json-schema.org/draft-07/schema#"}}`), "-TOOLS-INPUT-SCHEMA -SCHEMA-DIALECT-RECOMMENDED"},
		{"an input schema with an array for properties", toolsOf("2025-11-25", `{"name":"t","inputSchema":{"type":"object","properties":[]}}`), "-TOOLS-INPUT-SCHEMA"},
		{"a dangling reference", toolsOf("2025-11-25", `{"name":"t","inputSchema":{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}}}}`), "-TOOLS-INPUT-SCHEMA"},
		{"no input schema", toolsOf("2025-11-25", `{"name":"t"}`), "-TOOLS-INPUT-SCHEMA"},
		{"the dialect that is recommended", toolsOf("2025-11-25", `{"name":"t","inputSchema":{"type":"object","$schema":"https://json-schema.org/draft/2020-12/schema"}}`), "+TOOLS-INPUT-SCHEMA +SCHEMA-DIALECT-RECOMMENDED"},
		{"another dialect, of which a revision before 2025-11-25 says nothing", toolsOf("2025-06-18", `{"name":"t","inputSchema":{"type":"object","$schema":"http://json-schema.org/draft-07/schema#"}}`), "!SCHEMA-DIALECT-RECOMMENDED"},
		{"an unknown dialect", toolsOf("2025-11-25", `{"name":"t","inputSchema":{"type":"object","$schema":"https://example.org/dialect"}}`), "+TOOLS-INPUT-SCHEMA -SCHEMA-DIALECT-RECOMMENDED"},
		{"an output schema for an array", toolsOf("2025-11-25", `{"name":"t","inputSchema":{"type":"object"},"outputSchema":{"type":"array"}}`), "-TOOLS-OUTPUT-SCHEMA"},
		{"an output schema for an array in 2026-07-28", toolsOf("2026-07-28", `{"name":"t","inputSchema":{"type":"object"},"outputSchema":{"type":"array"}}`), "+TOOLS-OUTPUT-SCHEMA"},
		{"structured content", toolsOf("2025-11-25", structured) + calling(`{"content":[{"type":"text","text":"{\"n\": 1.0}"}],"structuredContent":{"n":1}}`), "+TOOLS-STRUCTURED-PRESENT +TOOLS-STRUCTURED-CONFORMS +TOOLS-STRUCTURED-TEXT +TOOLS-OUTPUT-SCHEMA"},
		{"structured content missing", toolsOf("2025-11-25", structured) + calling(`{"content":[{"type":"text","text":"{\"n\":1}"}]}`), "-TOOLS-STRUCTURED-PRESENT"},
		{"structured content of another form", toolsOf("2025-11-25", structured) + calling(`{"content":[{"type":"text","text":"{\"n\":\"1\"}"}],"structuredContent":{"n":"1"}}`), "-TOOLS-STRUCTURED-CONFORMS +TOOLS-STRUCTURED-TEXT"},
		{"structured content without text", toolsOf("2025-11-25", plain) + calling(`{"content":[],"structuredContent":{"n":1}}`), "-TOOLS-STRUCTURED-TEXT !TOOLS-STRUCTURED-PRESENT"},
		{"arguments that fit", toolsOf("2025-11-25", `{"name":"t","inputSchema":{"type":"object"}}`) + calling(`{"content":[]}`), "+TOOLS-ARGUMENTS-FIT"},
		{"an argument that is missing", toolsOf("2025-11-25", `{"name":"t","inputSchema":{"type":"object","required":["a"]}}`) + calling(`{"content":[]}`), "-TOOLS-ARGUMENTS-FIT -TOOLS-INPUT-VALIDATED"},
		{"arguments of a schema that refers to nothing", toolsOf("2025-11-25", `{"name":"t","inputSchema":{"type":"object","required":["a"],"properties":{"a":{"$ref":"#/$defs/gone"}}}}`) + calling(`{"content":[]}`), "-TOOLS-INPUT-SCHEMA ?TOOLS-ARGUMENTS-FIT !TOOLS-INPUT-VALIDATED"},
		{"null is structured content in 2026-07-28", toolsOf("2026-07-28", `{"name":"t","inputSchema":{"type":"object"},"outputSchema":{"type":["object","null"]}}`) +
			"-> {\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"t\",$meta}}\n<- {\"id\":2,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"null\"}],\"structuredContent\":null,$ok}}", "+TOOLS-STRUCTURED-PRESENT +TOOLS-STRUCTURED-CONFORMS"},
		{"a header annotation", toolsOf("2026-07-28", `{"name":"t","inputSchema":{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"Region"}}}}`), "+TOOLS-HEADER-ANNOTATIONS +TOOLS-INPUT-SCHEMA"},
		{"a header annotation that is no token", toolsOf("2026-07-28", `{"name":"t","inputSchema":{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"a b"}}}}`), "-TOOLS-HEADER-ANNOTATIONS +TOOLS-INPUT-SCHEMA"},
	}
}

func featureCases() []ruleCase {
	complete := func(n int) string {
		return "stdio\nopen 2025-11-25 server={\"completions\":{}}\n-> {\"id\":1,\"method\":\"completion/complete\",\"params\":{\"ref\":{\"type\":\"ref/prompt\",\"name\":\"p\"},\"argument\":{\"name\":\"a\",\"value\":\"\"}}}\n" +
			"<- {\"id\":1,\"result\":{\"completion\":{\"values\":[" + strings.TrimSuffix(strings.Repeat(`"x",`, n), ",") + "]}}}"
	}
	logs := "stdio\nopen 2025-11-25 server={\"logging\":{}}\n<- {\"method\":\"notifications/message\",\"params\":{\"level\":\"debug\",\"data\":null}}\n" +
		"-> {\"id\":1,\"method\":\"logging/setLevel\",\"params\":{\"level\":\"error\"}}\n<- {\"id\":1,\"result\":{}}\n"
	return []ruleCase{
		{"a cursor of one's own", "stdio\nopen 2025-11-25 server={\"tools\":{}}\n-> {\"id\":1,\"method\":\"tools/list\",\"params\":{\"cursor\":\"2\"}}", "-PAGINATION-CURSOR-OPAQUE"},
		{"a cursor from before the capture", "stdio lacks=start revision=2025-11-25\n-> {\"id\":1,\"method\":\"tools/list\",\"params\":{\"cursor\":\"2\"}}", "?PAGINATION-CURSOR-OPAQUE"},
		{"a hundred completions", complete(100), "+COMPLETION-VALUES-LIMIT"},
		{"more than a hundred", complete(101), "-COMPLETION-VALUES-LIMIT"},
		{"above the level", logs + "<- {\"method\":\"notifications/message\",\"params\":{\"level\":\"alert\",\"data\":1}}", "+LOGGING-LEVEL-RESPECTED"},
		{"below the level", logs + "<- {\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":1}}", "-LOGGING-LEVEL-RESPECTED"},
		{"file roots", "stdio\nopen 2025-11-25 client={\"roots\":{}}\n<- {\"id\":1,\"method\":\"roots/list\"}\n-> {\"id\":1,\"result\":{\"roots\":[{\"uri\":\"file:///a/\"}]}}", "+ROOTS-FILE-URI"},
		{"web roots", "stdio\nopen 2025-11-25 client={\"roots\":{}}\n<- {\"id\":1,\"method\":\"roots/list\"}\n-> {\"id\":1,\"result\":{\"roots\":[{\"uri\":\"https://example.org\"}]}}", "-ROOTS-FILE-URI"},
	}
}

func stdioCases() []ruleCase {
	return []ruleCase{
		{"a stray line", "stdio\n<-! Server version : 1.2.3\nopen 2025-11-25", "-STDIO-STDOUT-MESSAGES-ONLY +LIFECYCLE-INITIALIZE-FIRST"},
		{"nothing but a stray line", "stdio\n<-! Usage: server FILE\nexit", "-STDIO-STDOUT-MESSAGES-ONLY"},
		{"a blank line", "stdio\n<-! \nopen 2025-11-25", "+STDIO-STDOUT-MESSAGES-ONLY"},
		{"standard error is free", "stdio\nerr panic: not really\nopen 2025-11-25", "+STDIO-STDOUT-MESSAGES-ONLY"},
		{"a carriage return", "stdio\nopen 2025-11-25\n<= {\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}\r", "+STDIO-STDOUT-MESSAGES-ONLY +STDIO-ONE-LINE@server"},
		{"a client that prints", "stdio\nopen 2025-11-25\n->! hello", "-STDIO-STDIN-MESSAGES-ONLY"},
		{"a message over several lines", "stdio\nopen 2025-11-25\n<-! {\n<-!   \"jsonrpc\": \"2.0\"\n<-! }", "-STDIO-ONE-LINE@server -STDIO-STDOUT-MESSAGES-ONLY"},
		{"a capture that drops noise", "stdio lacks=noise\nopen 2025-11-25", "?STDIO-STDOUT-MESSAGES-ONLY ?STDIO-STDIN-MESSAGES-ONLY"},
		{"an orderly end", "stdio\n-> {\"id\":1,\"method\":\"server/discover\",\"params\":{$meta}}\n<- {\"id\":1,\"result\":{\"supportedVersions\":[\"2026-07-28\"],\"capabilities\":{},$ok,$hints}}\nstdin-closed\nexit", "+STDIO-CLIENT-CLOSES-STDIN +STDIO-SERVER-EXITS"},
		{"a server that does not leave", "stdio\n-> {\"id\":1,\"method\":\"server/discover\",\"params\":{$meta}}\nstdin-closed\nkilled", "-STDIO-SERVER-EXITS"},
		{"a client that asks first what the server is", "stdio subject=client\n-> {\"id\":1,\"method\":\"server/discover\",\"params\":{$meta}}", "+STDIO-PROBE-DISCOVER"},
		{"a client that asks at once for tools", "stdio subject=client\n-> {\"id\":1,\"method\":\"tools/list\",\"params\":{$meta}}", "-STDIO-PROBE-DISCOVER"},
		{"a client that shakes hands first", "stdio subject=client\nopen 2025-11-25\n-> {\"id\":1,\"method\":\"tools/list\",\"params\":{$meta}}", "!STDIO-PROBE-DISCOVER"},
		{"a capture that begins later", "stdio lacks=start subject=client\n-> {\"id\":1,\"method\":\"tools/list\",\"params\":{$meta}}", "!STDIO-PROBE-DISCOVER"},
		{"a client that kills at once", "stdio\nopen 2025-11-25\nkilled", "-STDIO-CLIENT-CLOSES-STDIN"},
	}
}
