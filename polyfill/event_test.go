package polyfill

import "testing"

func TestK_4_lists_of_types(t *testing.T) {
	list := List(I32, F64, Ref)
	if list.Len() != 3 || list.At(0) != I32 || list.At(2) != Ref || list.At(3) != 0 {
		t.Errorf("List(I32, F64, Ref) = %#x", list)
	}
	for _, c := range []struct {
		expected, sent Types
		want           bool
	}{
		{0, 0, true},
		{List(I32), List(I32), true},
		{List(I32), 0, false},
		{0, List(I32), false},
		{List(I32), List(I64), false},
		{List(I32), List(I32, I32), false},
		{List(I32, F32), List(F32, I32), false},
		{List(NullRef), List(Ref), true},
		{List(Ref), List(NullRef), false},
		{List(I32, NullRef), List(I32, Ref), true},
	} {
		if got := c.expected.Takes(c.sent); got != c.want {
			t.Errorf("%#x takes %#x: %v, want %v", c.expected, c.sent, got, c.want)
		}
	}
	if rest, ok := list.After(List(I32)); !ok || rest != List(F64, Ref) {
		t.Errorf("After(I32) = %#x, %v", rest, ok)
	}
	if _, ok := list.After(List(I32, I32)); ok {
		t.Error("After a list that is no prefix")
	}
	for suffix, want := range map[Types]bool{0: true, List(Ref): true, List(F64, Ref): true, list: true,
		List(F64): false, List(I32, I32, F64, Ref): false} {
		if got := list.EndsWith(suffix); got != want {
			t.Errorf("EndsWith(%#x) = %v, want %v", suffix, got, want)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("a list of nine types does not panic")
		}
	}()
	List(make([]Type, MaxValues+1)...)
}

func TestK_3_tags_and_tables(t *testing.T) {
	var e Events
	a, b, c := e.NewTag(List(I32), 0), e.NewTag(List(I32), List(F64)), e.NewTag(0, 0)
	if a == b || a == 0 || e.Params(b) != List(I32) || e.Results(b) != List(F64) {
		t.Errorf("tags %d and %d, params %#x, results %#x", a, b, e.Params(b), e.Results(b))
	}
	table, ok := e.NewTable(b, a, b)
	if again, _ := e.NewTable(b, a, b); !ok || again != table || e.First(table) != b {
		t.Errorf("tables %d and %d of the same list, first tag %d", table, again, e.First(table))
	}
	if other, _ := e.NewTable(a, b); other == table {
		t.Error("two lists have one table")
	}
	for _, foreign := range []Tag{0, c + 1} {
		if _, ok := e.NewTable(a, foreign); ok || e.Known(foreign) {
			t.Errorf("tag %d is known", foreign)
		}
	}
	var m Machine
	f := m.New()
	if _, ok := e.Accepts(f, a); ok {
		t.Error("a fiber that waits for nothing accepts")
	}
	e.Wait(f, table)
	for tag, want := range map[Tag]int32{a: 1, b: 0, c: Next, 0: Next, 99: Next} {
		if got, ok := e.Accepts(f, tag); got != want || ok != (want != Next) {
			t.Errorf("Accepts(%d) = %d, %v, want %d", tag, got, ok, want)
		}
	}
	if _, ok := e.Find(table+9, a); ok || e.First(table+9) != 0 || e.KnownTable(table+9) || !e.KnownTable(0) {
		t.Error("a table that nobody has made takes a tag")
	}
	for _, c := range []struct {
		v    Event
		wait Table
		want Trap
	}{
		{Event{a, List(I32)}, table, OK},
		{Event{0, 0}, 0, UnknownTag},
		{Event{99, 0}, 0, UnknownTag},
		{Event{a, List(I32)}, table + 9, UnknownTag},
		{Event{a, 0}, 0, WrongPayload},
	} {
		if got := e.Check(c.v, c.wait); got != c.want {
			t.Errorf("Check(%v, %d) = %q, want %q", c.v, c.wait, got, c.want)
		}
	}
}

// Nothing on the way of a switch allocates.
func TestEventsDoNotAllocate(t *testing.T) {
	var e Events
	var m Machine
	tag := e.NewTag(List(I32), 0)
	table, _ := e.NewTable(tag)
	f := m.New()
	e.Wait(f, table)
	if n := testing.AllocsPerRun(100, func() {
		e.Check(Event{tag, List(I32)}, table)
		e.Accepts(f, tag)
		e.Wait(f, table)
		e.NewTable(tag)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
