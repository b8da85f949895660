package guest

import (
	"encoding/binary"

	"github.com/fiberfill/fiberfill/polyfill"
	"github.com/fiberfill/fiberfill/polyfill/run"
)

// The layout of ff_event in include/fiberfill.h.
const (
	eventSize = 88
	labelAt   = 0
	tagAt     = 4
	typesAt   = 8
	fiberAt   = 12
	refAt     = 16
	valuesAt  = 24
)

// bytes returns size bytes of the guest's memory.
func (p *proposal) bytes(at uint64, size uint32) []byte {
	b, ok := p.guest.read(uint32(at), size)
	if !ok {
		p.refuse("address %d is out of the memory's bounds", uint32(at))
	}
	return b
}

// event returns the bytes of the event at an address.
func (p *proposal) event(at uint64) []byte { return p.bytes(at, eventSize) }

// received returns the parts of an event of the guest.
func (p *proposal) received(at uint64) (tag uint32, values []run.Value, ref polyfill.Token) {
	b := p.event(at)
	return binary.LittleEndian.Uint32(b[tagAt:]), p.values(at, binary.LittleEndian.Uint32(b[typesAt:])), p.ref(at)
}

// values returns the values of an event. For an invalid list of types it returns values that the operation refuses.
func (p *proposal) values(at uint64, types uint32) []run.Value {
	b, list := p.event(at)[valuesAt:], polyfill.Types(types)
	values := make([]run.Value, list.Len())
	for i := range values {
		values[i] = run.Raw(list.At(i), binary.LittleEndian.Uint64(b[8*i:]))
	}
	return values
}

// put writes what has arrived: all of an event but the reference to a fiber that an operation has made.
func (p *proposal) put(at uint64, label int32, tag *run.Tag, ref polyfill.Token, values []run.Value) {
	b := p.event(at)
	var types polyfill.Types
	for i, v := range values {
		types |= polyfill.Types(v.Type) << (4 * i)
		binary.LittleEndian.PutUint64(b[valuesAt+8*i:], run.Values(values).Bits(i))
	}
	binary.LittleEndian.PutUint32(b[labelAt:], uint32(label))
	binary.LittleEndian.PutUint32(b[tagAt:], uint32(tag.Number()))
	binary.LittleEndian.PutUint32(b[typesAt:], uint32(types))
	p.putRef(at, ref)
}

// arrived writes an event that has come, and returns its label.
func (p *proposal) arrived(at uint64, e run.Event) uint64 {
	p.put(at, e.Label, e.Tag, polyfill.Token{}, e.Values)
	return uint64(uint32(e.Label))
}

// ref returns the single-use reference in an event.
func (p *proposal) ref(at uint64) polyfill.Token {
	return polyfill.TokenOf(binary.LittleEndian.Uint64(p.event(at)[refAt:]))
}

func (p *proposal) putRef(at uint64, ref polyfill.Token) {
	binary.LittleEndian.PutUint64(p.event(at)[refAt:], ref.Bits())
}

// tagged is a system of package run that has tags, which guests name by their numbers.
type tagged interface {
	Tagged(number polyfill.Tag) *run.Tag
	Unknown(number polyfill.Tag) *run.Tag
	On(list ...*run.Tag) polyfill.Table
}

// tags are what the systems with tags have in common.
type tags struct {
	*proposal
	tagged
}

// tag returns the tag of a number, nil for 0. If no tag has this number, it returns a tag that the operation refuses.
func (t *tags) tag(number uint32) *run.Tag {
	if tag := t.Tagged(polyfill.Tag(number)); tag != nil || number == 0 {
		return tag
	}
	return t.Unknown(polyfill.Tag(number))
}

// make is the operation that makes a tag: its function takes the types of its parameters, and of its results.
func (t *tags) make(name string, params int, tag func(params, results polyfill.Types) *run.Tag) operation {
	return operation{name, params, 1, false, func(s []uint64) {
		types := [2]polyfill.Types{}
		for i := range params {
			types[i] = polyfill.Types(s[i])
			if !types[i].Valid() {
				t.refuse("%s", (&polyfill.Refusal{}).Append(nil, polyfill.NotTypes, "K-4"))
			}
		}
		s[0] = uint64(tag(types[0], types[1]).Number())
	}}
}

// table is the operation that makes a table of the tags in the guest's memory.
func (t *tags) table() operation {
	return operation{"table", 2, 1, false, func(s []uint64) {
		b := t.bytes(s[0], uint32(min(4*uint64(uint32(s[1])), 1<<32-1)))
		list := make([]*run.Tag, 0, len(b)/4)
		for ; len(b) > 0; b = b[4:] {
			number := polyfill.Tag(binary.LittleEndian.Uint32(b))
			tag := t.Tagged(number)
			if tag == nil {
				t.refuse("%s", (&polyfill.Refusal{Tag: number}).Append(nil, polyfill.UnknownTag, "K-3"))
			}
			list = append(list, tag)
		}
		s[0] = uint64(t.On(list...))
	}}
}

// sent returns the tag and the values of the event that an operation sends.
func (t *tags) sent(at uint64) (*run.Tag, []run.Value) {
	tag, values, _ := t.received(at)
	return t.tag(tag), values
}

// body returns the Go function of a fiber. A fiber that starts at once is noted when it starts, because its reference
// is not known before.
func (t *tags) body(f *fiber, env uint64) run.Func {
	return func(self polyfill.Fiber, first run.Event) []run.Value {
		if f.id == 0 {
			t.made(f, self)
		}
		return t.start(f, uint64(self), env, func(at uint64) { t.arrived(at, first) })
	}
}
