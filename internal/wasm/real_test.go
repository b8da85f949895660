package wasm

import "testing"

const sqljs = "../../node_modules/sql.js/dist/sql-wasm.wasm"

// A module as Emscripten writes it, stripped of names.
func TestSQLJS(t *testing.T) {
	m := parse(t, read(t, sqljs))
	sp := m.StackPointer()
	if sp < 0 || !m.MutableI32(uint32(sp)) {
		t.Errorf("StackPointer() = %d", sp)
	}
	if !m.Grows() {
		t.Error("Grows() = false; JavaScript grows its memory, and its allocator hands out what it finds")
	}
	exercise(t, m)
}

// The name section tells the stack pointer, and so does the header that is kept.
func TestPlain(t *testing.T) {
	m := parse(t, read(t, "testdata/plain.wasm"))
	if sp := m.StackPointer(); sp != 1 {
		t.Errorf("StackPointer() = %d, want 1", sp)
	}
	exercise(t, m)
}
