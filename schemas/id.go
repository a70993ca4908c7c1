package schemas

import "encoding/json"

// IDKey returns a string that is equal for ids which are the same by JSON type
// and value, and different for all others, so that it can be the key of a map.
//
// Ids are exact: 1 and "1" differ, 2^53 and 2^53+1 differ, and a string equals
// its escaped spelling. 1 and 1.0 are the same number; [Classify] reports the
// latter as [FloatInteger]. The empty string stands for an absent id.
func IDKey(raw json.RawMessage) string {
	if len(raw) == 0 {
		return ""
	}
	switch c := raw[0]; {
	case c == '"':
		s := scanner{data: raw}
		if v, ok := s.str(); ok && s.pos == len(raw) {
			return "string " + string(v)
		}
	case c == '-' || '0' <= c && c <= '9':
		s := scanner{data: raw}
		if s.number() && s.pos == len(raw) {
			return "number " + parseDecimal(raw).String()
		}
	}
	return "other " + string(raw)
}

// SameID reports whether two ids, as written, are the same by JSON type and value.
func SameID(a, b json.RawMessage) bool { return IDKey(a) == IDKey(b) }
