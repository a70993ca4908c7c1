package schemas

// early is the amendments of the revisions before 2025-11-25, as amendments()
// is of the later ones.
func early() []amendment {
	c := []Revision{R20250618}
	abc := []Revision{R20241105, R20250326, R20250618}
	b := []Revision{R20250326}
	ask := func(method, params string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":` + params + `}`
	}
	tell := func(method, params string) string {
		return `{"jsonrpc":"2.0","method":"` + method + `","params":` + params + `}`
	}
	return []amendment{
		{"S2", c, "ElicitResult", `{"action":"accept","content":{"ratio":0.5}}`, ``},
		{"S3", abc, "Tool", `{"name":"a","inputSchema":{"type":"object","properties":{"x":true}}}`, ``},
		{"S3", c, "Tool", `{"name":"a","inputSchema":{"type":"object"},"outputSchema":{"type":"object","properties":{"x":false}}}`, ``},
		{"S4", abc, "JSONRPCError", `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m"}}`, ``},
		{"S4", abc, "JSONRPCError", `{"jsonrpc":"2.0","error":{"code":-32700,"message":"m"}}`, ``},
		{"S10", abc, "Resource", `{"uri":"a:b","name":"n","size":1.5}`, ``},
		{"S10", c, "ResourceLink", `{"type":"resource_link","uri":"a:b","name":"n","size":1.5}`, ``},
		{"S10", abc, "CompleteResult", `{"completion":{"values":[],"total":1.5}}`, ``},
		{"S10", abc, "CreateMessageRequest", ask("sampling/createMessage", `{"messages":[],"maxTokens":1.5}`), ``},

		{"L1", abc, "ServerResult", `{"more":1}`, `{"prompts":{}}`},
		{"L1", abc, "ClientResult", `{"roots":[]}`, `{"roots":{}}`},
		{"L2", abc, "JSONRPCRequest", ask("m", `{}`), `{"jsonrpc":"2.0","id":1,"method":"m","result":{}}`},
		{"L2", abc, "JSONRPCNotification", tell("m", `{}`), `{"jsonrpc":"2.0","method":"m","id":null}`},
		{"L2", abc, "JSONRPCResponse", `{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":""}}`},
		{"L2", abc, "JSONRPCError", `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"}}`, `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"},"result":{}}`},
		{"L3", b, "JSONRPCBatchRequest", `[` + ask("ping", `{}`) + `]`, `[]`},
		{"L3", b, "JSONRPCBatchResponse", `[{"jsonrpc":"2.0","id":1,"result":{}}]`, `[]`},
		{"L4", abc, "PingRequest", ask("ping", `{}`), `{"method":"ping"}`},
		{"L4", abc, "ProgressNotification", tell("notifications/progress", `{"progressToken":0,"progress":0.5}`), `{"method":"notifications/progress","params":{"progressToken":0,"progress":0.5}}`},
		{"L4", abc, "ReadResourceRequest", ask("resources/read", `{"uri":"a:b","_meta":{"progressToken":"t"}}`), ask("resources/read", `{"uri":"a:b","_meta":{"progressToken":null}}`)},
		{"L4", abc, "CancelledNotification", tell("notifications/cancelled", `{"requestId":0,"_meta":{}}`), tell("notifications/cancelled", `{"requestId":0,"_meta":[]}`)},
		{"L18", abc, "Tool", `{"name":"a","inputSchema":{"type":"object","properties":{"x":{"items":[{"type":"string"}]}}}}`, `{"name":"a","inputSchema":{"type":"object","properties":{"x":{"type":"strin"}}}}`},
		{"L18", c, "Tool", `{"name":"a","inputSchema":{"type":"object"},"outputSchema":{"type":"object"}}`, `{"name":"a","inputSchema":{"type":"object"},"outputSchema":{"type":"object","properties":{"v":{"$ref":"#/$defs/Screen"}}}}`},
		{"L20", abc, "CompleteResult", completion(100), completion(101)},
		{"L21", abc, "Resource", `{"uri":"a:b","name":"n","size":0}`, `{"uri":"a:b","name":"n","size":-1}`},
		{"L21", abc, "CompleteResult", `{"completion":{"values":[],"total":0}}`, `{"completion":{"values":[],"total":-1}}`},
		{"L21", abc, "CreateMessageRequest", ask("sampling/createMessage", `{"messages":[],"maxTokens":0}`), ask("sampling/createMessage", `{"messages":[],"maxTokens":-1}`)},
		{"L22", abc, "ImageContent", `{"type":"image","data":"AA==","mimeType":"image/png"}`, `{"type":"image","data":"AA","mimeType":"image/png"}`},
		{"L23", abc, "Resource", `{"uri":"custom:x","name":"n"}`, `{"uri":"/x","name":"n"}`},
		{"L23", abc, "ResourceTemplate", `{"uriTemplate":"file:///{path}","name":"n"}`, `{"uriTemplate":"file:///{path","name":"n"}`},
		{"L24", abc, "Root", `{"uri":"file:///a"}`, `{"uri":"http://a"}`},
		{"L26", c, "Annotations", `{"lastModified":"2025-01-12"}`, `{"lastModified":"yesterday"}`},
		{"L27", c, "CallToolResult", `{"content":[],"_meta":{"com.example/a.b":1,"":2}}`, `{"content":[],"_meta":{"-a":1}}`},
		{"L27", c, "PingRequest", ask("ping", `{"_meta":{"a/b":1}}`), ask("ping", `{"_meta":{"a b":1}}`)},
		{"L29", c, "ElicitResult", `{"action":"decline","content":null}`, `{"action":"decline","content":{"x":"y"}}`},
		{"L29", c, "ElicitResult", `{"action":"decline","content":null}`, ``},
		{"L30", c, "PrimitiveSchemaDefinition", `{"type":"string","enum":["a"],"enumNames":["A"]}`, `{"type":"string","enum":["a"],"format":"ipv4"}`},
		{"L30", c, "PrimitiveSchemaDefinition", `{"type":"number","minimum":0.5}`, `{"type":"string","enum":[1,2]}`},
	}
}

// earlyRemarks is the remarks of the revisions before 2025-11-25.
func earlyRemarks() []remark {
	c := []Revision{R20250618}
	abc := []Revision{R20241105, R20250326, R20250618}
	sample := func(tokens string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{"messages":[],"maxTokens":` + tokens + `}}`
	}
	return []remark{
		{"S10", abc, "Resource", `{"uri":"a:b","name":"n","size":1.5}`},
		{"S10", abc, "CompleteResult", `{"completion":{"values":[],"total":1.5}}`},
		{"S10", abc, "CreateMessageRequest", sample("1.5")},
		{"L21", abc, "CreateMessageRequest", sample("0")},
		{"L29", c, "ElicitResult", `{"action":"decline","content":{}}`},
		{"L30", c, "EnumSchema", `{"type":"string","enum":["a"],"enumNames":["A","B"]}`},
		{"L31", c, "ElicitRequest", `{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object","properties":{},"additionalProperties":false}}}`},
		{"L31", c, "ElicitRequest", `{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object","properties":{"a":{"type":"string"}},"required":["a","b"]}}}`},
		{"L31", []Revision{R20251125, R20260728}, "ElicitRequestFormParams", `{"message":"m","requestedSchema":{"type":"object","properties":{"a":{"type":"string"}},"required":["a","b"]}}`},
		{"L33", abc, "ReadResourceResult", `{"contents":[{"uri":"a:b","text":"t","blob":""}]}`},
		{"L33", abc, "EmbeddedResource", `{"type":"resource","resource":{"uri":"a:b","text":"t","blob":""}}`},
		{"L34", abc, "Tool", `{"name":"","inputSchema":{"type":"object"}}`},
		{"L34", abc, "Implementation", `{"name":"n","version":""}`},
	}
}
