package validate

import "github.com/fiberfill/fiberfill/internal/wasm"

// switching checks the instructions of the stack-switching proposal.
func (b *Body) switching(op uint32) {
	b.X = b.r.u32()
	if op == wasm.OpResumeThrowRef && b.resumes < 0 {
		b.resumes = b.At
	}
	if b.older && op >= wasm.OpResumeThrowRef {
		op++
	}
	if op == wasm.OpSuspend {
		if t, ok := b.tag(b.X); ok {
			b.popAll(b.types.Params(t))
			b.Pushed = b.types.Results(t)
		}
		return
	}
	if op > wasm.OpSwitch {
		b.r.Pos = b.At + 1
		b.noInstruction()
		return
	}
	if op == wasm.OpContBind || op == wasm.OpResumeThrow || op == wasm.OpSwitch {
		b.Y = b.r.u32()
	}
	id, ok := b.formed(b.X, FormCont)
	if !ok {
		return
	}
	f := b.types.FuncOf(id)
	switch op {
	case wasm.OpContNew:
		b.pop(RefNull(f))
		b.push(Ref(id))
	case wasm.OpContBind:
		b.bind(id, f)
	case wasm.OpSwitch:
		b.switchTo(id, f)
	default:
		b.resume(op, id, f)
	}
}

// bind checks cont.bind: the first parameters of the continuation are given, the others are those of the new one.
func (b *Body) bind(id, f Heap) {
	to, ok := b.formed(b.Y, FormCont)
	if !ok {
		return
	}
	g := b.types.FuncOf(to)
	params := b.types.Params(f)
	given := len(params) - len(b.types.Params(g))
	if given < 0 || !b.types.matchFunc(params[given:], b.types.Results(f), g) {
		e := b.fail(BadContinuation, b.At)
		e.Want, e.Got = RefNull(to), RefNull(id)
		return
	}
	b.pop(RefNull(id))
	b.popAll(params[:given])
	b.push(Ref(to))
}

// resume checks the three ways to resume a continuation.
func (b *Body) resume(op uint32, id, f Heap) {
	b.handlers(b.types.Results(f))
	if !b.fine() {
		return
	}
	b.pop(RefNull(id))
	switch op {
	case wasm.OpResume:
		b.popAll(b.types.Params(f))
	case wasm.OpResumeThrow:
		if t, ok := b.tag(b.Y); ok {
			if len(b.types.Results(t)) > 0 { // the proposal demands this here, but not for throw and catch
				b.unknown(BadException, b.Y)
			}
			b.popAll(b.types.Params(t))
		}
	case wasm.OpResumeThrowRef:
		b.pop(RefNull(HeapExn))
	}
	b.Pushed = b.types.Results(f)
}

// handlers reads and checks the clauses of a resume of a continuation with these results. The label of a clause gets
// what the suspension carries, and a continuation that takes what the tag returns.
func (b *Body) handlers(results []Type) {
	b.Handlers = b.Handlers[:0]
	for n := b.r.u32(); n > 0 && b.fine(); n-- {
		kind := b.r.Byte()
		if kind > 1 {
			b.fail(BadFlags, b.r.Pos-1)
			return
		}
		h := Handler{Switch: kind == 1, Tag: b.r.u32()}
		if !h.Switch {
			h.Label = b.r.u32()
		}
		b.Handlers = append(b.Handlers, h)
		if t, ok := b.tag(h.Tag); ok && b.fine() {
			b.handler(h, t, results)
		}
	}
}

func (b *Body) handler(h Handler, tag Heap, results []Type) {
	if h.Switch {
		// The continuation that a switch enters returns the tag's results in place of those of the resumed one, and the
		// other way round, so the types must be equal. The proposal's text checks this; the reference interpreter does
		// not.
		returned := b.types.Results(tag)
		if len(b.types.Params(tag)) > 0 || !b.types.matchAll(returned, results) ||
			!b.types.matchAll(results, returned) {
			b.unknown(BadSwitchTag, h.Tag)
		}
		return
	}
	label, ok := b.label(h.Label)
	if !ok {
		return
	}
	last := len(label) - 1
	if last < 0 || !b.isCont(label[last]) {
		b.unknown(BadHandler, h.Tag)
		return
	}
	if !b.types.matchFunc(b.types.Results(tag), results, b.types.FuncOf(label[last].Heap())) {
		b.fail(BadContinuation, b.At).Want = label[last]
		return
	}
	b.requires(label[:last], b.types.Params(tag))
}

// isCont reports whether t is a reference to a defined continuation type.
func (b *Body) isCont(t Type) bool { return t.IsRef() && b.types.form(t.Heap(), FormCont) }

// switchTo checks switch: the other continuation takes this one as its last argument, and what it returns is what the
// tag returns.
func (b *Body) switchTo(id, f Heap) {
	tag, ok := b.tag(b.Y)
	if !ok {
		return
	}
	params, returns := b.types.Params(f), b.types.Results(tag)
	last := len(params) - 1
	if last < 0 || !b.isCont(params[last]) {
		b.fail(BadContinuation, b.At).Got = RefNull(id)
		return
	}
	back := b.types.FuncOf(params[last].Heap())
	if len(b.types.Params(tag)) > 0 {
		b.unknown(BadSwitchTag, b.Y)
		return
	}
	if !b.types.matchAll(b.types.Results(f), returns) ||
		!b.types.matchAll(returns, b.types.Results(back)) {
		e := b.fail(BadContinuation, b.At)
		e.Want, e.Got = params[last], RefNull(id)
		return
	}
	b.pop(RefNull(id))
	b.popAll(params[:last])
	b.Pushed = b.types.Params(back)
}

// suspectOlder checks whether the function is only wrong because it has an older encoding of the proposal: until
// October 2025 switch was what resume_throw_ref is now.
func (b *Body) suspectOlder() {
	if b.older || b.constant || b.resumes < 0 {
		return
	}
	o := Body{older: true}
	if b.m.Check(&o, b.index) == nil {
		b.err = &Error{Code: OlderEncoding, At: b.resumes, m: b.m}
	}
}
