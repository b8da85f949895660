package e2e_test

import (
	"testing"

	"github.com/fiberfill/fiberfill/internal/engines"
	"github.com/fiberfill/fiberfill/internal/webserver"
)

// The guests over the engine's own JSPI, without fiberfill. What works here is the guests' own merit; what goes wrong
// here is why fiberfill exists.

func TestGuestsOverRawJSPI(t *testing.T) {
	type result struct {
		C, WAT []uint64
		Sum    uint64
		Or     []int
	}
	check := func(t *testing.T, got result) {
		t.Helper()
		expectItems(t, "C", got.C, 5)
		expectItems(t, "WAT", got.WAT, 5)
		if want := webserver.Value(0) + webserver.Value(1) + webserver.Value(2); got.Sum != want {
			t.Errorf("sum = %d, want %d", got.Sum, want)
		}
		if len(got.Or) != 2 || got.Or[0] != int(webserver.Value(17)) || got.Or[1] != 4711 {
			t.Errorf("item_or = %v, want the value and then the default", got.Or)
		}
	}
	t.Run("Chromium", func(t *testing.T) {
		var got result
		open(t, "raw.html", policy).Eval(t, `raw.oneAfterAnother`, &got)
		check(t, got)
	})
	t.Run("Firefox", func(t *testing.T) {
		check(t, in[result](t, engines.Firefox, "raw.html", "raw.oneAfterAnother", policy))
	})
}

// Two suspended calls that share a shadow stack overwrite each other (emscripten-core/emscripten#20058). The C guest
// notices and returns -3, where a naive guest would go on with another call's data. If all answers are ever right, and
// this test fails, the guests no longer show what fiberfill's regions protect from.
func TestRawJSPIMixesUpTheShadowStack(t *testing.T) {
	var values []int
	open(t, "raw.html").Eval(t, `() => raw.twoWaves("c-fetch")`, &values)
	notMine := 0
	for _, value := range values {
		if value == -3 {
			notMine++
		}
	}
	if len(values) != 20 || notMine == 0 {
		t.Errorf("%d of %d calls found their memory overwritten, want some: %v", notMine, len(values), values)
	}
}

// expectItems checks the values of the items 0 to count-1.
func expectItems(t *testing.T, what string, values []uint64, count int) {
	t.Helper()
	if len(values) != count {
		t.Errorf("%s: %d values, want %d", what, len(values), count)
	}
	for id, value := range values {
		if want := webserver.Value(uint64(id)); value != want {
			t.Errorf("%s: item %d = %d, want %d", what, id, value, want)
		}
	}
}
