package schemas

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// fault is what a check found, at a pointer below the value that it checked.
type fault struct {
	pointer string
	want    string
	got     string // "" means: describe the value at pointer
}

// check looks at one value where JSON Schema cannot say what is meant.
type check func(rev Revision, value any) []fault

// checks are the values that the keyword `check` of a required schema in
// errata.yaml may have.
func (f *file) checks() map[string]check {
	return map[string]check{
		"input-schema":  f.checkSchema(Input),
		"output-schema": f.checkSchema(Output),
		"mcp-headers":   checkHeaders,
		"enum-names":    checkEnumNames,
		"form-required": checkFormRequired,
	}
}

// checkSchema demands that a value is a valid schema of its dialect; what the
// revision demands of its root is for the published schema to say.
func (f *file) checkSchema(role SchemaRole) check {
	return func(rev Revision, value any) []fault {
		if _, ok := value.(map[string]any); !ok {
			return nil
		}
		raw, err := json.Marshal(value)
		if err != nil {
			return nil
		}
		var faults []fault
		_, vs := f.set.ToolSchema(rev, role, raw)
		for _, v := range vs {
			if !v.ofRoot() && v.Keyword != "x-mcp-header" {
				faults = append(faults, fault{v.Pointer, v.Want + " (" + string(role) + " must be a valid schema)", v.Got})
			}
		}
		return faults
	}
}

// checkHeaders judges the x-mcp-header annotations of an inputSchema.
func checkHeaders(_ Revision, value any) []fault {
	var faults []fault
	for _, v := range headerViolations(value) {
		faults = append(faults, fault{v.Pointer, v.Want, v.Got})
	}
	return faults
}

// checkEnumNames wants as many names as there are values.
func checkEnumNames(_ Revision, value any) []fault {
	m, _ := value.(map[string]any)
	values, isEnum := m["enum"].([]any)
	names, named := m["enumNames"].([]any)
	if !isEnum || !named || len(values) == len(names) {
		return nil
	}
	return []fault{{"/enumNames", fmt.Sprintf("%d names, one for each value", len(values)), ""}}
}

// checkFormRequired wants a form to require only the fields that it has.
func checkFormRequired(_ Revision, value any) []fault {
	form, _ := value.(map[string]any)
	required, _ := form["required"].([]any)
	fields, _ := form["properties"].(map[string]any)
	var faults []fault
	for i, name := range required {
		if text, ok := name.(string); ok && fields[text] == nil {
			faults = append(faults, fault{fmt.Sprintf("/required/%d", i), "a field of the form", ""})
		}
	}
	return faults
}

// checkError carries faults through the validator.
type checkError struct {
	check  string
	faults []fault
}

func (e *checkError) Error() string {
	var parts []string
	for _, f := range e.faults {
		parts = append(parts, f.pointer+": want "+f.want)
	}
	return strings.Join(parts, "; ")
}

// runCheck is a check, compiled into a schema.
type runCheck struct {
	name  string
	rev   Revision
	check check
}

// Validate implements jsonschema.SchemaExt.
func (r runCheck) Validate(ctx *jsonschema.ValidatorContext, v any) {
	if faults := r.check(r.rev, v); len(faults) > 0 {
		ctx.AddError(&kind.Format{Got: v, Want: r.name, Err: &checkError{r.name, faults}})
	}
}

// checkVocabulary teaches the validator the keyword `check`.
func (f *file) checkVocabulary() *jsonschema.Vocabulary {
	all := f.checks()
	return &jsonschema.Vocabulary{
		URL: "mcp:///vocabulary/check",
		Compile: func(_ *jsonschema.CompilerContext, schema map[string]any) (jsonschema.SchemaExt, error) {
			name, ok := schema["check"].(string)
			if !ok {
				return nil, nil
			}
			c := all[name]
			if c == nil {
				return nil, fmt.Errorf("there is no check %q; there are %v", name, slices.Sorted(maps.Keys(all)))
			}
			return runCheck{name, f.rev, c}, nil
		},
	}
}
