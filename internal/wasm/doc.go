// Package wasm is the only place that knows the binary format of WebAssembly: what sections, types and instructions
// look like, how numbers are written. It has a [Reader] and a [Writer], and it reads what the border needs to know from
// a guest's bytes. TinyGo compiles it into the core, and every page loads every byte of that. So this package has codes
// instead of errors, keeps no names except those that it compares, and copies types instead of modelling them. Its
// small functions are marked noinline, because TinyGo's -opt=2 would copy them to every call and more than double the
// package (15.7 KB in brotli, 6.2 with the marks).
//
// # What is read
//
// An engine does not tell the signature of a function, and a wait needs generated wasm of the import's own type
// (package jsglue/stubs). So [Parse] reads the sections before the code: types, imports, functions, memory, globals,
// exports. Beyond that it finds the global that holds the shadow-stack pointer ([Module.StackPointer]), and what the
// code does about the size of its memory ([Module.Growth]). [Module.AppendExport] exports what the guest keeps to
// itself; [Module.Header] is the part of the bytes that has to be kept.
//
// # What fails, and how
//
// A malformed binary gives a [Code] and an offset. Parse does not validate: it accepts some binaries that an engine
// refuses.
package wasm
