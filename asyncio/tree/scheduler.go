package tree

import "errors"

// Scheduler enters its clients, leaves or further schedulers, in turn. It is a fiber itself. [New] and
// [Scheduler.Scheduler] make one. It is over when all its clients are.
type Scheduler struct {
	fiber     Fiber
	ready     []*Fiber
	delayed   int              // clients that wait for a promise that is not settled
	composite *Promise[*Fiber] // handed up and not settled; nil: none
	errs      []error
	over      bool
}

func (s *Scheduler) init(t *Tree, under *Scheduler, name string) {
	s.fiber.init(t, under, name, s.schedule)
}

// Go makes a leaf that will call fn after the clients of s that are ready now. If fn returns an error, or panics with a
// [*asyncio.PanicError] as the result, s ends with that error; the other clients go on. Go may be called from any fiber
// of the tree and from outside. It panics if s is over or the tree has been stopped.
func (s *Scheduler) Go(name string, fn func(f *Fiber) error) *Fiber {
	s.mustLive("Go")
	f := new(Fiber)
	f.init(s.fiber.tree, s, name, func() error { return fn(f) })
	s.wake(f)
	return f
}

// Scheduler makes a scheduler that is a client of s. It starts like a leaf, see [Scheduler.Go]. Give it clients before
// s enters it: a scheduler without clients is over at once.
func (s *Scheduler) Scheduler(name string) *Scheduler {
	s.mustLive("Scheduler")
	sub := new(Scheduler)
	sub.init(s.fiber.tree, s, name)
	s.wake(&sub.fiber)
	return sub
}

func (s *Scheduler) mustLive(op string) {
	if s.over {
		panic("asyncio/tree: Scheduler." + op + ": " + s.fiber.name + " is over and can have no more clients")
	}
}

// Name returns the name that the scheduler was given.
func (s *Scheduler) Name() string { return s.fiber.name }

// schedule is the scheduler's main function.
func (s *Scheduler) schedule() error {
	for {
		for range len(s.ready) {
			client := s.ready[0]
			s.ready = s.ready[1:]
			switch waitsFor, suspended := client.enter(); {
			case !suspended:
				if client.err != nil {
					s.errs = append(s.errs, client.err)
				}
			case waitsFor == nil:
				s.ready = append(s.ready, client)
			default:
				s.delayed++
				waitsFor.onSettle(func() {
					s.delayed--
					s.wake(client)
				})
			}
		}
		switch {
		case len(s.ready) > 0:
			if s.fiber.under != nil || s.fiber.tree.pausing() {
				s.fiber.suspend(nil)
			}
		case s.delayed > 0:
			composite := NewPromise[*Fiber]()
			s.composite = composite
			s.fiber.suspend(composite)
			first, _, _ := composite.Settled()
			s.ready = append([]*Fiber{first}, s.ready...)
		default:
			s.over = true
			if len(s.errs) == 1 {
				return s.errs[0]
			}
			return errors.Join(s.errs...)
		}
	}
}

// wake makes a client ready. If s waits, the client is the first to be ready and settles the composite, which wakes the
// schedulers above as well.
func (s *Scheduler) wake(client *Fiber) {
	composite := s.composite
	if composite == nil {
		s.ready = append(s.ready, client)
		return
	}
	s.composite = nil
	composite.Settle(client, nil)
}
