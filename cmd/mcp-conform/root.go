package main

import (
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
	return root
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
