package run_test

import (
	"fmt"

	"github.com/fiberfill/fiberfill/polyfill"
	"github.com/fiberfill/fiberfill/polyfill/run"
	"github.com/fiberfill/fiberfill/polyfill/stacks"
)

var els = []int32{10, 20, 30, 40}

// fibers1: each resume of the generator receives an element as an event, and no event once the generator has returned.
func ExampleFibers1() {
	v := run.NewFibers1()
	defer v.Close()
	yield, next := v.Tag("yield", polyfill.I32), v.Tag("next")
	onYield, onNext := v.On(yield), v.On(next)
	results, err := v.Call(func() []run.Value {
		generator := v.New("generator", 0, onNext, func(self polyfill.Fiber, _ run.Event) []run.Value {
			for _, el := range els {
				v.Suspend(self, onNext, yield, run.I32(el))
			}
			return nil
		})
		total := int32(0)
		for {
			switch e := v.Resume(generator, onYield, next); e.Tag {
			case yield:
				total += e.I32(0)
			default: // returned
				return []run.Value{run.I32(total)}
			}
		}
	})
	fmt.Println(run.Values(results).I32(0), err)
	// Output: 100 <nil>
}

// fibers2: the generator's end is an event, too.
func ExampleFibers2() {
	v := run.NewFibers2()
	defer v.Close()
	yield, next, end := v.Tag("yield", polyfill.I32), v.Tag("next"), v.Tag("end")
	onYieldEnd, onNext := v.On(yield, end), v.On(next)
	results, err := v.Call(func() []run.Value {
		generator := v.New("generator", end, onNext, func(self polyfill.Fiber, _ run.Event) []run.Value {
			for _, el := range els {
				v.Dismount(self, onNext, yield, run.I32(el))
			}
			return nil
		})
		total := int32(0)
		for {
			switch e := v.Mount(generator, onYieldEnd, next); e.Tag {
			case yield:
				total += e.I32(0)
			case end:
				return []run.Value{run.I32(total)}
			}
		}
	})
	fmt.Println(run.Values(results).I32(0), err)
	// Output: 100 <nil>
}

// stacks: both sides keep the reference that came with the last switch. It is null when the generator has retired.
func ExampleStacks() {
	s := run.NewStacks()
	defer s.Close()
	element := stacks.Awaits{Values: polyfill.List(polyfill.I32), Nullable: true}
	results, err := s.Call(func() []run.Value {
		generator := s.New("generator", stacks.Awaits{}, func(_ run.Values, consumer polyfill.Token) {
			for _, el := range els {
				_, consumer = s.Switch(consumer, stacks.Awaits{}, run.I32(el))
			}
			s.SwitchRetire(consumer, run.I32(0))
		})
		total := int32(0)
		for generator != (polyfill.Token{}) {
			var values run.Values
			values, generator = s.Switch(generator, element)
			total += values.I32(0)
		}
		return []run.Value{run.I32(total)}
	})
	fmt.Println(run.Values(results).I32(0), err)
	// Output: 100 <nil>
}

// cont: a suspension finds who resumed the generator, and is answered by the next resume.
func ExampleCont() {
	c := run.NewCont()
	defer c.Close()
	yield := c.Event("yield", polyfill.List(polyfill.I32), polyfill.List(polyfill.I32)) // answered by whether to go on
	onYield := c.On(yield)
	results, err := c.Call(func() []run.Value {
		generator := c.New("generator", 0, 0, func(run.Values) []run.Value {
			for _, el := range els {
				if c.Suspend(yield, run.I32(el)).I32(0) == 0 {
					break
				}
			}
			return nil
		})
		total := int32(0)
		_, e := c.Resume(generator, onYield)
		for e != nil {
			total += e.Values.I32(0)
			_, e = c.Resume(e.Cont, onYield, run.I32(1))
		}
		return []run.Value{run.I32(total)}
	})
	fmt.Println(run.Values(results).I32(0), err)
	// Output: 100 <nil>
}
