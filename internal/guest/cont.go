package guest

import (
	"encoding/binary"

	"github.com/fiberfill/fiberfill/polyfill"
	"github.com/fiberfill/fiberfill/polyfill/run"
)

// newCont is system D. Parameters are in the order of include/fiberfill.h.
func newCont(p *proposal) {
	v, t := run.NewCont(), newTags(p)
	p.system = v
	var sent uint64 // where the event lies that is about to go out
	body := func(f *fiber, env uint64) run.ContFunc {
		return func(values run.Values) []run.Value {
			return p.start(f, 0, env, func(at uint32) { p.put(uint64(at), polyfill.Next, 0, values) })
		}
	}
	// admits is the filter that is a function of the guest's. It looks at the event where the sender has it, and is
	// called as if by the sender, who gets what it throws.
	admits := func(at, env uint64) func(*run.Tag, run.Values) bool {
		if at == 0 {
			return nil
		}
		p.need(at, 2, 1)
		return func(*run.Tag, run.Values) bool {
			answer := p.alone("the filter of a resume, asked by cont."+p.doing, "admits", at, env, sent)
			if answer[1] != 0 {
				run.Throw(p.exception)
			}
			return answer[0] != 0
		}
	}
	arrived := func(at uint64, on polyfill.Table, values run.Values, e *run.Evt) uint64 {
		label := polyfill.Next
		if e == nil {
			p.put(at, label, 0, values)
		} else {
			label = t.place(on, e.Tag)
			p.put(at, label, t.number[e.Tag], e.Values)
			p.putRef(uint32(at), e.Cont.Bits())
		}
		return uint64(uint32(label))
	}
	// evt is the event that has come out of a resume, nil if there is none.
	evt := func(at uint64) *run.Evt {
		number, values, cont := p.received(at)
		if number == 0 {
			return nil
		}
		tag := t.tag(number)
		if tag == nil {
			p.refuse(polyfill.UnknownTag, "K-3", "%d is no tag that was made here", int32(number))
		}
		types := polyfill.Types(binary.LittleEndian.Uint32(p.event(at)[typesAt:]))
		if !t.params[number-1].Takes(types) {
			p.refuse(polyfill.WrongPayload, "K-4", "%v", polyfill.WrongPayload)
		}
		return &run.Evt{Tag: tag, Values: values, Cont: cont}
	}
	p.operations = []operation{
		{"event", 2, 1, false, func(s []uint64) {
			params := p.types(s[0])
			s[0] = t.add(v.Event("", params, p.types(s[1])), params)
		}},
		{"table", 2, 1, false, func(s []uint64) { s[0] = t.list(v.On, s[0], s[1]) }},
		{"new", 5, 0, false, func(s []uint64) {
			p.event(s[4])
			if s[2] == 0 {
				v.New("", p.types(s[0]), p.types(s[1]), nil) // traps
			}
			f := p.fiber(s[2])
			k := v.New("", p.types(s[0]), p.types(s[1]), body(f, s[3]))
			p.made(f, k.Fiber())
			p.putRef(uint32(s[4]), k.Bits())
		}},
		{"resume", 4, 1, true, func(s []uint64) {
			_, values, k := p.received(s[0])
			on := t.table(s[1])
			results, e := v.ResumeIf(k, on, admits(s[2], s[3]), values...)
			s[0] = arrived(s[0], on, results, e)
		}},
		{"suspend", 1, 0, true, func(s []uint64) {
			tag, values, _ := p.received(s[0])
			sent = s[0]
			arrived(s[0], 0, v.Suspend(t.tag(tag), values...), nil)
		}},
		{"br_on_evt", 2, 1, false, func(s []uint64) {
			_, _, ok := v.BrOnEvt(evt(s[0]), t.tag(uint32(s[1])))
			s[0] = 0
			if ok {
				s[0] = 1
			}
		}},
		{"forward", 4, 1, true, func(s []uint64) {
			on := t.table(s[1])
			e := evt(s[0])
			sent = s[0]
			results, again := v.ForwardIf(e, on, admits(s[2], s[3]))
			s[0] = arrived(s[0], on, results, again)
		}},
		{"throw", 3, 0, true, func(s []uint64) {
			k := p.ref(s[0])
			p.raise(s[1], s[2])
			arrived(s[0], 0, v.Throw(k, p.exception), nil)
		}},
	}
}
