package validate

// A Code says which rule a module breaks. Codes keep their numbers.
type Code uint8

const (
	// The bytes are no module.
	NotWasm       Code = 1  // does not begin with the four bytes of every module
	BadVersion    Code = 2  // not version 1
	Truncated     Code = 3  // ends, or its section or body ends, inside something
	BadNumber     Code = 4  // a number of more bits or bytes than it may have
	BadType       Code = 5  // no type, or not one of those that may stand there
	BadFlags      Code = 6  // a byte or number that chooses among forms, and chooses none
	BadOpcode     Code = 7  // no instruction
	BadSection    Code = 8  // an unknown section, a section twice or not in its place
	SectionSize   Code = 9  // what a section or body says is shorter or longer than it is
	BadName       Code = 10 // not UTF-8
	FunctionCount Code = 11 // as many bodies as functions there must be
	DataCount     Code = 12 // the data count section is missing, or does not count the data segments
	Misplaced     Code = 13 // an else, catch, delegate or end that no block asks for, or a block without end

	// The module breaks a rule.
	TypeMismatch    Code = 32 // an operand, result or label of another type
	StackUnderflow  Code = 33 // an operand is missing
	StackHeight     Code = 34 // operands are left over at the end of a block
	UnknownType     Code = 35
	UnknownFunction Code = 36
	UnknownTable    Code = 37
	UnknownMemory   Code = 38
	UnknownGlobal   Code = 39
	UnknownTag      Code = 40
	UnknownElement  Code = 41
	UnknownData     Code = 42
	UnknownLocal    Code = 43
	UnknownLabel    Code = 44
	UnknownField    Code = 45
	WrongForm       Code = 46 // a type that exists, but is no function, structure, array or continuation
	BadSupertype    Code = 47 // final, not before it, more than one, or not matched
	UnsetLocal      Code = 48 // read before anything is written to it, and its type has no default
	Immutable       Code = 49 // a write to a global, field or array that cannot be written to
	Undeclared      Code = 50 // ref.func of a function that nothing outside the code refers to
	NotConstant     Code = 51 // an instruction that no constant expression may have
	BadLimits       Code = 52 // more at least than at most, or more than there can be
	BadAlignment    Code = 53
	BadOffset       Code = 54 // does not fit the memory's addresses
	BadLane         Code = 55
	BadArity        Code = 56 // select of not exactly one type
	NoDefault       Code = 57 // a field, element or table whose type has no default and that gets no value
	Packed          Code = 58 // a packed field is read without, or another one with, a sign
	DuplicateExport Code = 59
	BadStart        Code = 60 // the start function has parameters or results
	BadCast         Code = 61 // a cast to a continuation type
	BadRethrow      Code = 62 // rethrow of a label that is no catch
	BadHandler      Code = 63 // a handler whose label does not take what it delivers
	BadContinuation Code = 64 // types of continuations that do not fit each other
	BadException    Code = 65 // an exception of a tag that has results
	BadSwitchTag    Code = 66 // a tag of a switch that carries something, or returns something else
	OlderEncoding   Code = 96 // an older encoding of the stack-switching instructions
	TooMany         Code = 97 // within the rules, but more than any engine accepts
)

// An Error says what is wrong with a module, and where.
type Error struct {
	Code Code
	// At is a byte offset: of what is malformed; of the instruction or entry that breaks a rule.
	At int

	// What else there is to say of some codes.
	Index     uint32 // the index of what is unknown, or has another form
	Form      Form   // that it should have
	Want, Got Type
	Counts    [2]int // of types: wanted, there

	m *Module // to name types by their index
}
