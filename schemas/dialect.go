package schemas

import (
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// dialect is a version of JSON Schema that we can evaluate.
type dialect struct {
	name  string
	draft *jsonschema.Draft
}

// dialects lists what ships with the validator. 2020-12 is the default since
// 2025-11-25 (basic/index, JSON Schema Usage); earlier revisions name none.
func dialects() []dialect {
	return []dialect{
		{"JSON Schema 2020-12", jsonschema.Draft2020},
		{"JSON Schema 2019-09", jsonschema.Draft2019},
		{"JSON Schema draft-07", jsonschema.Draft7},
		{"JSON Schema draft-06", jsonschema.Draft6},
		{"JSON Schema draft-04", jsonschema.Draft4},
	}
}

// dialectOf finds the dialect that a $schema names, with either scheme and with
// or without an empty fragment, as all of them are in use.
func dialectOf(schema string) (dialect, bool) {
	plain := func(s string) string {
		s = strings.TrimSuffix(s, "#")
		return strings.TrimPrefix(strings.TrimPrefix(s, "https://"), "http://")
	}
	if plain(schema) == "json-schema.org/schema" { // "the latest"
		return dialects()[0], true
	}
	for _, d := range dialects() {
		if plain(d.draft.String()) == plain(schema) {
			return d, true
		}
	}
	return dialect{}, false
}

// fromECMA rewrites \u and four digits, which Go spells \x{…}.
func fromECMA(pattern string) string {
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		if pattern[i] != '\\' || i+1 == len(pattern) {
			b.WriteByte(pattern[i])
			continue
		}
		if pattern[i+1] == 'u' {
			if _, ok := hex4([]byte(pattern[i+2:])); ok {
				b.WriteString(`\x{` + pattern[i+2:i+6] + `}`)
				i += 5
				continue
			}
		}
		b.WriteString(pattern[i : i+2])
		i++
	}
	return b.String()
}
