package main

var stacks = []mutation{
	{"C-STATE-1 C-STATE-2 C-SWITCH-2 C-SWITCH-3 C-SWITCH-6 C-ROOT-1 C-FIB-1 C-FIB-2 C-FIB-3 C-FIB-5",
		"stacks/stacks.go", "m.Replace(issuer, to)\n\ts.frames", "m.Enter(to)\n\ts.frames"},
	{"C-REF-2 C-REF-5 C-BIND-2 D-ONE-1", "token.go", " || m.slots[t.fiber.Index()].token != t.number", ""},
	{"C-REF-5 C-BIND-2 C-REF-6", "token.go", "\ts.token++\n", ""},
	{"C-REF-3 C-BIND-3 C-RETIRE-3 D-RESUME-6", "token.go", "\t\treturn NullReference", "\t\treturn StaleToken"},
	{"C-REF-4 C-REF-7 D-BRON-2 D-FWD-5", "token.go",
		"m.State(t.fiber) != Suspended || m.slots[t.fiber.Index()].token != t.number", "false"},
	{"C-TYPE-1 C-NEW-2 C-SWITCH-1", "stacks/stacks.go", "= frame{awaits: awaits}", "= frame{}"},
	{"C-TYPE-2 C-NEW-2 C-SWITCH-3 C-RETIRE-2 C-FIB-3", "stacks/stacks.go",
		"\ts.Plan.Token = Token{}\n", "\ts.Plan.Token = t\n"},
	{"C-RETIRE-1", "stacks/stacks.go", "if !s.frames[t.Fiber().Index()].awaits.Nullable {", "if false {"},
	{"C-TYPE-3", "types.go", "t == sent || t == NullRef && sent == Ref", "t == sent"},
	{"C-TYPE-3", "types.go", "t == NullRef && sent == Ref", "t == NullRef && sent == Ref || t == Ref && sent == " +
		"NullRef"},
	{"C-TYPE-4", "stacks/stacks.go", "if !s.frames[t.Fiber().Index()].awaits.Values.Takes(sent) {", "if false {"},
	{"C-TYPE-4 C-SWITCH-4", "stacks/stacks.go", "\t\treturn polyfill.WrongPayload // C-TYPE-4",
		"\t\ts.Machine.Redeem(t)\n\t\treturn polyfill.WrongPayload"},
	{"C-NEW-1 C-NEWREF-1", "stacks/stacks.go", "return s.Machine.Mint(f)",
		"first, trap := s.Machine.Mint(f)\n\ts.Machine.Enter(f)\n\treturn first, trap"},
	{"C-NEW-3 C-RET-1", "stacks/stacks.go", "return polyfill.FunctionReturned", "return s.Plan.Returned(&s.Machine, " +
		"0)"},
	{"C-EXC-1", "stacks/stacks.go", "s.last = opThrow\n\treturn polyfill.FunctionThrew", "s.last = opThrow\n\treturn " +
		"s.Plan.Threw(&s.Machine)"},
	{"C-THROW-2", "stacks/stacks.go", "if !started {", "if !started && false {"},
	{"C-REF-1 C-ROOT-1 C-SWITCH-2 C-SWITCH-3", "stacks/stacks.go", "back, _ = m.Mint(issuer)", ""},
	{"C-SWITCH-1 C-SWITCH-3 C-FIB-4", "stacks/stacks.go", "\ts.frames[issuer.Index()].awaits = awaits\n", ""},
	{"C-SWITCH-7", "stacks/stacks.go", ".host > 0", ".host > 1000"},
	{"C-RETIRE-2 C-RETIRE-4 C-REF-7", "stacks/stacks.go", "return s.Plan.End(&s.Machine, issuer)",
		"s.Plan.Token, _ = s.Machine.Mint(issuer)\n\treturn polyfill.OK"},
	{"C-RETIRE-5", "stacks/stacks.go", "if issuer == s.entry {", "if false {"},
	{"C-BIND-1", "stacks/stacks.go", "rest, ok := f.awaits.Values.After(sent)\n\tif !ok {", "rest, ok := " +
		"f.awaits.Values.After(sent)\n\tif !ok && false {"},
	{"C-BIND-1 C-BIND-4", "stacks/stacks.go", "f.awaits.Values, f.bound = rest, f.bound.Then(sent)", "_ = rest"},
	{"C-BIND-2", "stacks/stacks.go", "return s.Machine.Mint(t.Fiber())", "return t, polyfill.OK"},
	{"C-BIND-3", "stacks/stacks.go", "trap := s.Machine.Check(t); trap != polyfill.OK {\n\t\treturn Token{}, " +
		"trap", "trap := s.Machine.Check(t); trap == polyfill.NullReference {\n\t\treturn Token{}, trap"},
	{"C-BIND-4", "run/stacks.go", "c.bound = append(c.bound, values...)", "c.bound = append([]Value(nil), values...)"},
	{"C-BIND-4", "run/stacks.go", "copy(m.buffer[:], c.bound)", "copy(m.buffer[len(values):], c.bound)"},
	{"C-BIND-5", "stacks/stacks.go", "\tf := &s.frames[t.Fiber().Index()]\n",
		"\tif s.Machine.Started(t.Fiber()) {\n\t\treturn Token{}, polyfill.StaleToken\n\t}\n\tf := " +
			"&s.frames[t.Fiber().Index()]\n"},
	{"C-EXC-1", "run/world.go", "code = w.view.Threw()", "code = w.view.Returned(0)"},
	{"C-ROOT-2", "stacks/stacks.go", "\tif s.Machine.State(s.entry) == polyfill.Suspended " +
		"{\n\t\ts.Machine.Kill(s.entry)\n\t}\n", ""},
	{"C-NEWREF-1", "stacks/stacks.go", "if !function {", "if false {"},
	{"C-THROW-1", "stacks/stacks.go", "s.Machine.Check(t); trap != polyfill.OK {\n\t\treturn trap",
		"s.Machine.Check(t); trap == polyfill.NullReference {\n\t\treturn trap"},
	{"C-THROW-1 C-RSW-2", "run/stacks.go", "s.message.exception = &Exception{Tag: tag", "_ = &Exception{Tag: tag"},
	{"C-THROW-3", "run/stacks.go", "Back: s.plan.Token}", "}"},
	{"C-RSW-1", "run/stacks.go", "return then(s.to(s.system.ReturnSwitch(to, e.Payload, awaits), values))",
		"then(s.to(s.system.ReturnSwitch(to, e.Payload, awaits), values))\n\treturn nil"},
	{"C-FIB-4 C-TYPE-1 C-NEW-2 C-SWITCH-1", "run/world.go", "m.n = int32(copy(m.buffer[:], " +
		"values))", "copy(m.buffer[:], values)"},
}
