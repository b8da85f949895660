package wasm

import (
	"context"
	"fmt"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/fiberfill/fiberfill/asyncio/actors"
	"github.com/fiberfill/fiberfill/internal/shadow"
	parser "github.com/fiberfill/fiberfill/internal/wasm"
)

// Guest returns the guest of one actor, for [actors.Runtime.Spawn] or an [actors.Factory]. The spawn makes the instance
// and its stack; if either fails, the spawn returns that error.
func (m *Module) Guest() actors.Guest { return &instance{module: m} }

// instance is the guest of one actor.
type instance struct {
	module  *Module
	ctx     context.Context // of all calls into the instance
	wasm    api.Module
	handle  api.Function
	malloc  api.Function      // nil: memory is grown
	free    api.Function      // nil: nothing is given back
	memory  api.Memory        // nil: none
	pointer api.MutableGlobal // nil: none
	high    uint32            // the stack begins here and grows down
	low     uint32            // its region begins here, with the guard; 0: no region
	host    *actors.Host

	buffer, capacity uint32 // for payloads
}

type instanceKey struct{}

// Open makes the instance and its stack, which has the size of the class (E-SPAWN-2).
func (in *instance) Open(class actors.StackClass) error {
	m := in.module
	var err error
	in.wasm, err = m.runtime.InstantiateModule(context.Background(), m.compiled,
		wazero.NewModuleConfig().WithName("").WithStartFunctions("_initialize"))
	if err != nil {
		return fmt.Errorf("actors: %s cannot be instantiated: %w", m.name, err)
	}
	in.ctx = context.WithValue(context.Background(), instanceKey{}, in)
	in.handle = in.wasm.ExportedFunction(handler)
	in.memory = in.wasm.Memory()
	if m.plan.Source == shadow.FromAllocator {
		in.malloc = in.wasm.ExportedFunction(m.malloc)
		if m.malloc == "malloc" {
			in.free = in.wasm.ExportedFunction("free")
		}
	}
	if m.pointer >= 0 {
		in.pointer = in.wasm.ExportedGlobal(m.exported).(api.MutableGlobal)
		in.high = uint32(in.pointer.Get())
	}
	if class != actors.StackNone {
		if err := in.region(uint32(class)); err != nil {
			in.Close()
			return fmt.Errorf("%w: %s: %w", actors.ErrNoStack, m.name, err)
		}
	}
	return nil
}

// Close drops the instance.
func (in *instance) Close() { in.wasm.Close(context.Background()) }

// region gives the actor its stack, if the guest keeps one in memory. The guard is not counted.
func (in *instance) region(size uint32) error {
	switch in.module.pointer {
	case -1:
		return nil
	case parser.CannotTell:
		return fmt.Errorf("%w: %v; export it as __stack_pointer", ErrRoom, shadow.Unclear)
	}
	size += shadow.Guard
	at, err := in.room(size + shadow.Slack)
	if err != nil {
		return err
	}
	in.low, _ = shadow.Place(at, size, uint64(in.memory.Size()))
	in.high = in.low + size
	in.memory.WriteString(in.low, shadow.Untouched)
	return nil
}

// room allocates size bytes in the guest's memory and returns their address.
func (in *instance) room(size uint32) (uint32, error) {
	if in.memory == nil {
		return 0, fmt.Errorf("%w: it has no memory", ErrRoom)
	}
	if in.module.plan.Refusal != shadow.Granted {
		return 0, fmt.Errorf("%w: %v", ErrRoom, in.module.plan.Why)
	}
	if in.malloc != nil {
		arguments := in.module.plan.Allocator.Arguments(size)
		results, err := in.malloc.Call(in.ctx, arguments...)
		if err != nil {
			return 0, fmt.Errorf("%w: its malloc has failed: %w", ErrRoom, err)
		}
		at := uint64(uint32(results[0]))
		if at == 0 || at+uint64(size) > uint64(in.memory.Size()) {
			return 0, fmt.Errorf("%w: its malloc(%d) has returned %d", ErrRoom, size, at)
		}
		return uint32(at), nil
	}
	before := in.memory.Size()
	pages := (uint64(size) + shadow.Page - 1) / shadow.Page
	if uint64(before)+pages*shadow.Page >= 1<<32 {
		return 0, fmt.Errorf("%w: it is full", ErrRoom)
	}
	if _, ok := in.memory.Grow(uint32(pages)); !ok {
		return 0, fmt.Errorf("%w: it cannot grow by %d bytes", ErrRoom, pages*shadow.Page)
	}
	return before, nil
}

// HandleMessage calls the guest's handler. An error is a trap.
func (in *instance) HandleMessage(h *actors.Host, m actors.Message) int32 {
	in.host = h
	if in.pointer != nil {
		in.pointer.Set(uint64(in.high))
	}
	size := uint32(len(m.Payload))
	at := uint32(0)
	if size > 0 {
		at = in.place(m.Payload)
	}
	results, err := in.handle.Call(in.ctx, api.EncodeI32(m.Type), uint64(m.Source), uint64(at), uint64(size))
	if err != nil {
		panic(err)
	}
	in.check(false)
	return api.DecodeI32(results[0])
}

// place copies a payload into the guest's memory and returns its address, which is valid until the handler returns. No
// other call of the handler is under way.
func (in *instance) place(payload []byte) uint32 {
	size := uint32(len(payload))
	if size > in.capacity {
		if in.free != nil && in.buffer != 0 {
			if _, err := in.free.Call(in.ctx, uint64(in.buffer)); err != nil {
				panic(err)
			}
		}
		capacity := uint32(min(max(uint64(size), 2*uint64(in.capacity), 256), 1<<31))
		at, err := in.room(capacity)
		if err != nil {
			panic(fmt.Errorf("actors: %s: a message of %d bytes: %w", in.module.name, size, err))
		}
		in.buffer, in.capacity = at, capacity
	}
	in.memory.Write(in.buffer, payload)
	return in.buffer
}

// check panics if the handler has written below its stack or, if it blocks now, has its pointer there.
func (in *instance) check(now bool) {
	if in.low == 0 {
		return
	}
	guard, _ := in.memory.Read(in.low, shadow.Guard)
	below := now && !in.module.plan.Wanders && uint32(in.pointer.Get()) < in.low
	if below || shadow.Look(guard) != 0 {
		panic(fmt.Errorf("actors: %s: %w: it has used more than the %d bytes of its "+
			"class", in.module.name, ErrStack, in.high-in.low-shadow.Guard))
	}
}
