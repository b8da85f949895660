package oracle

import (
	"math/rand/v2"
	"slices"
)

// Generate returns the program of a seed.
func Generate(seed uint64) *Program {
	g := &generator{r: rand.New(rand.NewPCG(seed, 1)), p: &Program{Modules: 1}}
	g.switching = g.recursive()
	g.globals()
	g.tags()
	g.functions()
	for i := range g.p.Funcs {
		g.function(i)
	}
	for range 4 + g.r.IntN(5) {
		c := Call{Func: g.entries[g.r.IntN(len(g.entries))]}
		for range g.signature(g.p.Funcs[c.Func].Signature).Params {
			c.Args = append(c.Args, g.small())
		}
		g.p.Calls = append(g.p.Calls, c)
	}
	return g.p
}

type generator struct {
	r *rand.Rand
	p *Program

	switching  int   // the signature of functions that switch to each other
	suspending []int // tags
	exceptions []int
	switchTag  int
	entries    []int // functions that are called from outside

	// The function that is being made.
	index int
	f     *Func
	types []Type // of its locals, parameters first
	room  int    // statements that it may still have
	deep  int
}

func (g *generator) one(in int) bool { return g.r.IntN(in) == 0 }

func (g *generator) small() int32 { return int32(g.r.IntN(200) - 100) }

func (g *generator) signature(i int) Signature { return g.p.Signatures[i] }

// intern returns the signature's index, which it makes if need be.
func (g *generator) intern(params, results []Type) int {
	for i, s := range g.p.Signatures {
		if slices.Equal(s.Params, params) && slices.Equal(s.Results, results) {
			return i
		}
	}
	g.p.Signatures = append(g.p.Signatures, Signature{slices.Clone(params), slices.Clone(results)})
	return len(g.p.Signatures) - 1
}

// recursive makes the one signature that refers to itself: (i32, continuation of this) -> i32.
func (g *generator) recursive() int {
	self := len(g.p.Signatures)
	return g.intern([]Type{i32, {Cont, self}}, []Type{i32})
}

func (g *generator) plainType() Type { return []Type{i32, i32, i64, f64, anyref}[g.r.IntN(5)] }

func (g *generator) plainTypes(most int) (list []Type) {
	for range g.r.IntN(most + 1) {
		list = append(list, g.plainType())
	}
	return list
}

func (g *generator) globals() {
	g.p.Globals = []Global{{Type: i32}, {Type: i32}, {Type: i64}}
	for _, results := range [][]Type{nil, {i32}} {
		g.p.Globals = append(g.p.Globals, Global{Type: Type{Cont, g.intern(nil, results)}})
	}
}

func (g *generator) tags() {
	add := func(params, results []Type) int {
		g.p.Tags = append(g.p.Tags, Tag{Signature: g.intern(params, results)})
		return len(g.p.Tags) - 1
	}
	for range 2 + g.r.IntN(2) {
		params := g.plainTypes(2)
		if g.one(4) {
			params = append(params, Type{Cont, g.intern(nil, []Type{i32})})
		}
		g.suspending = append(g.suspending, add(params, g.plainTypes(2)))
	}
	for range 1 + g.r.IntN(2) {
		g.exceptions = append(g.exceptions, add(g.plainTypes(2), nil))
	}
	g.switchTag = add(nil, []Type{i32})
}

// functions chooses signatures and modules. A function calls later ones only, and those lie in its own module or an
// earlier one.
func (g *generator) functions() {
	n := 4 + g.r.IntN(5)
	module := 0
	g.p.Funcs = make([]Func, n)
	for i := n - 1; i >= 0; i-- {
		params, results := g.plainTypes(2), g.plainTypes(2)
		switch g.r.IntN(8) {
		case 0, 1:
			params, results = nil, []Type{i32}
		case 2:
			params, results = nil, nil
		case 3:
			params = append(params, Type{Cont, g.intern(nil, []Type{i32})})
		}
		signature := g.intern(params, results)
		if i >= n-2 && g.one(2) {
			signature = g.switching
		}
		if i < 2 {
			signature = g.intern([]Type{i32}, []Type{i32})
			g.entries = append(g.entries, i)
		}
		g.p.Funcs[i] = Func{Module: module, Signature: signature}
		if g.one(4) && g.p.Modules < 3 {
			module++
			g.p.Modules++
		}
	}
	g.p.Modules = g.p.Funcs[0].Module + 1
}

// after returns the functions that this one may use, of a signature; -1: of any.
func (g *generator) after(signature int) (list []int) {
	for i := g.index + 1; i < len(g.p.Funcs); i++ {
		if signature < 0 || g.p.Funcs[i].Signature == signature {
			list = append(list, i)
		}
	}
	return list
}

func (g *generator) function(i int) {
	g.index, g.f = i, &g.p.Funcs[i]
	s := g.signature(g.f.Signature)
	g.types = slices.Clone(s.Params)
	g.room = 10 + g.r.IntN(16)
	g.f.Body = append([]Stmt{Log{Const{i32, int32(1000 + i)}}}, g.statements(4+g.r.IntN(6))...)
	if g.entry() && !g.one(4) {
		g.f.Body = []Stmt{Try{Body: g.f.Body, Catches: []Catch{g.catch(g.exceptions[0]), g.catch(-1)}}}
	}
	if tail := g.after(g.f.Signature); len(tail) > 0 && g.one(5) {
		g.f.Tail = &Op{Kind: OpCall, Func: tail[g.r.IntN(len(tail))], Args: g.values(s.Params, 1), Results: s.Results}
	} else {
		g.f.Results = g.values(s.Results, 2)
	}
	g.f.Locals = g.types[len(s.Params):]
}

// local makes a local of a type.
func (g *generator) local(t Type) int {
	g.types = append(g.types, t)
	return len(g.types) - 1
}

func (g *generator) localsOf(types []Type) (list []int) {
	for _, t := range types {
		list = append(list, g.local(t))
	}
	return list
}
