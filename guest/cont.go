package guest

import (
	"github.com/fiberfill/fiberfill/polyfill"
	"github.com/fiberfill/fiberfill/polyfill/run"
)

// newCont makes the operations of cont. Parameters are in the order of include/fiberfill.h.
func newCont(p *proposal) {
	v := run.NewCont()
	t := &tags{p, v}
	p.system = v
	var sent uint64 // the address of the event that is about to go out
	body := func(f *fiber, env uint64) run.ContFunc {
		return func(values run.Values) []run.Value {
			return p.start(f, 0, env, func(at uint64) { p.put(at, polyfill.Next, nil, polyfill.Token{}, values) })
		}
	}
	// admits calls a filter that is a function of the guest. The filter reads the event where the sender has it. The
	// filter is called as if by the sender, which gets the exceptions that the filter throws.
	admits := func(at, env uint64) func(*run.Tag, run.Values) bool {
		if at == 0 {
			return nil
		}
		p.need(at, ffAdmits)
		return func(*run.Tag, run.Values) bool {
			answer := p.alone("the filter of a resume, asked by cont."+p.doing, "admits", at, env, sent)
			if answer[1] != 0 {
				run.Throw(p.exception)
			}
			return answer[0] != 0
		}
	}
	arrived := func(at uint64, values run.Values, e *run.Evt) uint64 {
		if e == nil {
			return p.arrived(at, run.Event{Label: polyfill.Next, Values: values})
		}
		p.put(at, e.Label, e.Tag, e.Cont, e.Values)
		return uint64(uint32(e.Label))
	}
	// evt is the event that has come out of a resume, nil if there is none.
	evt := func(at uint64) *run.Evt {
		number, values, cont := p.received(at)
		return &run.Evt{Tag: t.tag(number), Values: values, Cont: cont}
	}
	p.operations = []operation{
		t.make("event", 2, func(params, results polyfill.Types) *run.Tag { return v.Event("", params, results) }),
		t.table(),
		{"new", 5, 0, false, func(s []uint64) {
			p.event(s[4])
			if p.null(s[2], ffBody) {
				v.New("", polyfill.Types(s[0]), polyfill.Types(s[1]), nil) // traps
			}
			f := p.fiber(s[2])
			k := v.New("", polyfill.Types(s[0]), polyfill.Types(s[1]), body(f, s[3]))
			p.made(f, k.Fiber())
			p.putRef(s[4], k)
		}},
		{"resume", 4, 1, true, func(s []uint64) {
			_, values, k := p.received(s[0])
			on := polyfill.Table(s[1])
			results, e := v.ResumeIf(k, on, admits(s[2], s[3]), values...)
			s[0] = arrived(s[0], results, e)
		}},
		{"suspend", 1, 0, true, func(s []uint64) {
			tag, values, _ := p.received(s[0])
			sent = s[0]
			arrived(s[0], v.Suspend(t.tag(tag), values...), nil)
		}},
		{"br_on_evt", 2, 1, false, func(s []uint64) {
			_, _, ok := v.BrOnEvt(evt(s[0]), t.tag(uint32(s[1])))
			s[0] = 0
			if ok {
				s[0] = 1
			}
		}},
		{"forward", 4, 1, true, func(s []uint64) {
			on := polyfill.Table(s[1])
			e := evt(s[0])
			sent = s[0]
			results, again := v.ForwardIf(e, on, admits(s[2], s[3]))
			s[0] = arrived(s[0], results, again)
		}},
		{"throw", 3, 0, true, func(s []uint64) {
			k := p.ref(s[0])
			p.raise(s[1], s[2])
			arrived(s[0], v.Throw(k, p.exception), nil)
		}},
	}
}
