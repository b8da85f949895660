// Package bench measures fiberfill beside everything that somebody could use instead, in real engines.
//
// # Contestants
//
// All of them do the same work; those that run wasm run the same guest, js/guest.wat. A yield costs each of them at
// least one trip through whatever it suspends with.
//
//	fiberfill   the script as it is built for a page. A yield is the guest's import fiberfill.yield: through the Go
//	            scheduler, with the shadow stack's guard checked, in turns of 8 ms between which the page has control.
//	            A call is queued and starts in a microtask, on a kept stack, with a shadow stack of its own.
//	raw         JSPI by hand and nothing else: no scheduler, no bound, one shadow stack for all. A yield is a resume
//	            round trip: a Promise is made, resolved by the one who waits for it, and suspended on. Each call has a
//	            fresh stack.
//	ring        raw JSPI and the least that makes a scheduler: a circular ready queue of fixed size. Whoever yields goes
//	            to its end, and the first of it is woken.
//	asyncify    the guest rewritten by Binaryen's Asyncify (-O3). A switch returns through all frames of the guest and
//	            calls them again; here that is one frame, the cheapest case. A plain loop goes round the fibers.
//	await       async functions in JavaScript; there is no guest. A yield is an await of undefined.
//	channels    goroutines in Go's own js/wasm. A yield hands a token to the next goroutine in a ring; a call waits on a
//	            channel of its own. JavaScript sees only the whole.
//	go          this project's fibers for Go functions (package polyfill/run), natively and in Go's own js/wasm. Only for
//	            the costs; so is the next.
//	wazero      this project's runner of guests on a server (package internal/guest).
//
// # Workloads
//
//	switch      1, 10 or 100 fibers yield in turn: ns a yield.
//	start       1 to 10,000 calls at once; each waits once, on a Promise of its own, and returns: ns a call. The Promises
//	            are pending when they are waited on and are resolved together, once all calls wait (or, at 10,000, all
//	            that the contestant lets start), in an order that is not that of the calls. Cold is the first wave of a
//	            fresh process, warm are those after thousands of calls.
//	alive       calls that wait, until the tab dies or there are enough; then all must end with the right answers.
//	calls       waves of 1,000 calls that all end, until the tab dies or there were enough.
//	fetch       1,000 and 10,000 fetches from a server on the same machine, one a call, at most 1,000 calls in progress:
//	            ms for all. fiberfill keeps that bound itself, the others are called by 1,000 loops in JavaScript.
//	compute     one call that takes 10 ms without an import: ms.
//	costs       one operation of a proposal (include/fiberfill.h) after the other, in one call: ns an operation. A C guest
//	            for each system (js/costs) on JSPI and in wazero, the same in Go (package costs). Each carries an i32 one
//	            way, as a step of iter.Pull does, which is there to compare with.
//	first       ms from nothing, the guest and the library still to be loaded from the same machine, to the first
//	            call's result; and the bytes that have to be loaded for it, in brotli.
//
// # What is done for the figures to be true
//
// A contestant has a process of its own for each workload, a tab in a fresh profile, a Firefox or a Node, because
// engines do not give back all that a stack has used, and because what one contestant has warmed up or thrown away must
// not be the next one's. Only compute and fetch have all contestants in one tab, where they alternate: they look for a
// hundredth, and for a tenth of what a network's mood makes. Before anything is timed the same code has run long enough
// to be optimised; not before a cold sample. Contestants take turns in rounds, every other round backwards. A
// contestant's figure is the median of its rounds, a round's the median of its samples; a ratio is the median of the
// ratios within rounds, so that a slow minute of the machine slows both sides of it. A machine that is shared is slower
// by half for tenths of a second, too: in Chromium, where the ratios are taken, the contestants of a switch are there
// at the same time, on one processor (of two virtual ones one may share its core with a stranger's), and take turns
// sample by sample; who waits does nothing. Their ratio, and that of those who alternate in one tab, is the median of
// the ratios of samples beside each other. Not those of a start take turns: a wave takes milliseconds, and would begin
// with caches full of another's stacks. Nothing begins before the browser has done with what a new tab makes it do: its
// first second is slower by half or more, for everybody. Pages are cross-origin isolated, since the clock is 20 times
// coarser elsewhere, and a sample takes hundreds of times what the clock can tell apart. Nobody begins with the garbage
// of others, and everybody collects their own while the clock runs. (To force a collection between samples, where an
// engine allows it, would also make it forget optimised code, and measure that.) Every answer is checked, in sums.
package bench
