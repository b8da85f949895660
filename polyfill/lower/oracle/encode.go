package oracle

import (
	"fmt"

	"github.com/fiberfill/fiberfill/internal/wasm"
)

// Encode returns the modules of a program, in the order in which they are instantiated. Module i is given the exports
// of those before it as "m<number>", and env.log(i32). It exports what it defines: functions as "f<number>", tags as
// "t<number>", globals as "g<number>".
func Encode(p *Program) [][]byte {
	var list [][]byte
	for m := range p.Modules {
		e := &encoder{p: p, module: m, funcs: map[int]uint32{}}
		list = append(list, e.encode())
	}
	return list
}

type encoder struct {
	wasm.Writer
	p      *Program
	module int
	funcs  map[int]uint32 // the index of each function of the program
	narrow uint32         // the index of the function that makes an i32 of an anyref
}

// funcType and contType are the indices of a signature's types. A module begins with as many types of its own as its
// number says, so that the same type has another index in each.
func (e *encoder) funcType(signature int) uint32 { return uint32(2*signature + e.module) }
func (e *encoder) contType(signature int) uint32 { return e.funcType(signature) + 1 }

func (e *encoder) signature(params, results []Type) uint32 {
	g := generator{p: e.p}
	return e.funcType(g.intern(params, results))
}

func (e *encoder) encode() []byte {
	logType, narrowType := e.signature([]Type{i32}, nil), e.signature([]Type{anyref}, []Type{i32})
	var own []int
	imports := &encoder{p: e.p, module: e.module}
	count := uint32(1)
	importOf := func(module int, name string, kind byte) {
		imports.Name(fmt.Sprint("m", module))
		imports.Name(name)
		imports.Byte(kind)
		count++
	}
	imports.Name("env")
	imports.Name("log")
	imports.Op(wasm.KindFunc, logType)
	next := uint32(1)
	for i := range e.p.Funcs {
		f := &e.p.Funcs[i]
		switch {
		case f.Module < e.module:
			importOf(f.Module, fmt.Sprint("f", i), wasm.KindFunc)
			imports.U32(e.funcType(f.Signature))
			e.funcs[i] = next
			next++
		case f.Module == e.module:
			own = append(own, i)
		}
	}
	if e.module > 0 {
		for i, t := range e.p.Tags {
			importOf(0, fmt.Sprint("t", i), wasm.KindTag)
			imports.Byte(0)
			imports.U32(e.funcType(t.Signature))
		}
		for i, g := range e.p.Globals {
			importOf(0, fmt.Sprint("g", i), wasm.KindGlobal)
			imports.valType(g.Type)
			imports.Byte(1)
		}
	}
	e.narrow = next
	for i, f := range own {
		e.funcs[f] = next + 1 + uint32(i)
	}
	code := &encoder{p: e.p, module: e.module, funcs: e.funcs, narrow: e.narrow}
	code.narrowBody()
	for _, f := range own {
		code.function(&e.p.Funcs[f])
	}

	e.Raw(wasm.Preamble)
	e.types()
	e.section(wasm.SectionImport, count, imports.B)
	e.declare(narrowType, own)
	exports, exported := e.exports(own)
	if e.module == 0 {
		e.tags()
		e.globals()
	}
	e.section(wasm.SectionExport, exported, exports)
	e.references()
	e.section(wasm.SectionCode, uint32(len(own)+1), code.B)
	return e.B
}

func (e *encoder) section(id byte, count uint32, contents []byte) {
	section := e.Section(id)
	e.U32(count)
	e.Bytes(contents)
	e.Close(section)
}

func (e *encoder) types() {
	section := e.Section(wasm.SectionType)
	e.U32(uint32(len(e.p.Signatures) + e.module))
	for range e.module {
		e.Raw("\x5f\x00") // an empty struct
	}
	for i, s := range e.p.Signatures {
		e.Raw("\x4e\x02\x60") // a group of two: the function type, and
		e.valTypes(s.Params)
		e.valTypes(s.Results)
		e.Byte(0x5d) // its continuation type
		e.S32(e.funcType(i))
	}
	e.Close(section)
}

func (e *encoder) valTypes(types []Type) {
	e.U32(uint32(len(types)))
	for _, t := range types {
		e.valType(t)
	}
}

func (e *encoder) valType(t Type) {
	switch t.Kind {
	case Cont:
		e.RefNull(e.contType(t.Cont))
	default:
		e.Byte(map[Kind]byte{I32: 0x7f, I64: 0x7e, F64: 0x7c, Any: 0x6e, Exn: 0x69}[t.Kind])
	}
}

func (e *encoder) declare(narrowType uint32, own []int) {
	section := e.Section(wasm.SectionFunc)
	e.U32(uint32(len(own) + 1))
	e.U32(narrowType)
	for _, f := range own {
		e.U32(e.funcType(e.p.Funcs[f].Signature))
	}
	e.Close(section)
}

func (e *encoder) tags() {
	section := e.Section(wasm.SectionTag)
	e.U32(uint32(len(e.p.Tags)))
	for _, t := range e.p.Tags {
		e.Byte(0)
		e.U32(e.funcType(t.Signature))
	}
	e.Close(section)
}

func (e *encoder) globals() {
	section := e.Section(wasm.SectionGlobal)
	e.U32(uint32(len(e.p.Globals)))
	for _, g := range e.p.Globals {
		e.valType(g.Type)
		e.Byte(1)
		e.constant(g.Type, 0)
		e.Byte(wasm.OpEnd)
	}
	e.Close(section)
}

func (e *encoder) exports(own []int) ([]byte, uint32) {
	var w wasm.Writer
	count := uint32(len(own))
	for _, f := range own {
		w.Name(fmt.Sprint("f", f))
		w.Op(wasm.KindFunc, e.funcs[f])
	}
	if e.module == 0 {
		for i := range e.p.Tags {
			w.Name(fmt.Sprint("t", i))
			w.Op(wasm.KindTag, uint32(i))
		}
		for i := range e.p.Globals {
			w.Name(fmt.Sprint("g", i))
			w.Op(wasm.KindGlobal, uint32(i))
		}
		count += uint32(len(e.p.Tags) + len(e.p.Globals))
	}
	return w.B, count
}

// references declares that there are references to all functions.
func (e *encoder) references() {
	section := e.Section(wasm.SectionElem)
	e.Raw("\x01\x03\x00")
	e.U32(uint32(len(e.funcs)))
	for i := range e.p.Funcs {
		if f, ok := e.funcs[i]; ok {
			e.U32(f)
		}
	}
	e.Close(section)
}

// narrowBody writes the function anyref -> i32.
func (e *encoder) narrowBody() {
	body := e.Hole()
	e.Byte(0)
	e.Op(wasm.OpLocalGet, 0)
	e.Raw("\xd1\x04\x7f") // ref.is_null, if (result i32)
	e.constant(i32, -1)
	e.Byte(wasm.OpElse)
	e.Op(wasm.OpLocalGet, 0)
	e.Raw("\xfb\x16\x6c\xfb\x1d") // ref.cast (ref i31), i31.get_s
	e.Raw("\x0b\x0b")
	e.Close(body)
}
