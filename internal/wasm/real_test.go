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
	if m.Growth() != Asks {
		t.Errorf("Growth() = %d; JavaScript grows its memory, and its allocator hands out what it finds", m.Growth())
	}
	exercise(t, m)
}

// A module as rustc writes it: its allocator bears memory that others have added.
func TestRust(t *testing.T) {
	m := parse(t, read(t, "../../jsglue/test/testdata/rust.wasm"))
	if sp, growth := m.StackPointer(), m.Growth(); sp != 0 || growth != Adds {
		t.Errorf("StackPointer() = %d, Growth() = %d", sp, growth)
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
