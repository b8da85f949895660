package shadow

import "math/bits"

const (
	// Guard is how many bytes at the low end of a region are filled with Word: a line of the cache.
	Guard = 64
	// Word is the content of each four bytes of an untouched guard.
	Word = 0x0f1be4f1
	// Stagger is how much further apart regions in grown memory lie than they are long.
	Stagger = 192
	// Slack is how many bytes more than the size of a region an allocator is asked for, so that the region can begin at
	// a multiple of Slack.
	Slack = 16
	// Page is the unit in which memory grows.
	Page = 65536
)

// Untouched is what a guard looks like: Word, again and again.
const Untouched = quarter + quarter + quarter + quarter

const (
	quarter = word + word + word + word
	word    = "\xf1\xe4\x1b\x0f"
)

// Place returns where the region begins for which an allocator has returned this address, in a memory of so many bytes.
// Without room some allocators return 0, others -1. An address outside of the memory counts as no room, too.
func Place(at, size uint32, memory uint64) (low uint32, ok bool) {
	return (at + Slack - 1) &^ (Slack - 1), at != 0 && uint64(at)+uint64(size)+Slack <= memory
}

// A State says what a guard looks like, and what has to be done about its region.
type State uint32

const (
	Touched State = 1 << iota // something has been written to the guard
	Through                   // also to its lowest 16 bytes: the overflow went on below them
	Mended                    // the guard has to be repaired
	Lost                      // the region's owner loses it
)

// Look returns the state of a guard that holds these bytes: 0 if it is intact.
func Look(guard []byte) State {
	switch {
	case string(guard) == Untouched:
		return 0
	case string(guard[:16]) == Untouched[:16]:
		return Touched
	}
	return Touched | Through
}

// A Region is one of a guest's, as [Mend] sees it. Its layout is known to jsglue/src/guest/regions.ts.
type Region struct {
	Low, High uint32
	State     State
}

// Mend adds to the states of a guest's regions what has to be done after one of them has overflowed. end is where the
// stack ends now, if that is known; otherwise end is no less than the region's low end. Mend returns how far down the
// overflow has reached, as far as that is known. If there it has left all regions, the overflowed region itself is
// Lost: the guest's own data may be damaged, and with them whatever any of its fibers does. An allocator keeps its own
// few bytes between two regions that are neighbours.
func Mend(regions []Region, overflowed *Region, end uint32) (low uint32) {
	for each := overflowed; ; {
		each.State |= Mended
		low = each.Low
		beyond := end
		if each.State&Through != 0 {
			beyond = 0
		}
		if beyond >= low {
			break
		}
		var below *Region
		for i := range regions {
			if gap := low - regions[i].High; gap <= 2*Slack || gap == Stagger {
				below = &regions[i]
			}
		}
		if below == nil {
			overflowed.State |= Lost
			break
		}
		if beyond >= below.High {
			break
		}
		below.State |= Lost
		if each = below; each.State&Touched == 0 && end >= each.Low {
			break
		}
	}
	return min(low, end)
}

// Enough is the size to ask for if a region of so many bytes was too small.
func Enough(depth uint32) uint64 { return 1 << bits.Len32(2*depth-1) }
