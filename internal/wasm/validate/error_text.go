package validate

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
	case OlderEncoding:
		return "an older encoding of the stack-switching instructions"
	case TooMany:
		return "more than engines accept"
	}
	return ""
}
