package trace

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// Stars stands where a secret stood. Its length says nothing about the secret.
const Stars = "****"

// Mask returns e with its secrets replaced by [Stars] and Masked saying what
// was replaced. Everything else stays verbatim. It never changes the bytes
// that e.Data points to, and masking twice changes nothing more.
//
// Secrets are: the values of the headers Authorization and Proxy-Authorization
// (the scheme stays), Cookie, Set-Cookie and of headers named like a key or a
// token; user info, codes and tokens in URLs; the members and form fields of
// OAuth messages (RFC 6749, RFC 7523, RFC 7636); and in text that is no JSON,
// such as a log line, whatever is written like one of these.
//
// A JSON-RPC message is handled with more care, for its bytes are the evidence:
// only string members with a name that leaves no doubt, such as access_token,
// are masked, wherever they stand. "code", "token" and "assertion" are left, as
// they have other meanings there.
//
// Mcp-Session-Id and the sessionId of a 2024-11-05 endpoint are left too:
// without them a trace cannot be judged. A session id should not stand for
// authentication (2025-11-25 basic/security_best_practices#session-hijacking);
// where a server lets it, share the trace only after the session has ended.
func Mask(e Event) Event {
	m := masker{found: e.Masked}
	if e.HTTP != nil {
		e.HTTP = m.head(e.HTTP)
	}
	if len(e.Data) > 0 {
		e.Data = m.data(e.Kind, e.Data)
	}
	if e.End != nil && e.End.Detail != "" {
		end := *e.End
		end.Detail = m.text(end.Detail, "detail")
		e.End = &end
	}
	if e.Note != "" {
		e.Note = m.text(e.Note, "note")
	}
	e.Masked = m.found
	return e
}

// MaskURL masks user info and secret values of the query and the fragment.
func MaskURL(u string) string { return new(masker).url(u) }

// MaskText masks what looks like a secret in text for people: a log line, an
// error message, a command line in one piece.
func MaskText(s string) string { return new(masker).text(s, "text") }

// MaskArgs masks the arguments of a command: the value after a flag like
// --token, --token=VALUE, FOO_TOKEN=VALUE, headers, URLs, user info.
func MaskArgs(args []string) []string {
	out := make([]string, len(args))
	for i, a := range args {
		if i > 0 && !strings.HasPrefix(a, "-") && isSecretFlag(args[i-1]) {
			out[i] = Stars
			continue
		}
		out[i] = MaskText(a)
		if name, _, ok := strings.Cut(a, "="); ok && !strings.ContainsAny(name, " \t/?&:") && isSecretName(name) {
			out[i] = name + "=" + Stars
		}
	}
	return out
}

type masker struct{ found []string }

// note records that something was masked, once. The slice may be shared with
// the event that was given, so it is never appended to in place.
func (m *masker) note(what string) {
	if !slices.Contains(m.found, what) {
		m.found = append(slices.Clip(m.found), what)
	}
}

func (m *masker) head(h *Head) *Head {
	out := *h
	out.URL = m.url(h.URL)
	out.Headers = make([][2]string, len(h.Headers))
	for i, p := range h.Headers {
		masked := m.header(p[0], p[1])
		if masked != p[1] {
			m.note("header " + p[0])
		}
		out.Headers[i] = [2]string{p[0], masked}
	}
	if h.Headers == nil {
		out.Headers = nil
	}
	return &out
}

// scheme is the name of an authentication scheme, as far as any is in use.
var scheme = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9-]{0,20}$`)

func (m *masker) header(name, value string) string {
	if value == "" {
		return value
	}
	switch lower := strings.ToLower(name); {
	case lower == "authorization", lower == "proxy-authorization":
		if name, rest, ok := strings.Cut(value, " "); ok && scheme.MatchString(name) && strings.TrimSpace(rest) != "" {
			return name + " " + Stars
		}
		return Stars
	case lower == "cookie", lower == "set-cookie":
		return Stars
	case lower == "location", lower == "referer", lower == "content-location", lower == ":path", lower == "link", lower == "refresh":
		return new(masker).url(value)
	case strings.HasPrefix(lower, "mcp-"):
		return value // session, method, name and parameters: part of the protocol
	case isSecretName(name):
		return Stars
	}
	return value
}

// secretWords end the names of flags, variables, headers and query parameters
// that carry secrets, in lower case and without separators.
var secretWords = []string{
	"token", "secret", "password", "passwd", "passphrase", "apikey", "accesskey", "privatekey", "secretkey",
	"credential", "credentials", "authorization", "assertion", "codeverifier",
}

// isSecretName reports whether something with that name is a secret, however
// the words are joined: API_KEY, apiKey, --api-key, X-Api-Key.
func isSecretName(name string) bool {
	n := strings.ToLower(strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r == '.' {
			return -1
		}
		return r
	}, name))
	for _, w := range secretWords {
		if strings.HasSuffix(n, w) {
			return n != "progresstoken" && n != "pagetoken" && n != "nextpagetoken"
		}
	}
	return false
}

func isSecretFlag(arg string) bool {
	return strings.HasPrefix(arg, "-") && !strings.Contains(arg, "=") && isSecretName(arg)
}

// isSecretParam reports whether a query parameter, form field or member of a
// body that is no JSON-RPC message is a secret. "code" is the authorization
// code of RFC 6749 section 4.1.2 there.
func isSecretParam(name string) bool {
	switch strings.ToLower(name) {
	case "code", "key", "sig", "signature", "device_code", "user_code", "request_uri":
		return true
	}
	return isSecretName(name)
}

// isSecretMember reports whether a string member of a JSON-RPC message is a
// secret beyond doubt.
func isSecretMember(name string) bool {
	switch name {
	case "access_token", "refresh_token", "id_token", "client_secret", "code_verifier", "client_assertion", "password", "api_key",
		"accessToken", "refreshToken", "idToken", "clientSecret", "codeVerifier", "clientAssertion", "apiKey":
		return true
	}
	return false
}

func (m *masker) url(u string) string {
	if from := strings.Index(u, "://"); from >= 0 {
		from += 3
		authority := u[from:]
		if i := strings.IndexAny(authority, "/?#"); i >= 0 {
			authority = authority[:i]
		}
		if at := strings.LastIndexByte(authority, '@'); at >= 0 && authority[:at] != Stars {
			m.note("url userinfo")
			u = u[:from] + Stars + u[from+at:]
		}
	}
	if i := strings.IndexAny(u, "?#"); i >= 0 {
		return u[:i+1] + m.params(u[i+1:], "url ")
	}
	return u
}

// params masks the values of name=value pairs joined by &; a query may be
// followed by a fragment of the same form.
func (m *masker) params(s, where string) string {
	var b strings.Builder
	for len(s) > 0 {
		end := strings.IndexAny(s, "&#")
		if end < 0 {
			end = len(s)
		}
		pair := s[:end]
		name, value, ok := strings.Cut(pair, "=")
		if ok && value != "" && value != Stars && isSecretParam(unescape(name)) {
			m.note(where + name)
			pair = name + "=" + Stars
		}
		b.WriteString(pair)
		if end < len(s) {
			b.WriteByte(s[end])
			end++
		}
		s = s[end:]
	}
	return b.String()
}

// unescape decodes %XX in a parameter's name; a broken escape stays as it is.
func unescape(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2]) {
			b.WriteByte(unhex(s[i+1])<<4 | unhex(s[i+2]))
			i += 2
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func isHex(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f' }

func unhex(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return c | 0x20 - 'a' + 10
}

func (m *masker) data(k Kind, b []byte) []byte {
	switch k {
	case KindMessage:
		return m.json(b)
	case KindSSE:
		if PayloadKind(b) == KindMessage {
			return m.json(b)
		}
		return []byte(m.url(string(b))) // an endpoint event: a URI reference
	case KindNoise:
		if form.Match(b) {
			return []byte(m.params(string(b), "body "))
		}
	}
	if !suspicious.Match(b) {
		return b
	}
	return []byte(m.text(string(b), "text"))
}

var form = regexp.MustCompile(`^[^\s=&{}<>"]+=[^\s&{}<>"]*(&[^\s=&{}<>"]+=[^\s&{}<>"]*)*\s*$`)

// json masks string members of b, which is one JSON text.
func (m *masker) json(b []byte) []byte {
	type member struct {
		name string
		val  span
	}
	var suspects []member
	s := newScanner(b)
	s.value(func(_ int, key, val span) {
		if text := b[val.from:val.to]; len(text) == 0 || string(text) == Stars {
			return
		}
		if name := decodeKey(b[key.from:key.to]); isSecretParam(name) {
			suspects = append(suspects, member{name, val})
		}
	})
	if len(suspects) == 0 {
		return b
	}
	careful := isJSONRPC(b)
	var out []byte
	from := 0
	for _, x := range suspects {
		if careful && !isSecretMember(x.name) {
			continue
		}
		m.note("body " + x.name)
		out = append(append(out, b[from:x.val.from]...), Stars...)
		from = x.val.to
	}
	if out == nil {
		return b
	}
	return append(out, b[from:]...)
}

func decodeKey(raw []byte) string {
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw)
	}
	var s string
	if json.Unmarshal(slices.Concat([]byte{'"'}, raw, []byte{'"'}), &s) != nil {
		return string(raw)
	}
	return s
}

// isJSONRPC reports whether b is, or wants to be, a JSON-RPC message or batch,
// by the keys of the outermost object or of the members of the outermost array.
func isJSONRPC(b []byte) bool {
	var jsonrpc, method, outcome, id bool
	s := newScanner(b)
	s.space()
	depth := 1
	if s.peek() == '[' {
		depth = 2
	}
	s.value(func(d int, key, _ span) {
		if d != depth {
			return
		}
		switch decodeKey(b[key.from:key.to]) {
		case "jsonrpc":
			jsonrpc = true
		case "method":
			method = true
		case "result", "error":
			outcome = true
		case "id":
			id = true
		}
	})
	return jsonrpc || method || outcome && id
}

// suspicious finds text in which a secret may stand.
var suspicious = regexp.MustCompile(`(?i)token|secret|passw|passphrase|key|credential|auth|assertion|verifier|code|cookie|bearer|basic |://[^/\s]*@|[?&]sig`)

// The forms in which secrets stand in text. Each has the secret as its last group.
var textForms = []struct {
	what string
	re   *regexp.Regexp
}{
	{"scheme", regexp.MustCompile(`(?i)\b((?:bearer|basic|dpop)\s+)([A-Za-z0-9._~+/=-]{6,})`)},
	{"cookie", regexp.MustCompile(`(?i)\b((?:set-)?cookie\s*:\s*)([^\r\n"']+)`)},
	{"header", regexp.MustCompile(`(?i)\b((?:proxy-)?authorization["']?\s*[:=]\s*["']?(?:(?:bearer|basic|dpop|digest)\s+)?)([^\s"',;]+)`)},
	{"userinfo", regexp.MustCompile(`(://)([^/\s"'?#@]+)@`)},
	{"flag", regexp.MustCompile(`(--?[\w-]*?(?i:token|secret|password|passwd|passphrase|api[-_]?key|access[-_]?key|credentials?|code[-_]verifier|assertion)[ =]+["']?)([^\s"'-][^\s"']*)`)},
	{"assignment", regexp.MustCompile(`(?i)([\w-]*(?:token|secret|password|passwd|passphrase|api[_-]?key|access[_-]?key|code_verifier|client_assertion)\\?["']?\s*[=:]\s*\\?["']?)([^\s"'&,;}\\]+)`)},
	{"parameter", regexp.MustCompile(`(?i)([?&](?:code|key|sig|signature|assertion)=)([^\s"'&#]+)`)},
}

func (m *masker) text(s, where string) string {
	if !suspicious.MatchString(s) {
		return s
	}
	for _, f := range textForms {
		s = replaceLast(f.re, s, func(before, secret string) string {
			if secret == Stars || innocent.MatchString(before) {
				return secret
			}
			m.note(where + " " + f.what)
			return Stars
		})
	}
	return s
}

// innocent finds names that end like those of secrets and are none: MCP's
// progress tokens and the page tokens of lists.
var innocent = regexp.MustCompile(`(?i)(?:progress|page)[-_]?token\\?["']?\s*[=:]\s*\\?["']?$`)

// replaceLast replaces the last group of every match; with gets the rest of the
// match before it, too.
func replaceLast(re *regexp.Regexp, s string, with func(before, last string) string) string {
	group := re.NumSubexp()
	var b strings.Builder
	from := 0
	for _, at := range re.FindAllStringSubmatchIndex(s, -1) {
		b.WriteString(s[from:at[2*group]])
		b.WriteString(with(s[at[0]:at[2*group]], s[at[2*group]:at[2*group+1]]))
		from = at[2*group+1]
	}
	return b.String() + s[from:]
}
