package main

var fibers2 = []mutation{
	{"B-NEW-1 B-NEW-5", "fibers2/fibers2.go", "frame{returns: returns}", "frame{returns: s.Events.First(start)}"},
	{"B-NEW-2", "fibers2/fibers2.go", "s.Events.Wait(f, start)\n", "s.Events.Wait(f, start)\n\ts.Machine.Enter(f)\n"},
	{"B-NEW-3", "run/fibers2.go", "return f(self, v.first()) })\n\treturn self", "return f(0, v.first()) " +
		"})\n\treturn self"},
	{"B-NEW-3 B-EVT-1", "run/fibers2.go", "return f(self, v.first()) })\n\treturn self", "return f(self, Event{}) " +
		"})\n\treturn self"},
	{"B-EVT-2 B-MOUNT-3 B-NEW-4 B-STALE-1", "fibers2/fibers2.go", "label, ok := s.Events.Accepts(m.Leaf(f), " +
		"e.Tag)\n\tif !ok {", "label, ok := s.Events.Accepts(m.Leaf(f), e.Tag)\n\tif !ok {\n\t\treturn " +
		"polyfill.Unhandled\n\t}\n\tif !ok {"},
	{"B-MOUNT-3 B-NEW-4", "fibers2/fibers2.go", "label, ok := s.Events.Accepts(m.Leaf(f), e.Tag)\n\tif !ok " +
		"{", "label, ok := s.Events.Accepts(m.Leaf(f), e.Tag)\n\tif !ok {\n\t\tm.Kill(f)"},
	{"B-EVT-3", "fibers2/fibers2.go", "if trap := m.CheckSuspended(f); trap != polyfill.OK {", "if _, ok := " +
		"s.Events.Accepts(m.Leaf(f), e.Tag); !ok {\n\t\ts.Plan.FallThrough(m.Active())\n\t\treturn " +
		"polyfill.OK\n\t}\n\tif trap := m.CheckSuspended(f); trap != polyfill.OK {"},
	{"B-MOUNT-1", "fibers2/fibers2.go", "if trap := m.CheckSuspended(f); trap != polyfill.OK {", "if " +
		"m.CheckSuspended(f) != polyfill.OK {\n\t\ts.Plan.FallThrough(m.Active())\n\t\treturn polyfill.OK\n\t}\n\tif " +
		"trap := m.CheckSuspended(f); trap != polyfill.OK {"},
	{"B-MOUNT-2 B-MOUNT-4", "fibers2/fibers2.go", "s.wait(issuer, wait, 0)\n\tleaf, _ := " +
		"m.Enter(f)", "s.wait(issuer, 0, 0)\n\tleaf, _ := m.Enter(f)"},
	{"B-MOUNT-5", "fibers2/fibers2.go", "if trap := m.CheckSuspended(f); trap != polyfill.OK {", "if m.Active() == 0 " +
		"{\n\t\treturn polyfill.OnRoot\n\t}\n\tif trap := m.CheckSuspended(f); trap != polyfill.OK {"},
	{"B-SWITCH-7 B-DISMOUNT-5", "fibers2/fibers2.go", "label, ok := s.Events.Accepts(m.Leaf(f), e.Tag)", "label, ok " +
		":= s.Events.Accepts(f, e.Tag)"},
	{"B-TYPE-1 B-STALE-1", "fibers2/fibers2.go", "\treturn m.CheckSuspended(t)\n", "\tif s.frames[f.Index()].returns " +
		"!= s.frames[t.Index()].returns {\n\t\treturn polyfill.WrongResults\n\t}\n\treturn m.CheckSuspended(t)\n"},
	{"B-SWITCH-5", "fibers2/fibers2.go", "label, ok := s.Events.Accepts(m.Leaf(t), e.Tag)\n\tif !ok {", "label, ok " +
		":= s.Events.Accepts(m.Leaf(t), e.Tag)\n\tif !ok {\n\t\tm.Replace(f, t)"},
	{"B-SWITCH-6", "fibers2/fibers2.go", "if f == t && m.CheckInChain(f)", "if false && m.CheckInChain(f)"},
	{"B-SWITCH-6", "fibers2/fibers2.go", "label, ok := s.Events.Find(wait, e.Tag); ok", "label, ok := " +
		"s.Events.Accepts(m.Parent(f), e.Tag); ok"},
	{"B-SWITCH-1 B-SWITCH-2 B-SWITCH-4", "fibers2/fibers2.go", "func (s *System) Switch(f, t Fiber", "func (s " +
		"*System) Switch(t, f Fiber"},
	{"B-SWITCH-3 B-STATE-1", "fibers2/fibers2.go", "\treturn m.CheckSuspended(t)\n", "\tif m.CheckSuspended(t) != " +
		"polyfill.OK {\n\t\treturn polyfill.NotInChain\n\t}\n\treturn polyfill.OK\n"},
	{"B-SWITCH-2", "fibers2/fibers2.go", "if trap := m.CheckInChain(f); trap != polyfill.OK {\n\t\treturn " +
		"trap\n\t}\n\treturn m.CheckSuspended(t)", "f = m.Active()\n\treturn m.CheckSuspended(t)"},
	{"B-DISMOUNT-3 B-DREL-2 B-EVT-2", "fibers2/fibers2.go", "label, ok := s.Events.Accepts(m.Parent(f), e.Tag)\n\tif " +
		"!ok {", "label, ok := s.Events.Accepts(m.Parent(f), e.Tag)\n\tif !ok {\n\t\treturn " +
		"polyfill.Unhandled\n\t}\n\tif !ok {"},
	{"B-DISMOUNT-2 B-NEW-7 B-EVT-4", "fibers2/fibers2.go", "s.wait(issuer, wait, 0)\n\tparent, _ := " +
		"m.Detach(f)", "parent, _ := m.Detach(f)"},
	{"B-DISMOUNT-1 B-DISMOUNT-4 B-PARENT-2 B-PARENT-3", "fibers2/fibers2.go", "if trap := m.CheckInChain(f); trap != " +
		"polyfill.OK {\n\t\treturn trap\n\t}\n\tissuer", "if m.CheckInChain(f) != polyfill.OK " +
		"{\n\t\ts.Plan.FallThrough(m.Active())\n\t\treturn polyfill.OK\n\t}\n\tissuer"},
	{"B-RELEASE-2 B-DREL-1", "fibers2/fibers2.go", "if s.Machine.State(f) == polyfill.Moribund {", "if " +
		"s.Machine.State(f) == polyfill.Moribund {\n\t\treturn polyfill.Over\n\t}\n\tif s.Machine.State(f) == " +
		"polyfill.Moribund {"},
	{"B-RELEASE-1 B-RELEASE-3 B-RELEASE-5", "fibers2/fibers2.go", "return s.Plan.Release(&s.Machine, f)", "return " +
		"polyfill.OK"},
	{"B-NEW-6", "fibers2/fibers2.go", "return polyfill.Unhandled\n", "s.Plan.FallThrough(parent)\n\t\treturn " +
		"polyfill.OK\n"},
	{"B-NEW-1", "fibers2/fibers2.go", "if trap := s.Events.Check(e, 0); trap != polyfill.OK {\n\t\treturn " +
		"trap\n\t}\n\tparent, _ := s.Machine.Return()", "parent, _ := s.Machine.Return()"},
	{"B-PARENT-1 B-NEW-5 B-MOUNT-4", "fibers2/fibers2.go", "parent, _ := s.Machine.Return()\n\tlabel", "parent := " +
		"s.Machine.Parent(f)\n\ts.Machine.Detach(f)\n\tlabel"},
	{"B-EXC-1 B-NEW-7 B-PARENT-1", "plan.go", "parent, trap := m.Return()", "parent, trap := m.Detach(f)"},
	{"B-MNEW-1 B-MNEW-2 B-MNEW-3", "fibers2/utility.go", "s.wait(issuer, wait, f)", ""},
	{"B-MNEW-1 B-MNEW-5", "fibers2/utility.go", "s.Machine.Enter(f)\n", "if _, ok := s.Events.Accepts(f, " +
		"s.Events.First(wait)); !ok {\n\t\ts.Plan.FallThrough(issuer)\n\t\treturn " +
		"polyfill.OK\n\t}\n\ts.Machine.Enter(f)\n"},
	{"B-MNEW-3", "fibers2/fibers2.go", "s.Plan.Made = made", ""},
	{"B-MNEW-2 B-SNEW-2", "fibers2/fibers2.go", "if made != 0 && label == 0 {", "if false {"},
	{"B-MNEW-4", "run/fibers2.go", "return f(self, v.first()) })\n\t}", "_ = self\n\t\treturn f(0, v.first()) })\n\t}"},
	{"B-SNEW-1", "fibers2/utility.go", "if trap := s.Machine.CheckInChain(f); trap != polyfill.OK {", "if trap := " +
		"s.Machine.CheckReference(f); trap != polyfill.OK {"},
	{"B-SNEW-2 B-SNEW-1", "fibers2/utility.go", "s.Machine.Replace(f, t)", "s.Machine.Enter(t)"},
	{"B-DREL-1", "fibers2/utility.go", "s.last = opDismountRelease\n\treturn s.release(f, trap)", "return trap"},
	{"B-DREL-2", "fibers2/utility.go", "trap := s.Dismount(f, e, 0)\n", "trap := s.Dismount(f, e, 0)\n\tif " +
		"s.Plan.Delivers == polyfill.Nothing && trap == polyfill.OK " +
		"{\n\t\ts.Machine.Detach(f)\n\t\ts.Machine.Kill(f)\n\t}\n"},
	{"B-SREL-1 B-SREL-3", "fibers2/utility.go", "s.last = opSwitchRelease\n\treturn s.release(f, trap)", "return trap"},
	{"B-SREL-2", "fibers2/utility.go", "if f == t && s.Machine.CheckInChain(f) == polyfill.OK {", "if false {"},
}
