package reports

import (
	"encoding/json"
	"fmt"
	"io"
)

// JSON writes the report document, indented, with a final newline.
func JSON(w io.Writer, r *Report) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(r)
}

// Read reads a report document. The error says what it is instead when it is
// something else.
func Read(rd io.Reader) (*Report, error) {
	dec := json.NewDecoder(rd)
	var r Report
	if err := dec.Decode(&r); err != nil {
		return nil, fmt.Errorf("reading a report: %w", err)
	}
	if r.Format != Format {
		return nil, fmt.Errorf("reading a report: format is %q, want %q: is this a file written by --report json=FILE?", r.Format, Format)
	}
	if r.Version != Version {
		return nil, fmt.Errorf("reading a report: version %d, this program reads version %d: update mcp-conform or write the report anew", r.Version, Version)
	}
	return &r, nil
}
