package capture

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"unicode/utf8"

	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

// file is an opened capture whose beginning has been looked at. Reading it
// yields everything, the beginning included.
type file struct {
	io.Reader
	name  string
	start []byte // what was read so far, up to window bytes
	whole bool   // start is the whole file
}

// window is how much of a file is looked at before its format counts as
// unknown: enough for the chatter that a server may print before its first message.
const window = 64 << 10

// look reads the beginning of r: no more than is needed to tell the format, so
// that a capture can be judged while it is being written to a pipe.
func look(name string, r io.Reader) (*file, error) {
	f := &file{name: name}
	buf := make([]byte, window)
	for len(f.start) < window && !f.decided() {
		n, err := r.Read(buf[:window-len(f.start)])
		f.start = append(f.start, buf[:n]...)
		if err == io.EOF {
			f.whole = true
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%s: reading: %w", name, err)
		}
	}
	f.Reader = io.MultiReader(bytes.NewReader(f.start), r)
	return f, nil
}

// decided reports whether the start holds a line that tells the format.
func (f *file) decided() bool {
	return bytes.IndexByte(f.start, '\n') >= 0 && (isTrace(f.start) || isHAR(f.start) || f.firstMessage() != nil)
}

var (
	harStart   = regexp.MustCompile(`^\x{feff}?\s*\{\s*"log"\s*:\s*\{`)
	traceStart = regexp.MustCompile(`^\s*\{[^\n]*"format"\s*:\s*"` + trace.Format + `"`)
)

func isHAR(start []byte) bool   { return harStart.Match(start) }
func isTrace(start []byte) bool { return traceStart.Match(start) }

// firstMessage returns the first complete line of the start that is a JSON-RPC
// message or batch, or nil.
func (f *file) firstMessage() *schemas.Message {
	for l := range bytes.Lines(f.start) {
		if l[len(l)-1] != '\n' && !f.whole {
			return nil
		}
		if trace.PayloadKind(l) != trace.KindMessage {
			continue
		}
		if m := schemas.Classify(bytes.TrimSpace(l)); m.Kind != schemas.Invalid {
			return &m
		}
	}
	return nil
}

// foreign are the first bytes of files that people do hand in, and what to do
// about them.
var foreign = []struct{ magic, what string }{
	{"\x1f\x8b", "compressed by gzip: decompress it first"},
	{"PK\x03\x04", "a zip archive: unpack it first"},
	{"\xff\xfe", "UTF-16 text: convert it to UTF-8 first"},
	{"\xfe\xff", "UTF-16 text: convert it to UTF-8 first"},
	{"\xd4\xc3\xb2\xa1", "a packet capture: export it as HAR with a proxy instead"},
	{"\xa1\xb2\xc3\xd4", "a packet capture: export it as HAR with a proxy instead"},
	{"\x0a\x0d\x0d\x0a", "a packet capture: export it as HAR with a proxy instead"},
}

// mitmFlow is the beginning of a file that mitmdump -w writes.
var mitmFlow = regexp.MustCompile(`^[0-9]+:[0-9]+:[a-z_]+;`)

// sniff tells the format, or says what the file looks like and what is known.
func (f *file) sniff() (Format, error) {
	fail := func(format string, args ...any) (Format, error) {
		return "", fmt.Errorf("%s: %s; known formats: %s", f.name, fmt.Sprintf(format, args...), known)
	}
	switch {
	case len(bytes.TrimSpace(f.start)) == 0 && f.whole:
		return fail("the file is empty")
	case isTrace(f.start):
		return Trace, nil
	case isHAR(f.start):
		return HAR, nil
	}
	for _, x := range foreign {
		if bytes.HasPrefix(f.start, []byte(x.magic)) {
			return fail("the file is %s", x.what)
		}
	}
	if mitmFlow.Match(f.start) {
		return fail("the file is a flow file of mitmproxy: export it with mitmdump -nr FILE --set hardump=OUT.har")
	}
	if f.firstMessage() != nil {
		return Lines, nil
	}
	if at := binaryAt(f.start); at >= 0 {
		return fail("binary data at offset %d", at)
	}
	if bytes.Contains(f.start, []byte(`"jsonrpc"`)) {
		return f.sniffJSONRPC(fail)
	}
	return fail("no message found in the first %d bytes, which begin %.40q", len(f.start), f.start)
}

// sniffJSONRPC is for files that mention jsonrpc and have no message on a line of its own.
func (f *file) sniffJSONRPC(fail func(string, ...any) (Format, error)) (Format, error) {
	first, _, more := bytes.Cut(bytes.TrimLeft(f.start, " \t\r\n"), []byte("\n"))
	switch {
	case !more && !f.whole:
		return Lines, nil // a first line longer than the window
	case f.whole && !more:
		return fail("the file is truncated: its only line is an incomplete message, %.40q", first)
	case len(bytes.TrimSpace(first)) < 3:
		return fail("the messages are spread over several lines: write each on a line of its own, as with jq -c")
	}
	return fail("messages are wrapped in other text or objects, which begin %.60q: extract them, one a line", first)
}

// binaryAt returns the offset of the first byte that no text has, or -1.
func binaryAt(b []byte) int {
	for i := 0; i < len(b); {
		r, size := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && size == 1 && len(b)-i >= utf8.UTFMax || r == 0 {
			return i
		}
		i += size
	}
	return -1
}
