// Package scenarios holds what to say to a peer: scripted conversations in YAML,
// one file each, with their loader, linter and selection.
//
// A scenario is written from the harness's chair, so that the same engine
// (package runner) drives servers and clients under test. It makes an
// interesting trace happen and checks what only its author can know; all else
// is left to the rules of package conformance, which watch every trace.
//
//	title: An unknown method is answered with -32601
//	target: server
//	steps:
//	  - use: open
//	  - send: {call: no/such/method, as: call}
//	  - expect: {reply: call}
//	    checks:
//	      - {req: RPC-UNKNOWN-METHOD, at: /error/code, is: -32601}
//
// The verbs are send, expect, absent, walk and do, and use, which opens the
// conversation in the manner of the revision. There is no Go escape hatch: when
// a verb is missing, a verb is added.
//
// YAML is only the syntax, values are JSON values: a plain scalar is null, true,
// false or a JSON number, and else a string, so that an unquoted 2025-11-25 or
// no is the string it looks like. Anchors, aliases, tags and merge keys are errors.
package scenarios

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

// Scenario is one scripted conversation.
type Scenario struct {
	ID         string // from its path: tools/call-sampling.yaml is tools.call-sampling
	File       string
	Title      string
	About      string           // why it is worth saying, for `explain`
	Target     trace.Side       // the side under test
	Since      schemas.Revision // inclusive, "" means the first
	Until      schemas.Revision // exclusive, "" means no end
	Transports []trace.Transport
	Needs      Needs
	Fresh      bool     // may harm its connection, so it gets one of its own
	Breaks     []string // requirements that the harness itself breaks here on purpose
	Steps      []Step
}

// Area is the first part of the id: the folder.
func (s *Scenario) Area() string {
	area, _, _ := strings.Cut(s.ID, ".")
	return area
}

// Runs reports whether the scenario is meant for a revision and a transport.
func (s *Scenario) Runs(r schemas.Revision, t trace.Transport) bool {
	if !r.In(s.Since, s.Until) {
		return false
	}
	for _, x := range s.Transports {
		if x == t {
			return true
		}
	}
	return len(s.Transports) == 0
}

// Requirements lists the ids that the scenario's checks name, in order of
// appearance and each once.
func (s *Scenario) Requirements() []string {
	var ids []string
	seen := map[string]bool{"": true}
	add := func(id string) {
		if !seen[id] {
			seen[id] = true
			ids = append(ids, id)
		}
	}
	for _, st := range s.Steps {
		add(st.Req)
		for _, c := range st.Checks {
			add(c.Req)
		}
	}
	return ids
}

// Needs is what a target must have for the scenario to make sense; without it
// the scenario is not applicable, never failed.
type Needs struct {
	Server   string // dotted path into the server's capabilities
	Client   string // dotted path into the client's capabilities
	Tool     string // a listed tool by name, or Any: then ${tool} is the first listed one
	Prompt   string // likewise, ${prompt}
	Resource string // likewise by URI, ${resource}
	Session  bool   // the server gives session ids (Streamable HTTP)
	Local    bool   // the server is reached over the loopback interface
	Alone    bool   // the server speaks none of the revisions with a handshake
}

// Any in Needs asks for at least one listed item, whatever its name.
const Any = "*"

// Step is one step; exactly one of Use, Send, Expect, Absent, Walk and Do is set.
type Step struct {
	Line    int
	Use     *Use
	Send    *Send
	Expect  *Pattern
	Absent  *Pattern
	Walk    *Walk
	Do      Action
	As      string // with do: label of the HTTP request that the action makes
	Req     string // the step itself is the check of this requirement
	Checks  []Check
	Capture map[string]string // name: JSON Pointer into the event
}

// Action is something to do other than saying something.
type Action string

// The actions of the verb do.
const (
	Listen     Action = "listen"      // open the GET stream
	Drop       Action = "drop"        // cut open streams without a word
	Resume     Action = "resume"      // reopen a dropped stream with Last-Event-ID
	EndSession Action = "end-session" // DELETE
	CloseStdin Action = "close-stdin"
	Signal     Action = "signal" // SIGTERM
	// Ping asks for a sign of life and waits for it: ping, or server/discover in
	// the revision that has no ping.
	Ping Action = "ping"
)

// Actions lists the actions of the verb do.
func Actions() []Action {
	return []Action{Listen, Drop, Resume, EndSession, CloseStdin, Signal, Ping}
}

// Use opens the conversation in the manner of the revision: a handshake, or
// nothing but the metadata that later requests will carry.
type Use struct {
	What         string // "open"
	Capabilities json.RawMessage
	Revision     string // propose this instead of the run's revision
}

// Send is something that the harness says. One of Call, Notify, Reply and Raw is
// set, or HTTP alone: a request without a message, such as DELETE.
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
	Stream  bool
	EventID string
	Retry   int
}

// Pattern matches something that the peer does.
type Pattern struct {
	Reply        string // the answer to the labelled send, result or error
	Request      string // method
	Notification string // method
	HTTP         string // the response head to the labelled send
	Closed       bool
	As           string
	Within       time.Duration // expect: how long to wait; 0 means the default
	After        string        // label that must have been matched before
	Before       string        // expect: label of a request whose answer ends the wait
	For          time.Duration // absent: how long nothing may come
	// Optional, on expect, says that the specification does not demand the event:
	// when it does not come, the step's checks are left untested and the
	// scenario goes on.
	Optional bool
	// Assume, on expect, is a JSON Schema for what was matched. An event that
	// does not fit is a permitted answer on which the rest of the scenario has
	// nothing to say: it ends there, untested.
	Assume json.RawMessage
}

// Walk calls a list method again and again, following nextCursor to the end; the
// step's checks look into each page.
type Walk struct {
	Call   string
	Params json.RawMessage
	As     string // label of the last page
	Within time.Duration
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
