package tree

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fiberfill/fiberfill/asyncio"
	"github.com/fiberfill/fiberfill/polyfill"
)

// world is a tree whose event loop is a real Loop. It notes events. Between turns it checks that everything is
// suspended, and during turns that each fiber was entered by its own scheduler.
type world struct {
	t       *testing.T
	loop    *asyncio.Loop
	tree    *Tree
	start   time.Time
	entries int
	trail   []string
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, loop: asyncio.NewLoop(t.Context()), start: time.Now()}
	w.tree = New("R", func() { w.loop.Go("turn", w.turn) })
	w.tree.trace = func(event string, f *Fiber) {
		w.trail = append(w.trail, f.name+" "+event)
		m := &w.tree.machine
		if m.Active() != f.ref {
			t.Errorf("%s %s, but fiber %#x is active", f.name, event, m.Active())
		}
		for ; f.under != nil; f = &f.under.fiber {
			if m.Parent(f.ref) != f.under.fiber.ref || m.State(f.under.fiber.ref) != polyfill.Busy {
				t.Errorf("%s does not run below its scheduler %s", f.name, f.under.fiber.name)
			}
		}
	}
	return w
}

func (w *world) turn(*asyncio.Fiber) error {
	w.entries++
	w.trail = append(w.trail, fmt.Sprintf("t=%d:", time.Since(w.start).Milliseconds()))
	again := w.tree.Turn(func() bool { return true })
	if again {
		w.loop.Go("turn", w.turn)
	}
	for f := range w.tree.live {
		if s := w.tree.machine.State(f.ref); s != polyfill.Suspended {
			w.t.Errorf("J-TREE-2: between turns %s is %v", f.name, s)
		}
	}
	return nil
}

// after returns a promise that I/O of the event loop settles. It checks that settling runs no fiber.
func (w *world) after(ms int, err error) *Promise[string] {
	p := NewPromise[string]()
	w.loop.Go("timer", func(f *asyncio.Fiber) error {
		asyncio.Sleep(f, time.Duration(ms)*time.Millisecond)
		if before := w.tree.machine.Active(); !p.Settle(fmt.Sprint("d", ms), err) || w.tree.machine.Active() != before {
			w.t.Error("J-MUX-5: settling a promise has entered a fiber")
		}
		return nil
	})
	return p
}

// fetcher is a leaf that waits once.
func (w *world) fetcher(s *Scheduler, name string, ms int, err error) {
	s.Go(name, func(f *Fiber) error {
		_, got := Await(f, w.after(ms, err))
		if got != err {
			w.t.Errorf("%s: Await() = %v, want %v", name, got, err)
		}
		return nil
	})
}

// run runs the tree to its end and checks that nothing is left.
func (w *world) run(want string) {
	w.t.Helper()
	w.loop.Go("turn", w.turn)
	if err := w.loop.Run(); err != nil {
		w.t.Error(err)
	}
	if _, _, ok := w.tree.Done().Settled(); !ok || w.tree.machine.Live() != 0 || len(w.tree.live) != 0 {
		w.t.Errorf("the tree is over: %t; %d fibers are left", ok, w.tree.machine.Live())
	}
	if got := strings.Join(w.trail, ", "); got != want {
		w.t.Errorf("happened\n\t%s\nwant\n\t%s", strings.ReplaceAll(got, "t=", "\n\tt="),
			strings.ReplaceAll(want, "t=", "\n\tt="))
	}
}

// J-TREE-1: each scheduler yields to the one above. J-TREE-2: between turns everything is suspended (see turn).
// J-TREE-3: entry goes from the root to the leaf. J-TREE-4: to the scheduler above, a scheduler is one promise.
// J-TREE-5: the composite names the first to settle, and is made anew from the others.
func TestTree_is_woken_from_the_root_to_the_leaf(t *testing.T) {
	t.Run("S-TREE J-TREE-1 J-TREE-2 J-TREE-3 J-TREE-4 J-TREE-5", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			l1, l2 := w.tree.Root().Scheduler("L1"), w.tree.Root().Scheduler("L2")
			w.fetcher(l1, "a", 20, nil)
			w.fetcher(l1, "b", 40, nil)
			w.fetcher(l2, "c", 30, nil)
			w.run("t=0:, R entered, L1 entered, a entered, a waits, b entered, b waits, L1 waits, L2 entered, c " +
				"entered, c waits, L2 waits, R waits, " +
				"t=20:, R entered, L1 entered, a entered, a over, L1 waits, R waits, " +
				"t=30:, R entered, L2 entered, c entered, c over, L2 over, R waits, " +
				"t=40:, R entered, L1 entered, b entered, b over, L1 over, R over")
			if w.entries != 4 {
				t.Errorf("%d entries from the event loop, want 4", w.entries)
			}
		})
	})
}

func TestThree_levels(t *testing.T) {
	t.Run("J-TREE-3", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			l1 := w.tree.Root().Scheduler("L1")
			inner := l1.Scheduler("L11")
			w.fetcher(inner, "a", 20, nil)
			w.fetcher(l1, "b", 10, nil)
			w.run("t=0:, R entered, L1 entered, L11 entered, a entered, a waits, L11 waits, b entered, b waits, L1 " +
				"waits, R waits, " +
				"t=10:, R entered, L1 entered, b entered, b over, L1 waits, R waits, " +
				"t=20:, R entered, L1 entered, L11 entered, a entered, a over, L11 over, L1 over, R over")
		})
	})
}

// Both leaves are woken once, in the order of settlement, by a single entry.
func TestTwo_settlements_in_one_turn(t *testing.T) {
	t.Run("S-TREE J-TREE-5", func(t *testing.T) {
		for name, test := range map[string]struct {
			under [2]int // the schedulers of a and b
			want  string
		}{
			"of one scheduler": {[2]int{0, 0},
				"t=0:, R entered, L0 entered, b entered, b waits, a entered, a waits, L0 waits, L1 entered, L1 over, " +
					"R waits, " +
					"t=20:, R entered, L0 entered, b entered, b over, a entered, a over, L0 over, R over"},
			"of two schedulers": {[2]int{0, 1},
				"t=0:, R entered, L0 entered, a entered, a waits, L0 waits, L1 entered, b entered, b waits, L1 " +
					"waits, R waits, " +
					"t=20:, R entered, L0 entered, a entered, a over, L0 over, L1 entered, b entered, b over, L1 " +
					"over, R over"},
		} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := newWorld(t)
					schedulers := []*Scheduler{w.tree.Root().Scheduler("L0"), w.tree.Root().Scheduler("L1")}
					w.fetcher(schedulers[test.under[1]], "b", 20, nil)
					w.fetcher(schedulers[test.under[0]], "a", 20, nil)
					w.run(test.want)
				})
			})
		}
	})
}

func TestA_rejected_member_wakes_its_own_leaf(t *testing.T) {
	t.Run("S-TREE J-TREE-5", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			l1 := w.tree.Root().Scheduler("L1")
			w.fetcher(l1, "a", 20, errors.New("refused"))
			w.fetcher(l1, "b", 30, nil)
			w.run("t=0:, R entered, L1 entered, a entered, a waits, b entered, b waits, L1 waits, R waits, " +
				"t=20:, R entered, L1 entered, a entered, a over, L1 waits, R waits, " +
				"t=30:, R entered, L1 entered, b entered, b over, L1 over, R over")
		})
	})
}

// A scheduler gives way after one round, so its siblings and the event loop get their turns.
func TestBusy_clients_starve_no_fiber(t *testing.T) {
	t.Run("J-TREE-1", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			l1, l2 := w.tree.Root().Scheduler("L1"), w.tree.Root().Scheduler("L2")
			for _, name := range []string{"a", "b"} {
				l1.Go(name, func(f *Fiber) error { f.Yield(); return nil })
			}
			l2.Go("c", func(f *Fiber) error { f.Yield(); return nil })
			w.run("t=0:, R entered, L1 entered, a entered, a yields, b entered, b yields, L1 yields, L2 entered, c " +
				"entered, c yields, L2 yields, R yields, " +
				"t=0:, R entered, L1 entered, a entered, a over, b entered, b over, L1 over, L2 entered, c entered, " +
				"c over, L2 over, R over")
		})
	})
}

// J-COST-1: as long as it need not pause, the tree switches among its fibers within one turn.
func TestSwitching_needs_no_event_loop(t *testing.T) {
	t.Run("J-COST-1", func(t *testing.T) {
		tree := New("R", func() { t.Error("a turn is wanted") })
		last, rounds := 0, 0
		for i := range 3 {
			tree.Root().Scheduler("L").Go("leaf", func(f *Fiber) error {
				for range 1000 {
					if rounds > 0 && i != (last+1)%3 {
						t.Fatalf("leaf %d ran after leaf %d: siblings take turns", i, last)
					}
					last = i
					rounds++
					f.Yield()
				}
				return nil
			})
		}
		if tree.Turn(nil) || rounds != 3000 {
			t.Errorf("%d rounds in the first turn, want 3000", rounds)
		}
	})
}

func TestTurn_that_nobody_wanted_does_nothing(t *testing.T) {
	wanted := 0
	tree := New("R", func() { wanted++ })
	p := NewPromise[int]()
	woken := false
	tree.Root().Scheduler("L1").Go("a", func(f *Fiber) error {
		_, err := Await(f, p)
		woken = true
		return err
	})
	for range 3 {
		if tree.Turn(nil) || woken || wanted != 0 {
			t.Fatal("the turn did something")
		}
	}
	p.Settle(0, nil)
	if wanted != 1 || woken {
		t.Errorf("a turn was wanted %d times, want once; the leaf ran: %t", wanted, woken)
	}
	if tree.Turn(nil); !woken {
		t.Error("the leaf did not run")
	}
}

// A leaf may wake or start leaves of other schedulers, beside its own or above, without the event loop.
func TestLeaves_wake_each_other_within_the_turn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		p := NewPromise[int]()
		l1, l2 := w.tree.Root().Scheduler("L1"), w.tree.Root().Scheduler("L2")
		l1.Go("a", func(f *Fiber) error {
			if v, err := Await(f, p); v != 7 || err != nil {
				t.Errorf("Await() = %d, %v", v, err)
			}
			return nil
		})
		l2.Go("b", func(f *Fiber) error {
			p.Settle(7, nil)
			if p.Settle(8, nil) {
				t.Error("the second Settle counted")
			}
			l1.Go("c", func(f *Fiber) error { return nil })
			return nil
		})
		w.run("t=0:, R entered, L1 entered, a entered, a waits, L1 waits, L2 entered, b entered, b over, L2 over, " +
			"R yields, t=0:, R entered, L1 entered, a entered, a over, c entered, c over, L1 over, R over")
	})
}

func TestFailure_ends_its_leaf_and_rejects_the_tree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failure := errors.New("failure")
		w := newWorld(t)
		l1 := w.tree.Root().Scheduler("L1")
		l1.Go("a", func(f *Fiber) error { return failure })
		w.fetcher(l1, "b", 10, nil)
		w.run("t=0:, R entered, L1 entered, a entered, a over, b entered, b waits, L1 waits, R waits, " +
			"t=10:, R entered, L1 entered, b entered, b over, L1 over, R over")
		if _, err, _ := w.tree.Done().Settled(); err != failure {
			t.Errorf("Done() is rejected with %v, want %v itself", err, failure)
		}
	})
	tree := New("R", nil)
	tree.Root().Go("a", func(f *Fiber) error { panic("boom") })
	tree.Root().Go("b", func(f *Fiber) error { return errors.New("failure") })
	tree.Turn(nil)
	var p *asyncio.PanicError
	if _, err, _ := tree.Done().Settled(); !errors.As(err, &p) || p.Fiber != "a" ||
		err.Error() != "asyncio: fiber a panicked: boom\nfailure" {
		t.Errorf("Done() is rejected with %v", err)
	}
}

// A leaf that awaits nil fails alone.
func TestAwait_of_nil_fails_its_leaf_only(t *testing.T) {
	tree := New("R", nil)
	l1 := tree.Root().Scheduler("L1")
	l1.Go("a", func(f *Fiber) error { _, err := Await[int](f, nil); return err })
	other := false
	l1.Go("b", func(f *Fiber) error { f.Yield(); other = true; return nil })
	tree.Turn(nil)
	var p *asyncio.PanicError
	if _, err, _ := tree.Done().Settled(); !errors.As(err, &p) || p.Fiber != "a" ||
		!strings.Contains(err.Error(), "Await of a nil promise in fiber a") {
		t.Errorf("Done() is rejected with %v", err)
	}
	if !other || tree.machine.Live() != 0 {
		t.Errorf("the other leaf went on: %t, %d fibers are left", other, tree.machine.Live())
	}
}

// J-MUX-10: without clients a tree is over at once.
func TestNothing_to_do(t *testing.T) {
	t.Run("J-MUX-10", func(t *testing.T) {
		tree := New("R", nil)
		tree.Root().Scheduler("L1")
		if tree.Turn(nil) || tree.machine.Live() != 0 {
			t.Error("something is left")
		}
		if _, err, ok := tree.Done().Settled(); !ok || err != nil {
			t.Errorf("the tree is over: %t, %v", ok, err)
		}
		tree.Turn(nil) // does nothing
	})
}

// Entering the tree from inside is refused, and so is waiting for another fiber: both would suspend foreign frames.
func TestMisuse_is_refused(t *testing.T) {
	t.Run("J-MUX-5", func(t *testing.T) {
		p := NewPromise[int]()
		other := new(Fiber)
		for want, misuse := range map[string]func(tree *Tree){
			"only the event loop enters": func(tree *Tree) { tree.Turn(nil) },
			"Stop inside a turn":         func(tree *Tree) { tree.Stop() },
			"can only wait for itself":   func(*Tree) { Await(other, p) },
			"is over and can have":       func(tree *Tree) { finished(tree).Go("late", nil) },
		} {
			t.Run(want, func(t *testing.T) {
				tree := New("R", func() {})
				other = tree.Root().Go("other", func(f *Fiber) error { Await(f, p); return nil })
				tree.Root().Go("bad", func(f *Fiber) (err error) {
					defer func() { err = fmt.Errorf("%v", recover()) }()
					misuse(tree)
					return nil
				})
				tree.Turn(nil)
				if err := tree.root.errs; len(err) != 1 || !strings.Contains(err[0].Error(), want) {
					t.Errorf("refused with %v, want %s", err, want)
				}
				if s := tree.machine.State(other.ref); s != polyfill.Suspended {
					t.Errorf("the other fiber is %v: the refusal has changed something", s)
				}
				tree.Stop()
			})
		}
	})
}

func finished(t *Tree) *Scheduler { return &Scheduler{fiber: Fiber{name: "L1", tree: t}, over: true} }

func TestStop_ends_all_and_leaves_nothing(t *testing.T) {
	before := runtime.NumGoroutine()
	tree := New("R", func() {})
	var ended []string
	leaf := func(f *Fiber) error {
		defer func() { ended = append(ended, f.Name()) }()
		defer Await(f, NewPromise[int]()) // panics; the stop goes on
		Await(f, NewPromise[int]())
		t.Error("a statement after the wait ran")
		return nil
	}
	l1 := tree.Root().Scheduler("L1")
	l1.Go("a", leaf)
	l1.Scheduler("L2").Go("b", leaf)
	tree.Root().Go("c", leaf)
	tree.Turn(nil)
	l1.Go("unstarted", func(*Fiber) error { t.Error("it started"); return nil })
	tree.Stop()
	tree.Stop()
	if !slices.Equal(ended, []string{"c", "b", "a"}) || tree.machine.Live() != 0 {
		t.Errorf("ended %v, %d left; want the last made first", ended, tree.machine.Live())
	}
	if n := runtime.NumGoroutine(); n > before {
		t.Errorf("%d goroutines, before %d", n, before)
	}
	if tree.Turn(nil) {
		t.Error("a tree that is stopped had a turn")
	}
}

// A leaf that ends the goroutine ends the whole tree, and no goroutine stays.
func TestGoexit_stops_the_tree(t *testing.T) {
	before := runtime.NumGoroutine()
	tree := New("R", func() {})
	cleaned := false
	tree.Root().Scheduler("L1").Go("waits", func(f *Fiber) error {
		defer func() { cleaned = true }()
		Await(f, NewPromise[int]())
		return nil
	})
	tree.Root().Scheduler("L2").Go("exits", func(f *Fiber) error { runtime.Goexit(); return nil })
	done := make(chan struct{})
	go func() {
		defer close(done)
		tree.Turn(nil)
		t.Error("Turn returned")
	}()
	<-done
	if !cleaned || tree.machine.Live() != 0 {
		t.Errorf("the other leaf was ended: %t; %d fibers are left", cleaned, tree.machine.Live())
	}
	for runtime.NumGoroutine() > before { // the one that has closed done
		runtime.Gosched()
	}
}
