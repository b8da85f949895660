package oracle

func (g *generator) statements(most int) (list []Stmt) {
	for range most {
		if g.room--; g.room < 0 {
			break
		}
		g.deep++
		list = append(list, g.statement()...)
		g.deep--
	}
	return list
}

func (g *generator) statement() []Stmt {
	shallow := g.deep < 4
	switch k := g.r.IntN(16); {
	case k < 2:
		return []Stmt{Log{g.expr(i32, 3)}}
	case k == 2:
		t := g.plainType()
		return []Stmt{Set{g.local(t), g.expr(t, 3)}}
	case k == 3:
		i := 1 + g.r.IntN(len(g.p.Globals)-1)
		return []Stmt{Write{i, g.expr(g.p.Globals[i].Type, 2)}}
	case k == 4 && shallow:
		return []Stmt{If{g.expr(i32, 2), g.statements(2), g.statements(2)}}
	case k == 5 && shallow:
		return []Stmt{Loop{g.local(i32), int32(1 + g.r.IntN(3)), g.statements(3)}}
	case k == 6 && shallow:
		return []Stmt{g.try()}
	case k == 7 && g.one(3):
		tag := g.exceptions[g.r.IntN(len(g.exceptions))]
		return []Stmt{If{g.expr(i32, 1), []Stmt{Throw{tag, g.values(g.params(tag), 1)}}, nil}}
	case k < 11 && shallow:
		return g.drive()
	case k == 11 && g.f.Signature == g.switching:
		return g.switches()
	}
	op := g.op(3)
	do := Do{Op: op, To: g.localsOf(op.Results)}
	if g.one(2) {
		do.Top = g.expr(i32, 1)
	}
	return []Stmt{do}
}

func (g *generator) params(tag int) []Type { return g.signature(g.p.Tags[tag].Signature).Params }

func (g *generator) try() Stmt {
	s := Try{Body: g.statements(3)}
	for _, tag := range g.exceptions {
		if g.one(2) {
			s.Catches = append(s.Catches, g.catch(tag))
		}
	}
	if len(s.Catches) == 0 || g.one(3) {
		s.Catches = append(s.Catches, g.catch(-1))
	}
	return s
}

func (g *generator) catch(tag int) Catch {
	c := Catch{Tag: tag, Exn: -1}
	if tag >= 0 {
		c.To = g.localsOf(g.params(tag))
	}
	if g.one(2) {
		c.Exn = g.local(exnref)
	}
	c.Body = append([]Stmt{Log{Const{i32, 500 + int32(tag)}}}, g.statements(2)...)
	if c.Exn >= 0 && g.one(4) {
		c.Body = append(c.Body, Rethrow{c.Exn})
	}
	return c
}

// drive makes a continuation, and resumes it and what it becomes some times: what a generator or a scheduler does.
func (g *generator) drive() []Stmt {
	candidates := g.after(-1)
	if len(candidates) == 0 {
		return nil
	}
	fn := candidates[g.r.IntN(len(candidates))]
	s := g.signature(g.p.Funcs[fn].Signature)
	next := g.intern(nil, s.Results)
	made := g.bound(fn, next)
	held, taken := g.local(Type{Cont, next}), g.local(Type{Cont, next})
	resume := &Op{Kind: OpResume, Sig: next, On: Local{taken}, Results: s.Results}
	for _, tag := range g.someTags() {
		h := g.handler(tag, s.Results)
		t := g.signature(g.p.Tags[tag].Signature)
		// A continuation that waits for the tag's results gets them bound, so that it has the type with which it was
		// made.
		h.Body = append(h.Body, Set{held, &Op{
			Kind: OpBind, Sig: h.Sig, To: next, Args: g.values(t.Results, 1), On: Local{h.Cont},
			Results: []Type{{Cont, next}},
		}})
		resume.Handlers = append(resume.Handlers, h)
	}
	resume.Handlers = g.switchHandler(g.p.Funcs[fn].Signature, resume.Handlers)
	body := []Stmt{Set{taken, Local{held}}, Set{held, Const{Type: Type{Cont, next}}},
		Do{Op: resume, To: g.localsOf(s.Results)}}
	if g.one(6) {
		return append([]Stmt{Set{held, made}}, body...) // dropped if it has suspended
	}
	notNull := Add{i32, Narrow{Type{Cont, next}, Local{held}}, Const{i32, 1}}
	return []Stmt{Set{held, made},
		Loop{g.local(i32), int32(2 + g.r.IntN(4)), append([]Stmt{If{notNull, body, nil}}, g.statements(1)...)}}
}

// bound returns a continuation of fn with all its parameters bound, so that its signature is next.
func (g *generator) bound(fn, next int) Expr {
	from := g.p.Funcs[fn].Signature
	made := &Op{Kind: OpNew, Func: fn, Sig: from, Results: []Type{{Cont, from}}}
	params := g.signature(from).Params
	if len(params) == 0 {
		return made
	}
	return &Op{
		Kind: OpBind, Sig: from, To: next, Args: g.values(params, 1), On: made, Results: []Type{{Cont, next}},
	}
}

func (g *generator) someTags() []int {
	if !g.entry() && g.one(4) {
		return g.suspending[:1+g.r.IntN(len(g.suspending))]
	}
	return g.suspending
}

// handler returns a clause for a tag of a resume with these results.
func (g *generator) handler(tag int, results []Type) Handler {
	t := g.signature(g.p.Tags[tag].Signature)
	h := Handler{Tag: tag, Sig: g.intern(t.Results, results), To: g.localsOf(t.Params)}
	h.Cont = g.local(Type{Cont, h.Sig})
	h.Body = []Stmt{Log{Const{i32, 700 + int32(tag)}}}
	for i, to := range h.To {
		h.Body = append(h.Body, Log{g.number(t.Params[i], Local{to})})
	}
	if g.one(3) {
		h.Body = append(h.Body, g.statements(1)...)
	}
	h.Values = g.values(results, 1)
	return h
}

// number makes an i32 of an expression.
func (g *generator) number(t Type, e Expr) Expr {
	if t == i32 {
		return e
	}
	return Narrow{t, e}
}

// switches makes a function of the recursive signature switch to the computation that has entered it.
func (g *generator) switches() []Stmt {
	s := g.signature(g.switching)
	back := g.local(Type{Cont, g.switching})
	got := g.local(i32)
	notNull := Add{i32, Narrow{Type{Cont, g.switching}, Local{1}}, Const{i32, 1}}
	op := &Op{
		Kind: OpSwitch, Sig: g.switching, Tag: g.switchTag, Args: []Expr{g.expr(i32, 1)}, On: Local{1},
		Results: s.Params,
	}
	return []Stmt{If{notNull, []Stmt{Do{Op: op, To: []int{got, back}}, Set{1, Local{back}}, Log{Local{got}}}, nil}}
}
