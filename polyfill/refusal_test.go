package polyfill_test

import (
	"strings"
	"testing"

	. "github.com/fiberfill/fiberfill/polyfill"
	"github.com/fiberfill/fiberfill/polyfill/cont"
	"github.com/fiberfill/fiberfill/polyfill/fibers1"
	"github.com/fiberfill/fiberfill/polyfill/stacks"
)

type explained interface {
	Explain(text []byte, t Trap) []byte
}

func wantExplained(t *testing.T, s explained, trap Trap, want string) {
	t.Helper()
	if got := string(s.Explain(nil, trap)); got != want {
		t.Errorf("trap %q is explained as\n%s\nwant\n%s", trap, got, want)
	}
}

func TestValuesOfWrongTypesAreToldWithThoseExpectedAndTheTag(t *testing.T) {
	var s fibers1.System
	tag := s.Events.NewTag(List(I32, I64), 0)
	table, _ := s.Events.NewTable(tag)
	f, _ := s.New(0, table)
	wantExplained(t, &s, s.Resume(f, Event{Tag: tag, Payload: List(I32)}, 0), "wrong number or types of values [K-4]: "+
		"tag 1, expected (i32 i64 ), got (i32 ). Send what it was made with")
	wantExplained(t, &s, s.Block(tag, List(F32)), "wrong number or types of values [A-HDL-4]: "+
		"tag 1, expected (i32 i64 ), got (f32 ). Send what it was made with")
	var c cont.System
	ref, _ := c.New(true, List(I32), 0)
	wantExplained(t, &c, c.Resume(ref, 0, 0, false), "wrong number or types of values [D-SUSPEND-3]: "+
		"expected (i32 ), got (). Send what it was made with")
}

func TestResultsOfWrongTypesAreToldWithThoseExpected(t *testing.T) {
	var s fibers1.System
	s.Spawn(List(Ref), 0)
	wantExplained(t, &s, s.Returned(List(F64, NullRef)), "wrong number or types of results [A-TYPE-1]: "+
		"expected (ref ), got (f64 ref?). Return what it was made with")
	var c cont.System
	ref, _ := c.New(true, 0, List(I64))
	c.Resume(ref, 0, 0, false)
	wantExplained(t, &c, c.Returned(0), "wrong number or types of results [D-TYPE-1]: "+
		"expected (i64 ), got (). Return what it was made with")
}

func TestAnEventWithoutHandlerIsToldWithItsTagAndItsReceiver(t *testing.T) {
	var s fibers1.System
	a, b := s.Events.NewTag(0, 0), s.Events.NewTag(0, 0)
	table, _ := s.Events.NewTable(a)
	f, _ := s.New(0, table)
	wantExplained(t, &s, s.Resume(f, Event{Tag: b}, 0), "receiver has no handler for the event [A-HDL-7]: "+
		"tag 2, fiber 1. Have it wait with a table that has it")
	s.Resume(f, Event{Tag: a}, 0)
	wantExplained(t, &s, s.Switch(f, f, Event{Tag: b}, table), "receiver has no handler for the event [A-HDL-7]: "+
		"tag 2, fiber 1. Have it wait with a table that has it")
}

func TestAnUnknownTagOrTableIsTold(t *testing.T) {
	const remedy = ". Make both in this instance first"
	var s fibers1.System
	wantExplained(t, &s, s.Block(0, 0), "unknown tag [K-3]: tag 0, table 0"+remedy)
	_, trap := s.New(0, 4_000_000_000)
	wantExplained(t, &s, trap, "unknown tag [K-3]: tag 0, table 4000000000"+remedy)
}

func TestAFiberInAWrongStateIsTold(t *testing.T) {
	var s fibers1.System
	f, _ := s.New(0, 0)
	wantExplained(t, &s, s.Suspend(f, Event{Tag: s.Events.NewTag(0, 0)}, 0), "fiber is neither active nor an ancestor "+
		"of the active fiber [A-SUSPEND-1]: fiber 1. Name one in the chain")
	s.Release(f)
	wantExplained(t, &s, s.Release(f), "fiber is moribund [A-STATE-2]: fiber 1. Note which have ended")
	wantExplained(t, &s, s.Release(0), "null reference [A-PARENT-3]: Pass what new or an event gave")
}

func TestASingleUseReferenceThatIsUsedUpIsToldWithItsFiber(t *testing.T) {
	var s stacks.System
	s.Enter()
	old, _ := s.New(stacks.Awaits{Values: List(I32, I32)})
	s.Bind(old, List(I32))
	_, trap := s.Bind(old, List(I32))
	wantExplained(t, &s, trap, "reference already consumed [C-BIND-3]: fiber 2. Take the new one from the next event")
}

func TestACoroutineThatEndsNeedsAReceiverThatTakesNull(t *testing.T) {
	var s stacks.System
	s.Enter()
	to, _ := s.New(stacks.Awaits{})
	wantExplained(t, &s, s.SwitchRetire(to, 0), "wrong number or types of values [C-RETIRE-1]: "+
		"no null reference is taken. Switch instead")
}

func TestAnEventThatNoContinuationAdmitsIsToldWithItsTag(t *testing.T) {
	var s cont.System
	s.Events.NewTag(0, 0)
	wantExplained(t, &s, s.Suspend(Event{Tag: s.Events.NewTag(0, 0)}), "no enclosing continuation admits the event "+
		"[D-SUSPEND-4]: tag 2. Resume with a table that has it")
}

func TestEveryRefusalOfAnOperationHasARemedy(t *testing.T) {
	for trap := NullReference; trap < Unreachable; trap++ {
		text := string((&Refusal{}).Append(nil, trap, "R"))
		if more, found := strings.CutPrefix(text, trap.String()+" [R]: "); !found || more == "" {
			t.Errorf("%q", text)
		}
	}
}
