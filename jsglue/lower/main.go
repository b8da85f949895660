// Command lower is package polyfill/lower as a WebAssembly module, loaded by a page when it meets a module that needs
// it. It imports nothing. An instance lowers one module and is thrown away: nothing in it is ever freed.
//
// # The wire contract
//
// The other side is jsglue/src/lower/rewriter.ts. input makes room for the module's bytes, marks for a byte for each
// function that it imports, if it is known which may be left; lower returns one of the outcomes below; output and
// output_len say where the new module lies, or a sentence that says what is wrong.
package main

import (
	"unsafe"

	"github.com/fiberfill/fiberfill/internal/wasm"
	"github.com/fiberfill/fiberfill/internal/wasm/validate"
	"github.com/fiberfill/fiberfill/jsglue/stubs"
	"github.com/fiberfill/fiberfill/polyfill/lower"
)

const (
	unchanged = 0 // nothing in it has to be lowered
	lowered   = 1
	invalid   = 2 // the output says why
	refused   = 3 // likewise
)

var source, imports, result []byte

//go:wasmexport input
func input(n int32) uint32 {
	source = make([]byte, n, n+1) // one more, so that there is an address
	return address(source)
}

//go:wasmexport marks
func marks(n int32) uint32 {
	imports = make([]byte, n, n+1)
	return address(imports)
}

// run lowers the input; with all it changes functions that use none of the instructions, too. With own it is a module
// of fiberfill's: its imports from "wait" wait, and it keeps one reference to each continuation.
//
//go:wasmexport lower
func run(all, own bool) int32 {
	opt := lower.Options{All: all, Imports: imports, Revive: own}
	if own {
		opt.Wait = "wait"
	}
	return outcome(lower.Module(source, opt))
}

// waits lowers the module of package jsglue/stubs in which the marked imports of a guest wait. The input is the guest's
// header. If the header cannot be read it is invalid.
//
//go:wasmexport waits
func waits() int32 {
	var guest wasm.Module
	if wasm.Parse(source, &guest) != wasm.OK {
		return invalid
	}
	return outcome(lower.Module(stubs.AppendWaits(nil, &guest, imports), lower.Options{All: true, Wait: "wait"}))
}

func outcome(r lower.Result, err *validate.Error) int32 {
	switch {
	case err != nil:
		result = []byte(err.Error())
		return invalid
	case r.Refusal.Code != lower.OK:
		result = say(r.Refusal.Code.Text(), r.Refusal.At)
		return refused
	case !r.Changed:
		return unchanged
	}
	result = r.Bytes
	return lowered
}

func say(what string, at int) []byte {
	var w wasm.Writer
	w.Raw("at byte ")
	lower.Decimal(&w, uint32(at))
	w.Raw(": ")
	w.Raw(what)
	return w.B
}

//go:wasmexport output
func output() uint32 { return address(result) }

//go:wasmexport output_len
func outputLen() int32 { return int32(len(result)) }

func address(b []byte) uint32 { return uint32(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) }

func main() {}
