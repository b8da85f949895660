package lower

import (
	"github.com/fiberfill/fiberfill/internal/wasm"
	"github.com/fiberfill/fiberfill/internal/wasm/validate"
)

// The older exceptions (try, catch, catch_all, delegate, rethrow) become try_table and throw_ref, before anything else
// is done: inside a catch the exception is on the engine's stack only, and a function that is left there would lose it.
// Every lowered module has the driver's try_table, and engines do not take both kinds in one module, so all of them are
// translated. Of
//
//	(try (do … (try (do …) (delegate 0))) (catch $t … (rethrow 0)) (catch_all …))
//
// becomes
//
//	(block $done
//	  (block $all (result exnref)
//	    (block $t (result … exnref)
//	      (try_table (catch_ref $t $t) (catch_all_ref $all)
//	        (block $sink (result exnref)                  ;; only if something is delegated here
//	          … (block $inner (try_table (catch_all_ref $sink) … (br $inner)) (unreachable))
//	          (br $done))
//	        (throw_ref))
//	      (unreachable))
//	    (local.set $exn) … (throw_ref (local.get $exn))   ;; a local for each depth of catches
//	    (br $done))
//	  (local.set $exn) …)
//
// An exception that is delegated to a block, or to a catch, goes to the try around it; if there is none, to the caller.
//
// A try_table of the module's own that has parameters or results loses them in the same way, to locals and a block
// around it: Node 22 reads a try_table wrongly whose type takes more than one byte.

// A legacyTry is what must be known of a try before its body is written.
type legacyTry struct {
	clauses   []legacyClause
	delegates int  // to the try with this number, or toCaller; or noDelegate
	sink      bool // something is delegated here
}

type legacyClause struct {
	all bool
	tag uint32
}

const (
	toCaller   = -1
	noDelegate = -2
)

// A translation writes one function after another.
type translation struct {
	wasm.Writer
	l      *lowering
	types  typeList
	tries  []legacyTry // of a function, in their order
	sink   bool        // something is delegated to the function's caller
	open   []translated
	depth  int // blocks that are open
	first  int // index of the first of the locals that are added
	locals []validate.Type
	caught []uint32 // those for exceptions, by the depth of the catch
	passed []uint32 // those for parameters
}

// A translated is a construct of the source that is being written; the function is the first.
type translated struct {
	number int  // of a try; others have -1
	typed  bool // a try_table that had a type
	label  int  // depth inside of the block that a branch to it goes to
	sink   int  // depth inside of the block to which delegated exceptions go
	caught uint32
	clause int // how many have been begun
}

// translated returns the module with its exceptions translated. Only the code changes and types are added; custom
// sections that refer to places in the code are left out.
func (l *lowering) translated() []byte {
	x := &translation{l: l}
	x.types.first = uint32(len(l.m.TypeIDs))
	bodies := make([][]byte, len(l.m.Funcs)-l.m.ImportedFuncs)
	for k := range bodies {
		bodies[k] = x.function(uint32(k + l.m.ImportedFuncs))
	}
	var w wasm.Writer
	w.B = make([]byte, 0, len(l.m.Bin)+len(l.m.Bin)/8)
	w.Raw(wasm.Preamble)
	customs := l.m.Customs
	for i, s := range l.m.Sections {
		if len(customs) > 0 && customs[0].Section == i {
			name := string(l.m.Text(customs[0].Name))
			customs = customs[1:]
			if placed(name) {
				continue
			}
		}
		at := w.Section(s.ID)
		r := wasm.Reader{Bin: l.m.Bin, Pos: s.Contents.Start, End: s.Contents.End}
		switch s.ID {
		case wasm.SectionType:
			w.U32(r.U32() + uint32(len(x.types.keys)))
			w.Bytes(r.Bin[r.Pos:r.End])
			for _, t := range x.types.keys {
				w.Raw(t)
			}
		case wasm.SectionCode:
			w.U32(uint32(len(bodies)))
			for _, b := range bodies {
				w.U32(uint32(len(b)))
				w.Bytes(b)
			}
		default:
			w.Bytes(r.Bin[r.Pos:r.End])
		}
		w.Close(at)
	}
	return w.B
}

// mustTranslate reports whether an instruction of the module is one of those that are translated.
func (l *lowering) mustTranslate(b *validate.Body) bool {
	return b.Op == wasm.OpTry || b.Op == wasm.OpTryTable && l.m.Bin[b.At+1] != 0x40
}

// survey finds the tries of a function and where each delegate leads. It reports whether anything is to be translated.
func (x *translation) survey(f uint32) (found bool) {
	b := &x.l.body
	x.tries, x.sink = x.tries[:0], false
	var open []int // for each construct its number, if it is a try
	for b.Start(x.l.m, f); b.Next(); {
		found = found || x.l.mustTranslate(b)
		switch b.Op {
		case wasm.OpBlock, wasm.OpLoop, wasm.OpIf, wasm.OpTryTable:
			open = append(open, -1)
		case wasm.OpTry:
			open = append(open, len(x.tries))
			x.tries = append(x.tries, legacyTry{delegates: noDelegate})
		case wasm.OpCatch, wasm.OpCatchAll:
			t := &x.tries[open[len(open)-1]]
			t.clauses = append(t.clauses, legacyClause{b.Op == wasm.OpCatchAll, b.X})
		case wasm.OpDelegate:
			from := open[len(open)-1]
			open = open[:len(open)-1]
			k := len(open) - 1 - int(b.X)
			for k >= 0 && b.Controls[k+1].Op != wasm.OpTry {
				k--
			}
			if k < 0 {
				x.tries[from].delegates = toCaller
				x.sink = true
				break
			}
			x.tries[from].delegates = open[k]
			x.tries[open[k]].sink = true
		case wasm.OpEnd:
			if len(open) > 0 {
				open = open[:len(open)-1]
			}
		}
	}
	return found
}

// function returns the body of a function.
func (x *translation) function(f uint32) []byte {
	l := x.l
	body := l.m.Funcs[f].Body
	if !x.survey(f) {
		return l.m.Bin[body.Start:body.End]
	}
	b := &l.body
	b.Start(l.m, f)
	x.B, x.depth, x.first = nil, 0, len(b.Locals)
	x.locals, x.caught, x.passed = x.locals[:0], x.caught[:0], x.passed[:0]
	x.open = append(x.open[:0], translated{number: -1})
	code, number := 0, 0
	if x.sink {
		x.begin(wasm.OpBlock, "\x69")
		x.open[0].sink = x.depth
	}
	for b.Next() {
		if code == 0 {
			code = b.At
		}
		top := &x.open[len(x.open)-1]
		switch b.Op {
		case wasm.OpBlock, wasm.OpLoop, wasm.OpIf:
			x.begin(byte(b.Op), string(l.m.Bin[b.At+1:b.End]))
			x.open = append(x.open, translated{number: -1, label: x.depth})
		case wasm.OpTryTable:
			x.tryTable(b)
		case wasm.OpTry:
			x.try(b, number)
			number++
		case wasm.OpCatch, wasm.OpCatchAll:
			x.part(top)
			top.caught = x.exception()
			top.clause++
			x.Op(wasm.OpLocalSet, top.caught)
		case wasm.OpDelegate:
			x.endBody(top)
			x.end()
			x.open = x.open[:len(x.open)-1]
		case wasm.OpEnd:
			switch {
			case len(x.open) > 1:
				if top.typed || top.number >= 0 && top.clause == 0 {
					x.endBody(top)
				}
				x.end()
			case x.sink:
				x.Byte(wasm.OpReturn)
				x.end()
				x.Byte(wasm.OpThrowRef)
				fallthrough
			default:
				x.Byte(wasm.OpEnd)
			}
			x.open = x.open[:len(x.open)-1]
		case wasm.OpRethrow:
			x.Op(wasm.OpLocalGet, x.open[len(x.open)-1-int(b.X)].caught)
			x.Byte(wasm.OpThrowRef)
		default:
			x.copy(b)
		}
	}
	return x.body(wasm.Span{Start: body.Start, End: code})
}

// body returns the locals of the source, those that are added, and the code that has been written.
func (x *translation) body(locals wasm.Span) []byte {
	r := wasm.Reader{Bin: x.l.m.Bin, Pos: locals.Start, End: locals.End}
	var w wasm.Writer
	w.B = make([]byte, 0, locals.End-locals.Start+len(x.B)+4*len(x.locals)+4)
	w.U32(r.U32() + uint32(len(x.locals)))
	w.Bytes(r.Bin[r.Pos:r.End])
	for _, t := range x.locals {
		w.Byte(1)
		x.value(&w, t)
	}
	w.Bytes(x.B)
	return w.B
}

// begin opens a block with this type.
func (x *translation) begin(op byte, typ string) {
	x.Byte(op)
	x.Raw(typ)
	x.depth++
}

func (x *translation) end() {
	x.Byte(wasm.OpEnd)
	x.depth--
}

// branch writes the label of the block inside of which the depth was this.
func (x *translation) branch(depth int) { x.U32(uint32(x.depth - depth)) }

// label writes the label in the output for one of the source.
func (x *translation) label(label uint32) { x.branch(x.open[len(x.open)-1-int(label)].label) }

// try opens a try, up to the beginning of its body.
func (x *translation) try(b *validate.Body, number int) {
	t := &x.tries[number]
	params := x.pass(b.Pushed)
	x.begin(wasm.OpBlock, x.done(b))
	in := translated{number: number, label: x.depth}
	for i := len(t.clauses) - 1; i >= 0; i-- {
		x.begin(wasm.OpBlock, x.carried(t.clauses[i]))
	}
	x.Raw("\x1f\x40")
	switch t.delegates {
	case noDelegate:
		x.U32(uint32(len(t.clauses)))
		for i, c := range t.clauses {
			if c.all {
				x.Byte(validate.CatchAllRef)
			} else {
				x.Op(validate.CatchTagRef, c.tag)
			}
			x.U32(uint32(i))
		}
	case toCaller:
		x.Raw("\x01\x03") // catch_all_ref
		x.branch(x.open[0].sink)
	default:
		x.Raw("\x01\x03")
		for _, around := range x.open {
			if around.number == t.delegates {
				x.branch(around.sink)
			}
		}
	}
	x.depth++
	if t.sink {
		x.begin(wasm.OpBlock, "\x69")
		in.sink = x.depth
	}
	x.open = append(x.open, in)
	x.passedOn(params)
}

// tryTable opens a try_table.
func (x *translation) tryTable(b *validate.Body) {
	typed := x.l.mustTranslate(b)
	params := x.pass(b.Pushed)
	if typed {
		x.begin(wasm.OpBlock, x.done(b))
	}
	in := translated{number: -1, typed: typed, label: x.depth}
	x.Raw("\x1f\x40")
	x.U32(uint32(len(b.Catches)))
	for _, c := range b.Catches {
		x.Byte(c.Kind)
		if c.Kind <= validate.CatchTagRef {
			x.U32(c.Tag)
		}
		x.label(c.Label)
	}
	x.depth++
	if !typed {
		in.label = x.depth
	}
	x.open = append(x.open, in)
	x.passedOn(params)
}

// endBody ends the body of a try, or of a try_table that had a type.
func (x *translation) endBody(in *translated) {
	x.Byte(wasm.OpBr)
	x.branch(in.label)
	if in.number >= 0 && x.tries[in.number].sink {
		x.end()
		x.Byte(wasm.OpThrowRef)
	}
	x.end()
	x.Byte(wasm.OpUnreachable)
}

// part ends a part of a try, and the block whose end the next clause begins at: what it catches is on the stack there.
func (x *translation) part(in *translated) {
	if in.clause == 0 {
		x.endBody(in)
	} else {
		x.Byte(wasm.OpBr)
		x.branch(in.label)
	}
	x.end()
}

// local adds a local and returns its index.
func (x *translation) local(t validate.Type) uint32 {
	x.locals = append(x.locals, t)
	return uint32(x.first + len(x.locals) - 1)
}

// exception returns the local for what the innermost try catches: those of the catches around it are in use.
func (x *translation) exception() uint32 {
	n := 0
	for _, t := range x.open[:len(x.open)-1] {
		if t.clause > 0 {
			n++
		}
	}
	if n == len(x.caught) {
		x.caught = append(x.caught, x.local(validate.RefNull(validate.HeapExn)))
	}
	return x.caught[n]
}

// pass moves parameters from the stack into locals, which are in use until passedOn has pushed them again.
func (x *translation) pass(list []validate.Type) []uint32 {
	locals := make([]uint32, len(list))
	next := 0
	for i := len(list) - 1; i >= 0; i-- {
		for next < len(x.passed) && x.locals[x.passed[next]-uint32(x.first)] != list[i] {
			next++
		}
		if next == len(x.passed) {
			x.passed = append(x.passed, x.local(list[i]))
		}
		locals[i] = x.passed[next]
		next++
		x.Op(wasm.OpLocalSet, locals[i])
	}
	return locals
}

func (x *translation) passedOn(locals []uint32) {
	for _, local := range locals {
		x.Op(wasm.OpLocalGet, local)
	}
}

// done returns the type of the block around a try or try_table, which has its results.
func (x *translation) done(b *validate.Body) string {
	r := wasm.Reader{Bin: x.l.m.Bin, Pos: b.At + 1, End: b.End}
	if c := r.Peek(); c < 0x40 || c >= 0x80 {
		return x.blockType(x.l.t.Results(x.l.m.TypeIDs[r.Leb()]))
	}
	r.ValType()
	return string(r.Bin[b.At+1 : r.Pos])
}

// carried returns the type of the block at whose end a clause begins.
func (x *translation) carried(c legacyClause) string {
	exn := validate.RefNull(validate.HeapExn)
	if c.all {
		return x.blockType([]validate.Type{exn})
	}
	params := x.l.t.Params(x.l.m.Tags[c.tag].Type)
	return x.blockType(append(params[:len(params):len(params)], exn))
}

// blockType returns the type of a block without parameters.
func (x *translation) blockType(results []validate.Type) string {
	var w wasm.Writer
	switch len(results) {
	case 0:
		return "\x40"
	case 1:
		x.value(&w, results[0])
		return string(w.B)
	}
	w.Raw("\x60\x00")
	w.U32(uint32(len(results)))
	for _, t := range results {
		x.value(&w, t)
	}
	index := x.types.add(w.B)
	w.B = w.B[:0]
	w.S32(index)
	return string(w.B)
}

// value writes a value type with the indices of the source.
func (x *translation) value(w *wasm.Writer, t validate.Type) {
	if !t.IsRef() {
		w.Byte(byte(t))
		return
	}
	if t.Nullable() {
		w.Byte(0x63)
	} else {
		w.Byte(0x64)
	}
	if h := t.Heap(); h.Defined() {
		w.S32(x.l.m.IndexOf(h))
	} else {
		w.Byte(h.Byte())
	}
}

// copy copies an instruction; its labels count the blocks of the output.
func (x *translation) copy(b *validate.Body) {
	bin := x.l.m.Bin
	r := wasm.Reader{Bin: bin, Pos: b.At, End: b.End}
	switch kind := formOf(b.Op); {
	case kind == aLabel:
		x.Byte(r.Byte())
		x.label(r.U32())
	case kind == labels:
		x.Byte(r.Byte())
		n := r.U32()
		x.U32(n)
		for ; n > 0; n-- {
			x.label(r.U32())
		}
		x.label(r.U32())
	case kind == aCast:
		x.Byte(r.Byte())
		x.U32(r.U32())
		x.Byte(r.Byte())
		x.label(r.U32())
	case isResume(b.Op):
		x.resume(b)
		return
	}
	x.Bytes(bin[r.Pos:b.End])
}

// resume copies one of the instructions that resume.
func (x *translation) resume(b *validate.Body) {
	x.Op(byte(b.Op), b.X)
	if b.Op == wasm.OpResumeThrow {
		x.U32(b.Y)
	}
	x.U32(uint32(len(b.Handlers)))
	for _, h := range b.Handlers {
		if h.Switch {
			x.Op(1, h.Tag)
			continue
		}
		x.Op(0, h.Tag)
		x.label(h.Label)
	}
}
