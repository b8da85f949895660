package browser

import (
	"testing"

	"golang.org/x/sys/unix"
)

func TestPinPutsAllPagesOnOneProcessor(t *testing.T) {
	_, ctx := open(t)
	open(t)
	if err := chromium.Pin(ctx); err != nil {
		t.Fatal(err)
	}
	processes, err := chromium.processes(ctx)
	if err != nil {
		t.Fatal(err)
	}
	pages := 0
	var first unix.CPUSet
	for _, process := range processes {
		var set unix.CPUSet
		if process.Type != "renderer" || unix.SchedGetaffinity(int(process.ID), &set) != nil {
			continue // it has ended
		}
		if pages++; pages == 1 {
			first = set
		}
		if set.Count() != 1 || set != first {
			t.Errorf("a page's main thread may run on %d processors, want 1, the same for each page "+
				"page's", set.Count())
		}
	}
	if pages < 2 {
		t.Errorf("%d pages are pinned, two are open", pages)
	}
}
