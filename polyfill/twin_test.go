package polyfill_test

import "github.com/fiberfill/fiberfill/polyfill"

// twin is the machine once more, slow and plain: the live chain is a slice of pointers, a suspended piece is a slice of
// pointers, and every other state is found by looking for the fiber in them. It shares nothing with the machine but the
// names of states and traps.
type twin struct {
	chain []*twinFiber // from the fiber below the root to the active one
	all   map[polyfill.Fiber]*twinFiber
}

type twinFiber struct {
	ref     polyfill.Fiber
	piece   []*twinFiber // while suspended: itself and what it carries, down to the leaf
	over    bool
	started bool
	token   *twinToken // the one that is good now
}

type twinToken struct{ fiber *twinFiber }

func (w *twin) add(ref polyfill.Fiber) {
	f := &twinFiber{ref: ref}
	f.piece = []*twinFiber{f}
	w.all[ref] = f
}

func ref(f *twinFiber) polyfill.Fiber {
	if f == nil {
		return 0
	}
	return f.ref
}

func position(in []*twinFiber, f *twinFiber) int {
	for i, g := range in {
		if g == f {
			return i
		}
	}
	return -1
}

func (w *twin) active() *twinFiber {
	if len(w.chain) == 0 {
		return nil
	}
	return w.chain[len(w.chain)-1]
}

func (w *twin) live() (n int) {
	for _, f := range w.all {
		if !f.over {
			n++
		}
	}
	return n
}

func (w *twin) state(r polyfill.Fiber) polyfill.State {
	f := w.all[r]
	switch {
	case f == nil:
		return polyfill.Invalid
	case f.over:
		return polyfill.Moribund
	case f.piece != nil:
		return polyfill.Suspended
	case f == w.active():
		return polyfill.Active
	case position(w.chain, f) >= 0:
		return polyfill.Busy
	}
	return polyfill.Carried
}

func (w *twin) leaf(r polyfill.Fiber) polyfill.Fiber {
	if w.state(r) != polyfill.Suspended {
		return 0
	}
	piece := w.all[r].piece
	return ref(piece[len(piece)-1])
}

// parents returns the parent of every fiber that has one.
func (w *twin) parents() map[polyfill.Fiber]polyfill.Fiber {
	parents := map[polyfill.Fiber]polyfill.Fiber{}
	link := func(piece []*twinFiber) {
		for i := 1; i < len(piece); i++ {
			parents[piece[i].ref] = piece[i-1].ref
		}
	}
	link(w.chain)
	for _, f := range w.all {
		link(f.piece)
	}
	return parents
}

// refusal is the reason why an operation that wants a fiber in one of these states is refused.
func (w *twin) refusal(r polyfill.Fiber, otherwise polyfill.Trap, wanted ...polyfill.State) polyfill.Trap {
	state := w.state(r)
	for _, s := range wanted {
		if s == state {
			return polyfill.OK
		}
	}
	switch {
	case r == 0:
		return polyfill.NullReference
	case state == polyfill.Invalid:
		return polyfill.UnknownReference
	case state == polyfill.Moribund:
		return polyfill.Over
	}
	return otherwise
}

func (w *twin) suspended(r polyfill.Fiber) polyfill.Trap {
	return w.refusal(r, polyfill.NotSuspended, polyfill.Suspended)
}

func (w *twin) inChain(r polyfill.Fiber) polyfill.Trap {
	return w.refusal(r, polyfill.NotInChain, polyfill.Active, polyfill.Busy)
}

func (w *twin) enter(r polyfill.Fiber) (polyfill.Fiber, polyfill.Trap) {
	if trap := w.suspended(r); trap != polyfill.OK {
		return 0, trap
	}
	f := w.all[r]
	w.chain = append(w.chain, f.piece...)
	f.piece, f.token = nil, nil
	w.active().started = true
	return ref(w.active()), polyfill.OK
}

func (w *twin) detach(r polyfill.Fiber) (polyfill.Fiber, polyfill.Trap) {
	if trap := w.inChain(r); trap != polyfill.OK {
		return 0, trap
	}
	i := position(w.chain, w.all[r])
	w.chain[i].piece = append([]*twinFiber{}, w.chain[i:]...)
	w.chain = w.chain[:i]
	return ref(w.active()), polyfill.OK
}

func (w *twin) replace(s, t polyfill.Fiber) (polyfill.Fiber, polyfill.Trap) {
	if trap := w.inChain(s); trap != polyfill.OK {
		return 0, trap
	}
	if s != t {
		if trap := w.suspended(t); trap != polyfill.OK {
			return 0, trap
		}
		w.detach(s)
		w.enter(t)
	}
	return ref(w.active()), polyfill.OK
}

func end(piece []*twinFiber) {
	for _, f := range piece {
		f.over, f.started, f.piece, f.token = true, false, nil, nil
	}
}

func (w *twin) kill(r polyfill.Fiber) polyfill.Trap {
	trap := w.suspended(r)
	if trap == polyfill.OK {
		end(w.all[r].piece)
	}
	return trap
}

func (w *twin) ret() (polyfill.Fiber, polyfill.Trap) {
	if len(w.chain) == 0 {
		return 0, polyfill.OnRoot
	}
	last := len(w.chain) - 1
	end(w.chain[last:])
	w.chain = w.chain[:last]
	return ref(w.active()), polyfill.OK
}

func (w *twin) unwind() {
	end(w.chain)
	w.chain = nil
}

func (w *twin) mint(r polyfill.Fiber) (*twinToken, polyfill.Trap) {
	if trap := w.suspended(r); trap != polyfill.OK {
		return nil, trap
	}
	f := w.all[r]
	f.token = &twinToken{f}
	return f.token, polyfill.OK
}

func (w *twin) redeem(token *twinToken) (polyfill.Fiber, polyfill.Trap) {
	if token == nil {
		return 0, polyfill.NullReference
	}
	if token.fiber.token != token {
		return 0, polyfill.StaleToken
	}
	token.fiber.token = nil
	return token.fiber.ref, polyfill.OK
}
