package peer_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/mcp-conform/mcp-conform/internal/peer"
	"github.com/mcp-conform/mcp-conform/schemas"
	"github.com/mcp-conform/mcp-conform/trace"
)

// provokedBy names the fault of the server without which a fault of the client
// has no occasion to show.
func provokedBy(fault string) []string {
	switch fault {
	case "ping-unanswered", "ping-not-empty":
		return []string{"reused-id"} // it pings
	case "unknown-method-code", "error-without-message":
		return []string{"later-method-used"} // it asks for what the client does not know
	case "unknown-version-accepted":
		return []string{"unknown-version-offered"}
	case "result-type-needed":
		return []string{"no-result-type"}
	case "any-result-type":
		return []string{"unknown-result-type"}
	case "capabilities-ignored":
		return []string{"prompts-undeclared"}
	case "roots-undeclared", "sampling-undeclared", "elicitation-undeclared":
		return []string{"undeclared-capability-used"}
	}
	return nil
}

// clientText is all that shows of a client: what it said and its HTTP requests.
// What runs in parallel is sorted.
func clientText(tap *wiretap) string {
	lines := strings.Split(tap.text(trace.Client), "\n")
	for _, h := range tap.heads {
		lines = append(lines, h.method+" accept "+h.request.Get("Accept")+" version "+h.request.Get("MCP-Protocol-Version")+
			" method "+h.request.Get("Mcp-Method")+" name "+h.request.Get("Mcp-Name")+
			" region "+h.request.Get("Mcp-Param-Region")+" last "+h.request.Get("Last-Event-Id")+" session "+changing.ReplaceAllString(h.request.Get("Mcp-Session-Id"), "ID"))
	}
	slices.Sort(lines)
	return changing.ReplaceAllString(strings.Join(lines, "\n"), "ID")
}

func TestEveryClientFaultShows(t *testing.T) {
	// See the tests below; the last one shows in nothing but time.
	elsewhere := []string{"stdin-left-open", "session-not-renewed", "retry-ignored"}
	for _, f := range peer.Faults() {
		if f.Side != trace.Client || slices.Contains(elsewhere, f.Name) {
			continue
		}
		for transport, tour := range tours() {
			rev, ok := newest(f, transport)
			if !ok {
				continue
			}
			t.Run(f.Name+" over "+string(transport), func(t *testing.T) {
				t.Parallel()
				g := NewWithT(t)
				if slices.Contains(provokedBy(f.Name), "later-method-used") {
					rev = schemas.R20250326
				}
				so := peer.Options{Faults: provokedBy(f.Name), Patience: silence}
				good, _ := tour(t, so, peer.ClientOptions{Revision: rev, Patience: 2 * silence})
				bad, _ := tour(t, so, peer.ClientOptions{Revision: rev, Patience: 2 * silence, Faults: []string{f.Name}})
				g.Expect(clientText(bad) == clientText(good)).To(BeFalse(), "the fault changes nothing in %s", rev)
			})
		}
	}
}

func TestGoodClientSaysTheSameAgain(t *testing.T) {
	for transport, tour := range tours() {
		for _, rev := range schemas.Revisions() {
			t.Run(string(rev)+" over "+string(transport), func(t *testing.T) {
				g := NewWithT(t)
				one, err := tour(t, peer.Options{}, peer.ClientOptions{Revision: rev})
				g.Expect(err).NotTo(HaveOccurred())
				two, err := tour(t, peer.Options{}, peer.ClientOptions{Revision: rev})
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(clientText(two)).To(Equal(clientText(one)))
			})
		}
	}
}

// closing notes whether a writer was closed.
type closing struct {
	io.WriteCloser
	closed bool
}

func (c *closing) Close() error {
	c.closed = true
	return c.WriteCloser.Close()
}

func TestClientClosesStdinFirstUnlessFaulty(t *testing.T) {
	for _, faults := range [][]string{nil, {"stdin-left-open"}} {
		g := NewWithT(t)
		s, err := peer.NewServer(peer.Options{})
		g.Expect(err).NotTo(HaveOccurred())
		c, err := peer.NewClient(peer.ClientOptions{Faults: faults})
		g.Expect(err).NotTo(HaveOccurred())
		ctx, stop := context.WithTimeout(t.Context(), within)
		in, w := io.Pipe()
		r, out := io.Pipe()
		stdin := &closing{WriteCloser: w}
		served := make(chan error, 1)
		go func() {
			served <- s.ServeStdio(ctx, in, out, nil)
			out.Close()
		}()
		g.Expect(c.RunStdio(ctx, r, stdin)).To(Succeed())
		g.Expect(stdin.closed).To(Equal(faults == nil))
		w.Close()
		g.Expect(<-served).To(Succeed())
		stop()
		s.Close()
	}
}

func TestClientRenewsASessionThatTheServerHasEnded(t *testing.T) {
	for _, faults := range [][]string{nil, {"session-not-renewed"}} {
		g := NewWithT(t)
		s, err := peer.NewServer(peer.Options{})
		g.Expect(err).NotTo(HaveOccurred())
		h := s.Handler()
		tap := &wiretap{}
		var once sync.Once
		hs := httptest.NewServer(tap.handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			gone := false
			if r.Header.Get("Mcp-Session-Id") != "" && r.Method == http.MethodPost && len(tap.methods(trace.Client)) > 2 {
				once.Do(func() { gone = true })
			}
			if gone {
				w.WriteHeader(http.StatusNotFound)
				return
			}
			h.ServeHTTP(w, r)
		})))
		c, err := peer.NewClient(peer.ClientOptions{Faults: faults, Revision: schemas.R20251125})
		g.Expect(err).NotTo(HaveOccurred())
		err = c.RunHTTP(t.Context(), hs.URL)
		opened := strings.Count(tap.text(trace.Client), `"method":"initialize"`)
		if faults == nil {
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(opened).To(Equal(2))
		} else {
			g.Expect(err).To(MatchError(ContainSubstring("session is gone")))
			g.Expect(opened).To(Equal(1))
		}
		s.Close()
		hs.Close()
	}
}
