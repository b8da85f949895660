package guest

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"

	"github.com/tetratelabs/wazero/api"

	"github.com/fiberfill/fiberfill/internal/wasm"
)

// Stacks say how the fibers of a guest get their shadow stacks, where the default does not suit: compilers keep locals
// whose address is taken on a stack in linear memory, and two calls that wait must not share it. A region is the piece
// of memory that one fiber uses for it. The rules are those of browsers (jsglue/src/guest/regions.ts).
type Stacks struct {
	// Size is that of each fiber's region in bytes: a multiple of 16, at least 1024; 65536 if it is 0.
	Size uint32
	// Pointer is the name of an exported global, the index of a global, or "none"; empty: fiberfill looks for it.
	Pointer string
	// Source is where regions come from; empty: the first of these that the guest can bear.
	Source Source
}

// Source is where regions come from.
type Source string

const (
	// Allocator: the guest exports malloc and free, and does not check that its pointer stays within its own stack.
	Allocator Source = "allocator"
	// Grow: memory is grown. Only where nothing in the guest grows it: an allocator that finds memory grown behind its
	// back hands that part out.
	Grow Source = "grow"
	// Copy: there are no regions. All fibers use the guest's own stack, and the used part is copied out when one waits
	// and back when it goes on; a pointer to it must not be used by others meanwhile.
	Copy Source = "copy"
)

const (
	regionSize = 65536 // bytes: what C compilers give a program's only stack
	guardSize  = 128   // bytes
	guardWord  = 0x0f1be4f1
	pageSize   = 65536
	apart      = 64 // bytes: neighbours have fewer between them, of which an allocator keeps its own before each
)

// pointer returns the index of the global that holds the stack pointer, -1 if there is none, or [wasm.CannotTell].
func (s Stacks) pointer(m *wasm.Module) (int32, error) {
	switch s.Pointer {
	case "":
		return m.StackPointer(), nil
	case "none":
		return -1, nil
	}
	if !m.Memory.Exists {
		return 0, fmt.Errorf("the stack pointer is said to be %s, and the guest has no memory that it could point to",
			s.Pointer)
	}
	if index, err := strconv.ParseUint(s.Pointer, 10, 31); err == nil {
		if !m.MutableI32(uint32(index)) {
			return 0, fmt.Errorf("the stack pointer is said to be global %d, and the guest has no such global that "+
				"is a mutable i32", index)
		}
		return int32(index), nil
	}
	for _, e := range m.Exports {
		if e.Kind == wasm.KindGlobal && m.MutableI32(e.Index) && string(m.Name(e)) == s.Pointer {
			return int32(e.Index), nil
		}
	}
	return 0, fmt.Errorf("the stack pointer is said to be %q, and the guest exports no mutable i32 of this "+
		"name", s.Pointer)
}

// regions are those of one guest.
type regions struct {
	guest     *Guest
	size      uint32
	malloc    bool
	free      []*region
	all       []*region
	next, end uint32 // the part of grown memory that no region has been made of
}

type region struct {
	low  uint32 // the guard begins here
	high uint32 // the shadow stack begins here and grows down
	call *Call  // whose it is now; nil: nobody's, or a fiber's of a proposal
	lost error  // not nil: somebody has written into it
}

// regions returns those of g, nil if its fibers' stacks are copied.
func (s Stacks) regions(g *Guest, m *wasm.Module) (*regions, error) {
	r := &regions{guest: g, size: s.Size}
	if r.size == 0 {
		r.size = regionSize
	}
	if r.size < 1024 || r.size%16 != 0 {
		return nil, fmt.Errorf("a shadow stack has a multiple of 16 bytes, at least 1024; %d were asked for", r.size)
	}
	_, free := g.exports["free"]
	has := free && signature(g.exports["malloc"]) == "(i32) -> i32"
	// Emscripten's -sSTACK_OVERFLOW_CHECK=2: the guest traps where its pointer leaves the stack that it began with.
	_, checks := g.exports["__set_stack_limits"]
	source := s.Source
	if source == "" {
		switch {
		case checks:
			source = Copy
		case has:
			source = Allocator
		case m.Grows() || uint64(m.Memory.Max-m.Memory.Min)*pageSize < uint64(r.size):
			source = Copy
		default:
			source = Grow
		}
	}
	switch source {
	case Allocator:
		if !has {
			return nil, fmt.Errorf("shadow stacks shall come from the guest's allocator, and it exports no " +
				"malloc(i32) -> i32 and free")
		}
		r.malloc = true
	case Grow:
	case Copy:
		return nil, nil
	default:
		return nil, fmt.Errorf("shadow stacks come from %s, %s or %s; %q was asked for", Allocator, Grow, Copy, source)
	}
	return r, nil
}

// take returns a region for a fiber that starts; c is nil if it is one of a proposal.
func (r *regions) take(c *Call) (*region, error) {
	if len(r.free) == 0 {
		if err := r.more(); err != nil {
			return nil, err
		}
	}
	last := len(r.free) - 1
	taken := r.free[last]
	r.free = r.free[:last]
	taken.call, taken.lost = c, nil
	if !r.intact(taken) {
		r.guard(taken) // a fiber that overflowed wrote through it when it was nobody's
	}
	return taken, nil
}

func (r *regions) give(given *region) {
	given.call = nil
	r.free = append(r.free, given)
}

// more makes one more region.
func (r *regions) more() error {
	var low uint32
	if r.malloc {
		results, err := r.guest.module.ExportedFunction("malloc").Call(context.Background(), uint64(r.size+16))
		if err != nil {
			return fmt.Errorf("the guest's malloc has failed: %w", err)
		}
		at := uint64(api.DecodeU32(results[0]))
		switch {
		case at == 0:
			return r.noRoom()
		case at+uint64(r.size)+16 > uint64(r.guest.memory.Size()): // without room some allocators return -1
			return fmt.Errorf("the guest's malloc(%d) has returned %d, which is not in its memory", r.size+16, at)
		}
		low = (uint32(at) + 15) &^ 15
	} else {
		if r.end-r.next < r.size && !r.grow() {
			return r.noRoom()
		}
		low = r.next
		r.next += r.size
	}
	made := &region{low: low, high: low + r.size}
	r.all = append(r.all, made)
	r.free = append(r.free, made)
	r.guard(made)
	return nil
}

// grow grows memory by as many regions as there are calls that are not over, once for all of them: where memory is
// copied to grow it, that takes longer than anything else. By fewer if there is not the room.
func (r *regions) grow() bool {
	memory := r.guest.memory
	want := len(r.guest.Calls())
	if r.guest.proposal != nil {
		want = len(r.all) // it is its fibers that need them, and nobody knows how many there will be: twice as many
	}
	for count := max(1, want); count >= 1; count /= 2 {
		pages := (uint64(count)*uint64(r.size) + pageSize - 1) / pageSize
		before := uint64(memory.Size())
		if before+pages*pageSize >= 1<<32 { // the last address must not be 0
			continue
		}
		if _, ok := memory.Grow(uint32(pages)); ok {
			r.next, r.end = uint32(before), uint32(before+pages*pageSize)
			return true
		}
	}
	return false
}

func (r *regions) noRoom() error {
	return fmt.Errorf("the guest's memory has no room for one more shadow stack of %d bytes beside %d; fewer fibers "+
		"at once, a smaller --stack-size or --stacks=copy need less", r.size, len(r.all))
}

func (r *regions) guard(of *region) { r.guest.memory.Write(of.low, untouched) }

// untouched is what a guard looks like.
var untouched = bytes.Repeat(binary.LittleEndian.AppendUint32(nil, guardWord), guardSize/4)

// intact reports whether the guard of a region has not been written to. All of it is looked at: a function with one
// local writes one word in 16 bytes, and which of the four it is depends on the compiler.
func (r *regions) intact(of *region) bool {
	guard, _ := r.guest.memory.Read(of.low, guardSize)
	return bytes.Equal(guard, untouched)
}

// mend makes good the guard of a region, and those of the regions below that an overflow has run through, too. It
// returns where the last of them lies, and the regions that have been written into, or that lie where the stack is that
// ends at end.
func (r *regions) mend(of *region, end uint32) (low uint32, into []*region) {
	for _, other := range r.all {
		if other.low < of.low && other.high > end {
			into = append(into, other)
		}
	}
	for {
		lowest, _ := r.guest.memory.Read(of.low, 16) // of a function with one local, which writes one word of it
		through := !bytes.Equal(lowest, untouched[:16])
		r.guard(of)
		i := slices.IndexFunc(r.all, func(other *region) bool { return other.high <= of.low && of.low-other.high < apart })
		if i < 0 || !through {
			return of.low, into
		}
		below := r.all[i]
		if !slices.Contains(into, below) {
			into = append(into, below)
		}
		if r.intact(below) {
			return of.low, into
		}
		of = below
	}
}
