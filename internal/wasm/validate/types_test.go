package validate

import (
	"bytes"
	"testing"

	"github.com/fiberfill/fiberfill/internal/wasm"
)

// decodeTypes decodes a module of these types.
func decodeTypes(t *testing.T, into *Types, entries ...string) *Module {
	t.Helper()
	m, err := Decode(module(types(entries...)), into)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Two types are one if their groups have the same structure and they are at the same place of them.
func TestEqualTypes(t *testing.T) {
	for _, c := range []struct {
		name    string
		entries []string
		a, b    int
		equal   bool
	}{
		{"repeated", []string{empty, empty}, 0, 1, true},
		{"a group of one", []string{empty, "\x4e\x01" + empty}, 0, 1, true},
		{"other parameters", []string{empty, "\x60\x01\x7f\x00"}, 0, 1, false},
		{"a result for a parameter", []string{"\x60\x00\x01\x7f", "\x60\x01\x7f\x00"}, 0, 1, false},
		{"final and not", []string{empty, "\x50\x00" + empty}, 0, 1, false},
		{"final, said and not", []string{empty, "\x4f\x00" + empty}, 0, 1, true},
		{"places of a group", []string{"\x4e\x02" + empty + empty}, 0, 1, false},
		{"a group of more", []string{empty, "\x4e\x02" + empty + empty}, 0, 1, false},
		{"recursion", []string{"\x5f\x01\x63\x00\x00", "\x5f\x01\x63\x01\x00"}, 0, 1, true},
		{"recursion, and what has it unrolled", []string{"\x5f\x01\x63\x00\x00", "\x5f\x01\x63\x00\x00"}, 0, 1, false},
		{"two groups", []string{"\x4e\x02\x5f\x01\x63\x01\x00\x5f\x01\x63\x00\x00",
			"\x4e\x02\x5f\x01\x63\x03\x00\x5f\x01\x63\x02\x00"}, 1, 3, true},
		{"two groups that cross", []string{"\x4e\x02\x5f\x01\x63\x01\x00\x5f\x01\x63\x00\x00",
			"\x4e\x02\x5f\x01\x63\x02\x00\x5f\x01\x63\x03\x00"}, 1, 3, false},
		{"null and not", []string{"\x5f\x01\x63\x6e\x00", "\x5f\x01\x64\x6e\x00"}, 0, 1, false},
		{"mutable and not", []string{"\x5f\x01\x7f\x00", "\x5f\x01\x7f\x01"}, 0, 1, false},
		{"a structure and an array", []string{"\x5f\x01\x7f\x00", "\x5e\x7f\x00"}, 0, 1, false},
		{"types of equal types", []string{empty, empty, "\x5d\x00", "\x5d\x01"}, 2, 3, true},
		{"continuations of different types", []string{empty, "\x60\x01\x7f\x00", "\x5d\x00", "\x5d\x01"}, 2, 3, false},
		{"another supertype", []string{"\x50\x00\x5f\x00", "\x50\x01\x00\x5f\x00", "\x50\x01\x01\x5f\x00"}, 1, 2,
			false},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := decodeTypes(t, nil, c.entries...)
			a, b := m.TypeIDs[c.a], m.TypeIDs[c.b]
			if (a == b) != c.equal {
				t.Errorf("ids %d and %d, want equal: %t", a, b, c.equal)
			}
			if keys := bytes.Equal(m.Types.AppendKey(nil, a), m.Types.AppendKey(nil, b)); keys != c.equal {
				t.Errorf("keys are equal: %t, want %t", keys, c.equal)
			}
		})
	}
}

// A type that two modules have in common has one id if they share Types, and one key if they do not, whatever else they
// define and in which order.
func TestTypesOfTwoModules(t *testing.T) {
	here := []string{"\x5e\x7f\x00", empty, "\x5d\x01", "\x4e\x02\x60\x02\x63\x00\x63\x04\x00\x5d\x03"}
	there := []string{
		empty,
		empty,
		"\x5d\x00",
		"\x60\x01\x7c\x00",
		"\x5e\x7f\x00",
		"\x4e\x02\x60\x02\x63\x04\x63\x06\x00\x5d\x05",
	}
	pairs := [][2]int{{0, 4}, {1, 0}, {2, 2}, {3, 5}, {4, 6}}
	shared := new(Types)
	a, b := decodeTypes(t, shared, here...), decodeTypes(t, shared, there...)
	alone := decodeTypes(t, nil, there...)
	for _, p := range pairs {
		if x, y := a.TypeIDs[p[0]], b.TypeIDs[p[1]]; x != y {
			t.Errorf("type %d has id %d here, %d as type %d there", p[0], x, y, p[1])
		}
		x, y := a.Types.AppendKey(nil, a.TypeIDs[p[0]]), alone.Types.AppendKey(nil, alone.TypeIDs[p[1]])
		if !bytes.Equal(x, y) {
			t.Errorf("type %d has key %x here, %x as type %d there", p[0], x, y, p[1])
		}
	}
	keys := map[string]int{}
	for i, id := range alone.TypeIDs {
		k := string(alone.Types.AppendKey(nil, id))
		if other, found := keys[k]; found && alone.TypeIDs[other] != id {
			t.Errorf("types %d and %d have one key", other, i)
		}
		keys[k] = i
	}
}

// A module that is refused leaves nothing wrong behind in the Types that others use.
func TestRefusedTypes(t *testing.T) {
	shared := new(Types)
	bad := module(types(empty, "\x4e\x02\x50\x00\x5f\x00\x50\x01\x01\x5d\x00"))
	for range 2 {
		if _, err := Decode(bad, shared); err == nil || err.Code != BadSupertype {
			t.Fatalf("Decode = %v, want a bad supertype", err)
		}
	}
	if shared.Len() != 1 {
		t.Errorf("%d types are left, want the one that is valid", shared.Len())
	}
	if m := decodeTypes(t, shared, "\x60\x01\x7f\x00", empty); m.TypeIDs[1] != 0 {
		t.Errorf("the valid type has another id: %d", m.TypeIDs[1])
	}
}

// All abstract types, from the top down, and a type of each form.
func TestMatch(t *testing.T) {
	m := decodeTypes(t, nil, "\x50\x00\x5f\x00", "\x50\x01\x00\x5f\x01\x7f\x00", "\x5e\x7f\x00", empty, "\x5d\x03")
	id := func(i int) Heap { return m.TypeIDs[i] }
	// Each line is a type and those right above it.
	above := map[Heap][]Heap{
		HeapEq: {
			HeapAny,
		}, HeapI31: {HeapEq}, HeapStruct: {HeapEq}, HeapArray: {HeapEq}, HeapNone: {HeapI31, id(1), id(2)},
		id(0): {HeapStruct}, id(1): {id(0)}, id(2): {HeapArray},
		id(3): {HeapFunc}, HeapNoFunc: {id(3)}, id(4): {HeapCont}, HeapNoCont: {id(4)},
		HeapNoExn: {HeapExn}, HeapNoExtern: {HeapExtern},
	}
	all := []Heap{HeapAny, HeapFunc, HeapCont, HeapExn, HeapExtern}
	for h := range above {
		all = append(all, h)
	}
	var below func(a, b Heap) bool
	below = func(a, b Heap) bool {
		if a == b {
			return true
		}
		for _, h := range above[a] {
			if below(h, b) {
				return true
			}
		}
		return false
	}
	for _, a := range all {
		for _, b := range all {
			if got := m.Types.MatchHeap(a, b); got != below(a, b) {
				t.Errorf("MatchHeap(%x, %x) = %t", a, b, got)
			}
			if got := m.Types.Match(RefNull(a), Ref(b)); got {
				t.Errorf("(ref null %x) matches (ref %x)", a, b)
			}
			if got := m.Types.Match(Ref(a), RefNull(b)); got != below(a, b) {
				t.Errorf("(ref %x) matches (ref null %x): %t", a, b, got)
			}
		}
		if !m.Types.Match(Bottom, Ref(a)) || !m.Types.Match(Unknown, Ref(a)) || m.Types.Match(Ref(a), I32) ||
			m.Types.Match(I32, Ref(a)) {
			t.Errorf("what matches, or is matched by, everything or no reference: wrong for %x", a)
		}
	}
}

// A key has each group once, even if many ways lead to it, and its computation does not depend on how long a chain of
// types is.
func TestKeysOfManyTypes(t *testing.T) {
	const count = 20_000
	// Each structure but the first refers twice to the one before it.
	chain := func(extra ...string) (*Module, Heap) {
		entries := append(extra, "\x5f\x00")
		for i := range count {
			w := wasm.Writer{}
			w.Raw("\x5f\x02\x63")
			w.S32(uint32(len(extra) + i))
			w.Raw("\x00\x63")
			w.S32(uint32(len(extra) + i))
			w.Raw("\x00")
			entries = append(entries, string(w.B))
		}
		m := decodeTypes(t, nil, entries...)
		return m, m.TypeIDs[len(extra)+count]
	}
	a, last := chain()
	b, same := chain(empty, "\x5f\x01\x7f\x00")
	key := a.Types.AppendKey(nil, last)
	if len(key) > 20*count {
		t.Errorf("the key of %d types has %d bytes", count, len(key))
	}
	if !bytes.Equal(key, b.Types.AppendKey(nil, same)) {
		t.Error("the keys of one type in two modules differ")
	}
	if bytes.Equal(key, a.Types.AppendKey(nil, last-1)) {
		t.Error("the keys of two types are the same")
	}
}
