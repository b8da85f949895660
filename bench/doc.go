// Package bench compares fiberfill, in real engines, with everything that a user could use instead.
//
// # Contestants
//
// All contestants do the same work, and all that run wasm run the same guest, js/guest.wat. A yield costs each of them
// at least one trip through its mechanism of suspending.
//
//	fiberfill   the script as it is built for a page. A yield is the guest's import fiberfill.yield: through the Go
//	            scheduler, with a check of the shadow stack's guard, in turns of 8 ms between which the page has
//	            control. A call is queued and starts in a microtask, on a kept stack, with a shadow stack of its own.
//	unwound     the same on stacks of fiberfill's own: the guest is rewritten so that its functions can be left.
//	plain       the same in plain calls of the instance's exports; only for the costs.
//	raw         JSPI by hand and nothing else: no scheduler, no bound, one shadow stack for all. A yield is a resume
//	            round trip: the import makes a Promise and resolves it, and the stack suspends on it. Each call has a
//	            fresh stack.
//	ring        raw JSPI and the least that makes a scheduler: a circular ready queue of fixed size. A fiber that
//	            yields goes to its end and wakes the first one.
//	asyncify    the guest rewritten by Binaryen's Asyncify (-O3). A switch returns through all frames of the guest
//	            and calls them again; here that is one frame, the cheapest case. A plain loop runs the fibers in
//	            turn.
//	await       async functions in JavaScript, without a guest. A yield is an await of undefined.
//	channels    goroutines in Go's own js/wasm. A yield hands a token to the next goroutine in a ring; a call waits
//	            on a channel of its own. JavaScript sees only the whole workload.
//	lowered     the stack-switching instructions, rewritten by fiberfill; also where the engine has them.
//	wasmfx      the same by the engine, which needs a flag for it.
//	asyncified  the same by Asyncify (-O2) in a module that works it itself: nothing crosses to JavaScript.
//	untouched   three programs from npm as they are, Lua, QuickJS and SQLite; only for the costs.
//	rewritten   the same, rewritten by fiberfill so that one import may wait.
//	asyncifiable the same, rewritten by Asyncify (-O2).
//	go          fiberfill's fibers for Go functions (package polyfill/run), natively and in Go's own js/wasm; only
//	            for the costs.
//	wazero      fiberfill's runner of guests on a server (package guest); only for the costs.
//
// # Workloads
//
//	switch      1, 10 or 100 fibers yield in turn: ns a yield.
//	start       1 to 10,000 calls at once; each waits once, on a Promise of its own, and returns: ns a call. The
//	            Promises are pending when the calls wait. They are resolved together once all calls wait (or, at
//	            10,000, as many as the contestant starts), in an order unrelated to that of the calls. Cold is the
//	            first wave of a fresh process; warm are the waves after thousands of calls.
//	alive       calls that wait, until the tab dies or the limit is reached; then all must end with the right
//	            answers.
//	calls       waves of 1,000 calls that all end, until the tab dies or the limit is reached.
//	fetch       1,000 and 10,000 fetches from a server on the same machine, one a call, at most 1,000 calls in
//	            progress: ms for all. fiberfill keeps that bound itself; 1,000 loops in JavaScript call the others.
//	compute     one call that takes 10 ms without an import: ms.
//	costs       one operation of a proposal (include/fiberfill.h) after another, in one call: ns an operation. There
//	            is a C guest for each system (js/costs), which runs on JSPI and in wazero, and the same in Go
//	            (package costs). Each operation carries an i32 one way, as does a step of iter.Pull, which is
//	            measured for comparison.
//	            One operation of the stack-switching instructions after another, likewise (js/continuations.wat), in
//	            Node with the flag for them.
//	            A script of each of the three programs likewise (js/interpreters.js), while nothing waits; and what
//	            the programs weigh.
//	first       ms from nothing to the first call's result, with guest and library loaded from the same machine; and
//	            the bytes that must be loaded for it, in brotli.
//
// # How the figures are kept honest
//
// Each contestant has a process of its own for each workload: a tab in a fresh profile, a Firefox, or a Node. Engines
// do not give back everything that a stack has used, and one contestant's warm code or garbage must not affect the
// next. Only compute and fetch have all contestants alternate in one tab, because they look for a difference of a
// hundredth, and for one of a tenth in the noise of a network.
//
// Except for cold samples, the code has run long enough to be optimised before anything is timed. Contestants take
// turns in rounds, every other round backwards. A contestant's figure is the median of its rounds, and a round's figure
// is the median of its samples. A ratio is the median of the ratios within rounds, so a slow minute of the machine
// slows both sides.
//
// A shared machine may also be slower by half for tenths of a second. So in Chromium, where the ratios are taken, the
// contestants of a switch run at the same time, on one processor, and take turns sample by sample; a waiting contestant
// does nothing. (One of two virtual processors may share its core with another machine.) Their ratio is the median of
// the ratios of neighbouring samples; the same holds for contestants that alternate in one tab. The contestants of a
// start do not take turns: a wave takes milliseconds, and would begin with caches full of another contestant's stacks.
//
// Nothing begins before the browser has finished the work that a new tab causes: in the first second all code is slower
// by half or more. Pages are cross-origin isolated, because the clock is 20 times coarser elsewhere; a sample takes
// hundreds of times the clock's resolution. No contestant starts with the garbage of another, and each collects its own
// while the clock runs. (Forcing a collection between samples, where an engine allows it, would also make it forget
// optimised code.) The sums of all answers are checked.
package bench
