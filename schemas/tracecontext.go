package schemas

import (
	"errors"
	"fmt"
	"strings"
)

// CheckTraceparent checks the traceparent of W3C Trace Context section 3.2.
// Later versions than 00 may have more after the four fields.
func CheckTraceparent(s string) error {
	const length = len("00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01")
	if len(s) < length {
		return fmt.Errorf("%d characters, want %d", len(s), length)
	}
	version, trace, parent := s[:2], s[3:35], s[36:52]
	for _, field := range []string{version, trace, parent, s[53:55]} {
		if strings.Trim(field, "0123456789abcdef") != "" {
			return fmt.Errorf("%q is not lower-case hexadecimal", field)
		}
	}
	switch {
	case s[2] != '-' || s[35] != '-' || s[52] != '-':
		return errors.New("the fields are not separated by -")
	case version == "ff":
		return errors.New("version ff is forbidden")
	case version == "00" && len(s) > length, len(s) > length && s[length] != '-':
		return errors.New("more text after the flags")
	case strings.Trim(trace, "0") == "":
		return errors.New("the trace id is all zeros")
	case strings.Trim(parent, "0") == "":
		return errors.New("the parent id is all zeros")
	}
	return nil
}

// CheckTracestate checks the tracestate of W3C Trace Context section 3.3: up to
// 32 members key=value, separated by commas. Empty members are legal.
func CheckTracestate(s string) error {
	seen := map[string]bool{}
	for member := range strings.SplitSeq(s, ",") {
		if member = strings.Trim(member, " \t"); member == "" {
			continue
		}
		key, value, ok := strings.Cut(member, "=")
		if !ok {
			return fmt.Errorf("%q is not key=value", member)
		}
		if err := tracestateKey(key); err != nil {
			return err
		}
		if err := tracestateValue(value); err != nil {
			return err
		}
		if seen[key] {
			return fmt.Errorf("key %q stands twice", key)
		}
		seen[key] = true
	}
	if len(seen) > 32 {
		return fmt.Errorf("%d members, at most 32 are allowed", len(seen))
	}
	return nil
}

// tracestateKey checks a key: a lower-case letter or digit first, at most 256 characters.
func tracestateKey(key string) error {
	if key == "" || len(key) > 256 {
		return fmt.Errorf("key %q is not 1 to 256 characters long", clip(key))
	}
	for i := range len(key) {
		c := key[i]
		if 'a' <= c && c <= 'z' || isDigit(c) || i > 0 && strings.IndexByte("_-*/@", c) >= 0 {
			continue
		}
		return fmt.Errorf("key %q: %s is not allowed here", clip(key), quoteByte(c))
	}
	if strings.Count(key, "@") > 1 {
		return fmt.Errorf("key %q has more than one @", clip(key))
	}
	return nil
}

func tracestateValue(value string) error {
	if value == "" || len(value) > 256 || value[len(value)-1] == ' ' {
		return fmt.Errorf("value %q: want 1 to 256 characters, no space at the end", clip(value))
	}
	for i := range len(value) {
		if c := value[i]; c < ' ' || c > '~' || c == ',' || c == '=' {
			return fmt.Errorf("value %q: %s is not allowed", clip(value), quoteByte(c))
		}
	}
	return nil
}

// CheckBaggage checks W3C Baggage section 3.3: members key=value with
// properties after semicolons, separated by commas.
func CheckBaggage(s string) error {
	for member := range strings.SplitSeq(s, ",") {
		for i, part := range strings.Split(member, ";") {
			part = strings.Trim(part, " \t")
			key, value, ok := strings.Cut(part, "=")
			if i == 0 && !ok {
				return fmt.Errorf("%q is not key=value", clip(part))
			}
			if err := CheckHeaderName(strings.TrimRight(key, " \t")); err != nil {
				return fmt.Errorf("%q is no key", clip(key))
			}
			if err := baggageValue(strings.TrimLeft(value, " \t")); err != nil {
				return err
			}
		}
	}
	return nil
}

// baggageValue allows printable ASCII without space, quote, comma, semicolon
// and backslash; other bytes are percent-encoded.
func baggageValue(value string) error {
	for i := range len(value) {
		if c := value[i]; c <= ' ' || c > '~' || strings.IndexByte(`",;\`, c) >= 0 {
			return fmt.Errorf("value %q: %s must be percent-encoded", clip(value), quoteByte(c))
		}
	}
	return nil
}
