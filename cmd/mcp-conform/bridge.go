package main

import (
	"github.com/spf13/cobra"

	"github.com/mcp-conform/mcp-conform/runner/wire"
)

func bridgeCommand(s streams) *cobra.Command {
	return &cobra.Command{
		Use:   "bridge ADDR TOKEN",
		Short: "Join the standard streams to a run that plays the server",
		Long: `bridge is the stdio server that a client under test starts. It copies bytes
between its standard streams and the run at ADDR, unchanged. The run makes up
ADDR and TOKEN and hands the whole command to the client: you need it only in
configurations that you write by hand.`,
		Example: "  mcp-conform run --client --transport stdio -- ./my-client {command} {args}",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return fail(exitTarget, wire.Bridge(cmd.Context(), args[0], args[1], s.in, s.out))
		},
	}
}
