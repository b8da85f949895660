package lower

import (
	"math/bits"

	"github.com/fiberfill/fiberfill/internal/wasm"
)

// liveness finds, for each site, the locals that may be read after it: those a frame has to hold. It goes through the
// code backwards, again and again until what is live at the beginnings of loops does not change any more.
func (s *source) liveness() {
	words := (len(s.locals) + 31) / 32
	s.live = s.live[:0]
	for range s.sites {
		s.live = append(s.live, nil)
	}
	s.bits = s.bits[:0]
	loops := s.none(int(s.loops) * words)
	kept := len(s.bits)
	for again := true; again; {
		s.bits = s.bits[:kept]
		again = s.backwards(words, loops)
	}
}

// none returns so many words of the arena, with no bit set. They stay valid until the next function.
func (s *source) none(words int) []uint32 {
	at := len(s.bits)
	if at+words > cap(s.bits) {
		s.bits, at = make([]uint32, 0, 2*(cap(s.bits)+words)), 0
	}
	s.bits = s.bits[:at+words]
	bits := s.bits[at : at+words : at+words]
	clear(bits)
	return bits
}

func (s *source) clone(bits []uint32) []uint32 {
	again := s.none(len(bits))
	copy(again, bits)
	return again
}

// A place is a construct that the walk is in.
type place struct {
	label  []uint32 // live where a branch to it goes
	after  []uint32 // live behind it
	rest   []uint32 // of an if: live where its else begins
	caught []uint32 // live where an exception goes
}

func (s *source) backwards(words int, loops []uint32) (again bool) {
	places := s.places[:0]
	nothing, cur := s.none(words), s.none(words)
	loop := func(in *ins) []uint32 { return loops[int(in.loop)*words:][:words] }
	at := func(label uint32) []uint32 {
		if int(label) == len(places) {
			return nothing // behind the function
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
	for i := len(s.ins) - 1; i >= 0; i-- {
		in := &s.ins[i]
		switch in.op {
		case wasm.OpEnd:
			if in.to < 0 {
				continue // the function's
			}
			p := place{after: s.clone(cur)}
			p.label = p.after
			first := &s.ins[in.to]
			switch first.op {
			case wasm.OpLoop:
				p.label = loop(first)
			case wasm.OpTryTable:
				p.caught = s.none(words)
				for _, c := range s.catches[first.catches.at : first.catches.at+first.catches.n] {
					join(p.caught, at(c.Label))
				}
			}
			places = append(places, p)
		case wasm.OpElse:
			p := &places[len(places)-1]
			p.rest = s.clone(cur)
			copy(cur, p.after)
		case wasm.OpIf:
			p := &places[len(places)-1]
			if p.rest == nil {
				p.rest = p.after
			}
			join(cur, p.rest)
			places = places[:len(places)-1]
		case wasm.OpLoop:
			if join(loop(in), cur) {
				again = true
			}
			places = places[:len(places)-1]
		case wasm.OpBlock, wasm.OpTryTable:
			places = places[:len(places)-1]
		case wasm.OpBr:
			copy(cur, at(in.x))
		case wasm.OpBrTable:
			copy(cur, at(in.x)) // the default is not among the labels
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
			s.live[in.site-1] = s.clone(cur)
		}
	}
	s.places = places
	return again
}

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

// keepsAtMost reports whether no frame of the function has more values than n: operands, live locals, and more locals.
func (s *source) keepsAtMost(n int, more []uint32) bool {
	for _, at := range s.sites {
		in := &s.ins[at]
		operands := int(in.height) + len(s.own(in))
		if operands+len(s.locals) <= n {
			continue
		}
		for i, word := range s.live[in.site-1] {
			operands += bits.OnesCount32(word | more[i])
		}
		if operands > n {
			return false
		}
	}
	return true
}

// large is how many locals, times sites, a function may have before its code would be too large.
const large = 50_000

// unite lets all frames of a large function hold the same numbers, those that are live at any site: then most sites
// have one layout, and their frames are read by the same code. It costs time when the function is left. References stay
// with the sites where they are live, since a frame would keep alive what they refer to.
func (s *source) unite() {
	if len(s.sites)*len(s.locals) < large {
		return
	}
	all := s.none((len(s.locals) + 31) / 32)
	for _, live := range s.live {
		join(all, live)
	}
	for i, t := range s.locals {
		if t.IsRef() {
			all[i/32] &^= 1 << (i % 32)
		}
	}
	if s.keepsAtMost(mostValues, all) {
		for _, live := range s.live {
			join(live, all)
		}
	}
}
