package run_test

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/fiberfill/fiberfill/internal/leaktest"
	"github.com/fiberfill/fiberfill/polyfill"
	"github.com/fiberfill/fiberfill/polyfill/run"
)

// system1 is a system with one tag, a fiber that waits in the middle of its function, and a trace of it.
type system1 struct {
	*run.Fibers1
	tag    *run.Tag
	on     polyfill.Table
	waits  polyfill.Fiber
	traces []string
}

func newFibers1(t *testing.T) *system1 {
	leaktest.Goroutines(t)
	v := &system1{Fibers1: run.NewFibers1()}
	v.tag = v.Tag("tag")
	v.on = v.On(v.tag)
	t.Cleanup(v.Close)
	return v
}

func (v *system1) trace(s string) { v.traces = append(v.traces, s) }

// park makes the fiber, which defers and then waits.
func (v *system1) park(deferred func(polyfill.Fiber)) {
	v.Spawn("waits", 0, v.on, func(self polyfill.Fiber, _ run.Event) []run.Value {
		v.waits = self
		defer deferred(self)
		v.Suspend(self, v.on, v.tag)
		v.trace("the statement behind the wait")
		return nil
	})
}

func (v *system1) wantTraces(t *testing.T, want ...string) {
	t.Helper()
	if strings.Join(v.traces, ", ") != strings.Join(want, ", ") {
		t.Errorf("what ran: %q, want %q", v.traces, want)
	}
}

func TestA_RELEASE_3_deferred_functions_run_and_statements_do_not(t *testing.T) {
	v := newFibers1(t)
	if _, err := v.Call(func() []run.Value {
		v.park(func(polyfill.Fiber) { v.trace("deferred") })
		v.Release(v.waits)
		v.trace("released")
		return nil
	}); err != nil {
		t.Error(err)
	}
	v.wantTraces(t, "deferred", "released")
}

func TestA_RELEASE_3_a_fiber_that_recovers_its_unwinding_is_over_all_the_same(t *testing.T) {
	v := newFibers1(t)
	if _, err := v.Call(func() []run.Value {
		v.park(func(self polyfill.Fiber) {
			if recover() == nil {
				t.Error("there is nothing to recover")
			}
			v.trace("recovered")
			v.Suspend(self, v.on, v.tag)
			v.trace("an operation of a fiber that is over")
		})
		v.Release(v.waits)
		return nil
	}); err != nil {
		t.Error(err)
	}
	v.wantTraces(t, "recovered")
}

func TestK_9_a_trap_cannot_be_recovered(t *testing.T) {
	v := newFibers1(t)
	_, err := v.Call(func() []run.Value {
		defer func() { recover(); v.Release(0); v.trace("the root went on") }()
		v.Spawn("outer", 0, v.on, func(polyfill.Fiber, run.Event) []run.Value {
			defer func() { recover() }()
			run.Try(func() {
				v.Spawn("inner", 0, v.on, func(self polyfill.Fiber, _ run.Event) []run.Value {
					defer func() { recover() }()
					v.Resume(self, v.on, v.tag)
					return nil
				})
			})
			v.trace("the parent went on")
			return nil
		})
		v.trace("the root went on")
		return nil
	})
	wantTrap(t, err, polyfill.NotSuspended, "A-RESUME-1")
	if want := "fiber inner trapped: fibers1.resume refused: fiber is not suspended " +
		"[A-RESUME-1]: fiber 2. Enter only suspended ones"; err == nil || err.Error() != want {
		t.Errorf("message %q, want %q", err, want)
	}
	v.wantTraces(t)
	if v.Live() != 0 {
		t.Errorf("%d fibers live", v.Live())
	}
}

func TestK_9_a_panic_in_a_fiber_ends_the_live_chain_with_its_name(t *testing.T) {
	v := newFibers1(t)
	cause := errors.New("out of paper")
	_, err := v.Call(func() []run.Value {
		v.park(func(polyfill.Fiber) {})
		v.Spawn("printer", 0, v.on, func(polyfill.Fiber, run.Event) []run.Value { panic(cause) })
		v.trace("the root went on")
		return nil
	})
	trap, ok := err.(*run.Trap)
	if !ok || trap.Error() != "panic in printer: out of paper" || !errors.Is(err, cause) || len(trap.Stack) == 0 {
		t.Errorf("error %v, want the panic with the fiber's name, its cause and its stack", err)
	}
	v.wantTraces(t)
	if v.State(v.waits) != polyfill.Suspended {
		t.Errorf("the fiber that was not in the chain is %v", v.State(v.waits))
	}
}

func TestA_EXC_1_an_exception_crosses_unchanged(t *testing.T) {
	v := newFibers1(t)
	var thrown, caught *run.Exception
	_, err := v.Call(func() []run.Value {
		caught = run.Try(func() {
			v.Spawn("throws", 0, 0, func(polyfill.Fiber, run.Event) []run.Value {
				thrown = run.Try(func() { run.Throw(v.tag) })
				panic(thrown)
			})
		})
		run.Throw(v.tag, run.I32(3))
		return nil
	})
	if caught == nil || caught != thrown {
		t.Errorf("caught %v, thrown was %v", caught, thrown)
	}
	if e, ok := err.(*run.Exception); !ok || e.Tag != v.tag || e.Values.I32(0) != 3 {
		t.Errorf("error %v, want the exception that left the entry", err)
	}
}

func TestK_9_Goexit_in_a_fiber_ends_the_live_chain_and_the_caller(t *testing.T) {
	v := newFibers1(t)
	done := make(chan bool)
	go func() {
		defer close(done)
		v.Call(func() []run.Value {
			v.park(func(polyfill.Fiber) {})
			v.Spawn("outer", 0, v.on, func(polyfill.Fiber, run.Event) []run.Value {
				v.Spawn("exits", 0, v.on, func(polyfill.Fiber, run.Event) []run.Value { runtime.Goexit(); return nil })
				v.trace("the parent went on")
				return nil
			})
			return nil
		})
		v.trace("the caller went on")
	}()
	<-done
	v.wantTraces(t)
	if v.Live() != 1 {
		t.Errorf("%d fibers live, want the one that was suspended", v.Live())
	}
	if _, err := v.Call(func() []run.Value { v.Release(v.waits); return nil }); err != nil {
		t.Error(err)
	}
}

func TestAnOperationOnAnotherGoroutinePanics(t *testing.T) {
	v := newFibers1(t)
	_, err := v.Call(func() []run.Value {
		v.park(func(polyfill.Fiber) {})
		v.Spawn("works", 0, v.on, func(polyfill.Fiber, run.Event) []run.Value {
			message := make(chan any)
			go func() { // the fiber runs and waits for us; the system is not ours
				defer func() { message <- recover() }()
				v.Release(v.waits)
			}()
			want := "polyfill/run: operation on a goroutine other than that of works, which runs"
			if got := <-message; got != want {
				t.Errorf("panic %v, want %q", got, want)
			}
			return nil
		})
		return nil
	})
	if err != nil || v.State(v.waits) != polyfill.Suspended {
		t.Errorf("error %v, the fiber is %v", err, v.State(v.waits))
	}
}

func TestDeepFramesBelongToTheSameGoroutine(t *testing.T) {
	v := newFibers1(t)
	var deep func(self polyfill.Fiber, n int) int
	deep = func(self polyfill.Fiber, n int) int {
		var frame [200]byte
		if n == 0 {
			return 0
		}
		if n%100 == 0 {
			v.Suspend(self, v.on, v.tag)
		}
		return deep(self, n-1) + int(frame[n%200]) + 1
	}
	_, err := v.Call(func() []run.Value {
		f := v.New("deep", 0, v.on, func(self polyfill.Fiber, _ run.Event) []run.Value { deep(self, 2000); return nil })
		for v.State(f) == polyfill.Suspended {
			v.Resume(f, v.on, v.tag)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestMisusePanics(t *testing.T) {
	v := newFibers1(t)
	other := newFibers1(t)
	for name, c := range map[string]struct {
		misuse func()
		want   string
	}{
		"outside of Call": {func() { v.Release(0) },
			"polyfill/run: operation outside of Call: fibers are made and entered inside the function that Call is " +
				"given"},
		"a tag of another": {func() { v.On(other.tag) }, "polyfill/run: On: nil tag, or tag of another system (K-3)"},
		"nine values in one": {func() { v.Tag("nine", 1, 1, 1, 1, 1, 1, 1, 1, 1) },
			"polyfill: more than 8 values in one list of types"},
	} {
		func() {
			defer func() {
				if got := recover(); got != c.want {
					t.Errorf("%s: panic %v, want %q", name, got, c.want)
				}
			}()
			c.misuse()
		}()
	}
	_, err := v.Call(func() []run.Value { v.Call(none); return nil })
	if err == nil || !strings.Contains(err.Error(), "Call inside of a Call") {
		t.Errorf("error %v, want that Call is inside of a Call", err)
	}
	_, err = v.Call(func() []run.Value { v.Resume(v.waits, v.on, v.tag, make([]run.Value, 9)...); return nil })
	wantTrap(t, err, polyfill.NotTypes, "K-4")
}

func TestA_HDL_4_a_tags_parameters_end_those_of_its_block(t *testing.T) {
	v := newFibers1(t)
	yield := v.Tag("yield", polyfill.I32, polyfill.F64)
	ok, err := v.Call(func() []run.Value {
		base := int32(40) // a value of the handle itself
		on := v.Handle(nil, v.Block(yield, polyfill.I32, polyfill.I32, polyfill.F64)).Table()
		e := v.Spawn("f", 0, on, func(self polyfill.Fiber, _ run.Event) []run.Value {
			v.Suspend(self, 0, yield, run.I32(2), run.F64(0.5))
			return nil
		})
		return i32(base + e.I32(0))
	})
	if err != nil || numbers(ok) != 42 {
		t.Errorf("%v, %v, want 42", ok, err)
	}
	for _, params := range [][]polyfill.Type{{}, {polyfill.F64}, {polyfill.F64, polyfill.I32},
		{polyfill.I32, polyfill.F64, polyfill.I32}} {
		_, err := v.Call(func() []run.Value { v.Block(yield, params...); return nil })
		wantTrap(t, err, polyfill.WrongPayload, "A-HDL-4")
	}
}

// Close ends what is left, and the system can be used again.
func TestClose(t *testing.T) {
	v := newFibers1(t)
	for range 2 {
		v.Call(func() []run.Value {
			v.park(func(polyfill.Fiber) { v.trace("deferred") })
			v.New("never started", 0, v.on, nil)
			return nil
		})
		v.Close()
		if v.Live() != 0 {
			t.Errorf("%d fibers live after Close", v.Live())
		}
	}
	v.wantTraces(t, "deferred", "deferred")
}
