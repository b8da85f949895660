package validate

// Types holds defined types, each once: types that are equal, be it in one module or in several that are decoded into
// the same Types, have the same id. Equality is that of the specification: groups of types are the same if they have
// the same structure, where references inside a group count by position, and types are the same if they are at the same
// place of the same group. The zero value is empty and ready.
// Several goroutines may read it as long as none decodes a module into it.
type Types struct {
	defs   []Def
	values []Type
	fields []Field
	groups []group
	hashes []uint32 // of groups: a table with open addressing, of group number + 1
}

// A Def is one defined type.
type Def struct {
	Form  Form
	Final bool  // nothing may be declared its subtype
	Super int32 // id of the declared supertype, or -1
	Depth int32 // how many supertypes there are above it
	Group int32 // number of its group
	Func  int32 // of a continuation: id of its function type

	from, middle, to int32 // of values: parameters, results; or of fields
}

// A Form is what kind of type is defined. The values are those of the binary format.
type Form byte

const (
	FormCont   Form = 0x5d
	FormArray  Form = 0x5e
	FormStruct Form = 0x5f
	FormFunc   Form = 0x60
)

// A Field is a field of a structure, or the element of an array.
type Field struct {
	Type    Type
	Mutable bool
}

// A group is a recursive group: the types with so many ids from first.
type group struct {
	first, size int32
	hash        uint32
}

// Len returns how many types there are. Their ids are 0 to Len-1; the members of a group follow each other, and a group
// refers to itself and to groups before it.
func (t *Types) Len() int { return len(t.defs) }

// Def returns the type with this id.
func (t *Types) Def(id Heap) Def { return t.defs[id] }

// Params returns the parameters of a function type. The slice is not to be changed.
func (t *Types) Params(id Heap) []Type { d := &t.defs[id]; return t.values[d.from:d.middle:d.middle] }

// Results returns the results of a function type. The slice is not to be changed.
func (t *Types) Results(id Heap) []Type { d := &t.defs[id]; return t.values[d.middle:d.to:d.to] }

// Fields returns the fields of a structure, or the one field of an array. The slice is not to be changed.
func (t *Types) Fields(id Heap) []Field { d := &t.defs[id]; return t.fields[d.from:d.to:d.to] }

// FuncOf returns the function type of a continuation type.
func (t *Types) FuncOf(id Heap) Heap { return Heap(t.defs[id].Func) }

// form reports whether h is a defined type of this form.
func (t *Types) form(h Heap, f Form) bool { return h.Defined() && t.defs[h].Form == f }

// Match reports whether a is a subtype of b, or the same.
func (t *Types) Match(a, b Type) bool {
	if a == b || a == Unknown {
		return true
	}
	if a&b&reference == 0 || a&nullable != 0 && b&nullable == 0 {
		return false
	}
	return t.MatchHeap(a.Heap(), b.Heap())
}

// MatchHeap reports whether a is a subtype of b, or the same.
func (t *Types) MatchHeap(a, b Heap) bool {
	if a == b || a == heapBottom {
		return true
	}
	if !b.Defined() {
		if a.Defined() {
			a = t.abstraction(a)
		}
		return matchAbstract(a, b)
	}
	if !a.Defined() {
		return a == bottomOf(t.abstraction(b))
	}
	for depth := t.defs[b].Depth; t.defs[a].Depth > depth; {
		a = Heap(t.defs[a].Super)
	}
	return a == b
}

// abstraction returns the abstract type right above a defined one.
func (t *Types) abstraction(h Heap) Heap {
	switch t.defs[h].Form {
	case FormFunc:
		return HeapFunc
	case FormCont:
		return HeapCont
	case FormArray:
		return HeapArray
	}
	return HeapStruct
}

// matchAbstract reports whether a is a subtype of b, or the same; both are abstract.
func matchAbstract(a, b Heap) bool {
	switch {
	case a == b || a == heapBottom:
		return true
	case a == bottomOf(a):
		return topOf(a) == topOf(b)
	case b == HeapAny:
		return topOf(a) == HeapAny
	case b == HeapEq:
		return a == HeapI31 || a == HeapStruct || a == HeapArray
	}
	return false
}

// Top returns the largest supertype of h.
func (t *Types) Top(h Heap) Heap {
	if h.Defined() {
		h = t.abstraction(h)
	}
	return topOf(h)
}

func topOf(h Heap) Heap {
	switch h {
	case HeapFunc, HeapNoFunc:
		return HeapFunc
	case HeapExtern, HeapNoExtern:
		return HeapExtern
	case HeapExn, HeapNoExn:
		return HeapExn
	case HeapCont, HeapNoCont:
		return HeapCont
	}
	return HeapAny
}

func bottomOf(h Heap) Heap {
	switch topOf(h) {
	case HeapFunc:
		return HeapNoFunc
	case HeapExtern:
		return HeapNoExtern
	case HeapExn:
		return HeapNoExn
	case HeapCont:
		return HeapNoCont
	}
	return HeapNone
}

// matchAll reports whether the types of a are, one by one, subtypes of those of b.
func (t *Types) matchAll(a, b []Type) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !t.Match(a[i], b[i]) {
			return false
		}
	}
	return true
}

// matchFunc reports whether a function [params] -> [results] may be used as one of type f.
func (t *Types) matchFunc(params, results []Type, f Heap) bool {
	return t.matchAll(t.Params(f), params) && t.matchAll(results, t.Results(f))
}

func (t *Types) matchField(a, b Field) bool {
	return a.Mutable == b.Mutable && t.Match(a.Type, b.Type) && (!a.Mutable || t.Match(b.Type, a.Type))
}

// matchStructure reports whether the structure that a defines could be a subtype of the one that b defines.
func (t *Types) matchStructure(a, b Heap) bool {
	x, y := t.defs[a], t.defs[b]
	if x.Form != y.Form {
		return false
	}
	switch x.Form {
	case FormFunc:
		return t.matchFunc(t.Params(a), t.Results(a), b)
	case FormCont:
		return t.MatchHeap(Heap(x.Func), Heap(y.Func))
	}
	fa, fb := t.Fields(a), t.Fields(b)
	if len(fa) < len(fb) {
		return false
	}
	for i := range fb {
		if !t.matchField(fa[i], fb[i]) {
			return false
		}
	}
	return true
}
