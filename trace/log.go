package trace

import "sync"

// Log numbers events and hands each to several sinks, all in the same order.
// Its Record method is the [Sink] to give to wires and proxies. It is safe for
// concurrent use; the zero Log is ready.
//
//	log := trace.NewLog(judge.Record, writer.Record)
//	wire.Open(ctx, target, log.Record)
type Log struct {
	mu    sync.Mutex
	seq   int64
	sinks []Sink
}

// NewLog returns a log with these sinks. They are called one at a time, so
// they need no lock of their own on its account, and must not call the log.
func NewLog(sinks ...Sink) *Log { return &Log{sinks: sinks} }

// Record gives e its Seq and hands it on.
func (l *Log) Record(e Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seq++
	e.Seq = l.seq
	for _, s := range l.sinks {
		s(e)
	}
}

// Len returns how many events were recorded.
func (l *Log) Len() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.seq
}
