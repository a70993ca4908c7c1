package conformance

import (
	"mime"
	"net/url"
	"strings"

	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

// Exchange is one HTTP request with all that answers it.
type Exchange struct {
	ID       string
	Request  *trace.Head // nil when the capture does not have it
	Response *trace.Head // nil until seen
	Session  *Session    // nil until known
	Since    int64       // Seq of its first event

	Requests      []*Request // posted in it
	Notifications int        // posted
	Responses     int        // posted
	Garbled       bool       // the body was no message
	Batch         bool       // the body was an array

	Replies  int   // messages from the server
	Answers  int   // of them, responses to the requests posted here
	Noise    int   // bodies or events from the server that are no message
	Bytes    int64 // bytes of the answer, as far as seen
	EventIDs bool  // an event of the answer had an id
	Ended    bool

	step step // its part in authorization, if any
}

// take keeps the heads.
func (x *Exchange) take(e *trace.Event) {
	if x == nil || e.Kind != trace.KindHTTP || e.HTTP == nil {
		return
	}
	head := *e.HTTP
	if e.From == trace.Client {
		x.Request = &head
	} else {
		x.Response = &head
	}
}

// method returns the HTTP method, upper case; "" when not known.
func (x *Exchange) method() string {
	if x == nil || x.Request == nil {
		return ""
	}
	return strings.ToUpper(x.Request.Method)
}

// header returns a request header.
func (x *Exchange) header(name string) (string, bool) {
	if x == nil || x.Request == nil {
		return "", false
	}
	v, ok := x.Request.Get(name)
	return strings.Trim(v, " \t"), ok
}

// status returns the status of the answer, 0 when not seen.
func (x *Exchange) status() int {
	if x == nil || x.Response == nil {
		return 0
	}
	return x.Response.Status
}

// path returns the path of the request.
func (x *Exchange) path() string {
	if x.Request == nil {
		return ""
	}
	u, err := url.Parse(x.Request.URL)
	if err != nil {
		return x.Request.URL
	}
	return u.Path
}

// resumes reports whether the request asks to go on with an earlier stream.
func (x *Exchange) resumes() bool {
	_, ok := x.header("Last-Event-ID")
	return ok
}

// mediaType returns the media type of the answer, lower case, without
// parameters: those change nothing (RFC 9110 section 8.3.1).
func (x *Exchange) mediaType() string {
	if x == nil || x.Response == nil {
		return ""
	}
	v, _ := x.Response.Get("Content-Type")
	t, _, err := mime.ParseMediaType(v)
	if err != nil {
		t, _, _ = strings.Cut(v, ";")
	}
	return strings.ToLower(strings.TrimSpace(t))
}

// gatewayStatus reports whether the status is one that any server or gateway
// gives for reasons of its own: authorization, limits, trouble. Nothing about
// MCP follows from it.
func gatewayStatus(status int) bool {
	return status == 401 || status == 403 || status == 407 || status == 408 || status == 429 || status >= 500
}

// find returns the request with that key that was posted in this exchange.
func (x *Exchange) find(key string) *Request {
	if x == nil {
		return nil
	}
	for _, r := range x.Requests {
		if r.Key == key {
			return r
		}
	}
	return nil
}

// accepts lists the media types of an Accept header, lower case. Order and
// parameters carry no rule.
func accepts(v string) map[string]bool {
	types := map[string]bool{}
	for part := range strings.SplitSeq(v, ",") {
		t, _, _ := strings.Cut(part, ";")
		types[strings.ToLower(strings.TrimSpace(t))] = true
	}
	return types
}

// versionHeader returns the MCP-Protocol-Version header as a revision, "" when
// it is absent or names none.
func (x *Exchange) versionHeader() schemas.Revision {
	v, _ := x.header("MCP-Protocol-Version")
	r, err := schemas.ParseRevision(v)
	if err != nil {
		return ""
	}
	return r
}
