package main

import (
	"github.com/fiberfill/fiberfill/polyfill/fibers1"
	"github.com/fiberfill/fiberfill/polyfill/fibers2"
)

// --- fibers1

var ofFibers1 fibers1.System

//export fibers1_block
func fibers1Block(t, params uint32) int32 { return int32(ofFibers1.Block(tag(t), types(params))) }

//export fibers1_new
func fibers1New(results, start uint32) int32 {
	return made(ofFibers1.New(types(results), table(start)))
}

//export fibers1_spawn
func fibers1Spawn(results, wait uint32) int32 {
	return int32(ofFibers1.Spawn(types(results), table(wait)))
}

//export fibers1_suspend
func fibers1Suspend(f, t, payload, wait uint32) int32 {
	return int32(ofFibers1.Suspend(fiber(f), event(t, payload), table(wait)))
}

//export fibers1_resume
func fibers1Resume(f, t, payload, wait uint32) int32 {
	return int32(ofFibers1.Resume(fiber(f), event(t, payload), table(wait)))
}

//export fibers1_switch
func fibers1Switch(f, to, t, payload, wait uint32) int32 {
	return int32(ofFibers1.Switch(fiber(f), fiber(to), event(t, payload), table(wait)))
}

//export fibers1_retire
func fibers1Retire(f, t, payload uint32) int32 {
	return int32(ofFibers1.Retire(fiber(f), event(t, payload)))
}

//export fibers1_retireto
func fibers1RetireTo(f, to, t, payload uint32) int32 {
	return int32(ofFibers1.RetireTo(fiber(f), fiber(to), event(t, payload)))
}

//export fibers1_release
func fibers1Release(f uint32) int32 { return int32(ofFibers1.Release(fiber(f))) }

// --- fibers2

var ofFibers2 fibers2.System

//export fibers2_new
func fibers2New(returns, start uint32) int32 { return made(ofFibers2.New(tag(returns), table(start))) }

//export fibers2_mount
func fibers2Mount(f, t, payload, wait uint32) int32 {
	return int32(ofFibers2.Mount(fiber(f), event(t, payload), table(wait)))
}

//export fibers2_switch
func fibers2Switch(f, to, t, payload, wait uint32) int32 {
	return int32(ofFibers2.Switch(fiber(f), fiber(to), event(t, payload), table(wait)))
}

//export fibers2_dismount
func fibers2Dismount(f, t, payload, wait uint32) int32 {
	return int32(ofFibers2.Dismount(fiber(f), event(t, payload), table(wait)))
}

//export fibers2_release
func fibers2Release(f uint32) int32 { return int32(ofFibers2.Release(fiber(f))) }

//export fibers2_mount_new
func fibers2MountNew(wait uint32) int32 { return int32(ofFibers2.MountNew(table(wait))) }

//export fibers2_switch_new
func fibers2SwitchNew(f, wait uint32) int32 { return int32(ofFibers2.SwitchNew(fiber(f), table(wait))) }

//export fibers2_dismount_release
func fibers2DismountRelease(f, t, payload uint32) int32 {
	return int32(ofFibers2.DismountRelease(fiber(f), event(t, payload)))
}

//export fibers2_switch_release
func fibers2SwitchRelease(f, to, t, payload uint32) int32 {
	return int32(ofFibers2.SwitchRelease(fiber(f), fiber(to), event(t, payload)))
}
