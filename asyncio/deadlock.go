//go:build !tinygo

package asyncio

import "strings"

// DeadlockError is the error of fibers that wait for each other when nothing else is outstanding in their loop. While
// the loop serves, a fiber that waits for a channel or a semaphore is none of them, nor is one that waits for such a
// fiber: see [Loop.Serve].
type DeadlockError struct {
	Fibers []string // each fiber and what it waits for
}

func (e *DeadlockError) Error() string {
	return "asyncio: deadlock: fibers wait for each other and for nothing else: " + strings.Join(e.Fibers, ", ")
}

// breakDeadlock cancels the fibers that wait for each other. Nothing else is outstanding. While the loop serves, a
// fiber that comes later may send, receive or release what some of them wait for; the others are cancelled.
func (l *Loop) breakDeadlock(serve bool) {
	l.suspect = false
	hopes := map[*Fiber]bool{}
	if serve {
		hopes = l.hopes()
	}
	err := &DeadlockError{}
	var stuck []*Fiber
	for _, f := range l.fibers {
		if f != nil && f.waitsFor != "" && !hopes[f] {
			stuck = append(stuck, f)
			err.Fibers = append(err.Fibers, f.String())
		}
	}
	for _, f := range stuck {
		f.Cancel(err)
	}
}

// hopes returns the fibers that wait for a channel or a semaphore, and those that wait for them.
func (l *Loop) hopes() map[*Fiber]bool {
	all := map[*Fiber]bool{}
	var list []*Fiber
	add := func(f *Fiber) {
		if !all[f] {
			all[f] = true
			list = append(list, f)
		}
	}
	locking := map[*Fiber][]*Fiber{} // by the mutex's holder
	for _, f := range l.fibers {
		switch {
		case f == nil || !f.lined:
		case f.locks == nil:
			add(f)
		case f.locks.holder != nil:
			locking[f.locks.holder] = append(locking[f.locks.holder], f)
		}
	}
	for len(list) > 0 {
		f := list[len(list)-1]
		list = list[:len(list)-1]
		for _, w := range f.waiters {
			if w.open() {
				add(w.fiber)
			}
		}
		if f.parent != nil && f.parent.forAll {
			add(f.parent)
		}
		for _, waits := range locking[f] {
			add(waits)
		}
	}
	return all
}
