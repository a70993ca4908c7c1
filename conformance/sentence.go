package conformance

import (
	"bufio"
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/schemas"
)

// Sentence is one normative sentence of the specification: one that has a key
// word of RFC 2119 in capitals.
type Sentence struct {
	Revision schemas.Revision
	SHA      string  // names the sentence; equal in all revisions that word it alike
	Levels   []Level // the level of each of its key words, as they come, each once
	Page     string  // below the revision: "basic/lifecycle"
	Section  string  // the anchor on the page
	Text     string  // "" in the built-in index
}

// May is the level of sentences that grant a choice. No requirement has it.
const May Level = "MAY"

// At returns the place of the sentence, as clauses name it.
func (s Sentence) At() string {
	if s.Section == "" {
		return s.Page
	}
	return s.Page + "#" + s.Section
}

// Strongest returns the strictest level in the sentence.
func (s Sentence) Strongest() Level {
	for _, l := range []Level{Must, MustNot, Should, ShouldNot} {
		if slices.Contains(s.Levels, l) {
			return l
		}
	}
	return May
}

// mandatoryOnly reports whether the sentence leaves no room for a weaker demand.
func (s Sentence) mandatoryOnly() bool {
	return !slices.ContainsFunc(s.Levels, func(l Level) bool { return !l.Mandatory() })
}

var keywords = regexp.MustCompile(`\b(?:MUST NOT|MUST|SHALL NOT|SHALL|REQUIRED|SHOULD NOT|SHOULD|NOT RECOMMENDED|RECOMMENDED|MAY|OPTIONAL)\b`)

// levelsIn returns the level of every key word in text (RFC 2119, sections 1 to 5).
func levelsIn(text string) []Level {
	var ls []Level
	for _, word := range keywords.FindAllString(text, -1) {
		l := Level(word)
		switch word {
		case "REQUIRED", "SHALL":
			l = Must
		case "SHALL NOT":
			l = MustNot
		case "RECOMMENDED":
			l = Should
		case "NOT RECOMMENDED":
			l = ShouldNot
		case "OPTIONAL":
			l = May
		}
		if !slices.Contains(ls, l) {
			ls = append(ls, l)
		}
	}
	return ls
}

// ReadSentences reads <revision>.jsonl for every revision from the root of
// fsys: one sentence a line, with sha, page, section and text.
func ReadSentences(fsys fs.FS) ([]Sentence, error) {
	return readSentences(fsys, ".jsonl", func(line string) (Sentence, error) {
		var s Sentence
		err := json.Unmarshal([]byte(line), &s)
		s.Levels = levelsIn(s.Text)
		return s, err
	})
}

//go:embed sentences/*.txt
var builtinSentences embed.FS

// Sentences returns the built-in index of all normative sentences, which has
// their digests, levels and places, but not their text. It is what makes the
// coverage of the specification a computed figure.
func Sentences() ([]Sentence, error) {
	sub, err := fs.Sub(builtinSentences, "sentences")
	if err != nil {
		return nil, fmt.Errorf("opening the index of sentences: %w", err)
	}
	return readSentences(sub, ".txt", parseIndexed)
}

// IndexLine returns s as a line of the index: "0a1b2c3d4e5f MUST,MAY basic#requests".
func (s Sentence) IndexLine() string {
	words := make([]string, len(s.Levels))
	for i, l := range s.Levels {
		words[i] = strings.ReplaceAll(string(l), " ", "-")
	}
	return s.SHA + " " + strings.Join(words, ",") + " " + s.At()
}

func parseIndexed(line string) (Sentence, error) {
	parts := strings.Split(line, " ")
	if len(parts) != 3 {
		return Sentence{}, fmt.Errorf("want sha, levels and place, separated by one space")
	}
	s := Sentence{SHA: parts[0]}
	s.Page, s.Section, _ = strings.Cut(parts[2], "#")
	for word := range strings.SplitSeq(parts[1], ",") {
		s.Levels = append(s.Levels, Level(strings.ReplaceAll(word, "-", " ")))
	}
	return s, nil
}

func readSentences(fsys fs.FS, suffix string, parse func(string) (Sentence, error)) ([]Sentence, error) {
	var all []Sentence
	for _, rev := range schemas.Revisions() {
		name := string(rev) + suffix
		data, err := fs.ReadFile(fsys, name)
		if err != nil {
			return nil, fmt.Errorf("reading the sentences of %s: %w", rev, err)
		}
		lines := bufio.NewScanner(bytes.NewReader(data))
		lines.Buffer(nil, len(data)+1)
		for n := 1; lines.Scan(); n++ {
			s, err := parse(lines.Text())
			if err != nil {
				return nil, fmt.Errorf("%s:%d: reading a sentence: %w", name, n, err)
			}
			if !shaPattern.MatchString(s.SHA) {
				return nil, fmt.Errorf("%s:%d: sha %q: want 12 hexadecimal digits", name, n, s.SHA)
			}
			s.Revision = rev
			all = append(all, s)
		}
		if err := lines.Err(); err != nil {
			return nil, fmt.Errorf("reading %s: %w", name, err)
		}
	}
	return all, nil
}
