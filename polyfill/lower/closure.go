package lower

import (
	"github.com/fiberfill/fiberfill/internal/wasm"
	"github.com/fiberfill/fiberfill/internal/wasm/validate"
)

// A closure says which functions may be left, and so have to be changed: those that can reach a source of suspensions
// by calls. A call through a table or a reference reaches every function that has the type, or a subtype, and to which
// somebody can have a reference. If references come in from outside, such a call may also reach unknown functions.
type closure struct {
	m     *validate.Module
	funcs []bool // for each function: it may be left
	types []bool // for each type id: a call through a table or reference of it may reach such a function

	direct   []call   // of a function
	indirect []call   // through a table or reference, of a type id
	called   []bool   // for each type id: it is called through a table or a reference
	todo     []uint32 // functions that may be left, whose callers have not been visited yet
}

// A call says that a function calls something.
type call struct{ caller, callee uint32 }

// Sources are where suspensions come from, beside the instructions.
type sources struct {
	imports func(validate.Import) bool // an imported function may suspend
	outside bool                       // functions from outside that come in by tables and references may suspend
}

// instruction notes what an instruction of a function means for the closure. Call it for all code of every function of
// the module, and then call complete.
func (c *closure) instruction(f uint32, b *validate.Body) {
	switch b.Op {
	case wasm.OpCall, wasm.OpReturnCall:
		c.direct = append(c.direct, call{f, b.X})
	case wasm.OpCallRef, wasm.OpReturnCallRef, wasm.OpCallIndirect, wasm.OpReturnCallIndirect:
		c.called[c.m.TypeIDs[b.X]] = true
		c.indirect = append(c.indirect, call{f, uint32(c.m.TypeIDs[b.X])})
	case wasm.OpResume, wasm.OpResumeThrow, wasm.OpResumeThrowRef, wasm.OpSuspend, wasm.OpSwitch:
		c.mark(f)
	}
}

// mark notes that a function may be left.
func (c *closure) mark(f uint32) {
	if !c.funcs[f] {
		c.funcs[f] = true
		c.todo = append(c.todo, f)
	}
}

// complete follows the calls backwards from the sources of suspensions.
func (c *closure) complete(from sources) {
	t := c.m.Types
	for _, i := range c.m.Imports {
		if i.Kind == wasm.KindFunc && from.imports(i) {
			c.mark(i.Index)
		}
	}
	callers := backwards(c.direct, len(c.funcs))
	through := backwards(c.indirect, t.Len())
	reach := func(id validate.Heap) {
		for at := int32(id); at >= 0 && !c.types[at]; at = t.Def(validate.Heap(at)).Super {
			c.types[at] = true
			for _, by := range through.of(uint32(at)) {
				c.mark(by.caller)
			}
		}
	}
	if from.outside && c.open() {
		for id := 0; id < t.Len(); id++ {
			if h := validate.Heap(id); t.Def(h).Form == validate.FormFunc {
				reach(h)
			}
		}
	}
	for len(c.todo) > 0 {
		f := c.todo[len(c.todo)-1]
		c.todo = c.todo[:len(c.todo)-1]
		for _, by := range callers.of(f) {
			c.mark(by.caller)
		}
		if c.m.Declared(f) {
			reach(c.m.Funcs[f].Type)
		}
	}
}

// site reports whether the function that executes an instruction may be left there. Tail calls are no such places: the
// called function is left instead.
func (c *closure) site(op, x uint32) bool {
	switch op {
	case wasm.OpCall:
		return c.funcs[x]
	case wasm.OpCallIndirect, wasm.OpCallRef:
		return c.types[c.m.TypeIDs[x]]
	case wasm.OpSuspend, wasm.OpSwitch, wasm.OpResume, wasm.OpResumeThrow, wasm.OpResumeThrowRef:
		return true
	}
	return false
}

// open reports whether a reference to a function can come in from outside: by an import or an export, by the parameters
// of a function that others may call, or by the results of a call of theirs.
func (c *closure) open() bool {
	m, t := c.m, c.m.Types
	deep := false // a reference of another kind may contain a reference to a function
	for id := 0; id < t.Len(); id++ {
		switch h := validate.Heap(id); t.Def(h).Form {
		case validate.FormCont:
			deep = deep || c.functions(t.Params(t.FuncOf(h))) || c.functions(t.Results(t.FuncOf(h)))
		case validate.FormFunc:
		default:
			for _, f := range t.Fields(h) {
				deep = deep || c.function(f.Type)
			}
		}
	}
	for _, tag := range m.Tags {
		deep = deep || c.functions(t.Params(tag.Type)) || c.functions(t.Results(tag.Type))
	}
	lets := func(v validate.Type) bool { return v.IsRef() && (deep || c.function(v)) }
	signature := func(id validate.Heap) bool {
		for _, list := range [][]validate.Type{t.Params(id), t.Results(id)} {
			for _, v := range list {
				if lets(v) {
					return true
				}
			}
		}
		return false
	}
	border := func(kind byte, x uint32) bool {
		switch kind {
		case wasm.KindFunc:
			return signature(m.Funcs[x].Type)
		case wasm.KindTable:
			return lets(m.Tables[x].Type)
		case wasm.KindGlobal:
			return lets(m.Globals[x].Type)
		case wasm.KindTag:
			return signature(m.Tags[x].Type)
		}
		return false
	}
	for _, i := range m.Imports {
		if border(i.Kind, i.Index) {
			return true
		}
	}
	for _, e := range m.Exports {
		if border(e.Kind, e.Index) {
			return true
		}
	}
	for f := range m.Funcs { // whoever has a reference can call it
		if m.Declared(uint32(f)) && signature(m.Funcs[f].Type) {
			return true
		}
	}
	return false
}

func (c *closure) function(t validate.Type) bool {
	return t.IsRef() && c.m.Types.Top(t.Heap()) == validate.HeapFunc
}

func (c *closure) functions(list []validate.Type) bool {
	for _, t := range list {
		if c.function(t) {
			return true
		}
	}
	return false
}

// A grouping is calls in groups by what is called.
type grouping struct {
	calls []call
	from  []uint32 // for each callee where its group begins; one more for the end
}

func (g *grouping) of(callee uint32) []call { return g.calls[g.from[callee]:g.from[callee+1]] }

// backwards groups calls; callees are numbers below n.
func backwards(list []call, n int) grouping {
	g := grouping{make([]call, len(list)), make([]uint32, n+2)}
	for _, k := range list {
		g.from[k.callee+2]++
	}
	for i := 2; i < len(g.from); i++ {
		g.from[i] += g.from[i-1]
	}
	for _, k := range list {
		g.calls[g.from[k.callee+1]] = k
		g.from[k.callee+1]++
	}
	return g
}
