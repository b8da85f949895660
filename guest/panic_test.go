package guest

import (
	"errors"
	"strings"
	"testing"
)

// The text of a panic is in the error of the fiber that it has ended, once, and other fibers go on.
func TestPanic_text_is_in_the_error(t *testing.T) {
	g := load(t, "testdata/panic.wasm", Options{})
	odd, even := call(t, g, "odd", "half", "7"), call(t, g, "even", "half", "8")
	trapped := call(t, g, "other", "trap")
	g.Run()
	even.want(t, "4")
	for c, want := range map[*Call]string{
		odd:     "fiber odd trapped in export half: 7 is odd: wasm error: unreachable",
		trapped: "fiber other trapped in export trap: wasm error: unreachable",
	} {
		if trap := (*TrapError)(nil); !errors.As(c.Err, &trap) || !strings.HasPrefix(c.Err.Error(), want) {
			t.Errorf("%v, want %s", c.Err, want)
		}
	}
}
