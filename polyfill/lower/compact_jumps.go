package lower

import (
	"github.com/fiberfill/fiberfill/internal/wasm"
	"github.com/fiberfill/fiberfill/internal/wasm/validate"
)

// How compact code that is entered again reaches its site: through a dispatch for each block that has points inside.

// sequence writes the instructions from i up to, not including, end, all in one block, which can be entered at the
// points among them. The dispatch
// of the blocks around may be left to it: the targets from index outside on are theirs.
func (c *compactEmitter) sequence(i, end, outside int) {
	e, s := &c.emitter, c.s
	base := len(c.points)
	c.points = s.points(c.points, i, end)
	points := c.points[base:]
	// If the block begins with a construct, that needs no jump; if that is a block, its dispatch serves this one, too.
	begins := len(points) > 0 && points[0] == i && isConstruct(s.ins[i].op)
	for k := len(points) - 1; k >= 0; k-- {
		if k == 0 && begins {
			break
		}
		e.block()
		first, last := s.span(&s.ins[points[k]])
		c.targets = append(c.targets, target{first, last, e.depth})
	}
	if !begins || s.ins[i].op != wasm.OpBlock {
		c.dispatch(c.targets[outside:], begins)
		c.targets = c.targets[:outside]
	}
	for k, p := range points {
		in := &s.ins[p]
		inside := len(c.targets)
		if k == 0 && begins {
			inside = outside
		} else {
			c.linear(i, p)
			if in.op == wasm.OpIf {
				e.set(c.back(validate.I32))
			}
			if in.site > 0 {
				c.perform(in)
			}
			e.end()
		}
		later := 0 // operands that stay where they are until the next point
		if k+1 < len(points) {
			later = s.common(in, &s.ins[points[k+1]])
		}
		if in.site > 0 {
			c.entry(in, later)
			i = p + 1
			continue
		}
		c.construct(in, p, later, inside)
		i = s.end(p) + 1
	}
	c.linear(i, end)
	c.points = c.points[:base]
}

// common returns how many operands lie below both points.
func (s *source) common(a, b *ins) int {
	n := 0
	x, y := s.own(a), s.own(b)
	for n < len(x) && n < len(y) && s.origins[a.origins+int32(n)] == s.origins[b.origins+int32(n)] {
		n++
	}
	return n
}

// dispatch goes to a target if the function is being entered again. through says that some sites lie straight ahead,
// all before those of the targets.
func (c *compactEmitter) dispatch(targets []target, through bool) {
	e, l := &c.emitter, c.l
	top := !c.entered
	c.entered = true
	if top {
		e.global(l.hidden(globalState))
		e.Op(wasm.OpLocalTee, c.site)
		e.iff()
		e.call(l.loader(c.shape))
		e.set(c.frame)
		for k := len(c.fields) - 1; k >= 0; k-- {
			e.set(c.fields[k].local)
		}
		for _, r := range c.results {
			e.global(l.assign([]valType{r.t})[0])
			e.set(r.local)
		}
	}
	switch {
	case len(targets) == 0:
	case len(targets) == 1 && top && !through:
		e.Op(wasm.OpBr, uint32(e.depth-targets[0].depth))
	case len(targets) == 1 && !through:
		e.get(c.site)
		e.Op(wasm.OpBrIf, uint32(e.depth-targets[0].depth))
	case len(targets) == 1:
		e.get(c.site)
		e.i32(uint32(targets[0].first))
		e.Byte(0x4f) // i32.ge_u
		e.Op(wasm.OpBrIf, uint32(e.depth-targets[0].depth))
	default:
		c.table(targets)
	}
	if top {
		e.end()
	}
}

// table writes a dispatch with several targets, of which the last comes first.
func (c *compactEmitter) table(targets []target) {
	e := &c.emitter
	lowest, highest := targets[len(targets)-1].first, targets[0].last
	for _, t := range targets {
		lowest, highest = min(lowest, t.first), max(highest, t.last)
	}
	to := make([]uint32, highest-lowest+1)
	e.block()
	for _, t := range targets {
		for k := t.first; k <= t.last; k++ {
			to[k-lowest] = uint32(e.depth - t.depth)
		}
	}
	e.get(c.site)
	e.i32(uint32(lowest))
	e.Byte(wasm.OpI32Sub)
	e.Op(wasm.OpBrTable, uint32(len(to)))
	for _, label := range to {
		e.U32(label)
	}
	e.U32(0)
	e.end()
}

// linear writes instructions with no point among them.
func (c *compactEmitter) linear(i, end int) {
	for ; i < end; i++ {
		if in := &c.s.ins[i]; !c.plain(in, i) {
			c.keep(in)
		}
	}
}

// plain writes the i-th instruction unchanged. It returns whether the instruction has opened a construct.
func (c *compactEmitter) plain(in *ins, i int) bool {
	e := &c.emitter
	switch {
	case isConstruct(in.op):
		c.open(in, i)
		return true
	case in.op == wasm.OpElse:
		e.Byte(wasm.OpElse)
	case in.op == wasm.OpEnd:
		e.finish()
	default:
		e.copy(in.op, int(in.at), int(in.end))
	}
	return false
}

// keep puts the result of an instruction into a local, if the result will lie below a point.
func (c *compactEmitter) keep(in *ins) {
	if in.kept > 0 {
		c.set(c.temp(useOperand, int(in.kept-1), in.keptType))
	}
}

// perform writes the call of a site; entry is where the function goes on.
func (c *compactEmitter) perform(in *ins) {
	c.copy(in.op, int(in.at), int(in.end))
	if results := c.emitter.results(in); len(results) > 0 {
		c.set(c.back(results[0]))
	}
	c.check(in)
}

func (c *compactEmitter) entry(in *ins, later int) {
	e := &c.emitter
	if c.s.again(in) {
		e.i32(0)
		e.set(c.site)
	}
	e.reload(useOperand, int(in.height)+later, c.s.own(in)[later:])
	if results := e.results(in); len(results) > 0 {
		e.get(c.back(results[0]))
	}
	c.keep(in)
}

// again reports whether a dispatch may follow after a site; it must not go to the site a second time.
func (s *source) again(in *ins) bool {
	if in.site < s.lastOpened {
		return true
	}
	for at := in.parent; at >= 0; at = s.ins[at].parent {
		if s.ins[at].op == wasm.OpLoop {
			return true
		}
	}
	return false
}

// construct writes a construct with sites inside. The targets from inside on are left to it.
func (c *compactEmitter) construct(in *ins, p, later, inside int) {
	e, s := &c.emitter, c.s
	e.reload(useOperand, int(in.height)+later, s.own(in)[later:])
	if in.op == wasm.OpIf {
		c.condition(in)
	}
	c.open(in, p)
	c.sequence(p+1, int(in.to), inside)
	if rest := &s.ins[in.to]; in.op == wasm.OpIf && rest.op == wasm.OpElse {
		e.Byte(wasm.OpElse)
		c.sequence(int(in.to)+1, int(rest.to), len(c.targets))
	}
	e.finish()
	c.keep(&s.ins[s.end(p)])
}

// condition pushes the condition of an if with sites: it selects the part that has the site at which the function is
// entered.
func (c *compactEmitter) condition(in *ins) {
	e, s := &c.emitter, c.s
	rest := &s.ins[in.to]
	given := c.back(validate.I32)
	switch {
	case rest.op != wasm.OpElse || rest.first > rest.last:
		e.get(given)
		e.get(c.site)
		e.Byte(wasm.OpI32Or)
		return
	case in.first > in.last:
		e.i32(0)
	default:
		e.get(c.site)
		e.i32(uint32(in.last))
		e.Byte(0x4d) // i32.le_u
	}
	e.get(given)
	e.get(c.site)
	e.Byte(wasm.OpSelect)
}
