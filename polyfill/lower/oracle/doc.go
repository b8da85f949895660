// Package oracle makes random programs over the stack-switching instructions and says what they do. It is for tests: a
// program is encoded as wasm modules, run by whatever is under test, and what that reports has to be what [Run]
// reports.
//
// A [Program] is made of statements and expressions with types, as a compiler has them before it writes code: so it is
// valid by construction, and [Run], which walks the tree, is slow and plain. Run knows nothing of frames, prompts or
// lowering. Every continuation is a goroutine that waits for what it is resumed with; a suspension travels from each
// computation to the one that has resumed it until one has a handler, as the proposal's explainer puts it.
//
// What can be seen of a program: the numbers that it logs, in order; what each call from outside returned, or that it
// trapped, or that an exception left it, with its values. Programs end: functions call only later ones, loops count,
// and fuel, which every function and every turn of a loop uses, ends what would take too long by a trap.
//
// Covered: several modules that share functions, tags, globals and types; i32, i64, f64, anyref and continuations as
// locals, payloads, results and operands below a suspending instruction; cont.new, cont.bind of the fresh and of the
// half-run, suspend, resume with several handlers, resume_throw, resume_throw_ref, switch; exceptions into and out of
// continuations, caught by tag, by catch_all and by reference, and thrown on; continuations that are kept in globals
// between calls, dropped, null, or consumed twice; tail calls.
package oracle
