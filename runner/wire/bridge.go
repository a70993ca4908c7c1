package wire

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"
)

// The bridge and the listener speak thus: the bridge says who it is in a line,
// the listener lets it in or says why not in another. Then what the client
// writes travels in chunks, each after its length in four bytes, so that the end
// of the bridge's standard input (a chunk of no bytes) and the end of the bridge
// itself can be told apart; what the server writes travels as it is.
const (
	bridgeHello   = "mcp-conform-bridge/1 "
	bridgeWelcome = "ok"
	bridgeChunk   = 64 << 10
)

// handshaking bounds what both ends do before the first byte of a client.
const handshaking = 10 * time.Second

// Bridge is the process that a client under test starts in place of a server:
// it connects to a [StdioListener] and copies bytes both ways, unchanged, until
// the listener ends the connection, stdout breaks, or ctx ends. The end of stdin
// is passed on and does not end the bridge: as with a server, it is for the other
// side to end.
//
// If stdin can be closed Bridge closes it when it returns. A read that is not
// ended by that is left behind.
func Bridge(ctx context.Context, addr, token string, stdin io.Reader, stdout io.Writer) error {
	dialer := net.Dialer{Timeout: handshaking}
	c, err := dialer.DialContext(ctx, "tcp", addr)
	if err != nil {
		return fmt.Errorf("the bridge cannot reach the runner that it was made for: %w", err)
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { c.Close() })()
	if closer, ok := stdin.(io.Closer); ok {
		defer closer.Close()
	}
	in := bufio.NewReader(c)
	if err = introduce(c, in, token); err != nil {
		err = fmt.Errorf("the bridge is not let in: %w", err)
	} else if err = copyBoth(c, in, stdin, stdout); err != nil {
		err = fmt.Errorf("the bridge broke off: %w", err)
	}
	if ctx.Err() != nil {
		return fmt.Errorf("the bridge was stopped: %w", ctx.Err())
	}
	return err
}

// copyBoth copies until the other side ends or something breaks.
func copyBoth(c io.Writer, in io.Reader, stdin io.Reader, stdout io.Writer) error {
	up, down := make(chan error, 1), make(chan error, 1)
	go func() { up <- sendChunks(c, stdin) }()
	go func() {
		_, err := io.Copy(stdout, in)
		down <- err
	}()
	select {
	case err := <-down:
		return err
	case err := <-up:
		if err != nil {
			return err
		}
		return <-down
	}
}

func introduce(c net.Conn, in *bufio.Reader, token string) error {
	if err := c.SetDeadline(time.Now().Add(handshaking)); err != nil {
		return err
	}
	if _, err := io.WriteString(c, bridgeHello+token+"\n"); err != nil {
		return err
	}
	line, err := in.ReadString('\n')
	if err != nil {
		return fmt.Errorf("waiting for the runner: %w", err)
	}
	if line = strings.TrimSpace(line); line != bridgeWelcome {
		return errors.New(line)
	}
	return c.SetDeadline(time.Time{})
}

// sendChunks passes stdin on and then its end. It fails only when stdin does: a
// connection that does not take more is about to end for its reader too, who
// knows in what way.
func sendChunks(c io.Writer, stdin io.Reader) error {
	buf := make([]byte, 4+bridgeChunk)
	for {
		n, err := stdin.Read(buf[4:])
		if n > 0 || err == io.EOF {
			binary.BigEndian.PutUint32(buf, uint32(n))
			if _, werr := c.Write(buf[:4+n]); werr != nil {
				return nil
			}
		}
		if err == io.EOF {
			if n > 0 {
				_, _ = c.Write(make([]byte, 4))
			}
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// chunks reads what sendChunks has written. Its end is io.EOF if the client
// ended its input, and io.ErrUnexpectedEOF or worse if the bridge broke off.
type chunks struct {
	from io.Reader
	left uint32
}

// Read reads from the current chunk, or the next.
func (c *chunks) Read(p []byte) (int, error) {
	if c.left == 0 {
		var size [4]byte
		if _, err := io.ReadFull(c.from, size[:]); err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return 0, err
		}
		if c.left = binary.BigEndian.Uint32(size[:]); c.left == 0 {
			return 0, io.EOF
		}
		if c.left > bridgeChunk {
			return 0, fmt.Errorf("the bridge sends a chunk of %d bytes: is it of another version?", c.left)
		}
	}
	n, err := c.from.Read(p[:min(len(p), int(c.left))])
	c.left -= uint32(n)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}
