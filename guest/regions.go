package guest

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/tetratelabs/wazero/api"

	"github.com/fiberfill/fiberfill/internal/shadow"
	"github.com/fiberfill/fiberfill/internal/wasm"
)

// Stacks say how the fibers of a guest get their shadow stacks, if the default does not suit: see package shadow.
type Stacks struct {
	// Size is the size of each fiber's region in bytes: a multiple of 16, at least 1024; 0 means 65536.
	Size uint32
	// Pointer is the name of an exported global, the index of a global, or "none"; empty: fiberfill looks for it.
	Pointer string
	// Source is where regions come from; empty: the first of these that the guest can bear.
	Source Source
}

// Source is where the stacks of fibers come from.
type Source string

const (
	Allocator Source = "allocator" // the guest's own
	Grow      Source = "grow"      // memory is grown: the guest's allocator must use only what memory.grow returns
	Serial    Source = "serial"    // calls run one after another
	Copy      Source = "copy"      // the one stack's used part is copied out when a fiber waits, and back later
)

// sources are those of package shadow, by their numbers.
var sources = [...]Source{shadow.FromAllocator: Allocator, shadow.Grow: Grow, shadow.Serial: Serial, shadow.Copy: Copy}

// none is the user's word for a guest that has no stack pointer.
const none = "none"

// pointer returns the index of the global that holds the stack pointer, -1 if there is none, or [wasm.CannotTell].
func (s Stacks) pointer(m *wasm.Module) (int32, error) {
	if s.Pointer == "" || s.Pointer == none {
		return m.StackPointer(), nil
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

// plan chooses how the stacks of a guest whose calls may wait are kept.
func (s Stacks) plan(m *wasm.Module, pointer int32, growth wasm.Growth, own bool) (shadow.Plan, error) {
	if s.Size != 0 && (s.Size < 1024 || s.Size%16 != 0) {
		return shadow.Plan{}, fmt.Errorf("a shadow stack has a multiple of 16 bytes, at least 1024; %d were asked for",
			s.Size)
	}
	wish := shadow.Wish{Size: s.Size, Allocator: -1, Denied: s.Pointer == none, Own: own}
	if s.Source != "" {
		for number, name := range sources {
			if name == s.Source {
				wish.Source = shadow.Source(number)
			}
		}
		if wish.Source == shadow.None {
			return shadow.Plan{}, fmt.Errorf("shadow stacks come from %s, %s, %s or %s; %q was asked for",
				Allocator, Grow, Serial, Copy, s.Source)
		}
	}
	p := shadow.Choose(shadow.Guest{Module: m, Pointer: pointer, Growth: growth}, wish)
	switch {
	case p.Refusal == shadow.NoAllocator:
		return p, fmt.Errorf("shadow stacks shall come from the guest's allocator, and it exports no " +
			"malloc(i32) -> i32 and free(i32)")
	case p.Refusal == shadow.NowhereToPlace && p.Why == shadow.Unclear, p.Refusal == shadow.NoPointer:
		return p, fmt.Errorf("%v. Name it by Options.Stacks.Pointer, an exported global or a global's index", p.Why)
	case p.Refusal == shadow.NowhereToPlace:
		return p, fmt.Errorf("there is nowhere to take a stack for each of its fibers from: %v. Have it export malloc "+
			"and free, or ask for Options.Stacks.Source = guest.Grow if its allocator uses no memory "+
			"but what memory.grow returned to it", p.Why)
	}
	return p, nil
}

// serially is the message, given once, about a guest whose calls run one after another although nobody has asked for
// that: why, and what to do, the best remedy first.
func serially(why shadow.Why) string {
	text := "its calls run one after another, because their stacks cannot be kept apart: " + why.String() +
		". What helps, the best first: "
	switch why {
	case shadow.Unclear, shadow.Denied:
		return text + "name its stack pointer by Options.Stacks.Pointer, or export it as __stack_pointer (programs " +
			"of Go's own toolchain have none, and stay as they are)"
	case shadow.Checks:
		// Not by copying: a collector would free what only the copies refer to.
		return text + "build it with TinyGo's -gc=leaking, or with Emscripten's -sSTACK_OVERFLOW_CHECK below 2; " +
			"Options.Stacks.Source = guest.Allocator, if it has neither collector nor check"
	default:
		text += "have it export malloc and free; Options.Stacks.Source = guest.Grow, if its allocator uses no memory " +
			"but what memory.grow returned to it"
	}
	return text + "; Options.Stacks.Source = guest.Copy, if nobody uses pointers to the stack of a call that waits"
}

// regions are those of one guest.
type regions struct {
	guest  *Guest
	size   uint32
	malloc api.Function // nil: memory is grown
	free   []*region
	all    []*region
	rests  []*region // the parts of grown memory that no region has been made of, the latest last
	spoilt error     // not nil: an overflow may have damaged the guest's data
}

type region struct {
	low  uint32 // the guard begins here
	high uint32 // the shadow stack begins here and grows down
	call *Call  // the call that has it now; nil: none, or a fiber of a proposal
	lost error  // not nil: somebody has written into it
}

// take returns a region for a fiber that starts; c is nil if that is a fiber of a proposal.
func (r *regions) take(c *Call) (*region, error) {
	if r.spoilt != nil {
		return nil, r.spoilt
	}
	if len(r.free) == 0 {
		if err := r.more(); err != nil {
			return nil, err
		}
	}
	last := len(r.free) - 1
	taken := r.free[last]
	r.free = r.free[:last]
	taken.call, taken.lost = c, nil
	if r.state(taken) != 0 {
		r.guard(taken) // a fiber that overflowed wrote through it while no fiber had it
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
	if r.malloc != nil {
		asked := r.size + shadow.Slack
		results, err := r.malloc.Call(context.Background(), r.guest.plan.Allocator.Arguments(asked)...)
		if err != nil {
			return fmt.Errorf("the guest's malloc has failed: %w", err)
		}
		at, ok := api.DecodeU32(results[0]), false
		if low, ok = shadow.Place(at, r.size, uint64(r.guest.memory.Size())); !ok {
			return fmt.Errorf("%w (its malloc(%d) has returned %d)", r.noRoom(), asked, at)
		}
		r.add(low)
		return nil
	}
	last := len(r.rests) - 1
	if last < 0 || r.rests[last].high-r.rests[last].low < r.size {
		if !r.grow() {
			return r.noRoom()
		}
		last = len(r.rests) - 1
	}
	rest := r.rests[last]
	low = rest.high - r.size
	r.add(low)
	if rest.high = low - shadow.Stagger; low < rest.low+shadow.Guard+shadow.Stagger {
		r.rests = r.rests[:last]
	}
	return nil
}

func (r *regions) add(low uint32) {
	made := &region{low: low, high: low + r.size}
	r.all = append(r.all, made)
	r.free = append(r.free, made)
	r.guard(made)
}

// grow grows memory by as many regions as there are calls that are not over, once for all of them: if the runtime
// copies memory to grow it, that takes longer than anything else. It grows by fewer regions if there is no room for
// all.
func (r *regions) grow() bool {
	memory := r.guest.memory
	want := len(r.guest.Calls())
	if most := r.guest.options.Concurrency; most > 0 {
		want = min(want, most)
	}
	if r.guest.proposal != nil {
		want = len(r.all) // its own fibers need them, and nobody knows how many there will be: take twice as many
	}
	for count := max(1, want) + 1; count >= 1; count /= 2 { // one more than there are: room below the others
		size := uint64(count)*uint64(r.size+shadow.Stagger) - shadow.Stagger
		pages := (size + shadow.Page - 1) / shadow.Page
		before := uint64(memory.Size())
		if before+pages*shadow.Page >= 1<<32 { // the last address must not be 0
			continue
		}
		if _, ok := memory.Grow(uint32(pages)); ok {
			rest := &region{low: uint32(before), high: uint32(before + pages*shadow.Page)}
			r.guard(rest)
			r.rests = append(r.rests, rest)
			return true
		}
	}
	return false
}

func (r *regions) noRoom() error {
	return fmt.Errorf("the guest's memory has no room for one more shadow stack of %d bytes beside %d; a limit by "+
		"Options.Concurrency, a smaller Options.Stacks.Size or Options.Stacks.Source = guest.Serial need less",
		r.size, len(r.all))
}

func (r *regions) guard(of *region) { r.guest.memory.WriteString(of.low, shadow.Untouched) }

func (r *regions) state(of *region) shadow.State {
	guard, _ := r.guest.memory.Read(of.low, shadow.Guard)
	return shadow.Look(guard)
}

// mend repairs the guards that an overflow of a region has overwritten. It returns how far down the overflow has
// reached, the regions that it has reached, and whether it may have damaged the guest's data: then it returns all
// other regions. end is where the stack ends now, or unknown.
func (r *regions) mend(of *region, end uint32) (low uint32, lost []*region, spoilt bool) {
	all := slices.Concat(r.all, r.rests)
	seen := make([]shadow.Region, len(all))
	for i, each := range all {
		seen[i] = shadow.Region{Low: each.low, High: each.high, State: r.state(each)}
	}
	overflowed := &seen[slices.Index(all, of)]
	low = shadow.Mend(seen, overflowed, end)
	spoilt = overflowed.State&shadow.Lost != 0
	for i, each := range all {
		if seen[i].State&shadow.Mended != 0 {
			r.guard(each)
		}
		if each != of && (spoilt || seen[i].State&shadow.Lost != 0) {
			lost = append(lost, each)
		}
	}
	return low, lost, spoilt
}
