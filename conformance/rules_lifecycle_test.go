package conformance

import "strings"

const initializeLine = `-> {"id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}
`

const initializedLine = `<- {"id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}
`

// negotiate is a handshake in which one version is asked for and another answered.
func negotiate(asked, answered string) string {
	return `-> {"id":0,"method":"initialize","params":{"protocolVersion":"` + asked + `","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}
		<- {"id":0,"result":{"protocolVersion":"` + answered + `","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}
		-> {"method":"notifications/initialized"}
	`
}

func lifecycleCases() []ruleCase {
	probe := func(id string) string {
		return `-> {"id":"` + id + `","method":"server/discover","params":{$meta}}
			<- {"id":"` + id + `","error":{"code":-32601,"message":"x"}}
		`
	}
	return []ruleCase{
		{"something before initialize", "stdio\n-> {\"id\":5,\"method\":\"tools/list\"}\n" + initializeLine + initializedLine, "-LIFECYCLE-INITIALIZE-FIRST"},
		{"a ping before initialize", "stdio\n-> {\"id\":5,\"method\":\"ping\"}\n<- {\"id\":5,\"result\":{}}\nopen 2025-11-25", "+LIFECYCLE-INITIALIZE-FIRST"},
		{"a capture from mid-session", "stdio lacks=start revision=2025-11-25\n-> {\"id\":5,\"method\":\"ping\"}\n-> {\"id\":6,\"method\":\"tools/list\"}", "?LIFECYCLE-INITIALIZE-FIRST"},
		{"a word on standard error comes first, in the era without handshake", "stdio revision=2026-07-28\nerr ready\n-> {\"method\":\"notifications/unheard-of\"}", "!LIFECYCLE-INITIALIZE-FIRST"},
		{"a dual client probes before it falls back", `stdio
			-> {"id":"p","method":"server/discover","params":{$meta}}
			<- {"id":"p","error":{"code":-32601,"message":"x"}}
			open 2025-11-25`, "+LIFECYCLE-INITIALIZE-FIRST ?DISCOVER-IMPLEMENTED"},
		{"a dual client that remembers", "stdio\n" + probe("p") + "open 2025-11-25\n-> {\"id\":9,\"method\":\"ping\"}\n<- {\"id\":9,\"result\":{}}", "+VERSION-ERA-REMEMBERED ?DISCOVER-IMPLEMENTED"},
		{"a dual client that probes again", "stdio\n" + probe("p") + "open 2025-11-25\n" + probe("q"), "-VERSION-ERA-REMEMBERED ?DISCOVER-IMPLEMENTED"},
		{"a client of one era that asks twice", "stdio\n" + probe("p") + probe("q"), "!VERSION-ERA-REMEMBERED ?DISCOVER-IMPLEMENTED"},
		{"the client does not wait", "stdio\n" + initializeLine + "-> {\"id\":1,\"method\":\"tools/list\"}\n" + initializedLine, "-LIFECYCLE-CLIENT-WAITS"},
		{"the client pings meanwhile", "stdio\n" + initializeLine + "-> {\"id\":1,\"method\":\"ping\"}\n" + initializedLine + "-> {\"method\":\"notifications/initialized\"}", "+LIFECYCLE-CLIENT-WAITS +LIFECYCLE-SERVER-WAITS +LIFECYCLE-INITIALIZED-SENT"},
		{"the server does not wait", "stdio\n" + initializeLine + initializedLine + "<- {\"id\":1,\"method\":\"roots/list\"}\n-> {\"method\":\"notifications/initialized\"}", "-LIFECYCLE-SERVER-WAITS -LIFECYCLE-SERVER-CAPABILITIES-RESPECTED"},
		{"the server logs meanwhile", "stdio\n" + initializeLine + initializedLine + "<- {\"id\":1,\"method\":\"ping\"}\n-> {\"method\":\"notifications/initialized\"}", "+LIFECYCLE-SERVER-WAITS"},
		{"never initialized", "stdio\n" + initializeLine + initializedLine + "-> {\"id\":1,\"method\":\"nothing/known\"}\n<- {\"id\":1,\"error\":{\"code\":-32601,\"message\":\"x\"}}", "-LIFECYCLE-INITIALIZED-SENT"},
		{"the capture ends early", "stdio\n" + initializeLine + initializedLine, "?LIFECYCLE-INITIALIZED-SENT +LIFECYCLE-INITIALIZE-ANSWERED"},
		{"version echoed", "stdio\nopen 2025-03-26", "+LIFECYCLE-VERSION-ECHOED"},
		{"another version offered", "stdio\n" + negotiate("2025-11-25", "2025-03-26"), "+LIFECYCLE-VERSION-OFFERED !LIFECYCLE-VERSION-ECHOED"},
		{"a version that does not exist is echoed", "stdio\n" + negotiate("2099-01-01", "2099-01-01"), "-LIFECYCLE-VERSION-OFFERED"},
		{"a template as version", "stdio\n" + negotiate("2025-11-25", "%version%"), "-LIFECYCLE-VERSION-OFFERED"},
		{"a template as version, though none was asked for", "stdio\n-> {\"id\":0,\"method\":\"initialize\",\"params\":{\"_meta\":{\"progressToken\":\"5\"}}}\n" +
			"<- {\"id\":0,\"result\":{\"protocolVersion\":\"%version%\",\"capabilities\":{},\"serverInfo\":{\"name\":\"s\",\"version\":\"1\"}}}", "-LIFECYCLE-VERSION-OFFERED"},
		{"the client asks for an older version than it can speak", "stdio\n" + negotiate("2024-11-05", "2025-06-18"), "-LIFECYCLE-CLIENT-VERSION-LATEST +LIFECYCLE-VERSION-OFFERED"},
		{"the client asks for the latest and gets an older one", "stdio\n" + negotiate("2025-11-25", "2024-11-05"), "+LIFECYCLE-CLIENT-VERSION-LATEST !LIFECYCLE-CLIENT-VERSION-SUPPORTED"},
		{"the client asks for an older version and gets it", "stdio\n" + negotiate("2024-11-05", "2024-11-05"), "!LIFECYCLE-CLIENT-VERSION-LATEST +LIFECYCLE-CLIENT-VERSION-SUPPORTED"},
		{"the client asks for what is no version", "stdio\n" + negotiate("1.0", "2025-11-25"), "-LIFECYCLE-CLIENT-VERSION-SUPPORTED !LIFECYCLE-CLIENT-VERSION-LATEST"},
		{"a revision without handshake", "stdio\n" + negotiate("2026-07-28", "2026-07-28"), "-LIFECYCLE-VERSION-OFFERED"},
		{"a revision that we do not know", "stdio\n" + negotiate("2027-05-05", "2027-05-05"), "!LIFECYCLE-VERSION-OFFERED"},
		{"a supported version not echoed", "http\nopen 2025-11-25\nPOST -Mcp-Session-Id\n" +
			`-> {"id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}
			answer {"id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}`, "-LIFECYCLE-VERSION-ECHOED"},
		{"a method of a later revision", "stdio\nopen 2025-03-26\n<- {\"id\":1,\"method\":\"elicitation/create\",\"params\":{\"message\":\"x\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{}}}}", "-LIFECYCLE-REVISION-RESPECTED@server"},
		{"methods of this revision", "stdio\nopen 2025-06-18\n-> {\"id\":1,\"method\":\"ping\"}", "+LIFECYCLE-REVISION-RESPECTED@client"},
		{"methods of nobody are nobody's matter", "stdio\nopen 2025-06-18\n<- {\"id\":1,\"method\":\"x/y\"}", "!LIFECYCLE-REVISION-RESPECTED@server"},
		{"an undeclared server feature is used", "stdio\nopen 2025-11-25 server={\"resources\":{}}\n-> {\"id\":1,\"method\":\"resources/subscribe\",\"params\":{\"uri\":\"a:b\"}}\n<- {\"id\":1,\"error\":{\"code\":-32601,\"message\":\"x\"}}", "-LIFECYCLE-CLIENT-CAPABILITIES-RESPECTED !RESOURCES-SUBSCRIBE-ANSWERED"},
		{"a declared server feature is used", "stdio\nopen 2025-11-25 server={\"resources\":{\"subscribe\":true}}\n-> {\"id\":1,\"method\":\"resources/subscribe\",\"params\":{\"uri\":\"a:b\"}}\n<- {\"id\":1,\"result\":{}}", "+LIFECYCLE-CLIENT-CAPABILITIES-RESPECTED +RESOURCES-SUBSCRIBE-ANSWERED"},
		{"an undeclared client feature is used", "stdio\nopen 2025-11-25\n<- {\"id\":1,\"method\":\"roots/list\"}\n-> {\"id\":1,\"error\":{\"code\":-32601,\"message\":\"x\"}}", "-LIFECYCLE-SERVER-CAPABILITIES-RESPECTED !ROOTS-DECLARED"},
		{"list_changed without listChanged", "stdio\nopen 2025-11-25 server={\"tools\":{}}\n<- {\"method\":\"notifications/tools/list_changed\"}", "-LIFECYCLE-SERVER-CAPABILITIES-RESPECTED"},
		{"list_changed with listChanged", "stdio\nopen 2025-11-25 server={\"tools\":{\"listChanged\":true}}\n<- {\"method\":\"notifications/tools/list_changed\"}", "+LIFECYCLE-SERVER-CAPABILITIES-RESPECTED"},
		{"ping answered with more than nothing", "stdio\nopen 2025-11-25\n-> {\"id\":1,\"method\":\"ping\"}\n<- {\"id\":1,\"result\":{\"pong\":true}}", "-PING-ANSWERED@server"},
		{"ping answered with an error", "stdio\nopen 2025-11-25\n<- {\"id\":1,\"method\":\"ping\"}\n-> {\"id\":1,\"error\":{\"code\":-32601,\"message\":\"x\"}}", "-PING-ANSWERED@client"},
		{"ping answered with _meta", "stdio\nopen 2025-11-25\n-> {\"id\":1,\"method\":\"ping\"}\n<- {\"id\":1,\"result\":{\"_meta\":{}}}", "+PING-ANSWERED@server"},
	}
}

// listing is a list of one thing asked for and answered.
func listing(method, result string) string {
	return "-> {\"id\":1,\"method\":\"" + method + "\"}\n<- {\"id\":1,\"result\":" + result + "}\n"
}

func refusing(method, params string) string {
	return "-> {\"id\":1,\"method\":\"" + method + "\",\"params\":" + params + "}\n<- {\"id\":1,\"error\":{\"code\":-32601,\"message\":\"no such method\"}}\n"
}

func capabilityCases() []ruleCase {
	one := `{"tools":[{"name":"a","inputSchema":{"type":"object"}}]}`
	clientUses := "-LIFECYCLE-CLIENT-CAPABILITIES-RESPECTED "
	return []ruleCase{
		{"tools not declared", "stdio\nopen 2025-11-25\n" + listing("tools/list", one), clientUses + "-TOOLS-DECLARED"},
		{"no tools, none declared", "stdio\nopen 2025-11-25\n" + listing("tools/list", `{"tools":[]}`), clientUses + "!TOOLS-DECLARED"},
		{"a tool was called, and nothing declared", "stdio\nopen 2025-11-25\n" + "-> {\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"a\"}}\n<- {\"id\":1,\"result\":{\"content\":[]}}\n", clientUses + "-TOOLS-DECLARED"},
		{"an empty object shows nothing in use", "stdio\nopen 2025-11-25 server={\"tools\":{}}\n" + "-> {\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"a\"}}\n<- {\"id\":1,\"result\":{}}\n", "!TOOLS-DECLARED -SCHEMA-RESULT@server"},
		{"prompts not declared", "stdio\nopen 2025-11-25\n" + listing("prompts/list", `{"prompts":[{"name":"a"}]}`), clientUses + "-PROMPTS-DECLARED"},
		{"prompts declared", "stdio\nopen 2025-11-25 server={\"prompts\":{}}\n" + listing("prompts/list", `{"prompts":[{"name":"a"}]}`), "+PROMPTS-DECLARED +PROMPTS-LIST-ANSWERED"},
		{"prompts declared and not there", "stdio\nopen 2025-11-25 server={\"prompts\":{}}\n" + refusing("prompts/list", "{}"), "-PROMPTS-LIST-ANSWERED"},
		{"resources not declared", "stdio\nopen 2025-11-25\n" + listing("resources/list", `{"resources":[{"name":"a","uri":"a:b"}]}`), clientUses + "-RESOURCES-DECLARED"},
		{"resources declared", "stdio\nopen 2025-11-25 server={\"resources\":{}}\n" + listing("resources/list", `{"resources":[{"name":"a","uri":"a:b"}]}`), "+RESOURCES-DECLARED +RESOURCES-LIST-ANSWERED"},
		{"resources declared and not there", "stdio\nopen 2025-11-25 server={\"resources\":{\"subscribe\":true}}\n" + refusing("resources/list", "{}") +
			"-> {\"id\":2,\"method\":\"resources/subscribe\",\"params\":{\"uri\":\"a:b\"}}\n<- {\"id\":2,\"error\":{\"code\":-32601,\"message\":\"x\"}}", "-RESOURCES-LIST-ANSWERED -RESOURCES-SUBSCRIBE-ANSWERED"},
		{"completions not declared", "stdio\nopen 2025-03-26\n-> {\"id\":1,\"method\":\"completion/complete\",\"params\":{\"ref\":{\"type\":\"ref/prompt\",\"name\":\"p\"},\"argument\":{\"name\":\"a\",\"value\":\"\"}}}\n<- {\"id\":1,\"result\":{\"completion\":{\"values\":[\"x\"]}}}", clientUses + "-COMPLETIONS-DECLARED"},
		{"completions in the revision without capability", "stdio\nopen 2024-11-05\n-> {\"id\":1,\"method\":\"completion/complete\",\"params\":{\"ref\":{\"type\":\"ref/prompt\",\"name\":\"p\"},\"argument\":{\"name\":\"a\",\"value\":\"\"}}}\n<- {\"id\":1,\"result\":{\"completion\":{\"values\":[\"x\"]}}}", "!COMPLETIONS-DECLARED"},
		{"completions declared", "stdio\nopen 2025-03-26 server={\"completions\":{}}\n-> {\"id\":1,\"method\":\"completion/complete\",\"params\":{\"ref\":{\"type\":\"ref/prompt\",\"name\":\"p\"},\"argument\":{\"name\":\"a\",\"value\":\"\"}}}\n<- {\"id\":1,\"result\":{\"completion\":{\"values\":[\"x\"]}}}", "+COMPLETIONS-DECLARED +COMPLETION-ANSWERED"},
		{"completions declared and not there", "stdio\nopen 2025-03-26 server={\"completions\":{}}\n" + refusing("completion/complete", `{"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":""}}`), "-COMPLETION-ANSWERED"},
		{"logging not declared", "stdio\nopen 2025-11-25\n<- {\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":1}}", "-LOGGING-DECLARED"},
		{"logging declared", "stdio\nopen 2025-11-25 server={\"logging\":{}}\n<- {\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":1}}\n-> {\"id\":1,\"method\":\"logging/setLevel\",\"params\":{\"level\":\"info\"}}\n<- {\"id\":1,\"result\":{}}", "+LOGGING-DECLARED +LOGGING-SET-LEVEL"},
		{"logging declared and not there", "stdio\nopen 2025-11-25 server={\"logging\":{}}\n" + refusing("logging/setLevel", `{"level":"info"}`), "-LOGGING-SET-LEVEL"},
		{"tools declared and not there", "stdio\nopen 2025-11-25 server={\"tools\":{}}\n" + refusing("tools/list", "{}"), "-TOOLS-LIST-ANSWERED"},
		{"tools declared and refused for a reason", "stdio\nopen 2025-11-25 server={\"tools\":{}}\n-> {\"id\":1,\"method\":\"tools/list\"}\n<- {\"id\":1,\"error\":{\"code\":-32603,\"message\":\"x\"}}", "!TOOLS-LIST-ANSWERED"},
		{"2026-07-28 before discovery", "stdio\n-> {\"id\":1,\"method\":\"tools/list\",\"params\":{$meta}}\n<- {\"id\":1,\"result\":{\"tools\":[{\"name\":\"a\",\"inputSchema\":{\"type\":\"object\"}}],$ok,$hints}}\n", "?TOOLS-DECLARED"},
		{"2026-07-28 not declared in discovery", "stdio\n-> {\"id\":1,\"method\":\"tools/list\",\"params\":{$meta}}\n<- {\"id\":1,\"result\":{\"tools\":[{\"name\":\"a\",\"inputSchema\":{\"type\":\"object\"}}],$ok,$hints}}\n-> {\"id\":2,\"method\":\"server/discover\",\"params\":{$meta}}\n<- {\"id\":2,\"result\":{\"supportedVersions\":[\"2026-07-28\"],\"capabilities\":{},$ok,$hints}}", "-TOOLS-DECLARED"},
		{"the client answers what it declares", `stdio
			open 2025-11-25 client={"roots":{},"sampling":{},"elicitation":{}}
			<- {"id":1,"method":"roots/list"}
			-> {"id":1,"result":{"roots":[]}}
			<- {"id":2,"method":"sampling/createMessage","params":{"messages":[{"role":"user","content":{"type":"text","text":"x"}}],"maxTokens":5}}
			-> {"id":2,"result":{"role":"assistant","model":"m","content":{"type":"text","text":"x"}}}
			<- {"id":3,"method":"elicitation/create","params":{"message":"x","requestedSchema":{"type":"object","properties":{}}}}
			-> {"id":3,"result":{"action":"decline"}}`,
			"+ROOTS-DECLARED +SAMPLING-DECLARED +ELICITATION-DECLARED +ELICITATION-MODE-DECLARED +SAMPLING-MAX-TOKENS"},
		{"the client answers what it does not declare", `stdio
			open 2025-11-25
			<- {"id":1,"method":"roots/list"}
			-> {"id":1,"result":{"roots":[]}}
			<- {"id":2,"method":"sampling/createMessage","params":{"messages":[{"role":"user","content":{"type":"text","text":"x"}}]}}
			-> {"id":2,"result":{"role":"assistant","model":"m","content":{"type":"text","text":"x"}}}
			<- {"id":3,"method":"elicitation/create","params":{"message":"x","requestedSchema":{"type":"object","properties":{}}}}
			-> {"id":3,"result":{"action":"decline"}}`,
			"-ROOTS-DECLARED -SAMPLING-DECLARED -ELICITATION-DECLARED -LIFECYCLE-SERVER-CAPABILITIES-RESPECTED -SAMPLING-MAX-TOKENS !ELICITATION-MODE-DECLARED"},
		{"a mode of elicitation that is not declared", `stdio
			open 2025-11-25 client={"elicitation":{}}
			<- {"id":3,"method":"elicitation/create","params":{"mode":"url","message":"x","url":"https://example.org","elicitationId":"e"}}`, "-ELICITATION-MODE-DECLARED"},
		{"sampling with tools", `stdio
			open 2025-11-25 client={"sampling":{}}
			<- {"id":2,"method":"sampling/createMessage","params":{"messages":[{"role":"user","content":{"type":"text","text":"x"}}],"maxTokens":5,"tools":[]}}`, "-SAMPLING-TOOLS-DECLARED"},
		{"sampling with tools declared", `stdio
			open 2025-11-25 client={"sampling":{"tools":{}}}
			<- {"id":2,"method":"sampling/createMessage","params":{"messages":[{"role":"user","content":{"type":"text","text":"x"}}],"maxTokens":5,"tools":[]}}`, "+SAMPLING-TOOLS-DECLARED"},
	}
}

func progressCases() []ruleCase {
	call := `-> {"id":1,"method":"ping","params":{"_meta":{"progressToken":"p"}}}
	`
	tell := func(token, value string) string {
		return `<- {"method":"notifications/progress","params":{"progressToken":` + token + `,"progress":` + value + "}}\n"
	}
	done := "<- {\"id\":1,\"result\":{}}\n"
	stamps := `"createdAt":"2025-11-25T00:00:00Z","lastUpdatedAt":"2025-11-25T00:00:00Z","ttl":null}`
	announced := `{"id":1,"result":{"task":{"taskId":"t","status":"working",` + stamps + "}}"
	task := `-> {"id":1,"method":"tools/call","params":{"name":"t","task":{},"_meta":{"progressToken":"p"}}}
		<- ` + announced + "\n"
	able := ` server={"tools":{},"tasks":{"requests":{"tools":{"call":{}}}}}` + "\n"
	status := func(s string) string {
		return `<- {"method":"notifications/tasks/status","params":{"taskId":"t","status":"` + s + `",` + stamps + "}\n"
	}
	return []ruleCase{
		{"as it should be", "stdio\nopen 2025-11-25\n" + call + tell(`"p"`, "0") + tell(`"p"`, "0.5") + done, "+PROGRESS-TOKEN-TYPE@client +PROGRESS-TOKEN-UNIQUE@client +PROGRESS-TOKEN-ACTIVE@server +PROGRESS-INCREASES@server +PROGRESS-STOPS@server"},
		{"a token of another type", "stdio\nopen 2025-11-25\n-> {\"id\":1,\"method\":\"ping\",\"params\":{\"_meta\":{\"progressToken\":1.5}}}", "-PROGRESS-TOKEN-TYPE@client"},
		{"0 is a token", "stdio\nopen 2025-11-25\n-> {\"id\":1,\"method\":\"ping\",\"params\":{\"_meta\":{\"progressToken\":0}}}\n" + tell("0", "1") + done, "+PROGRESS-TOKEN-TYPE@client +PROGRESS-TOKEN-ACTIVE@server"},
		{"a token used by two", "stdio\nopen 2025-11-25\n" + call + "-> {\"id\":2,\"method\":\"ping\",\"params\":{\"_meta\":{\"progressToken\":\"p\"}}}", "-PROGRESS-TOKEN-UNIQUE@client"},
		{"a token of nobody", "stdio\nopen 2025-11-25\n-> {\"id\":1,\"method\":\"ping\"}\n" + tell(`"ping-1"`, "0"), "-PROGRESS-TOKEN-ACTIVE@server"},
		{"a token from before the capture", "stdio lacks=start revision=2025-11-25\n" + tell(`"p"`, "1"), "?PROGRESS-TOKEN-ACTIVE@server"},
		{"standing still", "stdio\nopen 2025-11-25\n" + call + tell(`"p"`, "3") + tell(`"p"`, "3.0"), "-PROGRESS-INCREASES@server"},
		{"more than the total is not forbidden", "stdio\nopen 2025-11-25\n" + call + "<- {\"method\":\"notifications/progress\",\"params\":{\"progressToken\":\"p\",\"progress\":7,\"total\":5}}", "+PROGRESS-TOKEN-ACTIVE@server"},
		{"after the response", "stdio\nopen 2025-11-25\n" + call + done + tell(`"p"`, "3"), "-PROGRESS-STOPS@server"},
		{"of a task, after its announcement", "stdio\nopen 2025-11-25" + able + task + tell(`"p"`, "1") + status("working") + tell(`"p"`, "2") + status("completed"), "+PROGRESS-TASK-TOKEN@server +PROGRESS-TASK-STOPS@server !PROGRESS-STOPS"},
		{"of a task that has ended", "stdio\nopen 2025-11-25" + able + task + tell(`"p"`, "1") + status("failed") + tell(`"p"`, "2"), "+PROGRESS-TASK-TOKEN@server -PROGRESS-TASK-STOPS@server"},
		{"of a task under another token", "stdio\nopen 2025-11-25" + able + task +
			`<- {"method":"notifications/progress","params":{"progressToken":"t","progress":1,"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t"}}}}`, "-PROGRESS-TASK-TOKEN@server -PROGRESS-TOKEN-ACTIVE@server"},
		{"of a task that was announced as ended", "stdio\nopen 2025-11-25" + able + strings.Replace(task, "working", "completed", 1) + tell(`"p"`, "2"), "-TASKS-BEGIN-WORKING -PROGRESS-TASK-STOPS@server"},
		{"of a task, on another stream than the one that has told its end", `http
			open 2025-11-25 server={"tools":{},"tasks":{"requests":{"tools":{"call":{}}}}}
			GET@g
			200 sse
			POST@a
			-> {"id":1,"method":"tools/call","params":{"name":"t","task":{},"_meta":{"progressToken":"p"}}}
			200 sse
			<- ` + announced + `
			end
			POST@b
			-> {"id":2,"method":"tasks/get","params":{"taskId":"t"}}
			200 json
			<- {"id":2,"result":{"taskId":"t","status":"completed","createdAt":"2025-11-25T00:00:00Z","lastUpdatedAt":"2025-11-25T00:00:00Z","ttl":null}}
			end
			@g
			` + tell(`"p"`, "3") + "end", "+PROGRESS-TASK-TOKEN@server +PROGRESS-TASK-STOPS@server"},
		{"of the client for the server's request", `stdio
			open 2025-11-25
			<- {"id":9,"method":"ping","params":{"_meta":{"progressToken":5}}}
			-> {"method":"notifications/progress","params":{"progressToken":5,"progress":1}}
			-> {"id":9,"result":{}}`, "+PROGRESS-TOKEN-ACTIVE@client +PROGRESS-STOPS@client"},
	}
}

func cancellationCases() []ruleCase {
	cancel := func(id string) string {
		return `{"method":"notifications/cancelled","params":{"requestId":` + id + `}}` + "\n"
	}
	const (
		slow     = "stdio\n" + `-> {"id":1,"method":"tools/list","params":{"_meta":{"progressToken":"p","io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}` + "\n"
		told     = `<- {"method":"notifications/progress","params":{"progressToken":"p","progress":1}}` + "\n"
		later    = `-> {"id":2,"method":"tools/list","params":{$meta}}` + "\n"
		answered = `<- {"id":2,"result":{"tools":[],$ok,$hints}}` + "\n"
	)
	able := ` server={"tools":{},"tasks":{"cancel":{},"requests":{"tools":{"call":{}}}}}` + "\n"
	ask := `-> {"id":1,"method":"tools/call","params":{"name":"t","task":{}}}` + "\n"
	task := ask + `<- {"id":1,"result":{"task":{"taskId":"t","status":"working","createdAt":"2025-11-25T00:00:00Z","lastUpdatedAt":"2025-11-25T00:00:00Z","ttl":null}}}` + "\n"
	return []ruleCase{
		{"an own request", "stdio\nopen 2025-11-25\n-> {\"id\":1,\"method\":\"x/y\"}\n-> " + cancel("1") + "-> {\"id\":2,\"method\":\"ping\"}\n<- {\"id\":2,\"result\":{}}", "+CANCEL-OWN-REQUEST@client +CANCEL-NOT-INITIALIZE +CANCEL-NO-RESPONSE@server"},
		{"a request of nobody", "stdio\nopen 2025-11-25\n-> " + cancel("77"), "-CANCEL-OWN-REQUEST@client"},
		{"the other side's request", "stdio\nopen 2025-11-25\n-> {\"id\":1,\"method\":\"x/y\"}\n<- " + cancel("1"), "-CANCEL-OWN-REQUEST@server"},
		{"from before the capture", "stdio lacks=start revision=2025-11-25\n-> " + cancel("77"), "?CANCEL-OWN-REQUEST@client"},
		{"too late", "stdio\nopen 2025-11-25\n-> {\"id\":1,\"method\":\"ping\"}\n<- {\"id\":1,\"result\":{}}\n-> " + cancel("1"), "+CANCEL-OWN-REQUEST@client"},
		{"initialize", "stdio\n" + initializeLine + "-> " + cancel("0") + initializedLine, "-CANCEL-NOT-INITIALIZE"},
		{"answered with an error that says so", "stdio\nopen 2025-11-25\n-> {\"id\":1,\"method\":\"x/y\"}\n-> " + cancel("1") + "<- {\"id\":1,\"error\":{\"code\":0,\"message\":\"Request cancelled\"}}", "-CANCEL-NO-RESPONSE@server"},
		{"crossed by the response", "stdio\nopen 2025-11-25\n-> {\"id\":1,\"method\":\"ping\"}\n-> " + cancel("1") + "<- {\"id\":1,\"result\":{}}", "!CANCEL-NO-RESPONSE@server"},
		{"too late, and the server complains", "stdio\nopen 2025-11-25\n-> {\"id\":1,\"method\":\"ping\"}\n<- {\"id\":1,\"result\":{}}\n-> " + cancel("1") + "<- {\"id\":1,\"error\":{\"code\":-32602,\"message\":\"too late\"}}",
			"-CANCEL-RACE-HARMLESS@server -IDS-ANSWERED-ONCE@server"},
		{"too late, and the server goes on", "stdio\nopen 2025-11-25\n-> {\"id\":1,\"method\":\"ping\"}\n<- {\"id\":1,\"result\":{}}\n-> " + cancel("1") + "-> {\"id\":2,\"method\":\"ping\"}\n<- {\"id\":2,\"result\":{}}",
			"+CANCEL-RACE-HARMLESS@server"},
		{"too late, while the server answers what was asked before", "stdio\nopen 2025-11-25\n-> {\"id\":1,\"method\":\"ping\"}\n-> {\"id\":2,\"method\":\"ping\"}\n<- {\"id\":1,\"result\":{}}\n-> " + cancel("1") + "<- {\"id\":2,\"result\":{}}",
			"!CANCEL-RACE-HARMLESS"},
		{"crossed, and the client complains", "stdio\nopen 2025-11-25\n-> {\"id\":1,\"method\":\"ping\"}\n-> " + cancel("1") + "<- {\"id\":1,\"result\":{}}\n-> {\"id\":1,\"error\":{\"code\":-32600,\"message\":\"what is this\"}}",
			"-CANCEL-LATE-RESPONSE-IGNORED@client -IDS-RESPONSE-ECHO@client"},
		{"crossed, and the client goes on", "stdio\nopen 2025-11-25\n-> {\"id\":1,\"method\":\"ping\"}\n-> " + cancel("1") + "<- {\"id\":1,\"result\":{}}\n-> {\"id\":2,\"method\":\"ping\"}\n<- {\"id\":2,\"result\":{}}",
			"+CANCEL-LATE-RESPONSE-IGNORED@client"},
		{"a task by a notification", "stdio\nopen 2025-11-25" + able + task + "-> " + cancel("1"), "-CANCEL-TASK-BY-METHOD@client"},
		{"a request that may become a task, before it has", "stdio\nopen 2025-11-25" + able + ask + "-> " + cancel("1"), "!CANCEL-TASK-BY-METHOD"},
		{"a request that asked for a task and got a result", "stdio\nopen 2025-11-25" + able + ask + "<- {\"id\":1,\"result\":{\"content\":[]}}\n-> " + cancel("1"), "!CANCEL-TASK-BY-METHOD"},
		{"a task by its method", "stdio\nopen 2025-11-25" + able + task + `-> {"id":2,"method":"tasks/cancel","params":{"taskId":"t"}}`, "+CANCEL-TASK-BY-METHOD@client"},
		{"by a server of 2026-07-28", `stdio
			-> {"id":1,"method":"tools/list","params":{$meta}}
			<- ` + cancel("1"), "-CANCEL-SERVER-LISTEN-ONLY"},
		{"a subscription that the server ends", `stdio
			-> {"id":1,"method":"subscriptions/listen","params":{"notifications":{},$meta}}
			<- ` + cancel("1"), "+CANCEL-SERVER-LISTEN-ONLY"},
		{"silence after a cancellation", slow + "-> " + cancel("1") + later + answered, "+CANCEL-SILENT +CANCEL-OWN-REQUEST@client"},
		{"progress that crosses a cancellation", slow + "-> " + cancel("1") + told + later + answered, "+CANCEL-SILENT"},
		{"progress after a cancellation", slow + "-> " + cancel("1") + later + answered + told, "-CANCEL-SILENT"},
		{"a response after a cancellation", slow + "-> " + cancel("1") + later + answered + strings.Replace(answered, `"id":2`, `"id":1`, 1), "-CANCEL-SILENT"},
		{"a response that crosses a cancellation", slow + "-> " + cancel("1") + later + strings.Replace(answered, `"id":2`, `"id":1`, 1) + answered, "!CANCEL-SILENT"},
		{"an answer to something older proves nothing", slow + later + "-> " + cancel("1") + answered + told, "!CANCEL-SILENT"},
	}
}
