package lower

import (
	"github.com/fiberfill/fiberfill/internal/wasm"
	"github.com/fiberfill/fiberfill/internal/wasm/validate"
)

// barriers returns a module that has a function of the same type for each function that the guest imports. It calls the
// import in such a way that nothing can be suspended: the import may be JavaScript, or a function of a module that has
// not been lowered. The module imports the functions under their numbers from "i", and exports its own under the same
// numbers. After them come the begin and the end of each import that waits.
func (l *lowering) barriers() []byte {
	types := typeList{first: uint32(len(l.m.TypeIDs)) + baseTypes}
	l.types, types = types, l.types
	defer func() { l.types = types }()

	var list []barred
	for f := range uint32(l.m.ImportedFuncs) {
		list = append(list, barred{l.m.Params(f), l.typ(l.m.Funcs[f].Decl)})
	}
	for _, f := range l.waits {
		params := l.beginParams(f)
		list = append(list, barred{params, l.funcType(params, answer)}, barred{nil, l.funcType(nil, l.m.Results(f))})
	}
	n := uint32(len(list))
	bodies := make([][]byte, n)
	for f, b := range list {
		bodies[f] = l.barrier(b.params, func(e *emitter) { e.call(uint32(f)) }, func(e *emitter) {
			e.Op(wasm.OpReturnCall, uint32(f))
		})
	}
	var w wasm.Writer
	w.Raw(wasm.Preamble)
	section := func(id byte, contents func()) {
		at := w.Section(id)
		contents()
		w.Close(at)
	}
	section(wasm.SectionType, func() { l.typeSection(&w) })
	section(wasm.SectionImport, func() {
		w.U32(n + barrierGlobals)
		for f := uint32(0); f < n; f++ {
			w.Name("i")
			w.Numbered("", f)
			w.Byte(wasm.KindFunc)
			w.U32(list[f].typ)
		}
		l.barrierImports(&w)
	})
	section(wasm.SectionFunc, func() {
		w.U32(n)
		for f := uint32(0); f < n; f++ {
			w.U32(list[f].typ)
		}
	})
	section(wasm.SectionExport, func() {
		w.U32(n)
		for f := uint32(0); f < n; f++ {
			w.Numbered("", f)
			w.Byte(wasm.KindFunc)
			w.U32(n + f)
		}
	})
	section(wasm.SectionCode, func() {
		w.U32(n)
		for _, b := range bodies {
			w.U32(uint32(len(b)))
			w.Bytes(b)
		}
	})
	return w.B
}

// The driver's globals that a barrier uses, which come first in its module.
const (
	barrierRealm = iota
	barrierTold
	barrierGlobals // how many there are
)

// barrierImports writes the imports of these globals.
func (l *lowering) barrierImports(w *wasm.Writer) {
	w.Raw("\x0f" + Namespace + "\x05realm\x03\x64\x06\x00")
	w.Raw("\x0f" + Namespace + "\x04told\x03\x63")
	w.S32(l.funcType(nil, nil))
	w.Byte(mut)
}

// A barred is a function behind a barrier.
type barred struct {
	params []validate.Type
	typ    uint32 // its index
}

// barrier writes one of these functions. It puts the stack that is current back however the call ends, except by a
// trap. Before the call it tells JavaScript what JavaScript has to know. Where nothing could be suspended anyway, it
// makes a tail call, so that a loop of tail calls needs no stack.
func (l *lowering) barrier(params []validate.Type, call, tailCall func(*emitter)) []byte {
	const realm, told = barrierRealm, barrierTold
	e := l.helper(len(params))
	saved := e.first
	restore := func() {
		e.global(realm)
		e.get(saved)
		e.structSet(typeRealm, realmCurrent)
	}
	push := func() {
		for i := range params {
			e.get(uint32(i))
		}
	}
	e.global(realm)
	e.structGet(typeRealm, realmCurrent)
	e.Raw("\x22") // local.tee
	e.U32(saved)
	e.Byte(wasm.OpRefIsNull)
	e.iff() // nothing could be suspended anyway
	push()
	tailCall(e)
	e.end()
	e.global(told)
	e.Byte(wasm.OpRefIsNull)
	e.Byte(0x45) // i32.eqz
	e.iff()
	e.global(told)
	e.Op(wasm.OpCallRef, l.funcType(nil, nil))
	e.end()
	e.global(realm)
	e.Raw("\xd0\x71") // ref.null none
	e.structSet(typeRealm, realmCurrent)
	e.Raw("\x02\x69\x1f\x40\x01\x03\x00") // block (result exnref), try_table (catch_all_ref 0)
	push()
	call(e)
	restore()
	e.Byte(wasm.OpReturn)
	e.Byte(wasm.OpEnd)
	e.Byte(wasm.OpUnreachable)
	e.Byte(wasm.OpEnd)
	restore()
	e.Byte(wasm.OpThrowRef)
	var w wasm.Writer
	w.Raw("\x01\x01\x63\x04") // one local, a stack
	w.Bytes(e.B)
	w.Byte(wasm.OpEnd)
	return w.B
}

// about writes the custom section: JSON with what must be known when the module is instantiated.
func (l *lowering) about(w *wasm.Writer) {
	w.Name(Section)
	m := l.m
	w.Raw(`{"version":`)
	Decimal(w, Version)
	w.Raw(`,"imports":[`)
	for i, im := range m.Imports {
		comma(w, i)
		w.Byte('[')
		quote(w, m.Text(im.Module))
		w.Byte(',')
		quote(w, m.Text(im.Name))
		w.Byte(',')
		Decimal(w, uint32(im.Kind))
		w.Byte(']')
	}
	w.Raw(`],"exports":[`)
	for i, ex := range m.Exports {
		comma(w, i)
		w.Byte('[')
		quote(w, m.Text(ex.Name))
		w.Byte(',')
		Decimal(w, uint32(ex.Kind))
		w.Byte(',')
		Decimal(w, ex.Index)
		w.Byte(']')
	}
	w.Raw(`],"registers":[`)
	for i, n := range l.registers {
		comma(w, i)
		Decimal(w, n)
	}
	w.Raw(`],"tables":[`)
	for i, n := 0, 0; i < len(m.Tables); i++ {
		if l.may.function(m.Tables[i].Type) {
			comma(w, n)
			Decimal(w, uint32(i))
			n++
		}
	}
	w.Raw(`],"conts":[`)
	for i, n := 0, 0; i < len(m.Globals); i++ {
		if t := m.Globals[i].Type; t.IsRef() && l.continuation(t.Heap()) {
			comma(w, n)
			Decimal(w, uint32(i))
			n++
		}
	}
	w.Raw(`],"tags":[`)
	for i, tag := range m.Tags {
		comma(w, i)
		w.Byte('"')
		if len(l.t.Results(tag.Type)) > 0 {
			for _, b := range l.t.AppendKey(nil, tag.Type) {
				w.Byte("0123456789abcdef"[b>>4])
				w.Byte("0123456789abcdef"[b&15])
			}
		}
		w.Byte('"')
	}
	w.Raw(`]}`)
}

func comma(w *wasm.Writer, i int) {
	if i > 0 {
		w.Byte(',')
	}
}

// quote writes a string of JSON.
func quote(w *wasm.Writer, s []byte) {
	w.Byte('"')
	for _, b := range s {
		switch {
		case b < 0x20:
			w.Raw(`\u00`)
			w.Byte("0123456789abcdef"[b>>4])
			w.Byte("0123456789abcdef"[b&15])
			continue
		case b == '"' || b == '\\':
			w.Byte('\\')
		}
		w.Byte(b)
	}
	w.Byte('"')
}

func Decimal(w *wasm.Writer, n uint32) {
	if n >= 10 {
		Decimal(w, n/10)
	}
	w.Byte(byte('0' + n%10))
}
