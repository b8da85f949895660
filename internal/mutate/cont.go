package main

var cont = []mutation{
	{"D-TYPE-1 D-NEW-2", "cont/cont.go", "frame{waits: params, results: results}", "frame{waits: results, results: " +
		"params}"},
	{"D-TYPE-1", "cont/cont.go", "if f != 0 && !s.frames[f.Index()].results.Takes(results) {", "if f != 0 && false {"},
	{"D-TYPE-2 D-SUSPEND-3", "cont/cont.go", ".waits = s.Events.Results(p.event.Tag)", ".waits = " +
		"s.Events.Params(p.event.Tag)"},
	{"D-NEW-1", "cont/cont.go", "if !function {", "if false {"},
	{"D-NEW-1 D-NEW-2", "cont/cont.go", "return s.Machine.Mint(f)",
		"first, trap := s.Machine.Mint(f)\n\ts.Machine.Enter(f)\n\treturn first, trap"},
	{"D-SUSPEND-1 D-SUSPEND-2", "cont/cont.go", "s.pending = pending{event: e}\n\treturn " +
		"s.outward(s.Machine.Active())", "s.pending = pending{event: e}\n\treturn " +
		"s.outward(s.Machine.Parent(s.Machine.Active()))"},
	{"D-FILT-2", "cont/cont.go", "resumer, _ := m.Detach(top)", "resumer, _ := m.Detach(m.Active())"},
	{"D-SUSPEND-3", "cont/cont.go", "if !s.frames[m.Leaf(c.Fiber()).Index()].waits.Takes(sent) {", "if false {"},
	{"D-SUSPEND-4", "cont/cont.go", "return polyfill.NoContinuation",
		"if m.Active() == 0 {\n\t\treturn polyfill.NoContinuation\n\t}\n\treturn s.detach(m.Active())"},
	{"D-RESUME-1 D-RESUME-2 D-RESUME-4 D-FWD-1", "cont/cont.go", "s.Events.Wait(issuer, " +
		"filter)", "s.Events.Wait(issuer, 0)"},
	{"D-RESUME-2 D-SUSPEND-1", "machine.go", "\ttop.parent = parent\n", ""},
	{"D-RESUME-3 D-FWD-4", "run/world.go", "w.message.put(results)", "w.message.put(nil)"},
	{"D-RESUME-4 D-BRON-1", "run/cont.go", "append(Values(nil), e.Values...), c.plan.Token}", "nil, c.plan.Token}"},
	{"D-RESUME-5 D-THROW-2", "run/world.go", "w.message.exception = thrown", ""},
	{"D-RESUME-6 D-ONE-1", "token.go", "m.State(t.fiber) != Suspended || m.slots[t.fiber.Index()].token != " +
		"t.number", "false"},
	{"D-BRON-1", "cont/cont.go", "return e.Tag == tag, s.checkEvent(e)", "return true, s.checkEvent(e)"},
	{"D-BRON-2", "run/cont.go", "\treturn e.Values, e.Cont, true\n", "\tc.machine.Redeem(e.Cont)\n\treturn e.Values, " +
		"e.Cont, true\n"},
	{"D-FWD-4", "cont/cont.go", "s.enter(p.c, p.filter, p.asks)", "s.enter(p.c, 0, p.asks)"},
	{"D-FWD-2 D-FWD-3", "cont/cont.go", "s.enter(p.c, p.filter, p.asks)", "m.Redeem(p.c)"},
	{"D-FWD-3 D-FILT-2", "machine.go", "top.leaf = m.active", "top.leaf = i"},
	{"D-FWD-5", "cont/cont.go", "if trap := s.Machine.Check(c); trap != polyfill.OK {", "if trap := " +
		"s.Machine.Check(c); trap == polyfill.NullReference {"},
	{"D-THROW-1 D-THROW-2", "run/cont.go", "c.message.exception = &Exception{", "_ = &Exception{"},
	{"D-THROW-3", "cont/cont.go", "s.enter(c, 0, false)", "s.enter(c, 1, false)"},
	{"D-THROW-4", "cont/cont.go", "if !started {", "if !started && false {"},
	{"D-FILT-1 D-SUSPEND-4", "cont/cont.go", "s.Events.Accepts(resumer, s.pending.event.Tag); !ok " +
		"{", "s.Events.Accepts(resumer, s.pending.event.Tag); !ok && false {"},
	{"D-FILT-3", "run/cont.go", "c.system.Answer(admits(tag, " +
		"c.message.buffer[:c.message.n]))", "c.system.Answer(admits != nil)"},
}
