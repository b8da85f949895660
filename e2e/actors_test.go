package e2e_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/fiberfill/fiberfill/internal/webserver"
)

// actorsPage serves the files that the actors' page needs in addition to the built ones: the player of the scenarios,
// and the demo's module without its types.
func actorsPage(t *testing.T) func(o *webserver.Options) {
	source, err := os.ReadFile("../web/demo/sleep.ts")
	if err != nil {
		t.Fatal(err)
	}
	js := api.Transform(string(source), api.TransformOptions{Loader: api.LoaderTS})
	if len(js.Errors) > 0 {
		t.Fatal(js.Errors)
	}
	return func(o *webserver.Options) {
		o.Files["/jsglue/"] = os.DirFS("../jsglue")
		o.Files["/demo/"] = fstest.MapFS{"sleep.js": {Data: js.Code}}
	}
}

// Actors on JSPI in a real browser: every scenario ends as on wazero.
func TestActors(t *testing.T) {
	type outcome struct{ Title, Want, Got string }
	check := func(t *testing.T, outcomes []outcome) {
		t.Helper()
		if len(outcomes) < 20 {
			t.Errorf("%d scenarios", len(outcomes))
		}
		for _, o := range outcomes {
			t.Run(o.Title, func(t *testing.T) {
				if o.Got != o.Want {
					t.Errorf("happened, after the commands:\n%s\n\nwant:\n%s", o.Got, o.Want)
				}
			})
		}
	}
	t.Run("Chromium", func(t *testing.T) {
		var got []outcome
		open(t, "actors.html", policy, actorsPage(t)).Eval(t, "actors.scenarios", &got)
		check(t, got)
	})
	inOthers(t, "actors.html", "actors.scenarios", check, policy, actorsPage(t))
}

// The sleep test as the demo page shows it.
func TestActorSleeps(t *testing.T) {
	t.Run("S-SLEEP E-TEST-1", func(t *testing.T) {
		var got []struct {
			Lines []struct {
				At        float64
				Who, What string
			}
			Failures []string
		}
		open(t, "actors.html", policy, actorsPage(t)).Eval(t, "actors.sleep", &got)
		if len(got) != 3 {
			t.Fatalf("%d runs", len(got))
		}
		for i, run := range got {
			heard := ""
			for _, line := range run.Lines {
				if line.Who == "T" {
					heard += fmt.Sprintln(line.What)
				}
			}
			want := "hears \"slept\" from W\npings W\nhears \"\" from W\n"
			if i == 2 {
				want = "hears \"no_fiber\" from W\n"
			}
			if len(run.Failures) > 0 || !strings.Contains(heard, want) {
				t.Errorf("run %d: failures %q; the tester:\n%s", i, run.Failures, heard)
			}
		}
	})
}
