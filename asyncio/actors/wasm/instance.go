package wasm

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/fiberfill/fiberfill/asyncio/actors"
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
	malloc  api.Function // nil unless both malloc and free are exported
	free    api.Function
	memory  api.Memory        // nil: none
	pointer api.MutableGlobal // nil: none
	high    uint32            // the stack starts here and grows down
	guard   uint32            // start of the guard; 0: no region
	host    *actors.Host

	buffer, capacity uint32 // for payloads
}

type instanceKey struct{}

const (
	pageSize  = 65536
	guardSize = 128 // bytes, below the region
	guardWord = 0x0f1be4f1
)

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
	if malloc, free := in.wasm.ExportedFunction("malloc"), in.wasm.ExportedFunction("free"); in.memory != nil &&
		allocates(malloc, free) {
		in.malloc, in.free = malloc, free
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

// allocates reports whether the functions have the types of malloc(i32) -> i32 and free(i32).
func allocates(malloc, free api.Function) bool {
	is := func(f api.Function, results int) bool {
		return f != nil && slices.Equal(f.Definition().ParamTypes(), []api.ValueType{i32}) &&
			len(f.Definition().ResultTypes()) == results
	}
	return is(malloc, 1) && malloc.Definition().ResultTypes()[0] == i32 && is(free, 0)
}

// Close drops the instance.
func (in *instance) Close() { in.wasm.Close(context.Background()) }

// region allocates the actor's stack, if the guest keeps one in memory.
func (in *instance) region(size uint32) error {
	switch in.module.pointer {
	case -1:
		return nil
	case parser.CannotTell:
		return fmt.Errorf("%w: the module seems to keep a stack there, but its stack pointer is ambiguous; export "+
			"that global as __stack_pointer", ErrRoom)
	}
	low, err := in.room(guardSize + size + 16)
	if err != nil {
		return err
	}
	low = (low + 15) &^ 15
	in.guard, in.high = low, low+guardSize+size
	for at := low; at < low+guardSize; at += 4 {
		in.memory.WriteUint32Le(at, guardWord)
	}
	return nil
}

// room allocates size bytes in the guest's memory and returns their address.
func (in *instance) room(size uint32) (uint32, error) {
	if in.malloc != nil {
		results, err := in.malloc.Call(in.ctx, uint64(size))
		if err != nil {
			return 0, fmt.Errorf("%w: its malloc has failed: %w", ErrRoom, err)
		}
		at := uint64(uint32(results[0]))
		if at == 0 || at+uint64(size) > uint64(in.memory.Size()) {
			return 0, fmt.Errorf("%w: its malloc(%d) has returned %d", ErrRoom, size, at)
		}
		return uint32(at), nil
	}
	if in.memory == nil || in.module.grows {
		return 0, fmt.Errorf("%w: the module grows its memory itself, or has none, and does not export malloc "+
			"and free", ErrRoom)
	}
	before := in.memory.Size()
	pages := (uint64(size) + pageSize - 1) / pageSize
	if uint64(before)+pages*pageSize >= 1<<32 {
		return 0, fmt.Errorf("%w: the memory is full", ErrRoom)
	}
	if _, ok := in.memory.Grow(uint32(pages)); !ok {
		return 0, fmt.Errorf("%w: the memory cannot grow by %d bytes", ErrRoom, pages*pageSize)
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
	in.check()
	return api.DecodeI32(results[0])
}

// place copies a payload into the guest's memory and returns its address, which is valid until the handler returns. No
// other call of the handler is under way.
func (in *instance) place(payload []byte) uint32 {
	size := uint32(len(payload))
	if size > in.capacity {
		if in.malloc != nil && in.buffer != 0 {
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

// check panics if the handler has written into the guard below its stack.
func (in *instance) check() {
	if in.guard == 0 {
		return
	}
	guard, _ := in.memory.Read(in.guard, guardSize)
	// Check every word: a function with one local writes one word in 16 bytes, and the compiler chooses which.
	for i := 0; i < guardSize; i += 4 {
		if binary.LittleEndian.Uint32(guard[i:]) != guardWord {
			size := in.high - in.guard - guardSize
			panic(fmt.Errorf("actors: %s: %w: the actor has used more than the %d bytes of its "+
				"class", in.module.name, ErrStack, size))
		}
	}
}
