package bench

// flagged is the host of the stack-switching instructions: Node with the flag by which it has them, too.
const flagged = "flagged"

// instructions are operations of js/continuations.wat, and their headings in the table. What Asyncify has to do for the
// first three is in js/asyncified.wat.
var instructions = []struct{ name, title string }{
	{"cont-0", "generator"},
	{"cont-10", "10 frames in"},
	{"cont-50", "50 frames in"},
	{"ring-1000", "1,000 in turn"},
	{"handlers-10", "10 handlers in"},
	{"switch", "switch"},
	{"create", "create"},
	{"tree-16", "tree of 65,536"},
	{"throw-10", "exception, 10 frames"},
}

const byDepth = 3 // the first of them

var stackSwitchers = []string{"lowered", "wasmfx", "asyncified"}

var continuations = table{
	title: "Stack-switching instructions",
	about: "ns an operation, in Node. A generator suspends and is resumed; created continuations return at once, and " +
		"an exception is thrown into a continuation and leaves it. Node's own instructions need a flag; with it, " +
		"`switch` crashes.",
	names: instructionNames(len(instructions)), rows: stackSwitchers, per: 1, hosts: []string{flagged},
	ours: "lowered", heads: instructionTitles(),
}

func instructionNames(n int) (names []string) {
	for _, i := range instructions[:n] {
		names = append(names, i.name)
	}
	return names
}

func instructionTitles() map[string]string {
	titles := map[string]string{}
	for _, i := range instructions {
		titles[i.name] = i.title
	}
	return titles
}

// continuing has a process for each contestant, or for each operation of it.
func continuing(quick bool) (jobs []Job) {
	job := func(contestant string, operations ...string) {
		jobs = append(jobs, Job{Workload: "costs", Contestants: []string{contestant}, Operations: operations,
			Samples: 9, Warmup: 3, Millis: 20})
	}
	if quick {
		for _, c := range stackSwitchers {
			job(c, instructionNames(byDepth)...)
		}
		return jobs
	}
	for i, o := range instructions {
		job("lowered", o.name)
		if o.name != "switch" {
			job("wasmfx", o.name)
		}
		if i < byDepth {
			job("asyncified", o.name)
		}
	}
	return jobs
}
