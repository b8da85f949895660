package main

// equivalent are the mutants that no test can tell from the code, with the reason.
var equivalent = []struct{ path, name, why string }{
	{"asyncio/scheduler.go", "suspend: len(s.timers.heap) > 0 -> len(s.timers.heap) >= 0",
		"Removing a timer that is not there does nothing: the condition only spares the call."},
	{"asyncio/scheduler.go", "Deadline: stall < at -> stall <= at", "If they are equal it makes no difference which " +
		"is told."},
	{"asyncio/timers.go", "before: a.deadline < b.deadline -> a.deadline <= b.deadline",
		"They are not equal here."},
	{"asyncio/timers.go", "before: int32(a.order-b.order) < 0 -> int32(a.order-b.order) <= 0",
		"No two timers have the same order."},
	{"asyncio/timers.go", "up: i > 0 -> i >= 0", "Above 0 is 0, which is not before itself."},
	{"asyncio/arena.go", "Arena: a.reported = true -> nothing",
		"The waiter that a wakes has noted it; a is over without one only if there are 4 million fibers already."},
	{"asyncio/scope.go", "remove: f.prev, f.succ = nil, nil -> nothing",
		"A fiber that is over is in no list; it only must not keep others from being collected."},
	{"jsglue/stubs/code.go", "writeThunk: b.Byte(wasm.OpDrop) -> nothing",
		"What is not dropped lies below all that follows, and the return discards it."},
	{"jsglue/stubs/stubs.go", "writeImports: b.types + typeTell -> b.types - typeTell", "typeTell is 0."},
	{"jsglue/stubs/stubs.go", "writeImports: b.types + typeTell -> b.types - typeTell (2)", "typeTell is 0."},
	{"jsglue/stubs/stubs.go", "writeDeclarations: b.types + typeTell -> b.types - typeTell", "typeTell is 0."},
	{"jsglue/stubs/stubs.go", "next: uint32(len(*l)) - 1 -> uint32(len(*l)) + 1",
		"All types are listed before the code asks for the place of one: that of a new one is used by nobody."},
}

// equivalentIn returns the reasons for one file, by the names of the mutants.
func equivalentIn(path string) map[string]string {
	list := map[string]string{}
	for _, e := range equivalent {
		if e.path == path {
			list[e.name] = e.why
		}
	}
	return list
}
