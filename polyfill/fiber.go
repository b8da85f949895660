package polyfill

// Fiber is a reference to a fiber: a slot number in the low bits and the slot's generation above it. The zero Fiber is
// the null reference. References may be copied and compared freely, are never re-used, and outlive their fiber.
//
// Why: RATIONALE.md, "Why is a reference never used twice?".
type Fiber uint32

const (
	indexBits = 22
	indexMask = 1<<indexBits - 1
	// lastGeneration is the highest generation a slot may have; a slot that reached it is retired when its fiber ends.
	lastGeneration = 1<<(32-indexBits) - 1
	// MaxFibers is the number of fibers that may be alive at once. The highest slot number is left out, so that no
	// reference is ever all ones and -1 is free to mean something else on the way through wasm.
	MaxFibers = indexMask - 1
)

// Index returns the slot of f, a small number that is unique among the fibers that are alive at one time: the place to
// keep data beside a fiber in a slice.
func (f Fiber) Index() int { return int(f & indexMask) }

func (f Fiber) generation() uint16 { return uint16(f >> indexBits) }

// State is where a fiber stands. See the table in the package comment.
type State uint8

const (
	// Invalid is the state of the null reference and of numbers that no New has returned.
	Invalid State = iota
	Suspended
	Active
	Busy
	Carried
	Moribund
)

// String returns the name used in messages and in the rules.
func (s State) String() string {
	switch s {
	case Suspended:
		return "suspended"
	case Active:
		return "active"
	case Busy:
		return "busy"
	case Carried:
		return "carried"
	case Moribund:
		return "moribund"
	}
	return "invalid"
}
