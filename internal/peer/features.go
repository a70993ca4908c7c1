package peer

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// list answers the four list methods, page by page. A cursor that the server
// did not give for this method is refused (server/utilities/pagination).
func list(c *call) (obj, *rpcError) {
	key, items := c.srv.fixture.listed(c.method, c.rev)
	size := c.srv.opts.Page
	if key == "tools" {
		size *= 4 // tools are many: not a page for every two
	}
	from := 0
	if raw, ok := c.params["cursor"]; ok {
		token, isText := c.params.text("cursor")
		if !isText || !c.srv.open("cursor "+c.method, token, &from) || from < 0 || from > len(items) {
			return nil, invalidParams("%s is no cursor of %s", raw, c.method)
		}
	}
	to := min(from+size, len(items))
	result := obj{key: items[from:to:to]}
	if to < len(items) {
		result["nextCursor"] = c.srv.seal("cursor "+c.method, to)
	}
	return result, nil
}

// readable returns the URI in the request if there is such a resource.
func (c *call) readable() (string, *rpcError) {
	uri, ok := c.params.text("uri")
	if !ok {
		return "", invalidParams("%s needs a uri", c.method)
	}
	if c.contents(uri) == nil {
		return "", c.noResource(uri)
	}
	return uri, nil
}

// noResource is the error for a resource that does not exist: its own code up
// to 2025-11-25, invalid params from 2026-07-28 on (server/resources Error Handling).
func (c *call) noResource(uri string) *rpcError {
	code := codeNoResource
	if c.rev.Stateless() {
		code = codeInvalidParams
	}
	return &rpcError{code: code, message: "there is no such resource", data: obj{"uri": uri}}
}

// contents returns what stands at a URI, nil if nothing does.
func (c *call) contents(uri string) obj {
	f := c.srv.fixture
	if i := slices.IndexFunc(f.Resources, func(r resource) bool { return r.uri() == uri && r.in(c.rev) }); i >= 0 {
		r := f.Resources[i]
		o := obj{"uri": uri, "mimeType": r.Resource["mimeType"]}
		if r.Blob != "" {
			o["blob"] = r.Blob
		} else {
			o["text"] = r.Text
		}
		return o
	}
	for _, t := range f.Templates {
		id, ok := strings.CutPrefix(uri, t.Prefix)
		if ok {
			id, ok = strings.CutSuffix(id, t.Suffix)
		}
		if ok && id != "" && !strings.Contains(id, "/") && t.in(c.rev) {
			return obj{"uri": uri, "mimeType": t.Template["mimeType"], "text": fill(t.Text, lookIn(obj{"id": id}))}
		}
	}
	return nil
}

func readResource(c *call) (obj, *rpcError) {
	uri, e := c.readable()
	if e != nil {
		return nil, e
	}
	return obj{"contents": []any{c.contents(uri)}}, nil
}

// getPrompt refuses unknown prompts and missing arguments with invalid params
// (server/prompts Error Handling).
func getPrompt(c *call) (obj, *rpcError) {
	name, _ := c.params.text("name")
	p, ok := c.srv.fixture.prompt(name, c.rev)
	if !ok {
		return nil, invalidParams("there is no prompt %q", name)
	}
	args, e := c.promptArguments(p)
	if e != nil {
		return nil, e
	}
	if len(p.Rounds) > 0 {
		answers, asking, e := c.inquire(p.Rounds)
		if e != nil || asking != nil {
			return asking, e
		}
		args = answers
	}
	return obj{
		"description": p.Prompt["description"],
		"messages":    fillAll(p.Messages, lookIn(args)).([]any),
	}, nil
}

func (c *call) promptArguments(p prompt) (obj, *rpcError) {
	args := obj{}
	given, ok := c.params.object("arguments")
	if _, has := c.params["arguments"]; has && !ok {
		return nil, invalidParams("arguments must be an object")
	}
	for k := range given {
		v, ok := given.text(k)
		if !ok {
			return nil, invalidParams("argument %s must be a string", k)
		}
		args[k] = v
	}
	declared, _ := p.Prompt["arguments"].([]any)
	for _, d := range declared {
		a, _ := d.(obj)
		k, _ := a["name"].(string)
		if _, ok := args[k]; !ok && a["required"] == true {
			return nil, invalidParams("prompt %s needs the argument %s", p.name(), k)
		}
	}
	return args, nil
}

// complete proposes values that begin with what was typed so far.
func complete(c *call) (obj, *rpcError) {
	ref, ok := c.params.object("ref")
	arg, ok2 := c.params.object("argument")
	name, ok3 := arg.text("name")
	typed, ok4 := arg.text("value")
	if !ok || !ok2 || !ok3 || !ok4 {
		return nil, invalidParams("completion needs ref and argument with name and value")
	}
	known, e := c.completions(ref, name)
	if e != nil {
		return nil, e
	}
	values := []string{}
	for _, v := range known {
		if strings.HasPrefix(v, typed) {
			values = append(values, v)
		}
	}
	return obj{"completion": obj{"values": values, "total": len(values), "hasMore": false}}, nil
}

// completions are the values known for an argument of a prompt or template.
func (c *call) completions(ref fields, arg string) ([]string, *rpcError) {
	kind, _ := ref.text("type")
	switch kind {
	case "ref/prompt":
		name, _ := ref.text("name")
		p, ok := c.srv.fixture.prompt(name, c.rev)
		if !ok || !hasArgument(p, arg) {
			return nil, invalidParams("there is no argument %q of a prompt %q", arg, name)
		}
		return p.Complete[arg], nil
	case "ref/resource":
		uri, _ := ref.text("uri")
		for _, t := range c.srv.fixture.Templates {
			if t.what() == uri && strings.Contains(uri, "{"+arg+"}") {
				return []string{"123", "124", "456"}, nil
			}
		}
		return nil, invalidParams("there is no variable %q of a resource template %q", arg, uri)
	}
	return nil, invalidParams("ref must be a ref/prompt or a ref/resource")
}

func hasArgument(p prompt, name string) bool {
	declared, _ := p.Prompt["arguments"].([]any)
	return slices.ContainsFunc(declared, func(d any) bool { a, _ := d.(obj); return a["name"] == name })
}

// lookup finds the value for one placeholder.
type lookup func(path string) string

var placeholder = regexp.MustCompile(`\$\{([^}]+)\}`)

// fill replaces ${path} in a text.
func fill(text string, l lookup) string {
	return placeholder.ReplaceAllStringFunc(text, func(m string) string { return l(m[2 : len(m)-1]) })
}

// fillAll copies a JSON value with its texts filled.
func fillAll(v any, l lookup) any {
	switch v := v.(type) {
	case string:
		return fill(v, l)
	case []any:
		a := make([]any, len(v))
		for i := range v {
			a[i] = fillAll(v[i], l)
		}
		return a
	case obj:
		o := obj{}
		for k := range v {
			o[k] = fillAll(v[k], l)
		}
		return o
	}
	return v
}

// lookIn finds paths such as a/b in an object; #a/b is the length of a list.
func lookIn(o obj) lookup {
	return func(path string) string {
		path, count := strings.CutPrefix(path, "#")
		var v any = o
		for k := range strings.SplitSeq(path, "/") {
			m, _ := v.(obj)
			v = m[k]
		}
		switch v := v.(type) {
		case string:
			return v
		case []any:
			if count {
				return strconv.Itoa(len(v))
			}
		case nil:
			return ""
		}
		return string(encode(v))
	}
}

// plain decodes received fields.
func plain(f fields) obj {
	o := obj{}
	for k := range f {
		o[k] = f.value(k)
	}
	return o
}

// copyOf copies a JSON value in depth, so that nobody edits the fixture.
func copyOf(o obj) obj { return fillAll(o, func(p string) string { return "${" + p + "}" }).(obj) }

// discover tells what the server is in the stateless era (2026-07-28
// server/discover). Only revisions that can be chosen for a stateless request
// are named: the others need a handshake.
func discover(c *call) (obj, *rpcError) {
	return obj{
		"supportedVersions": c.srv.era(true),
		"capabilities":      c.srv.capabilities(c.rev),
		"instructions":      "Every tool, resource and prompt of this server answers with fixed values, for testing clients.",
	}, nil
}

// listable names the list that a notification of change is about.
func listable(method string) string {
	switch method {
	case "notifications/tools/list_changed":
		return "toolsListChanged"
	case "notifications/prompts/list_changed":
		return "promptsListChanged"
	case "notifications/resources/list_changed":
		return "resourcesListChanged"
	}
	return ""
}
