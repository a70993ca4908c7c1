package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/mcp-conform/mcp-conform/reports"
)

// outputFlags say where the report goes, and in which forms.
type outputFlags struct {
	json  bool
	all   bool
	files []string
}

func (o *outputFlags) register(flags *pflag.FlagSet) {
	flags.BoolVar(&o.json, "json", false, "print the report document on standard output instead of the text")
	flags.BoolVar(&o.all, "all", false, "print every finding and every untested requirement")
	flags.StringArrayVar(&o.files, "report", nil, "write the report as `FORMAT=FILE`: FORMAT is json, junit or text (repeatable)")
}

// formats are the renderers that --report knows.
func formats() map[string]func(io.Writer, *reports.Report) error {
	return map[string]func(io.Writer, *reports.Report) error{
		"json":  reports.JSON,
		"junit": reports.JUnit,
		"text": func(w io.Writer, r *reports.Report) error {
			return reports.Text(w, r, reports.TextOptions{All: true})
		},
	}
}

// check refuses what write could not do, before any work is done.
func (o *outputFlags) check() error {
	for _, f := range o.files {
		format, file, ok := strings.Cut(f, "=")
		if !ok || file == "" || formats()[format] == nil {
			return fmt.Errorf("--report %q: want json=FILE, junit=FILE or text=FILE", f)
		}
		if _, err := os.Stat(filepath.Dir(file)); err != nil {
			return fmt.Errorf("--report %s: the folder of the file does not exist: %w", f, err)
		}
	}
	return nil
}

// write writes the report everywhere it was asked for. One place that fails
// does not keep it from the others.
func (o *outputFlags) write(s streams, r *reports.Report) error {
	var errs []error
	for _, f := range o.files {
		format, file, _ := strings.Cut(f, "=")
		errs = append(errs, writeFile(file, func(w io.Writer) error { return formats()[format](w, r) }))
	}
	if o.json {
		errs = append(errs, reports.JSON(s.out, r))
	} else {
		errs = append(errs, reports.Text(s.out, r, reports.TextOptions{Colour: colour(s.out), All: o.all}))
	}
	return fail(exitUsage, errors.Join(errs...))
}

func writeFile(file string, render func(io.Writer) error) (err error) {
	f, err := os.Create(file)
	if err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return render(f)
}

// colour reports whether w is a terminal on which colours are welcome
// (https://no-color.org).
func colour(w io.Writer) bool {
	return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && terminal(w)
}

func terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
