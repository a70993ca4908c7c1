package reports

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/mcp-conform/mcp-conform/conformance"
)

type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"`
	Skipped  int          `xml:"skipped,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Failure *junitMessage `xml:"failure,omitempty"`
	Error   *junitMessage `xml:"error,omitempty"`
	Skipped *junitMessage `xml:"skipped,omitempty"`
	Out     string        `xml:"system-out,omitempty"`
}

type junitMessage struct {
	Type    string `xml:"type,attr,omitempty"`
	Message string `xml:"message,attr"`
	Body    string `xml:",chardata"`
}

// JUnit writes the report as JUnit XML: one suite a revision and role, one case
// a requirement. A broken MUST is a failure. A broken SHOULD passes, because it
// is not what fails a build, and tells of itself in system-out. An untested
// requirement is skipped; an error of the harness is an error.
func JUnit(w io.Writer, r *Report) error {
	doc := junitSuites{Name: "mcp-conform"}
	for _, s := range r.Scores {
		suite := junitSuite{Name: fmt.Sprintf("mcp-conform %s %s", s.Role, s.Revision)}
		for _, q := range r.Requirements {
			if q.Revision == s.Revision && q.Side == s.Role {
				suite.add(junitOf(q))
			}
		}
		doc.add(suite)
	}
	if len(r.Harness) > 0 {
		suite := junitSuite{Name: "mcp-conform harness"}
		for i, e := range r.Harness {
			suite.add(junitCase{Class: "harness", Name: fmt.Sprintf("error %d", i+1), Error: &junitMessage{Message: clean(firstLine(e)), Body: clean(e)}})
		}
		doc.add(suite)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(doc); err != nil {
		return fmt.Errorf("writing JUnit: %w", err)
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func junitOf(q Requirement) junitCase {
	c := junitCase{Class: q.Area, Name: q.ID}
	switch {
	case q.Verdict == conformance.Untested:
		c.Skipped = &junitMessage{Message: clean("untested: " + q.Reason)}
	case q.Verdict != conformance.Fail:
	case q.Level.Mandatory() && q.Disputed == "":
		c.Failure = &junitMessage{Type: string(q.Level), Message: clean(firstLine(summary(q))), Body: clean(explain(q))}
	default:
		c.Out = clean(explain(q))
	}
	return c
}

func (s *junitSuite) add(c junitCase) {
	s.Cases = append(s.Cases, c)
	s.Tests++
	if c.Failure != nil {
		s.Failures++
	}
	if c.Error != nil {
		s.Errors++
	}
	if c.Skipped != nil {
		s.Skipped++
	}
}

func (d *junitSuites) add(s junitSuite) {
	d.Suites = append(d.Suites, s)
	d.Tests += s.Tests
	d.Failures += s.Failures
	d.Errors += s.Errors
	d.Skipped += s.Skipped
}

func summary(q Requirement) string {
	if len(q.Findings) == 0 {
		return q.Text
	}
	return q.Findings[0].Detail
}

// explain renders one failed requirement with all its kept findings as plain text.
func explain(q Requirement) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s)  %s\n", q.ID, q.Level, q.Text)
	for _, f := range q.Findings {
		fmt.Fprintf(&b, "\n%s\n", f.Detail)
		for _, l := range lines(f, q) {
			fmt.Fprintf(&b, "%-5s %s\n", l[0], l[1])
		}
	}
	return b.String()
}

// lines lists what there is to say of a finding, as label and text.
func lines(f Finding, q Requirement) [][2]string {
	var out [][2]string
	put := func(label, text string) {
		if text != "" {
			out = append(out, [2]string{label, oneLine(text)})
		}
	}
	put("want", f.Want)
	put("got", f.Got)
	put("wire", f.Wire)
	if f.Scenario != "" || f.Transport != "" {
		put("in", strings.TrimSpace(f.Scenario+" over "+string(f.Transport)))
	}
	put("cause", f.Cause)
	for _, c := range f.Consequences {
		put("thus", c.Requirement+": "+c.Detail)
	}
	put("spec", q.Link)
	put("fix", f.Fix)
	return out
}

func firstLine(s string) string {
	first, _, _ := strings.Cut(s, "\n")
	return first
}

// clean drops what XML 1.0 cannot carry: peers send anything.
func clean(s string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c == '\t' || c == '\n':
			return c
		case c < 0x20 || c == 0x7f || c == 0xFFFE || c == 0xFFFF || c == utf8.RuneError || 0xD800 <= c && c <= 0xDFFF:
			return '\uFFFD'
		}
		return c
	}, s)
}
