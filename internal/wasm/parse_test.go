package wasm

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// sections writes a module of (id, contents) pairs.
func sections(pairs ...any) []byte {
	w := Writer{}
	w.Raw(Preamble)
	for i := 0; i < len(pairs); i += 2 {
		start := w.Section(byte(pairs[i].(int)))
		w.Raw(pairs[i+1].(string))
		w.Close(start)
	}
	return w.B
}

func TestParseMalformed(t *testing.T) {
	const header = 8 + 1 + 5 // where the contents of the first section begin
	for _, c := range []struct {
		name string
		bin  []byte
		code Code
		at   int
	}{
		{"nothing", nil, Truncated, 0},
		{"text", []byte("(module)"), NotWasm, 0},
		{"a page instead", []byte("<!doctype html>"), NotWasm, 0},
		{"a component", []byte("\x00asm\x0d\x00\x01\x00"), BadVersion, 4},
		{"a section longer than the file", []byte(Preamble + "\x01\x05\x00"), Truncated, 11},
		{"a size of six bytes", []byte(Preamble + "\x01\x80\x80\x80\x80\x80\x00"), BadNumber, 13},
		{"a size of 33 bits", []byte(Preamble + "\x01\xff\xff\xff\xff\x1f"), BadNumber, 13},
		{"more types than bytes", sections(SectionType, "\xff\xff\xff\xff\x0f"), Truncated, header + 5},
		{"an empty type section", sections(SectionType, ""), Truncated, header},
		{"a form that no type has", sections(SectionType, "\x01\x40"), BadType, header + 1},
		{"a form that no type in a group has", sections(SectionType, "\x01\x4e\x02\x60\x00\x00\x40"), BadType,
			header + 6},
		{"a group without members", sections(SectionType, "\x01\x4e\x02"), Truncated, header + 3},
		{"a value type without end", sections(SectionType, "\x01\x60\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"),
			BadNumber, header + 12},
		{"bytes behind the contents", sections(SectionType, "\x00\x00"), BadSection, header + 1},
		{"two type sections", sections(SectionType, "\x00", SectionType, "\x00"), BadSection, header + 1},
		{"a function of no type", sections(SectionFunc, "\x01\x00"), BadIndex, header + 1},
		{"a function of a struct type", sections(SectionType, "\x01\x5f\x00", SectionFunc, "\x01\x00"), BadIndex,
			header + 3 + 6 + 1},
		{"an import of no kind", sections(SectionImport, "\x01\x01a\x01b\x05"), BadImport, header + 5},
		{"an import of no type", sections(SectionImport, "\x01\x01a\x01b\x00\x07"), BadIndex, header + 6},
		{"a name longer than its section", sections(SectionImport, "\x01\x09a"), Truncated, header + 3},
		{"an export of no function", sections(SectionExport, "\x01\x01a\x00\x00"), BadIndex, header + 3},
		{"an export of no global", sections(SectionExport, "\x01\x01a\x03\x00"), BadIndex, header + 3},
		{"a global with an unknown instruction", sections(SectionGlobal, "\x01\x7f\x00\x27\x0b"), BadOpcode,
			header + 3},
		{"a global without end", sections(SectionGlobal, "\x01\x7f\x00\x41\x00"), Truncated, header + 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			var m Module
			if code := Parse(c.bin, &m); code != c.code || m.At != c.at {
				t.Errorf("Parse = %d at %d, want %d at %d", code, m.At, c.code, c.at)
			}
		})
	}
}

// A module that is cut off inside a section is refused, with an offset inside the bytes that are there.
func TestParseTruncated(t *testing.T) {
	for _, name := range []string{"testdata/instructions", "testdata/plain", "../../jsglue/stubs/testdata/border"} {
		bin := read(t, name+".wasm")
		ends := map[int]bool{8: true}
		r := Reader{Bin: bin, Pos: 8, End: len(bin)}
		for r.More() {
			r.Byte()
			r.Name()
			ends[r.Pos] = true
		}
		for n := range bin {
			var m Module
			code := Parse(bin[:n], &m)
			if (code == OK) != ends[n] {
				t.Errorf("%s: Parse of the first %d bytes = %d", name, n, code)
			}
			if m.At < 0 || m.At > n {
				t.Errorf("%s: Parse of the first %d bytes: At = %d", name, n, m.At)
			}
		}
	}
}

func read(t testing.TB, path string) []byte {
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func parse(t testing.TB, bin []byte) *Module {
	t.Helper()
	var m Module
	if code := Parse(bin, &m); code != OK {
		t.Fatalf("Parse: code %d at %d, want OK", code, m.At)
	}
	return &m
}

// exercise calls everything a parsed module offers.
func exercise(t testing.TB, m *Module) {
	sp := m.StackPointer()
	m.Growth()
	kept := parse(t, m.Header())
	// What only the code tells is not in the header.
	if k := kept.StackPointer(); k != sp && k != -1 {
		t.Errorf("header: stack pointer %d, whole: %d", k, sp)
	}
	same := func(a, b Export) bool {
		return a.Kind == b.Kind && a.Index == b.Index && bytes.Equal(kept.Name(a), m.Name(b))
	}
	if !slices.EqualFunc(kept.Exports, m.Exports, same) {
		t.Error("exports of the header differ from those of the whole")
	}
	for f := range uint32(len(m.Funcs)) {
		if kept.ParamCount(f) != m.ParamCount(f) {
			t.Errorf("header: function %d has %d parameters, whole: %d", f, kept.ParamCount(f), m.ParamCount(f))
		}
	}
	edited := parse(t, m.AppendExport(nil, m.FreeName("one more"), KindMemory, 0))
	if len(edited.Exports) != len(m.Exports)+1 || edited.StackPointer() != sp {
		t.Errorf(
			"edited: %d exports, stack pointer %d; before: %d, %d",
			len(edited.Exports),
			edited.StackPointer(),
			len(m.Exports),
			sp,
		)
	}
}

func FuzzParse(f *testing.F) {
	paths, _ := filepath.Glob("testdata/*.wasm")
	if len(paths) == 0 {
		f.Fatal("no modules in testdata")
	}
	for _, p := range paths {
		f.Add(read(f, p))
	}
	f.Add(
		sections(
			SectionType,
			"\x02\x60\x01\x63\x00\x01\x64\x01\x5d\x00",
			SectionMemory,
			"\x01\x05\x80\x80\x80\x80\x10\x80\x80\x80\x80\x10",
		),
	)
	f.Fuzz(func(t *testing.T, bin []byte) {
		var m Module
		if code := Parse(bin, &m); code != OK {
			if m.At < 0 || m.At > len(bin) {
				t.Errorf("Parse = %d at %d of %d", code, m.At, len(bin))
			}
			return
		}
		exercise(t, &m)
	})
}

func TestAppendExport(t *testing.T) {
	const custom, types, exports, code = "\x04note", "\x01\x60\x00\x00", "\x01\x01a\x02\x00", "\x00"
	for _, c := range []struct {
		name      string
		bin, want []byte
	}{
		{"to an empty module", sections(), sections(SectionExport, "\x01\x01b\x02\x00")},
		{"to a module with exports", sections(SectionType, types, SectionExport, exports, SectionCode, code),
			sections(SectionType, types, SectionExport, "\x02\x01a\x02\x00\x01b\x02\x00", SectionCode, code)},
		{"before the code", sections(SectionType, types, SectionCode, code),
			sections(SectionType, types, SectionExport, "\x01\x01b\x02\x00", SectionCode, code)},
		{"behind tags and before the start", sections(SectionTag, "\x00", SectionStart, "\x00"),
			sections(SectionTag, "\x00", SectionExport, "\x01\x01b\x02\x00", SectionStart, "\x00")},
		{"behind a section that is not known here",
			sections(SectionTag+1, "\x00", SectionGlobal, "\x00", SectionExport, exports),
			sections(SectionTag+1, "\x00", SectionGlobal, "\x00", SectionExport, "\x02\x01a\x02\x00\x01b\x02\x00")},
		{"among custom sections", sections(SectionCustom, custom, SectionType, types, SectionCustom, custom,
			SectionCode, code), sections(SectionCustom, custom, SectionType, types,
			SectionExport, "\x01\x01b\x02\x00", SectionCustom, custom, SectionCode, code)},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := parse(t, c.bin).AppendExport([]byte("x"), "b", KindMemory, 0); !bytes.Equal(got[1:], c.want) {
				t.Errorf("\n got %x\nwant %x", got[1:], c.want)
			}
		})
	}
}

// Any name may be taken already, also the one with the number that would be next.
func TestFreeName(t *testing.T) {
	for _, c := range []struct{ exports, want string }{
		{"\x00", "a"},
		{"\x01\x01b\x02\x00", "a"},
		{"\x01\x01a\x02\x00", "a1"},
		{"\x01\x02a1\x02\x00", "a"},
		{"\x03\x02a2\x02\x00\x01a\x02\x00\x02a1\x02\x00", "a3"},
	} {
		if got := parse(t, sections(SectionExport, c.exports)).FreeName("a"); got != c.want {
			t.Errorf("FreeName of exports %q = %q, want %q", c.exports, got, c.want)
		}
	}
}

func TestStackPointer(t *testing.T) {
	const (
		memory   = "\x01\x00\x02"                 // 2 pages
		count    = "\x7f\x01\x41\x03\x0b"         // i32 3, not divisible by 16
		end      = "\x7f\x01\x41\x80\x80\x08\x0b" // 131072
		beyond   = "\x7f\x01\x41\x90\x80\x08\x0b" // 131088
		constant = "\x7f\x00\x41\x10\x0b"
		negative = "\x7f\x01\x41\x70\x0b" // -16
		long     = "\x7e\x01\x42\x10\x0b" // an i64
		computed = "\x7f\x01\x41\x10\x41\x10\x6a\x0b"
		exported = "\x01\x0f__stack_pointer\x03"
		named    = "\x04name\x01\x00\x07\x12\x01\x01\x0f__stack_pointer"
	)
	globals := func(list ...string) string {
		s := string(rune(len(list)))
		for _, g := range list {
			s += g
		}
		return s
	}
	for _, c := range []struct {
		name string
		bin  []byte
		want int32
	}{
		{"no globals", sections(SectionMemory, memory), -1},
		{"no memory", sections(SectionGlobal, globals(end)), -1},
		{"a 64-bit memory", sections(SectionMemory, "\x01\x04\x02", SectionGlobal, globals(end)), -1},
		{"a mutable i64 in a 64-bit memory",
			sections(SectionMemory, "\x01\x04\x02", SectionGlobal, globals(end, long)), CannotTell},
		{"a 64-bit memory beside another, in which the stack may lie",
			sections(SectionMemory, "\x02\x04\x02\x00\x02", SectionGlobal, globals(end)), CannotTell},
		{"a constant i64 in a 64-bit memory",
			sections(SectionMemory, "\x01\x04\x02", SectionGlobal, globals("\x7e\x00\x42\x10\x0b")), -1},
		{"the end of memory", sections(SectionMemory, memory, SectionGlobal, globals(end)), 0},
		{"beyond the memory", sections(SectionMemory, memory, SectionGlobal, globals(beyond)), CannotTell},
		{"all of a 4 GiB memory", sections(SectionMemory, "\x01\x00\x80\x80\x04", SectionGlobal, globals(negative)), 0},
		{"a constant before it", sections(SectionMemory, memory, SectionGlobal, globals(constant, end)), 1},
		{"another type before it", sections(SectionMemory, memory, SectionGlobal, globals(long, end)), 1},
		{"only the first mutable i32 counts", sections(SectionMemory, memory, SectionGlobal, globals(count, end)),
			CannotTell},
		{"negative", sections(SectionMemory, memory, SectionGlobal, globals(negative)), CannotTell},
		{"computed", sections(SectionMemory, memory, SectionGlobal, globals(computed)), CannotTell},
		{"exported by name", sections(SectionMemory, memory, SectionGlobal, globals(end, count), SectionExport,
			exported+"\x01"), 1},
		{"exported by name, but constant",
			sections(SectionMemory, memory, SectionGlobal, globals(end, constant), SectionExport, exported+"\x01"), 0},
		{"in the name section", sections(SectionMemory, memory, SectionGlobal, globals(end, count), SectionCustom,
			named), 1},
		{"in a name section that ends early",
			sections(SectionMemory, memory, SectionGlobal, globals(end, count), SectionCustom, named[:len(named)-1]),
			0},
		{"in a name section, a global that is not there",
			sections(SectionMemory, memory, SectionGlobal, globals(end), SectionCustom, named), 0},
		{"the export wins over the name section",
			sections(SectionMemory, memory, SectionGlobal, globals(end, count), SectionExport, exported+"\x00",
				SectionCustom, named), 0},
		{"imported", sections(SectionImport, "\x02\x01m\x01m\x02\x00\x01\x03env\x0f__stack_pointer\x03\x7f\x01",
			SectionGlobal, globals(end)), 0},
		{"imported from elsewhere", sections(SectionImport,
			"\x02\x01m\x01m\x02\x00\x02\x03sea\x0f__stack_pointer\x03\x7f\x01", SectionGlobal, globals(end)), 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			const first, second = "\x23\x00\x41\x10\x6b\x1a", "\x23\x01\x41\x10\x6b\x1a"
			used := map[int32]string{0: first, 1: second}[c.want] // two stacks are another test's
			if used == "" {
				used = first + second
			}
			m := parse(t, append(c.bin, frames(used)...))
			if got := m.StackPointer(); got != c.want {
				t.Errorf("StackPointer() = %d, want %d", got, c.want)
			}
			exercise(t, m)
		})
	}
}

// A program that wasm-merge has put together of two has two stacks, perhaps each in a memory of its own.
func TestStackPointerOfMergedPrograms(t *testing.T) {
	const one, two = "\x01\x00\x02", "\x02\x00\x02\x00\x02"
	const globals = "\x02\x7f\x01\x41\x80\x80\x04\x0b\x7f\x01\x41\x80\x80\x04\x0b"
	const exported = "\x01\x0f__stack_pointer\x03\x00"
	const first, second = "\x23\x00\x41\x10\x6b\x1a", "\x23\x01\x41\x10\x6b\x1a"
	for _, c := range []struct {
		name, memories, exports, code string
		want                          int32
	}{
		{"one stack", one, exported, first, 0},
		{"two stacks", one, "\x00", first + second, CannotTell},
		{"two stacks, one of which has its name", one, exported, first + second, CannotTell},
		{"one stack and two memories", two, exported, first, CannotTell},
		{"no stack and two memories", two, "\x00", "", -1},
	} {
		bin := append(sections(SectionMemory, c.memories, SectionGlobal, globals, SectionExport, c.exports),
			frames(c.code)...)
		if got := parse(t, bin).StackPointer(); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

// frames is a code section with one function.
func frames(body string) []byte {
	body = "\x00" + body + "\x0b"
	return sections(SectionCode, fmt.Sprintf("\x01%c%s", len(body), body))[len(Preamble):]
}

// A global from which a multiple of 4 is taken may be the pointer of a stack, whose frames are not those of common
// compilers.
func TestStackPointerOfSmallFrames(t *testing.T) {
	const globals = "\x01\x7f\x01\x41\x80\x80\x04\x0b"
	for _, c := range []struct {
		name, code string
		want       int32
	}{
		{"by 8", "\x23\x00\x41\x08\x6b\x24\x00", CannotTell},
		{"by 24, which is kept", "\x23\x00\x41\x18\x6b\x22\x00\x24\x00", CannotTell},
		{"by adding -12", "\x23\x00\x41\x74\x6a\x24\x00", CannotTell},
		{"by 16", "\x23\x00\x41\x10\x6b\x24\x00", 0},
		{"by 1", "\x23\x00\x41\x01\x6b\x24\x00", -1},
		{"and the pointer is put back from elsewhere", "\x23\x00\x41\x08\x6b\x1a", CannotTell},
		{"by 6", "\x23\x00\x41\x06\x6b\x24\x00", -1},
		{"it grows by 8", "\x23\x00\x41\x08\x6a\x24\x00", -1},
	} {
		code := "\x01\x01\x7f" + c.code + "\x0b"
		bin := sections(SectionMemory, "\x01\x00\x02", SectionGlobal, globals, SectionCode,
			fmt.Sprintf("\x01%c%s", len(code), code))
		if got := parse(t, bin).StackPointer(); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

// Emscripten's modules export a function that returns the stack pointer.
func TestStackPointerOfEmscripten(t *testing.T) {
	const end, count = "\x7f\x01\x41\x80\x80\x08\x0b", "\x7f\x01\x41\x03\x0b"
	for _, c := range []struct {
		name, export, body string
		want               int32
	}{
		{"told", "emscripten_stack_get_current", "\x23\x01", 1},
		{"told by its older name", "_emscripten_stack_get_current", "\x23\x01", 1},
		{"told by its oldest name", "stackSave", "\x23\x01", 1},
		{"another function", "stackRestore", "\x23\x01", CannotTell},
		{"it does more", "stackSave", "\x23\x01\x41\x10\x6a", CannotTell},
		{"it returns a constant", "stackSave", "\x41\x01", CannotTell},
		{"told, of a stack that grows up", "stackSave", "\x23\x02", CannotTell},
	} {
		t.Run(c.name, func(t *testing.T) {
			// Function 0 is imported, 1 uses the stacks, 2 tells where one is. Global 0 is a counter, 1 the pointer, 2
			// that of a stack that grows up.
			uses, tells := "\x01\x01\x7f\x23\x01\x41\x10\x6b\x1a\x23\x02\x41\x10\x6a\x24\x02\x20\x00\x24\x02\x0b",
				"\x00"+c.body+"\x0b"
			m := parse(t, sections(
				SectionType,
				"\x01\x60\x00\x01\x7f",
				SectionImport,
				"\x01\x01m\x01f\x00\x00",
				SectionFunc,
				"\x02\x00\x00",
				SectionMemory,
				"\x01\x00\x02",
				SectionGlobal,
				"\x03"+count+end+count,
				SectionExport,
				fmt.Sprintf("\x01%c%s\x00\x02", len(c.export), c.export),
				SectionCode,
				fmt.Sprintf("\x02%c%s%c%s", len(uses), uses, len(tells), tells),
			))
			if got := m.StackPointer(); got != c.want {
				t.Errorf("StackPointer() = %d, want %d", got, c.want)
			}
			exercise(t, m)
		})
	}
}

// The code tells whether a global that could be a stack pointer is one.
func TestStackPointerDescends(t *testing.T) {
	header := sections(SectionMemory, "\x01\x00\x02", SectionGlobal, "\x01\x7f\x01\x41\x80\x80\x08\x0b")
	for _, c := range []struct {
		name, body string
		want       int32
	}{
		{"a frame", "\x23\x00\x41\x10\x6b\x1a", 0},
		{"a frame, as an optimiser may write it", "\x23\x00\x41\x70\x6a\x1a", 0},
		{"a heap that grows up", "\x23\x00\x41\x10\x6a\x1a", -1},
		{"read and written only", "\x23\x00\x24\x00", -1},
		{"a constant less it", "\x41\x10\x23\x00\x6b\x1a", -1},
		{"of another global, which is not there", "\x23\x01\x41\x10\x6b\x1a", -1},
		{"a counter", "\x23\x00\x41\x01\x6b\x1a", -1},
		{"a large counter", "\x23\x00\x41\x0a\x6b\x1a", -1},
		{"a frame off a local that holds the pointer, as Go does", "\x20\x00\x41\x20\x6b\x22\x00\x24\x00", 0},
		{"the same by addition", "\x20\x00\x41\x60\x6a\x24\x00", 0},
		{"set to something less, but in a count of eights", "\x20\x00\x41\x08\x6b\x24\x00", -1},
		{"a difference of locals", "\x41\x10\x1a\x20\x00\x20\x01\x6b\x24\x00", -1},
		{"without optimisation, by locals",
			"\x23\x00\x21\x01\x41\x20\x21\x02\x20\x01\x20\x02\x6b\x21\x03\x20\x03\x24\x00", 0},
		{"the same of a heap that grows up",
			"\x23\x00\x21\x01\x41\x20\x21\x02\x20\x01\x20\x02\x6a\x21\x03\x20\x03\x24\x00", -1},
		{"by locals, but not these",
			"\x23\x00\x21\x01\x41\x20\x21\x02\x20\x01\x1a\x20\x00\x20\x02\x6b\x1a\x20\x01\x20\x03\x6b\x1a", -1},
		{"a frame of any length", "\x20\x01\x20\x02\x41\x0f\x6a\x41\x70\x71\x6b\x22\x01\x24\x00", 0},
		{"a heap that takes any length", "\x20\x01\x20\x02\x41\x0f\x6a\x41\x70\x71\x6a\x22\x01\x24\x00", -1},
		{"something cut otherwise", "\x20\x01\x20\x02\x41\x78\x71\x6b\x22\x01\x24\x00", -1},
		{"an instruction that is not known here", "\xe0", CannotTell},
		{"a stack that grows up", "\x23\x00\x21\x00\x23\x00\x41\x10\x6a\x24\x00\x20\x00\x24\x00", CannotTell},
		{"a heap that takes sixteen bytes", "\x23\x00\x21\x00\x23\x00\x41\x10\x6a\x24\x00", -1},
		{"no code", "", -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := parse(t, append(bytes.Clone(header), frames(c.body)...))
			if got := m.StackPointer(); got != c.want {
				t.Errorf("StackPointer() = %d, want %d", got, c.want)
			}
			exercise(t, m)
		})
	}
}

func TestMemoryLimits(t *testing.T) {
	for _, c := range []struct {
		name, section string
		min, max      uint32
	}{
		{"no maximum", "\x01\x00\x01", 1, 65536},
		{"both", "\x01\x01\x01\x3f", 1, 63},
		{"the sign bit of a signed number", "\x01\x01\x40\x7f", 64, 127},
		{"in two bytes", "\x01\x01\x80\x40\xff\x7f", 8192, 16383},
		{"4 GiB", "\x01\x01\x00\x80\x80\x04", 0, 65536},
	} {
		t.Run(c.name, func(t *testing.T) {
			if m := parse(t, sections(SectionMemory, c.section)).Memory; m.Min != c.min || m.Max != c.max {
				t.Errorf("%d to %d pages, want %d to %d", m.Min, m.Max, c.min, c.max)
			}
		})
	}
}

func TestGrowth(t *testing.T) {
	types, one := "\x01\x60\x00\x00", "\x01\x00"
	bare := func(body string) []byte {
		return sections(SectionType, types, SectionFunc, one, SectionMemory, "\x01\x00\x01", SectionCode,
			fmt.Sprintf("\x01%c%s", len(body), body))
	}
	const pointers = "\x02\x7f\x01\x41\x80\x80\x04\x0b\x7f\x01\x41\x00\x0b" // the stack's, and its end
	stacked := func(body string) []byte {
		body = "\x01\x02\x7f" + body + "\x0b"
		return sections(SectionType, types, SectionFunc, one, SectionMemory, "\x01\x00\x02", SectionGlobal, pointers,
			SectionCode, fmt.Sprintf("\x01%c%s", len(body), body))
	}
	sizes := read(t, "testdata/instructions.wasm")
	size := bytes.LastIndex(sizes, []byte("\x3f\x00\x0b"))
	grows, bin := bytes.Clone(sizes), bytes.Clone(sizes)
	grows[size] = OpMemoryGrow
	bin[size] = OpI32Const
	for _, c := range []struct {
		name string
		bin  []byte
		want Growth
	}{
		{"every form of instruction, and none grows", bin, Never},
		{"the last one grows", grows, Asks},
		{"the last one asks for the size", sizes, Asks},
		{"the code is not there", bin[:len(parse(t, bin).Header())], Asks},
		{"no code to look at and none to come", sections(SectionMemory, "\x01\x00\x01"), Never},
		{"no memory", sections(SectionType, types, SectionFunc, one, SectionCode,
			"\x01\x06\x00\x41\x00\x40\x00\x0b"), Never},
		{"a body that does nothing", bare("\x00\x0b"), Never},
		{"an instruction from the future", bare("\x00\x27\x0b"), Asks},
		{"a vector instruction from the future", bare("\x00\xfd\x80\x40\x0b"), Asks},
		{"a body cut off inside an instruction", bare("\x00\x41"), Asks},
		{"imported memory", sections(SectionImport, "\x01\x01m\x01m\x02\x00\x01"), Asks},
		{"shared memory", sections(SectionMemory, "\x01\x03\x01\x02"), Asks},
		{"grows, and keeps where", bare("\x00\x41\x01\x40\x00\x22\x00\x41\x7f\x46\x1a\x20\x00\x41\x10" +
			"\x74\x1a\x0b"), Adds},
		{"grows, and keeps where twice", bare("\x00\x41\x01\x40\x00\x22\x00\x21\x01\x20\x00\x41\x7f\x46\x1a" +
			"\x20\x01\x41\x10\x74\x1a\x0b"), Adds},
		{"grows by what a local holds", bare("\x00\x20\x00\x40\x00\x41\x10\x74\x1a\x0b"), Adds},
		{"grows, and shifts it for another purpose", bare("\x00\x41\x01\x40\x00\x41\x02\x74\x1a\x0b"), Asks},
		{"grows, and returns it, and nobody knows what for", bare("\x00\x41\x01\x40\x00\x0b"), Asks},
		{"grows, and looks by an exclusive or whether it could", bare("\x00\x41\x01\x40\x00\x41\x7f\x73\x45\x1a\x0b"),
			Asks},
		{"grows, and does something else with where", bare("\x00\x41\x01\x40\x00\x41\x10\x6a\x1a\x0b"), Asks},
		{"grows by 0, which asks for the size", bare("\x00\x41\x00\x40\x00\x21\x00\x0b"), Asks},
		{"grows by 0, without optimisation", bare("\x00\x41\x00\x21\x00\x20\x00\x40\x00\x21\x01\x0b"), Asks},
		{"grows by 1, without optimisation", bare("\x00\x41\x01\x21\x00\x20\x00\x40\x00\x21\x01\x41\x10\x21\x02" +
			"\x20\x01\x20\x02\x74\x1a\x0b"), Adds},
		{"grows, and does not look where", bare("\x00\x41\x01\x40\x00\x1a\x0b"), Asks},
		{"grows, and looks only whether it could", bare("\x00\x41\x01\x40\x00\x41\x7f\x46\x1a\x0b"), Asks},
		{"the same with the operands exchanged", bare("\x00\x41\x7f\x41\x01\x40\x00\x47\x1a\x0b"), Asks},
		{"grows, and looks only whether it could, without optimisation",
			bare("\x00\x41\x01\x40\x00\x21\x00\x41\x7f\x21\x01\x20\x00\x20\x01\x46\x1a\x0b"), Asks},
		{"the same by way of memory", bare("\x00\x41\x01\x40\x00\x21\x00\x20\x05\x20\x00\x36\x02\x04\x20\x05" +
			"\x28\x02\x04\x21\x01\x41\x7f\x21\x02\x20\x01\x20\x02\x46\x1a\x0b"), Asks},
		{"looks where, by way of memory", bare("\x00\x41\x01\x40\x00\x21\x00\x20\x05\x20\x00\x36\x02\x04\x20" +
			"\x05\x28\x02\x04\x21\x01\x41\x10\x21\x02\x20\x01\x20\x02\x74\x1a\x0b"), Adds},
		{"looks where the first time, and not the second", bare("\x00\x41\x01\x40\x00\x41\x10\x74\x1a\x41\x01" +
			"\x40\x00\x1a\x0b"), Asks},
		{"looks where the second time, and not the first", bare("\x00\x41\x01\x40\x00\x1a\x41\x01\x40\x00" +
			"\x41\x10\x74\x1a\x0b"), Asks},
		{"once asks and once grows", bare("\x00\x3f\x00\x40\x00\x21\x00\x0b"), Asks},
		{"only has frames", stacked("\x23\x00\x41\x10\x6b\x22\x00\x24\x00\x20\x00\x41\x10\x6a\x24\x00"), Never},
		{"only has frames, without optimisation",
			stacked("\x23\x00\x21\x00\x41\x10\x21\x01\x20\x00\x20\x01\x6b\x21\x00\x20\x00\x24\x00"), Never},
		{"compares its frame", stacked("\x23\x00\x41\x10\x6b\x22\x00\x41\x00\x49\x1a"), Never},
		{"tells how much of its stack is free", stacked("\x23\x00\x23\x01\x6b\x1a"), Never},
		{"passes its stack pointer on", stacked("\x23\x00\x10\x00"), Scans},
		{"passes it on with the end of the stack", stacked("\x23\x00\x41\x80\x80\x04\x10\x00"), Scans},
		{"passes it on from a local", stacked("\x23\x00\x21\x00\x20\x00\x10\x00"), Scans},
		{"passes on a local that held it", stacked("\x23\x00\x21\x00\x41\x00\x21\x00\x20\x00\x10\x00"), Never},
		{"compares something with it", stacked("\x41\x80\x80\x04\x23\x00\x4b\x1a"), Scans},
		{"subtracts it from the end of the stack", stacked("\x41\x80\x80\x04\x23\x00\x6b\x1a"), Scans},
		{"subtracts it, and keeps it", stacked("\x41\x80\x80\x04\x23\x00\x22\x00\x6b\x1a"), Scans},
		{"stores it", stacked("\x41\x00\x23\x00\x36\x02\x00"), Scans},
		{"has a function that returns it", stacked("\x23\x00\x0f"), Scans},
		{"exports a function that returns it",
			sections(SectionType, types, SectionFunc, one, SectionMemory, "\x01\x00\x02", SectionGlobal, pointers,
				SectionExport, "\x01\x01f\x00\x00", SectionCode, "\x01\x04\x00\x23\x00\x0b"), Never},
		{"looks at its stack, and the code goes on in the future", stacked("\x41\x00\x23\x00\x6b\x1a\x27"), Scans},
	} {
		t.Run(c.name, func(t *testing.T) {
			var m Module
			Parse(c.bin, &m)
			if got := m.Growth(); got != c.want {
				t.Errorf("Growth() = %d, want %d", got, c.want)
			}
		})
	}
}

// A function is found by its name among the exports, or in the name section; its type can be asked.
func TestNamed(t *testing.T) {
	// Types: () -> (), (i32) -> i32, (i64) -> i32. Function 0 is imported.
	m := parse(t, sections(
		SectionType, "\x03\x60\x00\x00\x60\x01\x7f\x01\x7f\x60\x01\x7e\x01\x7f",
		SectionImport, "\x01\x01m\x01f\x00\x01", SectionFunc, "\x03\x01\x02\x00", SectionMemory, "\x01\x00\x01",
		SectionExport, "\x03\x01m\x02\x00\x01b\x00\x02\x01c\x00\x03",
		SectionCode, "\x03\x02\x00\x0b\x02\x00\x0b\x02\x00\x0b",
		SectionCustom, "\x04name\x01\x0e\x04\x00\x01m\x01\x01n\x02\x01o\x09\x01p\x07\x00"))
	for name, want := range map[string][2]int32{
		"b": {1, -1}, "c": {2, -1}, "m": {-1, -1}, "n": {-1, 1}, "o": {-1, 2}, "p": {-1, -1},
	} {
		if got := [2]int32{m.Exported(name), m.Named(name)}; got != want {
			t.Errorf("%s: export %d, function %d; want %d", name, got[0], got[1], want)
		}
	}
	for f, want := range [][2]uint32{{1, 1}, {1, 1}, {Others, 1}, {0, 0}} {
		if params, results := m.I32s(uint32(f)); [2]uint32{params, results} != want {
			t.Errorf("function %d: %d parameters, %d results; want %d", f, params, results, want)
		}
	}
}
