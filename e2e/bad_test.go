package e2e_test

import "testing"

// Bad input gets a clear error, and nothing is lost. After each case of testdata/pages/bad.js a fiber that waited
// during the case gets its answer, another good call succeeds, no fiber is left, and nothing has escaped.
func TestBadInput(t *testing.T) {
	const page = "bad.html"
	tab := open(t, page)
	var names []string
	tab.Eval(t, "bad.names", &names)
	for _, name := range names {
		ok := t.Run(name, func(t *testing.T) {
			tab.Eval(t, "bad.run", nil, name)
			for _, text := range tab.Escaped(t) {
				t.Errorf("escaped in the page: %s", text)
			}
		})
		if !ok {
			tab = open(t, page) // a failed case must not affect the next one
		}
	}
}
