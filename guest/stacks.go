package guest

import (
	"github.com/fiberfill/fiberfill/polyfill"
	"github.com/fiberfill/fiberfill/polyfill/run"
	views "github.com/fiberfill/fiberfill/polyfill/stacks"
)

// newStacks makes the operations of stacks. Parameters are in the order of include/fiberfill.h. An event has no tag
// here.
func newStacks(p *proposal) {
	v := run.NewStacks()
	p.system = v
	arrived := func(at uint64, values run.Values, sender polyfill.Token) {
		p.put(at, polyfill.Next, nil, sender, values)
	}
	body := func(f *fiber, env uint64) run.StackFunc {
		return func(values run.Values, sender polyfill.Token) {
			p.start(f, 0, env, func(at uint64) { arrived(at, values, sender) })
		}
	}
	awaits := func(types, nullable uint64) views.Awaits {
		return views.Awaits{Values: polyfill.Types(types), Nullable: uint32(nullable) != 0}
	}
	made := func(f *fiber, at uint64, t polyfill.Token) {
		p.made(f, t.Fiber())
		p.putRef(at, t)
	}
	p.operations = []operation{
		{"new", 5, 0, false, func(s []uint64) {
			p.event(s[4])
			f := p.fiber(s[2])
			made(f, s[4], v.New("", awaits(s[0], s[1]), body(f, s[3])))
		}},
		{"new_ref", 5, 0, false, func(s []uint64) {
			p.event(s[4])
			if p.null(s[2], ffBody) {
				v.NewRef("", awaits(s[0], s[1]), nil) // traps
			}
			f := p.fiber(s[2])
			made(f, s[4], v.NewRef("", awaits(s[0], s[1]), body(f, s[3])))
		}},
		{"switch", 3, 0, true, func(s []uint64) {
			_, values, to := p.received(s[0])
			back, sender := v.Switch(to, awaits(s[1], s[2]), values...)
			arrived(s[0], back, sender)
		}},
		{"switch_retire", 1, 0, false, func(s []uint64) {
			_, values, to := p.received(s[0])
			v.SwitchRetire(to, values...)
		}},
		{"switch_throw", 5, 0, true, func(s []uint64) {
			to := p.ref(s[0])
			p.raise(s[1], s[2])
			values, sender := v.SwitchThrow(to, awaits(s[3], s[4]), p.exception)
			arrived(s[0], values, sender)
		}},
		{"bind", 1, 0, false, func(s []uint64) {
			_, values, to := p.received(s[0])
			p.putRef(s[0], v.Bind(to, values...))
		}},
		{"return_switch", 3, 0, true, func(s []uint64) {
			_, values, to := p.received(s[0])
			v.ReturnSwitch(to, awaits(s[1], s[2]), func(values run.Values, sender polyfill.Token) []run.Value {
				arrived(s[0], values, sender)
				return nil
			}, values...)
		}},
		{"return_switch_throw", 5, 0, true, func(s []uint64) {
			to := p.ref(s[0])
			p.raise(s[1], s[2])
			v.ReturnSwitchThrow(to, awaits(s[3], s[4]), func(values run.Values, sender polyfill.Token) []run.Value {
				arrived(s[0], values, sender)
				return nil
			}, p.exception)
		}},
	}
}
