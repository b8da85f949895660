package guest

import (
	"github.com/fiberfill/fiberfill/polyfill"
	"github.com/fiberfill/fiberfill/polyfill/run"
)

// newFibers1 makes the operations of fibers1. Parameters are in the order of include/fiberfill.h.
func newFibers1(p *proposal) {
	v := run.NewFibers1()
	t := &tags{p, v}
	p.system = v
	p.operations = []operation{
		t.make("tag", 1, func(params, _ polyfill.Types) *run.Tag { return v.Tag("", list(params)...) }),
		t.table(),
		{"block", 2, 0, false, func(s []uint64) { v.Block(t.tag(uint32(s[0])), list(polyfill.Types(s[1]))...) }},
		{"new", 4, 1, false, func(s []uint64) {
			f := p.fiber(s[2])
			p.made(f, v.New("", polyfill.Types(s[0]), polyfill.Table(s[1]), t.body(f, s[3])))
			s[0] = uint64(f.id)
		}},
		{"spawn", 5, 1, true, func(s []uint64) {
			p.event(s[3])
			s[0] = t.arrived(s[3], v.Spawn("", polyfill.Types(s[0]), polyfill.Table(s[4]), t.body(p.fiber(s[1]), s[2])))
		}},
		{"suspend", 3, 1, true, func(s []uint64) {
			tag, values := t.sent(s[1])
			s[0] = t.arrived(s[1], v.Suspend(polyfill.Fiber(s[0]), polyfill.Table(s[2]), tag, values...))
		}},
		{"resume", 3, 1, true, func(s []uint64) {
			tag, values := t.sent(s[1])
			s[0] = t.arrived(s[1], v.Resume(polyfill.Fiber(s[0]), polyfill.Table(s[2]), tag, values...))
		}},
		{"switch", 4, 1, true, func(s []uint64) {
			tag, values := t.sent(s[2])
			from, to, wait := polyfill.Fiber(s[0]), polyfill.Fiber(s[1]), polyfill.Table(s[3])
			s[0] = t.arrived(s[2], v.Switch(from, to, wait, tag, values...))
		}},
		{"retire", 2, 0, false, func(s []uint64) {
			tag, values := t.sent(s[1])
			v.Retire(polyfill.Fiber(s[0]), tag, values...)
		}},
		{"retireto", 3, 0, false, func(s []uint64) {
			tag, values := t.sent(s[2])
			v.RetireTo(polyfill.Fiber(s[0]), polyfill.Fiber(s[1]), tag, values...)
		}},
		{"release", 1, 0, false, func(s []uint64) { v.Release(polyfill.Fiber(s[0])) }},
	}
}

// list returns the types one by one.
func list(types polyfill.Types) (list []polyfill.Type) {
	for i := range types.Len() {
		list = append(list, types.At(i))
	}
	return list
}
