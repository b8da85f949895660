package guest

import (
	"strings"
	"testing"

	"github.com/fiberfill/fiberfill/polyfill"
)

// A filter is called as if by the fiber that raises the event, which gets the exceptions that the filter throws.
func TestFilters(t *testing.T) {
	for _, c := range []struct{ filter, results, failure string }{
		{"2", "5", ""}, // throws
		{"5", "1", ""}, // admits
		{"3", "", "the filter of a resume, asked by cont.suspend must not wait"},
		{"4", "", "the filter of a resume, asked by cont.suspend: wasm error: unreachable"},
	} {
		t.Run("D-FILT-3 "+c.filter, func(t *testing.T) {
			g := load(t, "testdata/filters.wasm", Options{})
			one := call(t, g, "one", "answered", c.filter)
			g.Run()
			if one.String() != c.results || (one.Err == nil) != (c.failure == "") || one.Err != nil &&
				!strings.Contains(one.Err.Error(), c.failure) {
				t.Errorf("%q, %v, want %q, %q", one.String(), one.Err, c.results, c.failure)
			}
			emptied(t, g)
		})
	}
	t.Run("K-4 is looked at before a filter is asked", func(t *testing.T) {
		g := load(t, "testdata/filters.wasm", Options{})
		g.memory.WriteUint32Le(1024+typesAt, uint32(polyfill.List(polyfill.I32)))
		one := call(t, g, "one", "answered", "4")
		g.Run()
		if one.Err == nil || !strings.Contains(one.Err.Error(), "cont.suspend refused: wrong number or types of "+
			"values [K-4]") {
			t.Errorf("%q, %v", one.String(), one.Err)
		}
		emptied(t, g)
	})
	for _, c := range []struct{ name, even, trail string }{
		{"D-FWD-4 the filter of a forward chooses among the later events", "0", "1232312"},
		{"D-FILT-3 a filter sees what is forwarded, and not what was raised", "1", "132132132"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := load(t, "testdata/filters.wasm", Options{})
			one := call(t, g, "one", "forwarded", c.even)
			g.Run()
			one.want(t, c.trail)
			emptied(t, g)
		})
	}
}
