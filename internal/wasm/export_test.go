package wasm

// Instruction goes over one instruction.
func (r *Reader) Instruction() { r.instruction() }
