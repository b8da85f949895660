package guest

import (
	"encoding/binary"

	"github.com/fiberfill/fiberfill/polyfill"
	"github.com/fiberfill/fiberfill/polyfill/run"
)

// The layout of ff_event in include/fiberfill.h.
const (
	eventSize   = 88
	labelAt     = 0
	tagAt       = 4
	typesAt     = 8
	fiberAt     = 12
	refAt       = 16
	valuesAt    = 24
	lastOfTypes = uint64(polyfill.NullRef)
)

// event returns the bytes of the event at an address.
func (p *proposal) event(at uint64) []byte {
	b, ok := p.guest.read(uint32(at), eventSize)
	if !ok {
		p.refuse(polyfill.OK, "", "its event, %d bytes at %d, is outside the memory", eventSize, uint32(at))
	}
	return b
}

// received returns what an event of the guest's consists of.
func (p *proposal) received(at uint64) (tag uint32, values []run.Value, ref polyfill.Token) {
	b := p.event(at)
	tag, ref = binary.LittleEndian.Uint32(b[tagAt:]), polyfill.TokenOf(binary.LittleEndian.Uint64(b[refAt:]))
	return tag, p.values(uint32(at), p.types(uint64(binary.LittleEndian.Uint32(b[typesAt:])))), ref
}

// values returns those of an event.
func (p *proposal) values(at uint32, types polyfill.Types) []run.Value {
	b := p.event(uint64(at))[valuesAt:]
	values := make([]run.Value, types.Len())
	for i := range values {
		values[i] = run.Raw(types.At(i), binary.LittleEndian.Uint64(b[8*i:]))
	}
	return values
}

// types returns the list of types that a number stands for.
func (p *proposal) types(n uint64) polyfill.Types {
	for rest := uint64(uint32(n)); rest != 0; rest >>= 4 {
		if rest&15 == 0 || rest&15 > lastOfTypes {
			p.refuse(polyfill.OK, "", "%#x is no list of types", uint32(n))
		}
	}
	return polyfill.Types(n)
}

// put writes what has arrived. The rest of the event stays as it is.
func (p *proposal) put(at uint64, label int32, tag uint32, values []run.Value) {
	b := p.event(at)
	var types polyfill.Types
	for i, v := range values {
		types |= polyfill.Types(v.Type) << (4 * i)
		binary.LittleEndian.PutUint64(b[valuesAt+8*i:], run.Values(values).Bits(i))
	}
	binary.LittleEndian.PutUint32(b[labelAt:], uint32(label))
	binary.LittleEndian.PutUint32(b[tagAt:], tag)
	binary.LittleEndian.PutUint32(b[typesAt:], uint32(types))
}

func (p *proposal) putFiber(at uint64, f polyfill.Fiber) {
	binary.LittleEndian.PutUint32(p.event(at)[fiberAt:], uint32(f))
}

// ref returns the single-use reference in an event of which nothing else is sent.
func (p *proposal) ref(at uint64) polyfill.Token {
	return polyfill.TokenOf(binary.LittleEndian.Uint64(p.event(at)[refAt:]))
}

func (p *proposal) putRef(at uint32, ref uint64) {
	binary.LittleEndian.PutUint64(p.event(uint64(at))[refAt:], ref)
}

// tags are the tags and tables of a guest, as the numbers that it has of them.
type tags struct {
	p      *proposal
	tags   []*run.Tag // of number i+1
	params []polyfill.Types
	number map[*run.Tag]uint32
	tables map[polyfill.Table][]*run.Tag
}

func newTags(p *proposal) tags {
	return tags{p: p, number: map[*run.Tag]uint32{}, tables: map[polyfill.Table][]*run.Tag{0: nil}}
}

func (t *tags) add(tag *run.Tag, params polyfill.Types) uint64 {
	t.tags, t.params = append(t.tags, tag), append(t.params, params)
	t.number[tag] = uint32(len(t.tags))
	return uint64(len(t.tags))
}

// tag returns the tag of a number, nil for one that is not of this machine: the operation refuses that.
func (t *tags) tag(number uint32) *run.Tag {
	if number == 0 || int64(number) > int64(len(t.tags)) {
		return nil
	}
	return t.tags[number-1]
}

// list makes a table of the tags in the guest's memory.
func (t *tags) list(on func(...*run.Tag) polyfill.Table, at, count uint64) uint64 {
	b, ok := t.p.guest.read(uint32(at), uint32(min(4*uint64(uint32(count)), 1<<32-1)))
	if !ok {
		t.p.refuse(polyfill.OK, "", "the list of %d tags at %d is outside the memory", int32(count), uint32(at))
	}
	list := make([]*run.Tag, 0, len(b)/4)
	for ; len(b) > 0; b = b[4:] {
		number := binary.LittleEndian.Uint32(b)
		tag := t.tag(number)
		if tag == nil {
			t.p.refuse(polyfill.UnknownTag, "K-3", "%d is no tag that was made here", int32(number))
		}
		list = append(list, tag)
	}
	table := on(list...)
	t.tables[table] = list
	return uint64(table)
}

// table returns the table of a number. The machine itself has nothing to lose by one that nobody has made; the guest
// should hear of it.
func (t *tags) table(number uint64) polyfill.Table {
	table := polyfill.Table(number)
	if _, ok := t.tables[table]; !ok {
		t.p.refuse(polyfill.UnknownTag, "K-3", "%d is no table that was made here", int32(number))
	}
	return table
}

// place returns the place of a tag in a table, [polyfill.Next] for nil.
func (t *tags) place(table polyfill.Table, tag *run.Tag) int32 {
	for i, other := range t.tables[table] {
		if other == tag {
			return int32(i)
		}
	}
	return polyfill.Next
}

// sent returns the tag and the values of the event that an operation sends.
func (t *tags) sent(at uint64) (*run.Tag, []run.Value) {
	tag, values, _ := t.p.received(at)
	return t.tag(tag), values
}

// body returns the Go function of a fiber. One that starts at once is noted then: nobody has its reference before.
func (t *tags) body(f *fiber, env uint64) run.Func {
	return func(self polyfill.Fiber, first run.Event) []run.Value {
		if f.id == 0 {
			t.p.made(f, self)
		}
		return t.p.start(f, uint64(self), env, func(at uint32) { t.arrived(uint64(at), first) })
	}
}

// arrived writes an event that has come, and returns its label.
func (t *tags) arrived(at uint64, e run.Event) uint64 {
	t.p.put(at, e.Label, t.number[e.Tag], e.Values)
	return uint64(uint32(e.Label))
}
