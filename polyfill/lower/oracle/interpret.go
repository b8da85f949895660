package oracle

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A value is an int32, int64, float64, *continuation, *exception, boxed or nil.
type value any

// boxed is the number in an i31 reference.
type boxed int32

// trap ends the whole computation.
type trap struct{ why string }

type exception struct {
	tag  int
	args []value
}

type world struct {
	program *Program
	globals []value
	log     []string
	current *computation // whose code runs; nil: that of the call from outside
	done    chan struct{}
	ops     int
}

// Run interprets a program. It returns a line for each number that was logged and for each call that has ended, and how
// many stack-switching instructions were executed.
func Run(p *Program) (lines []string, ops int) {
	w := &world{program: p, globals: make([]value, len(p.Globals)), done: make(chan struct{})}
	for i, g := range p.Globals {
		w.globals[i] = zero(g.Type)
	}
	for _, c := range p.Calls {
		w.globals[0] = int32(fuel)
		args := make([]value, len(c.Args))
		for i, a := range c.Args {
			args[i] = a
		}
		w.log = append(w.log, w.outside(c.Func, args))
	}
	close(w.done)
	return w.log, w.ops
}

// fuel is what each call from outside may use.
const fuel = 4000

// outside makes a call and returns how it ended, as a line.
func (w *world) outside(f int, args []value) (line string) {
	defer func() {
		w.current = nil
		switch e := recover().(type) {
		case nil:
		case *trap:
			line = "trap"
		case *exception:
			line = fmt.Sprint("exception ", e.tag, " ", shownAll(e.args))
		default:
			panic(e)
		}
	}()
	return "returned " + shownAll(w.call(f, args))
}

func shownAll(values []value) string {
	var list []string
	for _, v := range values {
		list = append(list, shown(v))
	}
	return strings.Join(list, ",")
}

func shown(v value) string {
	switch v := v.(type) {
	case int32:
		return strconv.Itoa(int(v))
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case boxed:
		return strconv.Itoa(int(v))
	case nil:
		return "null"
	}
	return "?"
}

func zero(t Type) value {
	switch t.Kind {
	case I32:
		return int32(0)
	case I64:
		return int64(0)
	case F64:
		return float64(0)
	}
	return nil
}

type frame struct {
	w      *world
	locals []value
}

func (w *world) call(index int, args []value) []value {
	for {
		f := &w.program.Funcs[index]
		w.burn()
		fr := &frame{w: w, locals: append(make([]value, 0, len(args)+len(f.Locals)), args...)}
		for _, t := range f.Locals {
			fr.locals = append(fr.locals, zero(t))
		}
		fr.run(f.Body)
		if f.Tail == nil {
			return fr.evalAll(f.Results)
		}
		index, args = f.Tail.Func, fr.evalAll(f.Tail.Args)
	}
}

func (w *world) burn() {
	left := w.globals[0].(int32) - 1
	w.globals[0] = left
	if left < 0 {
		panic(&trap{"unreachable"})
	}
}

func (f *frame) run(body []Stmt) {
	for _, s := range body {
		f.step(s)
	}
}

func (f *frame) step(s Stmt) {
	switch s := s.(type) {
	case Log:
		f.w.log = append(f.w.log, shown(f.eval(s.A)))
	case Set:
		f.locals[s.Local] = f.eval(s.A)
	case Write:
		f.w.globals[s.Global] = f.eval(s.A)
	case Do:
		var top value
		if s.Top != nil {
			top = f.eval(s.Top)
		}
		for i, v := range f.operate(s.Op) {
			f.locals[s.To[i]] = v
		}
		if s.Top != nil {
			f.w.log = append(f.w.log, shown(top))
		}
	case If:
		if f.eval(s.A).(int32) != 0 {
			f.run(s.Then)
		} else {
			f.run(s.Else)
		}
	case Loop:
		for f.locals[s.Counter] = s.Times; ; {
			f.w.burn()
			f.run(s.Body)
			left := f.locals[s.Counter].(int32) - 1
			f.locals[s.Counter] = left
			if left == 0 {
				return
			}
		}
	case Throw:
		panic(&exception{s.Tag, f.evalAll(s.Args)})
	case Try:
		f.try(s)
	case Rethrow:
		e, _ := f.locals[s.Local].(*exception)
		if e == nil {
			panic(&trap{"null exception"})
		}
		panic(e)
	default:
		panic(fmt.Sprintf("a statement of type %T", s))
	}
}

func (f *frame) try(s Try) {
	caught := func() (caught *exception) {
		defer func() {
			r := recover()
			if e, ok := r.(*exception); ok {
				for _, c := range s.Catches {
					if c.Tag < 0 || c.Tag == e.tag {
						caught = e
						return
					}
				}
			}
			if r != nil {
				panic(r)
			}
		}()
		f.run(s.Body)
		return nil
	}()
	if caught == nil {
		return
	}
	for _, c := range s.Catches {
		if c.Tag >= 0 && c.Tag != caught.tag {
			continue
		}
		if c.Tag >= 0 {
			for i, to := range c.To {
				f.locals[to] = caught.args[i]
			}
		}
		if c.Exn >= 0 {
			f.locals[c.Exn] = caught
		}
		f.run(c.Body)
		return
	}
}

func (f *frame) evalAll(list []Expr) []value {
	values := make([]value, len(list))
	for i, e := range list {
		values[i] = f.eval(e)
	}
	return values
}

func (f *frame) eval(e Expr) value {
	switch e := e.(type) {
	case Const:
		return widen(e.Type, e.Value)
	case Local:
		return f.locals[e.Index]
	case Read:
		return f.w.globals[e.Global]
	case Add:
		a, b := f.eval(e.A), f.eval(e.B)
		switch e.Type.Kind {
		case I32:
			return a.(int32) + b.(int32)
		case I64:
			return a.(int64) + b.(int64)
		default:
			return a.(float64) + b.(float64)
		}
	case Narrow:
		return narrow(f.eval(e.A))
	case Widen:
		return widen(e.Type, f.eval(e.A).(int32))
	case *Op:
		return f.operate(e)[0]
	}
	panic(fmt.Sprintf("an expression of type %T", e))
}

func widen(t Type, v int32) value {
	switch t.Kind {
	case I32:
		return v
	case I64:
		return int64(v)
	case F64:
		return float64(v)
	case Any:
		return boxed(v << 1 >> 1)
	}
	return nil
}

func narrow(v value) value {
	switch v := v.(type) {
	case int64:
		return int32(v)
	case float64:
		return saturated(v)
	case boxed:
		return int32(v)
	case nil:
		return int32(-1)
	}
	return int32(-2) // a reference that is not null
}

// saturated is i32.trunc_sat_f64_s.
func saturated(v float64) int32 {
	switch {
	case v != v:
		return 0
	case v <= math.MinInt32:
		return math.MinInt32
	case v >= math.MaxInt32:
		return math.MaxInt32
	}
	return int32(v)
}
