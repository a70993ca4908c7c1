package schemas

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Format is a form of strings that JSON Schema cannot describe and that common
// validators do not know or only annotate.
type Format struct {
	Name  string             // as in `format` of a schema, such as "byte"
	Want  string             // for messages, such as "base64 with padding"
	Check func(string) error // nil error: the string has the form
}

// Formats lists the formats that are checked as intended, sorted by name. Some
// depend on the revision.
func Formats(rev Revision) []Format {
	formats := []Format{
		{"baggage", "W3C baggage", CheckBaggage},
		{"byte", "base64 with padding (RFC 4648 section 4)", CheckBase64},
		{"extension-id", "an extension identifier: prefix/name", CheckExtensionID},
		{"file-uri", "a URI that starts with file://", checkFileURI},
		{"header-name", "a header name (RFC 9110 token)", CheckHeaderName},
		{"icon-uri", "an https, http or data URI", checkIconURI},
		{"media-type", "a media type: type/subtype", CheckMediaType},
		{"meta-key", "a _meta key: [prefix/]name", func(s string) error { return CheckMetaKey(rev, s) }},
		{"not-empty", "a string that is not empty", checkNotEmpty},
		{"timestamp", "an ISO 8601 date and time", CheckTimestamp},
		{"traceparent", "a W3C traceparent", CheckTraceparent},
		{"tracestate", "a W3C tracestate", CheckTracestate},
		{"uri", "an absolute URI (RFC 3986)", CheckURI},
		{"uri-template", "a URI template (RFC 6570)", CheckURITemplate},
	}
	return formats
}

// published are the formats of the official schemas. They are annotations there
// and are checked only where an erratum asserts them.
func published() []string { return []string{"byte", "uri", "uri-template"} }

// formats lists the formats that the validator of a file gets.
func (f *file) formats(o Options) []*jsonschema.Format {
	if o.AsPublished {
		// Dialects up to draft-07 check formats unless told otherwise.
		return silentFormats()
	}
	list := silentFormats()
	for _, format := range Formats(f.rev) {
		if f.assert[format.Name] != nil || !slices.Contains(published(), format.Name) {
			list = append(list, format.forValidator())
		}
	}
	return list
}

// silentFormats turns off the formats that the validator brings along: they are
// annotations (JSON Schema 2020-12 Validation section 7.2.1).
func silentFormats() []*jsonschema.Format {
	var list []*jsonschema.Format
	for _, name := range []string{
		"json-pointer", "relative-json-pointer", "uuid", "duration", "period", "ipv4", "ipv6", "hostname", "email",
		"date", "time", "date-time", "uri", "iri", "uri-reference", "iri-reference", "uri-template", "semver",
	} {
		list = append(list, &jsonschema.Format{Name: name, Validate: func(any) error { return nil }})
	}
	return list
}

func (format Format) forValidator() *jsonschema.Format {
	return &jsonschema.Format{Name: format.Name, Validate: func(v any) error {
		s, ok := v.(string)
		if !ok {
			return nil
		}
		err := format.Check(s)
		if err == nil {
			return nil
		}
		return &checkError{format.Name, []fault{{want: format.Want + " (" + err.Error() + ")"}}}
	}}
}

// CheckBase64 checks the standard alphabet with padding (RFC 4648 section 4):
// what `format: byte` means in OpenAPI, from where the schemas have it. The
// empty string is the encoding of no bytes.
func CheckBase64(s string) error {
	if len(s)%4 != 0 {
		return fmt.Errorf("%d characters are no multiple of 4", len(s))
	}
	body := strings.TrimSuffix(strings.TrimSuffix(s, "="), "=")
	for i := range len(body) {
		c := body[i]
		if !isAlphanumeric(c) && c != '+' && c != '/' {
			return fmt.Errorf("%s at character %d is not in the alphabet", quoteByte(c), i+1)
		}
	}
	return nil
}

func isLetter(c byte) bool       { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }
func isDigit(c byte) bool        { return '0' <= c && c <= '9' }
func isAlphanumeric(c byte) bool { return isLetter(c) || isDigit(c) }
func isHex(c byte) bool          { return isDigit(c) || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F' }

// isToken reports whether c may stand in a token of RFC 9110 section 5.6.2.
func isToken(c byte) bool {
	return isAlphanumeric(c) || strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0
}

// CheckHeaderName checks a header name: a token of RFC 9110, as x-mcp-header
// demands (2026-07-28 server/tools).
func CheckHeaderName(s string) error {
	if s == "" {
		return errors.New("it is empty")
	}
	for i := range len(s) {
		if !isToken(s[i]) {
			return fmt.Errorf("%s must not stand in a header name", quoteByte(s[i]))
		}
	}
	return nil
}

// CheckMediaType checks type "/" subtype and parameters (RFC 9110 section 8.3.1).
func CheckMediaType(s string) error {
	kind, rest, ok := strings.Cut(s, "/")
	if !ok {
		return errors.New("there is no /")
	}
	subtype, parameters, more := strings.Cut(rest, ";")
	for _, part := range []string{kind, strings.TrimRight(subtype, " \t")} {
		if err := CheckHeaderName(part); err != nil {
			return fmt.Errorf("%s is no token", strconv.Quote(part))
		}
	}
	for more {
		var one string
		one, parameters, more = cutOutsideQuotes(parameters, ';')
		name, value, has := strings.Cut(strings.Trim(one, " \t"), "=")
		if name == "" && !has {
			continue // an empty parameter is legal
		}
		quoted := len(value) >= 2 && value[0] == '"' && value[len(value)-1] == '"'
		if CheckHeaderName(name) != nil || !has || !quoted && CheckHeaderName(value) != nil {
			return fmt.Errorf("%s is no parameter", strconv.Quote(one))
		}
	}
	return nil
}

// cutOutsideQuotes cuts at the first sep that is not inside a quoted string.
func cutOutsideQuotes(s string, sep byte) (before, after string, found bool) {
	quoted := false
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && quoted:
			i++
		case s[i] == '"':
			quoted = !quoted
		case s[i] == sep && !quoted:
			return s[:i], s[i+1:], true
		}
	}
	return s, "", false
}

func checkNotEmpty(s string) error {
	if s == "" {
		return errors.New("it is empty")
	}
	return nil
}
