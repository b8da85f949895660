package wasm

// A Code says what is wrong with a binary; [Module.At] says where.
type Code int32

const (
	OK         Code = iota
	NotWasm         // does not begin with the four bytes of every wasm file
	BadVersion      // not version 1: a component, or something newer
	Truncated       // ends, or a section ends, inside something
	BadNumber       // a number of more bits than it may have
	BadType         // a type of a form that is not known here
	BadIndex        // names a type, function or global that does not exist, or a type that is no function type
	BadImport       // an import of a kind that is not known here
	BadSection      // a section twice, or with something behind its contents
	BadOpcode       // an instruction that is not known here
	BadFlags        // a byte that chooses among forms, and chooses none
)

// A Module is what [Parse] found in one binary: a few numbers, and where in the bytes to read on. It refers to those
// bytes and is valid as long as they do not change. Its methods only read it, so several goroutines may use one.
type Module struct {
	Exports  []Export
	Memory   Memory
	Funcs    []uint32 // type index of each function, imported ones first
	Imported int      // so many of Funcs are imported
	At       int      // where the failure was found, a byte offset

	bin      []byte
	sections [sectionIDs]Span // contents by section id; an absent one is empty

	exportsAt int // where the export section begins, if there is one
	head      int // where it ends, or else may be inserted

	types       []uint32 // where each function type's parameters begin, 0 for any other type
	typeEntries uint32   // entries of the type section; fewer than types where there are groups
	firstType   int      // offset of the first of them
	globals     []byte   // for each global, imported ones first, what is known of it: mutableI32, falls, rises

	names  Span  // of functions, in the name section
	named  int32 // the global called __stack_pointer by the name section or as import env.__stack_pointer, or -1
	shaped int32 // the global that a module stripped of names may keep the stack pointer in, or -1

	stacks int // how many globals seem to be pointers of stacks that grow down; one more if there are several memories

	scanned bool  // the code has been gone through: see scan
	told    int32 // the global that a function of Emscripten's returns as the stack pointer, or -1
	growth  Growth
	scans   bool // it looks at where its stack ends: see Scans
	suspect bool // a global falls or rises
	wide    bool // there is a mutable i64
}

// What is known of a global.
const (
	mutableI32 = 1 << iota
	falls      // it seems to be the pointer of a stack that grows down: see scan
	rises      // or up
)

// An Export is one entry of the guest's export list.
type Export struct {
	name  Span
	Kind  byte // one of the Kind constants
	Index uint32
}

// Kinds of imports and exports.
const (
	KindFunc   = 0
	KindTable  = 1
	KindMemory = 2
	KindGlobal = 3
	KindTag    = 4
)

// A Memory is memory 0; the zero value says that there is none.
type Memory struct {
	Exists, Imported, Shared, Is64 bool
	Min, Max                       uint32 // pages; of no meaning in a 64-bit memory. Max is 65536 if none is given
}

// A Span is a part of a binary: Start up to, not including, End.
type Span struct{ Start, End int }

// Section ids.
const (
	SectionCustom = iota
	SectionType
	SectionImport
	SectionFunc
	SectionTable
	SectionMemory
	SectionGlobal
	SectionExport
	SectionStart
	SectionElem
	SectionCode
	SectionData
	SectionDataCount
	SectionTag
	sectionIDs
)

const (
	Preamble     = "\x00asm\x01\x00\x00\x00"
	stackPointer = "__stack_pointer"
	typeI32      = 0x7f
	typeI64      = 0x7e
)

// Parse fills m from bin, which is a whole module or ends after any of its sections. It returns OK; or it returns what
// is wrong and sets m.At, and m must not be used. It does not validate: an engine does that. It checks everything that
// the rest of this package relies on, so that every failure is a code. It keeps bin.
func Parse(bin []byte, m *Module) Code {
	*m = Module{bin: bin, head: len(Preamble), named: -1, shaped: unseen, told: -1}
	r := Reader{Bin: bin, End: len(bin)}
	for i := 0; i < len(Preamble); i++ {
		if r.Byte() != Preamble[i] {
			if i < 4 {
				r.Fail(NotWasm, 0)
			}
			r.Fail(BadVersion, 4)
		}
	}
	for r.More() {
		at := r.Pos
		id := r.Byte()
		size := r.U32()
		s := Span{r.Pos, 0}
		r.Skip(size)
		s.End = r.Pos
		if r.Code != OK {
			break
		}
		r.Pos, r.End = s.Start, s.End
		if id == SectionCustom {
			m.custom(&r)
			r.Pos = r.End
		} else if id < sectionIDs {
			if m.sections[id].End != 0 {
				r.Fail(BadSection, at)
			}
			m.sections[id] = s
			if id == SectionExport {
				m.exportsAt = at
			}
			if id <= SectionExport || id == SectionTag {
				m.head = s.End
			}
			if m.section(&r, id); r.More() {
				r.Fail(BadSection, r.Pos)
			}
		}
		r.Pos, r.End = s.End, len(bin)
		if r.Code != OK {
			break
		}
	}
	m.At = r.At
	return r.Code
}

// section reads the contents of a section, or skips them if they are not needed.
//
//go:noinline
func (m *Module) section(r *Reader, id byte) {
	if id > SectionExport || id == SectionTable {
		r.Pos = r.End
		return
	}
	n := r.U32()
	if id == SectionType {
		m.typeEntries, m.firstType = n, r.Pos
	}
	for ; n > 0 && r.Code == OK; n-- {
		switch id {
		case SectionType:
			m.readTypes(r)
		case SectionImport:
			m.readImport(r)
		case SectionFunc:
			m.Funcs = Push(m.Funcs, m.funcType(r))
		case SectionMemory:
			m.readMemory(r, false)
		case SectionGlobal:
			m.readGlobal(r, false)
		case SectionExport:
			m.readExport(r)
		}
	}
}

//go:noinline
func (m *Module) readImport(r *Reader) {
	module, name := r.Name(), r.Name()
	switch at := r.Pos; r.Byte() {
	case KindFunc:
		m.Funcs = Push(m.Funcs, m.funcType(r))
		m.Imported++
	case KindTable:
		r.ValType()
		r.limits()
	case KindMemory:
		m.readMemory(r, true)
	case KindGlobal:
		if r.is(module, "env") && r.is(name, stackPointer) {
			m.named = int32(len(m.globals))
		}
		m.readGlobal(r, true)
	case KindTag:
		r.Byte()
		r.U32()
	default:
		r.Fail(BadImport, at)
	}
}

// funcType reads the index of a function type.
//
//go:noinline
func (m *Module) funcType(r *Reader) uint32 {
	at := r.Pos
	i := r.U32()
	if i >= uint32(len(m.types)) || m.types[i] == 0 {
		r.Fail(BadIndex, at)
	}
	return i
}

//go:noinline
func (m *Module) readMemory(r *Reader, imported bool) {
	l := r.limits()
	if m.Memory.Exists {
		m.stacks = 1
		return
	}
	l.Exists, l.Imported = true, imported
	m.Memory = l
}

//go:noinline
func (m *Module) readGlobal(r *Reader, imported bool) {
	b := r.Peek()
	r.ValType()
	pointer := r.Byte() & 1 // mutable
	if b == typeI64 && pointer == 1 {
		m.wide = true
	}
	if b != typeI32 {
		pointer = 0
	}
	if !imported {
		c := *r
		for r.instruction() != OpEnd && r.Code == OK {
		}
		if pointer == 1 && m.shaped == unseen {
			m.shaped = m.shape(&c)
		}
	}
	m.globals = append(m.globals, pointer)
}

//go:noinline
func (m *Module) readExport(r *Reader) {
	name := r.Name()
	at := r.Pos
	kind, i := r.Byte(), r.U32()
	if kind == KindFunc && i >= uint32(len(m.Funcs)) || kind == KindGlobal && i >= uint32(len(m.globals)) {
		r.Fail(BadIndex, at)
	}
	m.Exports = append(m.Exports, Export{name, kind, i})
}
