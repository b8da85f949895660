package main

import (
	"github.com/fiberfill/fiberfill/polyfill/cont"
	"github.com/fiberfill/fiberfill/polyfill/stacks"
)

// --- stacks

var ofStacks stacks.System

func awaits(payload uint32, nullable bool) stacks.Awaits {
	return stacks.Awaits{Values: types(payload), Nullable: nullable}
}

//export stacks_new
func stacksNew(payload uint32, nullable bool) int32 {
	return minted(ofStacks.New(awaits(payload, nullable)))
}

//export stacks_new_ref
func stacksNewRef(payload uint32, nullable, function bool) int32 {
	return minted(ofStacks.NewRef(function, awaits(payload, nullable)))
}

// stacksSwitch is switch, and return_switch if it returns.
//
//export stacks_switch
func stacksSwitch(f, number, payload, waits uint32, nullable, returns bool) int32 {
	t, sent, then := reference(f, number), types(payload), awaits(waits, nullable)
	if returns {
		return int32(ofStacks.ReturnSwitch(t, sent, then))
	}
	return int32(ofStacks.Switch(t, sent, then))
}

//export stacks_switch_retire
func stacksSwitchRetire(f, number, payload uint32) int32 {
	return int32(ofStacks.SwitchRetire(reference(f, number), types(payload)))
}

// stacksSwitchThrow is switch_throw, and return_switch_throw if it returns.
//
//export stacks_switch_throw
func stacksSwitchThrow(f, number, waits uint32, nullable, returns bool) int32 {
	t, then := reference(f, number), awaits(waits, nullable)
	if returns {
		return int32(ofStacks.ReturnSwitchThrow(t, then))
	}
	return int32(ofStacks.SwitchThrow(t, then))
}

//export stacks_bind
func stacksBind(f, number, payload uint32) int32 {
	return minted(ofStacks.Bind(reference(f, number), types(payload)))
}

// --- cont

var ofCont cont.System

//export cont_new
func contNew(params, results uint32, function bool) int32 {
	return minted(ofCont.New(function, types(params), types(results)))
}

//export cont_resume
func contResume(f, number, payload, filter uint32, asks bool) int32 {
	return int32(ofCont.Resume(reference(f, number), types(payload), table(filter), asks))
}

//export cont_suspend
func contSuspend(t, payload uint32) int32 { return int32(ofCont.Suspend(event(t, payload))) }

//export cont_forward
func contForward(f, number, t, payload, filter uint32, asks bool) int32 {
	return int32(ofCont.Forward(reference(f, number), event(t, payload), table(filter), asks))
}

// contAnswer is what the filter has said that the plan asks.
//
//export cont_answer
func contAnswer(admits bool) int32 { return int32(ofCont.Answer(admits)) }

//export cont_throw
func contThrow(f, number uint32) int32 { return int32(ofCont.Throw(reference(f, number))) }

// contBrOnEvt leaves 1 as what it has made if the event is of the tag, 0 if it is not.
//
//export cont_br_on_evt
func contBrOnEvt(t, payload, of uint32) int32 {
	is, trap := ofCont.BrOnEvt(event(t, payload), tag(of))
	if is {
		return made(fiber(1), trap)
	}
	return made(fiber(0), trap)
}
