package main

import (
	"errors"
	"fmt"
	"os"
	"path"

	"github.com/spf13/cobra"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/scenarios"
)

func lintCommand(s streams) *cobra.Command {
	return &cobra.Command{
		Use:   "lint [DIR…]",
		Short: "Check scenario files without running them",
		Long: `lint reads the scenarios in each DIR, or the built-in ones, and reports every
mistake with file, line and column: unknown keys, requirements that do not exist,
labels that are used before they are given, schemas that do not compile.`,
		Example: `  mcp-conform lint
  mcp-conform lint ./my-scenarios`,
		RunE: func(_ *cobra.Command, dirs []string) error {
			cat, err := conformance.Builtin()
			if err != nil {
				return fail(exitHarness, err)
			}
			n, err := lintAll(dirs, requirementIDs(cat))
			if err != nil {
				return err
			}
			fmt.Fprintf(s.out, "%d scenarios, no mistakes\n", n)
			return nil
		},
	}
}

// lintAll lints the scenarios of each folder, or the built-in ones, and returns
// how many there are.
func lintAll(dirs, known []string) (int, error) {
	if len(dirs) == 0 {
		all, err := scenarios.Builtin()
		if err != nil {
			return 0, err
		}
		return len(all), scenarios.Lint(all, known)
	}
	n := 0
	var errs []error
	for _, dir := range dirs {
		all, err := loadFolder(dir)
		n += len(all)
		errs = append(errs, err, scenarios.Lint(all, known))
	}
	return n, errors.Join(errs...)
}

// loadFolder loads the scenarios of a folder, which must hold some. Their files
// are named as seen from here.
func loadFolder(dir string) ([]scenarios.Scenario, error) {
	switch info, err := os.Stat(dir); {
	case err != nil:
		return nil, err
	case !info.IsDir():
		return nil, fmt.Errorf("%s is a file: name the folder that it is in", dir)
	}
	all, err := scenarios.Load(os.DirFS(dir))
	if ps := (scenarios.Problems)(nil); errors.As(err, &ps) {
		for i := range ps {
			ps[i].File = path.Join(dir, ps[i].File)
		}
	}
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("%s: no scenario in it: scenarios are files FOLDER/NAME.yaml", dir)
	}
	for i := range all {
		all[i].File = path.Join(dir, all[i].File)
	}
	return all, err
}

// requirementIDs returns the ids of the catalogue, which scenarios may name.
func requirementIDs(cat *conformance.Catalogue) []string {
	var ids []string
	for _, q := range cat.All() {
		ids = append(ids, q.ID)
	}
	return ids
}
