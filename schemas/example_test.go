package schemas_test

import (
	"fmt"
	"log"

	"github.com/mcp-conform/mcp-conform/schemas"
)

// A request and its answer, judged as a pair.
func ExampleSet_ValidateMessage() {
	set, err := schemas.Load(schemas.Options{})
	if err != nil {
		log.Fatal(err)
	}
	request := schemas.Classify([]byte(`{"jsonrpc":"2.0","id":7,"method":"tools/list"}`))
	answer := schemas.Classify([]byte(`{"jsonrpc":"2.0","id":7,"result":{"tools":[{"name":"add","inputSchema":{}}]}}`))

	fmt.Println(request.Kind, request.Method, answer.Kind, schemas.SameID(request.ID, answer.ID))
	for _, v := range set.ValidateMessage(schemas.R20251125, &answer, &request) {
		fmt.Println(v)
	}
	// Output:
	// request tools/list result true
	// /result/tools/0/inputSchema/type: want "object", got absent [Tool]
}

// One definition of one revision; what is wrong names the erratum, if the
// published schema would have let it pass.
func ExampleSet_Validate() {
	set, err := schemas.Load(schemas.Options{})
	if err != nil {
		log.Fatal(err)
	}
	violations, err := set.Validate(schemas.R20260728, "ImageContent", []byte(`{"type":"image","data":"!!!!","mimeType":"image/png"}`))
	if err != nil {
		log.Fatal(err)
	}
	for _, v := range violations {
		fmt.Println(v.Pointer, v.Keyword, v.Erratum, v.Got)
	}

	published, err := schemas.Load(schemas.Options{AsPublished: true})
	if err != nil {
		log.Fatal(err)
	}
	violations, err = published.Validate(schemas.R20260728, "ImageContent", []byte(`{"type":"image","data":"!!!!","mimeType":"image/png"}`))
	fmt.Println(len(violations), err)

	_, err = set.Validate(schemas.R20260728, "ImageContents", []byte(`{}`))
	fmt.Println(err)
	// Output:
	// /data byte L22 string "!!!!"
	// 0 <nil>
	// 2026-07-28 has no definition "ImageContents"; near are ImageContent
}

// The schema of a tool, and the arguments of a call judged by it.
func ExampleCompileToolSchema() {
	tool, violations := schemas.CompileToolSchema(schemas.R20251125, schemas.Input, []byte(`{
		"type": "object",
		"properties": {"a": {"type": "number"}, "b": {"type": "number"}},
		"required": ["a", "b"]
	}`))
	fmt.Println(tool.Dialect, len(violations))
	for _, v := range tool.Validate([]byte(`{"a": "1"}`)) {
		fmt.Println(v)
	}

	_, violations = schemas.CompileToolSchema(schemas.R20251125, schemas.Output, []byte(`{"type":"object","properties":{"v":{"$ref":"#/$defs/Screen"}}}`))
	fmt.Println(violations)
	// Output:
	// JSON Schema 2020-12 0
	// /a: want number, got string "1"
	// /b: want a value, got absent
	// [/properties/v/$ref: want a reference that resolves, got string "#/$defs/Screen"]
}

// What parsers hide.
func ExampleClassify() {
	m := schemas.Classify([]byte(`{"jsonrpc":"2.0","id":9007199254740993,"method":"ping","\u0069d":1.0}`))
	fmt.Println(m.Kind, m.Method, string(m.ID))
	for _, p := range m.Problems {
		fmt.Println(p.Code, p.Pointer, p.Offset)
	}
	// Output:
	// request ping 1.0
	// unsafe-integer /id 22
	// duplicate-key /id 55
	// float-integer /id 65
}

// The methods of a revision.
func ExampleLookupMethod() {
	for _, r := range []schemas.Revision{schemas.R20250618, schemas.R20260728} {
		m, ok := schemas.LookupMethod(r, "resources/subscribe")
		fmt.Println(r, ok, m.Definition, m.Result, m.NeedsOf, m.Needs)
	}
	// Output:
	// 2025-06-18 true SubscribeRequest EmptyResult server resources.subscribe
	// 2026-07-28 false
}
