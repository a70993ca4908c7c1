package schemas

import (
	"encoding/json"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// acceptor is a compiled schema for the usual case, that an instance fits: it
// builds no errors and knows the plain keywords only. It says yes, or that it
// is not sure; then the validator decides and explains.
type acceptor struct {
	unsure     bool // a keyword that is left to the validator
	types      kinds
	words      []string // of const or enum; only strings are known
	all        []*acceptor
	any        [][]*acceptor // of each list, one must accept
	required   []string
	properties map[string]*acceptor
	refused    []string  // members whose presence is left to the validator
	additional *acceptor // nil: anything
	names      *acceptor // nil: any
	items      *acceptor // nil: anything
	minItems   int
	maxItems   int // -1: any number
	minimum    *float64
	maximum    *float64
	format     func(v any) error
	checks     []runCheck
}

// kinds is a set of JSON types.
type kinds uint8

const (
	nullKind kinds = 1 << iota
	booleanKind
	numberKind
	integerKind
	stringKind
	arrayKind
	objectKind
)

func kindNamed(name string) kinds {
	switch name {
	case "null":
		return nullKind
	case "boolean":
		return booleanKind
	case "number":
		return numberKind | integerKind
	case "integer":
		return integerKind
	case "string":
		return stringKind
	case "array":
		return arrayKind
	case "object":
		return objectKind
	}
	return 0
}

// acceptors compiles schemas once each; schemas refer to each other in circles.
type acceptors map[*jsonschema.Schema]*acceptor

func (c acceptors) of(s *jsonschema.Schema) *acceptor {
	if s == nil {
		return nil
	}
	if a, ok := c[s]; ok {
		return a
	}
	a := &acceptor{maxItems: -1}
	c[s] = a
	if s.Bool != nil {
		a.unsure = !*s.Bool
		return a
	}
	if s.Ref != nil {
		a.all = append(a.all, c.of(s.Ref))
		if s.DraftVersion < 2019 {
			return a // the siblings of $ref count since 2019-09
		}
	}
	a.unsure = beyond(s)
	c.values(a, s)
	c.members(a, s)
	for _, one := range s.AllOf {
		a.all = append(a.all, c.of(one))
	}
	if len(s.AnyOf) > 0 {
		var list []*acceptor
		for _, one := range s.AnyOf {
			list = append(list, c.of(one))
		}
		a.any = append(a.any, list)
	}
	return a
}

// beyond reports whether a schema has a keyword that acceptors do not know.
func beyond(s *jsonschema.Schema) bool {
	switch {
	case s.RecursiveRef != nil, s.DynamicRef != nil, s.Not != nil, s.OneOf != nil, s.If != nil,
		s.MaxProperties != nil, s.MinProperties != nil, s.PatternProperties != nil,
		s.UnevaluatedProperties != nil, s.UniqueItems, s.Contains != nil,
		s.AdditionalItems != nil, s.PrefixItems != nil, s.UnevaluatedItems != nil,
		s.MinLength != nil, s.MaxLength != nil, s.Pattern != nil,
		s.ContentEncoding != nil, s.ContentMediaType != nil, s.ContentSchema != nil,
		s.ExclusiveMaximum != nil, s.ExclusiveMinimum != nil, s.MultipleOf != nil:
		return true
	}
	return false
}

// values compiles the keywords about the value itself.
func (c acceptors) values(a *acceptor, s *jsonschema.Schema) {
	if s.Types != nil {
		for _, name := range s.Types.ToStrings() {
			a.types |= kindNamed(name)
		}
	}
	var listed []any
	if s.Const != nil {
		listed = []any{*s.Const}
	}
	if s.Enum != nil {
		a.unsure = a.unsure || s.Const != nil
		listed = s.Enum.Values
	}
	for _, v := range listed {
		word, ok := v.(string)
		a.unsure = a.unsure || !ok
		a.words = append(a.words, word)
	}
	if s.Format != nil {
		a.format = s.Format.Validate
	}
	if s.Minimum != nil {
		f, exact := s.Minimum.Float64()
		a.minimum, a.unsure = &f, a.unsure || !exact
	}
	if s.Maximum != nil {
		f, exact := s.Maximum.Float64()
		a.maximum, a.unsure = &f, a.unsure || !exact
	}
	for _, e := range s.Extensions {
		check, ok := e.(runCheck)
		a.unsure = a.unsure || !ok
		a.checks = append(a.checks, check)
	}
}

// members compiles the keywords about objects and arrays.
func (c acceptors) members(a *acceptor, s *jsonschema.Schema) {
	a.required = s.Required
	if len(s.Properties) > 0 {
		a.properties = make(map[string]*acceptor, len(s.Properties))
		for name, one := range s.Properties {
			a.properties[name] = c.of(one)
		}
	}
	switch additional := s.AdditionalProperties.(type) {
	case bool:
		if !additional {
			a.additional = &acceptor{unsure: true}
		}
	case *jsonschema.Schema:
		a.additional = c.of(additional)
	}
	a.names = c.of(s.PropertyNames)
	for name := range s.Dependencies {
		a.refused = append(a.refused, name)
	}
	for name := range s.DependentRequired {
		a.refused = append(a.refused, name)
	}
	for name := range s.DependentSchemas {
		a.refused = append(a.refused, name)
	}
	if a.items = c.of(s.Items2020); a.items == nil {
		switch items := s.Items.(type) {
		case nil:
		case *jsonschema.Schema:
			a.items = c.of(items)
		default:
			a.unsure = true
		}
	}
	if s.MinItems != nil {
		a.minItems = *s.MinItems
	}
	if s.MaxItems != nil {
		a.maxItems = *s.MaxItems
	}
}

// maxAccept bounds the nesting that is followed, circles of references included.
const maxAccept = 256

// accept reports whether the value fits for sure.
func (a *acceptor) accept(v any, depth int) bool {
	if a.unsure || depth > maxAccept || !a.acceptSelf(v) {
		return false
	}
	for _, one := range a.all {
		if !one.accept(v, depth+1) {
			return false
		}
	}
	for _, list := range a.any {
		if !slices.ContainsFunc(list, func(one *acceptor) bool { return one.accept(v, depth+1) }) {
			return false
		}
	}
	switch v := v.(type) {
	case map[string]any:
		return a.acceptObject(v, depth)
	case []any:
		return a.acceptArray(v, depth)
	}
	return true
}

// acceptSelf judges type, listed values, bounds, format and checks.
func (a *acceptor) acceptSelf(v any) bool {
	if a.types != 0 && a.types&kindsOf(v) == 0 {
		return false
	}
	if len(a.words) > 0 {
		word, ok := v.(string)
		if !ok || !slices.Contains(a.words, word) {
			return false
		}
	}
	if n, ok := v.(json.Number); ok && (a.minimum != nil || a.maximum != nil) && !a.within(n) {
		return false
	}
	if a.format != nil && a.format(v) != nil {
		return false
	}
	for _, c := range a.checks {
		if len(c.check(c.rev, v)) > 0 {
			return false
		}
	}
	return true
}

// within compares with the bounds, where doubles are exact.
func (a *acceptor) within(n json.Number) bool {
	f, err := strconv.ParseFloat(string(n), 64)
	return err == nil && len(n) <= 15 && (a.minimum == nil || f >= *a.minimum) && (a.maximum == nil || f <= *a.maximum)
}

// kindsOf is the types that a value has; a number written with fraction or
// exponent may still be an integer, which is left to the validator.
func kindsOf(v any) kinds {
	switch v := v.(type) {
	case nil:
		return nullKind
	case bool:
		return booleanKind
	case string:
		return stringKind
	case []any:
		return arrayKind
	case map[string]any:
		return objectKind
	case json.Number:
		for i := range len(v) {
			if !isDigit(v[i]) && v[i] != '-' {
				return numberKind
			}
		}
		return numberKind | integerKind
	}
	return 0
}

func (a *acceptor) acceptObject(object map[string]any, depth int) bool {
	for _, name := range a.required {
		if _, ok := object[name]; !ok {
			return false
		}
	}
	for _, name := range a.refused {
		if _, ok := object[name]; ok {
			return false
		}
	}
	if a.properties == nil && a.additional == nil && a.names == nil {
		return true
	}
	for name, v := range object {
		if a.names != nil && (!utf8.ValidString(name) || !a.names.accept(name, depth+1)) {
			return false
		}
		one := a.properties[name]
		if one == nil {
			one = a.additional
		}
		if one != nil && !one.accept(v, depth+1) {
			return false
		}
	}
	return true
}

func (a *acceptor) acceptArray(array []any, depth int) bool {
	if len(array) < a.minItems || a.maxItems >= 0 && len(array) > a.maxItems {
		return false
	}
	if a.items == nil {
		return true
	}
	for _, v := range array {
		if !a.items.accept(v, depth+1) {
			return false
		}
	}
	return true
}
