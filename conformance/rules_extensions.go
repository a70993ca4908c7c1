package conformance

import (
	"encoding/json"
	"slices"

	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

// extensionIDs: the name of an extension follows the rules for _meta keys and
// has a prefix (2026-07-28 basic/versioning, extension negotiation).
func extensionIDs(o *Observation) {
	var extensions json.RawMessage
	switch {
	case o.is(schemas.Request) && o.From() == trace.Client:
		extensions, _ = o.param("_meta", metaClientCapabilities, "extensions")
	case o.isResult("server/discover") && o.From() == trace.Server:
		extensions, _ = schemas.Member(o.Message.Result, "capabilities", "extensions")
	}
	keys, _ := objectKeys(extensions)
	for _, key := range keys {
		o.Check(schemas.CheckExtensionID(key) == nil, "EXTENSION-ID", o.From(), Fault{
			Detail: "the name of an extension is not a prefix, a slash and a name", Want: "a name such as com.example/my-extension", Got: clip(key),
		})
	}
}

// extensionFallback: when only the server has an extension it keeps to the core
// protocol or refuses (2026-07-28 basic/versioning, extension negotiation). What
// tells an extension's answer from the core's is the result type.
func extensionFallback(o *Observation) {
	if !o.is(schemas.Result, schemas.Error) || o.From() != trace.Server || o.Request == nil || o.Earlier != nil {
		return
	}
	own, _ := objectKeys(extensionsOf(o.Session.Server.Capabilities))
	declared, _ := schemas.Member(o.Request.Params, "_meta", metaClientCapabilities, "extensions")
	shared, _ := objectKeys(declared)
	alone := slices.ContainsFunc(own, func(id string) bool { return !slices.Contains(shared, id) })
	if !alone || o.Request.Method == "server/discover" {
		return
	}
	kind := textParam(o.Message.Result, "resultType")
	switch {
	case o.is(schemas.Error) || kind == "complete" || kind == "input_required":
		o.Pass("EXTENSION-FALLBACK", trace.Server)
	case kind == "task" && !slices.Contains(shared, "io.modelcontextprotocol/tasks"), kind != "" && len(shared) == 0:
		o.Fail("EXTENSION-FALLBACK", trace.Server, Fault{
			Detail: "a request is answered by an extension that it does not declare", Want: "a result of the core protocol, or an error",
			Got: "/result/resultType: " + clip(kind),
		})
	}
}

func extensionsOf(capabilities json.RawMessage) json.RawMessage {
	extensions, _ := schemas.Member(capabilities, "extensions")
	return extensions
}
