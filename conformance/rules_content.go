package conformance

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

func contentRules() []ruleEntry {
	return []ruleEntry{
		plain(ofServer(blobs), "RESOURCES-BLOB-BASE64"),
		plain(ofServer(promptContent), "PROMPTS-MEDIA-ENCODED", "PROMPTS-EMBEDDED-RESOURCES"),
		plain(ofServer(embedded), "TOOLS-EMBEDDED-RESOURCES"),
		plain(ofServer(resourceURIs), "RESOURCES-URI"),
		plain(ofServer(mirroredSecrets), "TOOLS-HEADER-NOT-SENSITIVE"),
		stateful(func() Rule { return &required{of: map[string][]string{}} }, "TOOLS-INPUT-VALIDATED", "PROMPTS-ARGUMENTS-VALIDATED"),
		plain(rootsRefused, "ROOTS-UNSUPPORTED-REFUSED"),
	}
}

// ofServer limits a rule to the first results that servers give to requests.
func ofServer(f func(o *Observation)) func(o *Observation) {
	return func(o *Observation) {
		if o.is(schemas.Result) && o.Request != nil && o.From() == trace.Server && o.Earlier == nil && !o.Request.task {
			f(o)
		}
	}
}

// members lists the members of an array, nothing for anything else.
func members(object json.RawMessage, keys ...string) []json.RawMessage {
	raw, _ := schemas.Member(object, keys...)
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	return list
}

// textMember returns a member that is a string, and whether it is one.
func textMember(object json.RawMessage, key string) (string, bool) {
	raw, ok := schemas.Member(object, key)
	return textParam(object, key), ok && len(raw) > 0 && raw[0] == '"'
}

// blobs: binary contents are encoded (server/resources, security considerations).
func blobs(o *Observation) {
	if o.Request.Method != "resources/read" {
		return
	}
	for i, one := range members(o.Message.Result, "contents") {
		if blob, ok := textMember(one, "blob"); ok {
			err := schemas.CheckBase64(blob)
			o.Check(err == nil, "RESOURCES-BLOB-BASE64", trace.Server, Fault{
				Detail: "binary contents are not encoded in base64", Want: "/result/contents/" + strconv.Itoa(i) + "/blob: base64", Got: clip(blob),
			})
		}
	}
}

// promptContent: what the messages of a prompt hold (server/prompts, data types).
func promptContent(o *Observation) {
	if o.Request.Method != "prompts/get" {
		return
	}
	for i, one := range members(o.Message.Result, "messages") {
		content, _ := schemas.Member(one, "content")
		at := "/result/messages/" + strconv.Itoa(i) + "/content"
		switch kind := textParam(content, "type"); {
		case kind == "image", kind == "audio" && o.Revision >= schemas.R20250326:
			data, has := textMember(content, "data")
			mime := textParam(content, "mimeType")
			o.Check(has && schemas.CheckBase64(data) == nil && schemas.CheckMediaType(mime) == nil, "PROMPTS-MEDIA-ENCODED", trace.Server, Fault{
				Detail: "an image or a sound is not encoded in base64, or its MIME type is not valid", Want: at + ": data in base64 and a MIME type", Got: "data " + quoteOr(clip(data), "absent") + ", mimeType " + quoteOr(clip(mime), "absent"),
			})
		case kind == "resource":
			resource, _ := schemas.Member(content, "resource")
			promptResource(o, resource, at+"/resource")
		}
	}
}

// promptResource: the MIME type is asked for as well, but the schema has it
// optional, so that its absence is let pass.
func promptResource(o *Observation, resource json.RawMessage, at string) {
	uri := textParam(resource, "uri")
	_, text := textMember(resource, "text")
	blob, binary := textMember(resource, "blob")
	ok := schemas.CheckURI(uri) == nil && (text || binary && schemas.CheckBase64(blob) == nil)
	o.Check(ok, "PROMPTS-EMBEDDED-RESOURCES", trace.Server, Fault{
		Detail: "an embedded resource has no valid URI, or neither text nor base64", Want: at + ": uri, and text or blob", Got: clip(string(resource)),
	})
}

// embedded: who embeds resources has resources (server/tools, embedded resources).
func embedded(o *Observation) {
	if o.Request.Method != "tools/call" || o.Revision < schemas.R20250618 {
		return
	}
	if !slices.ContainsFunc(members(o.Message.Result, "content"), func(b json.RawMessage) bool { return textParam(b, "type") == "resource" }) {
		return
	}
	if yes, known := o.Session.declared(trace.Server, "resources"); known {
		o.Check(yes, "TOOLS-EMBEDDED-RESOURCES", trace.Server, Fault{
			Detail: "a tool embeds a resource though the server does not declare resources", Want: "capabilities.resources", Got: "absent",
		})
	}
}

// resourceURIs: schemes of one's own follow RFC 3986 (server/resources, custom
// URI schemes). The form of the known ones is for the schema to judge.
func resourceURIs(o *Observation) {
	if o.Request.Method != "resources/list" || o.Revision < schemas.R20250618 {
		return
	}
	for i, one := range members(o.Message.Result, "resources") {
		uri, ok := textMember(one, "uri")
		if !ok || knownScheme(uri) {
			continue
		}
		err := schemas.CheckURI(uri)
		f := Fault{Detail: "the URI of a resource does not follow RFC 3986", Want: "/result/resources/" + strconv.Itoa(i) + "/uri: a URI", Got: clip(uri)}
		if err != nil {
			f.Got += ": " + err.Error()
		}
		o.Check(err == nil, "RESOURCES-URI", trace.Server, f)
	}
}

func knownScheme(uri string) bool {
	for _, scheme := range []string{"http:", "https:", "file:", "git:"} {
		if len(uri) >= len(scheme) && uri[:len(scheme)] == scheme {
			return true
		}
	}
	return false
}

// mirroredSecrets: no secret goes into a header, where intermediaries see it
// (2026-07-28 server/tools, x-mcp-header).
func mirroredSecrets(o *Observation) {
	if !o.Revision.Stateless() || o.Request.Method != "tools/list" {
		return
	}
	for i, one := range members(o.Message.Result, "tools") {
		at := "/result/tools/" + strconv.Itoa(i) + "/inputSchema/properties"
		raw, _ := schemas.Member(one, "inputSchema", "properties")
		names, _ := objectKeys(raw)
		for _, name := range names {
			property, _ := schemas.Member(raw, name)
			if header, ok := textMember(property, "x-mcp-header"); ok {
				o.Check(!namesSecret(name) && !namesSecret(header), "TOOLS-HEADER-NOT-SENSITIVE", trace.Server, Fault{
					Detail: "a parameter that looks like a secret is mirrored into a header", Want: at + "/" + name + ": no x-mcp-header", Got: clip(header),
				})
			}
		}
	}
}

// required follows the lists of tools and prompts, to know which arguments each
// one requires, and judges what becomes of requests that lack one.
type required struct {
	of map[string][]string // by method and name
}

func (r *required) Observe(o *Observation) {
	if o.Earlier != nil || o.Request == nil || o.From() != trace.Server || !o.is(schemas.Result, schemas.Error) {
		return
	}
	switch o.Request.Method {
	case "tools/list":
		for _, one := range members(o.Message.Result, "tools") {
			r.learn("tools/call", one, demanded(o, one))
		}
	case "prompts/list":
		for _, one := range members(o.Message.Result, "prompts") {
			var names []string
			for _, argument := range members(one, "arguments") {
				if needed, _ := schemas.Member(argument, "required"); string(needed) == "true" {
					names = append(names, textParam(argument, "name"))
				}
			}
			r.learn("prompts/get", one, names)
		}
	case "tools/call", "prompts/get":
		if !o.Request.task {
			r.judge(o)
		}
	}
}

// demanded lists the arguments that the input schema of a tool requires. A
// schema that is not valid requires nothing.
func demanded(o *Observation, tool json.RawMessage) []string {
	schema, _ := schemas.Member(tool, "inputSchema")
	raw, has := schemas.Member(schema, "required")
	if !has || o.judge.options.Schemas == nil {
		return nil
	}
	compiled, wrong := o.judge.options.Schemas.ToolSchema(o.Revision, schemas.Input, schema)
	var names []string
	if len(wrong) > 0 || compiled.Unusable != "" || json.Unmarshal(raw, &names) != nil {
		return nil
	}
	return names
}

func (r *required) learn(method string, one json.RawMessage, names []string) {
	if len(r.of) < mostTools {
		r.of[method+" "+textParam(one, "name")] = names
	}
}

// judge: a call that lacks a required argument has to fail in one way or another
// (server/tools, security considerations), and a prompt with -32602
// (server/prompts, error handling).
func (r *required) judge(o *Observation) {
	arguments, _ := schemas.Member(o.Request.Params, "arguments")
	missing := ""
	for _, name := range r.of[o.Request.Method+" "+textParam(o.Request.Params, "name")] {
		if _, ok := schemas.Member(arguments, name); !ok {
			missing = name
		}
	}
	if missing == "" {
		return
	}
	failed, _ := schemas.Member(o.Message.Result, "isError")
	if o.Request.Method == "tools/call" {
		done := o.is(schemas.Result) && string(failed) != "true" && textParam(o.Message.Result, "resultType") != "input_required"
		o.Check(!done, "TOOLS-INPUT-VALIDATED", trace.Server, Fault{
			Detail: "a call is carried out that lacks a required argument", Want: "an error, or a result with isError", Got: "a result without " + clip(missing),
		})
		return
	}
	if textParam(o.Message.Result, "resultType") == "input_required" {
		return
	}
	o.Check(o.errorCode() == "-32602", "PROMPTS-ARGUMENTS-VALIDATED", trace.Server, Fault{
		Detail: "a prompt without a required argument is not refused with -32602", Want: "error -32602", Got: quoteOr(o.errorCode(), "a result without "+clip(missing)),
	})
}

// rootsRefused: a client without roots has no roots/list (client/roots, error
// handling). One that answers all the same breaks ROOTS-DECLARED.
func rootsRefused(o *Observation) {
	if o.Session.Modern || !o.is(schemas.Error) || o.From() != trace.Client || o.Request == nil || o.Request.Method != "roots/list" {
		return
	}
	if yes, known := o.Session.declared(trace.Client, "roots"); known && !yes {
		o.Check(o.errorCode() == "-32601", "ROOTS-UNSUPPORTED-REFUSED", trace.Client, Fault{
			Detail: "a client without roots answers with another error", Want: "error -32601", Got: o.errorCode(),
		})
	}
}
