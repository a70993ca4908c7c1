package peer

import (
	"bufio"
	"bytes"
	"io"
	"strconv"
	"strings"
)

// event is one server-sent event as received.
type event struct {
	id    *string
	name  string
	retry int // milliseconds, -1 when absent
	data  []byte
}

// readEvents reads server-sent events until the reader ends. Lines end with LF,
// CR LF or CR; those that begin with a colon are comments (the HTML standard,
// Server-sent events). An event that the end cuts off is dropped, as there.
func readEvents(r io.Reader, take func(event)) {
	lines := eventLines{r: bufio.NewReader(r)}
	e, seen := event{retry: -1}, false
	for {
		l, err := lines.next()
		if err != nil {
			return
		}
		if l != "" {
			seen = e.field(l) || seen
			continue
		}
		if seen {
			e.data = bytes.TrimSuffix(e.data, []byte("\n"))
			take(e)
		}
		e, seen = event{retry: -1}, false
	}
}

// field takes one line and reports whether it was a field that counts.
func (e *event) field(l string) bool {
	name, value, _ := strings.Cut(l, ":")
	value = strings.TrimPrefix(value, " ")
	switch name {
	case "id":
		e.id = &value
	case "event":
		e.name = value
	case "retry":
		n, err := strconv.Atoi(value)
		if err != nil || n < 0 {
			return false
		}
		e.retry = n
	case "data":
		e.data = append(append(e.data, value...), '\n')
	default:
		return false
	}
	return true
}

// eventLines reads lines. After a CR it does not wait for the LF that may
// follow, or the event would be late.
type eventLines struct {
	r       *bufio.Reader
	afterCR bool
}

func (l *eventLines) next() (string, error) {
	var b strings.Builder
	for {
		c, err := l.r.ReadByte()
		if err != nil {
			return "", err
		}
		skip := c == '\n' && l.afterCR
		l.afterCR = c == '\r'
		switch {
		case skip:
		case c == '\n' || c == '\r':
			return b.String(), nil
		default:
			b.WriteByte(c)
		}
	}
}
