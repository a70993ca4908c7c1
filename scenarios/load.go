package scenarios

import (
	"bytes"
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

//go:embed */*.yaml
var builtin embed.FS

// A scenario is a page of text; a file beyond this is something else.
const maxFile = 1 << 20

// Builtin returns the scenarios that come with the tool, sorted by id.
func Builtin() ([]Scenario, error) {
	all, err := Load(builtin)
	for i := range all {
		all[i].File = "scenarios/" + all[i].File
	}
	return all, err
}

// Load reads every .yaml file of fsys, sorted by id. All problems of all files
// are reported together, as [Problems].
func Load(fsys fs.FS) ([]Scenario, error) {
	var all []Scenario
	var problems Problems
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("reading scenarios: %w", err)
		}
		if d.IsDir() || path.Ext(name) != ".yaml" {
			return nil
		}
		data, err := fs.ReadFile(fsys, name)
		if err != nil {
			return fmt.Errorf("reading scenarios: %w", err)
		}
		s, err := Parse(name, data)
		var ps Problems
		if errors.As(err, &ps) {
			problems = append(problems, ps...)
		} else if err != nil {
			return err
		}
		if s != nil {
			all = append(all, *s)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := problems.or(); err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b Scenario) int { return cmp.Compare(a.ID, b.ID) })
	return all, nil
}

// Parse reads one scenario; the id comes from the name. The error is [Problems],
// with everything that is wrong and not only the first.
func Parse(name string, data []byte) (*Scenario, error) {
	r := &reader{file: name}
	s := &Scenario{ID: id(name), File: name}
	if len(data) > maxFile {
		return nil, Problems{{File: name, What: fmt.Sprintf("the file has %d bytes", len(data)), Next: "a scenario has at most 1 MiB"}}
	}
	root := r.document(data)
	if root == nil {
		return nil, r.problems.or()
	}
	r.syntax(root)
	r.scenario(root, s)
	if err := r.problems.or(); err != nil {
		return nil, err
	}
	return s, nil
}

func id(name string) string {
	return strings.ReplaceAll(strings.TrimSuffix(path.Clean(name), ".yaml"), "/", ".")
}

// document parses the YAML text into its one document.
func (r *reader) document(data []byte) *yaml.Node {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, more yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF) || err == nil && len(doc.Content) == 0:
		r.problems = append(r.problems, Problem{File: r.file, What: "the file is empty", Next: "a scenario needs title, target and steps"})
		return nil
	case err != nil:
		r.problems = append(r.problems, yamlProblem(r.file, err))
		return nil
	}
	switch err := dec.Decode(&more); {
	case errors.Is(err, io.EOF):
	case err != nil:
		r.problems = append(r.problems, yamlProblem(r.file, err))
	default:
		r.fail(&more, "one file is one scenario", "a second document begins here")
	}
	return doc.Content[0]
}

// The YAML reader writes its line into the text of its errors.
var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

func yamlProblem(file string, err error) Problem {
	text := err.Error()
	m := yamlLine.FindStringSubmatch(text)
	line := 1
	if m != nil && m[1] != "" {
		line, _ = strconv.Atoi(m[1]) // the pattern admits digits only
	}
	if m != nil {
		text = text[len(m[0]):]
	}
	return Problem{File: file, Line: line, Column: 1, What: "not YAML: " + text, Next: "check indentation and quotes near this line"}
}
