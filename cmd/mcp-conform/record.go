package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcp-conform/mcp-conform/runner/record"
	"github.com/mcp-conform/mcp-conform/trace"
)

func recordCommand(s streams) *cobra.Command {
	var listen, upstream, file string
	cmd := &cobra.Command{
		Use:   "record [--trace FILE] {-- COMMAND [ARG…] | --listen ADDR --upstream URL}",
		Short: "Sit between a client and a server and write down what they say",
		Long: `record passes every byte on unchanged and at once, and writes a trace that
"mcp-conform check" judges. Secrets in headers, URLs and token bodies are masked
in the trace.

Over stdio, put it before the server's command in the client's configuration; it
ends as the server does, with the server's exit code, or with 128 and the number
of the signal that ended it. Over HTTP, point the
client at ADDR; it listens on loopback only and ends when it is interrupted.`,
		Example: `  mcp-conform record --trace session.jsonl -- node dist/index.js stdio
  mcp-conform record --trace session.jsonl --listen 127.0.0.1:8080 --upstream http://localhost:3000/mcp`,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case (listen == "") != (upstream == ""):
				return errors.New("--listen and --upstream go together: the address to listen on, and the URL to pass on to")
			case (len(args) > 0) == (upstream != ""):
				return errors.New("record wants either a COMMAND after -- or --listen with --upstream: see mcp-conform record --help")
			case upstream != "":
				return recordHTTP(cmd.Context(), s, file, listen, upstream)
			}
			return recordStdio(cmd.Context(), s, file, args)
		},
	}
	cmd.Flags().StringVar(&file, "trace", "trace.jsonl", "`FILE` to write the trace to")
	cmd.Flags().StringVar(&listen, "listen", "", "loopback `ADDR` to listen on, such as 127.0.0.1:8080")
	cmd.Flags().StringVar(&upstream, "upstream", "", "`URL` of the server to pass on to")
	return cmd
}

// recordStdio leaves signals to the recorder, which passes them on to the
// server: the context's own end on a signal would cut the server off.
func recordStdio(ctx context.Context, s streams, file string, command []string) error {
	signals, stop := record.Signals()
	defer stop()
	h := trace.Header{
		Tool: toolName(), Made: "record", Started: time.Now(),
		Transport: trace.Stdio, Target: strings.Join(trace.MaskArgs(command), " "),
	}
	return withTrace(file, h, func(w *trace.Writer) error {
		log := trace.NewLog(w.Record)
		exit, err := record.Stdio{
			Command: command, Stdin: s.in, Stdout: s.out, Stderr: s.err, Signals: signals, Sink: log.Record,
		}.Run(context.WithoutCancel(ctx))
		switch {
		case err != nil:
			return fail(exitTarget, err)
		case exit.Status() != 0:
			return fail(exit.Status(), errSilent)
		}
		return nil
	})
}

// pointer is a URL as it may be shown: secrets in it are for whoever gave them.
func pointer(url string) string {
	if masked := trace.MaskURL(url); masked != url {
		return masked + " (**** as in --upstream)"
	}
	return url
}

func recordHTTP(ctx context.Context, s streams, file, listen, upstream string) error {
	h := trace.Header{Tool: toolName(), Made: "record", Started: time.Now(), Transport: trace.StreamableHTTP, Target: trace.MaskURL(upstream)}
	return withTrace(file, h, func(w *trace.Writer) error {
		log := trace.NewLog(w.Record)
		proxy, err := record.Listen(listen, upstream, record.Options{Sink: log.Record})
		if err != nil {
			return fail(exitUsage, err)
		}
		fmt.Fprintf(s.err, "recording: point the client at %s\n", pointer(proxy.URL()))
		err = proxy.Serve(ctx)
		if errors.Is(err, context.Canceled) {
			return nil
		}
		return fail(exitTarget, err)
	})
}
