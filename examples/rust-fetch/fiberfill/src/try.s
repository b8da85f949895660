# fiberfill_try(call, env): calls call(env). Returns 0, or 1 if it threw. Rust cannot catch what an import throws, and
# in WebAssembly its own panics do not unwind. The frames between here and the import are gone then, so the stack in
# memory is put back to where it was.

	.globaltype	__stack_pointer, i32
	.section	.text.fiberfill_try,"",@
	.hidden	fiberfill_try
	.globl	fiberfill_try
	.type	fiberfill_try,@function
fiberfill_try:
	.functype	fiberfill_try (i32, i32) -> (i32)
	.local	i32
	global.get	__stack_pointer
	local.set	2
	try
	local.get	1
	local.get	0
	call_indirect	(i32) -> ()
	i32.const	0
	return
	catch_all
	local.get	2
	global.set	__stack_pointer
	end_try
	i32.const	1
	end_function
