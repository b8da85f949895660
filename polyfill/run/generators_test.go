package run_test

import (
	"fmt"
	"testing"

	"github.com/fiberfill/fiberfill/internal/leaktest"
	"github.com/fiberfill/fiberfill/polyfill"
	"github.com/fiberfill/fiberfill/polyfill/run"
	"github.com/fiberfill/fiberfill/polyfill/stacks"
)

// The scenarios of the documents, as their corrected pseudo-code reads.

func none() []run.Value       { return nil }
func i32(v int32) []run.Value { return []run.Value{run.I32(v)} }
func sum(els []int32) (n int32) {
	for _, el := range els {
		n += el
	}
	return n
}
func numbers(v []run.Value) int32 { return run.Values(v).I32(0) }

var lists = map[string][]int32{
	"four elements":      {10, 20, 30, 40},
	"no elements":        {},
	"negatives":          {-5, 3, -1},
	"wraps around":       {1<<31 - 1, 1},
	"a single, negative": {-1 << 31},
}

// generatorA is arrayGenerator of fibers v1, spawned.
type generatorA struct {
	*run.Fibers1
	identify, yield, next, end, goAhead *run.Tag
	onIdentify, onYield, onNext         polyfill.Table
	spawns, resumes, yields             int
}

func newGeneratorA() *generatorA {
	g := &generatorA{Fibers1: run.NewFibers1()}
	g.identify, g.yield = g.Tag("identify", polyfill.Ref), g.Tag("yield", polyfill.I32)
	g.next, g.end, g.goAhead = g.Tag("next"), g.Tag("end"), g.Tag("go_ahead")
	g.onIdentify, g.onYield, g.onNext = g.On(g.identify), g.On(g.yield, g.end), g.On(g.next)
	return g
}

func (g *generatorA) arrayGenerator(els []int32) run.Func {
	return func(self polyfill.Fiber, _ run.Event) []run.Value {
		g.Suspend(self, g.onNext, g.identify, run.Fiber(self))
		for _, el := range els {
			g.yields++
			g.Suspend(self, g.onNext, g.yield, run.I32(el))
		}
		return none()
	}
}

func (g *generatorA) start(els []int32) polyfill.Fiber {
	g.spawns++
	switch e := g.Spawn("generator", 0, g.onIdentify, g.arrayGenerator(els)); e.Tag {
	case g.identify:
		return e.Fiber(0)
	default:
		panic("the generator has returned before it has identified itself")
	}
}

func (g *generatorA) addAllElements(generator polyfill.Fiber) (total int32) {
	for {
		g.resumes++
		switch e := g.Resume(generator, g.onYield, g.next); e.Tag {
		case g.yield:
			total += e.I32(0)
		default: // end, or it has returned
			return total
		}
	}
}

func TestGenA(t *testing.T) {
	leaktest.Goroutines(t)
	for name, els := range lists {
		t.Run("S-GEN-A "+name, func(t *testing.T) {
			g := newGeneratorA()
			defer g.Close()
			var generator polyfill.Fiber
			got, err := g.Call(func() []run.Value {
				generator = g.start(els)
				return i32(g.addAllElements(generator))
			})
			if err != nil || numbers(got) != sum(els) {
				t.Fatalf("total = %v, error %v; want %d", got, err, sum(els))
			}
			if g.spawns != 1 || g.resumes != len(els)+1 || g.yields != len(els) {
				t.Errorf("%d spawns, %d resumes, %d yields; want 1, %d, "+
					"%d", g.spawns, g.resumes, g.yields, len(els)+1, len(els))
			}
			if s := g.State(generator); s != polyfill.Moribund {
				t.Errorf("the generator is %v, want moribund", s)
			}
			_, err = g.Call(func() []run.Value { g.Resume(generator, g.onYield, g.next); return nil })
			wantTrap(t, err, polyfill.Over, "A-STATE-2")
		})
	}
	t.Run("S-GEN-A go_ahead traps", func(t *testing.T) {
		g := newGeneratorA()
		defer g.Close()
		_, err := g.Call(func() []run.Value {
			g.Resume(g.start([]int32{1}), g.onYield, g.goAhead)
			return nil
		})
		wantTrap(t, err, polyfill.Unhandled, "A-HDL-7")
	})
}

func wantTrap(t *testing.T, err error, code polyfill.Trap, rule string) {
	t.Helper()
	trap, ok := err.(*run.Trap)
	if !ok || trap.Code != code || trap.Rule != rule {
		t.Errorf("error %v, want the trap %q by %s", err, code, rule)
	}
}

func TestGenB(t *testing.T) {
	leaktest.Goroutines(t)
	for name, els := range lists {
		t.Run("S-GEN-B "+name, func(t *testing.T) {
			v := run.NewFibers2()
			defer v.Close()
			yield, next, end, goAhead := v.Tag("yield", polyfill.I32), v.Tag("next"), v.Tag("end"), v.Tag("go_ahead")
			onNext, onYield := v.On(next), v.On(yield, end)
			mounts := 0
			got, err := v.Call(func() []run.Value {
				generator := v.New("generator", end, onNext, func(self polyfill.Fiber, _ run.Event) []run.Value {
					for _, el := range els {
						if e := v.Dismount(self, onNext, yield, run.I32(el)); e.Tag != next {
							panic("the dismount has fallen through")
						}
					}
					return none()
				})
				if e := v.Mount(generator, onYield, goAhead); e.Tag != nil || v.State(generator) != polyfill.Suspended {
					t.Errorf("go_ahead: %v, the generator is %v; want a fall through, and "+
						"suspended", e.Tag, v.State(generator))
				}
				total := int32(0)
				for {
					mounts++
					switch e := v.Mount(generator, onYield, next); e.Tag {
					case yield:
						total += e.I32(0)
					case end:
						if v.State(generator) != polyfill.Moribund {
							t.Errorf("the generator is %v after its end", v.State(generator))
						}
						return i32(total)
					default:
						panic("the mount has fallen through")
					}
				}
			})
			if err != nil || numbers(got) != sum(els) || mounts != len(els)+1 {
				t.Errorf("total %v after %d mounts, error %v; want %d after %d", got, mounts, err, sum(els), len(els)+1)
			}
		})
	}
	t.Run("S-GEN-B a mount after the end traps", func(t *testing.T) {
		v := run.NewFibers2()
		defer v.Close()
		next, end := v.Tag("next"), v.Tag("end")
		_, err := v.Call(func() []run.Value {
			g := v.New("generator", end, v.On(next), func(polyfill.Fiber, run.Event) []run.Value { return none() })
			v.Mount(g, v.On(end), next)
			v.Mount(g, v.On(end), next)
			return nil
		})
		wantTrap(t, err, polyfill.Over, "B-STATE-1")
	})
}

// generatorC is the array generator over switch, for [from, to).
type generatorC struct {
	*run.Stacks
	els      []int32
	bound    bool
	switches int
}

var (
	toGenerator  = stacks.Awaits{}                                                    // next
	initGen      = stacks.Awaits{Values: polyfill.List(polyfill.I32, polyfill.I32)}   // from, to
	fromConsumer = stacks.Awaits{Values: polyfill.List(polyfill.I32), Nullable: true} // element
)

func (g *generatorC) arrayGenerator(v run.Values, consumer polyfill.Token) {
	from, to := v.I32(0), v.I32(1)
	if !g.bound {
		_, consumer = g.Switch(consumer, toGenerator, run.I32(0))
	}
	for ix := from; ix < to; ix++ {
		_, consumer = g.Switch(consumer, toGenerator, run.I32(g.els[ix]))
	}
	g.SwitchRetire(consumer, run.I32(0))
}

func (g *generatorC) addElements(from, to int32) (total int32, last polyfill.Token) {
	var v run.Values
	generator := g.New("generator", initGen, g.arrayGenerator)
	send := func(to polyfill.Token, values ...run.Value) (run.Values, polyfill.Token) {
		g.switches++
		return g.Switch(to, fromConsumer, values...)
	}
	if g.bound {
		generator = g.Bind(generator, run.I32(from), run.I32(to))
	} else {
		_, generator = send(generator, run.I32(from), run.I32(to))
	}
	for {
		last = generator
		v, generator = send(generator)
		if generator == (polyfill.Token{}) {
			return total, last
		}
		total += v.I32(0)
	}
}

func TestGenC(t *testing.T) {
	leaktest.Goroutines(t)
	for _, c := range []struct{ from, to, want int32 }{{0, 4, 100}, {1, 3, 50}, {2, 2, 0}, {3, 1, 0}} {
		for _, bound := range []bool{false, true} {
			t.Run(fmt.Sprintf("S-GEN-C [%d,%d) bound %v", c.from, c.to, bound), func(t *testing.T) {
				g := &generatorC{Stacks: run.NewStacks(), els: []int32{10, 20, 30, 40}, bound: bound}
				defer g.Close()
				var last polyfill.Token
				got, err := g.Call(func() []run.Value {
					var total int32
					total, last = g.addElements(c.from, c.to)
					return i32(total)
				})
				n := max(0, int(c.to-c.from)) + 2
				if bound {
					n--
				}
				if err != nil || numbers(got) != c.want || g.switches != n {
					t.Errorf("total %v after %d switches, error %v; want %d after %d", got, g.switches, err, c.want, n)
				}
				if g.Live() != 0 {
					t.Errorf("%d coroutines are left", g.Live())
				}
				_, err = g.Call(func() []run.Value { g.Switch(last, fromConsumer); return nil })
				wantTrap(t, err, polyfill.StaleToken, "C-REF-2")
			})
		}
	}
}
