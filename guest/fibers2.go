package guest

import (
	"encoding/binary"

	"github.com/fiberfill/fiberfill/polyfill"
	"github.com/fiberfill/fiberfill/polyfill/run"
)

// newFibers2 makes the operations of fibers2. Parameters are in the order of include/fiberfill.h.
func newFibers2(p *proposal) {
	v := run.NewFibers2()
	t := &tags{p, v}
	p.system = v
	made := func(at uint64, f polyfill.Fiber, e run.Event) uint64 {
		binary.LittleEndian.PutUint32(p.event(at)[fiberAt:], uint32(f))
		return t.arrived(at, e)
	}
	p.operations = []operation{
		t.make("tag", 1, func(params, _ polyfill.Types) *run.Tag { return v.Tag("", list(params)...) }),
		t.table(),
		{"new", 4, 1, false, func(s []uint64) {
			f := p.fiber(s[2])
			p.made(f, v.New("", t.tag(uint32(s[0])), polyfill.Table(s[1]), t.body(f, s[3])))
			s[0] = uint64(f.id)
		}},
		{"mount", 3, 1, true, func(s []uint64) {
			tag, values := t.sent(s[1])
			s[0] = t.arrived(s[1], v.Mount(polyfill.Fiber(s[0]), polyfill.Table(s[2]), tag, values...))
		}},
		{"switch", 4, 1, true, func(s []uint64) {
			tag, values := t.sent(s[2])
			from, to, wait := polyfill.Fiber(s[0]), polyfill.Fiber(s[1]), polyfill.Table(s[3])
			s[0] = t.arrived(s[2], v.Switch(from, to, wait, tag, values...))
		}},
		{"dismount", 3, 1, true, func(s []uint64) {
			tag, values := t.sent(s[1])
			s[0] = t.arrived(s[1], v.Dismount(polyfill.Fiber(s[0]), polyfill.Table(s[2]), tag, values...))
		}},
		{"release", 1, 0, false, func(s []uint64) { v.Release(polyfill.Fiber(s[0])) }},
		{"mount_new", 4, 1, true, func(s []uint64) {
			p.event(s[2])
			f, e := v.MountNew("", polyfill.Table(s[3]), t.body(p.fiber(s[0]), s[1]))
			s[0] = made(s[2], f, e)
		}},
		{"switch_new", 5, 1, true, func(s []uint64) {
			p.event(s[3])
			f, e := v.SwitchNew("", polyfill.Fiber(s[0]), polyfill.Table(s[4]), t.body(p.fiber(s[1]), s[2]))
			s[0] = made(s[3], f, e)
		}},
		{"dismount_release", 2, 1, false, func(s []uint64) {
			tag, values := t.sent(s[1])
			v.DismountRelease(polyfill.Fiber(s[0]), tag, values...)
			s[0] = t.arrived(s[1], run.Event{Label: polyfill.Next})
		}},
		{"switch_release", 3, 1, false, func(s []uint64) {
			tag, values := t.sent(s[2])
			v.SwitchRelease(polyfill.Fiber(s[0]), polyfill.Fiber(s[1]), tag, values...)
			s[0] = t.arrived(s[2], run.Event{Label: polyfill.Next})
		}},
	}
}
