package suite

import "testing"

// Test runs the configured cases as subtests of t, named by revision, transport
// and scenario ("2025-11-25/stdio/tools.list"), and "requirements" behind them.
func Test(t *testing.T, c Config) {
	t.Helper()
	p, err := newPlan(c)
	if err == nil {
		err = p.run(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range p.cases {
		t.Run(c.String(), func(t *testing.T) { p.tell(c).to(t) })
	}
	t.Run(requirements, func(t *testing.T) { p.requirements().to(t) })
}

// requirements is the name of the case behind all others.
const requirements = "requirements"

func (x told) to(t *testing.T) {
	t.Helper()
	if x.note != "" {
		t.Log("\n" + x.note)
	}
	switch {
	case x.fail != "":
		t.Fatal("\n" + x.fail)
	case x.skip != "":
		t.Skip(x.skip)
	}
}
