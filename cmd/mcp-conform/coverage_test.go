package main

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance"
)

func TestCoverageCommand(t *testing.T) {
	for _, c := range []struct {
		args []string
		code int
		want string // part of what is printed
	}{
		{nil, 0, "\nall         880 "},
		{[]string{"--revision", "2024-11-05"}, 0, "\n2024-11-05  124 "},
		{[]string{"--revision", "2024-11-06"}, 2, `--revision: unknown revision "2024-11-06"`},
		{[]string{"more"}, 2, "unknown command"},
	} {
		var out bytes.Buffer
		code := execute(context.Background(), append([]string{"coverage"}, c.args...), streams{strings.NewReader(""), &out, &out})
		if code != c.code || !strings.Contains(out.String(), c.want) {
			t.Errorf("coverage %v: code %d, want %d\n%s\nwant %s", c.args, code, c.code, out.String(), c.want)
		}
	}
}

func TestCoverageJSON(t *testing.T) {
	var out bytes.Buffer
	if code := execute(context.Background(), []string{"coverage", "--json"}, streams{strings.NewReader(""), &out, &out}); code != 0 {
		t.Fatalf("code %d: %s", code, out.String())
	}
	var all []conformance.Coverage
	if err := json.Unmarshal(out.Bytes(), &all); err != nil {
		t.Fatal(err)
	}
	if len(all) != 6 || all[0].Sentences.Total != 124 || all[5].Revision != "" || all[5].Sentences.Total != 880 {
		t.Errorf("got %+v", all)
	}
}
