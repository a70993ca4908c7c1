package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/scenarios"
	"github.com/mcp-conform/mcp-conform/schemas"
)

func explainCommand(s streams) *cobra.Command {
	return &cobra.Command{
		Use:     "explain ID",
		Short:   "Say what a requirement demands, where it stands, and how it is judged",
		Example: "  mcp-conform explain STDIO-STDOUT-MESSAGES-ONLY",
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("explain wants the ID of one requirement: mcp-conform list --requirements lists them")
			}
			cat, err := conformance.Builtin()
			if err != nil {
				return fail(exitHarness, err)
			}
			all, err := scenarios.Builtin()
			if err != nil {
				return fail(exitHarness, err)
			}
			q, ok := cat.Get(args[0])
			if !ok {
				return unknownRequirement(args[0], cat, all)
			}
			explainRequirement(s.out, q, naming(all, q.ID))
			return nil
		},
	}
}

// unknownRequirement says what may have been meant by an id that is none.
func unknownRequirement(id string, cat *conformance.Catalogue, all []scenarios.Scenario) error {
	for _, sc := range all {
		if sc.ID == id {
			return fmt.Errorf("%s is a scenario, which tests %s: explain one of these", id, strings.Join(sc.Requirements(), ", "))
		}
	}
	return fmt.Errorf("no requirement %q%s: mcp-conform list --requirements lists them", id, near(id, cat))
}

// naming returns the ids of the scenarios that name a requirement, sorted, with
// what a target must have so that they can run.
func naming(all []scenarios.Scenario, requirement string) []string {
	var ids []string
	for _, sc := range all {
		if slices.Contains(sc.Requirements(), requirement) {
			ids = append(ids, sc.ID+fixture(sc.Needs))
		}
	}
	slices.Sort(ids)
	return ids
}

// fixture says what a scenario needs by name: the reason why a requirement may
// stay untested on a server that has other things.
func fixture(n scenarios.Needs) string {
	var needs []string
	for _, x := range []struct{ what, name string }{{"tool", n.Tool}, {"prompt", n.Prompt}, {"resource", n.Resource}} {
		switch x.name {
		case "":
		case scenarios.Any:
			needs = append(needs, "any "+x.what)
		default:
			needs = append(needs, "the "+x.what+" "+x.name)
		}
	}
	if len(needs) == 0 {
		return ""
	}
	return " (needs " + strings.Join(needs, ", ") + ")"
}

func explainRequirement(w io.Writer, q *conformance.Requirement, by []string) {
	fmt.Fprintf(w, "%s\n  %s\n\n", q.ID, q.Text)
	fmt.Fprintf(w, "  binds   %s\n", q.Binds)
	fmt.Fprintf(w, "  when    %s\n", when(q))
	for _, r := range schemas.Revisions() {
		if c, ok := q.In[r]; ok {
			fmt.Fprintf(w, "  %s  %-10s %s\n", r, c.Level, c.Link(r))
		}
	}
	fmt.Fprintf(w, "\n  judged  %s\n", judgedBy(q, by))
	if q.Disputed != "" {
		fmt.Fprintf(w, "  note    the text reads two ways, so it is reported and never scored: %s\n", q.Disputed)
	}
	if q.Fix != "" {
		fmt.Fprintf(w, "  fix     %s\n", q.Fix)
	}
}

func when(q *conformance.Requirement) string {
	var parts []string
	if q.When != nil && q.When.Server != "" {
		parts = append(parts, "the server declares "+q.When.Server)
	}
	if q.When != nil && q.When.Client != "" {
		parts = append(parts, "the client declares "+q.When.Client)
	}
	for _, t := range q.Transports {
		parts = append(parts, "over "+string(t))
	}
	if len(parts) == 0 {
		return "always"
	}
	return strings.Join(parts, ", ")
}

func judgedBy(q *conformance.Requirement, by []string) string {
	if q.Open() {
		return "not yet: " + strings.TrimSpace(strings.TrimPrefix(q.Why, "open:"))
	}
	if q.Judged == conformance.No {
		return "cannot be judged from outside: " + q.Why
	}
	var parts []string
	if q.Judged != conformance.ByScenario {
		parts = append(parts, "on every trace")
	}
	if len(by) > 0 {
		parts = append(parts, "in scenario "+strings.Join(by, ", "))
	}
	return strings.Join(parts, "; ")
}

// near names requirements that look like id, for the error message.
func near(id string, cat *conformance.Catalogue) string {
	var found []string
	for _, q := range cat.All() {
		if strings.Contains(q.ID, strings.ToUpper(id)) && len(found) < 5 {
			found = append(found, q.ID)
		}
	}
	if len(found) == 0 {
		found = scenarios.Near(strings.ToUpper(id), requirementIDs(cat), 3)
	}
	if len(found) == 0 {
		return ""
	}
	return " (is it " + strings.Join(found, " or ") + "?)"
}
