package sse

import "io"

// Reader yields the items of a stream.
type Reader struct {
	src   io.Reader
	dec   *Decoder
	items []Item
	buf   []byte
	err   error
}

// NewReader returns a reader of src with the default limit.
func NewReader(src io.Reader) *Reader { return NewReaderLimit(src, DefaultLimit) }

// NewReaderLimit returns a reader that keeps at most limit bytes of an event's data.
func NewReaderLimit(src io.Reader, limit int) *Reader {
	r := &Reader{src: src, buf: make([]byte, 32<<10)}
	r.dec = NewDecoder(limit, func(it Item) { r.items = append(r.items, it) })
	return r
}

// Next returns the next item as soon as it is complete. At the end of the
// stream it returns an item that was cut off, if there is one, and then the
// error of the source: io.EOF, or what broke the stream.
func (r *Reader) Next() (Item, error) {
	for len(r.items) == 0 {
		if r.err != nil {
			return Item{}, r.err
		}
		n, err := r.src.Read(r.buf)
		r.dec.Write(r.buf[:n])
		if err != nil {
			r.err = err
			r.dec.Close()
		}
	}
	it := r.items[0]
	r.items = r.items[1:]
	return it, nil
}

// LastID returns the last event ID of the items read from the source so far,
// as a client would send it in Last-Event-ID.
func (r *Reader) LastID() string { return r.dec.LastID() }
