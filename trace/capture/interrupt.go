package capture

import (
	"errors"
	"io"
	"io/fs"
	"os"
)

// ErrInterrupted says that reading was ended from outside.
var ErrInterrupted = errors.New("interrupted while waiting for more")

// Interruptible returns a reader whose Read returns [ErrInterrupted] as soon as
// done is closed, also while r waits for a writer who may never write: a pipe, a
// terminal. The goroutine that waits in r stays until r returns, so this is for
// programs that end then.
func Interruptible(r io.Reader, done <-chan struct{}) io.Reader {
	if done == nil {
		return r
	}
	return &interruptible{r: r, done: done, got: make(chan chunk, 1), buf: make([]byte, 64<<10)}
}

type interruptible struct {
	r    io.Reader
	done <-chan struct{}
	got  chan chunk
	buf  []byte // the waiting goroutine's; the caller's slice is only lent for a call
	over bool   // interrupted: a goroutine may still own buf
}

type chunk struct {
	n   int
	err error
}

func (i *interruptible) Read(p []byte) (int, error) {
	if i.over {
		return 0, ErrInterrupted
	}
	into := i.buf[:min(len(p), len(i.buf))]
	go func() {
		n, err := i.r.Read(into)
		i.got <- chunk{n, err}
	}()
	select {
	case c := <-i.got:
		return copy(p, into[:c.n]), c.err
	case <-i.done:
		i.over = true
		return 0, ErrInterrupted
	}
}

// open opens a capture. A named pipe is not open before somebody writes to it.
func (o Options) open(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil || info.Mode()&fs.ModeNamedPipe == 0 || o.Done == nil {
		return os.Open(path)
	}
	type opened struct {
		f   *os.File
		err error
	}
	got := make(chan opened, 1)
	go func() {
		f, err := os.Open(path)
		got <- opened{f, err}
	}()
	select {
	case x := <-got:
		return x.f, x.err
	case <-o.Done:
		return nil, &fs.PathError{Op: "open", Path: path, Err: ErrInterrupted}
	}
}
