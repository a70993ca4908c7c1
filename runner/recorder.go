package runner

import (
	"sync"

	"github.com/mcp-conform/mcp-conform/trace"
)

// recorder numbers the events of all connections, writes them to the trace of
// the run, if one is kept, and hands them to their connection.
type recorder struct {
	mu     sync.Mutex
	seq    int64
	writer *trace.Writer
}

// sink returns the way in for the events of c. Events of one connection arrive
// there in the order of their numbers.
func (r *recorder) sink(c *conn) trace.Sink {
	var order sync.Mutex
	return func(e trace.Event) {
		order.Lock()
		defer order.Unlock()
		r.mu.Lock()
		r.seq++
		e.Seq = r.seq
		if r.writer != nil {
			r.writer.Record(e)
		}
		r.mu.Unlock()
		c.record(e)
	}
}
