package shadow

import "github.com/fiberfill/fiberfill/internal/wasm"

// Source is where the shadow stacks of a guest's fibers come from.
type Source byte

const (
	// None: there is nothing to keep apart. In a wish: the best source that the guest can bear.
	None Source = iota
	FromAllocator
	Grow
	Serial
	Copy
)

// Why says what keeps a guest's stacks from being kept apart, or [Apart].
type Why byte

const (
	Apart    Why = iota
	ByName       // the source was asked for by name
	Unclear      // the guest has a stack, and nobody knows which global points to it
	Denied       // the guest is said to have no stack, and seems to have one
	Checks       // the guest traps if its pointer leaves the stack with which it began, or looks for references there
	Asks         // its allocator hands out all memory that it finds
	Shared       // memory has other owners, which may grow it
	Imported     // the pointer has other owners, which may grow the memory
	NoRoom       // memory cannot grow by one region
)

// String is a clause to follow "its stacks cannot be kept apart: ".
func (w Why) String() string { return whys[w] }

// Whys returns the clauses of all reasons, from ByName on. The core, which pages load, tells numbers only. The build
// tool puts the clauses into the scripts: in the core they take 150 bytes more of the script tag in brotli.
func Whys() []string { return whys[ByName:] }

var whys = [...]string{
	ByName:   "that was asked for",
	Unclear:  "which global points to its stack is not clear",
	Denied:   "its code seems to use a stack, and it is said to have none",
	Checks:   "it checks or scans the one stack that it began with",
	Asks:     "its allocator takes all the memory that it finds",
	Shared:   "its memory has other owners",
	Imported: "its stack pointer has other owners",
	NoRoom:   "its memory cannot grow",
}

// Refusal is why a wish cannot be granted.
type Refusal byte

const (
	Granted        Refusal = iota
	BadType                // the named allocator is of a type that fiberfill cannot call
	NoAllocator            // regions from the allocator, and there is none
	NoPointer              // regions or copies, and nobody knows which global points to the stack
	NowhereToPlace         // fibers of the guest's own, or an actor, need stacks, and there is no source for them
)

// A Guest is what is known of a guest.
type Guest struct {
	Module   *wasm.Module // without its code at least
	Pointer  int32        // as [wasm.Module.StackPointer] or the user says
	Growth   wasm.Growth
	Imported bool // the pointer is
}

// A Wish is what the user has asked for, or the kind of guest.
type Wish struct {
	Source    Source
	Size      uint32 // of a region; 0: the default
	Allocator int32  // which export; negative: an allocator that is known by its name
	Denied    bool   // the user says that there is no stack
	Own       bool   // there are fibers of the guest's own, or it is an actor: neither can be put off or copied
	AtOnce    bool   // calls begin at once, as in JSPI
}

// A Plan is how the shadow stacks of one guest are kept.
type Plan struct {
	Source    Source
	Why       Why
	Size      uint32 // of a region
	Allocator Allocator
	Wanders   bool // the guest switches stacks itself: the pointer may be anywhere
	Refusal   Refusal
}

const (
	// Size is the default size of a region in bytes: as much as C compilers give a program's only stack.
	Size = 65536
	// EventSize is the size of a region in a guest without a stack: its own fibers find their first event there.
	EventSize = 1024
)

// Choose plans for a guest in which fibers may wait; in any other guest there is nothing to keep apart.
func Choose(g Guest, w Wish) Plan {
	p := Plan{Size: w.Size, Wanders: g.Module.Exported("asyncify_start_unwind") >= 0}
	if p.Size == 0 {
		p.Size = Size
		if g.Pointer == -1 {
			p.Size = EventSize
		}
	}
	p.Allocator, p.Refusal = find(g.Module, w.Allocator)
	if p.Refusal != Granted || g.Pointer == -1 && !w.Own {
		return p
	}
	p.Source, p.Why = best(g, w, p)
	switch {
	case p.Source == FromAllocator && p.Allocator.Export < 0:
		p.Refusal = NoAllocator
	case (p.Why == Unclear || p.Why == Denied) && w.Source != None && w.Source != Serial:
		p.Refusal = NoPointer
	case w.Own && p.Source >= Serial:
		p.Refusal = NowhereToPlace
	case w.AtOnce && p.Source == Serial && w.Source != Serial:
		// If the pointer is unknown, there is no stack to leave free for others.
		if p.Source = Copy; p.Why == Unclear || p.Why == Denied {
			p.Source = None
		}
	}
	return p
}

// best is the first source that a guest with a stack can bear.
func best(g Guest, w Wish, p Plan) (Source, Why) {
	m := g.Module
	switch {
	case w.Denied && !w.Own:
		return Serial, Denied
	case g.Pointer == wasm.CannotTell:
		return Serial, Unclear
	case w.Source != None:
		return w.Source, ByName
	case m.Exported("__set_stack_limits") >= 0 || g.Growth == wasm.Scans:
		return Serial, Checks
	case p.Allocator.Export >= 0:
		return FromAllocator, Apart
	case m.Memory.Imported || m.Memory.Shared:
		return Serial, Shared
	case g.Growth == wasm.Asks:
		return Serial, Asks
	case g.Imported:
		return Serial, Imported
	case m.Room() < (p.Size+Page-1)/Page:
		return Serial, NoRoom
	}
	return Grow, Apart
}

// SizeLikeOwn is the size of regions for code written for JSPI, which cannot ask for more and expects of each call what
// the program's own stack holds. That stack begins at base, so it is no larger than base. The regions of as many fibers
// as are started at once leave the program three quarters of the pages that memory may grow by.
func SizeLikeOwn(base, room, fibers uint32) uint32 {
	return max(Size, uint32(min(uint64(base), uint64(room)*Page/uint64(fibers)/4))&^15)
}
