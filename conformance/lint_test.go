package conformance

import "testing"

func TestCatalogueAndRulesAgree(t *testing.T) {
	c, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range c.Lint() {
		t.Error(err)
	}
}
