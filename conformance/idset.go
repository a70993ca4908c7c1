package conformance

import (
	"slices"
	"strconv"
	"strings"

	"github.com/mcp-conform/mcp-conform/schemas"
)

// remembered bounds how many ids of other than integer form, answered requests
// and the like a session remembers. What is forgotten can no longer be reported:
// a fault is then missed, never invented.
const remembered = 1 << 16

// idSet holds the ids that one sender has used in one session. Clients count
// upwards, so integers are kept as intervals and take no room; others are kept
// up to a bound, the oldest forgotten first.
type idSet struct {
	spans  []span // sorted, apart from each other
	others map[string]struct{}
	queue  []string
}

type span struct{ first, last int64 }

// add puts an id key (see schemas.IDKey) in and reports whether it was new.
func (s *idSet) add(key string) bool {
	if n, ok := integerKey(key); ok {
		return s.addInteger(n)
	}
	if _, ok := s.others[key]; ok {
		return false
	}
	if s.others == nil {
		s.others = map[string]struct{}{}
	}
	s.others[key] = struct{}{}
	s.queue = append(s.queue, key)
	if len(s.queue) > remembered {
		delete(s.others, s.queue[0])
		s.queue = s.queue[1:]
	}
	return true
}

// has reports whether the id was used.
func (s *idSet) has(key string) bool {
	if n, ok := integerKey(key); ok {
		_, found := s.find(n)
		return found
	}
	_, ok := s.others[key]
	return ok
}

func (s *idSet) find(n int64) (int, bool) {
	return slices.BinarySearchFunc(s.spans, n, func(p span, n int64) int {
		switch {
		case p.last < n:
			return -1
		case p.first > n:
			return 1
		}
		return 0
	})
}

func (s *idSet) addInteger(n int64) bool {
	i, found := s.find(n)
	if found {
		return false
	}
	joinsLeft := i > 0 && s.spans[i-1].last == n-1
	joinsRight := i < len(s.spans) && s.spans[i].first == n+1
	switch {
	case joinsLeft && joinsRight:
		s.spans[i-1].last = s.spans[i].last
		s.spans = slices.Delete(s.spans, i, i+1)
	case joinsLeft:
		s.spans[i-1].last = n
	case joinsRight:
		s.spans[i].first = n
	default:
		s.spans = slices.Insert(s.spans, i, span{n, n})
		if len(s.spans) > remembered { // random integers: forget the least
			s.spans = slices.Delete(s.spans, 0, 1)
		}
	}
	return true
}

// integerKey reads the integer out of a key made by schemas.IDKey, which writes
// numbers as digits and exponent: "number 12e1" is 120.
func integerKey(key string) (int64, bool) {
	text, ok := strings.CutPrefix(key, "number ")
	if !ok {
		return 0, false
	}
	digits, exponent, _ := strings.Cut(text, "e")
	zeros := 0
	if exponent != "" {
		var err error
		if zeros, err = strconv.Atoi(exponent); err != nil || zeros < 0 || zeros > 18 {
			return 0, false
		}
	}
	n, err := strconv.ParseInt(digits+strings.Repeat("0", zeros), 10, 64)
	// The ends are left out so that n-1 and n+1 exist.
	return n, err == nil && n > -1<<62 && n < 1<<62
}

// otherType returns the key of the id that reads the same but has the other
// JSON type, number for string and string for number; "" if there is none.
func otherType(key string) string {
	if n, ok := integerKey(key); ok {
		return "string " + strconv.FormatInt(n, 10)
	}
	if text, ok := strings.CutPrefix(key, "string "); ok {
		if other := schemas.IDKey([]byte(text)); strings.HasPrefix(other, "number ") {
			return other
		}
	}
	return ""
}
