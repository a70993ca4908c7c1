package peer

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"strings"
)

// A sealed token travels through the client and comes back: a cursor or the
// state of a multi round-trip request. Both are opaque to the client and input
// of an attacker to the server, so they carry a MAC and name what they are for
// (2026-07-28 basic/patterns/mrtr, server/utilities/pagination).

// seal packs v for one purpose, such as "cursor tools/list".
func (s *Server) seal(purpose string, v any) string {
	body := base64.RawURLEncoding.EncodeToString(encode(v))
	return body + "." + s.mac(purpose, body)
}

// open unpacks a token into v, if it was sealed for that purpose and not changed.
func (s *Server) open(purpose, token string, v any) bool {
	body, mac, _ := strings.Cut(token, ".")
	if !hmac.Equal([]byte(mac), []byte(s.mac(purpose, body))) {
		return false
	}
	data, err := base64.RawURLEncoding.DecodeString(body)
	return err == nil && json.Unmarshal(data, v) == nil
}

func (s *Server) mac(purpose, body string) string {
	h := hmac.New(sha256.New, s.opts.Key)
	h.Write([]byte(purpose + "\n" + body))
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:16])
}
