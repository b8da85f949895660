package polyfill

// Delivery is what arrives where a computation waits.
type Delivery uint32

const (
	// Values: those that were sent, at the label of the plan.
	Values Delivery = iota
	// Exception: the one that the operation throws, or that has left the function, is raised there.
	Exception
	// Nothing: the receiver does not take the event. The issuer goes on with its next instruction (B-EVT-2).
	Nothing
	// Question: nobody runs yet. The filter of To is a function, and has to be asked first (D-FILT-3).
	Question
)

// Next is the label of the instruction after the waiting one.
const Next int32 = -1

// Plan is all that follows an operation. The system decides it, and the substrate carries it out:
//
//  1. It ends the stacks of Ends, from the first to the last. If the issuer is one of them the operation does not
//     return, and that is what ends the issuer's stack, after all others.
//  2. It delivers to To what Delivers says, and To runs. A fiber that has never run starts with what is delivered;
//     that is never an exception.
//
// Label to Token are what To finds where it waits, in the order in which include/fiberfill.h lays out an event. They
// are valid if values are delivered. With an exception, only Token is.
//
// A system has one Plan, and the next operation overwrites it. So a switch allocates nothing, and the plan crosses the
// border to JavaScript as words in memory.
type Plan struct {
	From     Fiber // who has issued the operation; null is the root, as it is in To
	To       Fiber
	Delivers Delivery

	Label int32 // place of the tag in the table that To waits with, or Next
	Tag   Tag   // none: results, or the values of a system without tags
	Types Types // of all values that arrive
	Made  Fiber // by the operation that To waits in (B-MNEW-3)
	Token Token // single-use reference: to the sender, or of what has been detached

	// Ends are the fibers that the operation has ended, from the inside out. A fiber whose function has returned or
	// thrown is not among them: it no longer has a stack.
	Ends []Fiber
}

// Send plans that values arrive in to.
func (p *Plan) Send(from, to Fiber, label int32, e Event) {
	*p = Plan{From: from, To: to, Label: label, Tag: e.Tag, Types: e.Payload, Ends: p.Ends[:0]}
}

// Raise plans that an exception arrives in to.
func (p *Plan) Raise(from, to Fiber) {
	*p = Plan{From: from, To: to, Delivers: Exception, Label: Next, Ends: p.Ends[:0]}
}

// FallThrough plans that nothing happens.
func (p *Plan) FallThrough(issuer Fiber) {
	*p = Plan{From: issuer, To: issuer, Delivers: Nothing, Label: Next, Ends: p.Ends[:0]}
}

// Returned ends the active fiber, whose function has returned, and plans that the results arrive in its parent, at the
// next instruction.
func (p *Plan) Returned(m *Machine, results Types) Trap {
	f := m.Active()
	parent, trap := m.Return()
	if trap == OK {
		p.Send(f, parent, Next, Event{Payload: results})
	}
	return trap
}

// Threw ends the active fiber, whose function has let out an exception, and plans that the exception arrives in its
// parent.
func (p *Plan) Threw(m *Machine) Trap {
	trap := p.Returned(m, 0)
	p.Delivers = Exception
	return trap
}

// End ends f, which must be suspended, and all that it carries, as [Machine.Kill] does, and adds them to Ends.
func (p *Plan) End(m *Machine, f Fiber) Trap {
	trap := m.CheckSuspended(f)
	if trap == OK {
		top := uint32(f) & indexMask
		p.end(m, m.slots[top].leaf, top)
		m.Kill(f)
	}
	return trap
}

// Release is End as an operation of its own, after which the issuer goes on.
func (p *Plan) Release(m *Machine, f Fiber) Trap {
	p.FallThrough(m.Active())
	return p.End(m, f)
}

// Unwind plans what follows a trap: the whole live chain ends, and the entry with it (K-9).
func (p *Plan) Unwind(m *Machine) {
	p.FallThrough(0)
	p.end(m, m.active, 0)
	m.Unwind()
}

// Abandon replaces a plan that cannot be carried out because there is no stack for To: the operation traps. It ends the
// chain that is live now, and the chain in which the operation was issued.
func (p *Plan) Abandon(m *Machine) {
	top := p.From
	p.Unwind(m)
	for m.State(top) == Carried {
		top = m.Parent(top)
	}
	p.End(m, top)
}

// end adds the fibers from slot i up to the slot top, or to the root.
func (p *Plan) end(m *Machine, i, top uint32) {
	for i != 0 {
		p.Ends = append(p.Ends, m.reference(i))
		if i == top {
			break
		}
		i = m.slots[i].parent
	}
}
