package schemas

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"github.com/mcp-conform/mcp-conform/schemas/internal/sample"
)

// idle lists what three of our schemas say without effect: branches of a union
// that another branch covers, members of which nothing is asked, and bounds that
// a pattern or a reference implies.
func idle() map[Revision][]string {
	return map[Revision][]string{
		R20241105: {
			"ClientResult/anyOf/1", "ClientResult/anyOf/2",
			"JSONRPCError/properties/error/properties/data",
			"JSONRPCMessage/anyOf/0",
			"LoggingMessageNotification/properties/params/properties/data",
			"ServerResult/anyOf/1", "ServerResult/anyOf/2", "ServerResult/anyOf/3",
			"ServerResult/anyOf/4", "ServerResult/anyOf/5", "ServerResult/anyOf/6",
			"ServerResult/anyOf/7", "ServerResult/anyOf/8", "ServerResult/anyOf/9",
		},
		Tasks: {
			"CancelTaskRequest/properties/params/type",
			"GetTaskRequest/properties/params/type",
			"UpdateTaskRequest/properties/params/type",
		},
		ServerCard: {
			"ServerCard/properties/$schema/format",
			"ServerCard/properties/name/minLength",
		},
	}
}

// TestEveryKeywordCounts takes each keyword of some of our schemas away in turn,
// and each element of each list, and compares what is left with the official
// schema. A loss that makes no difference is one that the instances of
// TestEquivalence cannot see.
func TestEveryKeywordCounts(t *testing.T) {
	spec, ok := specData(t)
	if !ok {
		return
	}
	losses := 0
	for name, want := range idle() {
		doc := readObject(t, filepath.Join(official(spec, name), "schema.json"))
		published, source := compileOfficial(t, doc), sample.New(doc)
		f := asPublished(t, name)
		var unseen []string
		for _, definition := range source.Definitions() {
			var all []judged
			for v := range instances(source, definition) {
				all = append(all, judged{v.value, published[definition].Validate(v.value) == nil})
			}
			lose(f.doc.definitions[definition], definition, func(what string) {
				losses++
				if !differs(f, definition, all) {
					unseen = append(unseen, what)
				}
			})
		}
		slices.Sort(unseen)
		if !slices.Equal(unseen, want) {
			t.Errorf("%s: losses that make no difference:\n got %q\nwant %q", name, unseen, want)
		}
	}
	fmt.Printf("took %d keywords away\n", losses)
}

// judged is an instance with what the official schema says of it.
type judged struct {
	value    any
	accepted bool
}

// differs reports whether our definition now judges one of them otherwise, or
// has become no schema at all.
func differs(f *file, definition string, all []judged) bool {
	compiler := newCompiler()
	compiler.UseLoader(f)
	schema, err := compiler.Compile(base(f.doc.folder) + definition)
	return err != nil || slices.ContainsFunc(all, func(v judged) bool {
		return (schema.Validate(v.value) == nil) != v.accepted
	})
}

// lose calls try once for each member and each element of a schema, while that
// one is missing. Lists are left with one element at least.
func lose(schema any, pointer string, try func(what string)) {
	switch schema := schema.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(schema)) {
			old, at := schema[key], pointer+"/"+key
			delete(schema, key)
			try(at)
			list, _ := old.([]any)
			for i := range list {
				if schema[key] = slices.Delete(slices.Clone(list), i, i+1); len(list) > 1 {
					try(fmt.Sprintf("%s/%d", at, i))
				}
			}
			schema[key] = old
			lose(old, at, try)
		}
	case []any:
		for i, element := range schema {
			lose(element, fmt.Sprintf("%s/%d", pointer, i), try)
		}
	}
}
