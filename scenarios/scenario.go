// Package scenarios holds what to say to a peer: scripted conversations in YAML,
// one file each, with their loader, linter and selection.
//
// A scenario is written from the harness's chair, so that the same engine
// (package runner) drives servers and clients under test. It makes an
// interesting trace happen and checks what only its author can know; all else
// is left to the rules of package conformance, which watch every trace.
//
// The four verbs are send, expect, absent and do. There is no Go escape hatch:
// when a verb is missing, a verb is added.
package scenarios

import (
	"encoding/json"
	"time"

	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

// Scenario is one scripted conversation.
type Scenario struct {
	ID         string // from its path: tools/call-sampling.yaml is tools.call-sampling
	File       string
	Title      string
	Target     trace.Side       // the side under test
	Since      schemas.Revision // inclusive, "" means the first
	Until      schemas.Revision // exclusive, "" means no end
	Transports []trace.Transport
	Needs      Needs
	Fresh      bool // may harm its connection, so it gets one of its own
	Steps      []Step
}

// Area is the first part of the id: the folder.
func (s *Scenario) Area() string {
	for i := range len(s.ID) {
		if s.ID[i] == '.' {
			return s.ID[:i]
		}
	}
	return s.ID
}

// Needs is what a target must have for the scenario to make sense; without it
// the scenario is not applicable, never failed.
type Needs struct {
	Server   string // dotted path into the server's capabilities
	Client   string // dotted path into the client's capabilities
	Tool     string // fixture names, mapped by the profile
	Prompt   string
	Resource string
}

// Step is one step; exactly one of Use, Send, Expect, Absent and Do is set.
type Step struct {
	Line    int
	Use     *Use
	Send    *Send
	Expect  *Pattern
	Absent  *Pattern
	Do      string
	Signal  string // with do: signal
	Req     string // the step itself is the check of this requirement
	Checks  []Check
	Capture map[string]string // name: JSON Pointer into the event
}

// Use opens the conversation in the manner of the revision: a handshake, or
// nothing but the metadata that later requests will carry.
type Use struct {
	What         string // "open"
	Capabilities json.RawMessage
	Revision     string // propose this instead of the run's revision
}

// Send is something that the harness says.
type Send struct {
	Call   string
	Notify string
	Reply  string // label of a request that the peer sent
	Raw    *Raw
	As     string // label
	ID     json.RawMessage
	Params json.RawMessage
	Result json.RawMessage
	Error  json.RawMessage
	HTTP   *SendHTTP
	Bare   bool // do not dress with session, version, metadata
}

// Raw is bytes to send as they are.
type Raw struct{ Data []byte }

// SendHTTP is what to change in the HTTP request, or to use in the answer when
// the harness is the server.
type SendHTTP struct {
	Method  string
	Headers map[string]*string // nil drops the header
	Status  int
	Stream  *bool
	EventID string
	Retry   int
}

// Pattern matches something that the peer does.
type Pattern struct {
	Reply        string // the answer to the labelled request, result or error
	Request      string // method
	Notification string // method
	HTTP         string // the response head to the labelled send
	Closed       bool
	As           string
	Within       time.Duration // expect: how long to wait; 0 means the default
	After        string        // label that must have been matched before
	For          time.Duration // absent: how long nothing may come
}

// Check is one look into the event that a step matched.
type Check struct {
	Line   int
	Req    string
	At     string          // JSON Pointer; for http patterns into {status, headers, body}
	Is     json.RawMessage // equal as JSON
	Like   json.RawMessage // a JSON Schema
	Exists *bool
}
