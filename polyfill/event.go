package polyfill

// Tag names a kind of event. Tags are compared by identity, never by name or types (K-3). The zero Tag is none.
type Tag uint32

// Table names the list of tags that one instruction takes: its event blocks from the innermost out, its handlers, its
// filter. The zero Table is empty. Tables are made once for an instruction, not once for a switch, and are never freed;
// the same list has the same number.
type Table uint32

// Event is what a computation sends: a tag, and the types of the values that go with it. The values themselves travel
// with the substrate; they cannot be stored here, because an event is gone when it has arrived (K-5).
type Event struct {
	Tag     Tag
	Payload Types
}

// Events holds the tags of one machine and what each of its computations waits for (P3). The zero Events is ready for
// use. What grows with the number of fibers has no pointers. Only making tags and tables, and growth, allocate.
type Events struct {
	tags   []signature // of tag number i+1
	tables []span      // of table number i+1
	lists  []Tag       // all tables, one after the other
	waits  []Table     // by Fiber.Index; the root's is the first

	refused Refusal // what a check has found last that may be refused
}

type signature struct{ params, results Types }

type span struct{ from, to uint32 }

// NewTag makes a tag, different from all others (K-3). results are the types of the values that come back, which only
// cont has (D-TYPE-2). It returns 0 if params or results is not a valid list of types.
func (e *Events) NewTag(params, results Types) Tag {
	if !params.Valid() || !results.Valid() {
		return 0
	}
	e.tags = append(e.tags, signature{params, results})
	return Tag(len(e.tags))
}

// NewTable returns the number of a list of tags; ok is false if one of them is not a tag of this machine. A tag that is
// in the list twice counts at its first place (B-EVT-1). It searches all existing tables for the same list.
func (e *Events) NewTable(tags ...Tag) (table Table, ok bool) {
	for _, t := range tags {
		if !e.Known(t) {
			return 0, false
		}
	}
	if len(tags) == 0 {
		return 0, true
	}
	for i := range e.tables {
		if e.same(e.tables[i], tags) {
			return Table(i + 1), true
		}
	}
	from := uint32(len(e.lists))
	e.lists = append(e.lists, tags...)
	e.tables = append(e.tables, span{from, uint32(len(e.lists))})
	return Table(len(e.tables)), true
}

func (e *Events) same(s span, tags []Tag) bool {
	if int(s.to-s.from) != len(tags) {
		return false
	}
	for i, t := range tags {
		if e.lists[int(s.from)+i] != t {
			return false
		}
	}
	return true
}

// Known reports whether t is a tag of this machine.
func (e *Events) Known(t Tag) bool {
	if t != 0 && uint(t) <= uint(len(e.tags)) {
		return true
	}
	e.unknown(t, 0)
	return false
}

// KnownTable reports whether t is a table of this machine. The empty table is one.
func (e *Events) KnownTable(t Table) bool {
	if uint(t) <= uint(len(e.tables)) {
		return true
	}
	e.unknown(0, t)
	return false
}

// Params returns the types that go with a tag.
func (e *Events) Params(t Tag) Types { return e.tags[t-1].params }

// Results returns the types that come back.
func (e *Events) Results(t Tag) Types { return e.tags[t-1].results }

// First returns the first tag of a table, 0 if the table is empty.
func (e *Events) First(t Table) Tag {
	if t == 0 || !e.KnownTable(t) {
		return 0
	}
	return e.lists[e.tables[t-1].from]
}

// Check returns why no computation may send an event with this tag and payload and wait with this table: static typing,
// enforced when the operation runs (K-4).
func (e *Events) Check(v Event, wait Table) Trap {
	switch {
	case e.Known(v.Tag) && e.KnownTable(wait) && e.tags[v.Tag-1].params.Takes(v.Payload):
		return OK // a tag's types are a list, so these are
	case !v.Payload.Valid():
		return NotTypes
	case !e.Known(v.Tag) || !e.KnownTable(wait):
		return UnknownTag
	}
	e.Mismatch(v.Tag, e.Params(v.Tag), v.Payload)
	return WrongPayload
}

// Wait records the table that f waits with; the null reference stands for the root. For a fiber that has never run, the
// table lists the events that start it.
func (e *Events) Wait(f Fiber, t Table) {
	i := f.Index()
	for i >= len(e.waits) {
		e.waits = append(e.waits, 0)
	}
	e.waits[i] = t
}

// Accepts returns the label at which the waiting fiber f takes the tag: the tag's first place in f's table. ok is false
// if f does not take it. It changes nothing but what [Events.Refusal] tells (P3).
func (e *Events) Accepts(f Fiber, t Tag) (label int32, ok bool) {
	var table Table
	if f.Index() < len(e.waits) {
		table = e.waits[f.Index()]
	}
	label, ok = e.Find(table, t)
	if !ok {
		e.Untaken(f, t)
	}
	return label, ok
}

// Find returns the label of a tag in a table: its first place. ok is false if the tag is not there. Pure.
func (e *Events) Find(table Table, t Tag) (label int32, ok bool) {
	if table == 0 || !e.KnownTable(table) {
		return Next, false
	}
	s := e.tables[table-1]
	for i, other := range e.lists[s.from:s.to] {
		if other == t {
			return int32(i), true
		}
	}
	return Next, false
}
