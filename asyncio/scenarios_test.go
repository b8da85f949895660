//go:build !tinygo

package asyncio_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fiberfill/fiberfill/asyncio"
	"github.com/fiberfill/fiberfill/internal/leaktest"
)

// adder is a green thread: each time it runs it adds one element and yields. When it is cancelled it returns the sum so
// far.
func adder(elements []int, answers *trail) func(f *asyncio.Fiber) (int, error) {
	return func(f *asyncio.Fiber) (total int, err error) {
		defer func() { answers.add("%s finish(%d)", f.Name(), total) }()
		for _, element := range elements {
			answers.add("%s pause", f.Name())
			total += element
			if err := f.Yield(); err != nil {
				return total, err
			}
		}
		return total, nil
	}
}

// The scheduler, not the arena, decides who runs next. So of the losers the third, which is ready, ends before the
// first, which has just run.
func TestRace_of_green_threads(t *testing.T) {
	t.Run("S-ARENA-A", func(t *testing.T) {
		for name, test := range map[string]struct {
			threads [][]int
			want    int
			trail   []string
		}{
			"three": {[][]int{{1, 2, 3}, {10}, {5, 5, 5, 5}}, 10, []string{
				"main.race[0] pause", "main.race[1] pause", "main.race[2] pause", "main.race[0] pause",
				"main.race[1] finish(10)", "main.race[2] finish(5)", "main.race[0] finish(3)"}},
			"unstarted, cancelled": {[][]int{{}, {7}}, 0, []string{"main.race[0] finish(0)"}},
			"alone":                {[][]int{{4}}, 4, []string{"main.race[0] pause", "main.race[0] finish(4)"}},
		} {
			t.Run(name, func(t *testing.T) {
				leaktest.Goroutines(t)
				var answers trail
				err := asyncio.Run(t.Context(), func(f *asyncio.Fiber) error {
					var fns []func(*asyncio.Fiber) (int, error)
					for _, elements := range test.threads {
						fns = append(fns, adder(elements, &answers))
					}
					total, err := asyncio.Race(f, fns...)
					if total != test.want {
						t.Errorf("Race() = %d, want %d", total, test.want)
					}
					return err
				})
				if err != nil {
					t.Error(err)
				}
				answers.want(t, test.trail...)
			})
		}
	})
}

// A generator needs no support from asyncio: a function that yields its elements may wait between them, on the fiber
// that uses it ...
func slowly(f *asyncio.Fiber, elements []int) iter.Seq2[int, error] {
	return func(yield func(int, error) bool) {
		for _, element := range elements {
			if err := asyncio.Sleep(f, 10*time.Millisecond); !yield(element, err) || err != nil {
				return
			}
		}
	}
}

func TestGenerator_that_waits(t *testing.T) {
	t.Run("the sums of S-GEN-A", func(t *testing.T) {
		for name, sum := range map[string]func(seq iter.Seq2[int, error]) (int, error){
			"in a loop": func(seq iter.Seq2[int, error]) (sum int, err error) {
				for element, err := range seq {
					if err != nil {
						return sum, err
					}
					sum += element
				}
				return sum, nil
			},
			// ... even if it runs on a stack of its own, below the fiber's. Then both stacks wait.
			"pulled": func(seq iter.Seq2[int, error]) (sum int, err error) {
				next, stop := iter.Pull2(seq)
				defer stop()
				for {
					element, err, ok := next()
					if !ok || err != nil {
						return sum, err
					}
					sum += element
				}
			},
		} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					start, ticks := time.Now(), 0
					err := asyncio.Run(t.Context(), func(f *asyncio.Fiber) error {
						f.Go("clock", func(f *asyncio.Fiber) error {
							for asyncio.Sleep(f, 4*time.Millisecond) == nil {
								ticks++
							}
							return nil
						})
						for want, elements := range map[int][]int{100: {10, 20, 30, 40}, 0: nil, -3: {-1, -2}} {
							if got, err := sum(slowly(f, elements)); got != want || err != nil {
								t.Errorf("the sum of %v is %d, %v", elements, got, err)
							}
						}
						return nil
					})
					if d := time.Since(start); err != nil || d != 60*time.Millisecond || ticks < 14 {
						t.Errorf("Run() = %v after %v and %d ticks of the other fiber", err, d, ticks)
					}
				})
			})
			t.Run(name+", cancelled", func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					reason := errors.New("reason")
					err := asyncio.Run(t.Context(), func(f *asyncio.Fiber) error {
						consumer := f.Go("consumer", func(f *asyncio.Fiber) error {
							got, err := sum(slowly(f, []int{1, 2, 3, 4}))
							if got != 3 {
								t.Errorf("the sum so far is %d, want 3", got)
							}
							return err
						})
						asyncio.Sleep(f, 25*time.Millisecond)
						consumer.Cancel(reason)
						return f.Wait(consumer)
					})
					if err != reason {
						t.Errorf("Run() = %v, want %v", err, reason)
					}
				})
			})
		}
	})
}

// simpleFetch returns after ms milliseconds. Like a server, it works outside the loop.
func simpleFetch(f *asyncio.Fiber, ms int, data string, err error) (string, error) {
	return asyncio.Block(f, func(ctx context.Context) (string, error) {
		select {
		case <-time.After(time.Duration(ms) * time.Millisecond):
			return data, err
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	})
}

// fetching runs fn on a virtual clock and returns the events with their times.
func fetching(t *testing.T, fn func(f *asyncio.Fiber, note func(format string, args ...any)) error) (tr trail,
	err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		err = asyncio.Run(t.Context(), func(f *asyncio.Fiber) error {
			return fn(f, func(format string, args ...any) {
				tr.add("t=%d: %s", time.Since(start).Milliseconds(), fmt.Sprintf(format, args...))
			})
		})
	})
	return tr, err
}

func TestFetch_variants(t *testing.T) {
	t.Run("S-FETCH", func(t *testing.T) {
		refused := errors.New("refused")
		type note = func(format string, args ...any)
		for name, test := range map[string]struct {
			run  func(f *asyncio.Fiber, note note) error
			want trail
			err  error
		}{
			"two fetches in sequence": {func(f *asyncio.Fiber, note note) error {
				f.Go("f0", func(f *asyncio.Fiber) error {
					for _, ms := range []int{10, 15} {
						data, err := simpleFetch(f, ms, fmt.Sprint("d", ms), nil)
						note("f0 %s %v", data, err)
					}
					return nil
				})
				f.Go("f1", func(f *asyncio.Fiber) error {
					data, err := simpleFetch(f, 20, "d1", nil)
					note("f1 %s %v", data, err)
					return nil
				})
				return f.WaitAll()
			}, trail{"t=10: f0 d10 <nil>", "t=20: f1 d1 <nil>", "t=25: f0 d15 <nil>"}, nil},
			"green threads run while fetches are out": {func(f *asyncio.Fiber, note note) error {
				out := 2
				for i := range out {
					f.Go("fetch", func(f *asyncio.Fiber) error {
						simpleFetch(f, 10*(i+1), "", nil)
						note("fetched")
						out--
						return nil
					})
				}
				rounds := [2]int{}
				for i := range rounds {
					f.Go("green", func(f *asyncio.Fiber) error {
						for ; out > 0; rounds[i]++ {
							if rounds[i] < 1000 {
								f.Yield()
							} else {
								// The virtual clock stands still while any fiber runs.
								asyncio.Sleep(f, time.Millisecond)
							}
						}
						return nil
					})
				}
				err := f.WaitAll()
				if rounds[0] < 1010 || rounds[0]-rounds[1] > 1 || rounds[1]-rounds[0] > 1 {
					note("the green threads ran %v times", rounds)
				}
				return err
			}, trail{"t=10: fetched", "t=20: fetched"}, nil},
			"a rejected fetch is its own fiber's error only": {func(f *asyncio.Fiber, note note) error {
				for i, failure := range []error{nil, refused, nil} {
					f.Go("", func(f *asyncio.Fiber) error {
						_, err := simpleFetch(f, 10*(i+1), "", failure)
						note("f%d %v", i, err)
						return nil // handled
					})
				}
				return f.WaitAll()
			}, trail{"t=10: f0 <nil>", "t=20: f1 refused", "t=30: f2 <nil>"}, nil},
			"if unhandled it cancels the rest and is the result": {func(f *asyncio.Fiber, note note) error {
				_, err := asyncio.All(f, func(f *asyncio.Fiber) (string, error) {
					data, err := simpleFetch(f, 30, "d0", nil)
					note("f0 cancelled: %t", errors.Is(err, context.Canceled))
					return data, err
				}, func(f *asyncio.Fiber) (string, error) {
					return simpleFetch(f, 10, "", refused)
				}, func(f *asyncio.Fiber) (string, error) {
					return simpleFetch(f, 5, "d2", nil)
				})
				note("%v", err)
				return err
			}, trail{"t=10: f0 cancelled: true", "t=10: refused"}, refused},
		} {
			t.Run(name, func(t *testing.T) {
				got, err := fetching(t, test.run)
				if err != test.err {
					t.Errorf("Run() = %v, want %v", err, test.err)
				}
				got.want(t, test.want...)
			})
		}
	})
}

// Two completions in one turn are both delivered, in the order of settlement.
func TestFetch_two_completions_in_one_turn(t *testing.T) {
	t.Run("S-FETCH", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var gates [3]chan struct{}
			var done []int
			l := asyncio.NewLoop(t.Context())
			l.StartLog()
			for i := range gates {
				gates[i] = make(chan struct{})
				l.Go(fmt.Sprint("f", i), func(f *asyncio.Fiber) error {
					_, err := asyncio.Block(f, func(context.Context) (int, error) { <-gates[i]; return 0, nil })
					if done = append(done, i); i == 0 {
						for _, next := range []int{2, 1} { // both before the loop looks again
							close(gates[next])
							synctest.Wait()
						}
					}
					return err
				})
			}
			close(gates[0])
			if err := l.Run(); err != nil || !slices.Equal(done, []int{0, 2, 1}) {
				t.Errorf("done in the order %v, %v; want 0 2 1", done, err)
			}
			entries := 0
			for _, line := range l.Log() {
				if line == "entered" {
					entries++
				}
			}
			if entries > 3 {
				t.Errorf("%d entries, want at most 3: the two need one\n%v", entries, l.Log())
			}
		})
	})
}
