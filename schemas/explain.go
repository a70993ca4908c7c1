package schemas

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// explain turns what the validator says into violations, sorted and without
// doubles. Of the branches of an anyOf or oneOf only the best-fitting speaks.
// (The validator's own messages take four times as long as validating.)
func (f *file) explain(err error, instance any) ([]Violation, error) {
	if err == nil {
		return nil, nil
	}
	var tree *jsonschema.ValidationError
	if !errors.As(err, &tree) {
		return nil, err
	}
	x := explainer{file: f, instance: instance}
	return tidy(x.violations(tree)), nil
}

// tidy sorts violations and drops doubles; of a double that an erratum and the
// published schema both make, the one of the published schema stays.
func tidy(vs []Violation) []Violation {
	slices.SortFunc(vs, func(a, b Violation) int {
		if c := strings.Compare(a.Pointer, b.Pointer); c != 0 {
			return c
		}
		return strings.Compare(a.Keyword+a.Want+a.Erratum+a.Definition+a.Got, b.Keyword+b.Want+b.Erratum+b.Definition+b.Got)
	})
	return slices.CompactFunc(vs, func(a, b Violation) bool {
		return a.Pointer == b.Pointer && a.Keyword == b.Keyword && a.Want == b.Want
	})
}

type explainer struct {
	file     *file // nil for schemas that come from traffic
	instance any
}

// violations flattens the tree. What fails behind a reference or a condition
// of an erratum is due to the erratum, wherever the broken demand itself stands.
func (x *explainer) violations(e *jsonschema.ValidationError) []Violation {
	out := x.flatten(e)
	for i := range out {
		if out[i].Erratum == "" {
			x.attribute(&out[i], e)
		}
	}
	return out
}

func (x *explainer) flatten(e *jsonschema.ValidationError) []Violation {
	switch k := e.ErrorKind.(type) {
	case *kind.AnyOf:
		return x.best(e)
	case *kind.OneOf:
		if len(k.Subschemas) == 0 {
			return x.best(e)
		}
		return x.one(e, "", "oneOf", "exactly one alternative to fit", "two that fit")
	case *kind.PropertyNames:
		return x.propertyName(e, k.Property)
	case *kind.Contains, *kind.MinContains, *kind.ContentSchema:
		return x.leaf(e)
	}
	if len(e.Causes) > 0 {
		var out []Violation
		for _, c := range e.Causes {
			out = append(out, x.violations(c)...)
		}
		return out
	}
	return x.leaf(e)
}

// propertyName reports a member name that is not allowed.
func (x *explainer) propertyName(e *jsonschema.ValidationError, name string) []Violation {
	location := holder(x.instance, e.InstanceLocation, name)
	out := make([]Violation, 0, len(e.Causes))
	for _, c := range e.Causes {
		inner := explainer{file: x.file, instance: name}
		for _, v := range inner.violations(c) {
			v.Pointer = pointerOf(location, name)
			v.Got = "the member name " + short(name)
			out = append(out, v)
		}
	}
	return out
}

// holder finds the object whose member name is not allowed. The validator hands
// out its location without copying it, so the tokens at the end may be those of
// what it validated next: the object is looked for near by, at the same depth.
func holder(instance any, location []string, name string) []string {
	for right := len(location); right >= 0; right-- {
		near, ok := at(instance, location[:right])
		if !ok {
			continue
		}
		if rest, ok := below(near, len(location)-right, name); ok {
			return slices.Concat(location[:right], rest)
		}
	}
	return location
}

// below finds the first object with a member of that name, depth levels down.
func below(v any, depth int, name string) ([]string, bool) {
	switch v := v.(type) {
	case map[string]any:
		if depth == 0 {
			_, ok := v[name]
			return nil, ok
		}
		for _, token := range slices.Sorted(maps.Keys(v)) {
			if rest, ok := below(v[token], depth-1, name); ok {
				return append([]string{token}, rest...), true
			}
		}
	case []any:
		for i := range v {
			if depth == 0 {
				break
			}
			if rest, ok := below(v[i], depth-1, name); ok {
				return append([]string{strconv.Itoa(i)}, rest...), true
			}
		}
	}
	return nil, false
}

// branch is one alternative that failed.
type branch struct {
	violations []Violation
	misfit     int
}

// discriminated joins alternatives that all fail because one member, such as
// type, has none of the values that tell them apart.
func discriminated(branches []branch, at string) (Violation, bool) {
	var joined Violation
	var wants []string
	for _, b := range branches {
		i := slices.IndexFunc(b.violations, func(v Violation) bool {
			member, below := strings.CutPrefix(v.Pointer, at+"/")
			return below && !strings.Contains(member, "/") && v.Got != "absent" && (v.Keyword == "const" || v.Keyword == "enum")
		})
		if i < 0 || joined.Pointer != "" && b.violations[i].Pointer != joined.Pointer {
			return Violation{}, false
		}
		if joined.Pointer == "" {
			joined = b.violations[i]
		}
		if want := strings.TrimPrefix(b.violations[i].Want, "one of "); !slices.Contains(wants, want) {
			wants = append(wants, want)
		}
	}
	joined.Want = strings.Join(sorted(wants), " or ")
	return joined, len(wants) > 1
}

// best picks, of the alternatives that all failed, the one that was meant.
func (x *explainer) best(e *jsonschema.ValidationError) []Violation {
	at := pointerOf(e.InstanceLocation)
	var branches []branch
	for _, c := range e.Causes {
		vs := tidy(x.violations(c))
		branches = append(branches, branch{vs, misfit(vs, at)})
	}
	if len(branches) == 0 {
		return x.leaf(e)
	}
	if v, ok := discriminated(branches, at); ok {
		return []Violation{v}
	}
	low := slices.MinFunc(branches, func(a, b branch) int { return a.misfit - b.misfit }).misfit
	var fitting [][]Violation
	for _, b := range branches {
		if b.misfit == low {
			fitting = append(fitting, b.violations)
		}
	}
	if merged, ok := mergeAlternatives(fitting); ok {
		return merged
	}
	return fitting[0]
}

// misfit measures how far an alternative is from what the sender meant: wrong
// type of the value itself, then a wrong discriminator, then missing members,
// then anything deeper.
func misfit(vs []Violation, at string) int {
	score := 0
	for _, v := range vs {
		rest, _ := strings.CutPrefix(v.Pointer, at)
		depth := strings.Count(rest, "/")
		switch {
		case depth == 0 && v.Keyword == "type":
			score += 10000
		case depth == 0:
			score += 500
		case depth == 1 && (v.Keyword == "const" || v.Keyword == "enum") && v.Got != "absent":
			score += 1000
		case depth == 1 && v.Got == "absent":
			score += 100
		case depth == 1:
			score += 50
		default:
			score++
		}
	}
	return score
}

// mergeAlternatives joins alternatives that fail alike: "string or integer",
// or a discriminator that may have several values.
func mergeAlternatives(branches [][]Violation) ([]Violation, bool) {
	if len(branches) < 2 {
		return nil, false
	}
	first := branches[0]
	var wants []string
	for _, b := range branches {
		if len(b) != 1 || b[0].Pointer != first[0].Pointer {
			return nil, false
		}
		switch b[0].Keyword {
		case "type", "const", "enum":
		default:
			return nil, false
		}
		if want := strings.TrimPrefix(b[0].Want, "one of "); !slices.Contains(wants, want) {
			wants = append(wants, want)
		}
	}
	merged := first[0]
	merged.Want = strings.Join(sorted(wants), " or ")
	return []Violation{merged}, true
}

// one makes the violations of a node that has a place of its own.
func (x *explainer) one(e *jsonschema.ValidationError, member, keyword, want, got string) []Violation {
	v := Violation{Keyword: keyword, Want: want, Got: got}
	if v.Pointer = pointerOf(e.InstanceLocation); member != "" {
		v.Pointer += "/" + escapePointer(member)
	}
	if x.file != nil {
		v.Definition, _ = place(e.SchemaURL)
	}
	return []Violation{v}
}

// owner is the file in which the broken demand stands: an extension's schema
// refers to the one of the revision that it extends.
func (x *explainer) owner(e *jsonschema.ValidationError) *file {
	if owner := x.file.owner(e.SchemaURL); owner != nil {
		return owner
	}
	return x.file
}

// attribute names the erratum behind a violation.
func (x *explainer) attribute(v *Violation, e *jsonschema.ValidationError) {
	if x.file == nil || e.ErrorKind == nil {
		return
	}
	definition, pointer := place(e.SchemaURL)
	erratum := x.owner(e).erratumAt(definition, pointer+pointerOf(e.ErrorKind.KeywordPath()))
	if k, ok := e.ErrorKind.(*kind.Format); ok && erratum == nil {
		erratum = x.file.assert[k.Want]
	}
	if erratum != nil {
		v.Erratum, v.Advice = erratum.ID, erratum.Advice
	}
}

// leaf words a node that says what is wrong by itself.
func (x *explainer) leaf(e *jsonschema.ValidationError) []Violation {
	got := got(at(x.instance, e.InstanceLocation))
	switch k := e.ErrorKind.(type) {
	case *kind.Type:
		return x.one(e, "", "type", strings.Join(sorted(k.Want), " or "), got)
	case *kind.Const:
		return x.one(e, "", "const", short(k.Want), got)
	case *kind.Enum:
		return x.one(e, "", "enum", oneOf(k.Want), got)
	case *kind.Required:
		return x.each(e, k.Missing, "required", "a value", "absent")
	case *kind.DependentRequired:
		return x.each(e, k.Missing, "dependentRequired", "a value, as "+strconv.Quote(k.Prop)+" is there", "absent")
	case *kind.Dependency:
		return x.each(e, k.Missing, "dependencies", "a value, as "+strconv.Quote(k.Prop)+" is there", "absent")
	case *kind.AdditionalProperties:
		return x.each(e, k.Properties, "additionalProperties", "no such member", "")
	case *kind.Format:
		return x.format(e, k)
	case *kind.FalseSchema:
		return x.one(e, "", "false", "no such member", got)
	case *kind.Not:
		return x.one(e, "", "not", "something else", got)
	case *kind.RefCycle:
		return x.one(e, "", "$ref", "a reference that ends", "a cycle of references")
	case *kind.Pattern:
		return x.one(e, "", "pattern", "a match of "+strconv.Quote(k.Want), got)
	case *kind.UniqueItems:
		return x.one(e, "", "uniqueItems", "no two equal elements", fmt.Sprintf("elements %d and %d equal", k.Duplicates[0], k.Duplicates[1]))
	}
	if keyword, want := bound(e.ErrorKind); keyword != "" {
		return x.one(e, "", keyword, want, got)
	}
	keyword := strings.Join(e.ErrorKind.KeywordPath(), "/")
	return x.one(e, "", keyword, "what "+keyword+" demands", got)
}

// bound words the keywords that compare with a number.
func bound(k jsonschema.ErrorKind) (keyword, want string) {
	switch k := k.(type) {
	case *kind.Minimum:
		return "minimum", "at least " + clip(k.Want.RatString())
	case *kind.Maximum:
		return "maximum", "at most " + clip(k.Want.RatString())
	case *kind.ExclusiveMinimum:
		return "exclusiveMinimum", "more than " + clip(k.Want.RatString())
	case *kind.ExclusiveMaximum:
		return "exclusiveMaximum", "less than " + clip(k.Want.RatString())
	case *kind.MultipleOf:
		return "multipleOf", "a multiple of " + clip(k.Want.RatString())
	case *kind.MinLength:
		return "minLength", fmt.Sprintf("at least %d characters", k.Want)
	case *kind.MaxLength:
		return "maxLength", fmt.Sprintf("at most %d characters", k.Want)
	case *kind.MinItems:
		return "minItems", fmt.Sprintf("at least %d elements", k.Want)
	case *kind.MaxItems:
		return "maxItems", fmt.Sprintf("at most %d elements", k.Want)
	case *kind.AdditionalItems:
		return "additionalItems", fmt.Sprintf("%d elements fewer", k.Count)
	case *kind.MinProperties:
		return "minProperties", fmt.Sprintf("at least %d members", k.Want)
	case *kind.MaxProperties:
		return "maxProperties", fmt.Sprintf("at most %d members", k.Want)
	case *kind.Contains:
		return "contains", "at least one element that fits"
	case *kind.MinContains:
		return "minContains", fmt.Sprintf("at least %d elements that fit", k.Want)
	case *kind.MaxContains:
		return "maxContains", fmt.Sprintf("at most %d elements that fit", k.Want)
	}
	return "", ""
}

// each makes one violation for each named member of the object.
func (x *explainer) each(e *jsonschema.ValidationError, members []string, keyword, want, got string) []Violation {
	var out []Violation
	object, _ := at(x.instance, e.InstanceLocation)
	for _, name := range sorted(members) {
		g := got
		if m, ok := object.(map[string]any); ok && g == "" {
			g = describe(m[name])
		}
		w := want
		if keyword == "required" {
			w = x.wantOf(e, name)
		}
		out = append(out, x.one(e, name, keyword, w, g)...)
	}
	return out
}

// wantOf says what a missing member should be, if its schema is plain about it.
func (x *explainer) wantOf(e *jsonschema.ValidationError, name string) string {
	if x.file == nil {
		return "a value"
	}
	definition, pointer := place(e.SchemaURL)
	schema, ok := follow(x.owner(e).doc.definitions[definition], pointer+"/properties/"+escapePointer(name))
	m, isObject := schema.(map[string]any)
	if !ok || !isObject {
		return "a value"
	}
	if c, ok := m["const"]; ok {
		return short(c)
	}
	if t, ok := m["type"].(string); ok {
		return t
	}
	if ref, ok := m["$ref"].(string); ok {
		return "a " + ref[strings.LastIndexByte(ref, '/')+1:]
	}
	return "a value"
}

// follow returns what stands at a pointer of a schema.
func follow(v any, pointer string) (any, bool) {
	var tokens []string
	if pointer != "" {
		for t := range strings.SplitSeq(pointer[1:], "/") {
			tokens = append(tokens, unescapePointer(t))
		}
	}
	return at(v, tokens)
}

// format words a failed format or check.
func (x *explainer) format(e *jsonschema.ValidationError, k *kind.Format) []Violation {
	value, ok := at(x.instance, e.InstanceLocation)
	var c *checkError
	if !errors.As(k.Err, &c) {
		want := k.Want
		if k.Err != nil {
			want += ": " + k.Err.Error()
		}
		return x.one(e, "", k.Want, want, got(value, ok))
	}
	var out []Violation
	for _, fault := range c.faults {
		there, ok := follow(value, fault.pointer)
		g := fault.got
		if g == "" {
			g = got(there, ok)
		}
		v := x.one(e, "", c.check, fault.want, g)[0]
		v.Pointer += fault.pointer
		out = append(out, v)
	}
	return out
}

func sorted(s []string) []string {
	s = slices.Clone(s)
	slices.Sort(s)
	return s
}

func pointerOf(location []string, more ...string) string {
	var b strings.Builder
	for _, t := range location {
		b.WriteString("/" + escapePointer(t))
	}
	for _, t := range more {
		b.WriteString("/" + escapePointer(t))
	}
	return b.String()
}

// at returns the value at a location.
func at(v any, location []string) (any, bool) {
	for _, token := range location {
		switch c := v.(type) {
		case map[string]any:
			var ok bool
			if v, ok = c[token]; !ok {
				return nil, false
			}
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(c) {
				return nil, false
			}
			v = c[i]
		default:
			return nil, false
		}
	}
	return v, true
}

func got(v any, there bool) string {
	if !there {
		return "absent"
	}
	return describe(v)
}

// describe says in a few words what a value is.
func describe(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return fmt.Sprintf("boolean %v", v)
	case json.Number:
		return "number " + clip(string(v))
	case string:
		return "string " + short(v)
	case []any:
		switch len(v) {
		case 0:
			return "an empty array"
		case 1:
			return "an array of 1 element"
		}
		return fmt.Sprintf("an array of %d elements", len(v))
	case map[string]any:
		switch len(v) {
		case 0:
			return "an empty object"
		case 1:
			return "an object with 1 member"
		}
		return fmt.Sprintf("an object with %d members", len(v))
	}
	return fmt.Sprint(v)
}

// short renders a value as JSON, cut to what fits a line.
func short(v any) string {
	if s, ok := v.(string); ok {
		quoted := strconv.Quote(s)
		return `"` + clip(quoted[1:len(quoted)-1]) + `"`
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return clip(string(raw))
}

func clip(s string) string {
	const limit = 60
	if len(s) <= limit {
		return s
	}
	cut := limit
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

// oneOf renders the values of an enum.
func oneOf(values []any) string {
	if len(values) == 1 {
		return short(values[0])
	}
	var parts []string
	for _, v := range values {
		parts = append(parts, short(v))
	}
	return "one of " + strings.Join(parts, ", ")
}
