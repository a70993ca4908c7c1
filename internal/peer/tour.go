package peer

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mcp-conform/mcp-conform/schemas"
)

// tour is what the client does when it is told nothing else: it looks at all
// that the server offers and uses a little of each.
func (t *talk) tour(ctx context.Context) error {
	steps := []struct {
		needs string // a capability of the server
		run   func(context.Context) error
	}{
		{"", t.sayPing},
		{"logging", t.setLogLevel},
		{"tools", t.tourTools},
		{"resources", t.tourResources},
		{"prompts", t.tourPrompts},
		{"", t.subscribeBriefly},
	}
	for _, s := range steps {
		if _, has := t.server[s.needs]; s.needs != "" && !has && !t.c.broken("capabilities-ignored") {
			continue
		}
		var e *rpcError
		if err := t.renewing(ctx, s.run); errors.As(err, &e) {
			t.logf("%v", err) // the server's answer, and its right
		} else if err != nil {
			return err
		}
	}
	return nil
}

// renewing runs a step, and once more in a new session if the server has ended
// the old one (2025-11-25 basic/transports Session Management).
func (t *talk) renewing(ctx context.Context, step func(context.Context) error) error {
	err := step(ctx)
	if errors.Is(err, errSessionGone) {
		if err = t.handshake(ctx, t.revision()); err == nil {
			err = step(ctx)
		}
	}
	return err
}

// begin finds the era and opens the conversation.
func (t *talk) begin(ctx context.Context) error {
	wanted := t.c.opts.Revision
	if wanted != "" && !wanted.Stateless() {
		return t.handshake(ctx, wanted)
	}
	t.speak(schemas.R20260728)
	if t.c.broken("tools-before-probe") {
		_, _ = t.callOnce(ctx, "tools/list", obj{}, t.c.opts.Patience)
	}
	found, err := t.probe(ctx)
	if err != nil || found {
		return err
	}
	if wanted.Stateless() && !t.c.broken("result-type-needed") {
		return fmt.Errorf("the server does not speak %s", wanted)
	}
	legacy := negotiable()
	return t.handshake(ctx, legacy[len(legacy)-1])
}

// probe asks a server for its revisions and reports whether it is of the
// stateless era. An error that only that era knows says so, too; any other
// error, or silence, means a handshake (2026-07-28 basic/versioning).
func (t *talk) probe(ctx context.Context) (bool, error) {
	result, err := t.callOnce(ctx, "server/discover", nil, t.c.opts.Probe)
	var e *rpcError
	switch {
	case err == nil:
		versions, _ := result.value("supportedVersions").([]any)
		t.server, _ = result.object("capabilities")
		return true, common(versions)
	case errors.As(err, &e) && e.code == codeVersion:
		data, _ := e.data.(obj)
		versions, _ := data["supported"].([]any)
		return true, common(versions)
	case errors.As(err, &e) && (e.code == codeHeaderMismatch || e.code == codeMissingCapability):
		return true, err
	case ctx.Err() != nil:
		return false, err
	}
	t.logf("no server of the stateless era: %v", err)
	return false, nil
}

func common(versions []any) error {
	if slices.Contains(versions, any(string(schemas.R20260728))) {
		return nil
	}
	return fmt.Errorf("%w: the server speaks %v", errUnsupported, versions)
}

// handshake opens a session. A client that does not speak the server's revision
// leaves (2025-11-25 basic/lifecycle Version Negotiation).
func (t *talk) handshake(ctx context.Context, rev schemas.Revision) error {
	t.speak(rev)
	params := obj{"protocolVersion": string(rev), "capabilities": t.caps, "clientInfo": clientInfo(rev)}
	result, err := t.callOnce(ctx, "initialize", params, t.c.opts.Patience)
	if err != nil {
		return fmt.Errorf("initialize: %w", err)
	}
	v, _ := result.text("protocolVersion")
	known := slices.Contains(negotiable(), schemas.Revision(v)) || t.c.broken("unknown-version-accepted")
	if known {
		t.mu.Lock()
		t.rev = schemas.Revision(v) // also for what it says on leaving
		t.server, _ = result.object("capabilities")
		t.mu.Unlock()
	}
	if !known || v > string(rev) && !t.c.broken("unknown-version-accepted") { // it has asked for the latest that it is to speak
		return fmt.Errorf("%w: the server answered %q", errUnsupported, v)
	}
	t.notify(ctx, "notifications/initialized", nil)
	t.link.opened(ctx)
	return nil
}

func (t *talk) sayPing(ctx context.Context) error {
	if t.revision().Stateless() {
		return nil // ping ended with the handshake
	}
	_, err := t.call(ctx, "ping", nil)
	return err
}

func (t *talk) setLogLevel(ctx context.Context) error {
	if t.revision().Stateless() {
		return nil
	}
	_, err := t.call(ctx, "logging/setLevel", obj{"level": "info"})
	return err
}

// maxPages bounds a walk through a list that never ends.
const maxPages = 100

// walk reads a list page by page. A cursor goes back as it came; only its
// absence means the end (server/utilities/pagination).
func (t *talk) walk(ctx context.Context, method, key string) ([]obj, error) {
	var items []obj
	params := obj{}
	for range maxPages {
		result, err := t.call(ctx, method, params)
		if err != nil {
			return items, err
		}
		page, _ := result.value(key).([]any)
		for _, v := range page {
			if o, ok := v.(obj); ok {
				items = append(items, o)
			}
		}
		next, more := result.text("nextCursor")
		if !more {
			return items, nil
		}
		params = obj{"cursor": next}
	}
	return items, fmt.Errorf("%s: the list has more than %d pages", method, maxPages)
}

// knownCalls are calls of well-known fixture tools, each for a feature.
func knownCalls() []struct {
	tool  string
	args  obj
	token string
} {
	return []struct {
		tool  string
		args  obj
		token string
	}{
		{tool: "test_simple_text"},
		{tool: "test_tool_with_progress", token: "progress-1"},
		{tool: "test_tool_with_logging"},
		{tool: "test_structured_content"},
		{tool: "test_sampling", args: obj{"prompt": "Say hello"}},
		{tool: "test_elicitation", args: obj{"message": "Please answer"}},
		{tool: "test_elicitation_sep1034_defaults"},
		{tool: "test_elicitation_sep1330_enums"},
		{tool: "test_list_roots"},
		{tool: "test_reconnection"},
		{tool: "test_header_param", args: obj{"region": "Zürich ", "priority": 7.0}},
		{tool: "test_input_required_result_elicitation"},
		{tool: "test_input_required_result_multiple_inputs"},
		{tool: "test_input_required_result_multi_round"},
	}
}

// tourTools lists the tools and calls those that it knows; if it knows none, the
// first, with arguments made from its input schema.
func (t *talk) tourTools(ctx context.Context) error {
	t.stepBack("reused-id")
	listed, err := t.walk(ctx, "tools/list", "tools")
	if err != nil {
		return err
	}
	t.keep(listed)
	called := false
	for _, k := range knownCalls() {
		if _, ok := t.tools[k.tool]; ok {
			called = true
			if err := t.callTool(ctx, k.tool, k.args, k.token); err != nil {
				return err
			}
		}
	}
	for _, l := range listed {
		name, _ := l["name"].(string)
		if _, kept := t.tools[name]; kept && !called {
			schema, _ := l["inputSchema"].(obj)
			return t.callTool(ctx, name, sampleArguments(schema), "")
		}
	}
	return nil
}

// keep notes the tools, without those whose header annotations are invalid: over
// HTTP they must not be used (2026-07-28 server/tools x-mcp-header).
func (t *talk) keep(listed []obj) {
	t.tools = map[string]obj{}
	for _, l := range listed {
		name, _ := l["name"].(string)
		schema, _ := l["inputSchema"].(obj)
		if why := badHeaders(schema); why != "" && t.revision().Stateless() && !t.c.broken("invalid-header-tool-called") {
			t.logf("leaving out the tool %s: %s", name, why)
			continue
		}
		t.tools[name] = l
	}
}

func (t *talk) callTool(ctx context.Context, name string, args obj, token string) error {
	if args == nil {
		args = obj{}
	}
	params := obj{"name": name, "arguments": args}
	if token != "" {
		params["_meta"] = obj{"progressToken": token}
	}
	_, err := t.callInput(ctx, "tools/call", params)
	var e *rpcError
	if errors.As(err, &e) {
		t.logf("%s: %v", name, err)
		return nil
	}
	return err
}

func (t *talk) tourResources(ctx context.Context) error {
	listed, err := t.walk(ctx, "resources/list", "resources")
	if err != nil {
		return err
	}
	if _, err = t.walk(ctx, "resources/templates/list", "resourceTemplates"); err != nil {
		return err
	}
	if len(listed) == 0 {
		return nil
	}
	uri := obj{"uri": listed[0]["uri"]}
	if _, err = t.callInput(ctx, "resources/read", uri); err != nil {
		return err
	}
	resources, _ := t.server.object("resources")
	if resources.value("subscribe") != true || t.revision().Stateless() {
		return nil
	}
	if _, err = t.call(ctx, "resources/subscribe", uri); err != nil {
		return err
	}
	_, err = t.call(ctx, "resources/unsubscribe", uri)
	return err
}

func (t *talk) tourPrompts(ctx context.Context) error {
	listed, err := t.walk(ctx, "prompts/list", "prompts")
	if err != nil || len(listed) == 0 {
		return err
	}
	first := listed[0]
	args := obj{}
	declared, _ := first["arguments"].([]any)
	for _, d := range declared {
		a, _ := d.(obj)
		if name, _ := a["name"].(string); a["required"] == true {
			args[name] = "test"
		}
	}
	if _, err = t.callInput(ctx, "prompts/get", obj{"name": first["name"], "arguments": args}); err != nil {
		return err
	}
	return t.completeFirst(ctx, listed)
}

// completeFirst asks for completions of the first prompt argument there is.
func (t *talk) completeFirst(ctx context.Context, prompts []obj) error {
	if _, has := t.server["completions"]; !has {
		return nil
	}
	for _, p := range prompts {
		if as, _ := p["arguments"].([]any); len(as) > 0 {
			a, _ := as[0].(obj)
			_, err := t.call(ctx, "completion/complete", obj{
				"ref":      obj{"type": "ref/prompt", "name": p["name"]},
				"argument": obj{"name": a["name"], "value": "te"},
			})
			return err
		}
	}
	return nil
}

// subscribeBriefly opens a subscription in the stateless era, waits until it is
// acknowledged and cancels it.
func (t *talk) subscribeBriefly(ctx context.Context) error {
	tools, _ := t.server.object("tools")
	if !t.revision().Stateless() || tools.value("listChanged") != true {
		return nil
	}
	ctx, stop := context.WithTimeout(ctx, t.c.opts.Patience)
	id, answered := t.expect()
	acknowledged := make(chan struct{})
	t.mu.Lock()
	t.subs[string(idToken(id))] = acknowledged
	t.mu.Unlock()
	err := t.link.send(ctx, t.dress(request(id, "subscriptions/listen", obj{"notifications": obj{"toolsListChanged": true}})))
	if err == nil {
		select {
		case <-acknowledged:
		case a := <-answered:
			_, err = t.read("subscriptions/listen", a)
		case <-ctx.Done():
			err = errors.New("subscriptions/listen was not acknowledged")
		}
	}
	t.forget(id)
	stop() // over HTTP this closes the stream
	if err == nil {
		t.abandon(id, "subscriptions/listen")
	}
	return err
}
