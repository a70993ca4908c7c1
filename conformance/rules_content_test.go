package conformance

import "strings"

// exchange is a session with capabilities in which the client asks and the
// server answers.
func exchange(revision, server string, pairs ...string) string {
	text := "stdio\nopen " + revision + " server=" + server + "\n"
	for i := 0; i+1 < len(pairs); i += 2 {
		id := string(rune('1' + i/2))
		text += "-> {\"id\":" + id + "," + pairs[i] + "}\n<- {\"id\":" + id + "," + pairs[i+1] + "}\n"
	}
	return text
}

func contentCases() []ruleCase {
	const (
		all  = `{"tools":{},"prompts":{},"resources":{}}`
		read = `"method":"resources/read","params":{"uri":"a:b"}`
		get  = `"method":"prompts/get","params":{"name":"p"}`
		list = `"method":"prompts/list"`
	)
	blob := func(data string) string {
		return exchange("2025-11-25", all, read, `"result":{"contents":[{"uri":"a:b","blob":"`+data+`"}]}`)
	}
	prompt := func(content string) string {
		return exchange("2025-11-25", all, get, `"result":{"messages":[{"role":"user","content":`+content+`}]}`)
	}
	resource := func(uri string) string {
		return exchange("2025-11-25", all, `"method":"resources/list"`, `"result":{"resources":[{"uri":"`+uri+`","name":"n"}]}`)
	}
	embedding := func(server string) string {
		return exchange("2025-11-25", server, `"method":"tools/call","params":{"name":"t"}`, `"result":{"content":[{"type":"resource","resource":{"uri":"a:b","text":"x"}}]}`)
	}
	needy := func(arguments, answer string) string {
		return exchange("2025-11-25", all, `"method":"tools/list"`, `"result":{"tools":[{"name":"t","inputSchema":{"type":"object","properties":{"a":{}},"required":["a"]}}]}`,
			`"method":"tools/call","params":{"name":"t","arguments":`+arguments+`}`, answer)
	}
	asked := func(arguments, answer string) string {
		return exchange("2025-11-25", all, list, `"result":{"prompts":[{"name":"p","arguments":[{"name":"a","required":true},{"name":"b"}]}]}`,
			`"method":"prompts/get","params":{"name":"p","arguments":`+arguments+`}`, answer)
	}
	mirrored := func(name string) string {
		return toolsOf("2026-07-28", `{"name":"t","inputSchema":{"type":"object","properties":{"`+name+`":{"type":"string","x-mcp-header":"H"}}}}`)
	}
	rootless := func(client, answer string) string {
		return "stdio\nopen 2025-11-25 client=" + client + "\n<- {\"id\":1,\"method\":\"roots/list\"}\n-> {\"id\":1," + answer + "}"
	}
	return []ruleCase{
		{"a blob", blob("AAAA"), "+RESOURCES-BLOB-BASE64"},
		{"an empty blob", blob(""), "+RESOURCES-BLOB-BASE64"},
		{"a blob in hexadecimal", blob("00 ff"), "-RESOURCES-BLOB-BASE64 -SCHEMA-RESULT"},
		{"an image in a prompt", prompt(`{"type":"image","data":"AAAA","mimeType":"image/png"}`), "+PROMPTS-MEDIA-ENCODED"},
		{"an image in a prompt that is not encoded", prompt(`{"type":"image","data":"<svg>","mimeType":"image/svg+xml"}`), "-PROMPTS-MEDIA-ENCODED -SCHEMA-RESULT"},
		{"a sound in a prompt without a MIME type", prompt(`{"type":"audio","data":"AAAA","mimeType":"wav"}`), "-PROMPTS-MEDIA-ENCODED"},
		{"a resource in a prompt", prompt(`{"type":"resource","resource":{"uri":"a:b","text":""}}`), "+PROMPTS-EMBEDDED-RESOURCES"},
		{"a resource in a prompt without contents", prompt(`{"type":"resource","resource":{"uri":"a:b"}}`), "-PROMPTS-EMBEDDED-RESOURCES -SCHEMA-RESULT"},
		{"a URI of one's own", resource("note:a/b?c#d"), "+RESOURCES-URI"},
		{"a URI with a space", resource("note:a b"), "-RESOURCES-URI -SCHEMA-RESULT"},
		{"a URI of a file", resource("file:///a"), "!RESOURCES-URI"},
		{"a tool that embeds a resource", embedding(all), "+TOOLS-EMBEDDED-RESOURCES"},
		{"a tool that embeds a resource of a server without", embedding(`{"tools":{}}`), "-TOOLS-EMBEDDED-RESOURCES"},
		{"all arguments", needy(`{"a":null}`, `"result":{"content":[]}`), "!TOOLS-INPUT-VALIDATED"},
		{"an argument missing and refused", needy(`{}`, `"error":{"code":-32602,"message":"x"}`), "+TOOLS-INPUT-VALIDATED -TOOLS-ARGUMENTS-FIT"},
		{"an argument missing and failed", needy(`{}`, `"result":{"content":[],"isError":true}`), "+TOOLS-INPUT-VALIDATED -TOOLS-ARGUMENTS-FIT"},
		{"an argument missing and let pass", needy(`{}`, `"result":{"content":[]}`), "-TOOLS-INPUT-VALIDATED -TOOLS-ARGUMENTS-FIT"},
		{"a prompt with its argument", asked(`{"a":"x"}`, `"result":{"messages":[]}`), "!PROMPTS-ARGUMENTS-VALIDATED"},
		{"a prompt without its argument", asked(`{"b":"x"}`, `"error":{"code":-32602,"message":"x"}`), "+PROMPTS-ARGUMENTS-VALIDATED"},
		{"a prompt without its argument and another code", asked(`{}`, `"error":{"code":-32603,"message":"x"}`), "-PROMPTS-ARGUMENTS-VALIDATED"},
		{"a prompt without its argument let pass", asked(`{}`, `"result":{"messages":[]}`), "-PROMPTS-ARGUMENTS-VALIDATED"},
		{"a region in a header", mirrored("region"), "+TOOLS-HEADER-NOT-SENSITIVE"},
		{"a key in a header", mirrored("api_key"), "-TOOLS-HEADER-NOT-SENSITIVE"},
		{"no roots", rootless(`{}`, `"error":{"code":-32601,"message":"x"}`), "+ROOTS-UNSUPPORTED-REFUSED -LIFECYCLE-SERVER-CAPABILITIES-RESPECTED"},
		{"no roots and another code", rootless(`{}`, `"error":{"code":-32603,"message":"x"}`), "-ROOTS-UNSUPPORTED-REFUSED -LIFECYCLE-SERVER-CAPABILITIES-RESPECTED"},
		{"roots out of order", rootless(`{"roots":{}}`, `"error":{"code":-32603,"message":"x"}`), "!ROOTS-UNSUPPORTED-REFUSED"},
	}
}

func listCases() []ruleCase {
	const told = "<- {\"method\":\"notifications/%/list_changed\"}\n"
	tool := func(names ...string) string {
		var list []string
		for _, n := range names {
			list = append(list, `{"name":"`+n+`","inputSchema":{"type":"object"}}`)
		}
		return `{"tools":[` + strings.Join(list, ",") + `]`
	}
	twice := func(kind, first, between, second string) string {
		return "stdio\nopen 2025-11-25 server={\"" + kind + "\":{\"listChanged\":true}}\n-> {\"id\":1,\"method\":\"" + kind + "/list\"}\n<- {\"id\":1,\"result\":" + first + "}}\n" +
			strings.Replace(between, "%", kind, 1) + "-> {\"id\":2,\"method\":\"" + kind + "/list\"}\n<- {\"id\":2,\"result\":" + second + "}}\n"
	}
	prompt := func(name string) string { return `{"prompts":[{"name":"` + name + `"}]` }
	resource := func(uri string) string { return `{"resources":[{"name":"n","uri":"` + uri + `"}]` }
	roots := func(between string) string {
		return "stdio\nopen 2025-11-25 client={\"roots\":{\"listChanged\":true}}\n<- {\"id\":1,\"method\":\"roots/list\"}\n-> {\"id\":1,\"result\":{\"roots\":[]}}\n" + between +
			"<- {\"id\":2,\"method\":\"roots/list\"}\n-> {\"id\":2,\"result\":{\"roots\":[{\"uri\":\"file:///a\"}]}}\n"
	}
	modern := func(pairs ...string) string {
		text := "stdio\n"
		for i := 0; i+1 < len(pairs); i += 2 {
			id := string(rune('1' + i/2))
			text += "-> {\"id\":" + id + ",\"method\":\"tools/list\",\"params\":{" + pairs[i] + "$meta}}\n<- {\"id\":" + id + "," + pairs[i+1] + "}\n"
		}
		return text + "-> {\"id\":9,\"method\":\"server/discover\",\"params\":{$meta}}\n<- {\"id\":9,\"result\":{\"supportedVersions\":[\"2026-07-28\"],\"capabilities\":{\"tools\":{}},$ok,$hints}}\n"
	}
	const goesOn = "-> {\"id\":8,\"method\":\"ping\"}\n<- {\"id\":8,\"result\":{}}\n"
	const hints = `,$ok,"ttlMs":5,"cacheScope":"private"`
	page := func(more string, names ...string) string { return `"result":` + tool(names...) + hints + more + "}" }
	const refused = `"error":{"code":-32602,"message":"x"}`
	return []ruleCase{
		{"tools that changed and were told", twice("tools", tool("a"), told, tool("b")), "+TOOLS-CHANGE-NOTIFIED"},
		{"tools that changed and were told later", twice("tools", tool("a"), "", tool("b")) + strings.Replace(told, "%", "tools", 1), "+TOOLS-CHANGE-NOTIFIED"},
		{"tools that changed in silence", twice("tools", tool("a"), "", tool("b")) + goesOn, "-TOOLS-CHANGE-NOTIFIED"},
		{"tools that changed nothing but their order", twice("tools", tool("a", "b"), "", tool("b", "a")), "!TOOLS-CHANGE-NOTIFIED !TOOLS-ORDER"},
		{"tools that change without a promise", strings.Replace(twice("tools", tool("a"), "", tool("b")), "true", "false", 1), "!TOOLS-CHANGE-NOTIFIED"},
		{"prompts that changed and were told", twice("prompts", prompt("a"), told, prompt("b")), "+PROMPTS-CHANGE-NOTIFIED"},
		{"prompts that changed in silence", twice("prompts", prompt("a"), "", prompt("b")) + goesOn, "-PROMPTS-CHANGE-NOTIFIED"},
		{"resources that changed and were told", twice("resources", resource("a:a"), told, resource("a:b")), "+RESOURCES-CHANGE-NOTIFIED"},
		{"resources that changed in silence", twice("resources", resource("a:a"), "", resource("a:b")) + goesOn, "-RESOURCES-CHANGE-NOTIFIED"},
		{"roots that changed and were told", roots("-> {\"method\":\"notifications/roots/list_changed\"}\n"), "+ROOTS-CHANGE-NOTIFIED"},
		{"roots that changed at the very end", roots(""), "!ROOTS-CHANGE-NOTIFIED"},
		{"roots that changed in silence", roots("") + goesOn, "-ROOTS-CHANGE-NOTIFIED"},
		{"tools in one order", modern("", page("", "a", "b"), "", page("", "a", "b")), "+TOOLS-ORDER"},
		{"tools in another order", modern("", page("", "a", "b"), "", page("", "b", "a")), "-TOOLS-ORDER"},
		{"other tools", modern("", page("", "a", "b"), "", page("", "b", "c")), "!TOOLS-ORDER"},
		{"pages of one scope", modern("", page(`,"nextCursor":"n"`, "a"), `"cursor":"n",`, page("", "b")), "+CACHE-SCOPE-PAGES"},
		{"pages of two scopes", modern("", page(`,"nextCursor":"n"`, "a"), `"cursor":"n",`, strings.Replace(page("", "b"), "private", "public", 1)), "-CACHE-SCOPE-PAGES"},
		{"a list begun anew", modern("", page(`,"nextCursor":"n"`, "a"), `"cursor":"n",`, refused, "", page("", "b")), "+CACHE-CURSOR-RESTART"},
		{"a list continued", modern("", page(`,"nextCursor":"n"`, "a"), `"cursor":"n",`, refused, `"cursor":"n",`, refused), "-CACHE-CURSOR-RESTART"},
	}
}
