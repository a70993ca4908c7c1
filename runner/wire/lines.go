package wire

import "bytes"

// lines cuts a stream of bytes into lines at LF and at nothing else: a CR
// before it stays visible, because 2024-11-05 to 2026-07-28 basic/transports
// (stdio) delimit messages by newlines and say nothing of CR, and a rule may
// want to see it. A line may be split over many writes, also in the middle of a
// character, and a write may hold many lines.
type lines struct {
	max  int                           // bytes of a line to keep
	emit func(line []byte, over int64) // the line is valid until emit returns; over counts what was not kept

	rest []byte // of a line that has not ended yet
	over int64
}

// Write takes the next bytes. It never fails.
func (l *lines) Write(p []byte) (int, error) {
	n := len(p)
	for {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			l.keep(p)
			return n, nil
		}
		if len(l.rest) == 0 && l.over == 0 && i <= l.max {
			l.emit(p[:i], 0)
		} else {
			l.keep(p[:i])
			l.end()
		}
		p = p[i+1:]
	}
}

// Close reports a last line that has no line end.
func (l *lines) Close() {
	if len(l.rest) > 0 || l.over > 0 {
		l.end()
	}
}

func (l *lines) keep(p []byte) {
	if room := l.max - len(l.rest); len(p) > room {
		l.over += int64(len(p) - room)
		p = p[:room]
	}
	l.rest = append(l.rest, p...)
}

func (l *lines) end() {
	line, over := l.rest, l.over
	l.rest, l.over = l.rest[:0], 0
	if cap(l.rest) > 1<<20 {
		l.rest = nil // do not hold on to the longest line ever seen
	}
	l.emit(line, over)
}
