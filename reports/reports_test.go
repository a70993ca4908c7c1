package reports_test

import (
	"bytes"
	"encoding/xml"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/reports"
	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// sample has one of everything that a renderer must tell apart.
func sample() *reports.Report {
	req := func(id string, l conformance.Level, v conformance.Verdict, fs ...reports.Finding) reports.Requirement {
		if fs == nil {
			fs = []reports.Finding{}
		}
		return reports.Requirement{ID: id, Revision: schemas.R20251125, Level: l, Binds: conformance.BindsServer, Side: trace.Server,
			Area: "tools", Text: "A thing holds.", Link: "https://modelcontextprotocol.io/specification/2025-11-25/server/tools#x",
			Core: true, Verdict: v, Findings: fs}
	}
	disputed := req("D-DISPUTED", conformance.Must, conformance.Fail, reports.Finding{Detail: "reads two ways", Count: 1})
	disputed.Disputed = "https://example.invalid/issues/1"
	untested := req("E-UNTESTED", conformance.Must, conformance.Untested)
	untested.Reason = "it did not come to this: a thing happens"
	return &reports.Report{
		Format: reports.Format, Version: reports.Version, Tool: "mcp-conform test",
		Subject: reports.Subject{Role: "server", Name: "demo", Version: "1.0", Transport: trace.Stdio, Command: "demo --flag"},
		Scores: []reports.Score{{Revision: schemas.R20251125, Role: trace.Server, Verdict: conformance.DoesNot, Missing: []string{"E-UNTESTED"},
			Must:   reports.Count{Passed: 1, Failed: 1, Untested: 1, Applicable: 3},
			Should: reports.Count{Failed: 1, Applicable: 1}}},
		Requirements: []reports.Requirement{
			req("A-PASSES", conformance.Must, conformance.Pass),
			req("B-FAILS", conformance.MustNot, conformance.Fail, reports.Finding{Detail: "it did not hold", Want: "/a: object", Got: "absent\x1b[31m",
				Event: 7, Wire: `<- {"id":1,"evil":"]]><script>\u202e` + "\u202e" + `"}`, Scenario: "tools.x", Transport: trace.Stdio, Fix: "make it hold", Count: 3}),
			req("C-ADVICE", conformance.Should, conformance.Fail, reports.Finding{Detail: "not so good", Count: 1}),
			disputed,
			untested,
		},
		Refused:   []reports.Refusal{{Revision: schemas.R20241105, Transport: trace.Stdio, Reason: "it answered 2025-11-25"}},
		Scenarios: []reports.Scenario{{ID: "tools.x", Revision: schemas.R20251125, Transport: trace.Stdio, Verdict: conformance.Fail, Seconds: 0.1}},
		Harness:   []string{"the wire broke: EOF"},
	}
}

func TestAnIncompleteScoreSaysWhatIsMissing(t *testing.T) {
	r := sample()
	r.Scores[0].Verdict, r.Scores[0].Missing = conformance.Incomplete, []string{"A", "B", "C", "D", "E", "F"}
	var b bytes.Buffer
	if err := reports.Text(&b, r, reports.TextOptions{}); err != nil {
		t.Fatal(err)
	}
	if want := "2025-11-25 server is incomplete: not exercised A, B, C, D and 2 more\n"; !strings.Contains(b.String(), want) {
		t.Errorf("nothing says %q in\n%s", want, &b)
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs; run go test ./reports -update and review the change\ngot:\n%s", file, got)
	}
}

func TestRenderersAgainstGoldenFiles(t *testing.T) {
	r := sample()
	for name, render := range map[string]func(*bytes.Buffer) error{
		"sample.txt":        func(b *bytes.Buffer) error { return reports.Text(b, r, reports.TextOptions{All: true}) },
		"sample-colour.txt": func(b *bytes.Buffer) error { return reports.Text(b, r, reports.TextOptions{Colour: true}) },
		"sample.xml":        func(b *bytes.Buffer) error { return reports.JUnit(b, r) },
		"sample.json":       func(b *bytes.Buffer) error { return reports.JSON(b, r) },
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := render(&b); err != nil {
				t.Fatal(err)
			}
			golden(t, name, b.Bytes())
		})
	}
}

func TestAMustIsNotHiddenBehindTheSameAdviceOfAnEarlierRevision(t *testing.T) {
	r := sample()
	r.Requirements = nil
	for rev, level := range map[schemas.Revision]conformance.Level{schemas.R20241105: conformance.Should, schemas.R20250618: conformance.Must} {
		r.Requirements = append(r.Requirements, reports.Requirement{ID: "A-THING", Revision: rev, Level: level, Side: trace.Server,
			Verdict: conformance.Fail, Findings: []reports.Finding{{Detail: "it does not hold", Count: 1}}})
	}
	var b bytes.Buffer
	if err := reports.Text(&b, r, reports.TextOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"FAIL  A-THING (MUST, server)  2025-06-18", "WARN  A-THING (SHOULD, server)  2024-11-05"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("nothing says %q in\n%s", want, b.String())
		}
	}
}

func TestPlainTextCarriesNoControlCharacterOfThePeer(t *testing.T) {
	var b bytes.Buffer
	if err := reports.Text(&b, sample(), reports.TextOptions{All: true}); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(b.String(), "\x1b\u202e\x00") {
		t.Errorf("control characters reach the terminal:\n%q", b.String())
	}
}

func TestJUnitIsWellFormedAndCountsOnlyMusts(t *testing.T) {
	var b bytes.Buffer
	if err := reports.JUnit(&b, sample()); err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Failures int `xml:"failures,attr"`
		Errors   int `xml:"errors,attr"`
		Skipped  int `xml:"skipped,attr"`
		Suites   []struct {
			Cases []struct {
				Name    string    `xml:"name,attr"`
				Failure *struct{} `xml:"failure"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal(b.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Failures != 1 || doc.Errors != 1 || doc.Skipped != 1 {
		t.Errorf("failures %d, errors %d, skipped %d; want 1, 1, 1", doc.Failures, doc.Errors, doc.Skipped)
	}
	for _, c := range doc.Suites[0].Cases {
		if got := c.Failure != nil; got != (c.Name == "B-FAILS") {
			t.Errorf("case %s is a failure: %v", c.Name, got)
		}
	}
}

func TestReportFitsItsSchema(t *testing.T) {
	schema := compile(t)
	check := func(r *reports.Report) error {
		var b bytes.Buffer
		if err := reports.JSON(&b, r); err != nil {
			t.Fatal(err)
		}
		doc, err := jsonschema.UnmarshalJSON(&b)
		if err != nil {
			t.Fatal(err)
		}
		return schema.Validate(doc)
	}
	if err := check(sample()); err != nil {
		t.Error(err)
	}
	bad := sample()
	bad.Scores[0].Verdict = "splendid"
	if check(bad) == nil {
		t.Error("the schema accepts a verdict that does not exist")
	}
}

func compile(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(reports.Schema))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("report.schema.json", doc); err != nil {
		t.Fatal(err)
	}
	return c.MustCompile("report.schema.json")
}

func TestReadRefusesWhatIsNoReport(t *testing.T) {
	for in, want := range map[string]string{
		``:                   "EOF",
		`{"format":"other"}`: `format is "other"`,
		`{"format":"mcp-conform-report","version":9}`: "version 9",
		`[]`: "cannot unmarshal",
	} {
		if _, err := reports.Read(strings.NewReader(in)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Read(%q) = %v, want an error with %q", in, err, want)
		}
	}
	var b bytes.Buffer
	if err := reports.JSON(&b, sample()); err != nil {
		t.Fatal(err)
	}
	if _, err := reports.Read(&b); err != nil {
		t.Errorf("what JSON wrote cannot be read: %v", err)
	}
}
