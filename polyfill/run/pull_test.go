package run_test

import (
	"bytes"
	"runtime"
	"testing"

	"github.com/fiberfill/fiberfill/polyfill"
	"github.com/fiberfill/fiberfill/polyfill/run"
)

// here names the calling goroutine.
func here() string {
	var buffer [64]byte
	line, _, _ := bytes.Cut(buffer[:runtime.Stack(buffer[:], false)], []byte(" ["))
	return string(line)
}

// nest has each of some fibers enter the next; the last calls f. Deferred functions are traced.
func (v *system1) nest(names []string, f func(top polyfill.Fiber)) {
	var top polyfill.Fiber
	var enter func(names []string)
	enter = func(names []string) {
		if len(names) == 0 {
			f(top)
			return
		}
		v.Spawn(names[0], 0, v.on, func(self polyfill.Fiber, _ run.Event) []run.Value {
			if top == 0 {
				top = self
			}
			defer v.trace(names[0] + " unwound")
			enter(names[1:])
			v.trace(names[0] + " went on")
			return nil
		})
	}
	enter(names)
}

// A busy fiber pulls the one that it has entered, so the goroutine of Call is some way down.
func TestOutsideRunsOnTheGoroutineOfCallFromAnyDepth(t *testing.T) {
	v := newFibers1(t)
	if _, err := v.Call(func() []run.Value {
		entry := here()
		v.nest([]string{"a", "b", "c"}, func(polyfill.Fiber) {
			inside := here()
			v.Outside(func() {
				if here() != entry {
					t.Errorf("outside is %s, the entry %s", here(), entry)
				}
			})
			if here() != inside {
				t.Errorf("the fiber has moved from %s to %s", inside, here())
			}
		})
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	v.wantTraces(t, "c went on", "c unwound", "b went on", "b unwound", "a went on", "a unwound")
}

func TestA_RETIRE_2_fibers_that_pull_each_other_end_once_from_the_inside_out(t *testing.T) {
	v := newFibers1(t)
	if _, err := v.Call(func() []run.Value {
		v.nest([]string{"a", "b", "c"}, func(top polyfill.Fiber) { v.Retire(top, v.tag) })
		v.trace("the root went on")
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	v.wantTraces(t, "c unwound", "b unwound", "a unwound", "the root went on")
	if n := v.Live(); n != 0 {
		t.Errorf("%d fibers are left", n)
	}
}

func TestK_8_a_group_that_was_pulled_by_one_fiber_goes_on_below_another(t *testing.T) {
	v := newFibers1(t)
	if _, err := v.Call(func() []run.Value {
		var group polyfill.Fiber
		v.nest([]string{"first"}, func(polyfill.Fiber) {
			v.nest([]string{"a", "b"}, func(top polyfill.Fiber) {
				group = top
				v.Suspend(top, v.on, v.tag)
				v.trace("the leaf went on")
			})
		})
		v.nest([]string{"second"}, func(polyfill.Fiber) { v.Resume(group, v.on, v.tag) })
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	v.wantTraces(t, "first went on", "first unwound",
		"the leaf went on", "b went on", "b unwound", "a went on", "a unwound", "second went on", "second unwound")
}
