// Package stacks is coroutines that are named by single-use stack references.
//
// # Model
//
// A coroutine is suspended, active or moribund, and exactly one is active. There are no parents, no tags and no
// handlers: a switch names its target and nothing else (C-STATE-2). It names not the coroutine but one suspension of
// the coroutine, by a [polyfill.Token], which the switch consumes (C-REF-1, C-REF-2). The active coroutine has no valid
// reference to itself. The coroutine that it switches to receives a fresh one together with the values sent, and that
// is the only way back (C-SWITCH-2). A program that needs an identity keeps the reference in a structure and replaces
// it at every switch.
//
// A suspension awaits values of certain types, and a reference to the sender that is null if the sender has retired.
// Whether it may be null is part of what is awaited (C-TYPE-1, C-TYPE-2): [Awaits].
//
// The entry from the embedder is a coroutine, too (C-ROOT-1). To the machine it is a fiber below the root, and the root
// never runs while an entry is open. A switch is [polyfill.Machine.Replace]: the target takes over the one parent that
// there is.
//
// # Transitions
//
// I is the issuer, T the coroutine that the reference denotes.
//
//	operation       wants                       leaves                       runs next
//	New             -                           a suspended coroutine        I
//	Switch T        reference is good           I suspended, T active        T, with a fresh reference to I
//	SwitchThrow T   reference is good           I suspended, T active        T, exception raised there
//	SwitchRetire T  reference is good,          I moribund, T active         T, with null
//	                T awaits null, too,
//	                I is not the entry
//	Bind T          reference is good           T suspended, other reference I
//	Return          the entry is active         it is moribund               the embedder
//
// A coroutine function that returns or lets out an exception traps (C-RET-1, C-EXC-1): no other coroutine waits for it.
//
// # Costs and failures
//
// Every operation takes constant time; 28 bytes a coroutine. A refused operation consumes no reference (C-SWITCH-4) and
// has changed nothing. There is no way to end another coroutine: cancellation is a message (C-REF-7).
package stacks
