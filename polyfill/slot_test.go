package polyfill

import (
	"testing"
	"unsafe"
)

// The package comment promises 16 bytes a live fiber.
func TestSlotSize(t *testing.T) {
	if n := unsafe.Sizeof(slot{}); n != 16 {
		t.Errorf("a slot takes %d bytes, want 16", n)
	}
}
