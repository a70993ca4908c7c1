package peer_test

import (
	"context"
	"io"
	"net/http/httptest"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gleak"

	"github.com/mcp-conform/mcp-conform/internal/peer"
	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

// within bounds a test that waits; it is far above what any of them takes.
const within = 20 * time.Second

// tourOverPipes lets a client and a server talk over pipes and returns what
// they said and how the client's run ended.
func tourOverPipes(t *testing.T, so peer.Options, co peer.ClientOptions) (*wiretap, error) {
	t.Helper()
	g := NewWithT(t)
	ctx, stop := context.WithTimeout(t.Context(), within)
	defer stop()
	s, err := peer.NewServer(so)
	g.Expect(err).NotTo(HaveOccurred())
	defer s.Close()
	c, err := peer.NewClient(co)
	g.Expect(err).NotTo(HaveOccurred())
	toServer, stdin := io.Pipe()
	fromServer, stdout := io.Pipe()
	tap := &wiretap{}
	serving, quit := context.WithCancel(ctx)
	served := make(chan error, 1)
	go func() {
		served <- s.ServeStdio(serving, tap.reader(trace.Client, toServer), stdout, io.Discard)
		stdout.Close()
	}()
	err = c.RunStdio(ctx, tap.reader(trace.Server, fromServer), stdin)
	stdin.Close()
	quit() // a faulty server may not leave by itself
	fromServer.Close()
	<-served
	return tap, err
}

func tourOverHTTP(t *testing.T, so peer.Options, co peer.ClientOptions) (*wiretap, error) {
	t.Helper()
	g := NewWithT(t)
	ctx, stop := context.WithTimeout(t.Context(), within)
	defer stop()
	s, err := peer.NewServer(so)
	g.Expect(err).NotTo(HaveOccurred())
	tap := &wiretap{}
	hs := httptest.NewServer(tap.handler(s.Handler()))
	defer hs.Close()
	defer s.Close()
	c, err := peer.NewClient(co)
	g.Expect(err).NotTo(HaveOccurred())
	return tap, c.RunHTTP(ctx, hs.URL+"/mcp")
}

// tours are the ways to bring the two together.
func tours() map[trace.Transport]func(*testing.T, peer.Options, peer.ClientOptions) (*wiretap, error) {
	return map[trace.Transport]func(*testing.T, peer.Options, peer.ClientOptions) (*wiretap, error){
		trace.Stdio: tourOverPipes, trace.StreamableHTTP: tourOverHTTP,
	}
}

func TestReferencePeersSpeakEveryRevisionWithoutViolation(t *testing.T) {
	for transport, tour := range tours() {
		for _, rev := range schemas.Revisions() {
			t.Run(string(rev)+" "+string(transport), func(t *testing.T) {
				g := NewWithT(t)
				before := gleak.Goroutines()
				tap, err := tour(t, peer.Options{}, peer.ClientOptions{Revision: rev})
				g.Expect(err).NotTo(HaveOccurred())
				tap.checkForm(t, rev)
				g.Expect(tap.methods(trace.Client)).To(ContainElements(
					"tools/list", "tools/call", "resources/list", "resources/templates/list", "resources/read",
					"prompts/list", "prompts/get"))
				g.Eventually(gleak.Goroutines).ShouldNot(gleak.HaveLeaked(before))
			})
		}
	}
}

func TestEachEraUsesItsOwnMeans(t *testing.T) {
	for transport, tour := range tours() {
		t.Run(string(transport), func(t *testing.T) {
			g := NewWithT(t)
			old, err := tour(t, peer.Options{}, peer.ClientOptions{Revision: schemas.R20251125})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(old.methods(trace.Server)).To(ContainElements(
				"sampling/createMessage", "elicitation/create", "roots/list", "notifications/progress", "notifications/message"))
			g.Expect(old.methods(trace.Client)).To(ContainElements("initialize", "notifications/initialized", "ping", "resources/subscribe"))

			modern, err := tour(t, peer.Options{}, peer.ClientOptions{Revision: schemas.R20260728})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(modern.methods(trace.Client)).To(ContainElements("server/discover", "subscriptions/listen"))
			g.Expect(modern.methods(trace.Client)).NotTo(ContainElement("initialize"))
			g.Expect(modern.methods(trace.Server)).To(ContainElements(
				"notifications/progress", "notifications/subscriptions/acknowledged"))
			g.Expect(modern.methods(trace.Server)).To(HaveEach(HavePrefix("notifications/")), "no requests")
			g.Expect(modern.text(trace.Server)).To(ContainSubstring(`"resultType":"input_required"`))
			g.Expect(modern.text(trace.Server)).To(ContainSubstring("likes test"), "two rounds of input came to an end")
		})
	}
}

func TestClientFindsTheEraOfAServer(t *testing.T) {
	for transport, tour := range tours() {
		for name, c := range map[string]struct {
			spoken []schemas.Revision
			want   string
		}{
			"a server of both eras is spoken to in the newer": {schemas.Revisions(), "server/discover"},
			"a stateless server":                              {[]schemas.Revision{schemas.R20260728}, "server/discover"},
			"a server of the handshake era":                   {schemas.Revisions()[:4], "initialize"},
			"a server of the first revision only":             {schemas.Revisions()[:1], "initialize"},
		} {
			t.Run(name+" over "+string(transport), func(t *testing.T) {
				g := NewWithT(t)
				tap, err := tour(t, peer.Options{Revisions: c.spoken}, peer.ClientOptions{})
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(tap.methods(trace.Client)).To(ContainElements(c.want, "tools/call"))
				if c.want != "initialize" {
					g.Expect(tap.methods(trace.Client)).NotTo(ContainElement("initialize"))
				}
			})
		}
	}
}

func TestClientLeavesAServerItHasNoRevisionInCommonWith(t *testing.T) {
	for transport, tour := range tours() {
		t.Run(string(transport), func(t *testing.T) {
			g := NewWithT(t)
			tap, err := tour(t, peer.Options{Revisions: schemas.Revisions()[:2]}, peer.ClientOptions{Revision: schemas.R20260728})
			g.Expect(err).To(MatchError(ContainSubstring("2026-07-28")))
			g.Expect(tap.methods(trace.Client)).NotTo(ContainElement("tools/list"))
		})
	}
}
