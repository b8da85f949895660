package wasm

const (
	opCall          = 0x10
	opCallRef       = 0x14
	opReturnCallRef = 0x15
	opDrop          = 0x1a
	opLocalGet      = 0x20
	opLocalSet      = 0x21
	opLocalTee      = 0x22
	opGlobalGet     = 0x23
	opGlobalSet     = 0x24
	opI64Load       = 0x29
	opI64Const      = 0x42
	opI64Or         = 0x84
	opI64Xor        = 0x85
	opRefFunc       = 0xd2

	// block (result exnref) try_table (catch_all_ref 0): an exception in what follows is what the block yields.
	guarded = "\x02\x69\x1f\x40\x01\x03\x00"
	// return end unreachable end: the end of what is guarded, by return; here goes on who caught.
	caught = "\x0f\x0b\x00\x0b"
)

// guardSize is how many bytes the guard at the low end of a region has, and untouched what stands in it, as the operand of
// i64.const: 0x0f1be4f10f1be4f1. Regions (jsglue/src/guest/regions.ts) writes it.
const (
	guardSize = 64
	untouched = "\xf1\xc9\xef\xf8\x90\x9e\xf9\x8d\x0f"
)

// Indices in module B of what is always there. Types follow those of the guest; restore and ended are there only if
// Copies, touched only if there are regions (never both), as is size; the stack pointer only if StackPointer.
const (
	funcStart   = 0
	funcFailed  = 1
	funcRefused = 2
	funcRestore = 3
	funcEnded   = 4
	funcTouched = 3

	globalExn  = 0
	globalSP   = 1
	globalBase = 2
	globalSize = 3

	typeJob    = 0 // [] -> []
	typeGet    = 1 // [] -> [i32]
	typeAsk    = 2 // [i32] -> [i32]
	typesFixed = "\x60\x00\x00" + "\x60\x00\x01\x7f" + "\x60\x01\x7f\x01\x7f"
)

// StubOptions say what module B has to save for a fiber that waits.
type StubOptions struct {
	StackPointer bool // the guest has a shadow stack: its pointer
	Copies       bool // fibers have no region of their own: the used part of the stack

	// Regions says that each fiber has a region, which is looked at for an overflow. It needs the stack pointer.
	Regions bool
}

type stubs struct {
	writer
	m     *Module
	opt   StubOptions
	types uint32   // index of the first type that is not the guest's
	guest []uint32 // the exports that are functions
	waits []uint32 // the function imports that may wait
	args  list     // types of parameters of exports
	gives list     // types of their results

	funcs, globals, imports uint32 // imported so far

	firstArg, firstGive, firstGuest, firstWait uint32 // index of the first function of each kind
	firstDirect                                uint32
	firstThunk, firstStub, start               uint32
	firstSlot, parked, low                     uint32 // and globals
}

// AppendStubs appends module B to out and returns the extended slice. marks are those given to [Module.AppendTrampolines].
func (m *Module) AppendStubs(out []byte, marks []byte, opt StubOptions) []byte {
	b := stubs{writer: writer{out}, m: m, opt: opt, types: uint32(len(m.types)), waits: m.waiting(marks)}
	b.writeTypes()
	b.writeImports()
	b.writeDeclarations()
	b.writeCode()
	return b.b
}

//go:noinline
func (b *stubs) writeTypes() {
	section, count := b.m.begin(&b.writer)
	b.raw(typesFixed)
	for k := range b.m.Exports {
		if e := &b.m.Exports[k]; e.Kind == KindFunc {
			b.guest = push(b.guest, uint32(k))
			r := b.m.signature(e.Index)
			b.args.add(&r)
			b.gives.add(&r)
		}
	}
	for _, v := range b.args {
		b.raw("\x60\x01\x7f\x01") // [i32] -> [v]
		b.bytes(b.m.valType(v))
	}
	for _, v := range b.gives {
		b.raw("\x60\x02\x7f") // [i32 v] -> []
		b.bytes(b.m.valType(v))
		b.byte(0)
	}
	b.m.endTypes(&b.writer, section, count, 3+uint32(len(b.args)+len(b.gives)))
}

// function ends the import of a function, given its type.
//
//go:noinline
func (b *stubs) function(t uint32) {
	b.op(KindFunc, t)
	b.funcs++
	b.imports++
}

// global ends the import of a global.
//
//go:noinline
func (b *stubs) global(mutable byte) {
	b.byte(mutable)
	b.globals++
	b.imports++
}

// writeImports also settles the index of everything in B.
//
//go:noinline
func (b *stubs) writeImports() {
	section := b.section(secImport)
	count := b.hole()
	b.raw("\x02js\x05start")
	b.function(b.types + typeGet)
	b.raw("\x02js\x06failed")
	b.function(b.types + typeJob)
	b.raw("\x02js\x07refused")
	b.function(b.types + typeAsk)
	if b.opt.Copies {
		b.raw("\x02js\x07restore")
		b.function(b.types + typeJob)
		b.raw("\x02js\x05ended")
		b.function(b.types + typeJob)
	}
	if b.opt.Regions {
		b.raw("\x02js\x07touched")
		b.function(b.types + typeJob)
		b.raw("\x05guest\x06memory\x02")
		if b.m.Memory.Shared {
			b.raw("\x03\x00\x80\x80\x04") // what has a maximum is taken for what may have this, the largest
		} else {
			b.raw("\x00\x00")
		}
		b.imports++
	}
	b.firstArg = b.funcs
	t := b.types + 3
	for _, v := range b.args {
		b.spelled("arg:", b.m.valType(v))
		b.function(t)
		t++
	}
	b.firstGive = b.funcs
	for _, v := range b.gives {
		b.spelled("result:", b.m.valType(v))
		b.function(t)
		t++
	}
	b.firstGuest = b.funcs
	for _, k := range b.guest {
		b.raw("\x05guest")
		b.numbered("", k)
		b.function(b.m.typeOf(b.m.exported(k)))
	}
	b.firstWait = b.funcs
	for _, i := range b.waits {
		b.raw("\x04wait")
		b.numbered("", i)
		b.function(b.m.typeOf(i))
	}
	b.firstDirect = b.funcs
	for _, i := range b.waits {
		b.raw("\x06direct")
		b.numbered("", i)
		b.function(b.m.funcs[i])
	}
	b.firstThunk = b.funcs
	b.firstStub = b.firstThunk + uint32(len(b.guest))
	b.start = b.firstStub + uint32(len(b.waits))

	b.raw("\x06worker\x03exn\x03\x69")
	b.global(1)
	if b.opt.StackPointer {
		b.raw("\x05guest\x02sp\x03\x7f")
		b.global(1)
		b.raw("\x02js\x04base\x03\x7f")
		if b.opt.Copies {
			b.global(1)
		} else {
			b.global(0)
		}
		if b.opt.Regions {
			b.raw("\x02js\x04size\x03\x7f")
			b.global(0)
		}
	}
	b.firstSlot = b.globals
	for _, i := range b.waits {
		b.raw("\x05slots")
		b.numbered("s", i)
		b.byte(KindGlobal)
		b.refNull(b.m.typeOf(i))
		b.global(1)
	}
	b.parked = b.globals
	b.low = b.parked + 1
	b.fill(count, b.imports)
	b.close(section)
}

// writeDeclarations writes what lies between the imports and the code: all functions of B, the global parked, the exports,
// the start function, and that there will be references to the stubs.
//
//go:noinline
func (b *stubs) writeDeclarations() {
	section := b.section(secFunc)
	b.u32(b.start + 1 - b.firstThunk)
	for range b.guest {
		b.u32(b.types + typeJob)
	}
	for _, i := range b.waits {
		b.u32(b.m.typeOf(i))
	}
	b.u32(b.types + typeJob)
	b.close(section)

	exports := uint32(len(b.guest))
	if b.opt.StackPointer {
		const variable = "\x7f\x01\x41\x00\x0b" // a mutable i32, at first 0
		section = b.section(secGlobal)
		if b.opt.Regions {
			b.raw("\x02" + variable)
			exports++
		} else {
			b.byte(1)
		}
		b.raw(variable)
		b.close(section)
		exports++
	}

	section = b.section(secExport)
	b.u32(exports)
	for i, k := range b.guest {
		b.numbered("t", k)
		b.op(KindFunc, b.firstThunk+uint32(i))
	}
	if b.opt.StackPointer {
		b.raw("\x06parked")
		b.op(KindGlobal, b.parked)
	}
	if b.opt.Regions {
		b.raw("\x03low")
		b.op(KindGlobal, b.low)
	}
	b.close(section)

	section = b.section(secStart)
	b.u32(b.start)
	b.close(section)

	section = b.section(secElem)
	b.raw("\x01\x03\x00") // one segment, declarative, of functions
	b.u32(uint32(len(b.waits)))
	for f := b.firstStub; f < b.start; f++ {
		b.u32(f)
	}
	b.close(section)
}

// A list holds value types by where they stand, those of one byte only once: numbers, mostly. Longer ones may come again;
// then B has two imports of one name, which is allowed and seldom.
type list []uint32

// add reads a vector of value types and lists them.
//
//go:noinline
func (l *list) add(r *reader) {
	for n := r.u32(); n > 0; n-- {
		l.next(r)
	}
}

// next reads a value type and returns its place in the list, to which it is added if it is not there yet.
//
//go:noinline
func (l *list) next(r *reader) uint32 {
	at := uint32(r.pos)
	b := r.peek()
	r.valType()
	for i, u := range *l {
		if u == at || uint32(r.pos) == at+1 && r.bin[u] == b {
			return uint32(i)
		}
	}
	*l = push(*l, at)
	return uint32(len(*l)) - 1
}

// valType returns the bytes of the value type at an offset.
//
//go:noinline
func (m *Module) valType(at uint32) []byte {
	r := reader{bin: m.bin, pos: int(at), end: len(m.bin)}
	r.valType()
	return m.bin[at:r.pos]
}
