package validate

import (
	"testing"

	"github.com/fiberfill/fiberfill/internal/wasm"
)

// types, and so on, are sections of these entries.
func types(entries ...string) string   { return section(wasm.SectionType, entries...) }
func funcs(entries ...string) string   { return section(wasm.SectionFunc, entries...) }
func globals(entries ...string) string { return section(wasm.SectionGlobal, entries...) }
func exports(entries ...string) string { return section(wasm.SectionExport, entries...) }
func elems(entries ...string) string   { return section(wasm.SectionElem, entries...) }
func tables(entries ...string) string  { return section(wasm.SectionTable, entries...) }
func memories(entries ...string) string {
	return section(wasm.SectionMemory, entries...)
}
func code(bodies ...string) string {
	for i := range bodies {
		bodies[i] = sized(bodies[i])
	}
	return section(wasm.SectionCode, bodies...)
}

const (
	first = len(wasm.Preamble) + 3 // where the first entry of a first, short section begins
	empty = "\x60\x00\x00"         // func
)

// What is told of modules without looking into bodies: valid if code is 0.
var moduleTests = []struct {
	name string
	bin  []byte
	code Code
	at   int
}{
	{"empty", module(), 0, 0},
	{"nothing at all", nil, Truncated, 0},
	{"text", []byte("(module)"), NotWasm, 0},
	{"a component", []byte("\x00asm\x0d\x00\x01\x00"), BadVersion, 4},

	// Sections
	{"a section that there is not", module("\x0e\x00"), BadSection, 8},
	{"a section twice", module(types(), types()), BadSection, 11},
	{"sections out of order", module(funcs(), types()), BadSection, 11},
	{"tags behind globals", module(globals(), section(wasm.SectionTag)), BadSection, 11},
	{"a section longer than the file", module("\x01\x05\x00"), Truncated, 11},
	{"a section with something behind its entries", module("\x01\x02\x00\x00"), SectionSize, 11},
	{"more entries than bytes", module("\x01\x05\xff\xff\xff\xff\x0f"), Truncated, 15},
	{"custom sections anywhere", module("\x00\x02\x01a", types(), "\x00\x02\x01a", "\x00\x02\x01b"), 0, 0},
	{"a custom section whose name is not UTF-8", module("\x00\x02\x01\xff"), BadName, 10},
	{"a custom section without a name", module("\x00\x00"), Truncated, 10},
	{"a function without a body", module(types(empty), funcs("\x00")), FunctionCount, 18},
	{"a body without a function", module(types(empty), code("\x00\x0b")), FunctionCount, 16},
	{"a body longer than its section", module(types(empty), funcs("\x00"), "\x0a\x03\x01\x09\x00"), Truncated, 23},
	{"data that is not counted", module(memories("\x00\x01"), section(wasm.SectionData, "\x00\x41\x00\x0b\x00")), 0, 0},
	{"data that is counted wrong", module("\x0c\x01\x01"), DataCount, 11},
	{"memory.init without a count", module(
		types(empty),
		funcs("\x00"),
		memories("\x00\x01"),
		code(
			"\x00\x41\x00\x41\x00\x41\x00\xfc\x08\x00\x00\x0b",
		),
		section(wasm.SectionData, "\x01\x00"),
	), DataCount, 34},

	// Types
	{"a type of no form", module(types("\x40")), BadType, first},
	{"a type of no value type", module(types("\x60\x01\x40\x00")), BadType, first + 2},
	{"a storage type as a parameter", module(types("\x60\x01\x78\x00")), BadType, first + 2},
	{"a reference to a later type", module(types("\x60\x01\x63\x01\x00", empty)), UnknownType, first + 3},
	{"a reference to itself", module(types("\x60\x01\x63\x00\x00")), 0, 0},
	{"a reference in a group", module(types("\x4e\x02\x5f\x01\x63\x01\x00\x5f\x01\x63\x00\x01")), 0, 0},
	{"a reference beyond the group", module(types("\x4e\x01\x5f\x01\x63\x01\x00", empty)), UnknownType, first + 5},
	{"an empty group", module(types("\x4e\x00", empty)), 0, 0},
	{"a group longer than its section", module(types("\x4e\x7f")), Truncated, first + 2},
	{"a field neither mutable nor not", module(types("\x5f\x01\x7f\x02")), BadFlags, first + 3},
	{"a subtype", module(types("\x50\x00\x5f\x00", "\x50\x01\x00\x5f\x01\x7f\x00")), 0, 0},
	{"a subtype of a final type", module(types("\x5f\x00", "\x50\x01\x00\x5f\x00")), BadSupertype, first + 2},
	{"a subtype of another form", module(types("\x50\x00\x5f\x00", "\x50\x01\x00\x60\x00\x00")), BadSupertype,
		first + 4},
	{"a subtype with less", module(types("\x50\x00\x5f\x01\x7f\x00", "\x50\x01\x00\x5f\x00")), BadSupertype, first + 6},
	{"a subtype with another mutable field",
		module(types("\x50\x00\x5f\x01\x63\x6e\x01", "\x50\x01\x00\x5f\x01\x63\x6d\x01")), BadSupertype, first + 7},
	{"a subtype with a smaller constant field",
		module(types("\x50\x00\x5f\x01\x63\x6e\x00", "\x50\x01\x00\x5f\x01\x63\x6d\x00")), 0, 0},
	{"a subtype of a later type", module(types("\x4e\x02\x50\x01\x01\x5f\x00\x50\x00\x5f\x00")), BadSupertype,
		first + 3},
	{"a subtype of two types", module(types("\x50\x00\x5f\x00", "\x50\x02\x00\x00\x5f\x00")), BadSupertype, first + 5},
	{"a function as a subtype", module(types("\x50\x00\x60\x01\x63\x6d\x01\x63\x6e",
		"\x50\x01\x00\x60\x01\x63\x6e\x01\x63\x6d")), 0, 0},
	{"a function that asks more than its supertype",
		module(types("\x50\x00\x60\x01\x63\x6e\x00", "\x50\x01\x00\x60\x01\x63\x6d\x00")), BadSupertype, first + 7},
	{"a continuation", module(types(empty, "\x5d\x00")), 0, 0},
	{"a continuation of itself", module(types("\x5d\x00")), WrongForm, first},
	{"a continuation of a structure", module(types("\x5f\x00", "\x5d\x00")), WrongForm, first + 2},
	{"a continuation of no type", module(types("\x5d\x70")), BadType, first + 1},
	{"a continuation as a subtype", module(types("\x50\x00"+empty, "\x50\x01\x00"+empty, "\x50\x00\x5d\x00",
		"\x50\x01\x02\x5d\x01")), 0, 0},
	{"a continuation as a subtype of one that it is not",
		module(
			types("\x50\x00"+empty, "\x60\x00\x01\x7f", "\x50\x00\x5d\x00", "\x50\x01\x02\x5d\x01"),
		), BadSupertype, first + 13},
	{"more parameters than engines take", module(types("\x60\xe9\x07")), TooMany, first + 1},

	// Imports and exports
	{"an import of no kind", module(section(wasm.SectionImport, "\x01m\x01n\x05")), BadFlags, first + 4},
	{"an import of a structure as a function",
		module(types("\x5f\x00"), section(wasm.SectionImport, "\x01m\x01n\x00\x00")), WrongForm, 21},
	{"an import whose name is not UTF-8", module(section(wasm.SectionImport, "\x01\x80\x01n\x03\x7f\x00")), BadName,
		first},
	{"a tag of no kind", module(types(empty), section(wasm.SectionTag, "\x01\x00")), BadFlags, 17},
	{"a tag with results", module(types("\x60\x01\x7f\x01\x7e"), section(wasm.SectionTag, "\x00\x00")), 0, 0},
	{"exports of all kinds", module(
		types(empty),
		funcs("\x00"),
		tables("\x70\x00\x00"),
		memories("\x00\x00"),
		section(wasm.SectionTag, "\x00\x00"),
		globals("\x7f\x00\x41\x00\x0b"),
		exports(
			"\x01a\x00\x00",
			"\x01b\x01\x00",
			"\x01c\x02\x00",
			"\x01d\x03\x00",
			"\x01e\x04\x00",
		),
		code("\x00\x0b"),
	), 0, 0},
	{"an export of a function that is not there", module(exports("\x01a\x00\x00")), UnknownFunction, first + 2},
	{"an export of a table that is not there", module(exports("\x01a\x01\x00")), UnknownTable, first + 2},
	{"an export of a memory that is not there", module(exports("\x01a\x02\x00")), UnknownMemory, first + 2},
	{"an export of a global that is not there", module(exports("\x01a\x03\x00")), UnknownGlobal, first + 2},
	{"an export of a tag that is not there", module(exports("\x01a\x04\x00")), UnknownTag, first + 2},
	{"an export of no kind", module(exports("\x01a\x05\x00")), BadFlags, first + 2},
	{"two exports of one name", module(memories("\x00\x00"), exports("\x01a\x02\x00", "\x01a\x02\x00")),
		DuplicateExport, 21},
	{"a start function", module(types(empty), funcs("\x00"), "\x08\x01\x00", code("\x00\x0b")), 0, 0},
	{"a start function with a result", module(types("\x60\x00\x01\x7f"), funcs("\x00"), "\x08\x01\x00",
		code("\x00\x00\x0b")), BadStart, 21},
	{"a start function that is not there", module("\x08\x01\x00"), UnknownFunction, 10},

	// Limits
	{"a memory of 4 GiB", module(memories("\x01\x00\x80\x80\x04")), 0, 0},
	{"a memory of more", module(memories("\x00\x81\x80\x04")), BadLimits, first},
	{"a memory of at least more than at most", module(memories("\x01\x02\x01")), BadLimits, first},
	{"a shared memory of no limit", module(memories("\x02\x01")), BadLimits, first},
	{"a memory with unknown flags", module(memories("\x08\x01")), BadFlags, first},
	{"a large 64-bit memory", module(memories("\x04\x80\x80\x80\x80\x80\x80\x40")), 0, 0},
	{"a shared table", module(tables("\x70\x03\x00\x01")), BadFlags, first + 1},
	{"a table of numbers", module(tables("\x7f\x00\x01")), BadType, first},
	{"a table of references that are not null", module(tables("\x64\x70\x00\x01")), NoDefault, first},
	{"a table with a value", module(types(empty), funcs("\x00"), tables("\x40\x00\x64\x00\x00\x01\xd2\x00\x0b"),
		code("\x00\x0b")), 0, 0},

	// Constant expressions
	{"a global", module(globals("\x7f\x00\x41\x00\x0b")), 0, 0},
	{"a global of another type", module(globals("\x7f\x00\x42\x00\x0b")), TypeMismatch, first + 4},
	{"a global that is computed", module(globals("\x7f\x00\x41\x00\x41\x00\x6a\x0b")), 0, 0},
	{"a global that is computed otherwise", module(globals("\x7f\x00\x41\x00\x67\x0b")), NotConstant, first + 4},
	{"a global without a value", module(globals("\x7f\x00\x0b")), StackUnderflow, first + 2},
	{"a global with two", module(globals("\x7f\x00\x41\x00\x41\x00\x0b")), StackHeight, first + 6},
	{"a global without end", module(globals("\x7f\x00\x41\x00")), Truncated, first + 4},
	{"a global from one before it", module(globals("\x7f\x00\x41\x00\x0b", "\x7f\x00\x23\x00\x0b")), 0, 0},
	{"a global from itself", module(globals("\x7f\x00\x23\x00\x0b")), UnknownGlobal, first + 2},
	{"a global from one that changes", module(globals("\x7f\x01\x41\x00\x0b", "\x7f\x00\x23\x00\x0b")), NotConstant,
		first + 7},
	{"a global of no instruction", module(globals("\x7f\x00\x27\x0b")), BadOpcode, first + 2},
	{"a structure", module(types("\x5f\x01\x7f\x00"), globals("\x64\x00\x00\x41\x00\xfb\x00\x00\x0b")), 0, 0},
	{"a continuation cannot be made", module(types(empty, "\x5d\x00"), funcs("\x00"),
		globals("\x64\x01\x00\xd2\x00\xe0\x01\x0b"), code("\x00\x0b")), NotConstant, 28},

	// Segments
	{"an element segment for no table", module(elems("\x00\x41\x00\x0b\x00")), UnknownTable, first + 1},
	{"an element segment of a function that is not there",
		module(tables("\x70\x00\x01"), elems("\x00\x41\x00\x0b\x01\x00")), UnknownFunction, 22},
	{"an element segment of another type", module(tables("\x6f\x00\x01"), elems("\x06\x00\x41\x00\x0b\x70\x00")),
		TypeMismatch, 17},
	{"an element segment of no kind", module(elems("\x08")), BadFlags, first},
	{"an element segment of no kind of elements", module(elems("\x01\x01\x00")), BadFlags, first + 1},
	{"all kinds of element segments", module(types(empty), funcs("\x00"), tables("\x70\x00\x01"),
		elems("\x00\x41\x00\x0b\x01\x00", "\x01\x00\x01\x00", "\x02\x00\x41\x00\x0b\x00\x01\x00", "\x03\x00\x01\x00",
			"\x04\x41\x00\x0b\x01\xd2\x00\x0b", "\x05\x70\x01\xd0\x70\x0b", "\x06\x00\x41\x00\x0b\x70\x00",
			"\x07\x70\x01\xd2\x00\x0b"), code("\x00\x0b")), 0, 0},
	{"a data segment for no memory", module(section(wasm.SectionData, "\x00\x41\x00\x0b\x00")), UnknownMemory,
		first + 1},
	{"a data segment at an address of the wrong size",
		module(memories("\x04\x00"), section(wasm.SectionData, "\x00\x41\x00\x0b\x00")), TypeMismatch, 19},
	{"a data segment of no kind", module(section(wasm.SectionData, "\x03")), BadFlags, first},
}

func TestModules(t *testing.T) {
	for _, c := range moduleTests {
		t.Run(c.name, func(t *testing.T) { verdict(t, c.bin, c.code, c.at) })
	}
}
