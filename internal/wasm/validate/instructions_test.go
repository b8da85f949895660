package validate

import (
	"strings"
	"testing"

	"github.com/fiberfill/fiberfill/internal/wasm"
)

// Every instruction on numbers, vectors and memories has the signature, the alignments and the lanes that it has in V8;
// and what is no instruction here is none there. Each is tried with operands of all types.
func TestEveryInstruction(t *testing.T) {
	var modules [][]byte
	instructions := 0
	try := func(op string, immediates ...string) {
		for _, i := range immediates {
			operands, results, ok := signatureOf(op + i)
			if !ok {
				modules = append(modules, operation("", "", "\x00"+op+i+"\x00"))
				continue
			}
			instructions++
			modules = append(modules, operation(operands, results, op+i))
			for k := range operands {
				for _, other := range valueTypes {
					modules = append(modules, operation(operands[:k]+string(other)+operands[k+1:], results, op+i))
				}
			}
			for _, other := range valueTypes {
				modules = append(modules, operation(operands, string(other), op+i))
			}
		}
	}
	accesses := []string{"\x00\x00", "\x01\x00", "\x02\x00", "\x03\x00", "\x04\x00", "\x05\x00"}
	lanes := []string{"\x00", "\x01", "\x02", "\x03", "\x04", "\x07", "\x08", "\x0f", "\x10", "\x1f", "\x20"}
	for op := byte(0x28); op <= 0xcf; op++ {
		switch {
		case op <= 0x3e:
			try(string([]byte{op}), accesses...)
		case op >= firstNumeric:
			try(string([]byte{op}), "")
		}
	}
	for op := byte(0); op < 8; op++ {
		try("\xfc"+string(op), "")
	}
	for op := uint32(0); op < 0x120; op++ {
		w := wasm.Writer{B: []byte{wasm.PrefixVector}}
		w.U32(op)
		prefixed := string(w.B)
		switch {
		case op <= 11 || op == 0x5c || op == 0x5d:
			try(prefixed, accesses...)
		case op == 12:
			try(prefixed, strings.Repeat("x", 16))
		case op == 13:
			for _, l := range lanes {
				try(prefixed, strings.Repeat(l, 16))
			}
		case op >= 0x15 && op <= 0x22:
			try(prefixed, lanes...)
		case op >= 0x54 && op <= 0x5b:
			for _, l := range lanes {
				try(prefixed, accesses[0]+l, accesses[3]+l, accesses[4]+l)
			}
		default:
			try(prefixed, "")
		}
	}
	for op := byte(0); op < 0x50; op++ {
		if op == 3 {
			try("\xfe\x03", "\x00", "\x01")
			continue
		}
		try("\xfe"+string(op), accesses...)
	}
	if instructions < 600 {
		t.Errorf("%d instructions with their immediates", instructions)
	}
	v := judge(t, modules)
	for i, bin := range modules {
		v.agree(t, i, bin)
	}
}

const valueTypes = "\x7f\x7e\x7d\x7c\x7b"

// operation returns a module of a function with these parameters and results that applies code to all its parameters.
func operation(params, results, operation string) []byte {
	body := noLocals
	for i := range len(params) {
		body += "\x20" + string(rune(i))
	}
	return module(
		types("\x60"+sized(params)+sized(results)),
		funcs("\x00"),
		memories("\x00\x01"),
		code(body+operation+"\x0b"),
	)
}

// signatureOf returns the operands that an instruction takes, and what it leaves, if there are such operands.
func signatureOf(instruction string) (operands, results string, ok bool) {
	lists := []string{""}
	for len(lists) > 0 {
		operands, lists = lists[0], lists[1:]
		bin := operation(operands, "", instruction+"\x00")
		m, err := Decode(bin, nil)
		if err != nil {
			return "", "", false
		}
		var b Body
		for b.Start(m, 0); b.Next(); {
			if b.Op == wasm.OpUnreachable {
				return operands, results, true
			}
			results = ""
			for _, t := range b.Pushed {
				results += string([]byte{byte(t)})
			}
		}
		if code := b.Err().Code; code != TypeMismatch && code != StackUnderflow {
			return "", "", false
		}
		if len(operands) < 3 {
			for _, v := range []byte(valueTypes) {
				lists = append(lists, operands+string([]byte{v}))
			}
		}
	}
	return "", "", false
}
