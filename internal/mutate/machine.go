package main

var machine = []mutation{
	{"A-STATE-2 A-SPAWN-2 B-STATE-1", "machine.go", "case g < s.generation:\n\t\treturn Moribund", "case g < " +
		"s.generation:\n\t\treturn Invalid"},
	{"A-STATE-1 A-RESUME-1 A-RELEASE-1 A-SUSPEND-6 A-SWITCH-1 B-MOUNT-6 B-RELEASE-1", "machine.go",
		"case Suspended:\n\t\treturn OK\n\tcase Moribund", "case Suspended, Carried:\n\t\treturn OK\n\tcase Moribund"},
	{"A-RESUME-1 B-PARENT-4 B-MOUNT-6 B-SWITCH-3", "machine.go", "case Suspended:\n\t\treturn OK\n\tcase " +
		"Moribund", "case Suspended, Busy:\n\t\treturn OK\n\tcase Moribund"},
	{"A-RESUME-1 A-RELEASE-1 B-MOUNT-6 B-EVT-3", "machine.go", "case Suspended:\n\t\treturn OK\n\tcase " +
		"Moribund", "case Suspended, Active:\n\t\treturn OK\n\tcase Moribund"},
	{"B-MOUNT-1 A-STATE-2", "machine.go", "case Suspended:\n\t\treturn OK\n\tcase Moribund:\n\t\treturn Over", "case " +
		"Suspended:\n\t\treturn OK\n\tcase Moribund:\n\t\treturn NotSuspended"},
	{"A-SUSPEND-3 A-SUSPEND-6 A-RETIRE-2 A-RETIRETO-2 B-SWITCH-7 B-DISMOUNT-5 B-SREL-3", "machine.go", "case Active, " +
		"Busy:\n\t\treturn OK", "case Active:\n\t\treturn OK"},
	{"A-SUSPEND-1 A-RETIRE-1 A-NEW-1 A-NEW-6 A-SWITCH-1 A-RETIRETO-1 B-DISMOUNT-1 B-NEW-2 B-SWITCH-2 B-SNEW-1 " +
		"B-MOUNT-3", "machine.go",
		"case Active, Busy:\n\t\treturn OK", "case Active, Busy, Suspended:\n\t\treturn OK"},
	{"A-STATE-1 A-SUSPEND-1 A-RETIRE-1", "machine.go", "case Active, Busy:\n\t\treturn OK", "case Active, Busy, " +
		"Carried:\n\t\treturn OK"},
	{"A-PARENT-1 A-PARENT-2 A-RET-1 B-NEW-5 B-MOUNT-2 B-DISMOUNT-2 B-PARENT-1", "machine.go", "\ttop.parent = " +
		"parent\n", ""},
	{"A-SUSPEND-3 A-RESUME-2 A-SUSPEND-6 B-SWITCH-7 B-DISMOUNT-5", "machine.go", "top.leaf = m.active", "top.leaf = i"},
	{"A-SUSPEND-3 B-DISMOUNT-5", "machine.go", "m.slots[j].state = Carried", "m.slots[j].state = Suspended"},
	{"A-SWITCH-2 A-RETIRETO-2 B-SWITCH-2", "machine.go", "return m.attach(uint32(t)&indexMask, parent), OK", "return " +
		"m.attach(uint32(t)&indexMask, 0), OK"},
	{"A-SWITCH-4 B-PARENT-1 B-SWITCH-4 B-EXC-1 B-SNEW-2 A-EXC-2", "machine.go", "parent := m.detach(uint32(s) & " +
		"indexMask)\n", "parent := uint32(s) & indexMask; m.detach(parent)\n"},
	{"A-RETIRE-2 A-RETIRETO-2 A-RELEASE-2 B-RELEASE-3 B-SREL-3", "machine.go", "for j := m.slots[top].leaf; j != " +
		"top; {", "for j := top; j != top; {"},
	{"A-RETIRE-4 B-RELEASE-5", "machine.go", "\tm.end(top)\n\treturn OK", "\tfor k := range m.slots {\n\t\tif " +
		"m.slots[k].state == Suspended && m.slots[k].parent == top " +
		"{\n\t\t\tm.end(uint32(k))\n\t\t}\n\t}\n\tm.end(top)\n\treturn OK"},
	{"A-HDL-8 B-NEW-7 B-EXC-2", "machine.go", "for i := m.active; i != 0; {\n\t\tparent := m.slots[i].parent", "for " +
		"i := m.active; i != 0; {\n\t\tparent := uint32(0)"},
	{"A-GC-1", "machine.go", "\ts.generation++\n", ""},
	{"A-RET-1 B-NEW-5", "machine.go", "p := m.slots[i].parent\n\tm.end(i)", "p := uint32(0)\n\tm.end(i)"},
	{"A-PARENT-3 B-PARENT-2 B-PARENT-3 B-DISMOUNT-4 B-RELEASE-5", "machine.go", "if f == 0 {\n\t\treturn " +
		"NullReference", "if f == 0 {\n\t\treturn OK"},
	{"A-HDL-2 A-NEW-3 B-EVT-1", "event.go", "for i, other := range e.lists[s.from:s.to] {", "for i := " +
		"int(s.to-s.from) - 1; i >= 0; i-- {\n\t\tother := e.lists[int(s.from)+i]"},
	{"A-HDL-7", "event.go", "if other == t {\n\t\t\treturn int32(i), true", "if e.Params(other) == e.Params(t) " +
		"{\n\t\t\treturn int32(i), true"},
	{"A-EXC-3 A-SPAWN-3 A-HDL-3 A-SUSPEND-2 B-NEW-3 B-MOUNT-4", "event.go", "e.lists[s.from:s.to] " +
		"{", "e.lists[s.from:s.from+1] {"},
	{"A-SUSPEND-4 B-EVT-4 B-DISMOUNT-2 B-SWITCH-4", "event.go", "\te.waits[i] = t\n", "\tif e.waits[i] == 0 " +
		"{\n\t\te.waits[i] = t\n\t}\n"},
	// The substrate.
	{"A-RELEASE-3 B-RELEASE-4", "run/ends.go", "\tc.stop()\n", "\tc.dead = false\n\tc.next()\n"},
	{"A-RETIRE-5", "run/world.go", "that run now\n\t\t\tpanic(unwinding{})", "that run now\n\t\t\tfrom.dead = false"},
	{"A-EXC-1 A-EXC-2 B-EXC-1 B-NEW-7", "run/world.go", "w.message.exception = thrown", ""},
}
