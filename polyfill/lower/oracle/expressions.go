package oracle

func (g *generator) values(types []Type, depth int) (list []Expr) {
	for _, t := range types {
		list = append(list, g.expr(t, depth))
	}
	return list
}

// expr returns an expression of a type.
func (g *generator) expr(t Type, depth int) Expr {
	if depth <= 0 || g.one(3) {
		return g.leaf(t)
	}
	switch t.Kind {
	case Exn:
		return g.leaf(t)
	case Cont:
		return g.continuation(t, depth)
	}
	if depth > 1 && g.one(3) {
		if op := g.op(depth - 1); len(op.Results) == 1 && op.Results[0] == t {
			return op
		}
	}
	switch {
	case t == anyref:
		return Widen{t, g.expr(i32, depth-1)}
	case t == i32 && g.one(3):
		from := []Type{i64, f64, anyref, {Cont, g.intern(nil, []Type{i32})}}[g.r.IntN(4)]
		return Narrow{from, g.expr(from, depth-1)}
	case t != i32 && g.one(3):
		return Widen{t, g.expr(i32, depth-1)}
	}
	return Add{t, g.expr(t, depth-1), g.expr(t, depth-1)}
}

// leaf returns an expression that cannot suspend.
func (g *generator) leaf(t Type) Expr {
	var from []Expr
	for i, u := range g.types {
		if u == t {
			from = append(from, Local{i})
		}
	}
	for i, global := range g.p.Globals {
		if i > 0 && global.Type == t {
			from = append(from, Read{i})
		}
	}
	if len(from) > 0 && !g.one(3) {
		return from[g.r.IntN(len(from))]
	}
	return Const{t, g.small()}
}

func (g *generator) continuation(t Type, depth int) Expr {
	s := g.signature(t.Cont)
	if fns := g.after(t.Cont); len(fns) > 0 && !g.one(3) {
		return &Op{Kind: OpNew, Func: fns[g.r.IntN(len(fns))], Sig: t.Cont, Results: []Type{t}}
	}
	// Of one with more parameters, those are bound.
	for _, fn := range g.after(-1) {
		from := g.p.Funcs[fn].Signature
		params := g.signature(from).Params
		more := len(params) - len(s.Params)
		if more < 0 || !equal(params[more:], s.Params) || !equal(g.signature(from).Results, s.Results) || g.one(2) {
			continue
		}
		made := &Op{Kind: OpNew, Func: fn, Sig: from, Results: []Type{{Cont, from}}}
		return &Op{
			Kind: OpBind, Sig: from, To: t.Cont, Args: g.values(params[:more], depth-1), On: made, Results: []Type{t},
		}
	}
	return g.leaf(t)
}

func equal(a, b []Type) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// op returns an operation with any results.
func (g *generator) op(depth int) *Op {
	fns := g.after(-1)
	switch k := g.r.IntN(10); {
	case k < 3 && !g.entry() && len(fns) > 0:
		fn := fns[g.r.IntN(len(fns))]
		s := g.signature(g.p.Funcs[fn].Signature)
		return &Op{Kind: OpCall, Func: fn, Args: g.values(s.Params, depth-1), Results: s.Results}
	case (k < 6 || g.entry()) && len(fns) > 0:
		return g.resume(fns[g.r.IntN(len(fns))], depth)
	}
	tag := g.suspending[g.r.IntN(len(g.suspending))]
	s := g.signature(g.p.Tags[tag].Signature)
	return &Op{Kind: OpSuspend, Tag: tag, Args: g.values(s.Params, depth-1), Results: s.Results}
}

// resume returns an operation that resumes a fresh continuation of fn, or one from elsewhere of its type.
func (g *generator) resume(fn, depth int) *Op {
	sig := g.p.Funcs[fn].Signature
	s := g.signature(sig)
	op := &Op{Kind: OpResume, Sig: sig, Results: s.Results}
	op.On = &Op{Kind: OpNew, Func: fn, Sig: sig, Results: []Type{{Cont, sig}}}
	if g.one(16) {
		op.On = g.expr(Type{Cont, sig}, 1)
	}
	switch k := g.r.IntN(8); {
	case k == 0:
		op.Kind, op.Tag = OpResumeThrow, g.exceptions[g.r.IntN(len(g.exceptions))]
		op.Args = g.values(g.params(op.Tag), depth-1)
	case k == 1 && g.has(exnref):
		op.Kind, op.Args = OpResumeThrowRef, []Expr{g.leaf(exnref)}
	default:
		op.Args = g.values(s.Params, depth-1)
	}
	for _, tag := range g.someTags() {
		h := g.handler(tag, s.Results)
		if g.one(3) { // go on with what has suspended, here and now
			h.Body = append(h.Body, g.goOn(h, tag, s.Results))
		}
		op.Handlers = append(op.Handlers, h)
	}
	op.Handlers = g.switchHandler(sig, op.Handlers)
	return op
}

// switchHandler adds a clause for switch, where the results allow one.
func (g *generator) switchHandler(sig int, handlers []Handler) []Handler {
	if !equal(g.signature(sig).Results, []Type{i32}) || sig != g.switching && g.one(2) {
		return handlers
	}
	return append(handlers, Handler{Tag: g.switchTag, Switch: true})
}

// entry reports whether the function is called from outside, where nothing handles a suspension.
func (g *generator) entry() bool { return g.index < 2 }

func (g *generator) has(t Type) bool {
	for _, u := range g.types {
		if u == t {
			return true
		}
	}
	return false
}

// goOn resumes, or throws into, the continuation that a handler has got.
func (g *generator) goOn(h Handler, tag int, results []Type) Stmt {
	t := g.signature(g.p.Tags[tag].Signature)
	op := &Op{Kind: OpResume, Sig: h.Sig, On: Local{h.Cont}, Args: g.values(t.Results, 1), Results: results}
	if g.one(4) {
		op.Kind, op.Tag = OpResumeThrow, g.exceptions[g.r.IntN(len(g.exceptions))]
		op.Args = g.values(g.params(op.Tag), 1)
	}
	for _, again := range g.someTags() {
		if g.entry() || g.one(2) {
			op.Handlers = append(op.Handlers, g.handler(again, results))
		}
	}
	return Do{Op: op, To: g.localsOf(results)}
}
