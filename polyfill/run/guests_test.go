package run_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/fiberfill/fiberfill/polyfill"
	"github.com/fiberfill/fiberfill/polyfill/run"
	"github.com/fiberfill/fiberfill/polyfill/stacks"
)

// What runs outside of the fibers runs where Call was called, while the fiber that asked for it waits, and a fiber that
// is ended by it is ended.
func TestOutside(t *testing.T) {
	v := run.NewFibers1()
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
	v := run.NewFibers1()
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

// An event whose values do not match its tag is refused before a filter sees it, because filters rely on the values.
// The same holds where the event is forwarded: the code that holds it may have changed it.
func TestK_4_before_a_filter(t *testing.T) {
	for _, forwards := range []bool{false, true} {
		c := run.NewCont()
		defer c.Close()
		tag := c.Event("number", polyfill.List(polyfill.I32), 0)
		on := c.On(tag)
		_, err := c.Call(func() []run.Value {
			k := c.New("sends", 0, 0, func(run.Values) []run.Value {
				if forwards {
					leaf := c.New("leaf", 0, 0, func(run.Values) []run.Value { c.Suspend(tag, run.I32(1)); return nil })
					_, e := c.Resume(leaf, on)
					e.Values = run.Values{run.I64(1)}
					c.Forward(e, on)
				}
				c.Suspend(tag)
				return nil
			})
			c.ResumeIf(k, on, func(_ *run.Tag, v run.Values) bool { return v.I32(0) == 1 })
			return nil
		})
		var trap *run.Trap
		if !errors.As(err, &trap) || trap.Code != polyfill.WrongPayload || trap.Rule != "K-4" {
			t.Errorf("forwards: %v: %v", forwards, err)
		}
	}
}

// A filter that is a function is called as if by the code that raises the event, and what it throws reaches that code.
// Nothing is detached then.
func TestD_FILT_3_a_filter_that_throws(t *testing.T) {
	c := run.NewCont()
	defer c.Close()
	tag, mistake := c.Event("number", 0, 0), run.NewException("mistake")
	on := c.On(tag)
	var caught *run.Exception
	_, err := c.Call(func() []run.Value {
		k := c.New("asks", 0, 0, func(run.Values) []run.Value {
			caught = run.Try(func() { c.Suspend(tag) })
			c.Suspend(tag) // and again
			return nil
		})
		throws := true
		_, e := c.ResumeIf(k, on, func(*run.Tag, run.Values) bool {
			if throws {
				throws = false
				run.Throw(mistake)
			}
			return true
		})
		if e == nil {
			t.Error("the second event has not come")
		}
		return nil
	})
	if err != nil || caught == nil || caught.Tag != mistake {
		t.Errorf("%v, caught %v", err, caught)
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

// A number is not a reference, nor a reference a number: a number could name a fiber that was never made.
func TestK_4_a_value_is_read_as_what_it_is(t *testing.T) {
	values := run.Values{run.I32(1), run.F64(2), run.Fiber(7), run.Ref("x"), run.Ref(nil)}
	if f, r := values.Fiber(2), values.Ref(3); f != 7 || r != "x" || values.Fiber(4) != 0 || values.Ref(4) != nil {
		t.Errorf("Fiber(2) = %v, Ref(3) = %v, want 7 and x, and null for both", f, r)
	}
	for name, read := range map[string]func(){
		"Fiber of an i32":       func() { values.Fiber(0) },
		"Ref of an f64":         func() { values.Ref(1) },
		"I32 of a reference":    func() { values.I32(2) },
		"F64 of a null":         func() { values.F64(4) },
		"I64 of what is an i32": func() { values.I64(0) },
	} {
		func() {
			defer func() {
				if r := recover(); r == nil || !strings.Contains(fmt.Sprint(r), "is of type") {
					t.Errorf("%s: panic %v", name, r)
				}
			}()
			read()
		}()
	}
}

func TestK_4_the_parameters_of_a_function_are_its_own(t *testing.T) {
	one, both := polyfill.List(polyfill.I32), polyfill.List(polyfill.I32, polyfill.I32)
	for name, play := range map[string]func() ([]run.Value, error){
		"fibers1": func() ([]run.Value, error) {
			v := run.NewFibers1()
			defer v.Close()
			tag := v.Tag("tag", polyfill.I32)
			on := v.On(tag)
			return v.Call(func() []run.Value {
				f := v.New("f", one, on, func(self polyfill.Fiber, first run.Event) []run.Value {
					v.Suspend(self, on, tag, run.I32(2))
					return first.Values
				})
				v.Resume(f, on, tag, run.I32(1))
				return v.Resume(f, on, tag, run.I32(3)).Values
			})
		},
		"fibers2": func() ([]run.Value, error) {
			v := run.NewFibers2()
			defer v.Close()
			tag := v.Tag("tag", polyfill.I32)
			on := v.On(tag)
			return v.Call(func() []run.Value {
				f := v.New("f", tag, on, func(self polyfill.Fiber, first run.Event) []run.Value {
					v.Dismount(self, on, tag, run.I32(2))
					return first.Values
				})
				v.Mount(f, on, tag, run.I32(1))
				return v.Mount(f, on, tag, run.I32(3)).Values
			})
		},
		"stacks": func() ([]run.Value, error) {
			s := run.NewStacks()
			defer s.Close()
			awaits := stacks.Awaits{Values: one, Nullable: true}
			return s.Call(func() []run.Value {
				f := s.New("f", awaits, func(values run.Values, sender polyfill.Token) {
					_, sender = s.Switch(sender, awaits, run.I32(2))
					s.SwitchRetire(sender, values...)
				})
				_, f = s.Switch(f, awaits, run.I32(1))
				values, _ := s.Switch(f, awaits, run.I32(3))
				return values
			})
		},
		"cont": func() ([]run.Value, error) {
			c := run.NewCont()
			defer c.Close()
			event := c.Event("event", both, one)
			on := c.On(event)
			return c.Call(func() []run.Value {
				_, e := c.Resume(c.New("f", one, one, func(values run.Values) []run.Value {
					c.Suspend(event, run.I32(2), run.I32(4))
					return values
				}), on, run.I32(1))
				results, _ := c.Resume(e.Cont, on, run.I32(3))
				return results
			})
		},
	} {
		values, err := play()
		if err != nil || len(values) != 1 || run.Values(values).I32(0) != 1 {
			t.Errorf("%s: the function was called with 1 and returns %v, %v", name, values, err)
		}
	}
}

func TestTheResultsOfACallOutliveTheNext(t *testing.T) {
	c := run.NewCont()
	defer c.Close()
	call := func(n int32) run.Values {
		results, err := c.Call(func() []run.Value {
			results, _ := c.Resume(c.New("f", 0, polyfill.List(polyfill.I32),
				func(run.Values) []run.Value { return []run.Value{run.I32(n)} }), 0)
			return results
		})
		if err != nil {
			t.Fatal(err)
		}
		return results
	}
	first, second := call(1), call(2)
	if first.I32(0) != 1 || second.I32(0) != 2 {
		t.Errorf("the calls returned %d and %d, want 1 and 2", first.I32(0), second.I32(0))
	}
}

func TestK_4_a_value_without_a_type_is_refused(t *testing.T) {
	for _, values := range [][]run.Value{{{}}, {run.I32(1), {}}, {run.Raw(polyfill.NullRef+1, 0)},
		{run.Raw(polyfill.I32|0x10, 0)}} {
		v := newFibers1(t)
		empty, one := v.Tag("empty"), v.Tag("one", polyfill.I32)
		for _, tag := range []*run.Tag{empty, one} {
			_, err := v.Call(func() []run.Value {
				f := v.New("f", 0, v.On(tag), func(polyfill.Fiber, run.Event) []run.Value { return nil })
				v.Resume(f, 0, tag, values...)
				return nil
			})
			var trap *run.Trap
			if !errors.As(err, &trap) || trap.Code != polyfill.NotTypes {
				t.Errorf("%v sent as %v: %v, want %v", values, tag, err, polyfill.NotTypes)
			}
		}
	}
}
