package conformance

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/fiberfill/fiberfill/internal/leaktest"
)

var update = flag.Bool("update", false, "write the transcripts of the reference into testdata; inspect the difference")

// Every case gives the same transcript in the rules, in the plain code of the reference, and on the Go substrate.
func TestSuite(t *testing.T) {
	cases, err := Suite()
	if err != nil {
		t.Fatal(err)
	}
	if len(cases) < 100 {
		t.Fatalf("only %d cases were found", len(cases))
	}
	for _, c := range cases {
		t.Run(c.Name(), func(t *testing.T) {
			leaktest.Goroutines(t)
			if *update {
				c.Transcript = rewritten(t, c)
			}
			for _, s := range []Substrate{Reference{}, Go{}} {
				trace, err := s.Play(c.Script)
				if err != nil {
					t.Errorf("%s: %v", s.Name(), err)
				}
				if got := Transcript(c.Script, trace); got != c.Transcript {
					t.Errorf("%s, %s: the transcript is\n%s\nit should be\n%s", c.File, s.Name(), got, c.Transcript)
				}
			}
		})
	}
}

// rewritten puts the reference's transcript into the file of a case, and returns it.
func rewritten(t *testing.T, c Case) string {
	t.Helper()
	trace, err := Reference{}.Play(c.Script)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(c.File)
	if err != nil {
		t.Fatal(err)
	}
	got := Transcript(c.Script, trace)
	edited := strings.Replace(string(text), c.Title+"\n"+c.Transcript, c.Title+"\n"+got, 1)
	if err := os.WriteFile(c.File, []byte(edited), 0o644); err != nil {
		t.Fatal(err)
	}
	return got
}

// A script that is written as text and read again is the same.
func TestTextRoundTrip(t *testing.T) {
	for _, s := range Systems {
		for i := range uint64(2000) {
			script := FromBytes(s, randomBytes(i, 8))
			for _, op := range script.Ops {
				text := op.Text(s)
				again, err := parseOp(s, strings.Fields(text))
				if err != nil {
					t.Fatalf("%q: %v", text, err)
				}
				if got := again.Text(s); got != text {
					t.Fatalf("%q is read as %q", text, got)
				}
			}
		}
	}
}
