package stubs

import "github.com/fiberfill/fiberfill/internal/wasm"

const (
	// block (result exnref) try_table (catch_all_ref 0): an exception in what follows is what the block yields.
	guarded = "\x02\x69\x1f\x40\x01\x03\x00"
	// return end unreachable end: the end of what is guarded, by return; here goes on who caught.
	caught = "\x0f\x0b\x00\x0b"
)

// untouched is what stands in the guard at the low end of a region, shadow.Word twice, as the operand of i64.const.
// Why: RATIONALE.md, "Why do stubs look at the guard, and not JavaScript?".
const untouched = "\xf1\xc9\xef\xf8\x90\x9e\xf9\x8d\x0f"

// Indices in module B of what is always there. Types follow those of the guest; touched is there only if there are
// regions, as is size; the stack pointer and where it rests only if StackPointer.
const (
	funcStart   = 0
	funcFailed  = 1
	funcRefused = 2
	funcResumed = 3
	funcEnded   = 4
	funcTouched = 5

	globalExn    = 0
	globalShared = 1
	globalSP     = 2
	globalRest   = 3
	globalSize   = 4

	typeTell   = 0 // [] -> []
	typeJob    = 1 // [externref] -> []
	typeGet    = 2 // [externref] -> [i32]
	typeAsk    = 3 // [i32] -> [i32]
	typeCount  = 4
	typesFixed = "\x60\x00\x00" + "\x60\x01\x6f\x00" + "\x60\x01\x6f\x01\x7f" + "\x60\x01\x7f\x01\x7f"
)

// Options say what module B has to save for a fiber that waits.
type Options struct {
	StackPointer bool // the guest has a shadow stack: its pointer

	// Regions says that each fiber has a region, which is looked at for an overflow. It needs the stack pointer.
	Regions bool
}

type builder struct {
	wasm.Writer
	m     *wasm.Module
	opt   Options
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

// AppendStubs appends module B to out and returns the extended slice. marks are those given to
// [Module.AppendTrampolines].
func AppendStubs(out []byte, m *wasm.Module, marks []byte, opt Options) []byte {
	b := builder{Writer: wasm.Writer{B: out}, m: m, opt: opt, types: m.TypeCount(), waits: waiting(m, marks)}
	b.writeTypes()
	b.writeImports()
	b.writeDeclarations()
	b.writeCode()
	return b.B
}

//go:noinline
func (b *builder) writeTypes() {
	section, count := b.m.BeginTypes(&b.Writer)
	b.Raw(typesFixed)
	for k := range b.m.Exports {
		if e := &b.m.Exports[k]; e.Kind == wasm.KindFunc {
			b.guest = wasm.Push(b.guest, uint32(k))
			r := b.m.Signature(e.Index)
			b.args.add(&r)
			b.gives.add(&r)
		}
	}
	for _, v := range b.args {
		b.Raw("\x60\x02\x6f\x7f\x01") // [externref i32] -> [v]
		b.Bytes(b.m.ValType(v))
	}
	for _, v := range b.gives {
		b.Raw("\x60\x03\x6f\x7f") // [externref i32 v] -> []
		b.Bytes(b.m.ValType(v))
		b.Byte(0)
	}
	b.m.EndTypes(&b.Writer, section, count, typeCount+uint32(len(b.args)+len(b.gives)))
}

// function ends the import of a function, given its type.
//
//go:noinline
func (b *builder) function(t uint32) {
	b.Op(wasm.KindFunc, t)
	b.funcs++
	b.imports++
}

// global ends the import of a global.
//
//go:noinline
func (b *builder) global(mutable byte) {
	b.Byte(mutable)
	b.globals++
	b.imports++
}

// writeImports also settles the index of everything in B.
//
//go:noinline
func (b *builder) writeImports() {
	section := b.Section(wasm.SectionImport)
	count := b.Hole()
	b.Raw("\x02js\x05start")
	b.function(b.types + typeGet)
	b.Raw("\x02js\x06failed")
	b.function(b.types + typeJob)
	b.Raw("\x02js\x07refused")
	b.function(b.types + typeAsk)
	b.Raw("\x02js\x07resumed")
	b.function(b.types + typeTell)
	b.Raw("\x02js\x05ended")
	b.function(b.types + typeJob)
	if b.opt.Regions {
		b.Raw("\x02js\x07touched")
		b.function(b.types + typeTell)
		b.Raw("\x05guest\x06memory\x02")
		if b.m.Memory.Shared {
			b.Raw("\x03\x00\x80\x80\x04") // what has a maximum is taken for what may have this, the largest
		} else {
			b.Raw("\x00\x00")
		}
		b.imports++
	}
	b.firstArg = b.funcs
	t := b.types + typeCount
	for _, v := range b.args {
		b.carrier("arg:", v)
		b.function(t)
		t++
	}
	b.firstGive = b.funcs
	for _, v := range b.gives {
		b.carrier("result:", v)
		b.function(t)
		t++
	}
	b.firstGuest = b.funcs
	for _, k := range b.guest {
		b.Raw("\x05guest")
		b.Numbered("", k)
		b.function(b.m.TypeOf(b.m.Exports[k].Index))
	}
	b.firstWait = b.funcs
	for _, i := range b.waits {
		b.Raw("\x04wait")
		b.Numbered("", i)
		b.function(b.m.TypeOf(i))
	}
	b.firstDirect = b.funcs
	for _, i := range b.waits {
		b.Raw("\x06direct")
		b.Numbered("", i)
		b.function(b.m.Funcs[i])
	}
	b.firstThunk = b.funcs
	b.firstStub = b.firstThunk + uint32(len(b.guest))
	b.start = b.firstStub + uint32(len(b.waits))

	b.Raw("\x06worker\x03exn\x03\x69")
	b.global(1)
	b.Raw("\x06worker\x06shared\x03\x7f")
	b.global(1)
	if b.opt.StackPointer {
		b.Raw("\x05guest\x02sp\x03\x7f")
		b.global(1)
		b.Raw("\x02js\x04rest\x03\x7f")
		b.global(1)
		if b.opt.Regions {
			b.Raw("\x02js\x04size\x03\x7f")
			b.global(0)
		}
	}
	b.firstSlot = b.globals
	for _, i := range b.waits {
		b.Raw("\x05slots")
		b.Numbered("s", i)
		b.Byte(wasm.KindGlobal)
		b.RefNull(b.m.TypeOf(i))
		b.global(1)
	}
	b.parked = b.globals
	b.low = b.parked + 1
	b.Fill(count, b.imports)
	b.Close(section)
}

// writeDeclarations writes what lies between the imports and the code: all functions of B, the global parked, the
// exports, the start function, and that there will be references to the stubs.
//
//go:noinline
func (b *builder) writeDeclarations() {
	section := b.Section(wasm.SectionFunc)
	b.U32(b.start + 1 - b.firstThunk)
	for range b.guest {
		b.U32(b.types + typeJob)
	}
	for _, i := range b.waits {
		b.U32(b.m.TypeOf(i))
	}
	b.U32(b.types + typeTell)
	b.Close(section)

	exports := uint32(len(b.guest))
	if b.opt.StackPointer {
		const variable = "\x7f\x01\x41\x00\x0b" // a mutable i32, at first 0
		section = b.Section(wasm.SectionGlobal)
		if b.opt.Regions {
			b.Raw("\x02" + variable)
			exports++
		} else {
			b.Byte(1)
		}
		b.Raw(variable)
		b.Close(section)
		exports++
	}

	section = b.Section(wasm.SectionExport)
	b.U32(exports)
	for i, k := range b.guest {
		b.Numbered("t", k)
		b.Op(wasm.KindFunc, b.firstThunk+uint32(i))
	}
	if b.opt.StackPointer {
		b.Raw("\x06parked")
		b.Op(wasm.KindGlobal, b.parked)
	}
	if b.opt.Regions {
		b.Raw("\x03low")
		b.Op(wasm.KindGlobal, b.low)
	}
	b.Close(section)

	section = b.Section(wasm.SectionStart)
	b.U32(b.start)
	b.Close(section)

	section = b.Section(wasm.SectionElem)
	b.Raw("\x01\x03\x00") // one segment, declarative, of functions
	b.U32(uint32(len(b.waits)))
	for f := b.firstStub; f < b.start; f++ {
		b.U32(f)
	}
	b.Close(section)
}

// A list holds value types by their places in the guest's bytes. A type of one byte, which most are, is listed once. A
// longer type may be listed twice; then B has two imports of one name, which is allowed and rare.
type list []uint32

// add reads a vector of value types and lists them.
//
//go:noinline
func (l *list) add(r *wasm.Reader) {
	for n := r.U32(); n > 0; n-- {
		l.next(r)
	}
}

// next reads a value type and returns its place in the list, to which it is added if it is not there yet.
//
//go:noinline
func (l *list) next(r *wasm.Reader) uint32 {
	at := uint32(r.Pos)
	b := r.Peek()
	r.ValType()
	for i, u := range *l {
		if u == at || uint32(r.Pos) == at+1 && r.Bin[u] == b {
			return uint32(i)
		}
	}
	*l = wasm.Push(*l, at)
	return uint32(len(*l)) - 1
}

// carrier writes the import js.x, where x is a prefix and the first byte of the value type at an offset.
//
//go:noinline
func (b *builder) carrier(prefix string, at uint32) {
	b.Name("js")
	b.Numbered(prefix, uint32(b.m.ValType(at)[0]))
}
