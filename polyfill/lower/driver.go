package lower

import (
	_ "embed"

	"github.com/fiberfill/fiberfill/internal/wasm"
	"github.com/fiberfill/fiberfill/internal/wasm/validate"
)

// driverCode is driver.wat. What a lowered module uses of it becomes part of the module: a call from one module into
// another costs ten times as much as one that stays inside.
// Why: RATIONALE.md, "Why is the driver's code in every lowered module?".
//
//go:embed driver.wasm
var driverCode []byte

// Functions of the driver that are called where a guest has an instruction.
const (
	driverNew = iota
	driverBind
	driverSuspend
	driverSwitch
	driverResume
	driverResumeThrow
	driverSpare
	driverSpareLeaf
	driverHang
	driverHangLeaf
	driverBegin
	driverCannotWait
	driverLeave
	driverResumeKept
	driverEntries // how many there are
)

// Functions and globals that the driver imports. A lowered module imports them, too, after the guest's own imports. The
// globals that guests use themselves come first.
const driverFuncs = 3

const (
	globalState = iota
	globalExn
	globalFrames
	globalDepth
	globalNested
	globalDeepest
	globalWait
	globalBelow
	globalGround
	globalRealm
	driverGlobals // how many there are
)

// A move maps the indices in another module's code to those of the output.
type move struct {
	types, funcs, globals []uint32
	wanted                []uint32 // functions of that code that are called, or called by these
}

// want notes that a function is called. Written into its callers it would be there a dozen times.
//
//go:noinline
func (m *move) want(f uint32) {
	for _, g := range m.wanted {
		if g == f {
			return
		}
	}
	m.wanted = append(m.wanted, f)
}

// addDriver makes room for the driver's functions among those that the rewriter makes.
func (l *lowering) addDriver() {
	m, err := validate.Decode(driverCode, nil)
	if err != nil {
		panic(err.Error())
	}
	d := &lowering{m: m, t: m.Types, move: &move{}}
	l.driver = d
	d.index = make([]uint32, d.t.Len())
	for i, id := range m.TypeIDs {
		if i < baseTypes {
			d.index[id] = uint32(i)
		}
	}
	for i, id := range m.TypeIDs {
		to := uint32(i)
		if i >= baseTypes {
			var w wasm.Writer
			w.Byte(0x60)
			d.values(&w, d.t.Params(id))
			d.values(&w, d.t.Results(id))
			to = l.types.add(w.B)
		}
		d.move.types = append(d.move.types, to)
	}
	for f := range m.Funcs {
		to := uint32(l.m.ImportedFuncs + f)
		if f >= m.ImportedFuncs {
			to = l.reserve(d.move.types[m.Funcs[f].Decl])
		}
		d.move.funcs = append(d.move.funcs, to)
	}
	for g := range m.Globals {
		d.move.globals = append(d.move.globals, l.hidden(g))
	}
}

// completeDriver writes the driver's functions that the module calls, and what they call. A guest that others make wait
// calls none.
func (l *lowering) completeDriver() {
	d, m := l.driver, l.driver.m
	for f := m.ImportedFuncs; f < len(m.Funcs); f++ {
		l.complete(d.move.funcs[f], []byte{0, wasm.OpUnreachable, wasm.OpEnd})
	}
	for i := 0; i < len(d.move.wanted); i++ { // which grows
		f := d.move.wanted[i]
		if int(f) < m.ImportedFuncs {
			continue
		}
		b := &d.body
		b.Start(m, f)
		e := d.hotCode.reset(d, nil)
		locals := append([]validate.Type(nil), b.Locals[len(m.Params(f)):]...)
		e.copyAll(b)
		l.complete(d.move.funcs[f], e.function(locals))
	}
}

// entry returns the index of one of the driver's functions, which is called.
func (l *lowering) entry(k int) uint32 {
	f := l.driver.m.Exports[k].Index
	l.driver.move.want(f)
	return l.driver.move.funcs[f]
}

// hidden returns the index of one of its globals, tag that of a tag's identity.
func (l *lowering) hidden(k int) uint32 { return uint32(l.m.ImportedGlobals + k) }

func (l *lowering) tag(x uint32) uint32 { return l.hidden(driverGlobals) + x }

// driverImports writes the driver's imports.
func (l *lowering) driverImports(w *wasm.Writer) {
	d := l.driver
	for _, kind := range []byte{wasm.KindFunc, wasm.KindGlobal} {
		for _, i := range d.m.Imports {
			if i.Kind != kind {
				continue
			}
			w.Name(Namespace)
			w.Name(string(d.m.Text(i.Name)))
			w.Byte(kind)
			if kind == wasm.KindFunc {
				w.U32(d.typ(d.m.Funcs[i.Index].Decl))
				continue
			}
			d.value(w, d.m.Globals[i.Index].Type)
			if d.m.Globals[i.Index].Mutable {
				w.Byte(mut)
			} else {
				w.Byte(fixed)
			}
		}
	}
}
