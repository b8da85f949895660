//go:build !tinygo

package asyncio_test

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fiberfill/fiberfill/asyncio"
	"github.com/fiberfill/fiberfill/internal/leaktest"
)

func TestAll_returns_the_values_in_the_order_of_the_functions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var values []int
		err := asyncio.Run(t.Context(), func(f *asyncio.Fiber) (err error) {
			var fns []func(*asyncio.Fiber) (int, error)
			for _, ms := range []int{30, 10, 20} {
				fns = append(fns, func(f *asyncio.Fiber) (int, error) {
					return ms, asyncio.Sleep(f, time.Duration(ms)*time.Millisecond)
				})
			}
			values, err = asyncio.All(f, fns...)
			return err
		})
		if err != nil || !slices.Equal(values, []int{30, 10, 20}) {
			t.Errorf("All() = %v, %v", values, err)
		}
		if d := time.Since(start); d != 30*time.Millisecond {
			t.Errorf("it took %v, want 30ms: all at once", d)
		}
	})
}

func TestAll_without_functions_returns_at_once(t *testing.T) {
	leaktest.Goroutines(t)
	err := asyncio.Run(t.Context(), func(f *asyncio.Fiber) error {
		values, err := asyncio.All[int](f)
		if len(values) != 0 {
			t.Errorf("All() = %v", values)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestAll_first_failure_ends_the_others_last_started_first(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		boom := errors.New("boom")
		var tr trail
		err := asyncio.Run(t.Context(), func(f *asyncio.Fiber) error {
			wait := func(f *asyncio.Fiber) (int, error) {
				err := asyncio.Sleep(f, time.Hour)
				if context.Cause(f) != err || !errors.Is(err, boom) || !errors.Is(err, context.Canceled) {
					t.Errorf("%s was cancelled with %v, want a cause that has the failure in it", f.Name(), err)
				}
				tr.add("%s over", f.Name())
				return 0, err
			}
			values, err := asyncio.All(f, wait, wait, func(f *asyncio.Fiber) (int, error) {
				tr.add("%s fails", f.Name())
				return 0, boom
			}, wait, func(f *asyncio.Fiber) (int, error) {
				t.Error("a fiber started after the failure")
				return 0, nil
			})
			tr.add("All returns")
			if values != nil || err != boom {
				t.Errorf("All() = %v, %v, want the error itself", values, err)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		tr.want(t, "main.all[2] fails", "main.all[1] over", "main.all[0] over", "All returns")
	})
}

// A timer or another fiber's end may come for a cancelled fiber while others still have to end before it.
func TestCancelled_fibers_end_in_their_order_whatever_comes_for_them_meanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tr trail
		boom := errors.New("boom")
		err := asyncio.Run(t.Context(), func(f *asyncio.Fiber) error {
			brief := f.Go("brief", func(f *asyncio.Fiber) error { return asyncio.Sleep(f, 2*time.Millisecond) })
			return asyncio.Arena(f, "arena", func(a *asyncio.Fiber) error {
				note := func(f *asyncio.Fiber, err error) error {
					tr.add("%s: %v", f.Name(), err)
					return err
				}
				a.Go("sleeper", func(f *asyncio.Fiber) error { return note(f, asyncio.Sleep(f, 2*time.Millisecond)) })
				a.Go("waiter", func(f *asyncio.Fiber) error { return note(f, f.Wait(brief)) })
				a.Go("last", func(f *asyncio.Fiber) error {
					err := asyncio.Sleep(f, time.Hour)
					time.Sleep(3 * time.Millisecond) // its cleanup takes long, and lets others run
					for range 3 {
						f.Yield()
					}
					return note(f, err)
				})
				if err := asyncio.Sleep(a, time.Millisecond); err != nil {
					return err
				}
				return boom
			})
		})
		if !errors.Is(err, boom) {
			t.Error(err)
		}
		const cause = "asyncio: context canceled, because the scope of this fiber has failed: boom"
		tr.want(t, "last: "+cause, "waiter: "+cause, "sleeper: "+cause)
	})
}

func TestAll_keeps_the_first_error_and_attaches_the_others(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, second, third := errors.New("first"), errors.New("second"), errors.New("third")
		instead := func(err error) func(f *asyncio.Fiber) (int, error) {
			return func(f *asyncio.Fiber) (int, error) {
				asyncio.Sleep(f, time.Hour)
				return 0, err
			}
		}
		err := asyncio.Run(t.Context(), func(f *asyncio.Fiber) error {
			_, err := asyncio.All(f, instead(third), instead(second), func(f *asyncio.Fiber) (int, error) {
				return 0, asyncio.Sleep(f, time.Second)
			}, func(f *asyncio.Fiber) (int, error) {
				f.Yield()
				return 0, first
			})
			return err
		})
		joined, ok := err.(interface{ Unwrap() []error })
		if !ok || !slices.Equal(joined.Unwrap(), []error{first, second, third}) {
			t.Errorf("Run() = %q, want first, second, third", err)
		}
	})
}

// A member that somebody else cancelled has no value, so All fails.
func TestAll_fails_if_a_member_is_cancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reason := errors.New("not you")
		err := asyncio.Run(t.Context(), func(f *asyncio.Fiber) error {
			var member *asyncio.Fiber
			_, err := asyncio.All(f, func(f *asyncio.Fiber) (int, error) {
				member = f
				return 1, asyncio.Sleep(f, time.Hour)
			}, func(f *asyncio.Fiber) (int, error) {
				member.Cancel(reason)
				return 2, nil
			})
			return err
		})
		if err != reason {
			t.Errorf("Run() = %v, want %v", err, reason)
		}
	})
}

func TestRace_first_finisher_ends_the_others_in_order(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tr trail
		start := time.Now()
		err := asyncio.Run(t.Context(), func(f *asyncio.Fiber) error {
			runner := func(ms int) func(f *asyncio.Fiber) (string, error) {
				return func(f *asyncio.Fiber) (string, error) {
					err := asyncio.Sleep(f, time.Duration(ms)*time.Millisecond)
					tr.add("%s: %v", f.Name(), err)
					f.Yield() // a loser may take its time; the next one is cancelled after it
					tr.add("%s over", f.Name())
					return fmt.Sprint(ms), err
				}
			}
			value, err := asyncio.Race(f, runner(30), runner(20), runner(10), runner(40))
			tr.add("Race returns %s", value)
			return err
		})
		if d := time.Since(start); err != nil || d != 10*time.Millisecond {
			t.Errorf("Run() = %v after %v, want nil after 10ms", err, d)
		}
		lost := "asyncio: another fiber has won the race: context canceled"
		tr.want(t, "main.race[2]: <nil>", "main.race[2] over",
			"main.race[0]: "+lost, "main.race[0] over", "main.race[1]: "+lost, "main.race[1] over",
			"main.race[3]: "+lost, "main.race[3] over", "Race returns 10")
	})
}

func TestRace_can_be_won_by_a_failure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		boom := errors.New("boom")
		err := asyncio.Run(t.Context(), func(f *asyncio.Fiber) error {
			_, err := asyncio.Race(f, func(f *asyncio.Fiber) (int, error) {
				return 0, asyncio.Sleep(f, time.Hour)
			}, func(f *asyncio.Fiber) (int, error) { return 0, boom })
			return err
		})
		if err != boom {
			t.Errorf("Run() = %v, want %v", err, boom)
		}
	})
}

func TestRace_attaches_what_a_loser_fails_with(t *testing.T) {
	first := errors.New("first")
	for _, winner := range []error{nil, first} {
		synctest.Test(t, func(t *testing.T) {
			err := asyncio.Run(t.Context(), func(f *asyncio.Fiber) error {
				value, err := asyncio.Race(f, func(f *asyncio.Fiber) (int, error) {
					defer panic("cleaning up")
					return 0, asyncio.Sleep(f, time.Hour)
				}, func(f *asyncio.Fiber) (int, error) { return 7, winner })
				if value != 7 {
					t.Errorf("Race() = %d, want 7", value)
				}
				return err
			})
			var p *asyncio.PanicError
			if !errors.As(err, &p) || p.Fiber != "main.race[0]" || p.Value != "cleaning up" {
				t.Errorf("Run() = %v, want the loser's panic", err)
			}
			if joined, ok := err.(interface{ Unwrap() []error }); winner != nil &&
				(!ok || !slices.Equal(joined.Unwrap(), []error{first, p})) {
				t.Errorf("Run() = %q, want the winner's error and then the panic", err)
			}
		})
	}
}

// A panic is no answer to a cancellation, whatever it panics with.
func TestRace_attaches_a_panic_with_the_cause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		err := asyncio.Run(t.Context(), func(f *asyncio.Fiber) error {
			_, err := asyncio.Race(f, func(f *asyncio.Fiber) (int, error) {
				panic(asyncio.Sleep(f, time.Hour))
			}, func(f *asyncio.Fiber) (int, error) { return 7, nil })
			return err
		})
		var p *asyncio.PanicError
		if !errors.As(err, &p) {
			t.Errorf("Run() = %v, want the loser's panic", err)
		}
	})
}

func TestRace_without_functions_panics(t *testing.T) {
	err := asyncio.Run(t.Context(), func(f *asyncio.Fiber) error {
		_, err := asyncio.Race[int](f)
		return err
	})
	if err == nil || !strings.Contains(err.Error(), "needs at least one function") {
		t.Errorf("Run() = %v", err)
	}
}

// Of 20,000 fibers that have not started none starts, and their ends do not nest.
func TestRace_of_many_is_won_by_the_first(t *testing.T) {
	leaktest.Goroutines(t)
	fns := make([]func(*asyncio.Fiber) (int, error), 20_000)
	for i := range fns {
		fns[i] = func(*asyncio.Fiber) (int, error) {
			if i > 0 {
				t.Error("a loser has started")
			}
			return i, nil
		}
	}
	err := asyncio.Run(t.Context(), func(f *asyncio.Fiber) error {
		_, err := asyncio.Race(f, fns...)
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestArena_ends_all_its_fibers_children_before_parents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tr trail
		reason := errors.New("enough")
		err := asyncio.Run(t.Context(), func(f *asyncio.Fiber) error {
			defer tr.add("main closes what all have used")
			victim := f
			f.Go("clock", func(f *asyncio.Fiber) error {
				asyncio.Sleep(f, time.Second)
				victim.Cancel(reason)
				return nil
			})
			err := asyncio.Arena(f, "outer", func(a *asyncio.Fiber) error {
				a.Go("first", tr.sleeper)
				a.Go("second", func(f *asyncio.Fiber) error {
					defer tr.add("second closes what inner has used")
					return asyncio.Arena(f, "inner", func(a *asyncio.Fiber) error {
						a.Go("child", tr.sleeper)
						a.Go("stubborn", func(f *asyncio.Fiber) error {
							err := tr.sleeper(f)
							for range 3 {
								f.Yield()
							}
							tr.add("stubborn over")
							return err
						})
						return a.WaitAll()
					})
				})
				a.Go("third", func(f *asyncio.Fiber) error {
					_, err := asyncio.Block(f, func(ctx context.Context) (int, error) {
						<-ctx.Done()
						return 0, ctx.Err()
					})
					tr.add("third: %v", err)
					return err
				})
				return a.WaitAll()
			})
			tr.add("arena: %v", err)
			return err
		})
		if err != reason {
			t.Errorf("Run() = %v, want %v", err, reason)
		}
		tr.want(t, "third: enough", "stubborn: enough", "stubborn over", "child: enough",
			"second closes what inner has used", "first: enough", "arena: enough", "main closes what all have used")
	})
}

func TestArena_ends_with_what_its_function_returns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tr trail
		own, lost := errors.New("own"), errors.New("lost")
		err := asyncio.Run(t.Context(), func(f *asyncio.Fiber) error {
			if err := asyncio.Arena(f, "fine", func(a *asyncio.Fiber) error {
				a.Go("a", tr.sleeper)
				a.Go("b", tr.sleeper)
				return a.Yield()
			}); err != nil {
				t.Errorf("Arena() = %v, want nil: a cancelled fiber has not failed", err)
			}
			return asyncio.Arena(f, "bad", func(a *asyncio.Fiber) error {
				a.Go("c", func(f *asyncio.Fiber) error { return lost })
				a.Yield()
				return own
			})
		})
		joined, ok := err.(interface{ Unwrap() []error })
		if !ok || !slices.Equal(joined.Unwrap(), []error{own, lost}) {
			t.Errorf("Run() = %v, want own and then lost", err)
		}
		over := "asyncio: the fiber that started this one is over: context canceled"
		tr.want(t, "b: "+over, "a: "+over)
	})
}

// Cancellation is an event: the wait returns it, as one of its three outcomes.
func TestCancel_is_an_event_a_wait_is_answered_by_success_error_or_cancel(t *testing.T) {
	t.Run("A-EXC-3 J-MUX-8", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			failure, reason := errors.New("failure"), errors.New("reason")
			var got []error
			err := asyncio.Run(t.Context(), func(f *asyncio.Fiber) error {
				return asyncio.Arena(f, "arena", func(a *asyncio.Fiber) error {
					for _, result := range []error{nil, failure} {
						a.Go("", func(f *asyncio.Fiber) error {
							_, err := asyncio.Block(f, func(context.Context) (int, error) { return 0, result })
							got = append(got, err)
							return nil
						})
					}
					if err := a.WaitAll(); err != nil {
						return err
					}
					a.Go("", func(f *asyncio.Fiber) error {
						_, err := asyncio.Block(f, func(ctx context.Context) (int, error) {
							<-ctx.Done()
							return 0, nil
						})
						got = append(got, err)
						return err
					})
					a.Yield()
					a.Cancel(reason)
					return a.WaitAll()
				})
			})
			slices.SortFunc(got[:2], func(a, b error) int { // their order depends on the goroutines
				if a == nil {
					return -1
				}
				return 1
			})
			if !slices.Equal(got, []error{nil, failure, reason}) || err != reason {
				t.Errorf("the waits ended with %v, Run() = %v", got, err)
			}
		})
	})
}

func TestAll_and_Race_return_what_their_functions_make_of_a_cancellation(t *testing.T) {
	cause := errors.New("no longer wanted")
	sleeping := 0
	sleep := func(m *asyncio.Fiber) error { sleeping++; return asyncio.Sleep(m, time.Hour) }
	one := func(m *asyncio.Fiber) (int, error) { return 1, sleep(m) }
	two := func(m *asyncio.Fiber) (int, error) { sleep(m); return 2, nil }
	err := asyncio.Run(t.Context(), func(f *asyncio.Fiber) error {
		all := f.Go("all", func(f *asyncio.Fiber) error {
			if values, err := asyncio.All(f, two, two); err != nil || len(values) != 2 {
				t.Errorf("All() = %v, %v, want the values of the members that swallowed the cause", values, err)
			}
			return nil
		})
		race := f.Go("race", func(f *asyncio.Fiber) error {
			if value, err := asyncio.Race(f, one, two); err != nil || value != 2 {
				t.Errorf("Race() = %v, %v, want the result of the last started member, which ended first", value, err)
			}
			return nil
		})
		failed := f.Go("failed", func(f *asyncio.Fiber) error {
			if _, err := asyncio.All(f, one, two); err != cause {
				t.Errorf("All() = %v, want the cause", err)
			}
			return nil
		})
		for sleeping < 6 {
			f.Yield()
		}
		for _, child := range []*asyncio.Fiber{all, race, failed} {
			child.Cancel(cause)
		}
		return f.WaitAll()
	})
	if err != nil {
		t.Error(err)
	}
}

func TestArena_of_a_cancelled_fiber_does_not_begin(t *testing.T) {
	reason := errors.New("reason")
	l := asyncio.NewLoop(t.Context())
	l.Go("f", func(f *asyncio.Fiber) error {
		f.Cancel(reason)
		if err := asyncio.Arena(f, "a", func(*asyncio.Fiber) error { t.Error("it began"); return nil }); err != reason {
			t.Errorf("Arena() = %v, want %v", err, reason)
		}
		began := func(*asyncio.Fiber) (int, error) { t.Error("it began"); return 0, nil }
		if _, err := asyncio.All(f, began); err != reason {
			t.Errorf("All() = %v, want %v", err, reason)
		}
		return nil
	})
	if err := l.Run(); err != nil {
		t.Error(err)
	}
}

// Fibers that never started end one after the other, not inside each other: however many they are, it takes no stack.
func TestArena_ends_any_number_of_fibers_that_never_started(t *testing.T) {
	defer debug.SetMaxStack(debug.SetMaxStack(1 << 20))
	failure := errors.New("failure")
	started := false
	err := asyncio.Run(t.Context(), func(f *asyncio.Fiber) error {
		return asyncio.Arena(f, "many", func(a *asyncio.Fiber) error {
			for range 20_000 {
				a.Go("unstarted", func(*asyncio.Fiber) error { started = true; return nil })
			}
			return failure
		})
	})
	if err != failure || started {
		t.Errorf("Run() = %v, started %v, want the arena's error and nobody started", err, started)
	}
}

// A fiber that is started while its arena ends never runs, and is cancelled like the others.
func TestArena_cancels_what_is_started_while_it_ends(t *testing.T) {
	leaktest.Goroutines(t)
	var late *asyncio.Fiber
	err := asyncio.Run(t.Context(), func(f *asyncio.Fiber) error {
		err := asyncio.Arena(f, "a", func(a *asyncio.Fiber) error {
			a.Go("cleans up", func(c *asyncio.Fiber) error {
				err := asyncio.Sleep(c, time.Hour)
				late = a.Go("late", func(*asyncio.Fiber) error { t.Error("it has started"); return nil })
				return err
			})
			a.Yield()
			return nil
		})
		if err != nil {
			return err
		}
		if err := f.Wait(late); err == nil {
			t.Error("it was not cancelled")
		}
		return nil
	})
	if err != nil {
		t.Errorf("Run() = %v", err)
	}
}
