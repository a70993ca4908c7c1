package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/schemas"
)

type coverageFlags struct {
	revision string
	json     bool
	open     bool
}

func coverageCommand(s streams) *cobra.Command {
	var f coverageFlags
	cmd := &cobra.Command{
		Use:   "coverage [--revision REVISION] [--open] [--json]",
		Short: "Say how much of the specification is judged, and what judges it",
		Long: `coverage counts the normative sentences of the specification and the requirements
that restate them: how many are judged by rules on every trace, by scenarios, or
by both, what is open, and why sentences are excluded.`,
		Example: `  mcp-conform coverage
  mcp-conform coverage --revision 2025-11-25 --open
  mcp-conform coverage --json`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return f.run(s) },
	}
	cmd.Flags().StringVar(&f.revision, "revision", "", "count in one `REVISION` only")
	cmd.Flags().BoolVar(&f.json, "json", false, "print JSON")
	cmd.Flags().BoolVar(&f.open, "open", false, "list what is not judged yet, and what it would take")
	return cmd
}

func (f *coverageFlags) run(s streams) error {
	revisions := append(schemas.Revisions(), "")
	if f.revision != "" {
		r, err := schemas.ParseRevision(f.revision)
		if err != nil {
			return fmt.Errorf("--revision: %w", err)
		}
		revisions = []schemas.Revision{r}
	}
	cat, err := conformance.Builtin()
	if err != nil {
		return fail(exitHarness, err)
	}
	sentences, err := conformance.Sentences()
	if err != nil {
		return fail(exitHarness, err)
	}
	var all []conformance.Coverage
	for _, r := range revisions {
		all = append(all, conformance.Cover(cat, sentences, r))
	}
	if f.json {
		enc := json.NewEncoder(s.out)
		enc.SetIndent("", "  ")
		return enc.Encode(all)
	}
	if err := coverageText(s.out, all); err != nil || !f.open {
		return err
	}
	return openText(s.out, cat, revisions[len(revisions)-1])
}

// coverageText writes one table with a line for each revision, and then the
// levels, areas and sides of the last, which is all together unless one was chosen.
func coverageText(w io.Writer, all []conformance.Coverage) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "SENTENCES\ttotal\tjudged\topen\tunjudgeable\texcluded\tunaccounted\t")
	for _, v := range all {
		sentenceRow(t, name(v.Revision), v.Sentences)
	}
	last := all[len(all)-1]
	for _, l := range levels() {
		sentenceRow(t, "  "+string(l), last.Levels[l].Sentences)
	}
	fmt.Fprintln(t, "\nREQUIREMENTS\ttotal\trule\tscenario\tboth\topen\tunjudgeable\t")
	for _, v := range all {
		requirementRow(t, name(v.Revision), v.Requirements)
	}
	for _, l := range levels()[:2] {
		requirementRow(t, "  "+string(l), last.Levels[l].Requirements)
	}
	for _, a := range last.AreaNames() {
		requirementRow(t, "  "+a, last.Areas[a].Requirements)
	}
	fmt.Fprintln(t, "\nEXCLUDED\tsentences\t")
	for _, r := range conformance.Reasons() {
		fmt.Fprintf(t, "%s\t%d\t\n", r, last.Sentences.Excluded[r])
	}
	fmt.Fprintln(t, "\nOBSERVABLE\tclient MUST\tclient SHOULD\tserver MUST\tserver SHOULD\t")
	for _, v := range all {
		fmt.Fprint(t, name(v.Revision))
		for _, b := range []conformance.Binds{conformance.BindsClient, conformance.BindsServer} {
			for _, l := range levels()[:2] {
				fmt.Fprint(t, "\t", shareText(v.Binds[b][l]))
			}
		}
		fmt.Fprintln(t, "\t")
	}
	return t.Flush()
}

func levels() []conformance.Level {
	return []conformance.Level{conformance.Must, conformance.Should, conformance.May}
}

func name(r schemas.Revision) string {
	if r == "" {
		return "all"
	}
	return string(r)
}

func sentenceRow(w io.Writer, label string, n conformance.SentenceCount) {
	excluded := 0
	for _, k := range n.Excluded {
		excluded += k
	}
	fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t\n", label, n.Total, n.Judged, n.Open, n.Unjudgeable, excluded, n.Unaccounted)
}

func requirementRow(w io.Writer, label string, n conformance.RequirementCount) {
	fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t\n", label, n.Total, n.Rule, n.Scenario, n.Both, n.Open, n.Unjudgeable)
}

func shareText(s conformance.Share) string {
	if s.Of == 0 {
		return "-"
	}
	return fmt.Sprintf("%d of %d (%d%%)", s.Judged, s.Of, s.Judged*100/s.Of)
}

// openText lists the requirements that nothing judges yet.
func openText(w io.Writer, cat *conformance.Catalogue, r schemas.Revision) error {
	fmt.Fprintln(w, "\nOPEN")
	for _, q := range cat.All() {
		if _, stands := q.In[r]; q.Open() && (stands || r == "") {
			if _, err := fmt.Fprintf(w, "%s (%s)\n    %s\n", q.ID, q.Binds, strings.TrimSpace(strings.TrimPrefix(q.Why, "open:"))); err != nil {
				return err
			}
		}
	}
	return nil
}
