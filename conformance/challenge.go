package conformance

import (
	"strings"

	"github.com/mcp-conform/mcp-conform/trace"
)

// challenge is one way of authorization that a server offers in WWW-Authenticate
// (RFC 9110 section 11.6.1).
type challenge struct {
	scheme string            // lower case
	params map[string]string // by name, lower case
}

// challengesOf reads all challenges of an answer, whether they come in one header
// or in several.
func challengesOf(h *trace.Head) []challenge {
	var all []challenge
	for _, p := range h.Headers {
		if strings.EqualFold(p[0], "WWW-Authenticate") {
			all = append(all, parseChallenges(p[1])...)
		}
	}
	return all
}

// parseChallenges reads the value of one header. What it cannot read it passes
// over: nothing is judged by what is not there.
func parseChallenges(s string) []challenge {
	var all []challenge
	for {
		s = strings.TrimLeft(s, " \t,")
		word, rest := token(s)
		if word == "" {
			if s == "" {
				return all
			}
			s = s[1:]
			continue
		}
		name, value, after, ok := parameter(s)
		switch {
		case ok && len(all) > 0:
			if last := all[len(all)-1]; last.params[name] == "" {
				last.params[name] = value
			}
			s = after
		case ok:
			s = after // a parameter of nothing
		default:
			all = append(all, challenge{strings.ToLower(word), map[string]string{}})
			s = rest
		}
	}
}

// parameter reads name=value, where the value may be quoted.
func parameter(s string) (name, value, rest string, ok bool) {
	name, rest = token(s)
	rest = strings.TrimLeft(rest, " \t")
	if !strings.HasPrefix(rest, "=") {
		return "", "", s, false
	}
	rest = strings.TrimLeft(rest[1:], " \t")
	if strings.HasPrefix(rest, `"`) {
		value, rest = quoted(rest[1:])
		return strings.ToLower(name), value, rest, true
	}
	if i := strings.IndexAny(rest, ", \t"); i >= 0 {
		return strings.ToLower(name), rest[:i], rest[i:], true
	}
	return strings.ToLower(name), rest, "", true
}

// quoted reads the rest of a quoted string; one that does not end goes to the end.
func quoted(s string) (value, rest string) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '"':
			return b.String(), s[i+1:]
		case s[i] == '\\' && i+1 < len(s):
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String(), ""
}

// token reads a word of the characters of RFC 9110 section 5.6.2, and of token68
// those that do not end it.
func token(s string) (word, rest string) {
	i := strings.IndexFunc(s, func(r rune) bool {
		return r <= ' ' || r >= 0x7F || strings.ContainsRune(`",=;()<>@\[]{}?`, r)
	})
	if i < 0 {
		return s, ""
	}
	return s[:i], s[i:]
}
