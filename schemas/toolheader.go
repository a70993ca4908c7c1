package schemas

import "strings"

// headerViolations checks the x-mcp-header annotations of an inputSchema
// (2026-07-28 server/tools): a header name, unique without regard to case, on a
// property that is an integer, string or boolean and is reached from the root
// by `properties` alone. A property without a plain type is not judged: the
// text does not mention lists of types.
func headerViolations(schema any) []Violation {
	h := headers{seen: map[string]string{}}
	eachSchema(schema, func(s subschema) {
		if value, has := s.keywords["x-mcp-header"]; has {
			h.annotation(s, value)
		}
	})
	return h.found
}

type headers struct {
	seen  map[string]string // lower-case name → where it stood first
	found []Violation
}

func (h *headers) report(pointer, want, got string) {
	h.found = append(h.found, Violation{Pointer: pointer, Keyword: "x-mcp-header", Want: want, Got: got})
}

// annotation judges one x-mcp-header.
func (h *headers) annotation(s subschema, value any) {
	at := s.pointer + "/x-mcp-header"
	name, ok := value.(string)
	if !ok {
		h.report(at, "string", describe(value))
		return
	}
	if err := CheckHeaderName(name); err != nil {
		h.report(at, "a header name ("+err.Error()+")", "string "+short(name))
	}
	if !s.plain || s.pointer == "" {
		h.report(at, "a property reached from the root by properties alone", "one elsewhere")
	}
	key := strings.ToLower(name)
	if first, twice := h.seen[key]; twice {
		h.report(at, "a name that no other property has", "string "+short(name)+", as at "+first)
	} else {
		h.seen[key] = at
	}
	if kind, ok := s.keywords["type"].(string); ok && kind != "integer" && kind != "string" && kind != "boolean" {
		h.report(s.pointer+"/type", `"integer", "string" or "boolean", as the value goes into a header`, "string "+short(kind))
	}
}
