package main

import (
	"github.com/fiberfill/fiberfill/polyfill"
	"github.com/fiberfill/fiberfill/polyfill/fibers1"
	"github.com/fiberfill/fiberfill/polyfill/fibers2"
)

// --- system A

var v1 fibers1.System

//go:wasmexport a_block
func aBlock(t, params uint32) int32 {
	operation = uint8(fibers1.OpBlock)
	return int32(v1.Block(tag(t), types(params)))
}

//go:wasmexport a_new
func aNew(results, start uint32) int32 {
	operation = uint8(fibers1.OpNew)
	// The machine itself has nothing to lose by a list that nobody has made; the guest should hear of it.
	if !events.KnownTable(table(start)) {
		return int32(polyfill.UnknownTag)
	}
	f, trap := v1.New(types(results), table(start))
	return moved(polyfill.Transition{To: f}, trap)
}

//go:wasmexport a_spawn
func aSpawn(results, wait uint32) int32 {
	operation = uint8(fibers1.OpSpawn)
	if !events.KnownTable(table(wait)) {
		return int32(polyfill.UnknownTag)
	}
	return moved(v1.Spawn(types(results), table(wait)))
}

//go:wasmexport a_suspend
func aSuspend(f, t, payload, wait uint32) int32 {
	operation = uint8(fibers1.OpSuspend)
	return moved(v1.Suspend(fiber(f), event(t, payload), table(wait)))
}

//go:wasmexport a_resume
func aResume(f, t, payload, wait uint32) int32 {
	operation = uint8(fibers1.OpResume)
	return moved(v1.Resume(fiber(f), event(t, payload), table(wait)))
}

//go:wasmexport a_switch
func aSwitch(f, to, t, payload, wait uint32) int32 {
	operation = uint8(fibers1.OpSwitch)
	return moved(v1.Switch(fiber(f), fiber(to), event(t, payload), table(wait)))
}

//go:wasmexport a_retire
func aRetire(f, t, payload uint32) int32 {
	operation = uint8(fibers1.OpRetire)
	return moved(v1.Retire(fiber(f), event(t, payload)))
}

//go:wasmexport a_retireto
func aRetireTo(f, to, t, payload uint32) int32 {
	operation = uint8(fibers1.OpRetireTo)
	return moved(v1.RetireTo(fiber(f), fiber(to), event(t, payload)))
}

//go:wasmexport a_release
func aRelease(f uint32) int32 {
	operation = uint8(fibers1.OpRelease)
	return int32(v1.Release(fiber(f)))
}

//go:wasmexport a_return
func aReturn(results uint32) int32 {
	operation = uint8(fibers1.OpReturn)
	return moved(v1.Return(types(results)))
}

//go:wasmexport a_throw
func aThrow() int32 {
	operation = uint8(fibers1.OpThrow)
	return moved(v1.Throw())
}

// --- system B

var v2 fibers2.System

//go:wasmexport b_new
func bNew(returns, start uint32) int32 {
	operation = uint8(fibers2.OpNew)
	if !events.KnownTable(table(start)) {
		return int32(polyfill.UnknownTag)
	}
	f, trap := v2.New(tag(returns), table(start))
	return moved(polyfill.Transition{To: f}, trap)
}

//go:wasmexport b_mount
func bMount(f, t, payload, wait uint32) int32 {
	operation = uint8(fibers2.OpMount)
	return moved(v2.Mount(fiber(f), event(t, payload), table(wait)))
}

//go:wasmexport b_switch
func bSwitch(f, to, t, payload, wait uint32) int32 {
	operation = uint8(fibers2.OpSwitch)
	return moved(v2.Switch(fiber(f), fiber(to), event(t, payload), table(wait)))
}

//go:wasmexport b_dismount
func bDismount(f, t, payload, wait uint32) int32 {
	operation = uint8(fibers2.OpDismount)
	return moved(v2.Dismount(fiber(f), event(t, payload), table(wait)))
}

//go:wasmexport b_release
func bRelease(f uint32) int32 {
	operation = uint8(fibers2.OpRelease)
	return int32(v2.Release(fiber(f)))
}

//go:wasmexport b_mount_new
func bMountNew(wait uint32) int32 {
	operation = uint8(fibers2.OpMountNew)
	return moved(v2.MountNew(table(wait)))
}

//go:wasmexport b_switch_new
func bSwitchNew(f, wait uint32) int32 {
	operation = uint8(fibers2.OpSwitchNew)
	return moved(v2.SwitchNew(fiber(f), table(wait)))
}

//go:wasmexport b_dismount_release
func bDismountRelease(f, t, payload uint32) int32 {
	operation = uint8(fibers2.OpDismountRelease)
	return moved(v2.DismountRelease(fiber(f), event(t, payload)))
}

//go:wasmexport b_switch_release
func bSwitchRelease(f, to, t, payload uint32) int32 {
	operation = uint8(fibers2.OpSwitchRelease)
	return moved(v2.SwitchRelease(fiber(f), fiber(to), event(t, payload)))
}

// bReturn leaves the tag as which the results arrive.
//
//go:wasmexport b_return
func bReturn(results uint32) int32 {
	operation = uint8(fibers2.OpReturn)
	returns := uint32(v2.ReturnEvent(machine.Active()))
	trap := moved(v2.Return(types(results)))
	out[outFiber] = returns
	return trap
}

//go:wasmexport b_throw
func bThrow() int32 {
	operation = uint8(fibers2.OpThrow)
	return moved(v2.Throw())
}
