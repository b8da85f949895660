package e2e_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fiberfill/fiberfill/internal/engines"
	"github.com/fiberfill/fiberfill/internal/webserver"
)

// The npm package in a module worker, under the same policy as in a page.
func TestWorker(t *testing.T) {
	tab := open(t, "worker.html", policy)
	var got struct {
		Values []uint64
		Page   string
		Left   int
	}
	tab.Eval(t, "inWorker.items", &got, 100)
	expectItems(t, "worker", got.Values, 100)
	if got.Page != "undefined" || got.Left != 0 {
		t.Errorf("document is %s, %d fibers are left; want no document and no fiber", got.Page, got.Left)
	}

	var outcomes []any
	tab.Eval(t, "inWorker.fails", &outcomes)
	if got, want := fmt.Sprint(outcomes), fmt.Sprintf("[HTTP 500 %d]", webserver.Value(2)); got != want {
		t.Errorf("outcomes %s, want %s", got, want)
	}
}

// Errors that escape in the worker would fail TestWorker.
func TestHarnessSeesWhatEscapesInAWorker(t *testing.T) {
	tab := open(t, "worker.html")
	tab.Eval(t, "inWorker.letEscape", nil)
	texts := strings.Join(tab.Escaped(t), "\n")
	for _, want := range []string{"escaped in the worker: Error: nobody catches",
		"escaped in the worker: Error: nobody listens"} {
		if strings.Count(texts, want) != 1 {
			t.Errorf("%q is not reported once in %q", want, texts)
		}
	}
}

// Guests run in a service worker. Guests with fibers of their own are refused, because a service worker may load
// nothing on demand.
func TestServiceWorker(t *testing.T) {
	type result struct {
		Items []uint64
		Own   string
	}
	check := func(t *testing.T, got result) {
		expectItems(t, "service worker", got.Items, 100)
		if !strings.HasPrefix(got.Own, "load-failed: ") || !strings.Contains(got.Own,
			". A service worker may load nothing on demand; a page or a Web Worker may") {
			t.Errorf("a guest with fibers of its own ended with %s, want load-failed and what to do", got.Own)
		}
	}
	t.Run("Chromium", func(t *testing.T) {
		var got result
		open(t, "service.html", policy, guests).Eval(t, "service.run", &got)
		check(t, got)
	})
	t.Run("Firefox", func(t *testing.T) {
		check(t, in[result](t, engines.Firefox, "service.html", "service.run", policy, guests))
	})
	// Stacks of fiberfill's own are loaded on demand, too.
	t.Run("WebKit", func(t *testing.T) {
		err := callIn(t, engines.WebKit, "service.html", "service.run", new(result), policy, guests)
		if err == nil || !strings.Contains(err.Error(), "which stacks of its own need, cannot be loaded") ||
			!strings.Contains(err.Error(),
				". A service worker may load nothing on demand; a page or a Web Worker may") {
			t.Errorf("a guest ended with %v, want load-failed and what to do", err)
		}
	})
}
