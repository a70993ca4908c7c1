package schemas

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
)

const (
	uriUnreserved = "-._~"
	uriSubDelims  = "!$&'()*+,;="
)

// CheckURI checks an absolute URI by the grammar of RFC 3986: a scheme, then
// ASCII only, other bytes percent-encoded. A fragment is allowed.
func CheckURI(s string) error {
	scheme, rest, ok := strings.Cut(s, ":")
	if !ok {
		return errors.New("there is no scheme")
	}
	if !isScheme(scheme) {
		return fmt.Errorf("%q is no scheme", scheme)
	}
	rest, fragment, _ := strings.Cut(rest, "#")
	rest, query, _ := strings.Cut(rest, "?")
	if after, ok := strings.CutPrefix(rest, "//"); ok {
		i := strings.IndexByte(after, '/')
		if i < 0 {
			i = len(after)
		}
		if err := checkAuthority(after[:i]); err != nil {
			return err
		}
		rest = after[i:]
	}
	if err := uriChars(rest, ":@/"); err != nil {
		return err
	}
	if err := uriChars(query, ":@/?"); err != nil {
		return err
	}
	return uriChars(fragment, ":@/?")
}

func isScheme(s string) bool {
	if s == "" || !isLetter(s[0]) {
		return false
	}
	for i := range len(s) {
		if !isAlphanumeric(s[i]) && strings.IndexByte("+-.", s[i]) < 0 {
			return false
		}
	}
	return true
}

// checkAuthority checks [userinfo "@"] host [":" port].
func checkAuthority(s string) error {
	if i := strings.LastIndexByte(s, '@'); i >= 0 {
		if err := uriChars(s[:i], ":"); err != nil {
			return err
		}
		s = s[i+1:]
	}
	host, port := s, ""
	if strings.HasPrefix(s, "[") {
		end := strings.IndexByte(s, ']')
		if end < 0 {
			return errors.New("the IP literal does not end")
		}
		if a, err := netip.ParseAddr(s[1:end]); (err != nil || !a.Is6()) && !strings.HasPrefix(strings.ToLower(s[1:end]), "v") {
			return fmt.Errorf("%q is no IPv6 address", s[1:end])
		}
		host, port = "", s[end+1:]
		if port != "" && port[0] != ':' {
			return fmt.Errorf("%q after the IP literal", port)
		}
		port = strings.TrimPrefix(port, ":")
	} else if i := strings.LastIndexByte(s, ':'); i >= 0 {
		host, port = s[:i], s[i+1:]
	}
	for i := range len(port) {
		if !isDigit(port[i]) {
			return fmt.Errorf("port %q is no number", port)
		}
	}
	return uriChars(host, "")
}

// uriChars checks that s holds only unreserved characters, sub-delimiters,
// percent-encoded bytes and those of extra.
func uriChars(s, extra string) error {
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case isAlphanumeric(c), strings.IndexByte(uriUnreserved, c) >= 0, strings.IndexByte(uriSubDelims, c) >= 0, strings.IndexByte(extra, c) >= 0:
		case c == '%':
			if i+2 >= len(s) || !isHex(s[i+1]) || !isHex(s[i+2]) {
				return errors.New("% must be followed by two hexadecimal digits")
			}
			i += 2
		default:
			return fmt.Errorf("%s must be percent-encoded here", quoteByte(c))
		}
	}
	return nil
}

// checkFileURI is for roots: "This must start with file:// for now" (schema.ts, Root).
func checkFileURI(s string) error {
	if !strings.HasPrefix(strings.ToLower(s), "file://") {
		return errors.New("roots are files for now")
	}
	return nil
}

// checkIconURI is for icons (basic/index, icons): clients reject all other schemes.
func checkIconURI(s string) error {
	scheme, _, _ := strings.Cut(s, ":")
	switch strings.ToLower(scheme) {
	case "https", "http", "data":
		return nil
	}
	return fmt.Errorf("scheme %q", scheme)
}

// CheckURITemplate checks a URI template by the grammar of RFC 6570 section 2.
// Operators that are reserved for extensions pass.
func CheckURITemplate(s string) error {
	for len(s) > 0 {
		i := strings.IndexAny(s, "{}")
		if i < 0 {
			return templateLiteral(s)
		}
		if s[i] == '}' {
			return errors.New("a } without {")
		}
		if err := templateLiteral(s[:i]); err != nil {
			return err
		}
		end := strings.IndexByte(s[i:], '}')
		if end < 0 {
			return errors.New("an expression does not end")
		}
		if err := templateExpression(s[i+1 : i+end]); err != nil {
			return err
		}
		s = s[i+end+1:]
	}
	return nil
}

// templateLiteral checks the text between expressions. The apostrophe, left out
// by a slip of the RFC (erratum 6937), passes; so does anything not ASCII.
func templateLiteral(s string) error {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c <= ' ' || c == 0x7F || strings.IndexByte("\"<>\\^`|", c) >= 0:
			return fmt.Errorf("%s must not stand in a literal", quoteByte(c))
		case c == '%':
			if i+2 >= len(s) || !isHex(s[i+1]) || !isHex(s[i+2]) {
				return errors.New("% must be followed by two hexadecimal digits")
			}
			i += 2
		}
	}
	return nil
}

func templateExpression(s string) error {
	if s != "" && strings.IndexByte("+#./;?&=,!@|", s[0]) >= 0 {
		s = s[1:]
	}
	for spec := range strings.SplitSeq(s, ",") {
		name := strings.TrimSuffix(spec, "*")
		if before, length, ok := strings.Cut(spec, ":"); ok {
			name = before
			if length == "" || len(length) > 4 || length[0] == '0' || strings.Trim(length, "0123456789") != "" {
				return fmt.Errorf("prefix length %q is not 1 to 9999", length)
			}
		}
		if err := templateName(name); err != nil {
			return err
		}
	}
	return nil
}

func templateName(s string) error {
	if s == "" {
		return errors.New("an expression without a variable name")
	}
	if s[0] == '.' || s[len(s)-1] == '.' || strings.Contains(s, "..") {
		return fmt.Errorf("variable name %q has a stray dot", s)
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case isAlphanumeric(c) || c == '_' || c == '.':
		case c == '%' && i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2]):
			i += 2
		default:
			return fmt.Errorf("variable name %q: %s is not allowed", s, quoteByte(c))
		}
	}
	return nil
}
