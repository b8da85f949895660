package schedtest

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/fiberfill/fiberfill/asyncio"
	"github.com/fiberfill/fiberfill/polyfill"
)

var seed = flag.Uint64("seed", 0, "seed of the random tests; 0: a new one")

// newRandom returns a random source and logs how to replay it.
func newRandom(t testing.TB) *rand.Rand {
	s := *seed
	if s == 0 {
		s = uint64(time.Now().UnixNano())
	}
	t.Logf("random: replay with -seed %d", s)
	return rand.New(rand.NewPCG(s, 0))
}

// randomPrograms runs random programs in which every wait is for something that will come. Whatever the limits and the
// budget, all fibers must end: if one does not, a wake-up was lost.
func randomPrograms(t *testing.T, open func(t *testing.T) Unused) {
	random := newRandom(t)
	for range 60 {
		s := newStage(t, open(t))
		soft := int32(1 + random.IntN(10))
		s.init(float64(random.IntN(5)), soft, soft+int32(random.IntN(10)))
		spawned, dropped := 0, 0
		var script func(depth int) []step
		script = func(depth int) (steps []step) {
			for range random.IntN(5) {
				switch random.IntN(7) {
				case 0, 1:
					steps = append(steps, fetch(float64(random.IntN(30))))
				case 2:
					steps = append(steps, sleep(float64(random.IntN(30))))
				case 3:
					steps = append(steps, yield)
				case 4:
					steps = append(steps, spend(random.Float64()*3), do(s.settle))
				case 5:
					if depth < 3 {
						child := script(depth + 1)
						steps = append(steps, do(func() {
							spawned++
							s.spawn(fmt.Sprint(spawned), child...)
						}))
					}
				case 6:
					if random.IntN(5) == 0 {
						return append(steps, trap)
					}
				}
			}
			return steps
		}
		for range 1 + random.IntN(30) {
			spawned++
			f := s.spawn(fmt.Sprint(spawned), script(0)...)
			if random.IntN(8) == 0 && s.core.Drop(f) {
				dropped++
			}
			if random.IntN(6) == 0 {
				s.wake()
				s.now += float64(random.IntN(20))
			}
		}
		s.loop()
		if ended := s.count(asyncio.Finished); ended+dropped != spawned || s.core.Live() != 0 {
			t.Fatalf("of %d fibers %d ended and %d were dropped, %d are alive at %v ms\n%s", spawned, ended, dropped,
				s.core.Live(), s.now, tail(s.text()))
		}
		if s.judge(); t.Failed() {
			return
		}
	}
}

// Differential plays the same random operations on two cores, in any order that a driver could use. It fails at the
// first differing answer, if the logs differ, or if a log breaks a rule. In some runs b keeps no log, and in some
// nobody sleeps: a scheduler may take a shorter way then.
func Differential(t *testing.T, a, b Unused, operations int) {
	random := newRandom(t)
	soft := int32(1 + random.IntN(20))
	budget, hard := float64(random.IntN(10)), soft+int32(random.IntN(20))
	a.Init(budget, soft, hard)
	b.Init(budget, soft, hard)
	a.StartLog()
	logs, sleeps := random.IntN(2) == 0, random.IntN(2) == 0
	if logs {
		b.StartLog()
	}
	var (
		live    []polyfill.Fiber
		dead    []polyfill.Fiber // some fibers that are over
		waits   = map[polyfill.Fiber]uint32{}
		running polyfill.Fiber
		callers = map[polyfill.Fiber]polyfill.Fiber{} // of Begin, by the fibers that are still inside that call
		now     float64
	)
	same := func(i int, name string, x, y any) {
		t.Helper()
		if x != y {
			t.Fatalf("operation %d at %v ms, %s: %v and %v", i, now, name, x, y)
		}
	}
	pick := func() polyfill.Fiber {
		switch n := random.IntN(50); {
		case n == 0 || len(live) == 0:
			return polyfill.Fiber(random.Uint32())
		case n < 5 && len(dead) > 0:
			return dead[random.IntN(len(dead))]
		}
		return live[random.IntN(len(live))]
	}
	over := func(f polyfill.Fiber) {
		if i := slices.Index(live, f); i >= 0 {
			live = slices.Delete(live, i, i+1)
			dead = append(dead, f)
			dead = dead[max(0, len(dead)-20):]
		}
	}
	for i := range operations {
		now += float64(random.IntN(4)) * random.Float64()
		step := func(name string, run func(c Core) asyncio.Command) {
			x, y := run(a), run(b)
			same(i, name, x, y)
			waits[running]++
			if caller, begun := callers[running]; begun {
				delete(callers, running)
				running = caller
			} else if running = x.Fiber(); x == asyncio.TurnOver {
				running = 0
			}
		}
		operation := random.IntN(17)
		if operation >= 10 && operation != 14 && running == 0 {
			operation = 0
		}
		if operation == 12 && !sleeps {
			operation = 13
		}
		switch operation {
		case 0, 1:
			if x, y := a.Turn(now), b.Turn(now); true {
				same(i, "turn", x, y)
				if running == 0 && x != asyncio.TurnOver {
					running = x.Fiber()
				}
			}
		case 2, 3:
			if len(live) < 60 {
				x, y := a.Spawn(), b.Spawn()
				same(i, "spawn", x, y)
				live = append(live, x)
			}
		case 4, 5, 6:
			f := pick()
			n := waits[f] - uint32(random.IntN(3)) + 1
			same(i, "notify", a.Notify(f, n), b.Notify(f, n))
		case 7:
			if f := pick(); random.IntN(4) == 0 {
				x, y := a.Drop(f), b.Drop(f)
				same(i, "drop", x, y)
				if x {
					over(f)
				}
			}
		case 8:
			same(i, "wanted", a.Wanted(), b.Wanted())
			same(i, "live", a.Live(), b.Live())
		case 9:
			x, xok := a.Deadline()
			y, yok := b.Deadline()
			same(i, "deadline", x, y)
			same(i, "deadline, ok", xok, yok)
		case 10, 11:
			step("wait", func(c Core) asyncio.Command { return c.Wait(now) })
		case 12:
			until := now + float64(random.IntN(50))
			step("sleep", func(c Core) asyncio.Command { return c.Sleep(until, now) })
		case 13:
			step("yield", func(c Core) asyncio.Command { return c.Yield(now) })
		case 14:
			if len(live) < 60 {
				x, started := a.Begin()
				y, also := b.Begin()
				same(i, "begin", x, y)
				same(i, "begin, started", started, also)
				live = append(live, x)
				if started {
					callers[x] = running
					running = x
				}
			}
		default:
			trap := random.IntN(4) == 0
			over(running)
			step("finish", func(c Core) asyncio.Command { return c.Finish(trap, now) })
		}
	}
	x := a.Log()
	if logs {
		y := b.Log()
		same(operations, "length of the log", len(x), len(y))
		for i := range x {
			same(operations, fmt.Sprintf("log, record %d", i), x[i], y[i])
		}
	}
	if err := judge(x); err != "" {
		t.Error(err)
	}
	kinds := map[asyncio.Event]int{}
	for _, r := range x {
		kinds[r.Event]++
	}
	for e := asyncio.Spawned; e <= asyncio.Paused; e++ {
		if kinds[e] == 0 {
			t.Errorf("no event %q in %d operations: the test shows nothing", e, operations)
		}
	}
}
