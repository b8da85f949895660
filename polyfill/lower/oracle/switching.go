package oracle

// A continuation is the chain of computations from the one that was resumed to the one that waits.
type continuation struct {
	chain []*computation // the outermost first; nil: consumed
	given []value        // by cont.bind
}

// A computation is a goroutine: the stack of a continuation.
type computation struct {
	world  *world
	fn     int  // the function that it starts with
	begun  bool // it has started
	parent *computation
	takes  func(m message) bool // whether the resume that it runs under handles a suspension
	in     chan message         // what it is resumed with
	out    chan message         // to that resume
}

// A message goes into a computation, or comes out of it.
type message struct {
	values []value // that it is resumed with, or has returned, or that a suspension carries
	thrown *exception
	trap   *trap

	suspends bool
	tag      int
	to       *continuation // of a switch
	from     *continuation // the computation that has suspended
}

// ended is what ends a goroutine whose program is over.
type ended struct{}

// operate performs an operation and returns its results.
func (f *frame) operate(op *Op) []value {
	w := f.w
	args := f.evalAll(op.Args)
	if op.Kind == OpCall {
		return w.call(op.Func, args)
	}
	w.ops++
	switch op.Kind {
	case OpNew:
		c := &computation{world: w, fn: op.Func, in: make(chan message), out: make(chan message)}
		return []value{&continuation{chain: []*computation{c}}}
	case OpBind:
		bound := taken(f.eval(op.On))
		bound.given = append(append([]value(nil), bound.given...), args...)
		return []value{bound}
	case OpSuspend:
		return w.suspend(message{suspends: true, tag: op.Tag, values: args})
	case OpSwitch:
		to, _ := f.eval(op.On).(*continuation)
		check(to)
		return w.suspend(message{suspends: true, tag: op.Tag, values: args, to: to})
	case OpResumeThrow:
		return f.resume(op, message{thrown: &exception{op.Tag, args}})
	case OpResumeThrowRef:
		thrown, _ := args[0].(*exception)
		if thrown == nil {
			panic(&trap{"null exception"})
		}
		return f.resume(op, message{thrown: thrown})
	default:
		return f.resume(op, message{values: args})
	}
}

func check(c *continuation) {
	if c == nil || c.chain == nil {
		panic(&trap{"null or consumed continuation"})
	}
}

// taken consumes a continuation and returns what can be used in its place.
func taken(v value) *continuation {
	c, _ := v.(*continuation)
	check(c)
	fresh := *c
	c.chain, c.given = nil, nil
	return &fresh
}

// handler returns the clause of a resume that takes a suspension, nil if none does.
func (op *Op) handler(m message) *Handler {
	for i := range op.Handlers {
		if h := &op.Handlers[i]; h.Tag == m.tag && h.Switch == (m.to != nil) {
			return h
		}
	}
	return nil
}

// suspend leaves the current computation, if a handler takes it, and returns what it is resumed with.
func (w *world) suspend(m message) []value {
	self := w.current
	outermost := self
	for outermost != nil && !outermost.takes(m) {
		outermost = outermost.parent
	}
	if outermost == nil {
		panic(&trap{"unhandled tag"})
	}
	if m.to != nil {
		m.to = taken(m.to)
	}
	m.from = &continuation{}
	for c := self; ; c = c.parent {
		m.from.chain = append([]*computation{c}, m.from.chain...)
		if c == outermost {
			break
		}
	}
	outermost.out <- m
	back := self.receive(self.in)
	if back.thrown != nil {
		panic(back.thrown)
	}
	return back.values
}

func (c *computation) receive(from chan message) message {
	select {
	case m := <-from:
		return m
	case <-c.world.done:
		panic(ended{})
	}
}

// resume runs a continuation until it has ended or a handler has taken a suspension of it.
func (f *frame) resume(op *Op, m message) []value {
	w := f.w
	self := w.current
	c := taken(f.eval(op.On))
	for {
		if m.thrown == nil {
			m.values = append(append([]value(nil), c.given...), m.values...)
		}
		head, leaf := c.chain[0], c.chain[len(c.chain)-1]
		if !leaf.begun && m.thrown != nil {
			panic(m.thrown) // it never begins
		}
		head.parent = self
		head.takes = func(m message) bool { return op.handler(m) != nil }
		w.current = leaf
		leaf.go_(m)
		m = head.receive(head.out)
		w.current = self
		switch {
		case m.trap != nil:
			panic(m.trap)
		case m.thrown != nil:
			panic(m.thrown)
		case !m.suspends:
			return m.values
		case m.to != nil: // the other one runs under this resume now
			c, m = m.to, message{values: append(append([]value(nil), m.values...), m.from)}
			continue
		}
		h := op.handler(m)
		for i, to := range h.To {
			f.locals[to] = m.values[i]
		}
		f.locals[h.Cont] = m.from
		f.run(h.Body)
		return f.evalAll(h.Values)
	}
}

// go_ makes a computation begin or go on.
func (c *computation) go_(m message) {
	if c.begun {
		c.in <- m
		return
	}
	c.begun = true
	go func() {
		defer func() {
			switch e := recover().(type) {
			case nil, ended:
			case *trap:
				c.out <- message{trap: e}
			case *exception:
				c.out <- message{thrown: e}
			default:
				panic(e)
			}
		}()
		c.out <- message{values: c.world.call(c.fn, m.values)}
	}()
}
