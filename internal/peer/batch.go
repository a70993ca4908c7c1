package peer

import (
	"bytes"
	"sync"

	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

// Batches exist in 2025-03-26 only (basic/index Batching): what is received in
// one array may be answered in one.

// batch gathers the answers to the requests of one array; everything else
// passes through at once.
type batch struct {
	to    outlet
	mu    sync.Mutex
	parts [][]byte
}

func (b *batch) put(f frame) {
	if !f.final {
		b.to.put(f)
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.parts = append(b.parts, f.data)
}

// flush sends the gathered answers, if there are any.
func (b *batch) flush() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.parts) > 0 {
		b.to.put(frame{data: append(append([]byte("["), bytes.Join(b.parts, []byte(","))...), ']'), final: true})
	}
}

// takeBatch hands out the members of a batch and calls done when all requests
// among them are answered. It reports whether there was any.
func (ses *session) takeBatch(p packet, out outlet, done func()) {
	b := &batch{to: out}
	var open sync.WaitGroup
	for _, m := range p.batch {
		switch {
		case m.bad != nil:
			b.put(frame{data: encode(failure(m.id, m.bad)), final: true})
		case m.method == "initialize":
			// basic/lifecycle: initialize must not be part of a batch.
			b.put(frame{data: encode(failure(m.id, &rpcError{code: codeInvalidRequest, message: "initialize inside a batch"})), final: true})
		default:
			open.Add(1)
			if !ses.receive(m, b, open.Done) {
				open.Done()
			}
		}
	}
	go func() {
		open.Wait()
		b.flush()
		done()
	}()
}

// batches reports whether the session's revision knows batches.
func (ses *session) batches() bool {
	return ses.revision() == schemas.R20250326 && !ses.srv.broken("batch-refused")
}

func noBatch() *rpcError {
	return &rpcError{code: codeInvalidRequest, message: "an array is no message in this revision"}
}

func (s *Server) lineBatch(ses *session, w *lines, p packet, calls *sync.WaitGroup) {
	e := p.bad
	if !ses.batches() {
		e = noBatch()
	}
	if e != nil {
		for _, f := range s.frames(sent{msg: failure(nil, e), rev: ses.revision(), transport: trace.Stdio}) {
			w.put(f)
		}
		return
	}
	calls.Add(1)
	ses.takeBatch(p, w, calls.Done)
}
