package main

var fibers1 = []mutation{
	{"A-TYPE-1 A-SWITCH-5", "fibers1/fibers1.go", "s.results[f.Index()] = results", "s.results[f.Index()] = 0"},
	{"A-NEW-1 A-NEW-3", "fibers1/fibers1.go", "s.Events.Wait(f, start)\n", "s.Events.Wait(f, " +
		"start)\n\ts.Machine.Enter(f)\n"},
	{"A-NEW-4", "fibers1/fibers1.go", "s.Events.Wait(f, start)\n", "s.Events.Wait(f, start)\n\tif start == 0 " +
		"{\n\t\treturn 0, polyfill.Unhandled\n\t}\n"},
	{"A-SPAWN-1 A-SPAWN-2 A-SPAWN-5", "fibers1/fibers1.go", "s.Machine.Enter(f)\n\ts.Plan", "s.Plan"},
	{"A-SPAWN-3 A-SPAWN-4", "fibers1/fibers1.go", "s.Events.Wait(issuer, " +
		"wait)\n\ts.Machine.Enter(f)", "s.Events.Wait(issuer, 0)\n\ts.Machine.Enter(f)"},
	{"A-HDL-7 A-RESUME-5 A-RETIRE-2", "fibers1/fibers1.go", "s.Events.Accepts(m.Parent(f), e.Tag)\n\tif !ok " +
		"{", "s.Events.Accepts(m.Parent(f), e.Tag)\n\tif !ok && false {"},
	{"A-SUSPEND-2 A-SUSPEND-3 A-RETIRE-3", "fibers1/fibers1.go", "s.Events.Accepts(m.Parent(f), " +
		"e.Tag)", "s.Events.Accepts(f, e.Tag)"},
	{"A-SUSPEND-4 A-SUSPEND-2", "fibers1/fibers1.go", "s.Events.Wait(issuer, wait)\n\tparent, _ := " +
		"m.Detach(f)", "s.Events.Wait(issuer, 0)\n\tparent, _ := m.Detach(f)"},
	{"A-SUSPEND-1", "fibers1/fibers1.go", "if trap := m.CheckInChain(f); trap != polyfill.OK {\n\t\treturn " +
		"trap\n\t}", "if f != m.Active() {\n\t\treturn polyfill.NotInChain\n\t}"},
	{"A-RESUME-3 A-NEW-4 A-HDL-7", "fibers1/fibers1.go", "label, ok := s.Events.Accepts(m.Leaf(f), e.Tag)\n\tif !ok " +
		"{", "label, ok := s.Events.Accepts(m.Leaf(f), e.Tag)\n\tif !ok && false {"},
	{"A-RESUME-2 A-RESUME-3 A-SUSPEND-6", "fibers1/fibers1.go", "s.Events.Accepts(m.Leaf(f), " +
		"e.Tag)", "s.Events.Accepts(f, e.Tag)"},
	{"A-RESUME-5 A-PARENT-1", "fibers1/fibers1.go", "s.Events.Wait(issuer, wait)\n\tleaf, _ := " +
		"m.Enter(f)", "s.Events.Wait(issuer, 0)\n\tleaf, _ := m.Enter(f)"},
	{"A-SWITCH-6", "fibers1/fibers1.go", "if f == t && m.CheckInChain(f)", "if false && m.CheckInChain(f)"},
	{"A-SWITCH-5 A-RETIRETO-1", "fibers1/fibers1.go", "if s.results[f.Index()] != s.results[t.Index()] {", "if false " +
		"{"},
	{"A-SWITCH-3 A-RETIRETO-1", "fibers1/fibers1.go", "s.Events.Accepts(m.Leaf(t), e.Tag)\n\tif !ok " +
		"{", "s.Events.Accepts(m.Leaf(t), e.Tag)\n\tif !ok && false {"},
	{"A-SWITCH-3", "fibers1/fibers1.go", "s.Events.Accepts(m.Leaf(t), e.Tag)", "s.Events.Accepts(m.Parent(f), e.Tag)"},
	{"A-SWITCH-1 A-SWITCH-2 A-SWITCH-4", "fibers1/fibers1.go", "func (s *System) Switch(f, t Fiber", "func (s " +
		"*System) Switch(t, f Fiber"},
	{"A-RETIRE-2 A-RETIRE-3", "fibers1/fibers1.go", "if trap == polyfill.OK {\n\t\ts.Plan.End(&s.Machine, f)", "if " +
		"trap != polyfill.OK {\n\t\ts.Plan.End(&s.Machine, f)"},
	{"A-RETIRETO-1 A-RETIRETO-2", "fibers1/fibers1.go", "return s.Plan.End(m, f)", "return polyfill.OK"},
	{"A-RELEASE-1 A-RELEASE-2", "fibers1/fibers1.go", "return s.Plan.Release(&s.Machine, f)", "return polyfill.OK"},
	{"A-RELEASE-1", "fibers1/fibers1.go", "return s.Plan.Release(&s.Machine, f)", "if s.Machine.State(f) == " +
		"polyfill.Moribund {\n\t\treturn polyfill.OK\n\t}\n\treturn s.Plan.Release(&s.Machine, f)"},
	{"A-TYPE-1", "fibers1/fibers1.go", "if f != 0 && !s.results", "if false && !s.results"},
	{"A-RESUME-4 A-SPAWN-2 A-RET-1 A-TYPE-1", "run/world.go", "w.message.put(results)", "w.message.put(nil)"},
	{"A-RESUME-1 A-STATE-1 A-STATE-2", "fibers1/fibers1.go", "if trap := m.CheckSuspended(f); trap != polyfill.OK " +
		"{\n\t\treturn trap\n\t}\n\tlabel, ok := s.Events.Accepts(m.Leaf(f)", "label, ok := " +
		"s.Events.Accepts(m.Leaf(f)"},
	{"A-NEW-2", "run/fibers1.go", "return f(self, v.first()) })\n\treturn self", "return f(self+1, v.first()) " +
		"})\n\treturn self"},
	{"A-SPAWN-4", "run/fibers1.go", "return f(self, v.first()) })\n\t}\n\treturn v.transfer", "_ = self\n\t\treturn " +
		"f(0, v.first()) })\n\t}\n\treturn v.transfer"},
	{"A-NEW-5 A-NEW-3", "run/fibers1.go", "return f(self, v.first()) })\n\treturn self", "return f(self, Event{}) " +
		"})\n\treturn self"},
	{"A-HDL-1 A-HDL-2 A-HDL-3", "run/handle.go", "h.tags = append(append([]*Tag(nil), blocks...), " +
		"outer.tags...)", "h.tags = blocks"},
	{"A-HDL-2", "conformance/go.go", "p.loop(&frame{who: f.who, gives: 1})", "p.loop(&frame{who: f.who, gives: 1, " +
		"handles: f.handles})"},
	{"A-HDL-6", "run/handle.go", "for label >= h.blocks {", "for false {"},
	{"A-HDL-5 A-HDL-6", "run/handle.go", "{ return h.outer }", "{ return h }"},
}
