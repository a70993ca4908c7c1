package peer

import (
	"net/http"

	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

// Fault is one way to break one rule.
type Fault struct {
	Name         string
	Side         trace.Side
	Breaks       string   // one sentence: what the peer does wrong
	Requirements []string // ids of the requirements that it breaks
	// Since, Until and Transports say where it shows; empty means everywhere.
	Since      schemas.Revision
	Until      schemas.Revision
	Transports []trace.Transport

	edit    func(*sent)                // at a message about to leave
	head    func(*head)                // at the head of an HTTP response about to leave
	request func(*http.Request, *sent) // at an HTTP request about to leave
}

// Faults lists all faults.
func Faults() []Fault { return nil }
