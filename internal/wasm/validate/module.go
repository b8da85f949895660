package validate

import "github.com/fiberfill/fiberfill/internal/wasm"

// A Module is a decoded module. It refers to the bytes it was decoded from, which must not change. Nothing in it
// changes after [Decode], so several goroutines may read it.
type Module struct {
	Bin   []byte
	Types *Types // of this module, and maybe of others

	TypeIDs  []Heap // id of each entry of the type index space
	Imports  []Import
	Funcs    []Func // of all index spaces: imported ones first
	Tables   []Table
	Memories []Memory
	Globals  []Global
	Tags     []Tag
	Exports  []Export
	Elements []Element
	Data     []Data
	Start    int32 // index of the start function, or -1
	Customs  []Custom
	Sections []Section // all, in their order

	// Of each index space so many entries are imported.
	ImportedFuncs, ImportedTables, ImportedMemories, ImportedGlobals, ImportedTags int

	declared  []uint32 // bits: the functions that ref.func may name
	dataCount int64    // what the data count section says, or -1
}

// A Section is a section as it lies in the bytes.
type Section struct {
	ID       byte
	At       int       // offset of the id
	Contents wasm.Span // behind id and size
}

// A Custom is a custom section.
type Custom struct {
	Name     wasm.Span
	Contents wasm.Span // behind the name
	Section  int       // index in Module.Sections
}

// An Import is one entry of the import section.
type Import struct {
	Module, Name wasm.Span
	Kind         byte   // one of wasm.KindFunc to wasm.KindTag
	Index        uint32 // in the index space of its kind
}

// An Export is one entry of the export section.
type Export struct {
	Name  wasm.Span
	Kind  byte
	Index uint32
}

// A Func is a function.
type Func struct {
	Type Heap      // id
	Decl uint32    // index of the type that it is declared with
	Body wasm.Span // locals and code; empty if imported
}

// Limits are those of a table or memory.
type Limits struct {
	Min, Max uint64
	HasMax   bool
	Is64     bool
	Shared   bool
}

// A Table is a table.
type Table struct {
	Limits
	Type Type
	Init wasm.Span // the expression for all elements, empty if they are null
}

// A Memory is a memory.
type Memory struct{ Limits }

// A Global is a global.
type Global struct {
	Type    Type
	Mutable bool
	Init    wasm.Span // empty if imported
}

// A Tag is a tag.
type Tag struct {
	Type Heap   // id of a function type
	Decl uint32 // index of the type that it is declared with
}

// A Mode says when a segment is used.
type Mode byte

const (
	Active Mode = iota
	Passive
	Declarative
)

// An Element is an element segment. Its elements are indices of functions, if Exprs is false, or expressions.
type Element struct {
	At     int // offset of the segment
	Mode   Mode
	Table  uint32
	Offset wasm.Span // an expression, if Active
	Type   Type
	Exprs  bool
	Count  uint32
	Items  wasm.Span // so many of them
}

// Data is a data segment.
type Data struct {
	At     int
	Mode   Mode
	Memory uint32
	Offset wasm.Span // an expression, if Active
	Bytes  wasm.Span
}

// Text returns the bytes of a span.
func (m *Module) Text(s wasm.Span) []byte { return m.Bin[s.Start:s.End] }

// Params returns the parameters of a function.
func (m *Module) Params(f uint32) []Type { return m.Types.Params(m.Funcs[f].Type) }

// Results returns the results of a function.
func (m *Module) Results(f uint32) []Type { return m.Types.Results(m.Funcs[f].Type) }

// IndexOf returns the first entry of the type index space that is the type with this id. There is one for every type
// that the module mentions.
func (m *Module) IndexOf(id Heap) uint32 {
	for i, t := range m.TypeIDs {
		if t == id {
			return uint32(i)
		}
	}
	return ^uint32(0)
}
