package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace/capture"
)

func schemaCommand(s streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "schema",
		Short: "List, show, compare and apply the schemas of the protocol",
		Long: `schema works with the schemas of the protocol's revisions, its extensions and the
documents of authorization. They are as intended unless --as-published is given:
amended where the text of the specification and the published schema part.`,
	}
	cmd.Example = `  mcp-conform schema show 2025-11-25 Tool --as-published
  mcp-conform schema validate --schema-dir specification/schema --definition Tool tool.json`
	flags := &schemaFlags{}
	flags.register(cmd.PersistentFlags())
	cmd.AddCommand(schemaListCommand(s, flags), schemaShowCommand(s, flags), schemaValidateCommand(s, flags), schemaDiffCommand(s, flags))
	return cmd
}

func schemaListCommand(s streams, flags *schemaFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "list [NAME]",
		Short: "List the schemas, or the definitions of one",
		Example: `  mcp-conform schema list
  mcp-conform schema list 2025-11-25`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			set, err := flags.load()
			if err != nil {
				return fail(exitUsage, err)
			}
			if len(args) == 0 {
				return listSchemas(s, set)
			}
			name, err := set.Find(args[0])
			if err != nil {
				return fail(exitUsage, err)
			}
			for _, d := range set.Definitions(name) {
				fmt.Fprintln(s.out, d)
			}
			return nil
		},
	}
}

func listSchemas(s streams, set *schemas.Set) error {
	t := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	for _, name := range set.Names() {
		definitions := set.Definitions(name)
		if definitions == nil {
			continue // a checkout may hold some revisions only
		}
		errata, err := set.Errata(name)
		if err != nil {
			return fail(exitHarness, err)
		}
		changes := 0
		for _, e := range errata {
			if e.Change() != "" && !e.Advice {
				changes++
			}
		}
		fmt.Fprintf(t, "%s\t%d definitions\t%d amendments\n", name, len(definitions), changes)
	}
	return t.Flush()
}

func schemaShowCommand(s streams, flags *schemaFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "show NAME [DEFINITION]",
		Short: "Print a schema, or one definition of it",
		Example: `  mcp-conform schema show 2025-11-25 Tool
  mcp-conform schema show server-card --as-published`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(_ *cobra.Command, args []string) error {
			set, err := flags.load()
			if err != nil {
				return fail(exitUsage, err)
			}
			name, err := set.Find(args[0])
			if err != nil {
				return fail(exitUsage, err)
			}
			var text []byte
			if len(args) == 1 {
				text, err = set.File(name)
			} else {
				text, err = set.Schema(name, args[1])
			}
			if err != nil {
				return fail(exitUsage, err)
			}
			_, err = s.out.Write(text)
			return fail(exitHarness, err)
		},
	}
}

func schemaValidateCommand(s streams, flags *schemaFlags) *cobra.Command {
	var revision, definition string
	cmd := &cobra.Command{
		Use:   "validate --revision NAME --definition DEFINITION FILE…",
		Short: "Validate JSON files by one definition",
		Long: `validate reads each FILE (- is standard input) as one JSON text and says where it
does not fit the definition. It ends with 1 if any does not.`,
		Example: `  mcp-conform schema validate --revision 2025-11-25 --definition Tool tool.json
  mcp-conform schema validate --revision server-card --definition ServerCard card.json`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, files []string) error {
			if definition == "" {
				return fmt.Errorf("name what the files hold by --definition, such as Tool: mcp-conform schema list %s lists the definitions", revision)
			}
			set, err := flags.load()
			if err != nil {
				return fail(exitUsage, err)
			}
			name, err := set.Find(revision)
			if err != nil {
				return fail(exitUsage, err)
			}
			s.in = capture.Interruptible(s.in, cmd.Context().Done())
			return validateFiles(s, set, name, definition, files)
		},
	}
	cmd.Flags().StringVar(&revision, "revision", string(schemas.Latest), "the `NAME` of the schemas: a revision, draft, tasks, server-card or oauth")
	cmd.Flags().StringVar(&definition, "definition", "", "the `DEFINITION` to validate by, such as Tool")
	return cmd
}

func validateFiles(s streams, set *schemas.Set, name schemas.Revision, definition string, files []string) error {
	bad := 0
	for _, file := range files {
		raw, err := readInput(s, file)
		if err != nil {
			return fail(exitUsage, err)
		}
		violations, err := set.Validate(name, definition, raw)
		if err != nil {
			return fail(exitUsage, fmt.Errorf("%s: %w", file, err))
		}
		if len(violations) == 0 {
			fmt.Fprintf(s.out, "%s: fits %s of %s\n", file, definition, name)
			continue
		}
		bad++
		for _, v := range violations {
			line := v.String()
			if v.Erratum != "" {
				line += " (erratum " + v.Erratum + ")"
			}
			fmt.Fprintf(s.out, "%s: %s\n", file, line)
		}
	}
	if bad > 0 {
		return fail(exitFails, errSilent)
	}
	return nil
}

// readInput reads a file, or standard input for "-".
func readInput(s streams, file string) ([]byte, error) {
	if file == "-" {
		return io.ReadAll(s.in)
	}
	return os.ReadFile(file)
}

func schemaDiffCommand(s streams, flags *schemaFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "diff A B",
		Short: "Compare two schemas definition by definition, by what they accept",
		Long: `diff compares two schemas, each the name of one or a file of JSON Schema with
definitions or $defs, in whatever dialect and layout. For each definition it
makes instances from either side, breaks them one place at a time, and shows the
smallest that one accepts and the other refuses. Definitions that one side only
refers to are taken from the other. Revisions are compared as published, as
other people's files are copies of those. It ends with 1 if anything differs.`,
		Example: `  mcp-conform schema diff 2025-06-18 2025-11-25
  mcp-conform schema diff vendored/schema.json 2025-11-25`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			published := *flags
			published.asPublished = true
			set, err := published.load()
			if err != nil {
				return fail(exitUsage, err)
			}
			var sides [2]*schemas.Document
			for i, arg := range args {
				if sides[i], err = openSchema(set, arg); err != nil {
					return fail(exitUsage, err)
				}
			}
			c, err := compare(cmd.Context(), sides[0], sides[1])
			if err != nil {
				return err
			}
			if _, err := c.WriteTo(s.out); err != nil {
				return fail(exitHarness, err)
			}
			if c.Differs() {
				return fail(exitFails, errSilent)
			}
			return nil
		},
	}
}

// openSchema returns the schema that an argument names: one of ours, or a file.
func openSchema(set *schemas.Set, arg string) (*schemas.Document, error) {
	name, unknown := set.Find(arg)
	if unknown == nil {
		return set.Document(name)
	}
	raw, err := os.ReadFile(arg)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s: no such file, and %w", arg, unknown)
	}
	if err != nil {
		return nil, err
	}
	return schemas.ReadDocument(arg, raw)
}

// compare compares two documents. Files can be made that take for ever, so that
// it has to end when it is interrupted.
func compare(ctx context.Context, a, b *schemas.Document) (*schemas.Comparison, error) {
	done := make(chan *schemas.Comparison, 1)
	go func() { done <- schemas.Diff(a, b) }()
	select {
	case c := <-done:
		return c, nil
	case <-ctx.Done():
		return nil, fail(exitHarness, errors.New("interrupted while comparing"))
	}
}
