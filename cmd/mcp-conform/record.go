package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcp-conform/mcp-conform/runner/record"
	"github.com/mcp-conform/mcp-conform/trace"
)

func recordCommand(s streams) *cobra.Command {
	var listen, upstream, file string
	cmd := &cobra.Command{
		Use:   "record --trace FILE {-- COMMAND [ARG…] | --listen ADDR --upstream URL}",
		Short: "Sit between a client and a server and write down what they say",
		Long: `record passes every byte on unchanged and at once, and writes a trace that
"mcp-conform check" judges. Secrets in headers, URLs and token bodies are masked
in the trace.

Over stdio, put it before the server's command in the client's configuration.
Over HTTP, let the client connect to ADDR; it listens on loopback only.`,
		Example: `  mcp-conform record --trace session.jsonl -- node dist/index.js stdio
  mcp-conform record --trace session.jsonl --listen 127.0.0.1:8080 --upstream http://localhost:3000/mcp`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if (len(args) > 0) == (upstream != "") {
				return errors.New("record wants either a command after -- or --listen with --upstream: see mcp-conform record --help")
			}
			if (listen == "") != (upstream == "") {
				return errors.New("--listen and --upstream go together: the address to listen on, and the URL to pass on to")
			}
			h := trace.Header{Tool: toolName(), Made: "record", Started: time.Now(), Transport: trace.Stdio, Target: trace.MaskArgs(args)}
			if upstream != "" {
				h.Transport, h.Target = trace.StreamableHTTP, trace.MaskURL(upstream)
			}
			return withTrace(file, h, func(sink trace.Sink) error {
				if upstream != "" {
					return recordHTTP(cmd, s, listen, upstream, sink)
				}
				return recordStdio(cmd, s, args, sink)
			})
		},
	}
	cmd.Flags().StringVar(&file, "trace", "trace.jsonl", "`FILE` to write the trace to")
	cmd.Flags().StringVar(&listen, "listen", "", "loopback `ADDR` to listen on, such as 127.0.0.1:8080")
	cmd.Flags().StringVar(&upstream, "upstream", "", "`URL` of the server to pass on to")
	return cmd
}

// withTrace opens file, hands out a sink that appends to it, and closes it
// whatever happens.
func withTrace(file string, h trace.Header, do func(trace.Sink) error) (err error) {
	f, err := os.Create(file)
	if err != nil {
		return fail(exitUsage, fmt.Errorf("opening the trace: %w", err))
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w, err := trace.NewWriter(f, h)
	if err != nil {
		return fail(exitUsage, fmt.Errorf("writing %s: %w", file, err))
	}
	log := trace.NewLog(w.Sink())
	defer func() { err = errors.Join(err, w.Err()) }()
	return do(log.Sink())
}

func recordStdio(cmd *cobra.Command, s streams, args []string, sink trace.Sink) error {
	return fail(exitTarget, record.Stdio(cmd.Context(), args, s.in, s.out, s.err, sink))
}

func recordHTTP(cmd *cobra.Command, s streams, listen, upstream string, sink trace.Sink) error {
	return fail(exitTarget, record.HTTP(cmd.Context(), listen, upstream, sink))
}
