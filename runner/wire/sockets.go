package wire

import (
	"context"
	"net"
	"sync"
	"time"
)

// sockets are the connections of an HTTP client, so that none outlives the
// wire: net/http closes them in its own time.
type sockets struct {
	dialer net.Dialer
	ctx    context.Context
	stop   context.CancelFunc
	wg     sync.WaitGroup // dials

	mu     sync.Mutex
	closed bool
	open   map[*socket]bool
}

type socket struct {
	net.Conn
	of *sockets
}

func newSockets() *sockets {
	s := &sockets{dialer: net.Dialer{Timeout: 10 * time.Second}, open: map[*socket]bool{}}
	s.ctx, s.stop = context.WithCancel(context.Background())
	return s
}

func (s *sockets) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil, net.ErrClosed
	}
	s.wg.Add(1)
	s.mu.Unlock()
	defer s.wg.Done()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()
	c, err := s.dialer.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	k := &socket{Conn: c, of: s}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		c.Close()
		return nil, net.ErrClosed
	}
	s.open[k] = true
	return k, nil
}

// Close closes the connection and forgets it.
func (k *socket) Close() error {
	k.of.mu.Lock()
	delete(k.of.open, k)
	k.of.mu.Unlock()
	return k.Conn.Close()
}

// close closes what is open, prevents more, and waits for dials to give up.
func (s *sockets) close() {
	s.mu.Lock()
	s.closed = true
	left := s.open
	s.open = map[*socket]bool{}
	s.mu.Unlock()
	s.stop()
	for k := range left {
		k.Conn.Close()
	}
	s.wg.Wait()
}
