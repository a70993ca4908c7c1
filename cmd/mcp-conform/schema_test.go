package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSchemaCommand(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return p
	}
	tool := file("tool.json", `{"name":"a","inputSchema":{}}`)
	image := file("image.json", `{"type":"image","data":"!","mimeType":"image/png"}`)
	mine := file("mine.json", `{"definitions":{"Role":{"enum":["user","assistant"]},"Cursor":{"type":["string","null"]}}}`)
	same := file("same.json", `{"definitions":{"Role":{"enum":["user","assistant"]}}}`)
	broken := file("broken.json", `{`)
	for _, c := range []struct {
		args []string
		in   string
		code int
		want string // part of what is printed
	}{
		{[]string{"list"}, "", 0, "2026-07-28              155 definitions"},
		{[]string{"list", "2024-11-05"}, "", 0, "Annotated\nBlobResourceContents\n"},
		{[]string{"list", "2023-01-01"}, "", 2, `there are no schemas "2023-01-01"`},
		{[]string{"show", "2025-11-25", "Cursor"}, "", 0, `"type": "string"`},
		{[]string{"show", "server-card"}, "", 0, `"ServerCard": {`},
		{[]string{"show", "2025-11-25", "Toll"}, "", 2, "near are Tool"},
		{[]string{"validate", "--revision", "2025-11-25", "--definition", "Tool", tool}, "", 1, `tool.json: /inputSchema/type: want "object", got absent [Tool]`},
		{[]string{"validate", "--definition", "ImageContent", image}, "", 1, "(erratum L22)"},
		{[]string{"validate", "--as-published", "--definition", "ImageContent", image}, "", 0, "image.json: fits ImageContent of 2026-07-28"},
		{[]string{"validate", "--definition", "Role", "-"}, `"user"`, 0, "-: fits Role"},
		{[]string{"validate", "--definition", "Role", broken}, "", 2, "broken.json: the instance is not JSON"},
		{[]string{"validate", "--definition", "Role", filepath.Join(dir, "absent.json")}, "", 2, "no such file"},
		{[]string{"validate", tool}, "", 2, `name what the files hold by --definition`},
		{[]string{"diff", mine, "2025-11-25"}, "", 1, "accepts, 2025-11-25 refuses  null\n        (root): want string, got null [Cursor]"},
		{[]string{"diff", same, "2025-11-25"}, "", 0, "1 the same, 0 differ"},
		{[]string{"diff", broken, "2025-11-25"}, "", 2, "broken.json: unexpected EOF"},
		{[]string{"diff", "2099-01-01", "2025-11-25"}, "", 2, "2099-01-01: no such file, and there are no schemas"},
	} {
		var out bytes.Buffer
		code := execute(context.Background(), append([]string{"schema"}, c.args...), streams{strings.NewReader(c.in), &out, &out})
		if code != c.code || !strings.Contains(out.String(), c.want) {
			t.Errorf("schema %s: code %d, want %d\n%s\nwant %s", strings.Join(c.args, " "), code, c.code, out.String(), c.want)
		}
	}
}
