package main

import (
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func rootCommand(s streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "mcp-conform",
		Short: "Test how well a server or client speaks the Model Context Protocol",
		Long: `mcp-conform judges servers, clients and captured traffic by the specification of
the Model Context Protocol, in each of its revisions, requirement by requirement.

Exit codes: 0 conforms, 1 a MUST is broken or nothing could be judged,
2 wrong usage or broken input, 3 the target could not be started or reached,
4 mcp-conform itself broke.`,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(
		runCommand(s), checkCommand(s), recordCommand(s), bridgeCommand(s),
		listCommand(s), explainCommand(s), coverageCommand(s), lintCommand(s), schemaCommand(s), versionCommand(s), peerCommand(s),
	)
	root.SetFlagErrorFunc(pointToHelp)
	for _, c := range root.Commands() {
		guard(c)
	}
	return root
}

// pointToHelp adds the next step to an error about flags or arguments.
func pointToHelp(c *cobra.Command, err error) error {
	return fmt.Errorf("%w: see %s --help", err, c.CommandPath())
}

// guard makes a command and those below it refuse wrong arguments with the next
// step. A command that only groups others would show its help and succeed.
func guard(c *cobra.Command) {
	check := c.Args
	if c.HasSubCommands() {
		c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
		check = cobra.NoArgs
	}
	c.Args = func(c *cobra.Command, args []string) error {
		if check == nil {
			return nil
		}
		if err := check(c, args); err != nil {
			return pointToHelp(c, err)
		}
		return nil
	}
	for _, sub := range c.Commands() {
		guard(sub)
	}
}

// toolName is the program's name and version, as reports and traces carry it.
func toolName() string { return "mcp-conform " + version() }

// version is the module version that the Go tool recorded, or "devel".
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "devel"
	}
	return info.Main.Version
}
