package validate

import "github.com/fiberfill/fiberfill/internal/wasm"

// control checks the instructions below 20: blocks, branches, calls, exceptions, drop and select.
func (b *Body) control(op uint32) {
	switch op {
	case wasm.OpUnreachable:
		b.effect = stops
	case wasm.OpNop:
	case wasm.OpBlock, wasm.OpLoop, wasm.OpTry:
		b.blockType()
		b.open()
	case wasm.OpIf:
		b.blockType()
		b.pop(I32)
		b.open()
	case wasm.OpTryTable:
		b.blockType()
		b.catches()
		b.open()
	case wasm.OpElse:
		if c := b.innermost(); c.Op != wasm.OpIf {
			b.fail(Misplaced, b.At)
		} else {
			b.finish(c)
			b.effect, b.Pushed = continues, c.Params
		}
	case wasm.OpCatch, wasm.OpCatchAll:
		b.catch(op)
	case wasm.OpDelegate:
		b.X = b.r.u32()
		if c := b.innermost(); c.Op != wasm.OpTry {
			b.fail(Misplaced, b.At)
		} else if b.X >= uint32(len(b.Controls)-1) {
			b.unknown(UnknownLabel, b.X)
		} else {
			b.finish(c)
			b.effect, b.Pushed = closes, c.Results
		}
	case wasm.OpEnd:
		c := b.innermost()
		if c.Op == wasm.OpIf { // without else
			b.requires(c.Results, c.Params)
		}
		b.finish(c)
		b.effect, b.Pushed = closes, c.Results
	case wasm.OpThrow:
		b.X = b.r.u32()
		b.popAll(b.exception(b.X))
		b.effect = stops
	case wasm.OpRethrow:
		b.X = b.r.u32()
		if _, ok := b.label(b.X); ok {
			if c := b.Controls[len(b.Controls)-1-int(b.X)].Op; c != wasm.OpCatch && c != wasm.OpCatchAll {
				b.unknown(BadRethrow, b.X)
			}
			b.effect = stops
		}
	case wasm.OpThrowRef:
		b.pop(RefNull(HeapExn))
		b.effect = stops
	case wasm.OpBr, wasm.OpBrIf:
		b.X = b.r.u32()
		if op == wasm.OpBrIf {
			b.pop(I32)
		}
		if label, ok := b.label(b.X); ok {
			b.popAll(label)
			if op == wasm.OpBrIf {
				b.Pushed = label
			} else {
				b.effect = stops
			}
		}
	case wasm.OpBrTable:
		b.branchTable()
	case wasm.OpReturn:
		b.popAll(b.Controls[0].Results)
		b.effect = stops
	case wasm.OpDrop:
		b.popAny()
	case wasm.OpSelect:
		b.untypedSelect()
	case wasm.OpSelectTyped:
		n := b.r.u32()
		b.Type = b.m.valType(&b.r)
		if n != 1 {
			b.fail(BadArity, b.At)
		}
		b.pop(I32)
		b.pop(b.Type)
		b.pop(b.Type)
		b.push(b.Type)
	default:
		b.call(op)
	}
}

// call checks the calls, also those that are the last thing a function does.
func (b *Body) call(op uint32) {
	b.X = b.r.u32()
	var f Heap
	ok := true
	switch op {
	case wasm.OpCall, wasm.OpReturnCall:
		if b.X >= uint32(len(b.m.Funcs)) {
			b.unknown(UnknownFunction, b.X)
			return
		}
		f = b.m.Funcs[b.X].Type
	case wasm.OpCallIndirect, wasm.OpReturnCallIndirect:
		b.Y = b.r.u32()
		var t *Table
		if t, ok = b.table(b.Y); !ok {
			return
		}
		if !b.types.Match(t.Type, RefNull(HeapFunc)) {
			b.mismatch(RefNull(HeapFunc), t.Type)
		}
		b.pop(t.address())
		f, ok = b.function(b.X)
	case wasm.OpCallRef, wasm.OpReturnCallRef:
		if f, ok = b.function(b.X); ok {
			b.pop(RefNull(f))
		}
	default:
		b.r.Pos = b.At + 1
		b.noInstruction()
		return
	}
	if !ok {
		return
	}
	b.popAll(b.types.Params(f))
	if op == wasm.OpCall || op == wasm.OpCallIndirect || op == wasm.OpCallRef {
		b.Pushed = b.types.Results(f)
		return
	}
	b.requires(b.Controls[0].Results, b.types.Results(f))
	b.effect = stops
}

func (b *Body) innermost() *Control { return &b.Controls[len(b.Controls)-1] }

// open begins the block whose type has been read.
func (b *Body) open() {
	b.opened.Op, b.opened.At, b.opened.Unreachable = b.Op, b.At, false
	b.popAll(b.opened.Params)
	b.effect, b.Pushed = opens, b.opened.Params
}

// blockType reads the type of the block that will be opened.
func (b *Body) blockType() {
	o := &b.opened
	o.Params, o.Results = nil, nil
	switch c := b.r.Peek(); {
	case c == 0x40:
		b.r.Pos++
	case c < 0x40 || c >= 0x80: // an index, which is not negative
		at := b.r.Pos
		i := b.r.signed(33)
		if i < 0 {
			b.r.Fail(wasm.BadType, at)
		}
		if f, ok := b.function(uint32(i)); ok {
			o.Params, o.Results = b.types.Params(f), b.types.Results(f)
		}
	default:
		o.Results = b.single(b.m.valType(&b.r))
	}
}

// finish checks the end of a block, or of a part of it.
func (b *Body) finish(c *Control) {
	b.popAll(c.Results)
	if b.height != b.base {
		b.fail(StackHeight, b.At).Counts = [2]int{len(c.Results), len(c.Results) + b.height - b.base}
	}
}

// catch checks a part of a block that the older exceptions have.
func (b *Body) catch(op uint32) {
	c := b.innermost()
	if c.Op != wasm.OpTry && c.Op != wasm.OpCatch {
		b.fail(Misplaced, b.At)
		return
	}
	b.finish(c)
	b.effect = continues
	if op == wasm.OpCatch {
		b.X = b.r.u32()
		b.Pushed = b.exception(b.X)
	}
}

// catches checks the clauses of a try_table.
func (b *Body) catches() {
	b.Catches = b.Catches[:0]
	for n := b.r.u32(); n > 0 && b.fine(); n-- {
		c := Catch{Kind: b.r.Byte()}
		if c.Kind > CatchAllRef {
			b.fail(BadFlags, b.r.Pos-1)
			return
		}
		b.more = b.more[:0]
		if c.Kind <= CatchTagRef {
			c.Tag = b.r.u32()
			b.more = append(b.more, b.exception(c.Tag)...)
		}
		if c.Kind == CatchTagRef || c.Kind == CatchAllRef {
			b.more = append(b.more, Ref(HeapExn))
		}
		c.Label = b.r.u32()
		if label, ok := b.label(c.Label); ok {
			b.requires(label, b.more)
		}
		b.Catches = append(b.Catches, c)
	}
}

// tag returns the type of a tag, by index.
func (b *Body) tag(i uint32) (Heap, bool) {
	if i >= uint32(len(b.m.Tags)) {
		b.unknown(UnknownTag, i)
		return 0, false
	}
	return b.m.Tags[i].Type, true
}

// exception returns the types that exceptions of a tag carry. The tag may have results, which are for suspensions: one
// tag may serve both.
func (b *Body) exception(i uint32) []Type {
	if t, ok := b.tag(i); ok {
		return b.types.Params(t)
	}
	return nil
}

func (b *Body) branchTable() {
	b.Labels = b.Labels[:0]
	n := b.r.u32()
	if n > uint32(b.r.End-b.r.Pos) {
		b.r.Fail(wasm.Truncated, b.r.End)
		return
	}
	for range n {
		b.Labels = append(b.Labels, b.r.u32())
	}
	b.X = b.r.u32() // the default
	b.pop(I32)
	label, ok := b.label(b.X)
	if !ok {
		return
	}
	last := b.X
	b.leaves(label, len(label))
	for _, l := range b.Labels {
		if l != last {
			other, ok := b.label(l)
			if !ok || b.err != nil {
				return
			}
			b.leaves(other, len(label))
			last = l
		}
	}
	b.popAll(label)
	b.effect = stops
}

// leaves checks that the operands on the stack may go to a label that takes so many.
func (b *Body) leaves(label []Type, n int) {
	if len(label) != n {
		b.fail(TypeMismatch, b.At).Counts = [2]int{n, len(label)}
		return
	}
	for i, want := range label {
		if got := b.peek(n - 1 - i); !b.types.Match(got, want) {
			b.mismatch(want, got)
		}
	}
}

// untypedSelect checks the select whose type is that of its operands: numbers and vectors only.
func (b *Body) untypedSelect() {
	b.pop(I32)
	t, u := b.popAny(), b.popAny()
	if t.IsRef() || u.IsRef() {
		b.mismatch(Unknown, max(t, u))
	}
	if t == Unknown {
		t = u
	} else if u != Unknown && u != t {
		b.mismatch(t, u)
	}
	b.push(t)
}
