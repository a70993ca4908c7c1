package process_test

import (
	"strconv"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

// A program that moved to a session of its own, as browsers do that a server
// starts, is ended as well, though it is deaf to SIGTERM and holds the pipes.
func TestWhoLeftTheGroupIsEnded(t *testing.T) {
	g := NewWithT(t)
	p := sh(t, `setsid sh -c 'trap "" TERM; echo $$; while :; do sleep 1; done' & cat >/dev/null`)
	stray, err := strconv.Atoi(ready(t, p))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(living(stray)).To(BeTrue())
	p.End(t.Context(), 300*time.Millisecond)
	g.Eventually(living, patience).WithArguments(stray).Should(BeFalse())
}
