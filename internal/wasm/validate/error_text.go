package validate

// Error returns where something is wrong, the rule, what was expected, and what was found.
func (e *Error) Error() string {
	s := decimal([]byte("at byte "), uint64(e.At))
	s = append(append(s, ": "...), e.Code.Rule()...)
	switch {
	case e.Code >= UnknownType && e.Code <= UnknownField || e.Code == UnsetLocal || e.Code == Immutable ||
		e.Code == Undeclared || e.Code == BadLane || e.Code == BadRethrow ||
		e.Code == BadException || e.Code == BadSwitchTag:
		s = decimal(append(s, ' '), uint64(e.Index))
	case e.Code == WrongForm:
		s = append(append(s, ": a "...), e.Form.name()...)
		s = append(s, " type is expected"...)
	case e.Code == OlderEncoding:
		s = append(
			s,
			": switch as 0xe5, which has become resume_throw_ref; make the module anew with a current tool"...)
	}
	if e.Counts[0] != e.Counts[1] {
		s = decimal(append(s, ": expected "...), uint64(e.Counts[0]))
		s = decimal(append(s, ", found "...), uint64(e.Counts[1]))
	}
	if e.Want != Unknown {
		s = e.m.appendType(append(s, ": expected "...), e.Want)
	}
	if e.Got != Unknown {
		if e.Want != Unknown {
			s = append(s, ", found "...)
		} else {
			s = append(s, ": found "...)
		}
		s = e.m.appendType(s, e.Got)
	}
	return string(s)
}

func (f Form) name() string {
	switch f {
	case FormFunc:
		return "function"
	case FormStruct:
		return "structure"
	case FormArray:
		return "array"
	}
	return "continuation"
}

// appendType appends a type as the text format has it. Defined types are named by index.
func (m *Module) appendType(s []byte, t Type) []byte {
	if !t.IsRef() {
		return append(s, numberName(t)...)
	}
	s = append(s, "(ref "...)
	if t.Nullable() {
		s = append(s, "null "...)
	}
	if h := t.Heap(); h.Defined() {
		s = decimal(s, uint64(m.IndexOf(h)))
	} else {
		s = append(s, heapName(h)...)
	}
	return append(s, ')')
}

func numberName(t Type) string {
	switch t {
	case I32:
		return "i32"
	case I64:
		return "i64"
	case F32:
		return "f32"
	case F64:
		return "f64"
	case V128:
		return "v128"
	case I8:
		return "i8"
	case I16:
		return "i16"
	}
	return "unknown"
}

func heapName(h Heap) string {
	names := [...]string{"cont", "exn", "array", "struct", "i31", "eq", "any", "extern", "func", "none", "noextern",
		"nofunc", "noexn", "nocont"}
	if i := int(h.Byte()) - int(HeapCont.Byte()); i >= 0 && i < len(names) {
		return names[i]
	}
	return "bottom"
}

func decimal(s []byte, v uint64) []byte {
	if v >= 10 {
		s = decimal(s, v/10)
	}
	return append(s, byte('0'+v%10))
}

// Rule returns the rule in words.
func (c Code) Rule() string {
	switch c {
	case NotWasm:
		return "not a WebAssembly module"
	case BadVersion:
		return "unknown binary version"
	case Truncated:
		return "unexpected end"
	case BadNumber:
		return "a number that is too long or too large"
	case BadType:
		return "malformed type"
	case BadFlags:
		return "malformed flags or kind"
	case BadOpcode:
		return "unknown instruction"
	case BadSection:
		return "an unknown section, or a section out of order"
	case SectionSize:
		return "contents and size of a section or body differ"
	case BadName:
		return "a name that is not UTF-8"
	case FunctionCount:
		return "function and code section have different lengths"
	case DataCount:
		return "data count section is missing or does not agree with the data section"
	case Misplaced:
		return "an instruction without the block that it belongs to"
	case TypeMismatch:
		return "type mismatch"
	case StackUnderflow:
		return "type mismatch: an operand is missing"
	case StackHeight:
		return "type mismatch: operands are left at the end of a block"
	case UnknownType:
		return "unknown type"
	case UnknownFunction:
		return "unknown function"
	case UnknownTable:
		return "unknown table"
	case UnknownMemory:
		return "unknown memory"
	case UnknownGlobal:
		return "unknown global"
	case UnknownTag:
		return "unknown tag"
	case UnknownElement:
		return "unknown element segment"
	case UnknownData:
		return "unknown data segment"
	case UnknownLocal:
		return "unknown local"
	case UnknownLabel:
		return "unknown label"
	case UnknownField:
		return "unknown field"
	case WrongForm:
		return "a type of another form"
	case BadSupertype:
		return "a type does not match its supertype"
	case UnsetLocal:
		return "uninitialized local"
	case Immutable:
		return "immutable global, field or array"
	case Undeclared:
		return "undeclared function reference"
	case NotConstant:
		return "constant expression required"
	case BadLimits:
		return "limits out of range"
	case BadAlignment:
		return "alignment must not be larger than natural, and of an atomic access not smaller"
	case BadOffset:
		return "offset out of range"
	case BadLane:
		return "invalid lane index"
	case BadArity:
		return "select of other than one type"
	case NoDefault:
		return "type is not defaultable"
	case Packed:
		return "a packed field is read with a sign, and no other"
	case DuplicateExport:
		return "duplicate export name"
	case BadStart:
		return "start function must not have parameters or results"
	case BadCast:
		return "invalid cast to a continuation type"
	case BadRethrow:
		return "rethrow of a label that is not a catch"
	case BadHandler:
		return "type mismatch: the handler's label does not take a continuation"
	case BadContinuation:
		return "type mismatch: continuation types do not fit each other"
	case BadException:
		return "the tag of an exception must have no results"
	case BadSwitchTag:
		return "the tag of a switch must have no parameters, and the results of what is resumed"
	case OlderEncoding:
		return "an older encoding of the stack-switching instructions"
	case TooMany:
		return "more than engines accept"
	}
	return ""
}
