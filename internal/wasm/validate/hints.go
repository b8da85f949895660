package validate

import "github.com/fiberfill/fiberfill/internal/wasm"

// A Hint is a branch hint: which way a br_if or an if mostly goes.
type Hint struct {
	Func   uint32
	At     int // offset of the instruction
	Likely bool
}

// Hints returns the branch hints, in their order. A custom section cannot make a module invalid: hints for functions
// and places that do not exist are left out, and a malformed section gives the hints before the fault.
func (m *Module) Hints() []Hint {
	var hints []Hint
	for _, c := range m.Customs {
		if string(m.Text(c.Name)) != "metadata.code.branch_hint" {
			continue
		}
		r := reader{wasm.Reader{Bin: m.Bin, Pos: c.Contents.Start, End: c.Contents.End}}
		for funcs := r.u32(); funcs > 0 && r.Code == wasm.OK; funcs-- {
			f := r.u32()
			for n := r.u32(); n > 0 && r.Code == wasm.OK; n-- {
				at, size, likely := r.u32(), r.u32(), r.Byte()
				if size != 1 || likely > 1 || r.Code != wasm.OK {
					return hints
				}
				if f >= uint32(m.ImportedFuncs) && f < uint32(len(m.Funcs)) {
					if body := m.Funcs[f].Body; at < uint32(body.End-body.Start) {
						hints = append(hints, Hint{f, body.Start + int(at), likely == 1})
					}
				}
			}
		}
	}
	return hints
}
