package polyfill

// slot holds one fiber. It has no pointers, so a garbage collector has nothing to look at however many there are.
type slot struct {
	parent     uint32 // slot of the parent while in the live chain or carried; 0: the root
	leaf       uint32 // while suspended: the slot that control re-enters
	token      uint32 // number of the token that is good now; see Mint
	generation uint16
	state      State
	started    bool
}

// Machine holds all fibers of one thread of control. The zero Machine is ready for use, with the root active.
type Machine struct {
	slots  []slot
	free   uint32 // first free slot, chained through parent; 0: none
	active uint32 // slot of the active fiber; 0: the root
	live   int32  // fibers that are not moribund
	looked Fiber  // the operand that was checked last, for Refusal
}

// New makes a fiber: suspended, never started, without parent (P1). Nothing of it runs. It returns the null reference
// when [MaxFibers] are alive or all 2^32 references have been used.
func (m *Machine) New() Fiber {
	i := m.free
	if i != 0 {
		m.free = m.slots[i].parent
	} else {
		if len(m.slots) == 0 {
			m.slots = append(m.slots, slot{}) // the root's place: no reference leads here
		}
		if len(m.slots) > MaxFibers {
			return 0
		}
		i = uint32(len(m.slots))
		m.slots = append(m.slots, slot{})
	}
	s := &m.slots[i]
	s.state = Suspended
	s.started = false
	s.leaf = i
	m.live++
	return m.reference(i)
}

func (m *Machine) reference(i uint32) Fiber {
	if i == 0 {
		return 0
	}
	return Fiber(uint32(m.slots[i].generation)<<indexBits | i)
}

// State returns where f stands (P2). Constant time.
//
//go:noinline
func (m *Machine) State(f Fiber) State {
	i := uint32(f) & indexMask
	if i == 0 || int(i) >= len(m.slots) {
		return Invalid
	}
	s := &m.slots[i]
	switch g := f.generation(); {
	case g == s.generation:
		return s.state
	case g < s.generation:
		return Moribund
	}
	return Invalid
}

// Started reports whether f is alive and has been entered before.
func (m *Machine) Started(f Fiber) bool {
	return m.alive(f) && m.slots[f.Index()].started
}

func (m *Machine) alive(f Fiber) bool {
	s := m.State(f)
	return s != Invalid && s != Moribund
}

// Active returns the running fiber, null when it is the root.
func (m *Machine) Active() Fiber { return m.reference(m.active) }

// Live returns the number of fibers that are not over.
func (m *Machine) Live() int { return int(m.live) }

// Leaf returns the fiber in which control reappears when the suspended fiber f is entered: f itself unless f carries
// others. It returns null if f is not suspended.
func (m *Machine) Leaf(f Fiber) Fiber {
	if m.State(f) != Suspended {
		return 0
	}
	return m.reference(m.slots[f.Index()].leaf)
}

// Parent returns the fiber that f returns to. It returns null if that is the root, or if f is neither on the live chain
// nor carried.
func (m *Machine) Parent(f Fiber) Fiber {
	switch m.State(f) {
	case Active, Busy, Carried:
		return m.reference(m.slots[f.Index()].parent)
	}
	return 0
}

// Above is Parent without its check: f must be on the live chain, or carried.
func (m *Machine) Above(f Fiber) Fiber { return m.reference(m.slots[f.Index()].parent) }

// CheckReference returns OK if f is a reference of this machine, whether its fiber is over or not, else the reason why
// it is not. Every operation checks all its operands in this way before anything else (K-2). Like the other checks, it
// changes only what [Machine.Refusal] returns.
func (m *Machine) CheckReference(f Fiber) Trap {
	m.looked = f
	if m.State(f) == Invalid {
		return unknown(f)
	}
	return OK
}

// CheckSuspended returns OK if f may be entered, else the reason why it may not.
func (m *Machine) CheckSuspended(f Fiber) Trap {
	m.looked = f
	switch m.State(f) {
	case Suspended:
		return OK
	case Moribund:
		return Over
	case Invalid:
		return unknown(f)
	}
	return NotSuspended
}

// CheckInChain returns OK if f may be detached, which the active fiber and its ancestors may, else the reason.
func (m *Machine) CheckInChain(f Fiber) Trap {
	m.looked = f
	switch m.State(f) {
	case Active, Busy:
		return OK
	case Moribund:
		return Over
	case Invalid:
		return unknown(f)
	}
	return NotInChain
}

func unknown(f Fiber) Trap {
	if f == 0 {
		return NullReference
	}
	return UnknownReference
}

// Enter links f below the active computation and returns the leaf that runs now (P4, P5). f must be suspended.
func (m *Machine) Enter(f Fiber) (leaf Fiber, trap Trap) {
	if trap := m.CheckSuspended(f); trap != OK {
		return 0, trap
	}
	return m.Link(f), OK
}

// Link is Enter without its check: f must be suspended.
func (m *Machine) Link(f Fiber) (leaf Fiber) {
	if m.active != 0 {
		m.slots[m.active].state = Busy
	}
	return m.attach(uint32(f)&indexMask, m.active)
}

// attach puts the piece with the suspended top i below parent.
func (m *Machine) attach(i, parent uint32) Fiber {
	top := &m.slots[i]
	leaf := top.leaf
	top.parent = parent
	top.token++ // the suspension that a token may denote is over (C-REF-1)
	for j := leaf; j != i; j = m.slots[j].parent {
		m.slots[j].state = Busy
	}
	top.state = Busy
	m.slots[leaf].state = Active
	m.slots[leaf].started = true
	m.active = leaf
	return m.reference(leaf)
}

// Detach takes f and everything below it out of the live chain and returns f's parent, which runs now; null means the
// root. f must be active or an ancestor of the active fiber.
func (m *Machine) Detach(f Fiber) (parent Fiber, trap Trap) {
	if trap := m.CheckInChain(f); trap != OK {
		return 0, trap
	}
	return m.reference(m.Unlink(f)), OK
}

// Unlink is Detach without its check, and returns the place of f's parent: f must be active or an ancestor of the
// active fiber.
func (m *Machine) Unlink(f Fiber) (parent uint32) { return m.detach(uint32(f) & indexMask) }

func (m *Machine) detach(i uint32) (parent uint32) {
	top := &m.slots[i]
	for j := m.active; j != i; j = m.slots[j].parent {
		m.slots[j].state = Carried
	}
	top.leaf = m.active
	top.state = Suspended
	parent = top.parent
	if parent != 0 {
		m.slots[parent].state = Active
	}
	m.active = parent
	return parent
}

// Exchange detaches the active fiber and enters t, and reports whether it did. It does nothing unless the root is the
// parent of the active fiber and t is suspended and carries no other. It is for a scheduler that has fibers take turns.
func (m *Machine) Exchange(t Fiber) bool {
	i := uint32(t) & indexMask
	from, to := &m.slots[m.active], &m.slots[i]
	if from.parent != 0 || to.state != Suspended || to.leaf != i || to.generation != t.generation() {
		return false
	}
	from.leaf = m.active
	from.state = Suspended
	to.parent = 0
	to.token++ // as in attach
	to.state = Active
	to.started = true
	m.active = i
	return true
}

// Replace detaches s and enters t in its place: t takes over the parent of s, which is neither woken nor told
// (A-SWITCH-2, B-SWITCH-4). It returns the leaf of t, which runs now. If s and t are the same fiber nothing moves and
// the active fiber is returned (A-SWITCH-6, B-SWITCH-6).
func (m *Machine) Replace(s, t Fiber) (leaf Fiber, trap Trap) {
	if trap := m.CheckInChain(s); trap != OK {
		return 0, trap
	}
	if s == t {
		return m.Active(), OK
	}
	if trap := m.CheckSuspended(t); trap != OK {
		return 0, trap
	}
	parent := m.detach(uint32(s) & indexMask)
	if parent != 0 {
		m.slots[parent].state = Busy
	}
	return m.attach(uint32(t)&indexMask, parent), OK
}

// Kill ends f, which must be suspended, and every fiber that it carries (P6). None of their code runs. The substrate
// drops their stacks.
func (m *Machine) Kill(f Fiber) Trap {
	if trap := m.CheckSuspended(f); trap != OK {
		return trap
	}
	top := uint32(f) & indexMask
	for j := m.slots[top].leaf; j != top; {
		parent := m.slots[j].parent
		m.end(j)
		j = parent
	}
	m.end(top)
	return OK
}

// Return ends the active fiber, whose function has returned or thrown, and returns its parent, which runs now; null
// means the root (P7).
func (m *Machine) Return() (parent Fiber, trap Trap) {
	i := m.active
	if i == 0 {
		return 0, OnRoot
	}
	p := m.slots[i].parent
	m.end(i)
	if p != 0 {
		m.slots[p].state = Active
	}
	m.active = p
	return m.reference(p), OK
}

// Unwind ends the whole live chain, as a trap does (K-9), and makes the root active. Fibers that are not in the chain
// keep their state.
func (m *Machine) Unwind() {
	for i := m.active; i != 0; {
		parent := m.slots[i].parent
		m.end(i)
		i = parent
	}
	m.active = 0
}

// end makes slot i free for the next fiber, under the next generation.
func (m *Machine) end(i uint32) {
	s := &m.slots[i]
	m.live--
	if s.generation == lastGeneration {
		s.state = Moribund // retired: no later fiber may answer to these references
		return
	}
	s.generation++
	s.state = Invalid
	s.token++
	s.parent = m.free
	m.free = i
}
