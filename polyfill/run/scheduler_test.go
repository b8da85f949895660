package run_test

import (
	"slices"
	"testing"

	"github.com/fiberfill/fiberfill/internal/leaktest"
	"github.com/fiberfill/fiberfill/polyfill"
	"github.com/fiberfill/fiberfill/polyfill/run"
)

// schedulerD is the thread scheduler of seed 002.
type schedulerD struct {
	*run.Cont
	yield, spawn, other *run.Tag
	own, all            polyfill.Table
	queue               []polyfill.Token
	procs               map[int32]run.ContFunc
	log                 []string
}

func newSchedulerD() *schedulerD {
	s := &schedulerD{Cont: run.NewCont(), procs: map[int32]run.ContFunc{}}
	s.yield, s.spawn = s.Event("yield", 0, 0), s.Event("spawn", polyfill.List(polyfill.I32), 0)
	s.other = s.Event("other", polyfill.List(polyfill.I32), polyfill.List(polyfill.I32))
	s.own, s.all = s.On(s.yield, s.spawn), s.On(s.yield, s.spawn, s.other)
	return s
}

func (s *schedulerD) enqueue(k polyfill.Token) { s.queue = append(s.queue, k) }

// run is the corrected loop: an event that is not the scheduler's goes on outward, and what comes at the forward's
// label is tested again.
func (s *schedulerD) run(filter polyfill.Table) {
	for len(s.queue) > 0 {
		k := s.queue[0]
		s.queue = s.queue[1:]
		_, e := s.Resume(k, filter)
		for e != nil {
			if _, k, ok := s.BrOnEvt(e, s.yield); ok {
				s.enqueue(k)
				break
			}
			if v, k, ok := s.BrOnEvt(e, s.spawn); ok {
				s.enqueue(s.New("spawned", 0, 0, s.procs[v.I32(0)]))
				s.enqueue(k)
				break
			}
			_, e = s.Forward(e, filter)
		}
	}
}

func (s *schedulerD) thread(name string, steps int) run.ContFunc {
	return func(run.Values) []run.Value {
		for range steps {
			s.log = append(s.log, name)
			s.Suspend(s.yield)
		}
		s.log = append(s.log, name+" ends")
		return nil
	}
}

func TestSchedD(t *testing.T) {
	leaktest.Goroutines(t)
	t.Run("S-SCHED-D threads take turns, a spawned one, too", func(t *testing.T) {
		s := newSchedulerD()
		defer s.Close()
		s.procs[7] = s.thread("c", 1)
		_, err := s.Call(func() []run.Value {
			s.enqueue(s.New("a", 0, 0, s.thread("a", 2)))
			s.enqueue(s.New("b", 0, 0, func(v run.Values) []run.Value {
				s.Suspend(s.spawn, run.I32(7))
				return s.thread("b", 1)(v)
			}))
			s.run(s.own)
			return nil
		})
		want := []string{"a", "a", "c", "b", "a ends", "c ends", "b ends"}
		if err != nil || !slices.Equal(s.log, want) || s.Live() != 0 {
			t.Errorf("log %q, error %v, %d left; want %q", s.log, err, s.Live(), want)
		}
	})
	for name, forwards := range map[string]bool{"excluded by the filter": false, "taken and forwarded": true} {
		t.Run("S-SCHED-D another event goes outward, "+name, func(t *testing.T) {
			s := newSchedulerD()
			defer s.Close()
			filter := s.own
			if forwards {
				filter = s.all
			}
			var answers []int32
			_, err := s.Call(func() []run.Value {
				s.enqueue(s.New("asks", 0, 0, func(run.Values) []run.Value {
					for i := range int32(2) {
						answers = append(answers, s.Suspend(s.other, run.I32(i)).I32(0))
						s.Suspend(s.yield)
					}
					return nil
				}))
				whole := s.New("scheduler", 0, 0, func(run.Values) []run.Value { s.run(filter); return nil })
				_, e := s.Resume(whole, s.On(s.other))
				for e != nil {
					v, k, _ := s.BrOnEvt(e, s.other)
					_, e = s.Resume(k, s.On(s.other), run.I32(100+v.I32(0)))
				}
				return nil
			})
			if err != nil || !slices.Equal(answers, []int32{100, 101}) || s.Live() != 0 {
				t.Errorf("answers %v, error %v, %d left; want [100 101]", answers, err, s.Live())
			}
		})
	}
}
