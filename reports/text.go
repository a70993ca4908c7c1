package reports

import (
	"fmt"
	"io"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/trace"
)

// TextOptions say how the terminal text is laid out.
type TextOptions struct {
	Colour bool // ANSI colours: for terminals only
	// All shows every finding and every untested requirement; otherwise the
	// text is kept to what fits a few screens.
	All bool
}

// most is how many different failures are explained before the rest is counted.
const most = 20

// Text writes the summary for people: what failed, each explained once for all
// the revisions and transports in which it failed, then what was not tested,
// then the scores, which so stand next to the prompt.
func Text(w io.Writer, r *Report, o TextOptions) error {
	p := &page{w: w, colour: o.Colour}
	p.head(r.Subject)
	p.failures(r, o)
	p.untested(r, o)
	p.harness(r)
	p.scores(r)
	p.refused(r)
	return p.err
}

// page writes lines and keeps the first error.
type page struct {
	w      io.Writer
	colour bool
	err    error
}

func (p *page) printf(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, args...)
	}
}

// The colours, as SGR parameters.
const (
	red    = "31"
	green  = "32"
	yellow = "33"
	dim    = "2"
	bold   = "1"
)

func (p *page) paint(sgr, s string) string {
	if !p.colour {
		return s
	}
	return "\x1b[" + sgr + "m" + s + "\x1b[0m"
}

func (p *page) head(s Subject) {
	name := strings.TrimSpace(s.Name + " " + s.Version)
	if name == "" {
		name = "(it never said its name)"
	}
	where := s.Command
	if where == "" {
		where = s.URL
	}
	p.printf("%s %s", s.Role, p.paint(bold, oneLine(name)))
	if s.Peer != "" {
		p.printf(" and client %s", p.paint(bold, oneLine(s.Peer)))
	}
	if where != "" {
		p.printf("  %s", p.paint(dim, oneLine(where)))
	}
	p.printf("\n\n")
}

// failure is one way of failing, with all the places in which it was seen.
type failure struct {
	q      Requirement
	f      Finding
	places []string
}

func failuresOf(r *Report) []failure {
	var out []failure
	at := map[string]int{}
	for _, q := range r.Requirements {
		if q.Verdict != conformance.Fail {
			continue
		}
		for _, f := range q.Findings {
			// The level belongs to it: what is advice in one revision may be a
			// MUST in the next, and must not hide behind the advice.
			key := q.ID + "\x00" + string(q.Side) + "\x00" + string(q.Level) + "\x00" + f.Detail
			i, ok := at[key]
			if !ok {
				i = len(out)
				at[key] = i
				out = append(out, failure{q: q, f: f})
			}
			place := strings.TrimSpace(string(q.Revision) + " " + string(f.Transport))
			if n := len(out[i].places); n == 0 || out[i].places[n-1] != place {
				out[i].places = append(out[i].places, place)
			}
		}
	}
	// MUSTs first; what follows from another failure behind what stands alone.
	sort.SliceStable(out, func(i, j int) bool { return rank(out[i]) < rank(out[j]) })
	return out
}

func rank(f failure) int {
	n := 0
	if !f.q.Level.Mandatory() {
		n += 2
	}
	if f.q.Disputed != "" {
		n += 4
	}
	if f.f.Cause != "" {
		n++
	}
	return n
}

func (p *page) failures(r *Report, o TextOptions) {
	all := failuresOf(r)
	for i, f := range all {
		if i == most && !o.All {
			p.printf("%s\n\n", p.paint(dim, fmt.Sprintf("… and %d more; --all shows them, --report json=FILE keeps them", len(all)-most)))
			return
		}
		p.failure(f)
	}
}

func (p *page) failure(f failure) {
	word, sgr := "FAIL", red
	switch {
	case f.q.Disputed != "":
		word, sgr = "NOTE", dim
	case !f.q.Level.Mandatory():
		word, sgr = "WARN", yellow
	}
	p.printf("%s  %s (%s, %s)  %s\n", p.paint(sgr, word), p.paint(bold, f.q.ID), f.q.Level, f.q.Side, p.paint(dim, strings.Join(f.places, ", ")))
	p.printf("      %s\n", oneLine(f.q.Text))
	if f.f.Detail != "" {
		p.printf("      %s\n", oneLine(f.f.Detail))
	}
	for _, l := range lines(f.f, f.q) {
		if l[0] == "in" && f.f.Scenario == "" {
			continue
		}
		p.printf("      %s %s\n", p.paint(dim, fmt.Sprintf("%-5s", l[0])), l[1])
	}
	p.printf("\n")
}

func (p *page) untested(r *Report, o TextOptions) {
	why := map[string]string{}
	var ids []string
	for _, q := range r.Requirements {
		if _, seen := why[q.ID]; q.Verdict == conformance.Untested && !seen {
			why[q.ID] = q.Reason
			ids = append(ids, q.ID)
		}
	}
	if len(ids) == 0 {
		return
	}
	sort.Strings(ids)
	p.printf("%s %d requirements that nothing on the wire exercised", p.paint(bold, "untested"), len(ids))
	if !o.All {
		p.printf(" (--all lists them)\n\n")
		return
	}
	p.printf("\n")
	for _, id := range ids {
		p.printf("      %s\n", strings.TrimSpace(id+"  "+p.paint(dim, oneLine(why[id]))))
	}
	p.printf("\n")
}

func (p *page) harness(r *Report) {
	for _, e := range r.Harness {
		p.printf("%s  %s\n", p.paint(red, "HARNESS ERROR"), oneLine(e))
	}
	if len(r.Harness) > 0 {
		p.printf("\n")
	}
}

func (p *page) scores(r *Report) {
	if len(r.Scores) == 0 {
		p.printf("%s\n", p.paint(red, "nothing was judged"))
		return
	}
	p.printf("%s\n", p.paint(dim, "revision    role    verdict            MUST passed  judged            SHOULD passed  judged"))
	for _, s := range r.Scores {
		p.printf("%-11s %-7s %s  %-11s  %-16s  %-13s  %s\n", s.Revision, s.Role, p.paint(standing(s.Verdict), fmt.Sprintf("%-17s", s.Verdict)),
			passed(s.Must), judged(s.Must), passed(s.Should), judged(s.Should))
	}
	for _, s := range r.Scores {
		if s.Verdict == conformance.Incomplete {
			p.printf("%s\n", p.paint(dim, fmt.Sprintf("%s %s is incomplete: not exercised %s", s.Revision, s.Role, some(s.Missing))))
		}
	}
}

// some names the first few of many.
func some(ids []string) string {
	const few = 4
	if len(ids) <= few {
		return strings.Join(ids, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(ids[:few], ", "), len(ids)-few)
}

func standing(s conformance.Standing) string {
	switch s {
	case conformance.Conforms:
		return green
	case conformance.Incomplete:
		return yellow
	}
	return red
}

// refused says in one line for each reason what the subject does not speak.
func (p *page) refused(r *Report) {
	type why struct {
		transport trace.Transport
		reason    string
	}
	var order []why
	in := map[why][]string{}
	for _, f := range r.Refused {
		w := why{f.Transport, f.Reason}
		if in[w] == nil {
			order = append(order, w)
		}
		in[w] = append(in[w], string(f.Revision))
	}
	for _, w := range order {
		p.printf("%s\n", p.paint(dim, fmt.Sprintf("not offered over %s: %s (%s)", w.transport, strings.Join(in[w], ", "), oneLine(w.reason))))
	}
}

func passed(c Count) string { return fmt.Sprintf("%d/%d", c.Passed, c.Judged()) }

func judged(c Count) string {
	if c.Applicable == 0 {
		return "none apply"
	}
	return fmt.Sprintf("%d of %d (%d %%)", c.Judged(), c.Applicable, 100*c.Judged()/c.Applicable)
}

// maxLine bounds what one line of text may take from a peer.
const maxLine = 400

// oneLine makes text from a peer safe and short for a terminal: no control or
// direction-changing characters, at most maxLine runes.
func oneLine(s string) string {
	var b strings.Builder
	n := 0
	for i, c := range s {
		if n == maxLine {
			fmt.Fprintf(&b, "… (%d bytes more)", len(s)-i)
			break
		}
		n++
		switch {
		case c == '\n' || c == '\t' || c == '\r':
			b.WriteByte(' ')
		default:
			harmless(&b, c)
		}
	}
	return b.String()
}

// Plain makes a message safe for a terminal whatever a peer has put into it:
// lines stay lines, and what would move the cursor, colour or turn the text is
// written as an escape.
func Plain(s string) string {
	var b strings.Builder
	for _, c := range s {
		if c == '\n' || c == '\t' {
			b.WriteRune(c)
			continue
		}
		harmless(&b, c)
	}
	return b.String()
}

// harmless writes a rune, or what stands for it where a terminal would obey it.
func harmless(b *strings.Builder, c rune) {
	if c == utf8.RuneError || unicode.IsControl(c) || unicode.In(c, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp) {
		fmt.Fprintf(b, "\\u%04x", c)
		return
	}
	b.WriteRune(c)
}
