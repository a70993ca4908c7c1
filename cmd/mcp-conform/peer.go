package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcp-conform/mcp-conform/internal/peer"
	"github.com/mcp-conform/mcp-conform/runner/process"
)

func peerCommand(s streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "peer",
		Short: "Start the reference server or client, correct or with named faults",
		Long: `peer starts what mcp-conform itself is tested against: a server and a client
that do all that the specification demands, in every revision. Named faults make
them break exactly one rule, to see what a check catches.`,
	}
	cmd.Example = "  mcp-conform peer faults\n  mcp-conform peer server --http 127.0.0.1:3000"
	cmd.AddCommand(peerServerCommand(s), peerClientCommand(s), peerFaultsCommand(s))
	return cmd
}

func peerServerCommand(s streams) *cobra.Command {
	var address string
	var o peer.Options
	cmd := &cobra.Command{
		Use:   "server [--http ADDR]",
		Short: "Start the reference server over stdio, or over HTTP",
		Example: `  mcp-conform peer server
  mcp-conform peer server --http 127.0.0.1:3000 --fault wrong-id`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			srv, err := peer.NewServer(o)
			if err != nil {
				return err
			}
			defer srv.Close()
			if address == "" {
				return fail(exitTarget, srv.ServeStdio(cmd.Context(), s.in, s.out, s.err))
			}
			l, err := net.Listen("tcp", address)
			if err != nil {
				return fail(exitTarget, err)
			}
			fmt.Fprintf(s.err, "listening on http://%s/mcp\n", l.Addr())
			return fail(exitTarget, srv.ListenAndServe(cmd.Context(), l))
		},
	}
	cmd.Flags().StringVar(&address, "http", "", "serve HTTP on `ADDR`, such as 127.0.0.1:3000, instead of stdio")
	cmd.Flags().StringArrayVar(&o.Faults, "fault", nil, "commit the fault `NAME` (repeatable)")
	return cmd
}

func peerClientCommand(s streams) *cobra.Command {
	var o peer.ClientOptions
	cmd := &cobra.Command{
		Use:   "client {URL | -- COMMAND [ARG…]}",
		Short: "Start the reference client on a server over HTTP, or over the pipes of COMMAND",
		Example: `  mcp-conform peer client http://localhost:3000/mcp
  mcp-conform peer client --fault reused-id -- node dist/index.js stdio`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := peer.NewClient(o)
			if err != nil {
				return err
			}
			if len(args) == 1 && strings.Contains(args[0], "://") {
				return fail(exitTarget, c.RunHTTP(cmd.Context(), args[0]))
			}
			return fail(exitTarget, clientOverPipes(cmd.Context(), c, s.err, args))
		},
	}
	cmd.Flags().StringArrayVar(&o.Faults, "fault", nil, "commit the fault `NAME` (repeatable)")
	return cmd
}

// clientOverPipes starts command as the server of c, and ends it afterwards.
func clientOverPipes(ctx context.Context, c *peer.Client, stderr io.Writer, command []string) error {
	p, err := process.Start(process.Spec{Command: command})
	if err != nil {
		return err
	}
	logged := make(chan struct{})
	go func() {
		io.Copy(stderr, p.Stderr)
		close(logged)
	}()
	err = c.RunStdio(ctx, p.Stdout, p.Stdin)
	p.End(context.WithoutCancel(ctx), time.Second)
	<-logged
	p.Close()
	return err
}

func peerFaultsCommand(s streams) *cobra.Command {
	return &cobra.Command{
		Use:     "faults",
		Short:   "List the named faults, with what each breaks",
		Example: "  mcp-conform peer faults",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			t := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
			for _, f := range peer.Faults() {
				fmt.Fprintf(t, "%s\t%s\t%s\n", f.Name, f.Side, f.Breaks)
			}
			return t.Flush()
		},
	}
}
