// Command costs performs single operations of the four systems in Go, for the benchmark's table of costs (package
// bench). Natively it measures them itself, in Go and in wazero; compiled for js/wasm, bench/js calls it.
//
// Like the guests of bench/js/costs, an operation does its work n times, sends a one each time, and returns the sum of
// the ones, which is n. A sample is long enough that the cost of the setup does not matter.
package main

import (
	"iter"

	"github.com/fiberfill/fiberfill/polyfill"
	"github.com/fiberfill/fiberfill/polyfill/run"
	"github.com/fiberfill/fiberfill/polyfill/stacks"
)

// operations, by the names of the guests' files and exports.
var operations = map[string]func(n int) (int, error){
	"pull":                  pull,
	"fibers1.new":           fibers1(made),
	"fibers1.spawn":         fibers1(spawned(returns)),
	"fibers1.resume":        fibers1(resumed),
	"fibers1.resume_inside": fibers1(inside),
	"fibers1.switch":        fibers1(switched),
	"fibers1.retire":        fibers1(spawned(retires)),
	"fibers1.exception":     fibers1(thrown),
	"fibers2.mount":         mounted,
	"stacks.switch":         stack(stacks.Awaits{Values: i32}, false),
	"stacks.bind":           stack(stacks.Awaits{Values: polyfill.List(polyfill.I32, polyfill.I32)}, true),
	"cont.resume":           answered(false),
	"cont.forward":          answered(true),
}

var i32 = polyfill.List(polyfill.I32)

// pull is Go's own equivalent of a resume and a suspend.
func pull(n int) (sum int, _ error) {
	next, stop := iter.Pull(func(yield func(int32) bool) {
		for yield(1) {
		}
	})
	defer stop()
	for range n {
		one, _ := next()
		sum += int(one)
	}
	return sum, nil
}

// system1 is an instance of fibers1 with the tags of the operations.
type system1 struct {
	*run.Fibers1
	yield, next     *run.Tag
	onYield, onNext polyfill.Table
}

func fibers1(operation func(v system1, n int) int) func(n int) (int, error) {
	return func(n int) (sum int, err error) {
		v := system1{Fibers1: run.NewFibers1()}
		defer v.Close()
		v.yield, v.next = v.Tag("yield", polyfill.I32), v.Tag("next")
		v.onYield, v.onNext = v.On(v.yield), v.On(v.next)
		_, err = v.Call(func() []run.Value {
			sum = operation(v, n)
			return nil
		})
		return sum, err
	}
}

func (v system1) ones(self polyfill.Fiber, _ run.Event) []run.Value {
	for {
		v.Suspend(self, v.onNext, v.yield, run.I32(1))
	}
}

func made(v system1, n int) (sum int) {
	for range n {
		f := v.New("made", 0, v.onNext, v.ones)
		if f != 0 {
			sum++
		}
		v.Release(f)
	}
	return sum
}

func resumed(v system1, n int) (sum int) {
	f := v.New("ones", 0, v.onNext, v.ones)
	for range n {
		e := v.Resume(f, v.onYield, v.next)
		sum += int(e.I32(0))
	}
	v.Release(f)
	return sum
}

func inside(v system1, n int) (sum int) {
	v.Spawn("resumer", 0, 0, func(polyfill.Fiber, run.Event) []run.Value {
		sum = resumed(v, n)
		return nil
	})
	return sum
}

func spawned(body func(v system1, self polyfill.Fiber) []run.Value) func(v system1, n int) int {
	return func(v system1, n int) (sum int) {
		for range n {
			e := v.Spawn("spawned", i32, v.onYield, func(self polyfill.Fiber, _ run.Event) []run.Value {
				return body(v, self)
			})
			sum += int(e.I32(0))
		}
		return sum
	}
}

func returns(system1, polyfill.Fiber) []run.Value { return []run.Value{run.I32(1)} }

func retires(v system1, self polyfill.Fiber) []run.Value {
	v.Retire(self, v.yield, run.I32(1))
	return nil
}

func thrown(v system1, n int) (sum int) {
	number := run.NewException("number")
	for range n {
		e := run.Try(func() {
			v.Spawn("thrower", 0, 0, func(polyfill.Fiber, run.Event) []run.Value {
				run.Throw(number, run.I32(1))
				return nil
			})
		})
		sum += int(e.Values.I32(0))
	}
	return sum
}

// switched makes two fibers switch to each other, below the entry.
func switched(v system1, n int) (sum int) {
	v.Spawn("there", 0, 0, func(self polyfill.Fiber, _ run.Event) []run.Value {
		other := v.New("back", 0, v.onNext, func(other polyfill.Fiber, _ run.Event) []run.Value {
			for {
				v.Switch(other, self, v.onNext, v.yield, run.I32(1))
			}
		})
		for range n {
			e := v.Switch(self, other, v.onYield, v.next)
			sum += int(e.I32(0))
		}
		v.Release(other)
		return nil
	})
	return sum
}

func mounted(n int) (sum int, err error) {
	v := run.NewFibers2()
	defer v.Close()
	yield, next, end := v.Tag("yield", polyfill.I32), v.Tag("next"), v.Tag("end")
	onYield, onNext := v.On(yield), v.On(next)
	_, err = v.Call(func() []run.Value {
		f := v.New("ones", end, onNext, func(self polyfill.Fiber, _ run.Event) []run.Value {
			for {
				v.Dismount(self, onNext, yield, run.I32(1))
			}
		})
		for range n {
			e := v.Mount(f, onYield, next)
			sum += int(e.I32(0))
		}
		v.Release(f)
		return nil
	})
	return sum, err
}

// stack switches to a coroutine and back. The coroutine sends back the first value that it gets, and retires when that
// is 0. With bind, the value is bound first.
func stack(awaits stacks.Awaits, bind bool) func(n int) (int, error) {
	return func(n int) (sum int, err error) {
		s := run.NewStacks()
		defer s.Close()
		_, err = s.Call(func() []run.Value {
			to := s.New("echo", awaits, func(values run.Values, sender polyfill.Token) {
				for values.I32(0) != 0 {
					values, sender = s.Switch(sender, awaits, values[0])
				}
				s.SwitchRetire(sender, values[0])
			})
			for ; n >= 0; n-- {
				value := run.I32(int32(min(n, 1)))
				if bind {
					to = s.Bind(to, value)
					value = run.I32(0)
				}
				var values run.Values
				values, to = s.Switch(to, stacks.Awaits{Values: i32, Nullable: true}, value)
				sum += int(values.I32(0))
			}
			return nil
		})
		return sum, err
	}
}

// answered answers a fiber that asks until the answer is 0. If forwarded, a fiber in between forwards the questions.
func answered(forwarded bool) func(n int) (int, error) {
	return func(n int) (sum int, err error) {
		c := run.NewCont()
		defer c.Close()
		ask := c.Event("ask", i32, i32)
		onAsk := c.On(ask)
		asks := func(values run.Values) []run.Value {
			for values.I32(0) != 0 {
				values = c.Suspend(ask, run.I32(1))
			}
			return nil
		}
		handsOn := func(values run.Values) []run.Value {
			_, e := c.Resume(c.New("asks", i32, 0, asks), onAsk, run.I32(1))
			for e != nil {
				_, e = c.Forward(e, onAsk)
			}
			return nil
		}
		_, err = c.Call(func() []run.Value {
			body := asks
			if forwarded {
				body = handsOn
			}
			_, e := c.Resume(c.New("asked", i32, 0, body), onAsk, run.I32(1))
			for e != nil {
				sum += int(e.Values.I32(0))
				n--
				_, e = c.Resume(e.Cont, onAsk, run.I32(int32(min(n, 1))))
			}
			return nil
		})
		return sum, err
	}
}
