package lower

import (
	"github.com/fiberfill/fiberfill/internal/wasm"
	"github.com/fiberfill/fiberfill/internal/wasm/validate"
)

// perform writes what happens at a site, up to the place where it is known whether the function has to be left. Its
// operands are on the stack. A call leaves its results there; the others leave them in registers.
func (e *emitter) perform(in *ins) {
	l := e.l
	switch in.op {
	case wasm.OpSuspend:
		e.toRegisters(l.t.Params(l.m.Tags[in.x].Type))
		e.global(l.tag(in.x))
		e.call(l.entry(driverSuspend))
	case wasm.OpSwitch:
		from := l.m.TypeIDs[in.x]
		params := l.t.Params(l.t.FuncOf(from))
		k := e.takeCont(from)
		e.toRegisters(params[:len(params)-1])
		e.get(k)
		e.global(l.tag(in.y))
		e.call(l.entry(driverSwitch)) // its result becomes a reference where it is read: see received
		regs := l.assign(params)
		e.Op(wasm.OpGlobalSet, regs[len(regs)-1])
	case wasm.OpResume:
		id := l.m.TypeIDs[in.x]
		k := e.takeCont(id)
		e.toRegisters(l.t.Params(l.t.FuncOf(id)))
		e.get(k)
		e.handlers(in)
		if l.revives {
			e.call(l.entry(driverResumeKept))
		} else {
			e.call(l.entry(driverResume))
		}
		e.set(e.taken())
	case wasm.OpResumeThrow:
		id := l.m.TypeIDs[in.x]
		k := e.takeCont(id)
		e.exception(in.y)
		e.get(k)
		e.handlers(in)
		e.call(l.entry(driverResumeThrow))
		e.set(e.taken())
	case wasm.OpResumeThrowRef:
		e.handlers(in)
		e.call(l.entry(driverResumeThrow))
		e.set(e.taken())
	default:
		e.copy(in.op, int(in.at), int(in.end))
	}
}

// takeCont moves the continuation on top of the stack into a local.
func (e *emitter) takeCont(id validate.Heap) uint32 {
	k := e.temp(useCont, 0, validate.RefNull(id))
	e.set(k)
	return k
}

// taken returns the local for the stack that has been captured when a resume comes back.
func (e *emitter) taken() uint32 { return e.temp(useTaken, 0, validate.RefNull(e.l.stack)) }

// wrap makes a continuation reference of the stack on top.
func (e *emitter) wrap(id validate.Heap) {
	e.Raw("\xd0\x73") // ref.null nofunc
	e.structNew(e.l.index[id])
}

// exception makes a reference to an exception with this tag of the operands.
func (e *emitter) exception(tag uint32) {
	l := e.l
	params := l.t.Params(l.m.Tags[tag].Type)
	e.spill(useParam, 0, params)
	e.Raw("\x02\x69\x1f\x40\x01\x03\x00") // block (result exnref), try_table (catch_all_ref 0)
	e.reload(useParam, 0, params)
	e.Op(wasm.OpThrow, tag)
	e.Byte(wasm.OpEnd)
	e.Byte(wasm.OpUnreachable)
	e.Byte(wasm.OpEnd)
}

// handlers pushes the two lists of tags that a resume handles.
func (e *emitter) handlers(in *ins) {
	list := e.s.handlers[in.handlers.at : in.handlers.at+in.handlers.n]
	for _, switches := range []bool{false, true} {
		var tags []uint32
		for _, h := range list {
			if h.Switch == switches {
				tags = append(tags, h.Tag)
			}
		}
		if len(tags) == 0 {
			e.Raw("\xd0\x71") // ref.null none
		} else {
			e.global(e.l.tagList(tags))
		}
	}
}

// answer writes what follows a resume that has come back: nothing if it has returned, else a branch to a handler's
// label.
func (e *emitter) answer(in *ins) {
	var list []validate.Handler
	for _, h := range e.s.handlers[in.handlers.at : in.handlers.at+in.handlers.n] {
		if !h.Switch {
			list = append(list, h)
		}
	}
	if len(list) == 0 {
		return
	}
	e.realmGet(realmOutcome)
	e.iff()
	if len(list) > 1 {
		for range list {
			e.block()
		}
		e.realmGet(realmOutcome)
		e.i32(1)
		e.Byte(wasm.OpI32Sub)
		e.Op(wasm.OpBrTable, uint32(len(list)-1))
		for i := range list {
			e.U32(uint32(i))
		}
	}
	for _, h := range list {
		if len(list) > 1 {
			e.end()
		}
		label := e.s.label(e.within[len(e.within)-1-int(h.Label)])
		e.fromRegisters(e.l.t.Params(e.l.m.Tags[h.Tag].Type))
		e.back(in, label[len(label)-1].Heap())
		e.Op(wasm.OpBr, e.label(h.Label))
	}
	e.end()
}

// back pushes the reference to the continuation that has been captured.
func (e *emitter) back(in *ins, id validate.Heap) {
	if e.l.revives && in.op == wasm.OpResume && e.l.m.TypeIDs[in.x] == id {
		e.get(e.temp(useCont, 0, validate.RefNull(id)))
		e.Byte(wasm.OpRefAsNonNull)
		return
	}
	e.get(e.taken())
	e.wrap(id)
}

// results returns what a site leaves on the stack.
func (e *emitter) results(in *ins) []validate.Type {
	l := e.l
	switch in.op {
	case wasm.OpCall:
		return l.m.Results(in.x)
	case wasm.OpCallIndirect, wasm.OpCallRef:
		return l.t.Results(l.m.TypeIDs[in.x])
	case wasm.OpSuspend:
		return l.t.Results(l.m.Tags[in.x].Type)
	case wasm.OpSwitch:
		params := l.t.Params(l.t.FuncOf(l.m.TypeIDs[in.x]))
		return l.t.Params(l.t.FuncOf(params[len(params)-1].Heap()))
	}
	return l.t.Results(l.t.FuncOf(l.m.TypeIDs[in.x]))
}

// left writes what a site does when frames are being saved: it saves the function's frame and returns. own are the
// operands below those of the site; in the hot function they are on the stack, in the cold one in temps.
func (e *emitter) left(in *ins, own []validate.Type, leaf bool) {
	l, s := e.l, e.s
	if e.cold {
		for i, t := range own {
			e.get(e.temp(useOperand, int(in.height)+i, t))
		}
	}
	for _, o := range e.outer {
		e.get(e.temp(useOperand, o.height, o.t))
	}
	for i := range s.locals {
		if s.lives(in, i) {
			e.get(e.variable(uint32(i)))
		}
	}
	n := e.layout(in, own, e.outer)
	site := uint32(in.site) << 2
	if in.caught {
		site |= 1
	}
	e.i32(site)
	e.Op(wasm.OpRefFunc, e.self)
	if e.cold {
		e.get(e.mine(n))
		e.call(l.resaver(n, leaf))
	} else {
		e.call(l.saver(n, leaf))
		e.dummies(s.results)
	}
	e.Byte(wasm.OpReturn)
}

// layout returns the layout of a site's frame: the operands of its block, those of the blocks around, the live locals.
func (e *emitter) layout(in *ins, own []validate.Type, outer []operand) int {
	s := e.s
	if known := s.layouts[in.site-1]; known > 0 {
		return int(known) - 1
	}
	e.fields = append(e.fields[:0], own...)
	for _, o := range outer {
		e.fields = append(e.fields, o.t)
	}
	for i, t := range s.locals {
		if s.lives(in, i) {
			e.fields = append(e.fields, t)
		}
	}
	n := e.l.layout(e.fields)
	s.layouts[in.site-1] = int32(n) + 1
	return n
}

// lives reports whether a local may be read after a site.
func (s *source) lives(in *ins, local int) bool {
	return s.live[in.site-1][local/32]&(1<<(local%32)) != 0
}
