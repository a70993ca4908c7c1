package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/reports"
	"github.com/mcp-conform/mcp-conform/runner"
	"github.com/mcp-conform/mcp-conform/scenarios"
	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

// runFlags are the flags of the run command, as given.
type runFlags struct {
	url         string
	client      bool
	transports  []string
	revisions   []string
	scenarios   []string
	folders     []string
	headers     []string
	env         []string
	dir         string
	traceFile   string
	concurrency int
	patience    float64
	faults      []string
	schemas     schemaFlags
	output      outputFlags
}

func runCommand(s streams) *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run [flags] [-- COMMAND [ARG…]]",
		Short: "Hold scripted conversations with a server or client and judge it",
		Long: `run speaks to the target in every revision and over every transport that it
offers, and judges all that goes over the wire.

Without a target it judges the built-in reference server. A COMMAND is a stdio
server; with --url it is started, and the URL is awaited and judged. With
--client the COMMAND is a client: over HTTP it gets the URL of a server that
the harness plays, in place of {url} or as its last argument; over stdio it gets
the command of such a server, in place of {command} and {args} or as its last
arguments.`,
		Example: `  mcp-conform run
  mcp-conform run -- node dist/index.js stdio
  mcp-conform run --url http://localhost:3000/mcp
  mcp-conform run --url http://localhost:3000/mcp --report junit=out.xml -- ./serve
  mcp-conform run --client -- ./my-client
  mcp-conform run --client --transport stdio -- ./my-client {command} {args}
  mcp-conform run --revision 2025-11-25 --scenario 'tools.*' -- ./server
  mcp-conform run --scenarios my-scenarios --all -- ./server
  mcp-conform run --env API_KEY=x --dir ./build --trace session.jsonl --json -- ./server
  mcp-conform run --header 'Authorization: Bearer TOKEN' --url http://localhost:3000/mcp
  mcp-conform run --patience 3 --concurrency 1 -- ./slow-server
  mcp-conform run --schema-dir specification/schema --as-published -- ./server
  mcp-conform run --fault wrong-id --revision 2025-11-25`,
		RunE: func(cmd *cobra.Command, args []string) error {
			// An empty variable must not turn into a run that judges the reference
			// server, and conforms.
			switch {
			case cmd.Flags().Changed("url") && f.url == "":
				return errors.New("--url is empty: was a variable not set? To judge the built-in reference server, leave it away")
			case cmd.ArgsLenAtDash() == 0 && len(args) == 0:
				return errors.New("no COMMAND follows --: was a variable not set? To judge the built-in reference peer, leave -- away")
			}
			return runTarget(cmd.Context(), s, f, args)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.url, "url", "", "`URL` of a Streamable HTTP server")
	flags.BoolVar(&f.client, "client", false, "the COMMAND is a client, not a server")
	flags.StringArrayVar(&f.transports, "transport", nil, "limit to `NAME`: stdio, http or sse (repeatable)")
	flags.StringArrayVar(&f.revisions, "revision", nil, "limit to `REVISION`, such as 2025-11-25 (repeatable)")
	flags.StringArrayVar(&f.scenarios, "scenario", nil, "limit to scenarios whose id matches `PATTERN`, such as 'tools.*' (repeatable)")
	flags.StringArrayVar(&f.folders, "scenarios", nil, "also run the scenarios in folder `DIR` (repeatable)")
	flags.StringArrayVar(&f.headers, "header", nil, "send `'NAME: VALUE'` with every HTTP request (repeatable)")
	flags.StringArrayVar(&f.env, "env", nil, "set `NAME=VALUE` in the environment of COMMAND (repeatable)")
	flags.StringVar(&f.dir, "dir", "", "start COMMAND in folder `DIR`")
	flags.StringVar(&f.traceFile, "trace", "", "write everything that went over the wire to `FILE`")
	flags.IntVar(&f.concurrency, "concurrency", 4, "conversations held at a time")
	flags.Float64Var(&f.patience, "patience", 1, "scale all time limits by `FACTOR`")
	flags.StringArrayVar(&f.faults, "fault", nil, "switch a named fault of the built-in reference peer on (repeatable)")
	f.schemas.register(flags)
	f.output.register(flags)
	return cmd
}

func runTarget(ctx context.Context, s streams, f runFlags, args []string) error {
	o, err := f.options(args)
	if err != nil {
		return fail(exitUsage, err)
	}
	live := newProgress(s.err)
	live.begin(o.Target)
	o.Progress = live.show
	var out *runner.Outcome
	run := func(w *trace.Writer) error {
		o.Trace = w
		out, err = runner.Run(ctx, o)
		return err
	}
	err = f.traced(o, run)
	live.done()
	if usage := (*runner.UsageError)(nil); out == nil || errors.As(err, &usage) {
		return exitOf(err)
	}
	r := reports.New(runInput(o, out))
	if unreachable := (*runner.UnreachableError)(nil); errors.As(err, &unreachable) && len(r.Refused) > 0 && !f.output.json {
		err = &runner.UnreachableError{Doing: where(o.Target), Err: errors.New("no conversation came about: see why above" + nextStep(r.Refused))}
	}
	return errors.Join(f.output.write(s, r), exitOf(err), verdict(r, err))
}

// nextStep says what to try when a target answered, but not as a server of the
// protocol does.
func nextStep(refused []reports.Refusal) string {
	for _, h := range []struct{ sign, step string }{
		{"status 401", "; --header 'Authorization: Bearer TOKEN' sends credentials"},
		{"status 404", "; is the path of the URL right?"},
	} {
		if slices.ContainsFunc(refused, func(r reports.Refusal) bool { return strings.Contains(r.Reason, h.sign) }) {
			return h.step
		}
	}
	return ""
}

// options turns the flags into the options of a run.
func (f *runFlags) options(args []string) (runner.Options, error) {
	o := runner.Options{Concurrency: f.concurrency, Patience: f.patience}
	err := f.output.check()
	switch {
	case err != nil:
		return o, err
	case f.concurrency < 1:
		return o, fmt.Errorf("--concurrency %d: want 1 or more", f.concurrency)
	case !(f.patience > 0):
		return o, fmt.Errorf("--patience %v: want more than 0, such as 2 for a slow target", f.patience)
	}
	if o.Target, err = f.target(args); err != nil {
		return o, err
	}
	if o.Revisions, err = parseRevisions(f.revisions); err != nil {
		return o, err
	}
	if o.Transports, err = parseTransports(f.transports); err != nil {
		return o, err
	}
	if o.Catalogue, err = conformance.Builtin(); err != nil {
		return o, err
	}
	if o.Schemas, err = f.schemas.load(); err != nil {
		return o, err
	}
	o.Scenarios, err = f.choose(o.Target.Role, requirementIDs(o.Catalogue))
	return o, err
}

func (f *runFlags) target(args []string) (runner.Target, error) {
	t := runner.Target{Role: trace.Server, Command: args, URL: f.url, Env: f.env, Dir: f.dir, Faults: f.faults}
	if f.client {
		t.Role = trace.Client
		if f.url != "" {
			return t, errors.New("--client and --url do not go together: a client is given a URL, it has none")
		}
	}
	t.Builtin = len(args) == 0 && f.url == ""
	if len(f.faults) > 0 && !t.Builtin {
		return t, errors.New("--fault is for the built-in reference peer only: leave COMMAND and --url away")
	}
	for _, h := range f.headers {
		name, value, ok := strings.Cut(h, ":")
		if !ok || strings.TrimSpace(name) == "" || strings.ContainsAny(h, "\r\n\x00") {
			return t, fmt.Errorf("--header %q: want 'NAME: VALUE'", h)
		}
		if t.Header == nil {
			t.Header = map[string]string{}
		}
		t.Header[strings.TrimSpace(name)] = strings.TrimSpace(value)
	}
	for _, e := range f.env {
		if name, _, ok := strings.Cut(e, "="); !ok || name == "" {
			return t, fmt.Errorf("--env %q: want NAME=VALUE", e)
		}
	}
	return t, nil
}

// choose loads the scenarios for a role and applies the filters. Those that are
// not built in are linted first: known are the requirements that they may name.
func (f *runFlags) choose(role trace.Side, known []string) ([]scenarios.Scenario, error) {
	all, err := scenarios.Builtin()
	if err != nil {
		return nil, err
	}
	for _, dir := range f.folders {
		more, err := loadFolder(dir)
		if err == nil {
			err = scenarios.Lint(more, known)
		}
		if err != nil {
			return nil, fmt.Errorf("--scenarios: %w", err)
		}
		all = append(all, more...)
	}
	return scenarios.Select(all, scenarios.Filter{IDs: f.scenarios, Role: role})
}

// traced runs do with a writer to the trace file, or with nil when none is asked for.
func (f *runFlags) traced(o runner.Options, do func(*trace.Writer) error) (err error) {
	if f.traceFile == "" {
		return do(nil)
	}
	h := trace.Header{Transport: onlyTransport(o), Tool: toolName(), Made: "run", Subject: o.Target.Role, Started: time.Now(), Target: where(o.Target)}
	return withTrace(f.traceFile, h, do)
}

// onlyTransport is the transport of a run that has one only, "" otherwise. Rules
// on a transport judge the trace by it.
func onlyTransport(o runner.Options) trace.Transport {
	all := o.Transports
	if len(all) == 0 {
		all = o.Target.Transports()
	}
	if len(all) == 1 {
		return all[0]
	}
	return ""
}

func where(t runner.Target) string {
	switch {
	case t.Builtin:
		return "built-in reference " + string(t.Role)
	case t.URL != "":
		return trace.MaskURL(t.URL)
	}
	return strings.Join(trace.MaskArgs(t.Command), " ")
}

func runInput(o runner.Options, out *runner.Outcome) reports.Input {
	in := reports.Input{
		Tool: toolName(), Ledger: out.Ledger, Roles: []trace.Side{o.Target.Role},
		Subject: reports.Subject{Role: string(o.Target.Role), Name: out.Subject.Name, Version: out.Subject.Version},
	}
	if o.Target.URL != "" {
		in.Subject.URL = trace.MaskURL(o.Target.URL)
	}
	in.Subject.Command = strings.Join(trace.MaskArgs(o.Target.Command), " ")
	seen := map[trace.Transport]bool{}
	for _, of := range out.Offers {
		seen[of.Transport] = true
		if n := len(in.Revisions); n == 0 || in.Revisions[n-1] != of.Revision {
			in.Revisions = append(in.Revisions, of.Revision)
		}
	}
	if len(seen) == 1 {
		in.Subject.Transport = out.Offers[0].Transport
	}
	files := map[string]string{}
	for _, sc := range o.Scenarios {
		files[sc.ID] = sc.File
	}
	for _, r := range out.Results {
		in.Scenarios = append(in.Scenarios, reports.Scenario{
			ID: r.Scenario, File: files[r.Scenario], Revision: r.Offer.Revision, Transport: r.Offer.Transport,
			Verdict: r.Verdict, Seconds: r.Seconds, Reason: r.Reason,
		})
	}
	for _, e := range out.Harness {
		in.Harness = append(in.Harness, e.Error())
	}
	for _, r := range out.Refused {
		in.Refused = append(in.Refused, reports.Refusal{Revision: r.Revision, Transport: r.Transport, Reason: r.Reason})
	}
	return in
}

func parseRevisions(names []string) ([]schemas.Revision, error) {
	var out []schemas.Revision
	for _, n := range names {
		if n == "all" {
			return nil, nil
		}
		r, err := schemas.ParseRevision(n)
		if err != nil {
			return nil, fmt.Errorf("--revision: %w", err)
		}
		out = append(out, r)
	}
	return out, nil
}

func parseTransports(names []string) ([]trace.Transport, error) {
	known := map[string]trace.Transport{"stdio": trace.Stdio, "http": trace.StreamableHTTP, "streamable-http": trace.StreamableHTTP, "sse": trace.HTTPSSE, "http+sse": trace.HTTPSSE}
	var out []trace.Transport
	for _, n := range names {
		t, ok := known[n]
		if !ok {
			return nil, fmt.Errorf("--transport %q: want stdio, http or sse", n)
		}
		out = append(out, t)
	}
	return out, nil
}

// exitOf gives an error of the runner its exit code.
func exitOf(err error) error {
	var usage *runner.UsageError
	var unreachable *runner.UnreachableError
	var known *exitError
	switch {
	case err == nil || errors.As(err, &known):
		return err
	case errors.As(err, &usage):
		return fail(exitUsage, err)
	case errors.As(err, &unreachable):
		return fail(exitTarget, err)
	case errors.Is(err, context.Canceled):
		return fail(exitHarness, errors.New("interrupted: what was judged before is reported above"))
	}
	return fail(exitHarness, err)
}

// verdict is the exit code that a report asks for, unless an error came before.
func verdict(r *reports.Report, err error) error {
	must, _ := r.Failed()
	switch {
	case err != nil:
		return nil
	case len(r.Harness) > 0:
		return fail(exitHarness, errors.New("the harness broke: see the harness errors above"))
	case must > 0:
		return fail(exitFails, errSilent)
	case r.Judged() == 0:
		return fail(exitFails, errors.New("nothing was judged, so nothing is known: see why above"))
	}
	return nil
}
