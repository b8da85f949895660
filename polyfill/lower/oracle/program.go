package oracle

// A Type is the type of a value.
type Type struct {
	Kind Kind
	Cont int // of a continuation: the signature of its function
}

// Kind is what sort of type it is.
type Kind byte

// The kinds of types. A reference may be null.
const (
	I32 Kind = iota
	I64
	F64
	Any // anyref that holds an i31
	Cont
	Exn
)

// Numbers are the types without signature.
var (
	i32    = Type{Kind: I32}
	i64    = Type{Kind: I64}
	f64    = Type{Kind: F64}
	anyref = Type{Kind: Any}
	exnref = Type{Kind: Exn}
)

// A Signature is a function type; each has a continuation type.
type Signature struct{ Params, Results []Type }

// A Tag carries parameters. Unless it is for exceptions, it may also have results.
type Tag struct {
	Module    int // where it is defined
	Signature int
}

// A Global holds a value that outlives calls; all start at 0 or null. Global 0 is the fuel.
type Global struct {
	Module int
	Type   Type
}

// A Func is a function of one of the modules.
type Func struct {
	Module    int
	Signature int
	Locals    []Type // behind the parameters
	Body      []Stmt
	Results   []Expr
	Tail      *Op // instead of Results: a call in tail position
}

// A Program is a set of modules that are instantiated in order, each with imports from those before it.
type Program struct {
	Modules    int
	Signatures []Signature
	Tags       []Tag
	Globals    []Global
	Funcs      []Func // a function calls, and makes continuations of, later ones only
	Calls      []Call
}

// A Call is one from outside: of a function without continuations in its type.
type Call struct {
	Func int
	Args []int32
}

// An Expr is an expression of one value.
type Expr interface{}

// The expressions. An [Op] with one result is one, too.
type (
	Const struct {
		Type  Type
		Value int32
	}
	Local struct{ Index int }
	Read  struct{ Global int }
	// Add adds two numbers of one type; the first may suspend while the second does not, or the other way round.
	Add struct {
		Type Type
		A, B Expr
	}
	// Narrow makes an i32 of a value of any other kind: references by what is in them, or whether they are null.
	Narrow struct {
		Type Type
		A    Expr
	}
	// Widen makes a value of another kind of an i32.
	Widen struct {
		Type Type
		A    Expr
	}
)

// A Stmt is a statement.
type Stmt interface{}

// The statements.
type (
	Log struct{ A Expr }
	Set struct {
		Local int
		A     Expr
	}
	Write struct {
		Global int
		A      Expr
	}
	// Do performs an operation and puts its results into locals.
	Do struct {
		Op  *Op
		To  []int
		Top Expr // an operand that lies below those of the operation, and is logged afterwards; nil: none
	}
	If struct {
		A          Expr
		Then, Else []Stmt
	}
	// Loop runs its body so many times.
	Loop struct {
		Counter int // a local of type i32
		Times   int32
		Body    []Stmt
	}
	Throw struct {
		Tag  int
		Args []Expr
	}
	// Try catches exceptions of its body. If there is none, the statement ends where its body ends.
	Try struct {
		Body    []Stmt
		Catches []Catch
	}
	// Rethrow throws an exception that a local holds.
	Rethrow struct{ Local int }
)

// A Catch is one clause of a Try.
type Catch struct {
	Tag  int // -1: every exception
	To   []int
	Exn  int // the local that gets the exception; -1: none
	Body []Stmt
}

// OpKind is the kind of an operation.
type OpKind byte

// The operations.
const (
	OpCall OpKind = iota
	OpNew
	OpBind
	OpSuspend
	OpResume
	OpResumeThrow
	OpResumeThrowRef
	OpSwitch
)

// An Op may suspend.
type Op struct {
	Kind     OpKind
	Func     int // called, or made a continuation of
	Sig      int // the signature of the continuation's type
	To       int // of cont.bind: the signature of the new one's
	Tag      int
	Args     []Expr
	On       Expr // the continuation
	Handlers []Handler
	Results  []Type
}

// A Handler is a clause of a resume.
type Handler struct {
	Tag    int
	Switch bool
	To     []int // locals for the tag's parameters
	Cont   int   // the local for the continuation
	Sig    int   // the signature of that
	Body   []Stmt
	Values []Expr // the results of the resume when the handler has run
}
