//go:build linux || darwin

package guest

import (
	"context"
	"syscall"

	"github.com/tetratelabs/wazero/experimental"
)

// reserve puts the guest's memory at addresses that are reserved once, for the largest size it may reach. The runtime
// itself would copy a Go slice whenever the memory grows; with a region of 64 KB for each of 10,000 fibers that would
// take seconds, and all of the machine's memory. With a reservation, untouched pages, which are most of every region,
// cost nothing.
func (g *Guest) reserve(ctx context.Context) context.Context {
	return experimental.WithMemoryAllocator(ctx, experimental.MemoryAllocatorFunc(func(_,
		max uint64) experimental.LinearMemory {
		bytes, err := syscall.Mmap(-1, 0, int(max), syscall.PROT_READ|syscall.PROT_WRITE,
			syscall.MAP_ANON|syscall.MAP_PRIVATE|syscall.MAP_NORESERVE)
		if err != nil {
			return new(heap) // the system gives out no more than there is
		}
		g.unreserve = func() { syscall.Munmap(bytes) }
		return reserved(bytes)
	}))
}

type reserved []byte

func (r reserved) Reallocate(size uint64) []byte { return r[:size:size] }

// Free does nothing: the runtime calls it when a guest exits, and its other fibers are not over then. See
// [Guest.Close].
func (r reserved) Free() {}

// heap is memory as the runtime itself would make it.
type heap []byte

func (h *heap) Reallocate(size uint64) []byte {
	*h = append(*h, make([]byte, size-uint64(len(*h)))...)
	return *h
}

func (h *heap) Free() {}
