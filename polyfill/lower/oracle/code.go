package oracle

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/fiberfill/fiberfill/internal/wasm"
)

const logFunc, fuelGlobal = 0, 0

func (e *encoder) function(f *Func) {
	body := e.Hole()
	e.U32(uint32(len(f.Locals)))
	for _, t := range f.Locals {
		e.U32(1)
		e.valType(t)
	}
	e.burn()
	e.statements(f.Body)
	if f.Tail != nil {
		e.expressions(f.Tail.Args)
		e.Op(wasm.OpReturnCall, e.funcs[f.Tail.Func])
	} else {
		e.expressions(f.Results)
	}
	e.Byte(wasm.OpEnd)
	e.Close(body)
}

// burn takes one unit of fuel, and traps where there was none.
func (e *encoder) burn() {
	e.Op(wasm.OpGlobalGet, fuelGlobal)
	e.constant(i32, 1)
	e.Byte(wasm.OpI32Sub)
	e.Op(wasm.OpGlobalSet, fuelGlobal)
	e.Op(wasm.OpGlobalGet, fuelGlobal)
	e.constant(i32, 0)
	e.Raw("\x48\x04\x40\x00\x0b") // i32.lt_s if unreachable end
}

func (e *encoder) statements(list []Stmt) {
	for _, s := range list {
		e.statement(s)
	}
}

func (e *encoder) statement(s Stmt) {
	switch s := s.(type) {
	case Log:
		e.expression(s.A)
		e.Op(wasm.OpCall, logFunc)
	case Set:
		e.expression(s.A)
		e.Op(wasm.OpLocalSet, uint32(s.Local))
	case Write:
		e.expression(s.A)
		e.Op(wasm.OpGlobalSet, uint32(s.Global))
	case Do:
		if s.Top != nil {
			e.expression(s.Top)
		}
		e.operation(s.Op)
		e.setAll(s.To)
		if s.Top != nil {
			e.Op(wasm.OpCall, logFunc)
		}
	case If:
		e.expression(s.A)
		e.Raw("\x04\x40")
		e.statements(s.Then)
		e.Byte(wasm.OpElse)
		e.statements(s.Else)
		e.Byte(wasm.OpEnd)
	case Loop:
		e.constant(i32, s.Times)
		e.Op(wasm.OpLocalSet, uint32(s.Counter))
		e.Raw("\x03\x40")
		e.burn()
		e.statements(s.Body)
		e.Op(wasm.OpLocalGet, uint32(s.Counter))
		e.constant(i32, 1)
		e.Byte(wasm.OpI32Sub)
		e.Op(wasm.OpLocalTee, uint32(s.Counter))
		e.Op(wasm.OpBrIf, 0)
		e.Byte(wasm.OpEnd)
	case Throw:
		e.expressions(s.Args)
		e.Op(wasm.OpThrow, uint32(s.Tag))
	case Try:
		e.try(s)
	case Rethrow:
		e.Op(wasm.OpLocalGet, uint32(s.Local))
		e.Byte(wasm.OpThrowRef)
	default:
		panic(fmt.Sprintf("a statement of type %T", s))
	}
}

// setAll puts what lies on the stack into locals.
func (e *encoder) setAll(to []int) {
	for _, local := range slices.Backward(to) {
		e.Op(wasm.OpLocalSet, uint32(local))
	}
}

func (e *encoder) try(s Try) {
	e.Raw("\x02\x40") // the end
	for _, c := range slices.Backward(s.Catches) {
		e.Byte(wasm.OpBlock)
		e.S32(e.signature(nil, e.caught(c)))
	}
	e.Raw("\x1f\x40") // try_table
	e.U32(uint32(len(s.Catches)))
	for i, c := range s.Catches {
		kind := byte(0)
		if c.Exn >= 0 {
			kind = 1
		}
		if c.Tag < 0 {
			e.Byte(kind + 2)
		} else {
			e.Op(kind, uint32(c.Tag))
		}
		e.U32(uint32(i))
	}
	e.statements(s.Body)
	e.Byte(wasm.OpEnd)
	e.Op(wasm.OpBr, uint32(len(s.Catches)))
	for i, c := range s.Catches {
		e.Byte(wasm.OpEnd)
		if c.Exn >= 0 {
			e.Op(wasm.OpLocalSet, uint32(c.Exn))
		}
		e.setAll(c.To)
		e.statements(c.Body)
		e.Op(wasm.OpBr, uint32(len(s.Catches)-1-i))
	}
	e.Byte(wasm.OpEnd)
}

func (e *encoder) caught(c Catch) (types []Type) {
	if c.Tag >= 0 {
		types = slices.Clone(e.p.Signatures[e.p.Tags[c.Tag].Signature].Params)
	}
	if c.Exn >= 0 {
		types = append(types, exnref)
	}
	return types
}

func (e *encoder) expressions(list []Expr) {
	for _, x := range list {
		e.expression(x)
	}
}

func (e *encoder) expression(x Expr) {
	switch x := x.(type) {
	case Const:
		e.constant(x.Type, x.Value)
	case Local:
		e.Op(wasm.OpLocalGet, uint32(x.Index))
	case Read:
		e.Op(wasm.OpGlobalGet, uint32(x.Global))
	case Add:
		e.expression(x.A)
		e.expression(x.B)
		e.Byte(map[Kind]byte{I32: wasm.OpI32Add, I64: wasm.OpI64Add, F64: 0xa0}[x.Type.Kind])
	case Narrow:
		e.expression(x.A)
		switch x.Type.Kind {
		case I64:
			e.Byte(0xa7) // i32.wrap_i64
		case F64:
			e.Raw("\xfc\x02") // i32.trunc_sat_f64_s
		case Any:
			e.Op(wasm.OpCall, e.narrow)
		case Cont:
			e.Raw("\xd1\x04\x7f")
			e.constant(i32, -1)
			e.Byte(wasm.OpElse)
			e.constant(i32, -2)
			e.Byte(wasm.OpEnd)
		}
	case Widen:
		e.expression(x.A)
		e.Raw(map[Kind]string{I64: "\xac", F64: "\xb7", Any: "\xfb\x1c"}[x.Type.Kind])
	case *Op:
		e.operation(x)
	default:
		panic(fmt.Sprintf("an expression of type %T", x))
	}
}

// constant writes a number of any type; for a continuation or an exception, null.
func (e *encoder) constant(t Type, v int32) {
	switch t.Kind {
	case I32, Any:
		e.Byte(wasm.OpI32Const)
		e.signed(int64(v))
		if t.Kind == Any {
			e.Raw("\xfb\x1c") // ref.i31
		}
	case I64:
		e.Byte(wasm.OpI64Const)
		e.signed(int64(v))
	case F64:
		e.Byte(wasm.OpF64Const)
		e.Bytes(binary.LittleEndian.AppendUint64(nil, math.Float64bits(float64(v))))
	case Cont:
		e.Byte(0xd0)
		e.S32(e.contType(t.Cont))
	case Exn:
		e.Raw("\xd0\x69")
	}
}

func (e *encoder) signed(v int64) {
	for ; v < -64 || v > 63; v >>= 7 {
		e.Byte(byte(v)&0x7f | 0x80)
	}
	e.Byte(byte(v) & 0x7f)
}

func (e *encoder) operation(op *Op) {
	switch op.Kind {
	case OpCall:
		e.expressions(op.Args)
		e.Op(wasm.OpCall, e.funcs[op.Func])
	case OpNew:
		e.Op(wasm.OpRefFunc, e.funcs[op.Func])
		e.Op(wasm.OpContNew, e.contType(op.Sig))
	case OpBind:
		e.operands(op)
		e.Op(wasm.OpContBind, e.contType(op.Sig))
		e.U32(e.contType(op.To))
	case OpSuspend:
		e.expressions(op.Args)
		e.Op(wasm.OpSuspend, uint32(op.Tag))
	case OpSwitch:
		e.operands(op)
		e.Op(wasm.OpSwitch, e.contType(op.Sig))
		e.U32(uint32(op.Tag))
	default:
		e.resume(op)
	}
}

func (e *encoder) operands(op *Op) {
	e.expressions(op.Args)
	e.expression(op.On)
}

func (e *encoder) resume(op *Op) {
	var labels []Handler
	for _, h := range op.Handlers {
		if !h.Switch {
			labels = append(labels, h)
		}
	}
	e.Byte(wasm.OpBlock) // done
	e.S32(e.signature(nil, op.Results))
	for _, h := range slices.Backward(labels) {
		e.Byte(wasm.OpBlock)
		params := e.p.Signatures[e.p.Tags[h.Tag].Signature].Params
		e.S32(e.signature(nil, append(slices.Clone(params), Type{Cont, h.Sig})))
	}
	e.operands(op)
	e.Op(map[OpKind]byte{OpResume: wasm.OpResume, OpResumeThrow: wasm.OpResumeThrow,
		OpResumeThrowRef: wasm.OpResumeThrowRef}[op.Kind], e.contType(op.Sig))
	if op.Kind == OpResumeThrow {
		e.U32(uint32(op.Tag))
	}
	e.U32(uint32(len(op.Handlers)))
	label := uint32(0)
	for _, h := range op.Handlers {
		if h.Switch {
			e.Op(1, uint32(h.Tag))
			continue
		}
		e.Op(0, uint32(h.Tag))
		e.U32(label)
		label++
	}
	e.Op(wasm.OpBr, uint32(len(labels)))
	for i, h := range labels {
		e.Byte(wasm.OpEnd)
		e.Op(wasm.OpLocalSet, uint32(h.Cont))
		e.setAll(h.To)
		e.statements(h.Body)
		e.expressions(h.Values)
		e.Op(wasm.OpBr, uint32(len(labels)-1-i))
	}
	e.Byte(wasm.OpEnd)
}
