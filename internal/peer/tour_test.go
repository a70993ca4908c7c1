package peer_test

import (
	"bytes"
	"context"
	"io"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gleak"

	"github.com/mcp-conform/mcp-conform/internal/peer"
	"github.com/mcp-conform/mcp-conform/schemas"
)

// within bounds a test that waits; it is far above what any of them takes.
const within = 20 * time.Second

func TestClientAndServerOverPipes(t *testing.T) {
	for _, rev := range append(schemas.Revisions(), "") {
		t.Run("revision "+string(rev), func(t *testing.T) {
			g := NewWithT(t)
			before := gleak.Goroutines()
			ctx, stop := context.WithTimeout(t.Context(), within)
			s, err := peer.NewServer(peer.Options{})
			g.Expect(err).NotTo(HaveOccurred())
			c, err := peer.NewClient(peer.ClientOptions{Revision: rev, Log: os.Stderr})
			g.Expect(err).NotTo(HaveOccurred())
			toServer, stdin := io.Pipe()
			fromServer, stdout := io.Pipe()
			var log bytes.Buffer
			served := make(chan error, 1)
			go func() {
				defer stdout.Close()
				served <- s.ServeStdio(ctx, io.TeeReader(toServer, &log), io.MultiWriter(stdout, &log), io.Discard)
			}()
			g.Expect(c.RunStdio(ctx, fromServer, stdin)).To(Succeed())
			g.Expect(<-served).To(Succeed())
			stop()
			s.Close()
			g.Eventually(gleak.Goroutines).ShouldNot(gleak.HaveLeaked(before))
		})
	}
}

func TestClientAndServerOverHTTP(t *testing.T) {
	for _, rev := range append(schemas.Revisions(), "") {
		t.Run("revision "+string(rev), func(t *testing.T) {
			g := NewWithT(t)
			before := gleak.Goroutines()
			ctx, stop := context.WithTimeout(t.Context(), within)
			s, err := peer.NewServer(peer.Options{})
			g.Expect(err).NotTo(HaveOccurred())
			hs := httptest.NewServer(s.Handler())
			c, err := peer.NewClient(peer.ClientOptions{Revision: rev, Log: os.Stderr})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(c.RunHTTP(ctx, hs.URL+"/mcp")).To(Succeed())
			stop()
			s.Close()
			hs.Close()
			g.Eventually(gleak.Goroutines).ShouldNot(gleak.HaveLeaked(before))
		})
	}
}
