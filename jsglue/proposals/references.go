package main

import (
	"github.com/fiberfill/fiberfill/polyfill"
	"github.com/fiberfill/fiberfill/polyfill/cont"
	"github.com/fiberfill/fiberfill/polyfill/stacks"
)

// --- system C

var coroutines stacks.System

func awaits(payload uint32, nullable bool) stacks.Awaits {
	return stacks.Awaits{Values: types(payload), Nullable: nullable}
}

// enter begins an entry; who runs now is its coroutine.
//
//go:wasmexport c_enter
func cEnter() int32 {
	f, trap := coroutines.Enter()
	return moved(polyfill.Transition{To: f}, trap)
}

//go:wasmexport c_leave
func cLeave() { coroutines.Leave() }

// host says that frames of the host are on the active coroutine's stack (1), or no longer (-1).
//
//go:wasmexport c_host
func cHost(frames int32) { coroutines.Host(frames) }

//go:wasmexport c_new
func cNew(payload uint32, nullable bool) int32 {
	operation = uint8(stacks.OpNew)
	return minted(coroutines.New(awaits(payload, nullable)))
}

//go:wasmexport c_new_ref
func cNewRef(payload uint32, nullable, function bool) int32 {
	operation = uint8(stacks.OpNewRef)
	return minted(coroutines.NewRef(function, awaits(payload, nullable)))
}

func switched(to fiber, back token, trap polyfill.Trap) int32 {
	moved(polyfill.Transition{To: to, Label: polyfill.Next}, trap)
	return minted(back, trap)
}

// cSwitch is switch, and return_switch: to the machine they differ by their names.
//
//go:wasmexport c_switch
func cSwitch(f, number, payload, waits uint32, nullable, returns bool) int32 {
	operation = uint8(stacks.OpSwitch)
	if returns {
		operation = uint8(stacks.OpReturnSwitch)
	}
	return switched(coroutines.Switch(reference(f, number), types(payload), awaits(waits, nullable)))
}

//go:wasmexport c_switch_retire
func cSwitchRetire(f, number, payload uint32) int32 {
	operation = uint8(stacks.OpSwitchRetire)
	to, trap := coroutines.SwitchRetire(reference(f, number), types(payload))
	return switched(to, token{}, trap)
}

//go:wasmexport c_switch_throw
func cSwitchThrow(f, number, waits uint32, nullable, returns bool) int32 {
	operation = uint8(stacks.OpSwitchThrow)
	if returns {
		operation = uint8(stacks.OpReturnSwitchThrow)
	}
	return switched(coroutines.SwitchThrow(reference(f, number), awaits(waits, nullable)))
}

//go:wasmexport c_bind
func cBind(f, number, payload uint32) int32 {
	operation = uint8(stacks.OpBind)
	return minted(coroutines.Bind(reference(f, number), types(payload)))
}

// cReturn is the end of the function of a coroutine other than the entry's, which is a mistake.
//
//go:wasmexport c_return
func cReturn(uint32) int32 {
	operation = uint8(stacks.OpReturn)
	return int32(coroutines.Return())
}

//go:wasmexport c_throw
func cThrow() int32 {
	operation = uint8(stacks.OpThrow)
	return int32(coroutines.Throw())
}

// --- system D

var continuations cont.System

//go:wasmexport d_new
func dNew(params, results uint32, function bool) int32 {
	operation = uint8(cont.OpNew)
	return minted(continuations.New(function, types(params), types(results)))
}

//go:wasmexport d_resume
func dResume(f, number, payload, filter uint32) int32 {
	operation = uint8(cont.OpResume)
	return moved(continuations.Resume(reference(f, number), types(payload), table(filter)))
}

// dOuter returns the next continuation outward whose resumer's filter has the tag, null if there is none.
//
//go:wasmexport d_outer
func dOuter(from, t uint32) uint32 {
	return uint32(continuations.Outer(fiber(from), tag(t)))
}

//go:wasmexport d_suspend
func dSuspend(top, t, payload uint32) int32 {
	operation = uint8(cont.OpSuspend)
	to, c, trap := continuations.Suspend(fiber(top), event(t, payload))
	moved(to, trap)
	return minted(c, trap)
}

//go:wasmexport d_forward
func dForward(f, number, top, t, payload, filter uint32) int32 {
	operation = uint8(cont.OpForward)
	if trap := reified(t, payload); trap != polyfill.OK {
		return int32(trap)
	}
	to, c, trap := continuations.Forward(reference(f, number), fiber(top), tag(t), table(filter))
	moved(to, trap)
	return minted(c, trap)
}

//go:wasmexport d_throw
func dThrow(f, number uint32) int32 {
	operation = uint8(cont.OpThrow)
	return moved(continuations.Throw(reference(f, number)))
}

// dEvent returns why there is no such event: to br_on_evt, and before a filter of the guest is asked.
//
//go:wasmexport d_event
func dEvent(t, payload uint32) int32 {
	operation = uint8(cont.OpBrOnEvt)
	return int32(reified(t, payload))
}

// reified returns why what a guest holds cannot be an event that has come out of a resume: it lies in the guest's
// memory, where it may have been written over.
func reified(t, payload uint32) polyfill.Trap {
	if t == 0 {
		return polyfill.NullReference
	}
	return continuations.Events.Check(event(t, payload), 0)
}

//go:wasmexport d_return
func dReturn(results uint32) int32 {
	operation = uint8(cont.OpReturn)
	return moved(continuations.Return(types(results)))
}

// dEnd is the end of a continuation that an exception has left.
//
//go:wasmexport d_end
func dEnd() int32 {
	operation = uint8(cont.OpEnd)
	return moved(continuations.End())
}
