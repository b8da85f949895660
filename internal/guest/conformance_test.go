package guest

import (
	"testing"

	"github.com/fiberfill/fiberfill/polyfill/conformance"
)

func TestSuite(t *testing.T) {
	cases, err := conformance.Suite()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		t.Run(c.Name(), func(t *testing.T) {
			trace, err := substrate{}.Play(c.Script)
			if err != nil {
				t.Fatal(err)
			}
			if got := conformance.Transcript(c.Script, trace); got != c.Transcript {
				t.Errorf("%s: the transcript is\n%s\nit should be\n%s", c.File, got, c.Transcript)
			}
		})
	}
}
