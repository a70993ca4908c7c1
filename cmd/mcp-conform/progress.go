package main

import (
	"fmt"
	"io"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/runner"
)

// progress shows how far a run has come: on a terminal one line that is written
// anew, elsewhere a line for each tenth of the run, so that logs stay short.
type progress struct {
	w      io.Writer
	live   bool
	failed int
	tenth  int
}

func newProgress(w io.Writer) *progress { return &progress{w: w, live: terminal(w)} }

func (p *progress) show(now runner.Progress) {
	if now.Result.Verdict == conformance.Fail {
		p.failed++
	}
	if p.live {
		fmt.Fprintf(p.w, "\r\x1b[K%d/%d  %d with failures  %s %s %s", now.Done, now.Total, p.failed,
			now.Result.Scenario, now.Result.Offer.Revision, now.Result.Offer.Transport)
		return
	}
	if now.Total == 0 {
		return
	}
	if tenth := 10 * now.Done / now.Total; tenth > p.tenth {
		p.tenth = tenth
		fmt.Fprintf(p.w, "%d of %d conversations, %d with failures\n", now.Done, now.Total, p.failed)
	}
}

// begin says what the run waits for before its first conversation: that may take
// a minute, and silence looks like a hang.
func (p *progress) begin(t runner.Target) {
	end := "\n"
	if p.live {
		end = ""
	}
	fmt.Fprintf(p.w, "finding out what the %s speaks: %s …%s", t.Role, where(t), end)
}

// done clears the line.
func (p *progress) done() {
	if p.live {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
