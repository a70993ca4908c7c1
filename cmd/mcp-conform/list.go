package main

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/scenarios"
	"github.com/mcp-conform/mcp-conform/schemas"
)

func listCommand(s streams) *cobra.Command {
	var requirements bool
	cmd := &cobra.Command{
		Use:   "list [--requirements]",
		Short: "List the scenarios, or the requirements",
		Example: `  mcp-conform list
  mcp-conform list --requirements`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if requirements {
				return listRequirements(s)
			}
			return listScenarios(s)
		},
	}
	cmd.Flags().BoolVar(&requirements, "requirements", false, "list the requirements instead of the scenarios")
	return cmd
}

func listScenarios(s streams) error {
	all, err := scenarios.Builtin()
	if err != nil {
		return fail(exitHarness, err)
	}
	t := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	for _, sc := range all {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", sc.ID, sc.Target, span(&sc), sc.Title)
	}
	return t.Flush()
}

// span says in which revisions a scenario runs.
func span(sc *scenarios.Scenario) string {
	var in []string
	for _, r := range schemas.Revisions() {
		if r.In(sc.Since, sc.Until) {
			in = append(in, string(r))
		}
	}
	if len(in) == len(schemas.Revisions()) {
		return "all"
	}
	if len(in) <= 1 {
		return strings.Join(in, "")
	}
	return in[0] + " to " + in[len(in)-1]
}

func listRequirements(s streams) error {
	cat, err := conformance.Builtin()
	if err != nil {
		return fail(exitHarness, err)
	}
	t := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	for _, q := range cat.All() {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", q.ID, q.Binds, q.Judged, q.Text)
	}
	return t.Flush()
}
