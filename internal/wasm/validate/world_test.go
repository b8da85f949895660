package validate

import (
	"strings"
	"testing"

	"github.com/fiberfill/fiberfill/internal/wasm"
)

// vec is a vector: a count and its entries.
func vec(entries ...string) string {
	w := wasm.Writer{}
	w.U32(uint32(len(entries)))
	return string(w.B) + strings.Join(entries, "")
}

// sized is contents behind their size.
func sized(contents string) string {
	w := wasm.Writer{}
	w.U32(uint32(len(contents)))
	return string(w.B) + contents
}

func section(id byte, entries ...string) string { return string(id) + sized(vec(entries...)) }

func module(sections ...string) []byte { return []byte(wasm.Preamble + strings.Join(sections, "")) }

// The world is what the bodies in these tests may use. The comment gives the index.
var (
	worldTypes = section(wasm.SectionType,
		"\x60\x00\x00",                                 // 0: func
		"\x60\x00\x01\x7f",                             // 1: func (result i32)
		"\x60\x01\x7f\x01\x7f",                         // 2: func (param i32) (result i32)
		"\x60\x02\x7f\x7e\x02\x7e\x7f",                 // 3: func (param i32 i64) (result i64 i32)
		"\x60\x01\x7f\x00",                             // 4: func (param i32)
		"\x5f\x04\x7f\x01\x78\x01\x7e\x00\x64\x70\x01", // 5: struct i32 var, i8 var, i64, (ref func) var
		"\x5e\x7f\x01",                                 // 6: array i32 var
		"\x5e\x78\x00",                                 // 7: array i8
		"\x5e\x70\x01",                                 // 8: array funcref var
		"\x50\x00\x5f\x00",                             // 9: sub struct
		"\x4f\x01\x09\x5f\x01\x7f\x00",                 // 10: sub final 9 struct i32
		"\x5d\x00",                                     // 11: cont 0
		"\x5d\x02",                                     // 12: cont 2
		"\x4e\x02\x60\x02\x7f\x63\x0e\x00\x5d\x0d",     // 13: func (param i32 (ref null 14)), 14: cont 13
		"\x5d\x01",                                     // 15: cont 1
		"\x60\x01\x64\x70\x00",                         // 16: func (param (ref func))
		"\x60\x00\x02\x7f\x63\x0c",                     // 17: func (result i32 (ref null 12))
		"\x60\x00\x01\x69",                             // 18: func (result exnref)
		"\x60\x01\x7f\x02\x7f\x63\x0f",                 // 19: func (param i32) (result i32 (ref null 15))
		"\x5d\x03",                                     // 20: cont 3
	)
	worldImports = section(wasm.SectionImport,
		"\x01m\x01f\x00\x02",     // function 0 of type 2
		"\x01m\x01g\x03\x7f\x00", // global 0: i32
	)
	worldTables = section(wasm.SectionTable,
		"\x70\x00\x01",     // 0: funcref
		"\x6f\x04\x01",     // 1: externref, 64-bit
		"\x63\x0c\x00\x01", // 2: (ref null 12)
	)
	worldMemories = section(wasm.SectionMemory,
		"\x00\x01",     // 0
		"\x04\x01",     // 1: 64-bit
		"\x03\x01\x02", // 2: shared
	)
	worldTags = section(wasm.SectionTag,
		"\x00\x00", // 0
		"\x00\x04", // 1: (param i32)
		"\x00\x02", // 2: (param i32) (result i32)
		"\x00\x01", // 3: (result i32)
	)
	worldGlobals = section(wasm.SectionGlobal,
		"\x7f\x01\x41\x00\x0b",     // 1: i32 var
		"\x7e\x00\x42\x00\x0b",     // 2: i64
		"\x63\x0b\x01\xd0\x75\x0b", // 3: (ref null 11) var
	)
	worldElements = section(wasm.SectionElem,
		"\x01\x00\x01\x00", // 0: passive, function 0
		"\x05\x6f\x00",     // 1: passive externref
	)
	worldData = section(wasm.SectionData, "\x01\x01x") // 0: passive
)

// world returns a module of a function of a type with the body, and where the body's code begins. Locals are a vector.
func world(funcType byte, locals, code string) (bin []byte, at int) {
	body := sized(locals + code)
	parts := []string{worldTypes, worldImports, section(wasm.SectionFunc, string(funcType)), worldTables, worldMemories,
		worldTags, worldGlobals, worldElements, string(byte(wasm.SectionDataCount)) + "\x01\x01",
		section(wasm.SectionCode, body), worldData}
	bin = module(parts...)
	return bin, len(bin) - len(worldData) - len(code)
}

// verdict checks a module against what is expected of it: a code, and a place.
func verdict(t *testing.T, bin []byte, code Code, at int) {
	t.Helper()
	_, err := Validate(bin)
	switch {
	case err == nil && code != 0:
		t.Errorf("valid, want %q at %d", code.Rule(), at)
	case err != nil && code == 0:
		t.Errorf("%v, want it valid", err)
	case err != nil && (err.Code != code || err.At != at):
		t.Errorf("%v, want %q at byte %d", err, code.Rule(), at)
	}
}
