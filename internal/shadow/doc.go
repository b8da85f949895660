// Package shadow is the policy for shadow stacks. Compilers keep locals whose address is taken on a stack in linear
// memory, which a global points to; two suspended calls that share it overwrite each other. The hosts (the page, which
// has this package in its core, the server, and actors in both) read and write memory; this package decides what they
// do with it.
//
// # Where stacks lie
//
// A region is the piece of memory that one fiber uses for its stack. [Choose] says where regions come from. It is the
// first of these that the guest can bear:
//
//	allocator   the guest has a function that allocates (see [Allocator]). It must not check that its pointer stays
//	            within its own stack, nor look for references there, as collectors do (see [wasm.Scans])
//	grow        memory is grown, a batch of regions at once. The guest's own allocator bears that if it never grows
//	            memory, or only uses what memory.grow returns to it (see [wasm.Growth])
//	serial      there are no regions. Calls run one after another, each on the guest's one stack
//	copy        only by name: calls overlap on the guest's one stack, and the used part is copied out when one waits
//	            and back when it goes on. A pointer to such a local must not be used by anybody else meanwhile
//
// Where a call has to begin at once, as in JSPI, it cannot be put off: there calls that cannot have regions overlap on
// the one stack, as on raw JSPI.
//
// # Layout
//
// A region has Size bytes. At its low end lies a guard of [Guard] bytes that are filled with [Word]. Nobody can stop a
// guest from writing below its region, but the guard tells afterwards that it has. Each wait and each end check all of
// the guard: a function with one local writes one word in 16 bytes, and which of the four words depends on the
// compiler. A wait checks the stack pointer, too, since a large frame may reach across the guard; but not in a guest
// that switches stacks itself by Asyncify, whose pointer may be anywhere. Regions in grown memory lie [Stagger] further
// apart than they are long: at 64 KB sharp all their ends would share a few lines of the cache.
//
// In grown memory the first region is the highest. What has become of no region yet lies below, with a guard of its
// own: an overflow finds nothing to damage there. The page grows memory by a thousand regions, so there is room; the
// server grows it by one more than there are calls.
//
// # Overflow
//
// A fiber whose guard is touched, or whose pointer is below its region, has overflowed. The pointer is known when the
// fiber waits, and when a trap ends it: after a recursion without an end the pointer is where the recursion got to. The
// fiber ends, and so do the fibers into whose regions it has run; the guards are repaired. [Mend] says which regions.
//
// Below a region without a neighbour lies what is the guest's own: its data, and the blocks of its allocator. If an
// overflow has got there, the guest is spoilt. Nobody knows what is damaged, so all its fibers end, and no call begins
// any more. In a page the stack pointer then rests at 0, so that what others still call there traps as soon as it needs
// a stack.
//
// What nobody notices: frames that leave all of the guard unwritten, in a call that returns or throws without a wait,
// or traps in the code of another instance.
//
// # Tests
//
// testdata/cases.mjs is the policy as one table of cases with a guest each. The page, the server and both hosts of
// actors play it.
package shadow
