package peer

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/mcp-conform/mcp-conform/schemas"
)

//go:embed fixture.json
var fixtureJSON []byte

// fixture is what the server exposes, as data. The names and values are those
// that the conformance fixtures of the SDKs expose as well.
type fixture struct {
	Tools     []tool     `json:"tools"`
	Resources []resource `json:"resources"`
	Templates []template `json:"templates"`
	Prompts   []prompt   `json:"prompts"`
}

// span limits an entry to the revisions in [Since, Until).
type span struct {
	Since schemas.Revision `json:"since"`
	Until schemas.Revision `json:"until"`
}

func (s span) in(r schemas.Revision) bool { return r.In(s.Since, s.Until) }

type tool struct {
	span
	Tool     obj     `json:"tool"`     // as listed
	Result   obj     `json:"result"`   // what it answers, unless it does something
	Does     string  `json:"does"`     // a key of behaviours
	Ask      obj     `json:"ask"`      // params of the elicitation that it sends
	Needs    obj     `json:"needs"`    // client capabilities without which it refuses
	Announce string  `json:"announce"` // the notification that it causes
	URI      string  `json:"uri"`      // of the resource that has changed
	Rounds   []round `json:"rounds"`   // what it asks before it answers (multi round-trip requests)
	Final    string  `json:"final"`    // its text after the last round
}

// round is one input_required result (2026-07-28 basic/patterns/mrtr).
type round struct {
	Ask   map[string]obj `json:"ask"`
	State bool           `json:"state"` // carries requestState
	AnyOf bool           `json:"anyOf"` // ask only for what the client declared
}

type resource struct {
	span
	Resource obj    `json:"resource"`
	Text     string `json:"text"`
	Blob     string `json:"blob"`
}

// template is a resource template with one variable, between prefix and suffix.
type template struct {
	span
	Template obj    `json:"template"`
	Prefix   string `json:"prefix"`
	Suffix   string `json:"suffix"`
	Text     string `json:"text"`
}

type prompt struct {
	span
	Prompt   obj                 `json:"prompt"`
	Messages []any               `json:"messages"`
	Complete map[string][]string `json:"complete"` // completion values by argument
	Rounds   []round             `json:"rounds"`
}

func (t tool) name() string     { s, _ := t.Tool["name"].(string); return s }
func (p prompt) name() string   { s, _ := p.Prompt["name"].(string); return s }
func (r resource) uri() string  { s, _ := r.Resource["uri"].(string); return s }
func (t template) what() string { s, _ := t.Template["uriTemplate"].(string); return s }

func loadFixture() (*fixture, error) {
	var f fixture
	if err := json.Unmarshal(fixtureJSON, &f); err != nil {
		return nil, fmt.Errorf("reading fixture.json: %w", err)
	}
	for _, t := range f.Tools {
		if _, ok := behaviours()[t.Does]; t.Does != "" && !ok {
			return nil, fmt.Errorf("fixture.json: tool %s does %q, which is no behaviour", t.name(), t.Does)
		}
	}
	return &f, nil
}

func (f *fixture) tool(name string, r schemas.Revision) (tool, bool) {
	i := slices.IndexFunc(f.Tools, func(t tool) bool { return t.name() == name && t.in(r) })
	if i < 0 {
		return tool{}, false
	}
	return f.Tools[i], true
}

func (f *fixture) prompt(name string, r schemas.Revision) (prompt, bool) {
	i := slices.IndexFunc(f.Prompts, func(p prompt) bool { return p.name() == name && p.in(r) })
	if i < 0 {
		return prompt{}, false
	}
	return f.Prompts[i], true
}

// since tells in which revision members of listed things came into being.
type since map[string]schemas.Revision

func toolMembers() since {
	return since{
		"annotations": schemas.R20250326, "title": schemas.R20250618,
		"outputSchema": schemas.R20250618, "_meta": schemas.R20250618, "icons": schemas.R20251125,
	}
}

func otherMembers() since {
	return since{"title": schemas.R20250618, "_meta": schemas.R20250618, "icons": schemas.R20251125}
}

// trim copies o without the members that revision r does not have.
func trim(o obj, r schemas.Revision, s since) obj {
	o = maps.Clone(o)
	for k, from := range s {
		if r < from {
			delete(o, k)
		}
	}
	return o
}

// listed returns the entries of one list method as revision r shows them.
func (f *fixture) listed(method string, r schemas.Revision) (key string, items []any) {
	items = []any{} // an empty list is [], never null
	switch method {
	case "tools/list":
		key = "tools"
		for _, t := range f.Tools {
			if t.in(r) {
				items = append(items, trim(t.Tool, r, toolMembers()))
			}
		}
	case "prompts/list":
		key = "prompts"
		for _, p := range f.Prompts {
			if p.in(r) {
				items = append(items, trim(p.Prompt, r, otherMembers()))
			}
		}
	case "resources/list":
		key = "resources"
		for _, s := range f.Resources {
			if s.in(r) {
				items = append(items, trim(s.Resource, r, otherMembers()))
			}
		}
	case "resources/templates/list":
		key = "resourceTemplates"
		for _, t := range f.Templates {
			if t.in(r) {
				items = append(items, trim(t.Template, r, otherMembers()))
			}
		}
	}
	return key, items
}
