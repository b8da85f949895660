package lower

import "github.com/fiberfill/fiberfill/internal/wasm"

// A resume while no continuation is current passes through a frame of JavaScript, which repairs the driver's state
// after a trap. A program resumes again and again, and is called once: so an exported function lays that frame first.
// The function becomes a prologue, and its code becomes another function, which the guest's other functions call:
//
//	(func $f (param i32) (result i32)
//	  (if (ref.is_null (struct.get $current …)) (then      ;; JavaScript has called it, and there is ground
//	    … the parameters to registers
//	    (call $begin (ref.func $f_ground))                 ;; calls it, through JavaScript
//	    … the results from registers
//	    (return)))
//	  (return_call $f_code (local.get 0)))
//	(func $f_ground
//	  (struct.set $current … (global.get $ground))         ;; nothing can be suspended here, but resumed
//	  … the parameters from registers, (call $f_code), the results to registers
//	  (struct.set $current … (ref.null none)))
//
// A barrier hides the ground from JavaScript as it hides stacks, so an export that JavaScript calls begins with a frame
// of its own. JSPI suspends no frame of JavaScript: an instance has no ground if an import may suspend in that way
// (jsglue/src/lower/link.ts). There, each resume lays the frame.
// Why: RATIONALE.md, "Why does the outermost resume go through JavaScript?".
func (l *lowering) grounds() {
	if !l.resumes || l.all {
		return
	}
	for _, e := range l.m.Exports {
		f := e.Index
		if e.Kind != wasm.KindFunc || int(f) < l.m.ImportedFuncs || !l.may.funcs[f] || l.code(f) != l.fun(f) {
			continue
		}
		if l.codes == nil {
			l.codes = map[uint32]uint32{}
		}
		l.codes[f] = l.reserve(l.typ(l.m.Funcs[f].Decl))
		l.made[len(l.made)-1].of = f + 1
	}
}

// code returns the index of the function that has the code of a function of the guest.
func (l *lowering) code(f uint32) uint32 {
	if at, ok := l.codes[f]; ok {
		return at
	}
	return l.fun(f)
}

// grounded returns what a function with this code becomes: the same code, or a prologue.
func (l *lowering) grounded(f uint32, code []byte) []byte {
	at := l.code(f)
	if at == l.fun(f) {
		return code
	}
	l.complete(at, code)
	params, results := l.m.Params(f), l.m.Results(f)
	ground := l.reserve(l.funcType(nil, nil))
	e := l.helper(0)
	e.realm()
	e.global(l.hidden(globalGround))
	e.structSet(typeRealm, realmCurrent)
	e.fromRegisters(params)
	e.call(at)
	e.toRegisters(results)
	e.realm()
	e.Raw("\xd0\x71") // ref.null none
	e.structSet(typeRealm, realmCurrent)
	l.complete(ground, e.function(nil))

	e = l.helper(len(params))
	e.realmGet(realmCurrent)
	e.Byte(wasm.OpRefIsNull)
	e.global(l.hidden(globalGround))
	e.Byte(wasm.OpRefIsNull)
	e.Raw("\x45\x71") // i32.eqz, i32.and
	e.iff()
	for i := range params {
		e.get(uint32(i))
	}
	e.toRegisters(params)
	e.Op(wasm.OpRefFunc, ground)
	e.call(l.entry(driverBegin))
	e.fromRegisters(results)
	e.Byte(wasm.OpReturn)
	e.end()
	for i := range params {
		e.get(uint32(i))
	}
	e.Op(wasm.OpReturnCall, at)
	return e.function(nil)
}
