package schemas

import (
	"testing"

	"github.com/mcp-conform/mcp-conform/schemas/internal/sample"
)

// TestAcceptorsAgreeWithTheValidator: what an acceptor accepts, the validator
// accepts; and of what the validator accepts, most is not left to it.
func TestAcceptorsAgreeWithTheValidator(t *testing.T) {
	for _, o := range []Options{{}, {AsPublished: true}} {
		s := load(t, o)
		valid, sure, tried := 0, 0, 0
		for _, rev := range append(Revisions(), OAuth, ServerCard) {
			f, err := s.file(rev)
			if err != nil {
				t.Fatal(err)
			}
			source := sample.New(map[string]any{"$defs": f.doc.definitions})
			m := matcher{sampleA: source, sampleB: source, effort: effort{whole: 40, broken: 120}}
			for _, definition := range f.names {
				c, err := f.compileBoth(definition)
				if err != nil {
					t.Fatal(err)
				}
				for _, v := range m.instances(definition, definition) {
					tried++
					accepted := c.acceptor.accept(v, 0)
					fits := c.schema.Validate(v) == nil
					if accepted && !fits {
						t.Errorf("%s %s: accepted, and the validator refuses %s", rev, definition, short(v))
					}
					if fits {
						valid++
					}
					if accepted {
						sure++
					}
				}
			}
		}
		t.Logf("%+v: %d instances, %d fit, %d of them for sure", o, tried, valid, sure)
		if valid < 10000 || sure*10 < valid*8 {
			t.Errorf("%+v: of %d instances that fit, only %d are accepted for sure", o, valid, sure)
		}
	}
}

// FuzzAccept holds acceptors to the validator on anything that is JSON.
func FuzzAccept(f *testing.F) {
	s, err := Load(Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(uint(3), []byte(`{"type":"text","text":"x","annotations":{"priority":0.5,"audience":["user"]}}`))
	f.Add(uint(60), []byte(`{"tools":[{"name":"a","inputSchema":{"type":"object"}}],"_meta":{"a/b":1}}`))
	f.Add(uint(90), []byte(`{"jsonrpc":"2.0","id":1e0,"method":"ping"}`))
	f.Fuzz(func(t *testing.T, which uint, text []byte) {
		v, err := decodeJSON(text)
		if err != nil {
			return
		}
		for _, rev := range []Revision{R20250618, R20260728} {
			file, err := s.file(rev)
			if err != nil {
				t.Fatal(err)
			}
			name := file.names[which%uint(len(file.names))]
			c, err := file.compileBoth(name)
			if err != nil {
				t.Fatal(err)
			}
			if c.acceptor.accept(v, 0) && c.schema.Validate(v) != nil {
				t.Fatalf("%s %s: accepted, and the validator refuses %s", rev, name, text)
			}
		}
	})
}
