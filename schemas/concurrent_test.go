package schemas

import (
	"sync"
	"testing"
)

// TestSetIsSafeForConcurrentUse: many goroutines ask one fresh Set for the same
// and for different things; the race detector watches.
func TestSetIsSafeForConcurrentUse(t *testing.T) {
	s := load(t, Options{})
	request := Classify([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`))
	answer := Classify([]byte(`{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","ttlMs":0,"cacheScope":"public","tools":[{"name":"a","inputSchema":{"type":"object","properties":{"n":{"type":"integer"}}}}]}}`))
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			for i := range 20 {
				rev := Revisions()[(worker+i)%5]
				for _, vs := range [][]Violation{s.ValidateMessage(rev, &request, nil), s.ValidateMessage(rev, &answer, &request)} {
					if len(vs) > 0 {
						t.Errorf("%s: %v", rev, vs)
					}
				}
				tool, vs := s.ToolSchema(rev, Input, []byte(`{"type":"object","properties":{"n":{"type":"integer"}}}`))
				if bad := tool.Validate([]byte(`{"n":"x"}`)); len(vs) > 0 || len(bad) != 1 {
					t.Errorf("%s: %v %v", rev, vs, bad)
				}
				s.Definitions(Tasks)
				if _, err := s.Validate(Tasks, "GetTaskResult", []byte(`{}`)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}
