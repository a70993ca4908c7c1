package conformance

import "strings"

// metaWith is the metadata of a request of 2026-07-28 whose client has capabilities.
func metaWith(capabilities string) string {
	return strings.Replace(metaText, `clientCapabilities":{}`, `clientCapabilities":`+capabilities, 1)
}

// questioning is a 2025-11-25 session in which the server asks the client, who answers.
func questioning(capabilities, method, params, answer string) string {
	text := "stdio\nopen 2025-11-25 client=" + capabilities + "\n<- {\"id\":1,\"method\":\"" + method + "\",\"params\":" + params + "}\n"
	if answer != "" {
		text += "-> {\"id\":1," + answer + "}\n"
	}
	return text
}

// inquiring is a 2026-07-28 session in which a call is answered by a question,
// and the retry by a result.
func inquiring(capabilities, method, params, response string) string {
	meta := metaWith(capabilities)
	text := "stdio\n-> {\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"t\"," + meta + "}}\n" +
		"<- {\"id\":1,\"result\":{\"resultType\":\"input_required\",\"inputRequests\":{\"k\":{\"method\":\"" + method + "\",\"params\":" + params + "}},\"_meta\":{\"io.modelcontextprotocol/serverInfo\":{\"name\":\"s\",\"version\":\"1\"}}}}\n"
	if response != "" {
		text += "-> {\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"t\",\"inputResponses\":{\"k\":" + response + "}," + meta + "}}\n<- {\"id\":2,\"result\":{\"content\":[],$ok}}\n"
	}
	return text
}

func elicitationCases() []ruleCase {
	const (
		both   = `{"elicitation":{"form":{},"url":{}}}`
		schema = `"requestedSchema":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`
		create = "elicitation/create"
	)
	form := func(answer string) string { return questioning(both, create, `{"message":"n?",`+schema+`}`, answer) }
	field := func(properties string) string {
		return questioning(both, create, `{"message":"?","requestedSchema":{"type":"object","properties":{`+properties+`}}}`, "")
	}
	address := func(url string) string {
		return questioning(both, create, `{"mode":"url","message":"go","elicitationId":"e","url":"`+url+`"}`, "")
	}
	complete := func(id string) string {
		return address("https://a.example/x") + "<- {\"method\":\"notifications/elicitation/complete\",\"params\":{\"elicitationId\":\"" + id + "\"}}"
	}
	refused := func(data string) string {
		return "stdio\nopen 2025-11-25 server={\"tools\":{}} client=" + both + "\n-> {\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"t\"}}\n<- {\"id\":1,\"error\":{\"code\":-32042,\"message\":\"x\",\"data\":{\"elicitations\":" + data + "}}}"
	}
	return []ruleCase{
		{"a form filled in", form(`"result":{"action":"accept","content":{"n":1}}`), "+ELICITATION-PARAMS +ELICITATION-CONTENT-VALID +ELICITATION-NO-MODE-FORM +ELICITATION-NO-SECRETS +ELICITATION-FORM-NO-URLS +ELICITATION-MODES !ELICITATION-MODE-REFUSED"},
		{"a form filled in wrongly", form(`"result":{"action":"accept","content":{"n":"1"}}`), "-ELICITATION-CONTENT-VALID"},
		{"a form accepted without content", form(`"result":{"action":"accept"}`), "-ELICITATION-CONTENT-VALID !ELICITATION-NO-MODE-FORM"},
		{"a form declined", form(`"result":{"action":"decline"}`), "!ELICITATION-CONTENT-VALID !ELICITATION-NO-MODE-FORM"},
		{"a form whose fields may all be left out", questioning(both, create, `{"message":"?","requestedSchema":{"type":"object","properties":{"n":{"type":"integer"}}}}`, `"result":{"action":"accept"}`), "+ELICITATION-CONTENT-VALID"},
		{"a form without a mode refused", form(`"error":{"code":-32602,"message":"x"}`), "-ELICITATION-NO-MODE-FORM"},
		{"a form of 2025-06-18", strings.Replace(form(`"result":{"action":"accept","content":{}}`), "open 2025-11-25", "open 2025-06-18", 1), "-ELICITATION-CONTENT-VALID !ELICITATION-PARAMS !ELICITATION-NO-MODE-FORM"},
		{"a form in 2026-07-28", inquiring(`{"elicitation":{}}`, create, `{"message":"n?",`+schema+`}`, `{"action":"accept","content":{"n":1}}`), "+ELICITATION-PARAMS +ELICITATION-CONTENT-VALID +ELICITATION-NO-MODE-FORM +ELICITATION-DECLARED"},
		{"a form in 2026-07-28 filled in wrongly", inquiring(`{"elicitation":{}}`, create, `{"message":"n?",`+schema+`}`, `{"action":"accept","content":{"n":[]}}`), "-ELICITATION-CONTENT-VALID"},
		{"an answer to another call", strings.Replace(inquiring(`{"elicitation":{}}`, create, `{"message":"n?",`+schema+`}`, `{"action":"accept","content":{"n":[]}}`), `"name":"t","inputResponses"`, `"name":"u","inputResponses"`, 1), "!ELICITATION-CONTENT-VALID -INPUT-RESPONSES-OWN"},
		{"a form without a message", questioning(both, create, "{"+schema+"}", ""), "-ELICITATION-PARAMS -SCHEMA-REQUEST"},
		{"a form without a schema", questioning(both, create, `{"message":"?"}`, ""), "-ELICITATION-PARAMS -SCHEMA-REQUEST"},
		{"a third mode", questioning(both, create, `{"message":"?","mode":"voice",`+schema+`}`, ""), "-ELICITATION-PARAMS -SCHEMA-REQUEST -ELICITATION-MODE-DECLARED"},
		{"a URL without an id", questioning(both, create, `{"mode":"url","message":"go","url":"https://a.example/"}`, ""), "-ELICITATION-PARAMS -SCHEMA-REQUEST"},
		{"a URL without an id in 2026-07-28", inquiring(both, create, `{"mode":"url","message":"go","url":"https://a.example/"}`, ""), "+ELICITATION-PARAMS +ELICITATION-URL-VALID +ELICITATION-URL-HTTPS"},
		{"a form for a password", field(`"API_Key":{"type":"string"}`), "-ELICITATION-NO-SECRETS"},
		{"a form that asks whether to reset a password", field(`"password":{"type":"boolean"},"token":{"type":"string"},"newPassword":{"type":"string","enum":["yes","no"]}`), "+ELICITATION-NO-SECRETS"},
		{"a form that links", field(`"a":{"type":"string","description":"see https://pay.example.io/now"}`), "-ELICITATION-FORM-NO-URLS"},
		{"a form that names the form of a URL", field(`"a":{"type":"string","description":"such as https://example.com/you"},"b":{"type":"string","format":"uri","title":"https://your.site"}`), "+ELICITATION-FORM-NO-URLS"},
		{"a secure URL", address("https://a.example/x?token=1"), "+ELICITATION-URL-VALID +ELICITATION-URL-HTTPS +ELICITATION-URL-NO-CREDENTIALS"},
		{"a URL that is not secure", address("http://connect.acme.io/x"), "-ELICITATION-URL-HTTPS"},
		{"a URL of a developer", address("http://localhost:3000/x"), "!ELICITATION-URL-HTTPS +ELICITATION-URL-VALID"},
		{"a URL of a private network", address("http://192.168.1.4/x"), "!ELICITATION-URL-HTTPS"},
		{"no URL", address("not a url"), "-ELICITATION-URL-VALID -SCHEMA-REQUEST"},
		{"a URL with a password", address("https://u:p@a.example/x"), "-ELICITATION-URL-NO-CREDENTIALS"},
		{"a URL with a key", address("https://a.example/x?api_key=7"), "-ELICITATION-URL-NO-CREDENTIALS"},
		{"a mode refused", questioning(`{"elicitation":{}}`, create, `{"mode":"url","message":"go","elicitationId":"e","url":"https://a.example/x"}`, `"error":{"code":-32602,"message":"x"}`), "+ELICITATION-MODE-REFUSED -ELICITATION-MODE-DECLARED"},
		{"a mode not refused", questioning(`{"elicitation":{}}`, create, `{"mode":"url","message":"go","elicitationId":"e","url":"https://a.example/x"}`, `"result":{"action":"accept"}`), "-ELICITATION-MODE-REFUSED -ELICITATION-MODE-DECLARED"},
		{"no elicitation at all", questioning(`{}`, create, `{"message":"n?",`+schema+`}`, `"error":{"code":-32601,"message":"x"}`), "!ELICITATION-MODE-REFUSED -LIFECYCLE-SERVER-CAPABILITIES-RESPECTED"},
		{"elicitation in a mode of its own", "stdio\nopen 2025-11-25 client={\"elicitation\":{\"voice\":{}}}", "-ELICITATION-MODES"},
		{"elicitation without a mode", "stdio\nopen 2025-11-25 client={\"elicitation\":{}}", "+ELICITATION-MODES"},
		{"told to be complete", complete("e"), "+ELICITATION-COMPLETE-KNOWN"},
		{"another told to be complete", complete("f"), "-ELICITATION-COMPLETE-KNOWN"},
		{"told to be complete after an error", refused(`[{"mode":"url","elicitationId":"z","url":"https://a.example/x","message":"m"}]`) + "\n<- {\"method\":\"notifications/elicitation/complete\",\"params\":{\"elicitationId\":\"z\"}}", "+ELICITATION-COMPLETE-KNOWN +ELICITATION-REQUIRED-ERROR"},
		{"told to be complete, from before the capture", "stdio lacks=start revision=2025-11-25\n<- {\"method\":\"notifications/elicitation/complete\",\"params\":{\"elicitationId\":\"z\"}}", "?ELICITATION-COMPLETE-KNOWN"},
		{"an elicitation is required, but which", refused(`[]`), "-ELICITATION-REQUIRED-ERROR"},
		{"a form is required", refused(`[{"mode":"form","message":"m",` + schema + `}]`), "-ELICITATION-REQUIRED-ERROR -SCHEMA-ERROR"},
	}
}

func samplingCases() []ruleCase {
	const (
		able   = `{"sampling":{"tools":{},"context":{}}}`
		create = "sampling/createMessage"
		use    = `{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"t","input":{}},{"type":"tool_use","id":"b","name":"t","input":{}}]}`
		hello  = `{"role":"user","content":{"type":"text","text":"hello"}}`
		said   = `"result":{"role":"assistant","model":"m","stopReason":"endTurn","content":{"type":"text","text":"x"}}`
		used   = `"result":{"role":"assistant","model":"m","stopReason":"toolUse","content":[{"type":"tool_use","id":"c","name":"t","input":{}}]}`
		tools  = `,"tools":[{"name":"t","inputSchema":{"type":"object"}}]`
	)
	results := func(ids ...string) string {
		var blocks []string
		for _, id := range ids {
			blocks = append(blocks, `{"type":"tool_result","toolUseId":"`+id+`","content":[]}`)
		}
		return `{"role":"user","content":[` + strings.Join(blocks, ",") + `]}`
	}
	mixed := strings.Replace(results("a", "b"), `"content":[{`, `"content":[{"type":"text","text":"and"},{`, 1)
	ask := func(more, answer string, messages ...string) string {
		return questioning(able, create, `{"maxTokens":9,"messages":[`+strings.Join(messages, ",")+`]`+more+`}`, answer)
	}
	weak := func(text string) string { return strings.Replace(text, "client="+able, `client={"sampling":{}}`, 1) }
	modern := func(message string) string {
		return inquiring(`{"sampling":{}}`, create, `{"maxTokens":9,"messages":[`+message+`]}`, `{"role":"assistant","model":"m","content":{"type":"text","text":"x"}}`)
	}
	return []ruleCase{
		{"results for all uses", ask("", said, hello, use, results("b", "a"), hello), "+SAMPLING-TOOL-RESULTS-BALANCED +SAMPLING-TOOL-RESULTS-ALONE !SAMPLING-TOOL-RESULTS-REFUSED"},
		{"a result missing", ask("", said, hello, use, results("a")), "-SAMPLING-TOOL-RESULTS-BALANCED -SAMPLING-TOOL-RESULTS-REFUSED"},
		{"a result missing and refused", ask("", `"error":{"code":-32602,"message":"x"}`, hello, use, results("a")), "-SAMPLING-TOOL-RESULTS-BALANCED +SAMPLING-TOOL-RESULTS-REFUSED"},
		{"a result of nothing", ask("", "", hello, use, results("a", "b", "c")), "-SAMPLING-TOOL-RESULTS-BALANCED"},
		{"another message before the results", ask("", "", hello, use, hello, results("a", "b")), "-SAMPLING-TOOL-RESULTS-BALANCED"},
		{"uses at the end", ask("", "", hello, use), "-SAMPLING-TOOL-RESULTS-BALANCED"},
		{"results and a text", ask("", "", hello, use, mixed), "-SAMPLING-TOOL-RESULTS-ALONE -SCHEMA-REQUEST"},
		{"no tools", ask("", said, hello), "!SAMPLING-TOOL-RESULTS-BALANCED !SAMPLING-TOOL-RESULTS-ALONE !SAMPLING-TOOLS-SUPPORTED !SAMPLING-CONTEXT-DECLARED"},
		{"a tool used as required", ask(tools+`,"toolChoice":{"mode":"required"}`, used, hello), "+SAMPLING-TOOL-CHOICE-REQUIRED +SAMPLING-TOOLS-SUPPORTED"},
		{"no tool used though required", ask(tools+`,"toolChoice":{"mode":"required"}`, said, hello), "-SAMPLING-TOOL-CHOICE-REQUIRED"},
		{"no tool used though required, for want of tokens", ask(tools+`,"toolChoice":{"mode":"required"}`, strings.Replace(said, "endTurn", "maxTokens", 1), hello), "!SAMPLING-TOOL-CHOICE-REQUIRED"},
		{"no further tool used", ask(tools+`,"toolChoice":{"mode":"required"}`, said, hello, use, results("a", "b")), "!SAMPLING-TOOL-CHOICE-REQUIRED"},
		{"no tool used as none may be", ask(tools+`,"toolChoice":{"mode":"none"}`, said, hello), "+SAMPLING-TOOL-CHOICE-NONE"},
		{"a tool used though none may be", ask(tools+`,"toolChoice":{"mode":"none"}`, used, hello), "-SAMPLING-TOOL-CHOICE-NONE"},
		{"a tool used by a client that has not said it can", weak(ask(tools, used, hello)), "-SAMPLING-TOOLS-SUPPORTED -SAMPLING-TOOLS-DECLARED"},
		{"context", ask(`,"includeContext":"thisServer"`, "", hello), "+SAMPLING-CONTEXT-DECLARED"},
		{"context that is not declared", weak(ask(`,"includeContext":"allServers"`, "", hello)), "-SAMPLING-CONTEXT-DECLARED"},
		{"no context", weak(ask(`,"includeContext":"none"`, "", hello)), "!SAMPLING-CONTEXT-DECLARED"},
		{"messages in 2026-07-28", modern(hello), "+SAMPLING-MESSAGES +SAMPLING-DECLARED"},
		{"a message of the system", modern(strings.Replace(hello, "user", "system", 1)), "-SAMPLING-MESSAGES -SCHEMA-RESULT"},
	}
}
