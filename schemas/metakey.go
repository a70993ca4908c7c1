package schemas

import (
	"errors"
	"fmt"
	"strings"
)

// CheckMetaKey checks a key of `_meta` against the grammar [prefix/]name, which
// exists since 2025-06-18 (basic/index, _meta).
func CheckMetaKey(rev Revision, key string) error {
	if rev < R20250618 {
		return nil
	}
	prefix, name, ok := strings.Cut(key, "/")
	if !ok {
		name = key
	} else if err := checkPrefix(prefix); err != nil {
		return err
	}
	return checkMetaName(name)
}

// checkPrefix checks labels separated by dots.
func checkPrefix(prefix string) error {
	for label := range strings.SplitSeq(prefix, ".") {
		if label == "" {
			return errors.New("the prefix has an empty label")
		}
		if !isLetter(label[0]) || !isAlphanumeric(label[len(label)-1]) {
			return fmt.Errorf("label %q must start with a letter and end with a letter or digit", label)
		}
		for i := range len(label) {
			if !isAlphanumeric(label[i]) && label[i] != '-' {
				return fmt.Errorf("label %q: %s is not allowed", label, quoteByte(label[i]))
			}
		}
	}
	return nil
}

func checkMetaName(name string) error {
	if name == "" {
		return nil // "Unless empty"
	}
	if !isAlphanumeric(name[0]) || !isAlphanumeric(name[len(name)-1]) {
		return fmt.Errorf("name %q must start and end with a letter or digit", name)
	}
	for i := range len(name) {
		if !isAlphanumeric(name[i]) && strings.IndexByte("-_.", name[i]) < 0 {
			return fmt.Errorf("name %q: %s is not allowed", name, quoteByte(name[i]))
		}
	}
	return nil
}

// ReservedMetaKey reports whether the prefix of a key belongs to MCP. In
// 2025-06-18 that is a prefix with `modelcontextprotocol` or `mcp` before one
// last label; since 2025-11-25, one with either as its second label.
func ReservedMetaKey(rev Revision, key string) bool {
	prefix, _, ok := strings.Cut(key, "/")
	if !ok || rev < R20250618 {
		return false
	}
	labels := strings.Split(prefix, ".")
	at := 1
	if rev == R20250618 {
		at = len(labels) - 2
	}
	if at < 0 || at >= len(labels) {
		return false
	}
	return labels[at] == "modelcontextprotocol" || labels[at] == "mcp"
}

// CheckExtensionID checks an extension identifier: the grammar of `_meta` keys
// with a prefix that must be there (2026-07-28 basic/versioning).
func CheckExtensionID(id string) error {
	prefix, name, ok := strings.Cut(id, "/")
	if !ok {
		return errors.New("the prefix is missing")
	}
	if err := checkPrefix(prefix); err != nil {
		return err
	}
	return checkMetaName(name)
}
