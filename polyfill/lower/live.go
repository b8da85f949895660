package lower

import "github.com/fiberfill/fiberfill/internal/wasm"

// liveness finds, for each site, the locals that may be read after it: those a frame has to hold. It goes through the
// code backwards, again and again until what is live at the beginnings of loops does not change any more.
func (s *source) liveness() {
	words := (len(s.locals) + 31) / 32
	s.live = make([][]uint32, len(s.sites))
	loops := map[int][]uint32{}
	for again := true; again; {
		again = s.backwards(words, loops)
	}
}

// A place is a construct that the walk is in.
type place struct {
	begin  int      // index of its first instruction
	label  []uint32 // live where a branch to it goes
	after  []uint32 // live behind it
	rest   []uint32 // of an if: live where its else begins
	caught []uint32 // live where an exception goes
}

func (s *source) backwards(words int, loops map[int][]uint32) (again bool) {
	var places []place
	function := place{begin: -1, label: make([]uint32, words), after: make([]uint32, words)}
	cur := make([]uint32, words)
	at := func(label uint32) []uint32 {
		if int(label) == len(places) {
			return function.label
		}
		return places[len(places)-1-int(label)].label
	}
	caught := func() {
		for i := len(places) - 1; i >= 0; i-- {
			if places[i].caught != nil {
				join(cur, places[i].caught)
			}
		}
	}
	begins := s.begins()
	for i := len(s.ins) - 1; i >= 0; i-- {
		in := &s.ins[i]
		switch in.op {
		case wasm.OpEnd:
			begin := begins[i]
			if begin < 0 {
				continue // the function's
			}
			p := place{begin: begin, after: clone(cur), label: clone(cur)}
			first := &s.ins[begin]
			switch first.op {
			case wasm.OpLoop:
				if loops[begin] == nil {
					loops[begin] = make([]uint32, words)
				}
				p.label = loops[begin]
			case wasm.OpTryTable:
				p.caught = make([]uint32, words)
				for _, c := range s.catches[first.catches.at : first.catches.at+first.catches.n] {
					join(p.caught, at(c.Label))
				}
			}
			places = append(places, p)
		case wasm.OpElse:
			p := &places[len(places)-1]
			p.rest = clone(cur)
			copy(cur, p.after)
		case wasm.OpIf:
			p := &places[len(places)-1]
			if p.rest == nil {
				p.rest = p.after
			}
			join(cur, p.rest)
			places = places[:len(places)-1]
		case wasm.OpLoop:
			if join(loops[i], cur) {
				again = true
			}
			places = places[:len(places)-1]
		case wasm.OpBlock, wasm.OpTryTable:
			places = places[:len(places)-1]
		case wasm.OpBr:
			copy(cur, at(in.x))
		case wasm.OpBrTable:
			clear(cur)
			for _, label := range s.labels[in.labels.at : in.labels.at+in.labels.n] {
				join(cur, at(label))
			}
		case wasm.OpBrIf, wasm.OpBrOnNull, wasm.OpBrOnNonNull, wasm.OpBrOnCast, wasm.OpBrOnCastFail:
			join(cur, at(in.x))
		case wasm.OpReturn, wasm.OpUnreachable, wasm.OpReturnCall, wasm.OpReturnCallIndirect, wasm.OpReturnCallRef:
			clear(cur)
		case wasm.OpThrow, wasm.OpThrowRef:
			clear(cur)
			caught()
		case wasm.OpLocalGet:
			cur[in.x/32] |= 1 << (in.x % 32)
		case wasm.OpLocalSet, wasm.OpLocalTee:
			cur[in.x/32] &^= 1 << (in.x % 32)
		case wasm.OpCall, wasm.OpCallIndirect, wasm.OpCallRef:
			caught()
		}
		if in.site > 0 {
			for _, h := range s.handlers[in.handlers.at : in.handlers.at+in.handlers.n] {
				if !h.Switch {
					join(cur, at(h.Label))
				}
			}
			caught()
			s.live[in.site-1] = clone(cur)
		}
	}
	return again
}

// begins returns for each end the index of the construct that ends there, -1 for the function.
func (s *source) begins() []int {
	begins := make([]int, len(s.ins))
	var around []int
	for i := range s.ins {
		switch op := s.ins[i].op; {
		case isConstruct(op):
			around = append(around, i)
		case op == wasm.OpEnd && len(around) == 0:
			begins[i] = -1
		case op == wasm.OpEnd:
			begins[i] = around[len(around)-1]
			around = around[:len(around)-1]
		}
	}
	return begins
}

func clone(bits []uint32) []uint32 { return append([]uint32(nil), bits...) }

// join adds the bits of more and reports whether that has changed anything.
func join(bits, more []uint32) (changed bool) {
	for i, v := range more {
		if v&^bits[i] != 0 {
			bits[i] |= v
			changed = true
		}
	}
	return changed
}
