package conformance

import "strings"

func taskCases() []ruleCase {
	const (
		caps  = `{"tools":{},"tasks":{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}}`
		when  = `"createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z","ttl":60000`
		tools = `{"tools":[{"name":"o","inputSchema":{"type":"object"},"execution":{"taskSupport":"optional"}},` +
			`{"name":"r","inputSchema":{"type":"object"},"execution":{"taskSupport":"required"}},{"name":"f","inputSchema":{"type":"object"}}]}`
		content = `"content":[{"type":"text","text":"x"}]`
		related = `"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"k"}}`
	)
	open := func(server string) string {
		return "stdio\nopen 2025-11-25 server=" + server + " client={\"elicitation\":{}}\n-> {\"id\":\"l\",\"method\":\"tools/list\"}\n<- {\"id\":\"l\",\"result\":" + tools + "}\n"
	}
	start := open(caps)
	call := func(id, tool, answer string) string {
		return "-> {\"id\":" + id + ",\"method\":\"tools/call\",\"params\":{\"name\":\"" + tool + "\",\"task\":{\"ttl\":60000}}}\n<- {\"id\":" + id + "," + answer + "}\n"
	}
	task := func(id, status, more string) string {
		return `{"taskId":"` + id + `","status":"` + status + `",` + when + more + `}`
	}
	made := `"result":{"task":` + task("k", "working", "") + `}`
	begun := start + call("1", "o", made)
	on := func(id, method, params, answer string) string {
		return "-> {\"id\":" + id + ",\"method\":\"tasks/" + method + "\",\"params\":" + params + "}\n<- {\"id\":" + id + "," + answer + "}\n"
	}
	get := func(id, status string) string {
		return on(id, "get", `{"taskId":"k"}`, `"result":`+task("k", status, `,"statusMessage":"m"`))
	}
	const invalid = `"error":{"code":-32602,"message":"x"}`
	const absent = `"error":{"code":-32601,"message":"x"}`
	plain := func(tool, answer string) string {
		return "-> {\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"" + tool + "\"}}\n<- {\"id\":1," + answer + "}\n"
	}
	return append([]ruleCase{
		{"a task is made", begun, "+TASKS-DECLARED +TASKS-AUGMENT-DECLARED +TASKS-TOOL-CALL-DECLARED +TASKS-TOOL-FORBIDDEN +TASKS-CREATED-RESULT +TASKS-ID-STRING +TASKS-ID-UNIQUE +TASKS-BEGIN-WORKING +TASKS-CREATED-AT +TASKS-UPDATED-AT"},
		{"a task asked for and not made", start + call("1", "o", `"result":{`+content+`}`), "-TASKS-CREATED-RESULT"},
		{"a task asked for and refused", start + call("1", "o", `"error":{"code":-32603,"message":"x"}`), "!TASKS-CREATED-RESULT"},
		{"a task of a tool that cannot be one", start + call("1", "f", absent), "-TASKS-TOOL-FORBIDDEN +TASKS-TOOL-FORBIDDEN-REFUSED"},
		{"a task of a tool that cannot be one, made", start + call("1", "f", made), "-TASKS-TOOL-FORBIDDEN -TASKS-TOOL-FORBIDDEN-REFUSED"},
		{"a task of a tool that must be one", start + call("1", "r", made), "+TASKS-TOOL-REQUIRED +TASKS-TOOL-FORBIDDEN"},
		{"a plain call of a tool that must be a task", start + plain("r", absent), "-TASKS-TOOL-REQUIRED +TASKS-TOOL-REQUIRED-REFUSED"},
		{"a plain call of a tool that must be a task, carried out", start + plain("r", `"result":{`+content+`}`), "-TASKS-TOOL-REQUIRED -TASKS-TOOL-REQUIRED-REFUSED"},
		{"a plain call refused by the request type", start + plain("r", `"error":{"code":-32600,"message":"x"}`), "-TASKS-TOOL-REQUIRED !TASKS-TOOL-REQUIRED-REFUSED"},
		{"no tasks", open(`{"tools":{}}`) + call("1", "o", `"result":{`+content+`}`), "-TASKS-AUGMENT-DECLARED -TASKS-TOOL-CALL-DECLARED +TASKS-UNDECLARED-IGNORED !TASKS-TOOL-FORBIDDEN"},
		{"no tasks and yet one", open(`{"tools":{}}`) + call("1", "o", made), "-TASKS-AUGMENT-DECLARED -TASKS-TOOL-CALL-DECLARED -TASKS-UNDECLARED-IGNORED -TASKS-DECLARED"},
		{"an id that is a number", start + call("1", "o", strings.Replace(made, `"k"`, `7`, 1)), "-TASKS-ID-STRING -SCHEMA-RESULT"},
		{"one id twice", begun + call("2", "o", made), "-TASKS-ID-UNIQUE"},
		{"a task complete from the beginning", start + call("1", "o", `"result":{"task":`+task("k", "completed", "")+`}`), "-TASKS-BEGIN-WORKING"},
		{"a task without times", start + call("1", "o", `"result":{"task":{"taskId":"k","status":"working","ttl":null,"createdAt":"yesterday"}}`), "-TASKS-CREATED-AT -TASKS-UPDATED-AT -SCHEMA-RESULT"},
		{"a task that ends", begun + get("2", "input_required") + get("3", "working") + get("4", "completed") + get("5", "completed"), "+TASKS-TRANSITIONS +TASKS-TERMINAL-FINAL +TASKS-TTL +TASKS-ID-PARAM"},
		{"a task that goes on", begun + get("2", "cancelled") + get("3", "completed"), "-TASKS-TERMINAL-FINAL -TASKS-TRANSITIONS"},
		{"a poll that was overtaken", begun + "-> {\"id\":2,\"method\":\"tasks/get\",\"params\":{\"taskId\":\"k\"}}\n" +
			"<- {\"method\":\"notifications/tasks/status\",\"params\":" + strings.Replace(task("k", "completed", ""), `UpdatedAt":"2026-01-01T00:00:00Z`, `UpdatedAt":"2026-01-01T00:00:09Z`, 1) + "}\n" +
			"<- {\"id\":2,\"result\":" + task("k", "working", "") + "}", "!TASKS-TERMINAL-FINAL +TASKS-TRANSITIONS"},
		{"another task than was asked for", begun + on("2", "get", `{"taskId":"k"}`, `"result":`+task("j", "working", "")), "-TASKS-ID-PARAM"},
		{"no ttl", begun + on("2", "get", `{"taskId":"k"}`, `"result":{"taskId":"k","status":"working","createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z"}`), "-TASKS-TTL -SCHEMA-RESULT"},
		{"a failure with a reason", begun + get("2", "failed"), "+TASKS-STATUS-MESSAGE"},
		{"a failure without a reason", begun + on("2", "get", `{"taskId":"k"}`, `"result":`+task("k", "failed", "")), "-TASKS-STATUS-MESSAGE"},
		{"a result", begun + on("2", "result", `{"taskId":"k"}`, `"result":{`+content+`,`+related+`}`) + get("3", "completed"), "+TASKS-RESULT-RELATED +TASKS-RESULT-FINAL +TASKS-RESULT-BLOCKS"},
		{"a result too early", begun + on("2", "result", `{"taskId":"k"}`, `"result":{`+content+`,`+related+`}`) + get("3", "working"), "-TASKS-RESULT-BLOCKS"},
		{"a result without its task", begun + on("2", "result", `{"taskId":"k"}`, `"result":{`+content+`}`), "-TASKS-RESULT-RELATED -SCHEMA-RESULT"},
		{"the task for a result", begun + on("2", "result", `{"taskId":"k"}`, `"result":{"task":`+task("k", "completed", "")+`,`+related+`}`), "-TASKS-RESULT-FINAL"},
		{"cancelled", begun + on("2", "cancel", `{"taskId":"k"}`, `"result":`+task("k", "cancelled", "")) + on("3", "cancel", `{"taskId":"k"}`, invalid), "+TASKS-CANCEL-STATUS +TASKS-CANCEL-TERMINAL"},
		{"cancelled but working", begun + on("2", "cancel", `{"taskId":"k"}`, `"result":`+task("k", "working", "")), "-TASKS-CANCEL-STATUS"},
		{"cancelled twice", begun + get("2", "completed") + on("3", "cancel", `{"taskId":"k"}`, `"result":`+task("k", "completed", "")), "-TASKS-CANCEL-TERMINAL"},
		{"an unknown task", begun + on("2", "get", `{"taskId":"nobody"}`, invalid), "+TASKS-UNKNOWN"},
		{"an unknown task and another code", begun + on("2", "result", `{"taskId":"nobody"}`, `"error":{"code":-32001,"message":"x"}`), "-TASKS-UNKNOWN"},
		{"an unknown task that cannot be cancelled", open(`{"tools":{},"tasks":{}}`) + on("2", "cancel", `{"taskId":"nobody"}`, absent), "!TASKS-UNKNOWN -LIFECYCLE-CLIENT-CAPABILITIES-RESPECTED"},
		{"a listed task", begun + on("2", "list", `{}`, `"result":{"tasks":[`+task("k", "working", "")+`]}`) + get("3", "working"), "+TASKS-LISTED"},
		{"a task that is not listed", begun + on("2", "list", `{}`, `"result":{"tasks":[]}`) + get("3", "working"), "-TASKS-LISTED"},
		{"a task on a page to come", begun + on("2", "list", `{}`, `"result":{"tasks":[],"nextCursor":"n"}`) + get("3", "working"), "!TASKS-LISTED"},
		{"polls with a pause", begun + on("2", "get", `{"taskId":"k"}`, `"result":`+task("k", "working", `,"pollInterval":1000`)) + "wait 900\n" + get("3", "working"), "+TASKS-POLL-INTERVAL"},
		{"polls without a pause", begun + on("2", "get", `{"taskId":"k"}`, `"result":`+task("k", "working", `,"pollInterval":1000`)) + "wait 10\n" + get("3", "working"), "-TASKS-POLL-INTERVAL"},
	}, taskMetaCases(begun, related, get("2", "working"), task("k", "working", ""))...)
}

func taskMetaCases(begun, related, get, task string) []ruleCase {
	const ask = `"method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}},`
	inquiry := begun + "<- {\"id\":7," + ask + related + "}}\n"
	stream := strings.Replace(begun, "stdio", "http", 1)
	stream = strings.NewReplacer("-> ", "POST\n-> ", "<- ", "answer ").Replace(stream)
	posted := func(answer string) string {
		return stream + "POST\n-> {\"id\":2,\"method\":\"tasks/get\",\"params\":{\"taskId\":\"k\"}}\n" + answer
	}
	result := stream + "POST\n-> {\"id\":2,\"method\":\"tasks/result\",\"params\":{\"taskId\":\"k\"}}\n200 sse\nevent e\n<- {\"id\":7," + ask
	return []ruleCase{
		{"a poll without the task in _meta", begun + get, "+TASKS-OPERATION-NO-RELATED"},
		{"a poll with the task in _meta", begun + strings.Replace(get, `"params":{`, `"params":{`+related+`,`, 1), "-TASKS-OPERATION-NO-RELATED@client"},
		{"a status with the task in _meta", begun + "<- {\"method\":\"notifications/tasks/status\",\"params\":" + strings.TrimSuffix(task, "}") + "," + related + "}}", "-TASKS-OPERATION-NO-RELATED"},
		{"an answer that names the task", inquiry + "-> {\"id\":7,\"result\":{\"action\":\"decline\"," + related + "}}", "+TASKS-RELATED-META"},
		{"an answer that does not name the task", inquiry + "-> {\"id\":7,\"result\":{\"action\":\"decline\"}}", "-TASKS-RELATED-META"},
		{"a poll answered at once", posted("answer {\"id\":2,\"result\":" + task + "}"), "+TASKS-GET-NO-STREAM"},
		{"a poll answered with a stream", posted("200 sse\nevent e\n<- {\"id\":2,\"result\":" + task + "}\nend"), "-TASKS-GET-NO-STREAM"},
		{"a question on the stream of a task", result + related + "}}", "+TASKS-RELATED-META"},
		{"a question on the stream of a task that does not name it", strings.TrimSuffix(result, ",") + "}}", "-TASKS-RELATED-META"},
	}
}
