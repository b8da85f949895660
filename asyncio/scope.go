//go:build !tinygo

package asyncio

import (
	"errors"
	"iter"
)

// scope holds the fibers that one fiber, or the loop, has started: those that are not over in a list, and of those that
// are over the ones that failed without anybody having been told.
type scope struct {
	first, last *Fiber
	failed      []*Fiber

	cause   error  // not nil: the fibers are being ended, one after the other
	inOrder bool   // in the order of their start, else the last started first
	asked   *Fiber // has been cancelled for that and is not over yet
	asking  bool   // endNext is at work
}

// end cancels all fibers with the given cause, so that none begins anything new, and ends what they wait for one after
// the other, each when the one before is over, the last started first or in the order of their start. Ending is like
// unwinding a stack: what was started later may use what was started earlier. It returns at once; the first call
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

// endNext goes on with that. It is a loop, and not left to the end of each fiber alone, because of those that never
// started: a million of them would end inside each other.
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
		f.cancel(s.cause) // it may have been started meanwhile
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

// all yields the fibers that are not over. The one that has just been yielded may end.
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

// takeFailure returns the first failure that has not been told yet; nil if there is none.
func (s *scope) takeFailure() error {
	for len(s.failed) > 0 {
		f := s.failed[0]
		s.failed = s.failed[1:]
		if !f.reported {
			f.reported = true
			return f.err
		}
	}
	return nil
}

// takeFailures returns all such failures. The same error of several fibers in a row, as after a deadlock, comes once.
func (s *scope) takeFailures() (errs []error) {
	for err := s.takeFailure(); err != nil; err = s.takeFailure() {
		if n := len(errs); n == 0 || !errors.Is(errs[n-1], err) {
			errs = append(errs, err)
		}
	}
	return errs
}
