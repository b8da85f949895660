package validate

import (
	"unicode/utf8"

	"github.com/fiberfill/fiberfill/internal/wasm"
)

// Validate decodes a module and validates all of it.
func Validate(bin []byte) (*Module, *Error) {
	m, err := Decode(bin, nil)
	if err != nil {
		return nil, err
	}
	var b Body
	for f := m.ImportedFuncs; f < len(m.Funcs); f++ {
		if err := m.Check(&b, uint32(f)); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// Check validates the code of a function, which must not be imported.
func (m *Module) Check(b *Body, f uint32) *Error {
	for b.Start(m, f); b.Next(); {
	}
	return b.Err()
}

// Decode decodes a module and validates all of it but the code of functions. It puts the module's types into types, or,
// if that is nil, into a new one. If it fails, types has only gained some that are valid.
func Decode(bin []byte, types *Types) (*Module, *Error) {
	if types == nil {
		types = new(Types)
	}
	d := decoder{m: &Module{Bin: bin, Types: types, Start: -1, dataCount: -1}}
	d.r = reader{wasm.Reader{Bin: bin, End: len(bin)}}
	d.module()
	if !d.fine() {
		return nil, d.err
	}
	return d.m, nil
}

// A decoder decodes one module.
type decoder struct {
	m      *Module
	r      reader
	err    *Error
	b      Body  // for constant expressions
	bodies int   // how many the code section has
	places []int // where each type of the group begins that is being read
}

// fail notes what is wrong first, and ends the reading.
func (d *decoder) fail(c Code, at int) *Error {
	if d.err == nil {
		d.err = d.m.failure(&d.r, c, at)
	}
	d.r.Pos = d.r.End
	return d.err
}

// fine reports whether nothing is wrong.
func (d *decoder) fine() bool {
	if d.err == nil && d.r.Code != wasm.OK {
		d.fail(d.r.failure(), d.r.At)
	}
	return d.err == nil
}

// order says after which sections each section stands, by id: in ascending order.
var order = [wasm.SectionTag + 1]byte{
	wasm.SectionType: 1, wasm.SectionImport: 2, wasm.SectionFunc: 3, wasm.SectionTable: 4, wasm.SectionMemory: 5,
	wasm.SectionTag: 6, wasm.SectionGlobal: 7, wasm.SectionExport: 8, wasm.SectionStart: 9, wasm.SectionElem: 10,
	wasm.SectionDataCount: 11, wasm.SectionCode: 12, wasm.SectionData: 13,
}

func (d *decoder) module() {
	r := &d.r
	for i := range len(wasm.Preamble) {
		if r.Byte() != wasm.Preamble[i] {
			switch {
			case !d.fine():
			case i < 4:
				d.fail(NotWasm, 0)
			default:
				d.fail(BadVersion, 4)
			}
			return
		}
	}
	last := byte(0)
	for r.More() && d.err == nil {
		s := Section{At: r.Pos}
		s.ID = r.Byte()
		s.Contents = r.Name() // like a name, they follow their size
		if !d.fine() {
			return
		}
		if s.ID >= byte(len(order)) || s.ID != wasm.SectionCustom && order[s.ID] <= last {
			d.fail(BadSection, s.At)
			return
		}
		d.m.Sections = append(d.m.Sections, s)
		last = max(last, order[s.ID])
		r.Pos, r.End = s.Contents.Start, s.Contents.End
		d.section(s)
		if d.fine() && r.Pos != r.End {
			d.fail(SectionSize, r.Pos)
		}
		r.End = len(d.m.Bin)
	}
	if !d.fine() {
		return
	}
	if d.bodies != len(d.m.Funcs)-d.m.ImportedFuncs {
		d.fail(FunctionCount, len(d.m.Bin)).Counts = [2]int{len(d.m.Funcs) - d.m.ImportedFuncs, d.bodies}
	} else if d.m.dataCount >= 0 && d.m.dataCount != int64(len(d.m.Data)) {
		d.fail(DataCount, len(d.m.Bin)).Counts = [2]int{int(d.m.dataCount), len(d.m.Data)}
	}
}

// section reads the contents of a section.
func (d *decoder) section(s Section) {
	r := &d.r
	switch s.ID {
	case wasm.SectionCustom:
		c := Custom{Name: d.name(), Section: len(d.m.Sections) - 1}
		c.Contents = wasm.Span{Start: r.Pos, End: r.End}
		r.Pos = r.End
		d.m.Customs = append(d.m.Customs, c)
		return
	case wasm.SectionStart:
		d.start()
		return
	case wasm.SectionDataCount:
		d.m.dataCount = int64(r.u32())
		return
	}
	n := r.u32()
	if n > uint32(r.End-r.Pos) { // each entry has a byte at least
		r.Fail(wasm.Truncated, r.End)
	}
	if s.ID == wasm.SectionCode {
		d.bodies = int(n)
		if want := len(d.m.Funcs) - d.m.ImportedFuncs; d.bodies != want && d.fine() {
			d.fail(FunctionCount, s.Contents.Start).Counts = [2]int{want, d.bodies}
		}
	}
	for i := uint32(0); i < n && d.fine(); i++ {
		switch s.ID {
		case wasm.SectionType:
			d.recursiveGroup()
		case wasm.SectionImport:
			d.importEntry()
		case wasm.SectionFunc:
			d.function()
		case wasm.SectionTable:
			d.table()
		case wasm.SectionMemory:
			d.memory()
		case wasm.SectionTag:
			d.tag()
		case wasm.SectionGlobal:
			d.global()
		case wasm.SectionExport:
			d.export()
		case wasm.SectionElem:
			d.element()
		case wasm.SectionCode:
			d.m.Funcs[d.m.ImportedFuncs+int(i)].Body = r.Name()
		case wasm.SectionData:
			d.data()
		}
	}
	if s.ID == wasm.SectionExport && d.fine() {
		d.uniqueExports()
	}
}

// name reads a name.
func (d *decoder) name() wasm.Span {
	at := d.r.Pos
	s := d.r.Name()
	if d.fine() && !utf8.Valid(d.m.Bin[s.Start:s.End]) {
		d.fail(BadName, at)
	}
	return s
}

// flag reads a byte that must be 0 or 1.
func (d *decoder) flag() bool {
	at := d.r.Pos
	f := d.r.Byte()
	if f > 1 {
		d.fail(BadFlags, at)
	}
	return f == 1
}

func (d *decoder) start() {
	at := d.r.Pos
	f := d.r.u32()
	if f >= uint32(len(d.m.Funcs)) {
		d.fail(UnknownFunction, at).Index = f
		return
	}
	if len(d.m.Params(f)) > 0 || len(d.m.Results(f)) > 0 {
		d.fail(BadStart, at).Index = f
	}
	d.m.Start = int32(f)
}

// constExpr reads a constant expression of a type.
func (d *decoder) constExpr(t Type, globals int) wasm.Span {
	s := wasm.Span{Start: d.r.Pos, End: d.r.End}
	if !d.fine() {
		return s
	}
	d.b.startConst(d.m, s, t, globals)
	for d.b.Next() {
		if d.b.Op == wasm.OpRefFunc {
			d.m.declare(d.b.X)
		}
		d.r.Pos = d.b.End
		if d.b.Op == wasm.OpEnd {
			break
		}
	}
	if d.b.err != nil {
		d.err = d.b.err
	}
	s.End = d.r.Pos
	return s
}

// Declared reports whether ref.func may name the function: something outside of the code refers to it.
func (m *Module) Declared(f uint32) bool {
	return int(f/32) < len(m.declared) && m.declared[f/32]&(1<<(f%32)) != 0
}

func (m *Module) declare(f uint32) {
	for int(f/32) >= len(m.declared) {
		m.declared = append(m.declared, 0)
	}
	m.declared[f/32] |= 1 << (f % 32)
}
