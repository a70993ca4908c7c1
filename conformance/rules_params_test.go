package conformance

import "strings"

// mirrorList lists a tool whose arguments go into headers: a text, an integer
// and one that is nested.
const mirrorList = "http\nPOST\n-> {\"id\":\"l\",\"method\":\"tools/list\",\"params\":{$meta}}\nanswer " +
	`{"id":"l","result":{"tools":[{"name":"t","inputSchema":{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"A"},"n":{"type":"integer","x-mcp-header":"N"},` +
	`"o":{"type":"object","properties":{"b":{"type":"boolean","x-mcp-header":"B"}}}}}},{"name":"plain","inputSchema":{"type":"object"}}],$ok,$hints}}` + "\n"

func paramCases() []ruleCase {
	const (
		done    = "answer {\"id\":1,\"result\":{\"content\":[],$ok}}\n"
		refused = "400 json\n<- {\"id\":1,\"error\":{\"code\":-32020,\"message\":\"x\"}}\nend\n"
	)
	call := func(headers, arguments string) string {
		return mirrorList + "POST " + headers + "\n-> {\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"t\",\"arguments\":{" + arguments + "},$meta}}\n"
	}
	again := "POST Mcp-Param-A=x\n-> {\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"t\",\"arguments\":{\"a\":\"x\"},$meta}}\nanswer {\"id\":2,\"result\":{\"content\":[],$ok}}\n"
	relist := strings.NewReplacer("http\n", "", `"l"`, `"m"`).Replace(mirrorList)
	bad := strings.Replace(mirrorList, `"x-mcp-header":"A"`, `"x-mcp-header":"A B"`, 1)
	badCall := func(name string) string {
		return "POST\n-> {\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"" + name + "\",\"arguments\":{},$meta}}\n" + done
	}
	return []ruleCase{
		{"arguments mirrored", call("Mcp-Param-A=x Mcp-Param-N=7 Mcp-Param-B=true", `"a":"x","n":7,"o":{"b":true}`) + done, "+HEADER-PARAM +HEADER-PARAM-SAFE-INTEGER !HEADER-PARAM-OMITTED !HEADER-PARAM-NOT-EXPECTED !HEADER-DECODED"},
		{"arguments left out", call("Mcp-Param-A=x", `"a":"x","n":null`) + done, "+HEADER-PARAM +HEADER-PARAM-OMITTED +HEADER-PARAM-NOT-EXPECTED"},
		{"arguments left out and asked for", call("Mcp-Param-A=x", `"a":"x","n":null`) + refused, "-HEADER-PARAM-NOT-EXPECTED"},
		{"a header for null", call("Mcp-Param-A=x Mcp-Param-N=null", `"a":"x","n":null`) + done, "-HEADER-PARAM-OMITTED !HEADER-PARAM-NOT-EXPECTED"},
		{"a header missing", call("", `"a":"x"`) + refused, "-HEADER-PARAM +HEADER-PARAM-MISSING-REJECTED"},
		{"a header missing and let pass", call("", `"a":"x"`) + done, "-HEADER-PARAM -HEADER-PARAM-MISSING-REJECTED"},
		{"a header missing and another error", call("", `"a":"x"`) + "answer {\"id\":1,\"error\":{\"code\":-32602,\"message\":\"x\"}}", "-HEADER-PARAM !HEADER-PARAM-MISSING-REJECTED"},
		{"a header missing and status 200", call("", `"a":"x"`) + "answer {\"id\":1,\"error\":{\"code\":-32020,\"message\":\"x\"}}", "-HEADER-PARAM -HEADER-PARAM-MISSING-REJECTED"},
		{"two things wrong", call("Mcp-Param-N=8", `"a":"x","n":7`) + done, "-HEADER-PARAM !HEADER-PARAM-MISSING-REJECTED !HEADER-PARAM-MISMATCH-REJECTED"},
		{"a header missing that is empty", call("", `"a":""`) + done, "!HEADER-PARAM !HEADER-PARAM-MISSING-REJECTED"},
		{"another value", call("Mcp-Param-A=y", `"a":"x"`) + refused, "-HEADER-PARAM +HEADER-PARAM-MISMATCH-REJECTED"},
		{"another value let pass", call("Mcp-Param-A=y", `"a":"x"`) + done, "-HEADER-PARAM -HEADER-PARAM-MISMATCH-REJECTED"},
		{"true in capitals", call("Mcp-Param-B=TRUE", `"o":{"b":true}`) + refused, "-HEADER-PARAM +HEADER-PARAM-MISMATCH-REJECTED"},
		{"an integer in another form", call("Mcp-Param-N=42.0", `"n":42`) + done, "+HEADER-PARAM +HEADER-PARAM-NUMERIC"},
		{"an integer in another form refused", call("Mcp-Param-N=42.0", `"n":42`) + refused, "+HEADER-PARAM -HEADER-PARAM-NUMERIC"},
		{"an integer that is not safe", call("Mcp-Param-N=9007199254740993", `"n":9007199254740993`) + done, "+HEADER-PARAM -HEADER-PARAM-SAFE-INTEGER"},
		{"a fraction, which the schema forbids", call("", `"n":1.5`) + done, "!HEADER-PARAM -TOOLS-ARGUMENTS-FIT"},
		{"encoded", call("Mcp-Param-A==?base64?w6k=?=", `"a":"é"`) + done, "+HEADER-PARAM +HEADER-ENCODED +HEADER-ENCODED-MARKERS +HEADER-DECODED"},
		{"encoded and refused", call("Mcp-Param-A==?base64?w6k=?=", `"a":"é"`) + refused, "+HEADER-PARAM -HEADER-DECODED"},
		{"encoded without need", call("Mcp-Param-A==?base64?eA==?=", `"a":"x"`) + done, "+HEADER-PARAM +HEADER-DECODED !HEADER-ENCODED"},
		{"not encoded", call("Mcp-Param-A=é", `"a":"é"`) + refused, "-HEADER-ENCODED !HEADER-PARAM +HEADER-PARAM-INVALID-REJECTED"},
		{"not encoded and let pass", call("Mcp-Param-A=é", `"a":"é"`) + done, "-HEADER-ENCODED -HEADER-PARAM-INVALID-REJECTED"},
		{"not encoded though it ends in a space", call("Mcp-Param-A=x", `"a":"x "`) + refused, "-HEADER-ENCODED +HEADER-PARAM-MISMATCH-REJECTED"},
		{"no Base64 between the markers", call("Mcp-Param-A==?base64?###?=", `"a":"é"`) + refused, "+HEADER-ENCODED -HEADER-PARAM +HEADER-PARAM-INVALID-REJECTED"},
		{"markers in capitals", call("Mcp-Param-A==?BASE64?w6k=?=", `"a":"é"`) + refused, "-HEADER-ENCODED-MARKERS !HEADER-ENCODED !HEADER-PARAM +HEADER-PARAM-MISMATCH-REJECTED"},
		{"a value that looks encoded as it is", call("Mcp-Param-A==?base64?eA==?=", `"a":"=?base64?eA==?="`) + refused, "-HEADER-ENCODED-LITERAL +HEADER-PARAM-MISMATCH-REJECTED"},
		{"a value that looks encoded encoded", call("Mcp-Param-A==?base64?PT9iYXNlNjQ/eA==?=", `"a":"=?base64?x"`) + done, "+HEADER-PARAM"},
		{"a value that looks encoded, encoded", call("Mcp-Param-A==?base64?PT9iYXNlNjQ/eD89?=", `"a":"=?base64?x?="`) + done, "+HEADER-PARAM +HEADER-ENCODED-LITERAL"},
		{"a name that is not encoded", "http\nPOST Mcp-Name=é\n-> {\"id\":1,\"method\":\"prompts/get\",\"params\":{\"name\":\"é\",$meta}}\nanswer {\"id\":1,\"error\":{\"code\":-32602,\"message\":\"x\"}}", "-HEADER-ENCODED !HEADER-NAME"},
		{"a name that is encoded and refused", "http\nPOST Mcp-Name==?base64?w6k=?=\n-> {\"id\":1,\"method\":\"prompts/get\",\"params\":{\"name\":\"é\",$meta}}\n" + refused, "+HEADER-ENCODED +HEADER-NAME -HEADER-DECODED"},
		{"a call repeated after the list", call("", `"a":"x"`) + refused + relist + strings.Replace(again, "Mcp-Param-A=x", "Mcp-Param-A=x", 1), "-HEADER-PARAM +HEADER-PARAM-MISSING-REJECTED +HEADER-PARAM-REFRESH"},
		{"a call repeated without the list", call("", `"a":"x"`) + refused + again, "-HEADER-PARAM +HEADER-PARAM-MISSING-REJECTED -HEADER-PARAM-REFRESH"},
		{"annotations that change", call("Mcp-Param-A=x", `"a":"x"`) + done + strings.NewReplacer("http\n", "", `"l"`, `"m"`, `"x-mcp-header":"A"`, `"x-mcp-header":"Z"`).Replace(mirrorList) + again, "+HEADER-PARAM"},
		{"a tool with invalid annotations called", bad + badCall("t"), "-HEADER-PARAM-INVALID-TOOL -TOOLS-HEADER-ANNOTATIONS"},
		{"a tool with invalid annotations left alone", bad + badCall("plain"), "+HEADER-PARAM-INVALID-TOOL -TOOLS-HEADER-ANNOTATIONS"},
		{"over stdio nothing is mirrored", "stdio\n-> {\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"t\",\"arguments\":{\"a\":\"x\"},$meta}}", "!HEADER-PARAM"},
	}
}
