package validate

import "github.com/fiberfill/fiberfill/internal/wasm"

// maxLocals is how many locals a function may have, its parameters counted, in all engines.
const maxLocals = 50_000

// readLocals reads the locals that a function declares, in runs of one type.
func (b *Body) readLocals() {
	total := uint64(0)
	for n := b.r.u32(); n > 0 && b.r.Code == wasm.OK; n-- {
		at := b.r.Pos
		count := b.r.u32()
		total += uint64(count)
		if total > 0xffffffff {
			b.fail(BadNumber, at)
			return
		}
		t := b.m.valType(&b.r)
		if uint64(len(b.Locals))+uint64(count) > maxLocals {
			b.fail(TooMany, at)
			return
		}
		for range count {
			b.Locals = append(b.Locals, t)
		}
	}
}
