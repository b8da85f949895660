package conformance

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// Check runs the whole suite on a substrate: the cases, the matrix, and random scripts, which the reference plays, too,
// each system in turn for the time random. excluded maps the names of subtests that fail on this substrate to the
// reason. An excluded subtest that passes fails, so that the list never excludes too much.
func Check(t *testing.T, s Substrate, excluded map[string]string, seed uint64, random time.Duration) {
	cases, err := Suite()
	if err != nil {
		t.Fatal(err)
	}
	cells, err := Matrix()
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	one := func(name string, play func() error) {
		for n := 2; used[name]; n++ { // as the subtests are numbered that have one name
			name = fmt.Sprintf("%s, %d", name, n)
		}
		used[name] = true
		t.Run(name, func(t *testing.T) {
			switch err, why := play(), excluded[name]; {
			case err != nil && why == "":
				t.Error(err)
			case err == nil && why != "":
				t.Errorf("it passes, and yet it is excluded: %s", why)
			}
		})
	}
	for _, c := range cases {
		one(c.Name(), func() error {
			trace, err := s.Play(c.Script)
			if err != nil {
				return err
			}
			if got := Transcript(c.Script, trace); got != c.Transcript {
				return fmt.Errorf("%s: the transcript is\n%s\nit should be\n%s", c.File, got, c.Transcript)
			}
			return nil
		})
	}
	for _, c := range cells {
		one(c.Name, func() error {
			trace, err := s.Play(c.Script)
			if err != nil {
				return err
			}
			if got := c.Got(trace); got != c.Want {
				return fmt.Errorf("%v, want %v\n%s", got, c.Want, Transcript(c.Script, trace))
			}
			return nil
		})
	}
	for name := range excluded {
		if !used[name] {
			t.Errorf("%q is excluded, but it is not a case of the suite", name)
		}
	}
	for i, system := range Systems {
		t.Run(fmt.Sprintf("random scripts of %s", system), func(t *testing.T) {
			r, n := rand.New(rand.NewPCG(seed, uint64(i))), 0
			for end := time.Now().Add(random / time.Duration(len(Systems))); n == 0 || time.Now().Before(end); n++ {
				if _, err := Duel(s, Random(system, r, 100)); err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
			}
			t.Logf("%d scripts of 100 operations, seed %d", n, seed)
		})
	}
}

// Duel plays a script on a substrate and by the reference. It returns what the reference records, and an error if the
// substrate records anything else.
func Duel(s Substrate, script Script) ([]Outcome, error) {
	want, _ := Reference{}.Play(script)
	got, err := s.Play(script)
	if err != nil {
		return want, fmt.Errorf("%s: %w\n%s", s.Name(), err, Transcript(script, got))
	}
	if !slices.Equal(got, want) {
		return want, fmt.Errorf("%s: %s\nKeep this script in "+
			"testdata/regressions.", s.Name(), difference(script, got, want))
	}
	return want, nil
}

// difference prints two transcripts up to the line where they differ.
func difference(s Script, got, want []Outcome) string {
	n := 0
	for n < min(len(got), len(want)) && got[n] == want[n] {
		n++
	}
	part := func(trace []Outcome) string { return Transcript(s, trace[n:min(n+1, len(trace))]) }
	return fmt.Sprintf("system %s\n%sgot:\n%swant:\n%s", s.System, Transcript(s, want[:n]), part(got), part(want))
}
