package lower

import (
	"github.com/fiberfill/fiberfill/internal/wasm"
	"github.com/fiberfill/fiberfill/internal/wasm/validate"
)

// A Code says why a valid module cannot be lowered.
type Code uint8

const (
	// OK: nothing is refused.
	OK Code = iota
	// NoDummy: a function that may suspend returns a reference of a type that has no values.
	NoDummy
	// ReservedName: the module imports from the module name that the driver has.
	ReservedName
	// TooManyValues: at some place a function that may suspend keeps more locals and operands than engines let a
	// function have parameters.
	TooManyValues
	// TooManyCalls: a function has more calls that may be left than engines let a br_table have labels.
	TooManyCalls
	// TooLarge: a function becomes larger than engines let a function be.
	TooLarge
)

// What engines bear: 1,000 parameters, of which a saver has two more than there are values, 65,520 labels, and
// 7,654,321 bytes of a function.
const (
	mostValues = 990
	mostCalls  = 65_000
	mostBytes  = 7_654_000
)

// Text says the same in words.
func (c Code) Text() string {
	switch c {
	case NoDummy:
		return "a function that may be suspended returns a reference of which no program can make one"
	case ReservedName:
		return "the module imports from " + Namespace + ", which is the name of fiberfill's own driver"
	case TooManyValues:
		return "a function keeps more than 990 locals and operands across a call that may be suspended, which " +
			"engines do not bear; keep them in memory, or split the function"
	case TooManyCalls:
		return "a function has more than 65,000 calls that may be suspended, which engines do not bear; " +
			"split the function"
	case TooLarge:
		return "a function becomes larger than 7.6 MB, which engines do not bear; split the function"
	}
	return ""
}

// A Refusal says where and why a valid module cannot be lowered.
type Refusal struct {
	Code Code
	At   int // a byte offset
}

// A Result is what [Module] has made of a module.
type Result struct {
	// Bytes is the lowered module, or the one given if there was nothing to do.
	Bytes []byte
	// Changed says that it has been lowered.
	Changed bool
	Refusal Refusal
}

// Namespace is the module name of what a lowered module imports from the driver.
const Namespace = "fiberfill:lower"

// Section is the name of the custom section that says what a lowered module is.
const Section = "fiberfill.lower"

// Version is the version of the agreement between lowered modules and the driver.
const Version = 6

// A lowering is one module on its way.
type lowering struct {
	given    *validate.Module // as it came
	m        *validate.Module // with exceptions translated
	t        *validate.Types
	body     validate.Body
	index    []uint32 // for each type id its index in the output
	may      closure  // what may suspend
	suspends bool     // the code has an instruction of the proposal
	resumes  bool     // it has a resume
	all      bool     // functions without such instructions are changed, too
	revives  bool     // a continuation comes back as the object that it was resumed by
	older    bool     // it has exceptions that are translated first

	types         typeList
	layouts       []layout
	layoutOf      map[uint32]int  // by type index
	registers     [classes]uint32 // how many there are of each class
	firstRegister [classes]uint32 // index of the first global
	hiddenGlobals uint32          // imported ones
	driver        *lowering       // of the driver's code
	move          *move           // of that: where it goes
	waits         []uint32        // the imports that wait
	waitTypes     []uint32        // of begin and end of each
	stack         validate.Heap   // stands for the driver's type here

	made      []made
	entering  uint32            // the function that puts the site of a frame into the state; 0: not made yet
	codes     map[uint32]uint32 // of an exported function that has a prologue: where its code is
	conts     []contFunc
	starters  []startFunc
	recvTypes []validate.Heap
	receivers []uint32
	dummies   []dummyFunc
	globals   []string
	needTag   bool

	// What one function after another is made with.
	source      source
	hotCode     emitter
	coldCode    coldEmitter
	compactCode compactEmitter
	resultsOf   map[uint32]uint32 // by type: functions that move them to registers
	scratch     wasm.Writer       // for the keys of types

	switches []uint32 // functions with a large br_table
	twice    []bool   // for each function: it is copied if it is compact

	out wasm.Writer
}

// Options say what is known of a module, and what is to be done with it.
type Options struct {
	// All means that functions without any of the instructions are changed, too, so that calls in them can be left.
	All bool
	// Imports has a byte for each function that is imported: 1 if it may be left. Those beyond its end may not. If it
	// is nil, all may, except what the engine provides itself.
	Imports []byte
	// Wait is the name of the module whose functions are imports that wait, if there are any.
	Wait string
	// Revive means that the module keeps one reference to each continuation, which it does not use while the
	// continuation runs. A resume does not use the reference up, and a continuation that suspends again comes back as
	// the same object: nothing is allocated, and nothing need be written.
	Revive bool
}

// Module lowers a module. It returns the error of a module that is not valid.
func Module(bin []byte, opt Options) (Result, *validate.Error) {
	m, err := validate.Decode(bin, nil)
	if err != nil {
		return Result{}, err
	}
	l := &lowering{given: m, m: m, t: m.Types, all: opt.All, revives: opt.Revive}
	for _, i := range m.Imports {
		if opt.Wait != "" && i.Kind == wasm.KindFunc && string(m.Text(i.Module)) == opt.Wait {
			l.waits = append(l.waits, i.Index)
		}
	}
	if err := l.graph(opt.sources(m)); err != nil {
		return Result{}, err
	}
	if l.lowered() || !opt.All && !l.uses() {
		return Result{Bytes: bin}, nil
	}
	for _, i := range m.Imports {
		if string(m.Text(i.Module)) == Namespace {
			return Result{Refusal: Refusal{ReservedName, i.Module.Start}}, nil
		}
	}
	if l.older {
		if l.m, err = validate.Decode(l.translated(), nil); err != nil {
			return Result{}, err
		}
		l.t = l.m.Types
		if err := l.graph(opt.sources(l.m)); err != nil {
			return Result{}, err
		}
	}
	l.prepare()
	bodies, refusal := l.functions()
	if refusal.Code != OK {
		return Result{Refusal: refusal}, nil
	}
	l.write(bodies)
	return Result{Bytes: l.out.B, Changed: true}, nil
}

// lowered reports whether the module has been lowered before.
func (l *lowering) lowered() bool {
	for _, c := range l.m.Customs {
		if string(l.m.Text(c.Name)) == Section {
			return true
		}
	}
	return false
}

// uses reports whether the module has anything of the proposal, which no engine without it takes.
func (l *lowering) uses() bool {
	if l.suspends {
		return true
	}
	for id := 0; id < l.t.Len(); id++ {
		h := validate.Heap(id)
		switch l.t.Def(h).Form {
		case validate.FormCont:
			return true
		case validate.FormFunc:
			if l.anyCont(l.t.Params(h)) || l.anyCont(l.t.Results(h)) {
				return true
			}
		default:
			for _, f := range l.t.Fields(h) {
				if l.isCont(f.Type) {
					return true
				}
			}
		}
	}
	for _, t := range l.m.Tables {
		if l.isCont(t.Type) {
			return true
		}
	}
	for _, g := range l.m.Globals {
		if l.isCont(g.Type) {
			return true
		}
	}
	for _, e := range l.m.Elements {
		if l.isCont(e.Type) {
			return true
		}
	}
	for _, tag := range l.m.Tags {
		if len(l.t.Results(tag.Type)) > 0 {
			return true
		}
	}
	return false
}

func (l *lowering) isCont(t validate.Type) bool {
	return t.IsRef() && l.t.Top(t.Heap()) == validate.HeapCont
}

func (l *lowering) anyCont(list []validate.Type) bool {
	for _, t := range list {
		if l.isCont(t) {
			return true
		}
	}
	return false
}

// graph validates the code and finds what may suspend.
func (l *lowering) graph(from sources) *validate.Error {
	m := l.m
	l.may = closure{m: m, funcs: make([]bool, len(m.Funcs)), types: make([]bool, l.t.Len()),
		called: make([]bool, l.t.Len())}
	l.switches = l.switches[:0]
	b := &l.body
	for f := m.ImportedFuncs; f < len(m.Funcs); f++ {
		if b.Start(m, uint32(f)) && l.anyCont(b.Locals) {
			l.suspends = true
		}
		for b.Next() {
			l.may.instruction(uint32(f), b)
			switch b.Op {
			case wasm.OpBrTable:
				if n := len(l.switches); len(b.Labels) >= manyCases && (n == 0 || l.switches[n-1] != uint32(f)) {
					l.switches = append(l.switches, uint32(f))
				}
			case wasm.OpRefNull, wasm.OpEnd:
				if l.anyCont(b.Pushed) {
					l.suspends = true
				}
			case wasm.OpResume, wasm.OpResumeThrow, wasm.OpResumeThrowRef:
				l.suspends, l.resumes = true, true
			case wasm.OpSuspend, wasm.OpSwitch:
				l.suspends = true
			}
			l.older = l.older || l.mustTranslate(b)
		}
		if err := b.Err(); err != nil {
			return err
		}
	}
	l.may.complete(from)
	return nil
}

// sources returns what may suspend. If nothing else is known of the module, that is all imports except those that the
// engine provides itself.
func (opt Options) sources(m *validate.Module) sources {
	if opt.Imports == nil {
		return sources{func(i validate.Import) bool { return !builtin(m.Text(i.Module)) }, true}
	}
	return sources{func(i validate.Import) bool {
		return int(i.Index) < len(opt.Imports) && opt.Imports[i.Index] == 1
	}, true}
}

// builtin reports whether a module name is one that the engine provides functions for.
func builtin(name []byte) bool { return len(name) > 5 && string(name[:5]) == "wasm:" }

// prepare lays out the index spaces.
func (l *lowering) prepare() {
	l.index = make([]uint32, l.t.Len())
	for i := len(l.m.TypeIDs) - 1; i >= 0; i-- {
		l.index[l.m.TypeIDs[i]] = uint32(i) + baseTypes
	}
	l.types.first = uint32(len(l.m.TypeIDs)) + baseTypes
	for id := 0; id < l.t.Len(); id++ {
		if h := validate.Heap(id); l.t.Def(h).Form == validate.FormFunc {
			l.count(l.t.Params(h))
			l.count(l.t.Results(h))
		}
	}
	l.hiddenGlobals = driverGlobals + uint32(len(l.m.Tags))
	next := uint32(l.m.ImportedGlobals) + l.hiddenGlobals
	for c := range l.registers {
		l.firstRegister[c] = next
		next += l.registers[c]
		l.hiddenGlobals += l.registers[c]
	}
	l.prepareWaits()
	l.stack = validate.Heap(len(l.index))
	l.index = append(l.index, typeStack)
	l.addDriver()
}

// functions writes the code of all functions.
func (l *lowering) functions() ([][]byte, Refusal) {
	l.interpreters()
	l.grounds()
	bodies := make([][]byte, len(l.m.Funcs)-l.m.ImportedFuncs)
	for k := range bodies {
		f := uint32(k + l.m.ImportedFuncs)
		if !l.may.funcs[f] {
			b := &l.body
			b.Start(l.m, f)
			e := l.hotCode.reset(l, nil)
			locals := append(l.source.locals[:0], b.Locals[len(l.m.Params(f)):]...)
			e.copyAll(b)
			bodies[k] = e.function(locals)
			l.source.locals = locals
			continue
		}
		s := l.read(f)
		if len(s.sites) == 0 {
			bodies[k] = l.grounded(f, l.hot(f, s, 0))
			continue
		}
		for _, t := range s.results {
			if !l.canMake(t, nil) {
				return nil, Refusal{NoDummy, l.given.Funcs[f].Body.Start}
			}
		}
		// Why: RATIONALE.md, "Why does a function that may suspend become two?".
		s.liveness()
		switch {
		case len(s.sites) > mostCalls:
			return nil, Refusal{TooManyCalls, l.given.Funcs[f].Body.Start}
		case !s.keepsAtMost(mostValues, s.none((len(s.locals)+31)/32)):
			return nil, Refusal{TooManyValues, l.given.Funcs[f].Body.Start}
		}
		if body, ok := l.compact(f, s); ok {
			bodies[k] = l.grounded(f, body)
			continue
		}
		s.unite()
		cold := l.reserve(typeReenter)
		l.made[len(l.made)-1].of = f + 1
		bodies[k] = l.grounded(f, l.hot(f, s, cold))
		again := l.cold(s, cold)
		if len(again) > mostBytes { // it is the larger one
			return nil, Refusal{TooLarge, l.given.Funcs[f].Body.Start}
		}
		l.complete(cold, again)
	}
	l.completeDriver()
	return bodies, Refusal{}
}
