package main

import (
	"fmt"
	"os"

	"github.com/spf13/pflag"

	"github.com/mcp-conform/mcp-conform/schemas"
)

// schemaFlags choose the schemas that messages are validated by.
type schemaFlags struct {
	dir         string
	asPublished bool
}

func (f *schemaFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.dir, "schema-dir", "", "validate by the official schemas in `DIR`/REVISION/schema.json instead of the built-in ones")
	flags.BoolVar(&f.asPublished, "as-published", false, "validate by the schemas to the letter, without errata")
}

func (f *schemaFlags) load() (*schemas.Set, error) {
	if f.dir != "" {
		if _, err := os.Stat(f.dir); err != nil {
			return nil, fmt.Errorf("--schema-dir: %w", err)
		}
	}
	return schemas.Load(schemas.Options{Dir: f.dir, AsPublished: f.asPublished})
}
