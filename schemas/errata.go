package schemas

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// Erratum is one difference between a schema as published and what the text of
// the specification or schema.ts intends. The errata of a revision stand in
// errata.yaml beside its schema.json:
//
//	errata:
//	  - id: L20                          # the item's name; several entries may share it
//	    on: [CompleteResult]             # definitions; "*Request" is all that end so
//	    require:                         # stricter: a schema that instances must satisfy too
//	      properties: {completion: {properties: {values: {maxItems: 100}}}}
//	    why: At most 100 values, says the text.
//	    source: 2025-11-25/server/utilities/completion#completion-results
//	  - id: S2
//	    on: [ElicitResult]
//	    edit:                            # laxer: JSON Pointer edits of the definition
//	      - {set: /properties/content/additionalProperties, to: {type: [string, number, boolean]}}
//	      - {remove: id, from: /required}
//	      - {delete: /properties/old}
//	    why: …
//	    source: …
//	  - id: L22
//	    assert: byte                     # a format that the schema only annotates is checked
//	    why: …
//	    source: …
//	  - id: L44
//	    elsewhere: rule                  # not a matter of one instance: why says where it is judged
//	    why: …
//
// A required schema may use the formats of [Formats] and the keyword `check`,
// which names a check of this package written in Go (see checks.go). With
// `advice: true` the entry is a remark, applied only under Options.Advice; it
// never makes an instance wrong.
type Erratum struct {
	ID        string   `yaml:"id"`
	On        []string `yaml:"on"`
	Require   any      `yaml:"require"`
	Edit      []Edit   `yaml:"edit"`
	Assert    string   `yaml:"assert"`
	Elsewhere string   `yaml:"elsewhere"` // "rule", "code" (decided by ValidateMessage), "kept" (the schema is right) or "none" (nothing to judge)
	Advice    bool     `yaml:"advice"`
	Why       string   `yaml:"why"`
	Source    string   `yaml:"source"`
}

// Edit changes a definition in place.
type Edit struct {
	Set    string `yaml:"set"` // pointer of what To replaces or adds
	To     any    `yaml:"to"`
	Delete string `yaml:"delete"` // pointer of what is taken out
	Remove any    `yaml:"remove"` // the element that is taken out of the array
	From   string `yaml:"from"`   // at this pointer
}

// Change says in which direction the erratum moves the schema: "laxer",
// "stricter", or "" when it does not change it.
func (e *Erratum) Change() string {
	switch {
	case len(e.Edit) > 0:
		return "laxer"
	case e.Require != nil, e.Assert != "":
		return "stricter"
	}
	return ""
}

// parseErrata reads an errata.yaml; name is for messages.
func parseErrata(name string, data []byte) ([]Erratum, error) {
	var file struct {
		Errata []yaml.Node `yaml:"errata"`
	}
	if err := strictYAML(data, &file); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	errata := make([]Erratum, 0, len(file.Errata))
	for _, n := range file.Errata {
		raw, err := yaml.Marshal(&n)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, n.Line, err)
		}
		var e Erratum
		if err := strictYAML(raw, &e); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, n.Line, err)
		}
		if err := e.check(); err != nil {
			return nil, fmt.Errorf("%s:%d: erratum %s: %w", name, n.Line, e.ID, err)
		}
		errata = append(errata, e)
	}
	return errata, nil
}

func strictYAML(data []byte, into any) error {
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	if err := d.Decode(into); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

func (e *Erratum) check() error {
	parts := 0
	for _, has := range []bool{e.Require != nil, len(e.Edit) > 0, e.Assert != "", e.Elsewhere != ""} {
		if has {
			parts++
		}
	}
	switch {
	case e.ID == "":
		return errors.New("the id is missing")
	case e.Why == "":
		return errors.New("say why")
	case parts != 1:
		return errors.New("want exactly one of require, edit, assert and elsewhere")
	case (e.Require != nil || len(e.Edit) > 0) && len(e.On) == 0:
		return errors.New("name the definitions under on")
	case e.Elsewhere != "" && !slices.Contains([]string{"rule", "code", "kept", "none"}, e.Elsewhere):
		return fmt.Errorf("elsewhere is %q, want rule, code, kept or none", e.Elsewhere)
	}
	if e.Source == "" && e.Elsewhere == "" {
		return errors.New("name the source")
	}
	return nil
}

// asJSON turns a value read from YAML into one as read from JSON. YAML takes an
// unquoted 2025-11-25 for a date, which JSON does not have.
func asJSON(v any) (any, error) {
	if err := noDates(v); err != nil {
		return nil, err
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return decodeJSON(raw)
}

func noDates(v any) error {
	switch v := v.(type) {
	case time.Time:
		return fmt.Errorf("%s is a date to YAML: write it in quotes", v.Format(time.DateOnly))
	case map[string]any:
		for _, member := range v {
			if err := noDates(member); err != nil {
				return err
			}
		}
	case []any:
		for _, element := range v {
			if err := noDates(element); err != nil {
				return err
			}
		}
	}
	return nil
}

// apply changes one definition and returns it, with the pointers at which
// violations are due to the erratum.
func (e *Erratum) apply(definition any) (any, []string, error) {
	if e.Require != nil {
		require, err := asJSON(e.Require)
		if err != nil {
			return nil, nil, err
		}
		d, place := alsoRequire(definition, require)
		return d, []string{place}, nil
	}
	var places []string
	for _, edit := range e.Edit {
		var err error
		if definition, err = edit.apply(definition); err != nil {
			return nil, nil, err
		}
		if edit.Set != "" {
			places = append(places, edit.Set)
		}
	}
	return definition, places, nil
}

// alsoRequire adds a member to the allOf of a definition.
func alsoRequire(definition, require any) (any, string) {
	d, ok := definition.(map[string]any)
	if !ok { // a boolean schema
		d = map[string]any{"allOf": []any{definition}}
	}
	if _, isRef := d["$ref"]; isRef && len(d) == 1 {
		// Before 2019-09, the siblings of $ref are ignored.
		d = map[string]any{"allOf": []any{d}}
	}
	all, _ := d["allOf"].([]any)
	d["allOf"] = append(all, require)
	return d, "/allOf/" + strconv.Itoa(len(all))
}

func (e *Edit) apply(doc any) (any, error) {
	switch {
	case e.Remove != nil:
		return editAt(doc, e.From, func(v any) (any, error) {
			list, ok := v.([]any)
			i := slices.Index(list, e.Remove)
			if !ok || i < 0 {
				return nil, fmt.Errorf("%s does not hold %v", e.From, e.Remove)
			}
			return slices.Delete(list, i, i+1), nil
		})
	case e.Delete != "":
		parent, last := splitPointer(e.Delete)
		return editAt(doc, parent, func(v any) (any, error) {
			m, ok := v.(map[string]any)
			if _, has := m[last]; !ok || !has {
				return nil, fmt.Errorf("there is no %s", e.Delete)
			}
			delete(m, last)
			return m, nil
		})
	default:
		to, err := asJSON(e.To)
		if err != nil || e.Set == "" {
			return to, err
		}
		parent, last := splitPointer(e.Set)
		return editAt(doc, parent, func(v any) (any, error) {
			m, ok := v.(map[string]any)
			if !ok {
				return nil, fmt.Errorf("%s is no object", parent)
			}
			m[last] = to
			return m, nil
		})
	}
}

func splitPointer(pointer string) (parent, last string) {
	i := strings.LastIndexByte(pointer, '/')
	return pointer[:max(i, 0)], unescapePointer(pointer[i+1:])
}

func unescapePointer(token string) string {
	return strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
}

// editAt replaces the value at a pointer by what change makes of it.
func editAt(doc any, pointer string, change func(any) (any, error)) (any, error) {
	if pointer == "" {
		return change(doc)
	}
	head, rest, more := strings.Cut(pointer[1:], "/")
	if more {
		rest = "/" + rest
	}
	head = unescapePointer(head)
	switch v := doc.(type) {
	case map[string]any:
		child, ok := v[head]
		if !ok {
			return nil, fmt.Errorf("there is no %q", head)
		}
		to, err := editAt(child, rest, change)
		v[head] = to
		return v, err
	case []any:
		i, err := strconv.Atoi(head)
		if err != nil || i < 0 || i >= len(v) {
			return nil, fmt.Errorf("there is no element %q", head)
		}
		v[i], err = editAt(v[i], rest, change)
		return v, err
	}
	return nil, fmt.Errorf("%q: not an object or array", head)
}
