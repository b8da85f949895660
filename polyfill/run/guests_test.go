package run_test

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/fiberfill/fiberfill/polyfill"
	"github.com/fiberfill/fiberfill/polyfill/run"
)

// What runs outside of the fibers runs where Call was called, while the fiber that asked for it waits, and a fiber that is
// ended by it is ended.
func TestOutside(t *testing.T) {
	v := run.NewV1()
	defer v.Close()
	next := v.Tag("next")
	onNext := v.On(next)
	order, here := "", goroutine()
	say := func(word string) func() {
		return func() {
			order += word + " "
			if goroutine() != here {
				t.Errorf("%s runs on goroutine %s, Call was called on %s", word, goroutine(), here)
			}
		}
	}
	_, err := v.Call(func() []run.Value {
		v.Outside(say("root"))
		inner := v.New("inner", 0, onNext, func(polyfill.Fiber, run.Event) []run.Value {
			v.Outside(say("inner"))
			order += "then "
			return nil
		})
		outer := v.New("outer", 0, onNext, func(polyfill.Fiber, run.Event) []run.Value {
			v.Outside(say("outer"))
			v.Resume(inner, 0, next)
			v.Outside(func() { panic(errors.New("of the outside")) })
			order += "never"
			return nil
		})
		v.Resume(outer, 0, next)
		return nil
	})
	if want := "root outer inner then "; order != want {
		t.Errorf("%q, want %q", order, want)
	}
	if err == nil || v.Live() != 0 {
		t.Errorf("a panic outside: %v, %d fibers are left", err, v.Live())
	}
}

// goroutine returns the number of the goroutine that calls it, from the first line of its trace.
func goroutine() string {
	buffer := make([]byte, 64)
	return strings.Fields(string(buffer[:runtime.Stack(buffer, false)]))[1]
}

// A trap tells the fibers that it has ended, from the active one outward, and no others.
func TestK_9_a_trap_names_the_chain(t *testing.T) {
	v := run.NewV1()
	defer v.Close()
	next := v.Tag("next")
	onNext := v.On(next)
	var fibers [3]polyfill.Fiber
	_, err := v.Call(func() []run.Value {
		for i := range fibers {
			fibers[i] = v.New("", 0, onNext, func(polyfill.Fiber, run.Event) []run.Value {
				if i == 1 {
					v.Release(0)
				}
				v.Resume(fibers[i+1], 0, next)
				return nil
			})
		}
		v.Resume(fibers[0], 0, next)
		return nil
	})
	var trap *run.Trap
	if !errors.As(err, &trap) || len(trap.Chain) != 2 || trap.Chain[0] != fibers[1] || trap.Chain[1] != fibers[0] {
		t.Errorf("%v, the chain is %v of %v", err, trap.Chain, fibers)
	}
	if v.State(fibers[2]) != polyfill.Suspended {
		t.Errorf("the third fiber is %v", v.State(fibers[2]))
	}
}

// A forwarder's filter that is a function is asked about the later events of what it has forwarded.
func TestD_FWD_4_a_filter_of_the_forward(t *testing.T) {
	c := run.NewCont()
	defer c.Close()
	tag := c.Event("number", polyfill.List(polyfill.I32), 0)
	on := c.On(tag)
	outcome := ""
	_, err := c.Call(func() []run.Value {
		leaf := c.New("leaf", 0, 0, func(run.Values) []run.Value {
			for i := range int32(3) {
				c.Suspend(tag, run.I32(i))
			}
			return nil
		})
		middle := c.New("middle", 0, 0, func(run.Values) []run.Value {
			_, e := c.Resume(leaf, on)
			_, e = c.ForwardIf(e, on, func(_ *run.Tag, v run.Values) bool { return v.I32(0) == 2 })
			if e.Values.I32(0) == 2 {
				outcome += "middle 2 "
			}
			return nil
		})
		_, e := c.Resume(middle, on)
		for e != nil {
			outcome += "root " + string(rune('0'+e.Values.I32(0))) + " "
			_, e = c.Resume(e.Cont, on)
		}
		return nil
	})
	if want := "root 0 root 1 middle 2 "; err != nil || outcome != want {
		t.Errorf("%q, %v, want %q", outcome, err, want)
	}
}

// Raw values are those of the other constructors.
func TestRaw(t *testing.T) {
	for _, c := range []struct{ got, want run.Value }{
		{run.Raw(polyfill.I32, 0xabcd_ffff_ffff), run.I32(-1)},
		{run.Raw(polyfill.F32, 0xabcd_3f80_0000), run.F32(1)},
		{run.Raw(polyfill.I64, 1<<63), run.I64(-1 << 63)},
		{run.Raw(polyfill.F64, 0x3ff0_0000_0000_0000), run.F64(1)},
		{run.Raw(polyfill.Ref, 7), run.Fiber(7)},
		{run.Raw(polyfill.NullRef, 0), run.Fiber(0)},
	} {
		if c.got != c.want {
			t.Errorf("%v, want %v", c.got, c.want)
		}
	}
}
