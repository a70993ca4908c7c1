package scenarios

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Problem is one thing wrong with a scenario file.
type Problem struct {
	File         string
	Line, Column int // from 1; 0 when the place is the whole file
	What         string
	Next         string // what to do about it
}

// Error reads file:line:column: what (next).
func (p Problem) Error() string {
	at := p.File
	if p.Line > 0 {
		at += fmt.Sprintf(":%d", p.Line)
	}
	if p.Column > 0 {
		at += fmt.Sprintf(":%d", p.Column)
	}
	s := at + ": " + p.What
	if p.Next != "" {
		s += " (" + p.Next + ")"
	}
	return s
}

// Problems is everything wrong with one or more files, in order.
type Problems []Problem

// Error puts each problem on its own line.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.Error()
	}
	return strings.Join(lines, "\n")
}

func (ps Problems) sorted() Problems {
	slices.SortStableFunc(ps, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return ps
}

// or returns ps as an error, nil when it is empty.
func (ps Problems) or() error {
	if len(ps) == 0 {
		return nil
	}
	return ps.sorted()
}
