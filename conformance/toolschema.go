package conformance

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/mcp-conform/mcp-conform/schemas"
)

// Bounds on schemas that come from traffic, so that no server can keep the
// judge busy (2026-07-28 basic/index, composition keyword resource use).
const (
	mostSchemaBytes = 1 << 20
	mostSchemaDepth = 128
)

// errNotJudged says that a schema cannot be judged here, which is no fault of it:
// its dialect is not known, it refers to elsewhere, or it is beyond our bounds.
var errNotJudged = errors.New("not judged")

// compileToolSchema compiles a schema found in traffic. Nothing is loaded from
// anywhere. The dialect is that of $schema, or 2020-12 (2025-11-25 basic/index,
// JSON Schema usage).
func compileToolSchema(raw json.RawMessage) (*jsonschema.Schema, error) {
	if len(raw) > mostSchemaBytes || depth(raw) > mostSchemaDepth {
		return nil, fmt.Errorf("%w: it is too big", errNotJudged)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("it is not JSON: %w", err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseLoader(noLoader{})
	const name = "mcp:///tool/schema"
	if err := c.AddResource(name, doc); err != nil {
		return nil, schemaError(err)
	}
	s, err := c.Compile(name)
	if err != nil {
		return nil, schemaError(err)
	}
	return s, nil
}

// noLoader refuses every address: references to the network are not followed.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("%w: %s is not fetched", errNotJudged, url)
}

// schemaError tells faults of the schema from what is beyond this judge.
func schemaError(err error) error {
	var load *jsonschema.LoadURLError
	var dialect *jsonschema.UnsupportedDraftError
	if errors.As(err, &load) || errors.As(err, &dialect) || errors.Is(err, errNotJudged) {
		return fmt.Errorf("%w: %v", errNotJudged, err)
	}
	return err
}

// depth is the nesting depth of a JSON text.
func depth(raw json.RawMessage) int {
	deepest, now, inText := 0, 0, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case inText && c == '\\':
			i++
		case c == '"':
			inText = !inText
		case inText:
		case c == '{' || c == '[':
			now++
			deepest = max(deepest, now)
		case c == '}' || c == ']':
			now--
		}
	}
	return deepest
}

// schemaFault says what is wrong with the schema of a tool; "" if nothing.
// Before 2025-11-25 no dialect is named, so a schema passes there when it is
// valid under either of the two in use.
func schemaFault(r schemas.Revision, raw json.RawMessage, object bool) (fault string, err error) {
	if object {
		kind, ok := schemas.Member(raw, "type")
		if !ok || string(kind) != `"object"` {
			return `"type": "object" at its root is missing`, nil
		}
	}
	_, err = compileToolSchema(raw)
	switch {
	case err == nil:
		return "", nil
	case errors.Is(err, errNotJudged):
		return "", err
	}
	if _, named := schemas.Member(raw, "$schema"); !named && r < schemas.R20251125 && validDraft7(raw) {
		return "", nil
	}
	return firstLine(err), nil
}

func validDraft7(raw json.RawMessage) bool {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return false
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft7)
	c.UseLoader(noLoader{})
	if c.AddResource("mcp:///tool/schema", doc) != nil {
		return false
	}
	_, err = c.Compile("mcp:///tool/schema")
	return err == nil
}

func firstLine(err error) string {
	lines := strings.Split(err.Error(), "\n")
	return clip(strings.TrimSpace(lines[min(len(lines)-1, 1)]))
}
