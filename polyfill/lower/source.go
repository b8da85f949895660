package lower

import (
	"github.com/fiberfill/fiberfill/internal/wasm"
	"github.com/fiberfill/fiberfill/internal/wasm/validate"
)

// A source is the code of a function that may suspend, with what is known of it. Code that is not reached is not in it.
// One source serves one function after another, so that its memory is reused.
type source struct {
	ins        []ins
	types      []validate.Type // arena of the lists below
	labels     []uint32
	catches    []validate.Catch
	handlers   []validate.Handler
	locals     []validate.Type
	params     int
	results    []validate.Type
	sites      []int32    // the instructions where the function may be left, in their order
	live       [][]uint32 // for each of those a bit for each local that may be read later
	layouts    []int32    // for each of those the layout of its frame, plus one; 0: not known yet
	loops      int32      // how many there are
	lastOpened int32      // the first site in the construct with sites that begins last

	bits    []uint32 // arena of what liveness works with
	places  []place
	halves  []int32 // constructs under way, an if by its else behind that
	parents []int32 // the same, an if always by itself
	origins []int32 // arena: of operands the instructions that they come from
	pushed  []int32 // the same for the operand stack
}

// reset makes room for another function.
func (s *source) reset() {
	s.ins, s.types, s.labels, s.catches = s.ins[:0], s.types[:0], s.labels[:0], s.catches[:0]
	s.handlers, s.locals, s.sites, s.layouts = s.handlers[:0], s.locals[:0], s.sites[:0], s.layouts[:0]
	s.origins, s.pushed = s.origins[:0], s.pushed[:0]
	s.loops, s.lastOpened = 0, 0
}

// A part is some elements of one of the arenas.
type part struct{ at, n int32 }

// An ins is one instruction.
type ins struct {
	op      uint32
	at, end int32 // its bytes
	x, y    uint32

	stack  part // operands of the block it is in, before it; only of constructs, sites and tail calls
	args   int32
	height int32 // of the operands of the blocks around
	// Of the operands of the block below those that it takes: where the instructions begin that they come from.
	origins int32

	pushes   int32 // how many results it leaves
	kept     int32 // height of its result, plus one, if that is to be put into a local; 0: it is not
	keptType validate.Type

	// Of a construct: where the end is (an if's else, if it has one). Of an end: the construct, -1 for the function.
	to              int32
	params, results part  // of a construct; of a branch that may go on: results is what it leaves
	loop            int32 // of a loop: its number
	first, last     int32 // of a construct: numbers of the sites inside, from 1; first > last: none

	labels, catches, handlers part
	parent                    int32 // of constructs and sites: the construct that it is in, or -1
	site                      int32 // its number, from 1; 0: the function cannot be left here
	caught                    bool  // inside of a try_table
}

func (s *source) list(p part) []validate.Type { return s.types[p.at : p.at+p.n] }

func (s *source) keep(list []validate.Type) part {
	at := int32(len(s.types))
	s.types = append(s.types, list...)
	return part{at, int32(len(list))}
}

// own returns the operands of the block below those that the instruction takes.
func (s *source) own(in *ins) []validate.Type {
	all := s.list(in.stack)
	return all[:int32(len(all))-in.args]
}

// taken returns the operands that it takes.
func (s *source) taken(in *ins) []validate.Type {
	all := s.list(in.stack)
	return all[int32(len(all))-in.args:]
}

func isConstruct(op uint32) bool {
	return op == wasm.OpBlock || op == wasm.OpLoop || op == wasm.OpIf || op == wasm.OpTryTable
}

func isTailCall(op uint32) bool {
	return op == wasm.OpReturnCall || op == wasm.OpReturnCallIndirect || op == wasm.OpReturnCallRef
}

// leaves reports whether the instruction never goes on in the function that executes it.
func leaves(op uint32) bool { return op == wasm.OpSuspend || op == wasm.OpSwitch }

// read goes through the code of a function.
func (l *lowering) read(f uint32) *source {
	s := &l.source
	s.reset()
	b := &l.body
	b.Start(l.m, f)
	s.locals = append(s.locals, b.Locals...)
	s.params = len(l.m.Params(f))
	s.results = l.m.Results(f)
	around, parents := s.halves[:0], s.parents[:0]
	defer func() { s.halves, s.parents = around, parents }()
	tries, skipped := 0, 0
	base := 0       // how much of the operand stack the instruction before has left as it was
	opened := false // the instruction before has opened a construct: its types are known now
	for b.Next() {
		controls := b.Controls
		top := &controls[len(controls)-1]
		if opened {
			in := &s.ins[len(s.ins)-1]
			in.params, in.results = s.keep(top.Params), s.keep(top.Results)
			opened = false
		}
		last := b.Op == wasm.OpEnd || b.Op == wasm.OpElse
		if skipped > 0 || top.Unreachable && !last {
			if isConstruct(b.Op) {
				skipped++
			} else if b.Op == wasm.OpEnd && skipped > 0 {
				skipped--
			}
			continue
		}
		s.ins = append(s.ins, ins{op: b.Op, at: int32(b.At), end: int32(b.End), x: b.X, y: b.Y, caught: tries > 0,
			first: 1, to: -1, parent: -1})
		at := int32(len(s.ins) - 1)
		in := &s.ins[at]
		in.pushes = int32(len(b.Pushed))
		s.pushed = s.pushed[:base]
		for len(s.pushed) < len(b.Stack) {
			s.pushed = append(s.pushed, at-1)
		}
		if base = len(b.Stack) - b.Args; last {
			base = top.Height
		}
		if len(parents) > 0 {
			in.parent = parents[len(parents)-1]
		}
		if isConstruct(b.Op) || isTailCall(b.Op) || l.may.site(b.Op, b.X) {
			in.stack, in.args, in.height = s.keep(b.Stack[top.Height:]), int32(b.Args), int32(top.Height)
			in.origins = int32(len(s.origins))
			s.origins = append(s.origins, s.pushed[top.Height:len(b.Stack)-b.Args]...)
		}
		in.labels = part{int32(len(s.labels)), int32(len(b.Labels))}
		switch b.Op {
		case wasm.OpBrIf, wasm.OpBrOnNull, wasm.OpBrOnNonNull, wasm.OpBrOnCast, wasm.OpBrOnCastFail:
			in.results = s.keep(b.Pushed)
		case wasm.OpBrTable:
			s.labels = append(s.labels, b.Labels...)
		case wasm.OpTryTable:
			in.catches = part{int32(len(s.catches)), int32(len(b.Catches))}
			s.catches = append(s.catches, b.Catches...)
		case wasm.OpResume, wasm.OpResumeThrow, wasm.OpResumeThrowRef:
			in.handlers = part{int32(len(s.handlers)), int32(len(b.Handlers))}
			s.handlers = append(s.handlers, b.Handlers...)
		}
		switch {
		case isConstruct(b.Op):
			opened = true
			in.first = int32(len(s.sites)) + 1
			around = append(around, at)
			parents = append(parents, at)
			switch b.Op {
			case wasm.OpTryTable:
				tries++
			case wasm.OpLoop:
				in.loop = s.loops
				s.loops++
			}
		case last && len(around) > 0:
			from := around[len(around)-1]
			begin := &s.ins[from]
			begin.to = at
			if b.Op == wasm.OpElse {
				// The rest of the if counts as a construct of its own where the places of operands are concerned.
				in.first = int32(len(s.sites)) + 1
				in.params, in.results = begin.params, begin.results
				in.stack, in.args, in.height = begin.stack, begin.args, begin.height
				around[len(around)-1] = at
				begin.last = int32(len(s.sites))
				break
			}
			in.to = parents[len(parents)-1]
			around = around[:len(around)-1]
			parents = parents[:len(parents)-1]
			begin.last = int32(len(s.sites))
			if begin.op == wasm.OpTryTable {
				tries--
			}
		case l.may.site(b.Op, b.X):
			s.sites = append(s.sites, at)
			s.layouts = append(s.layouts, 0)
			in.site = int32(len(s.sites))
		}
	}
	return s
}

// has reports whether there is a site inside of the construct; of an if, in either part.
func (s *source) has(in *ins) bool {
	first, last := s.within(in)
	return first <= last
}

// within returns the sites inside of a construct, from first to last.
func (s *source) within(in *ins) (first, last int32) {
	if rest := &s.ins[in.to]; in.op == wasm.OpIf && rest.op == wasm.OpElse {
		return in.first, rest.last
	}
	return in.first, in.last
}

// end returns the index of the end of the construct at i.
func (s *source) end(i int) int {
	to := int(s.ins[i].to)
	if s.ins[to].op == wasm.OpElse {
		to = int(s.ins[to].to)
	}
	return to
}

// label returns the types that a branch to the construct with index i takes, or to the function if i is negative.
func (s *source) label(i int) []validate.Type {
	switch {
	case i < 0:
		return s.results
	case s.ins[i].op == wasm.OpLoop:
		return s.list(s.ins[i].params)
	}
	return s.list(s.ins[i].results)
}
