package lower

import (
	"slices"

	"github.com/fiberfill/fiberfill/internal/wasm"
	"github.com/fiberfill/fiberfill/internal/wasm/validate"
)

// guards returns a module that puts a barrier in front of one function, for tables that the guest shares: JavaScript
// may put functions there that cannot be left, and does not know their types. It imports the function as a global;
// "type" says which of its other exports has that type, or -1 if the guest calls nothing of that type through a table
// or a reference. Nil: the guest shares no table, or calls nothing in this way.
func (l *lowering) guards() []byte {
	// The types with most supertypes come first: a function is given a barrier of its own type, not of a supertype.
	var list []validate.Heap
	for id := range l.t.Len() {
		h := validate.Heap(id)
		if l.t.Def(h).Form != validate.FormFunc || !l.mayCall(h) {
			continue
		}
		at := 0
		for at < len(list) && l.depth(list[at]) >= l.depth(h) {
			at++
		}
		list = slices.Insert(list, at, h)
	}
	if len(list) == 0 || !l.sharesTable() {
		return nil
	}
	types := typeList{first: uint32(len(l.m.TypeIDs)) + baseTypes}
	l.types, types = types, l.types
	defer func() { l.types = types }()

	const function = barrierGlobals // the global behind them
	n := uint32(len(list))
	bodies := make([][]byte, n, n+1)
	e := l.helper(0)
	for k, id := range list {
		bodies[k] = l.barrier(l.t.Params(id), func(e *emitter) {
			e.global(function)
			e.Raw("\xfb\x16") // ref.cast
			e.S32(l.index[id])
			e.Op(wasm.OpCallRef, l.index[id])
		}, func(e *emitter) {
			e.global(function)
			e.Raw("\xfb\x16") // ref.cast
			e.S32(l.index[id])
			e.Op(wasm.OpReturnCallRef, l.index[id])
		})
		e.global(function)
		e.Raw("\xfb\x14") // ref.test
		e.S32(l.index[id])
		e.iff()
		e.i32(uint32(k))
		e.Byte(wasm.OpReturn)
		e.end()
	}
	e.Raw("\x41\x7f") // i32.const -1
	bodies = append(bodies, e.function(nil))
	which := l.funcType(nil, answer)

	var w wasm.Writer
	w.Raw(wasm.Preamble)
	section := func(id byte, contents func()) {
		at := w.Section(id)
		contents()
		w.Close(at)
	}
	section(wasm.SectionType, func() { l.typeSection(&w) })
	section(wasm.SectionImport, func() {
		w.U32(barrierGlobals + 1)
		l.barrierImports(&w)
		w.Raw("\x01i\x01f\x03\x70\x00")
	})
	section(wasm.SectionFunc, func() {
		w.U32(n + 1)
		for _, id := range list {
			w.U32(l.index[id])
		}
		w.U32(which)
	})
	section(wasm.SectionExport, func() {
		w.U32(n + 1)
		for k := range n {
			w.Numbered("", k)
			w.Op(wasm.KindFunc, k)
		}
		w.Name("type")
		w.Op(wasm.KindFunc, n)
	})
	section(wasm.SectionCode, func() {
		w.U32(n + 1)
		for _, b := range bodies {
			w.U32(uint32(len(b)))
			w.Bytes(b)
		}
	})
	return w.B
}

// mayCall reports whether the guest may call functions of a type through a table or a reference: by the type itself, or
// by a supertype.
func (l *lowering) mayCall(h validate.Heap) bool {
	for at := int32(h); at >= 0; at = l.t.Def(validate.Heap(at)).Super {
		if l.may.called[at] && l.may.types[at] {
			return true
		}
	}
	return false
}

// depth returns how many supertypes a type has.
func (l *lowering) depth(h validate.Heap) (n int) {
	for at := l.t.Def(h).Super; at >= 0; at = l.t.Def(validate.Heap(at)).Super {
		n++
	}
	return n
}

// sharesTable reports whether a table of functions is imported or exported.
func (l *lowering) sharesTable() bool {
	for t, table := range l.m.Tables {
		if t < l.m.ImportedTables && l.may.function(table.Type) {
			return true
		}
	}
	for _, e := range l.m.Exports {
		if e.Kind == wasm.KindTable && l.may.function(l.m.Tables[e.Index].Type) {
			return true
		}
	}
	return false
}
