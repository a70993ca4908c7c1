package main

import (
	"errors"
	"fmt"
	"os"

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
			var known []string
			for _, q := range cat.All() {
				known = append(known, q.ID)
			}
			n, err := lintAll(dirs, known)
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
		if _, err := os.Stat(dir); err != nil {
			errs = append(errs, err)
			continue
		}
		all, err := scenarios.Load(os.DirFS(dir))
		errs = append(errs, err)
		if err == nil && len(all) == 0 {
			errs = append(errs, fmt.Errorf("%s: no scenario in it: scenarios are files FOLDER/NAME.yaml", dir))
		}
		n += len(all)
		errs = append(errs, scenarios.Lint(all, known))
	}
	return n, errors.Join(errs...)
}
