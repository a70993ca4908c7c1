package schemas

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// amendment is an erratum that changes a schema, with an instance on either
// side of the change: right passes as intended; wrong is refused as intended,
// because of the erratum, and passes as published. A laxer erratum has only a
// right instance, which the published schema refuses.
type amendment struct {
	id         string
	revs       []Revision
	definition string
	right      string
	wrong      string
}

func amendments() []amendment {
	d, e := []Revision{R20251125}, []Revision{R20260728, Draft}
	both, tasks := slices.Concat(d, e), []Revision{Tasks}
	return []amendment{
		{"S1", e, "JSONObject", `{"a":{"b":null,"c":0.5,"d":[null]}}`, ``},
		{"S1", e, "ClientCapabilities", `{"extensions":{"a.b/c":{"ratio":0.5}}}`, ``},
		{"S2", both, "ElicitResult", `{"action":"accept","content":{"ratio":0.5}}`, ``},
		{"S3", d, "Tool", `{"name":"a","inputSchema":{"type":"object","properties":{"x":true}}}`, ``},
		{"S3", d, "Tool", `{"name":"a","inputSchema":{"type":"object"},"outputSchema":{"type":"object","properties":{"x":false}}}`, ``},
		{"S4", both, "JSONRPCErrorResponse", `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m"}}`, ``},
		{"S10", both, "Resource", `{"uri":"a:b","name":"n","size":1.5}`, ``},
		{"S10", both, "CompleteResult", `{"resultType":"complete","completion":{"values":[],"total":1.5}}`, ``},
		{"S10", both, "CreateMessageRequestParams", `{"messages":[],"maxTokens":1.5}`, ``},
		{"L29", both, "ElicitResult", `{"action":"decline","content":null}`, ``},

		{"L1", both, "ServerResult", `{"resultType":"complete"}`, `{"resultType":"complete","prompts":{}}`},
		{"L1", d, "ClientResult", `{}`, `{"roots":{}}`},
		{"L2", both, "JSONRPCRequest", `{"jsonrpc":"2.0","id":1,"method":"m"}`, `{"jsonrpc":"2.0","id":1,"method":"m","result":{}}`},
		{"L2", both, "JSONRPCNotification", `{"jsonrpc":"2.0","method":"m"}`, `{"jsonrpc":"2.0","method":"m","id":null}`},
		{"L2", both, "JSONRPCResultResponse", `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete"}}`, `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete"},"error":null}`},
		{"L2", both, "JSONRPCErrorResponse", `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"}}`, `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"},"result":null}`},
		{"L6", d, "GetTaskRequest", `{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"taskId":"t","_meta":{"progressToken":1}}}`, `{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"taskId":"t","_meta":{"progressToken":null}}}`},
		{"L6", d, "ElicitationCompleteNotification", `{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"e"}}`, `{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"e","_meta":[]}}`},
		{"L9", d, "CancelledNotificationParams", `{"requestId":0}`, `{"reason":"r"}`},
		{"L10", e, "CallToolResult", `{"resultType":"complete","content":[]}`, `{"resultType":"input_required","content":[]}`},
		{"L10", e, "InputRequiredResult", `{"resultType":"input_required","requestState":"s"}`, `{"resultType":"complete","requestState":"s"}`},
		{"L10", e, "CallToolResultResponse", `{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","requestState":"s"}}`, `{"jsonrpc":"2.0","id":1,"result":{"resultType":"task","content":[]}}`},
		{"L11", e, "InputRequiredResult", `{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"}}}`, `{"resultType":"input_required"}`},
		{"L15", e, "ToolListChangedNotification", `{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":0}}}`, `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`},
		{"L15", e, "ResourceUpdatedNotification", `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a:b","_meta":{"io.modelcontextprotocol/subscriptionId":"s"}}}`, `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a:b"}}`},
		{"L16", e, "DiscoverResult", `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{},"ttlMs":0,"cacheScope":"public"}`, `{"resultType":"complete","supportedVersions":[],"capabilities":{},"ttlMs":0,"cacheScope":"public"}`},
		{"L17", e, "ServerCapabilities", `{"extensions":{"com.example/x":{}}}`, `{"extensions":{"x":{}}}`},
		{"L18", both, "Tool", `{"name":"a","inputSchema":{"type":"object","properties":{"x":{"type":["string","null"]}}}}`, `{"name":"a","inputSchema":{"type":"object","properties":{"x":{"type":"strin"}}}}`},
		{"L18", both, "Tool", `{"name":"a","inputSchema":{"type":"object"},"outputSchema":{"type":"object","$defs":{}}}`, `{"name":"a","inputSchema":{"type":"object"},"outputSchema":{"type":"object","minProperties":-1}}`},
		{"L19", e, "Tool", `{"name":"a","inputSchema":{"type":"object","properties":{"x":{"type":"string","x-mcp-header":"X"}}}}`, `{"name":"a","inputSchema":{"type":"object","properties":{"x":{"type":"number","x-mcp-header":"X"}}}}`},
		{"L20", d, "CompleteResult", completion(100), completion(101)},
		{"L21", both, "Resource", `{"uri":"a:b","name":"n","size":0}`, `{"uri":"a:b","name":"n","size":-1}`},
		{"L21", both, "ResourceLink", `{"type":"resource_link","uri":"a:b","name":"n","size":0}`, `{"type":"resource_link","uri":"a:b","name":"n","size":-1}`},
		{"L21", both, "CompleteResult", `{"resultType":"complete","completion":{"values":[],"total":0}}`, `{"resultType":"complete","completion":{"values":[],"total":-1}}`},
		{"L21", both, "CreateMessageRequestParams", `{"messages":[],"maxTokens":1}`, `{"messages":[],"maxTokens":-1}`},
		{"L21", d, "Task", `{"taskId":"t","status":"working","createdAt":"2025-11-25T10:30:00Z","lastUpdatedAt":"2025-11-25T10:30:00Z","ttl":0}`, `{"taskId":"t","status":"working","createdAt":"2025-11-25T10:30:00Z","lastUpdatedAt":"2025-11-25T10:30:00Z","ttl":-1}`},
		{"L22", both, "ImageContent", `{"type":"image","data":"AA==","mimeType":"image/png"}`, `{"type":"image","data":"AA","mimeType":"image/png"}`},
		{"L22", both, "BlobResourceContents", `{"uri":"a:b","blob":""}`, `{"uri":"a:b","blob":"!!!!"}`},
		{"L23", both, "Resource", `{"uri":"custom:x","name":"n"}`, `{"uri":"/x","name":"n"}`},
		{"L23", both, "ResourceTemplate", `{"uriTemplate":"file:///{path}","name":"n"}`, `{"uriTemplate":"file:///{path","name":"n"}`},
		{"L24", both, "Root", `{"uri":"file:///a"}`, `{"uri":"http://a"}`},
		{"L25", both, "Icon", `{"src":"DATA:image/png;base64,AA=="}`, `{"src":"javascript:x"}`},
		{"L26", both, "Annotations", `{"lastModified":"2025-01-12"}`, `{"lastModified":"yesterday"}`},
		{"L26", d, "Task", `{"taskId":"t","status":"working","createdAt":"2025-11-25T10:30:00Z","lastUpdatedAt":"2025-11-25T10:30:00Z","ttl":null}`, `{"taskId":"t","status":"working","createdAt":"2025-11-25T10:30:00Z","lastUpdatedAt":"now","ttl":null}`},
		{"L26", tasks, "WorkingTask", `{"taskId":"t","status":"working","createdAt":"2025-11-25T10:30:00Z","lastUpdatedAt":"2025-11-25T10:30:00Z","ttlMs":null}`, `{"taskId":"t","status":"working","createdAt":"now","lastUpdatedAt":"2025-11-25T10:30:00Z","ttlMs":null}`},
		{"L22", tasks, "ImageContent", `{"type":"image","data":"AA==","mimeType":"image/png"}`, `{"type":"image","data":"A","mimeType":"image/png"}`},
		{"L23", tasks, "Root", `{"uri":"file:///a"}`, `{"uri":"file:///a b"}`},
		{"L24", tasks, "ListRootsResult", `{"roots":[{"uri":"file:///a"}]}`, `{"roots":[{"uri":"http://a"}]}`},
		{"L27", both, "Result", `{"resultType":"complete","_meta":{"com.example/a.b":1,"":2}}`, `{"resultType":"complete","_meta":{"-a":1}}`},
		{"L27", both, "Tool", `{"name":"a","inputSchema":{"type":"object"},"_meta":{"ui/resourceUri":1}}`, `{"name":"a","inputSchema":{"type":"object"},"_meta":{"a b":1}}`},
		{"L28", e, "MetaObject", `{"traceparent":"00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01","tracestate":"a=b","baggage":"k=v"}`, `{"traceparent":"00-0-0-01"}`},
		{"L28", e, "MetaObject", `{}`, `{"baggage":1}`},
		{"L29", both, "ElicitResult", `{"action":"cancel","content":{}}`, `{"action":"cancel","content":{"x":"y"}}`},
		{"L30", both, "PrimitiveSchemaDefinition", `{"type":"string","enum":["a"],"pattern":"x"}`, `{"type":"string","enum":["a"],"format":"ipv4"}`},
		{"L30", both, "PrimitiveSchemaDefinition", `{"type":"string","enum":["a"],"enumNames":["A"]}`, `{"type":"string","enum":["a"],"enumNames":[1]}`},
		{"L30", both, "PrimitiveSchemaDefinition", `{"type":"string","oneOf":[{"const":"a","title":"A"}]}`, `{"type":"string","oneOf":[{"const":"a"}]}`},
		{"L30", both, "PrimitiveSchemaDefinition", `{"type":"number","minimum":0.5}`, `{"type":"number","enum":[1,2]}`},
		{"L32", both, "SamplingMessage", `{"role":"assistant","content":[{"type":"text","text":"t"},{"type":"tool_use","id":"1","name":"a","input":{}}]}`, `{"role":"user","content":[{"type":"tool_use","id":"1","name":"a","input":{}}]}`},
		{"L32", both, "SamplingMessage", `{"role":"user","content":[{"type":"tool_result","toolUseId":"1","content":[]}]}`, `{"role":"assistant","content":{"type":"tool_result","toolUseId":"1","content":[]}}`},
		{"L32", both, "SamplingMessage", `{"role":"user","content":[{"type":"text","text":"t"}]}`, `{"role":"user","content":[{"type":"text","text":"t"},{"type":"tool_result","toolUseId":"1","content":[]}]}`},
		{"L37", e, "Error", `{"code":-32022,"message":"m"}`, `{"code":-32023,"message":"m"}`},
		{"L37", e, "Error", `{"code":-32003,"message":"m"}`, `{"code":-32002,"message":"m"}`},
		{"L43", d, "GetTaskPayloadResult", `{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t"}}}`, `{"content":[]}`},
	}
}

// remark is an erratum that only advises, with an instance that is legal and
// gets the remark.
type remark struct {
	id         string
	revs       []Revision
	definition string
	instance   string
}

func remarks() []remark {
	e := []Revision{R20260728, Draft}
	both := append([]Revision{R20251125}, e...)
	return []remark{
		{"S10", both, "Resource", `{"uri":"a:b","name":"n","size":1.5}`},
		{"S10", both, "CompleteResult", `{"resultType":"complete","completion":{"values":[],"total":1.5}}`},
		{"S10", both, "CreateMessageRequestParams", `{"messages":[],"maxTokens":1.5}`},
		{"L11", e, "InputRequiredResult", `{"resultType":"input_required","inputRequests":{}}`},
		{"L13", e, "InputRequests", `{"a":{"jsonrpc":"2.0","id":1,"method":"roots/list"}}`},
		{"L16", e, "UnsupportedProtocolVersionError", `{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"m","data":{"supported":[],"requested":"x"}}}`},
		{"L21", both, "CreateMessageRequestParams", `{"messages":[],"maxTokens":0}`},
		{"L29", both, "ElicitResult", `{"action":"decline","content":{}}`},
		{"L31", both, "ElicitRequestFormParams", `{"message":"m","requestedSchema":{"type":"object","properties":{},"additionalProperties":false}}`},
		{"L33", both, "ReadResourceResult", `{"resultType":"complete","ttlMs":0,"cacheScope":"public","contents":[{"uri":"a:b","text":"t","blob":""}]}`},
		{"L33", both, "EmbeddedResource", `{"type":"resource","resource":{"uri":"a:b","text":"t","blob":""}}`},
		{"L34", both, "Tool", `{"name":"","inputSchema":{"type":"object"}}`},
		{"L34", both, "Implementation", `{"name":"n","version":""}`},
		{"L36", e, "CompleteRequestParams", `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}},"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":""},"requestState":"s"}`},
		{"L36", e, "DiscoverRequest", `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"inputResponses":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`},
		{"T5", both, "PrimitiveSchemaDefinition", `{"type":"string","enum":["a"],"enumNames":["A"]}`},
	}
}

func completion(values int) string {
	return `{"resultType":"complete","completion":{"values":["` + strings.Repeat(`a","`, values-1) + `a"]}}`
}

func TestErrataAmendTheSchemas(t *testing.T) {
	intended, published := load(t, Options{}), load(t, Options{AsPublished: true})
	for _, a := range slices.Concat(amendments(), early()) {
		for _, rev := range a.revs {
			if vs := validate(t, intended, rev, a.definition, a.right); len(vs) > 0 {
				t.Errorf("%s %s, %s: right is refused: %v\n%s", rev, a.id, a.definition, vs, a.right)
			}
			if a.wrong == "" {
				if vs := validate(t, published, rev, a.definition, a.right); len(vs) == 0 {
					t.Errorf("%s %s, %s: the published schema passes it too, so the erratum does nothing\n%s", rev, a.id, a.definition, a.right)
				}
				continue
			}
			if vs := validate(t, published, rev, a.definition, a.wrong); len(vs) > 0 {
				t.Errorf("%s %s, %s: the published schema refuses it too: %v\n%s", rev, a.id, a.definition, vs, a.wrong)
			}
			vs := validate(t, intended, rev, a.definition, a.wrong)
			if !slices.ContainsFunc(vs, func(v Violation) bool { return v.Erratum == a.id && !v.Advice }) {
				t.Errorf("%s %s, %s: wrong passes, or not because of the erratum: %+v\n%s", rev, a.id, a.definition, vs, a.wrong)
			}
		}
	}
}

func TestErrataAdvise(t *testing.T) {
	silent, advising := load(t, Options{}), load(t, Options{Advice: true})
	for _, r := range slices.Concat(remarks(), earlyRemarks()) {
		for _, rev := range r.revs {
			if vs := validate(t, silent, rev, r.definition, r.instance); len(vs) > 0 {
				t.Errorf("%s %s, %s: refused: %v\n%s", rev, r.id, r.definition, vs, r.instance)
			}
			vs := validate(t, advising, rev, r.definition, r.instance)
			if len(vs) == 0 || slices.ContainsFunc(vs, func(v Violation) bool { return v.Erratum != r.id || !v.Advice }) {
				t.Errorf("%s %s, %s: got %+v, want a remark and nothing else\n%s", rev, r.id, r.definition, vs, r.instance)
			}
		}
	}
}

// Every erratum that changes the schema of these revisions stands in one of the
// tables above.
func TestEveryErratumHasAnInstance(t *testing.T) {
	s := load(t, Options{})
	for _, rev := range append(Revisions(), Tasks) {
		errata, err := s.Errata(rev)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range errata {
			if e.Change() == "" {
				continue
			}
			found := false
			for _, a := range slices.Concat(amendments(), early()) {
				found = found || !e.Advice && a.id == e.ID && slices.Contains(a.revs, rev)
			}
			for _, r := range slices.Concat(remarks(), earlyRemarks()) {
				found = found || e.Advice && r.id == e.ID && slices.Contains(r.revs, rev)
			}
			if !found {
				t.Errorf("%s %s: no instance shows what it does", rev, e.ID)
			}
		}
	}
}

// The official examples are right in every reading, but for one: a complete
// result of resources/read without the members that it must have. The published
// schema passes it because it fits InputRequiredResult (L12).
func TestOfficialExamplesAreAsIntended(t *testing.T) {
	const wrong = "ReadResourceResultResponse/read-resource-result-response.json"
	dir, ok := specData(t)
	if !ok {
		return
	}
	dir = filepath.Join(dir, "official", string(R20260728), "examples")
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	s := load(t, Options{})
	for _, name := range files {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		definition, name := filepath.Base(filepath.Dir(name)), strings.TrimPrefix(name, dir+"/")
		vs := validate(t, s, R20260728, definition, string(raw))
		if (len(vs) > 0) != (name == wrong) {
			t.Errorf("%s: %v", name, vs)
		}
	}
	t.Logf("%d examples compared", len(files))
}

func TestServerCardExamples(t *testing.T) {
	dir, ok := specData(t)
	if !ok {
		return
	}
	dir = filepath.Join(dir, "official", "ext-server-card", "examples", "ServerCard")
	s := load(t, Options{})
	for kind, right := range map[string]bool{"valid": true, "invalid": false} {
		files, err := filepath.Glob(filepath.Join(dir, kind, "*.json"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no %s examples: %v", kind, err)
		}
		for _, name := range files {
			raw, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if vs := validate(t, s, ServerCard, "ServerCard", string(raw)); (len(vs) == 0) != right {
				t.Errorf("%s: %v", strings.TrimPrefix(name, dir), vs)
			}
		}
	}
}

// The edit of L29 that lets null pass must not let it pass where there is
// content to give.
func TestAnAcceptedFormHasNoNullContent(t *testing.T) {
	s := load(t, Options{})
	for _, rev := range []Revision{R20251125, R20260728} {
		if vs := validate(t, s, rev, "ElicitResult", `{"action":"accept","content":null}`); len(vs) == 0 {
			t.Errorf("%s: passed", rev)
		}
	}
}
