package peer

import (
	"bytes"
	"fmt"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// argumentSchemas are the compiled input schemas of the tools.
type argumentSchemas struct{ byTool map[string]*jsonschema.Schema }

func compileArguments(f *fixture) (*argumentSchemas, error) {
	a := &argumentSchemas{byTool: map[string]*jsonschema.Schema{}}
	for _, t := range f.Tools {
		c := jsonschema.NewCompiler()
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(encode(t.Tool["inputSchema"])))
		if err == nil {
			err = c.AddResource("fixture:"+t.name(), doc)
		}
		if err == nil {
			a.byTool[t.name()], err = c.Compile("fixture:" + t.name())
		}
		if err != nil {
			return nil, fmt.Errorf("fixture.json: input schema of %s: %w", t.name(), err)
		}
	}
	return a, nil
}

// callTool answers tools/call. An unknown tool and a request that does not fit
// its schema are protocol errors; arguments that do not fit the tool's input
// schema are a tool error, which a model can mend (2025-11-25 server/tools Error
// Handling; earlier revisions leave the choice).
func callTool(c *call) (obj, *rpcError) {
	name, ok := c.params.text("name")
	if !ok {
		return nil, invalidParams("tools/call needs the name of a tool")
	}
	t, ok := c.srv.fixture.tool(name, c.rev)
	if !ok {
		return nil, invalidParams("there is no tool %q", name)
	}
	args := obj{}
	if raw, has := c.params["arguments"]; has {
		given, ok := parseFields(raw)
		if !ok {
			return nil, invalidParams("arguments must be an object")
		}
		args = plain(given)
	}
	if e := c.checkMRTR(); e != nil {
		return nil, e
	}
	if e := c.checkParamHeaders(t, args); e != nil {
		return nil, e
	}
	if why := c.srv.args.check(t, args); why != "" {
		return toolError("The arguments do not fit the input schema: " + why), nil
	}
	return c.perform(t, args)
}

func (a *argumentSchemas) check(t tool, args obj) string {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(encode(args)))
	if err == nil {
		err = a.byTool[t.name()].Validate(doc)
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

func (c *call) perform(t tool, args obj) (obj, *rpcError) {
	if need := c.missing(t.Needs); need != nil {
		return nil, missingCapability(need)
	}
	if len(t.Rounds) > 0 {
		answers, asking, e := c.inquire(t.Rounds)
		if e != nil || asking != nil {
			return asking, e
		}
		return obj{"content": []any{textBlock(fill(t.Final, lookIn(answers)))}}, nil
	}
	if do := behaviours()[t.Does]; do != nil {
		return do(c, t, args)
	}
	return copyOf(t.Result), nil
}

// behaviour is what a tool does beyond answering with fixed content.
type behaviour func(c *call, t tool, args obj) (obj, *rpcError)

func behaviours() map[string]behaviour {
	return map[string]behaviour{
		"log": logThrice, "progress": progressThrice, "wait": wait, "add": add, "announce": announceChange,
		"sample": sample, "roots": askRoots, "elicit": elicit, "reconnect": reconnect,
	}
}

func textBlock(s string) obj { return obj{"type": "text", "text": s} }

func toolText(format string, args ...any) obj {
	return obj{"content": []any{textBlock(fmt.Sprintf(format, args...))}}
}

func toolError(s string) obj {
	return obj{"content": []any{textBlock(s)}, "isError": true}
}

func logThrice(c *call, t tool, _ obj) (obj, *rpcError) {
	for _, s := range []string{"Tool execution started", "Tool processing data", "Tool execution completed"} {
		c.log("info", s)
	}
	return copyOf(t.Result), nil
}

func progressThrice(c *call, _ tool, _ obj) (obj, *rpcError) {
	for _, done := range []float64{0, 50, 100} {
		c.progress(done, 100, fmt.Sprintf("Completed step %d of 100", int(done)))
	}
	if token, ok := c.meta["progressToken"]; ok {
		if s, isText := c.meta.text("progressToken"); isText {
			return toolText("%s", s), nil
		}
		return toolText("%s", token), nil
	}
	return toolText("no progress token"), nil
}

// wait takes the given time unless it is cancelled before.
func wait(c *call, _ tool, args obj) (obj, *rpcError) {
	ms, _ := args["milliseconds"].(float64)
	c.progress(0, ms, "Begun")
	timer := time.NewTimer(time.Duration(ms) * time.Millisecond)
	defer timer.Stop()
	select {
	case <-timer.C:
		c.progress(ms+1, ms+1, "Finished")
		return toolText("Waited %d milliseconds.", int(ms)), nil
	case <-c.ctx.Done():
		return nil, silence
	}
}

func add(_ *call, _ tool, args obj) (obj, *rpcError) {
	a, _ := args["a"].(float64)
	b, _ := args["b"].(float64)
	return toolText("%s", encode(a+b)), nil
}

func announceChange(c *call, t tool, _ obj) (obj, *rpcError) {
	c.srv.announce(t.Announce, t.URI)
	return copyOf(t.Result), nil
}

// sample, askRoots and elicit send a request to the client while their own call
// is open. A client that has not declared the capability is not asked
// (client/sampling, client/roots, client/elicitation: Capabilities).

func sample(c *call, _ tool, args obj) (obj, *rpcError) {
	if !c.mayAsk(c.declares("sampling")) {
		return toolError("The client does not offer sampling."), nil
	}
	result, e := c.ask("sampling/createMessage", obj{
		"messages":  []any{obj{"role": "user", "content": textBlock(args["prompt"].(string))}},
		"maxTokens": 100,
	})
	if e != nil {
		return orToolError(e)
	}
	content, _ := result.object("content")
	text, _ := content.text("text")
	return toolText("LLM response: %s", text), nil
}

func askRoots(c *call, _ tool, _ obj) (obj, *rpcError) {
	if !c.mayAsk(c.declares("roots")) {
		return toolError("The client does not offer roots."), nil
	}
	result, e := c.ask("roots/list", nil)
	if e != nil {
		return orToolError(e)
	}
	roots, _ := result.value("roots").([]any)
	return toolText("Found %d root(s)", len(roots)), nil
}

func elicit(c *call, t tool, args obj) (obj, *rpcError) {
	if !c.mayAsk(c.elicitsForms()) {
		return toolError("The client does not offer elicitation by form."), nil
	}
	params := copyOf(t.Ask)
	if m, ok := args["message"]; ok {
		params["message"] = m
	}
	result, e := c.ask("elicitation/create", params)
	if e != nil {
		return orToolError(e)
	}
	action, _ := result.text("action")
	content := result["content"]
	if content == nil {
		content = []byte("none")
	}
	verb := "Elicitation completed"
	if t.name() == "test_elicitation" {
		verb = "User response"
	}
	return toolText("%s: action=%s, content=%s", verb, action, content), nil
}

// elicitsForms: an empty elicitation capability means form mode only
// (2025-11-25 client/elicitation Capabilities).
func (c *call) elicitsForms() bool {
	modes, ok := c.caps.object("elicitation")
	return ok && (len(modes) == 0 || c.declares("elicitation", "form"))
}

// orToolError makes a failed question to the client the tool's own failure.
func orToolError(e *rpcError) (obj, *rpcError) {
	if e == silence {
		return nil, e
	}
	return toolError(e.message), nil
}

// reconnect closes the connection that would carry its answer, which the client
// then fetches by its last event id (2025-11-25 basic/transports, polling).
func reconnect(c *call, t tool, _ obj) (obj, *rpcError) {
	if st, ok := c.out.(*stream); ok {
		st.cut(c.ctx)
	}
	return copyOf(t.Result), nil
}
