package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/mcp-conform/mcp-conform/schemas"
)

func versionCommand(s streams) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version, and the revisions of the protocol that it knows",
		Example: "  mcp-conform version",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			fmt.Fprintf(s.out, "%s (%s, %s/%s)\n", toolName(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			for _, r := range schemas.Revisions() {
				fmt.Fprintf(s.out, "  %s\n", r)
			}
			return nil
		},
	}
}
