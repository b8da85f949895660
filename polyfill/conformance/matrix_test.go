package conformance

import "testing"

// Every operation, on an operand in every state, by the substrate and by the reference.
func TestMatrix(t *testing.T) {
	cells, err := Matrix()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cells {
		t.Run(c.Name, func(t *testing.T) {
			for _, s := range []Substrate{Reference{}, Go{}} {
				trace, err := s.Play(c.Script)
				if err != nil {
					t.Fatal(err)
				}
				if got := c.Got(trace); got != c.Want {
					t.Errorf("%s: %v, want %v\n%s", s.Name(), got, c.Want, Transcript(c.Script, trace))
				}
			}
		})
	}
}
