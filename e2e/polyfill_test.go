package e2e_test

import (
	"testing"

	"github.com/fiberfill/fiberfill/internal/webserver"
)

// A page imports fiberfill/polyfill and then uses WebAssembly in every way; so do a Go program and code written for
// JSPI. Two waves of calls, which raw JSPI mixes up (TestRawJSPIMixesUpTheShadowStack), stay separate.
func TestPolyfill(t *testing.T) {
	t.Parallel()
	type result struct {
		Ways, Waves []uint64
		Go          uint64
	}
	check := func(t *testing.T, got result) {
		expectItems(t, "each way to an instance", got.Ways, 7)
		expectItems(t, "two waves", got.Waves, 20)
		if want := webserver.Value(2); got.Go != want {
			t.Errorf("the Go program returned %d, want %d", got.Go, want)
		}
	}
	t.Run("Chromium", func(t *testing.T) {
		var got result
		open(t, "polyfill.html", policy).Eval(t, "polyfill.run", &got)
		check(t, got)
	})
	inOthers(t, "polyfill.html", "polyfill.run", check, policy)
}
