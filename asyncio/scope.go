//go:build !tinygo

package asyncio

import (
	"errors"
	"iter"
)

// scope holds the fibers that one fiber, or the loop, has started: a list of those that are alive, and those that
// failed without their error having been returned to anybody.
type scope struct {
	first, last *Fiber
	failed      []*Fiber

	cause   error  // not nil: the fibers are being ended, one after another
	inOrder bool   // ended in the order of their start, else the last started first
	asked   *Fiber // the fiber being ended; not over yet
	asking  bool   // endNext is running
}

// end cancels all fibers with the given cause, so that none begins anything new. Then it ends their waits one after
// another, the last started first or in the order of their start; each fiber is over before the next one's wait ends.
// This is like unwinding a stack: a fiber may use what was started before it. end returns at once; the first call
// counts.
func (s *scope) end(cause error, inOrder bool) {
	if s.cause == nil {
		s.cause, s.inOrder = cause, inOrder
		for f := range s.all() {
			f.cancel(cause)
		}
	}
	s.endNext()
}

// endNext ends the next fibers. It is a loop because a fiber that never started ends at once: a million of them would
// otherwise end inside each other.
func (s *scope) endNext() {
	if s.asking {
		return
	}
	s.asking = true
	for s.cause != nil && s.asked == nil && s.first != nil {
		s.asked = s.last
		if s.inOrder {
			s.asked = s.first
		}
		f := s.asked
		f.cancel(s.cause) // f may have been started meanwhile
		f.interrupt()
	}
	s.asking = false
}

func (s *scope) add(f *Fiber) {
	f.prev = s.last
	if s.last != nil {
		s.last.succ = f
	} else {
		s.first = f
	}
	s.last = f
}

func (s *scope) remove(f *Fiber, failed bool) {
	if failed {
		s.failed = append(s.failed, f)
	}
	if s.asked == f {
		s.asked = nil
	}
	if f.prev != nil {
		f.prev.succ = f.succ
	} else if s.first == f {
		s.first = f.succ
	}
	if f.succ != nil {
		f.succ.prev = f.prev
	} else if s.last == f {
		s.last = f.prev
	}
	f.prev, f.succ = nil, nil
}

// all yields the fibers that are alive. The loop body may end the fiber it was given.
func (s *scope) all() iter.Seq[*Fiber] {
	return func(yield func(*Fiber) bool) {
		for f := s.first; f != nil; {
			succ := f.succ
			if !yield(f) {
				return
			}
			f = succ
		}
	}
}

// takeFailure returns the first failure that has not been reported, and nil if there is none.
func (s *scope) takeFailure() error {
	for len(s.failed) > 0 {
		f := s.failed[0]
		s.failed = s.failed[1:]
		if !f.reported {
			return f.err
		}
	}
	return nil
}

// takeFailures returns all failures that have not been reported. If several fibers in a row have the same error, as
// after a deadlock, it comes once.
func (s *scope) takeFailures() (errs []error) {
	for err := s.takeFailure(); err != nil; err = s.takeFailure() {
		if n := len(errs); n == 0 || !errors.Is(errs[n-1], err) {
			errs = append(errs, err)
		}
	}
	return errs
}
