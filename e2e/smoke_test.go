package e2e_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// A page with the script tag runs both guests, and every fiber gets its own answer: the shortest check that the built
// files work together. It also runs in the other browsers, and in all on stacks of fiberfill's own, whose files lie
// beside the script.
func TestSmoke(t *testing.T) {
	check := func(t *testing.T, got map[string][]uint64) {
		t.Helper()
		for _, guest := range []string{"c-fetch", "wat-fetch"} {
			expectItems(t, guest, got[guest], 100)
		}
	}
	for _, stacks := range []string{"jspi", "unwind"} {
		t.Run("Chromium/"+stacks, func(t *testing.T) {
			var got map[string][]uint64
			open(t, "smoke.html", policy).Eval(t, `smoke.run`, &got, stacks)
			check(t, got)
		})
	}
	inOthers(t, "smoke.html", "smoke.run", check, policy)
	inOthers(t, "smoke.html", "smoke.unwound", check, policy)
}

// On stacks of fiberfill's own the browsers tell where a fiber stands, and an error has the frames of who waited.
func TestFrames(t *testing.T) {
	type stands struct {
		Frames []string
		Stack  string
	}
	check := func(t *testing.T, got stands) {
		t.Helper()
		// Chromium's goes on with the fiber, and who awaits it.
		got.Stack, _, _ = strings.Cut(got.Stack, "\n    at async item (fiber ")
		if want := []string{"guest.wasm.item"}; !slices.Equal(got.Frames, want) {
			t.Errorf("the fiber stands in %q, want %q", got.Frames, want)
		}
		lines := strings.Split(strings.TrimSpace(got.Stack), "\n")
		if last := lines[len(lines)-1]; !strings.Contains(last, "item") || !strings.Contains(last, "wasm-function[") {
			t.Errorf("the error's stack ends with %q, want the guest's function item:\n%s", last, got.Stack)
		}
	}
	t.Run("Chromium", func(t *testing.T) {
		var got stands
		open(t, "smoke.html", policy).Eval(t, `smoke.stands`, &got)
		check(t, got)
	})
	inOthers(t, "smoke.html", "smoke.stands", check, policy)
}

// The counterpart of TestRawJSPIMixesUpTheShadowStack: here every call finds its memory intact.
func TestShadowStacksAreSeparate(t *testing.T) {
	tab := open(t, "smoke.html")
	for _, guest := range []string{"c-fetch", "wat-fetch"} {
		var got []uint64
		tab.Eval(t, `smoke.twoWaves`, &got, guest)
		expectItems(t, guest, got, 20)
	}
}

// The script tag defines one global name and changes no other.
func TestScriptTagAddsOneGlobal(t *testing.T) {
	var got json.RawMessage
	open(t, "globals.html").Eval(t, `() => globals.added()`, &got)
	if string(got) != `["fiberfill"]` {
		t.Errorf("new or changed: %s, want only fiberfill", got)
	}
}
