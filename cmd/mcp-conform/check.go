package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/reports"
	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
	"github.com/mcp-conform/mcp-conform/trace/capture"
)

// checkFlags are the flags of the check command, as given.
type checkFlags struct {
	fromClient string
	fromServer string
	revision   string
	side       string
	schemas    schemaFlags
	output     outputFlags
}

func checkCommand(s streams) *cobra.Command {
	var f checkFlags
	cmd := &cobra.Command{
		Use:   "check FILE…",
		Short: "Judge traffic that was captured before",
		Long: `check judges captures: traces of this program, JSON-RPC messages one a line (both
sides in one file, or one file for each side), and HAR files. The format is found
out. What a format cannot show is untested, never passed.

Both sides are judged, but for traces that "run" wrote: there the harness breaks
rules on purpose, and only the side under test is judged.`,
		Example: `  mcp-conform check trace.jsonl
  mcp-conform check --from-client stdin.log --from-server stdout.log
  mcp-conform check --json session.har
  mcp-conform check --side server --revision 2025-06-18 --all stdout-and-stdin.log
  mcp-conform check --schema-dir specification/schema --report json=report.json trace.jsonl
  mcp-conform check --as-published trace.jsonl`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return check(cmd.Context(), s, f, args)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.fromClient, "from-client", "", "`FILE` with what the client sent, one message a line")
	flags.StringVar(&f.fromServer, "from-server", "", "`FILE` with what the server sent, one message a line")
	flags.StringVar(&f.revision, "revision", "", "`REVISION` to judge by where the traffic does not tell (default 2025-11-25)")
	flags.StringVar(&f.side, "side", "", "judge `SIDE` only: client or server")
	f.schemas.register(flags)
	f.output.register(flags)
	return cmd
}

// check judges each capture by itself, with what it lacks, and folds all into
// one report. A capture that breaks off is judged as far as it goes.
func check(ctx context.Context, s streams, f checkFlags, files []string) error {
	c, err := f.prepare(files)
	if err != nil {
		return fail(exitUsage, err)
	}
	if f.fromClient != "" || f.fromServer != "" {
		c.judge(ctx, nil, capture.Options{FromClient: f.fromClient, FromServer: f.fromServer, Stdin: s.in, Done: ctx.Done()})
	}
	for _, file := range files {
		c.judge(ctx, []string{file}, capture.Options{Stdin: s.in, Done: ctx.Done()})
	}
	broken := errors.Join(c.errs...)
	r := reports.New(c.input(files))
	if broken != nil && r.Judged() == 0 {
		return fail(exitUsage, broken)
	}
	return errors.Join(fail(exitUsage, broken), f.output.write(s, r), verdict(r, broken))
}

// checking is one check under way: what its captures share.
type checking struct {
	revision string
	sides    []trace.Side // asked for; nil means those that are no harness
	judged   map[trace.Side]bool
	schemas  *schemas.Set
	ledger   *conformance.Ledger
	seen     conformance.Seen
	errs     []error
}

func (f *checkFlags) prepare(files []string) (*checking, error) {
	if len(files) == 0 && f.fromClient == "" && f.fromServer == "" {
		return nil, errors.New("no capture to check: name files, or --from-client and --from-server")
	}
	if f.revision != "" {
		if _, err := schemas.ParseRevision(f.revision); err != nil {
			return nil, fmt.Errorf("--revision: %w", err)
		}
	}
	sides, err := parseSide(f.side)
	if err != nil {
		return nil, err
	}
	if err := f.output.check(); err != nil {
		return nil, err
	}
	cat, err := conformance.Builtin()
	if err != nil {
		return nil, err
	}
	set, err := f.schemas.load()
	return &checking{revision: f.revision, sides: sides, judged: map[trace.Side]bool{}, schemas: set, ledger: conformance.NewLedger(cat)}, err
}

func parseSide(name string) ([]trace.Side, error) {
	switch side := trace.Side(name); side {
	case "":
		return nil, nil
	case trace.Client, trace.Server:
		return []trace.Side{side}, nil
	}
	return nil, fmt.Errorf("--side %q: want client or server", name)
}

// judge judges one capture and keeps what went wrong with reading it.
func (c *checking) judge(ctx context.Context, paths []string, o capture.Options) {
	src, err := capture.Open(paths, o)
	if err != nil {
		c.errs = append(c.errs, err)
		return
	}
	defer src.Close()
	h := src.Header()
	if c.revision != "" {
		h.Revision = c.revision
	}
	c.judged[trace.Server] = c.judged[trace.Server] || h.Subject != trace.Client
	c.judged[trace.Client] = c.judged[trace.Client] || h.Subject != trace.Server
	j := conformance.NewJudge(conformance.JudgeOptions{Catalogue: c.ledger.Catalogue(), Schemas: c.schemas, Header: h, Emit: func(e conformance.Evidence) { c.add(h, e) }})
	err = c.feed(ctx, j, src)
	j.Finish()
	if err != nil {
		c.errs = append(c.errs, err)
	}
	seen := j.Seen()
	for _, f := range seen.Facts {
		c.ledger.Learn(f)
	}
	if seen.Client.Name != "" {
		c.seen.Client = seen.Client
	}
	if seen.Server.Name != "" {
		c.seen.Server = seen.Server
	}
}

// add folds evidence in, but for that on a harness.
func (c *checking) add(h trace.Header, e conformance.Evidence) {
	if h.Subject == "" || e.Side == "" || e.Side == h.Subject {
		c.ledger.Add(e)
	}
}

func (c *checking) feed(ctx context.Context, j *conformance.Judge, src *capture.Source) error {
	for {
		e, err := src.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case ctx.Err() != nil:
			return fmt.Errorf("interrupted at event %d: %w", e.Seq, ctx.Err())
		}
		j.Observe(e)
	}
}

func (c *checking) input(files []string) reports.Input {
	server, client := c.seen.Server, c.seen.Client
	sides := c.sides
	for _, side := range []trace.Side{trace.Server, trace.Client} {
		if len(c.sides) == 0 && c.judged[side] {
			sides = append(sides, side)
		}
	}
	return reports.Input{
		Tool: toolName(), Ledger: c.ledger, Roles: sides,
		Subject: reports.Subject{
			Role: "both", Name: server.Name, Version: server.Version,
			Peer: strings.TrimSpace(client.Name + " " + client.Version),
		},
	}
}
