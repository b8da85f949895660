package validate

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/fiberfill/fiberfill/internal/wasm"
)

// visit writes what a consumer sees of each instruction: opcode, offset, stack with the operands that it takes in
// brackets, what it leaves, how many blocks it is in, and whether it is reached.
func visit(t *testing.T, funcType byte, locals, code string) []string {
	t.Helper()
	bin, at := world(funcType, locals, code)
	m, err := Decode(bin, nil)
	if err != nil {
		t.Fatal(err)
	}
	list := func(types []Type) string {
		names := make([]string, len(types))
		for i, v := range types {
			names[i] = string(m.appendType(nil, v))
		}
		return strings.Join(names, " ")
	}
	var b Body
	var seen []string
	for b.Start(m, 1); b.Next(); {
		line := fmt.Sprintf("%x @%d-%d", b.Op, b.At-at, b.End-at)
		below := len(b.Stack) - b.Args
		line += fmt.Sprintf(" %s[%s] -> [%s]", list(b.Stack[:below]), list(b.Stack[below:]), list(b.Pushed))
		line += fmt.Sprintf(" in %d", len(b.Controls))
		if b.Controls[len(b.Controls)-1].Unreachable {
			line += " unreachable"
		}
		seen = append(seen, line)
	}
	if b.Err() != nil {
		t.Fatal(b.Err())
	}
	return seen
}

func TestVisit(t *testing.T) {
	for _, c := range []struct {
		name         string
		funcType     byte
		locals, code string
		want         []string
	}{
		{"operands", 1, noLocals, "\x41\x00\x42\x00\xa7\x6a\x0b", []string{
			"41 @0-2 [] -> [i32] in 1", "42 @2-4 i32[] -> [i64] in 1", "a7 @4-5 i32[i64] -> [i32] in 1",
			"6a @5-6 [i32 i32] -> [i32] in 1", "b @6-7 [i32] -> [i32] in 1",
		}},
		{"blocks", 2, noLocals, "\x20\x00\x41\x01\x04\x02\x05\x1a\x41\x07\x0b\x0b", []string{
			"20 @0-2 [] -> [i32] in 1", "41 @2-4 i32[] -> [i32] in 1", "4 @4-6 [i32 i32] -> [i32] in 1",
			"5 @6-7 [i32] -> [i32] in 2", "1a @7-8 [i32] -> [] in 2", "41 @8-10 [] -> [i32] in 2",
			"b @10-11 [i32] -> [i32] in 2", "b @11-12 [i32] -> [i32] in 1",
		}},
		{"unreachable code", 1, noLocals, "\x02\x7f\x41\x01\x0c\x00\x6a\x0b\x0b", []string{
			"2 @0-2 [] -> [] in 1", "41 @2-4 [] -> [i32] in 2", "c @4-6 [i32] -> [] in 2",
			"6a @6-7 [] -> [i32] in 2 unreachable", "b @7-8 [i32] -> [i32] in 2 unreachable",
			"b @8-9 [i32] -> [i32] in 1",
		}},
		{"references", 0, noLocals, "\x02\x64\x70\xd0\x70\xd6\x00\x00\x0b\x1a\x0b", []string{
			"2 @0-3 [] -> [] in 1", "d0 @3-5 [] -> [(ref null func)] in 2", "d6 @5-7 [(ref null func)] -> [] in 2",
			"0 @7-8 [] -> [] in 2", "b @8-9 [] -> [(ref func)] in 2 unreachable", "1a @9-10 [(ref func)] -> [] in 1",
			"b @10-11 [] -> [] in 1",
		}},
		{"suspensions", 1, noLocals, "\x02\x11\x41\x00\xd2\x00\xe0\x0c\xe3\x0c\x01\x00\x02\x00\x0f\x0b\x1a\x0b",
			[]string{
				"2 @0-2 [] -> [] in 1", "41 @2-4 [] -> [i32] in 2", "d2 @4-6 i32[] -> [(ref 2)] in 2",
				"e0 @6-8 i32[(ref 2)] -> [(ref 12)] in 2", "e3 @8-14 [i32 (ref 12)] -> [i32] in 2",
				"f @14-15 [i32] -> [] in 2", "b @15-16 [] -> [i32 (ref null 12)] in 2 unreachable",
				"1a @16-17 i32[(ref null 12)] -> [] in 1", "b @17-18 [i32] -> [i32] in 1",
			}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := visit(t, c.funcType, c.locals, c.code); !slices.Equal(got, c.want) {
				t.Errorf("\n got %s\nwant %s", strings.Join(got, "\n     "), strings.Join(c.want, "\n     "))
			}
		})
	}
}

// Immediates are those of the instruction that Next has found, whatever came before.
func TestImmediates(t *testing.T) {
	bin, _ := world(0, noLocals, "\x41\x00\x0e\x02\x00\x00\x00"+
		"\x1f\x40\x02\x00\x00\x00\x02\x00\x0b"+
		"\x42\x7f\x1a\x42\x00\x28\x42\x01\x2a\x1a\xd0\x75\x1a\x0b")
	bin2, _ := world(1, noLocals, "\x02\x11\x41\x00\xd0\x0c\xe3\x0c\x02\x00\x02\x00\x01\x03\x0f\x0b\x1a\x0b")
	var got []string
	for _, bin := range [][]byte{bin, bin2} {
		m, err := Decode(bin, nil)
		if err != nil {
			t.Fatal(err)
		}
		var b Body
		for b.Start(m, 1); b.Next(); {
			switch b.Op {
			case wasm.OpBrTable:
				got = append(got, fmt.Sprint("br_table ", b.Labels, b.X))
			case wasm.OpTryTable:
				got = append(got, fmt.Sprint("try_table ", b.Catches))
			case wasm.OpI64Const:
				got = append(got, fmt.Sprint("i64.const ", int64(b.Value)))
			case wasm.OpI32Load:
				got = append(got, fmt.Sprint("i32.load ", b.X, b.Align, b.Value))
			case wasm.OpRefNull:
				got = append(got, fmt.Sprint("ref.null ", b.Type == RefNull(HeapNoCont)))
			case wasm.OpResume:
				got = append(got, fmt.Sprint("resume ", b.X, b.Handlers))
			}
		}
		if b.Err() != nil {
			t.Error(b.Err())
		}
	}
	want := []string{
		"br_table [0 0] 0",
		"try_table [{0 0 0} {2 0 0}]",
		"i64.const -1",
		"i64.const 0",
		"i32.load 1 2 42",
		"ref.null true",
		"ref.null false",
		"resume 12 [{false 2 0} {true 3 0}]",
	}
	if !slices.Equal(got, want) {
		t.Errorf("\n got %q\nwant %q", got, want)
	}
}

// Set tells of a local whether it has a value at the instruction.
func TestSet(t *testing.T) {
	bin, _ := world(4, "\x02\x01\x64\x70\x01\x7f", "\x02\x40\xd2\x00\x21\x01\x01\x0b\x01\x0b")
	m, err := Decode(bin, nil)
	if err != nil {
		t.Fatal(err)
	}
	var b Body
	var got []bool
	for b.Start(m, 1); b.Next(); {
		if b.Op == wasm.OpNop {
			got = append(got, b.Set(0), b.Set(1), b.Set(2))
		}
	}
	if want := []bool{true, true, true, true, false, true}; !slices.Equal(got, want) || b.Err() != nil {
		t.Errorf("%v (%v), want %v", got, b.Err(), want)
	}
}

// One Body serves function after function, also after one that is wrong, without allocating.
func TestReuse(t *testing.T) {
	good, _ := world(1, "\x01\x03\x64\x70", "\xd2\x00\x21\x00\x02\x7f\x41\x00\x0b\x0b")
	bad, _ := world(1, noLocals, "\x02\x40\x02\x40\x41\x00\x0b")
	m, err := Decode(good, nil)
	if err != nil {
		t.Fatal(err)
	}
	wrong, err := Decode(bad, nil)
	if err != nil {
		t.Fatal(err)
	}
	var b Body
	if err := wrong.Check(&b, 1); err == nil || err.Code != StackHeight {
		t.Errorf("Check = %v, want too many operands", err)
	}
	allocations := testing.AllocsPerRun(100, func() {
		if err := m.Check(&b, 1); err != nil {
			t.Error(err)
		}
	})
	if allocations != 0 {
		t.Errorf("%v allocations a function", allocations)
	}
}

// A message says where, which rule, and what is there instead of what; types have the names of the text format.
func TestMessages(t *testing.T) {
	for _, c := range []struct{ code, want string }{
		{"\x41\x00\x42\x00\x6a\x1a\x0b", "type mismatch: expected i32, found i64"},
		{"\xd0\x0b\x24\x01\x0b", "type mismatch: expected i32, found (ref null 11)"},
		{"\xd0\x70\xd0\x0b\xd3\x1a\x0b", "type mismatch: expected (ref null eq), found (ref null 11)"},
		{"\x6a\x0b", "type mismatch: an operand is missing: expected i32"},
		{"\x20\x07\x1a\x0b", "unknown local 7"},
		{"\x02\xe4\x00\x0b\x0b", "unknown type 100"},
		{"\xe0\x02\x1a\x0b", "a type of another form: a continuation type is expected"},
		{"\x41\x00\x0b", "type mismatch: operands are left at the end of a block: expected 0, found 1"},
		{"\x41\x00\xd0\x0e\xe5\x0e\x00\x1a\x1a\x0b",
			"an older encoding of the stack-switching instructions: switch as 0xe5, " +
				"which has become resume_throw_ref; make the module anew with a current tool"},
	} {
		bin, _ := world(0, noLocals, c.code)
		_, err := Validate(bin)
		if err == nil {
			t.Errorf("%x is valid", c.code)
			continue
		}
		if want := fmt.Sprintf("at byte %d: %s", err.At, c.want); err.Error() != want {
			t.Errorf("%q, want %q", err.Error(), want)
		}
	}
}

// Every code has a rule in words, and no two the same.
func TestRules(t *testing.T) {
	seen := map[string]Code{}
	for c := Code(1); c < 255; c++ {
		rule := c.Rule()
		if rule == "" {
			continue
		}
		if other, found := seen[rule]; found {
			t.Errorf("codes %d and %d have one rule", other, c)
		}
		seen[rule] = c
	}
	for _, c := range bodyTests {
		if c.code != 0 && c.code.Rule() == "" {
			t.Errorf("code %d has no rule", c.code)
		}
	}
}

func TestHints(t *testing.T) {
	bin, at := world(0, noLocals, "\x41\x00\x04\x40\x0b\x0b")
	for _, c := range []struct {
		name, section string
		want          []Hint
	}{
		{"one", "\x01\x01\x01\x03\x01\x01", []Hint{{1, at + 2, true}}},
		{"two", "\x01\x01\x02\x03\x01\x00\x04\x01\x01", []Hint{{1, at + 2, false}, {1, at + 3, true}}},
		{"of a function that is not there", "\x01\x07\x01\x03\x01\x01", nil},
		{"of an import", "\x01\x00\x01\x03\x01\x01", nil},
		{"of a place that is not there", "\x01\x01\x01\x20\x01\x01", nil},
		{"cut off", "\x01\x01\x02\x03\x01\x01\x04", []Hint{{1, at + 2, true}}},
		{"of another size", "\x01\x01\x01\x03\x02\x01", nil},
	} {
		hinted := append(slices.Clone(bin), "\x00"+sized("\x19metadata.code.branch_hint"+c.section)...)
		m, err := Validate(hinted)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Hints(); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
