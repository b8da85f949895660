package wasm

import (
	"fmt"

	"github.com/tetratelabs/wazero/api"

	"github.com/fiberfill/fiberfill/asyncio/actors"
)

const (
	i32 = api.ValueTypeI32
	i64 = api.ValueTypeI64
)

// imports are the functions of "env". They check addresses before they change anything (K-2).
var imports = []struct {
	name            string
	params, results []api.ValueType
	call            func(in *instance, stack []uint64)
}{
	{"mk_send", []api.ValueType{i64, i32, i32, i32}, []api.ValueType{i32}, send},
	{"mk_self", nil, []api.ValueType{i64}, self},
	{"mk_log", []api.ValueType{i32, i32, i32}, nil, log},
	{"mk_sleep_ms", []api.ValueType{i32}, []api.ValueType{i32}, sleep},
	{"mk_recv", []api.ValueType{i32, i32, i32, i32}, []api.ValueType{i32}, recv},
	{"mk_wait_fd_readable", []api.ValueType{i32, i32}, []api.ValueType{i32}, readable},
	{"mk_wait_fd_writable", []api.ValueType{i32, i32}, []api.ValueType{i32}, writable},
}

func send(in *instance, stack []uint64) {
	payload := in.bytes("mk_send", stack[2], stack[3])
	stack[0] = api.EncodeI32(in.host.Send(actors.ID(stack[0]), api.DecodeI32(stack[1]), payload))
}

func self(in *instance, stack []uint64) { stack[0] = uint64(in.host.Self()) }

func log(in *instance, stack []uint64) {
	in.host.Log(api.DecodeI32(stack[0]), string(in.bytes("mk_log", stack[1], stack[2])))
}

func sleep(in *instance, stack []uint64) {
	in.check()
	stack[0] = api.EncodeI32(in.host.SleepMs(api.DecodeI32(stack[0])))
}

// recv writes after the wait. The addresses checked before are still valid, because memory never shrinks.
func recv(in *instance, stack []uint64) {
	const name = "mk_recv"
	in.check()
	typ, buffer := api.DecodeU32(stack[0]), api.DecodeU32(stack[1])
	capacity, size := api.DecodeU32(stack[2]), api.DecodeU32(stack[3])
	in.bytes(name, uint64(buffer), uint64(capacity))
	for _, at := range []uint32{typ, size} {
		if at != 0 {
			in.bytes(name, uint64(at), 4)
		}
	}
	m, result := in.host.RecvMessage()
	stack[0] = api.EncodeI32(result)
	if result != 0 {
		return
	}
	in.memory.Write(buffer, m.Payload[:min(len(m.Payload), int(capacity))])
	if typ != 0 {
		in.memory.WriteUint32Le(typ, uint32(m.Type))
	}
	if size != 0 {
		in.memory.WriteUint32Le(size, uint32(len(m.Payload)))
	}
}

func readable(in *instance, stack []uint64) {
	in.check()
	stack[0] = api.EncodeI32(in.host.WaitFDReadable(api.DecodeI32(stack[0]), api.DecodeI32(stack[1])))
}

func writable(in *instance, stack []uint64) {
	in.check()
	stack[0] = api.EncodeI32(in.host.WaitFDWritable(api.DecodeI32(stack[0]), api.DecodeI32(stack[1])))
}

// bytes returns a piece of the guest's memory. It traps if the piece lies outside.
func (in *instance) bytes(name string, at, size uint64) []byte {
	if uint32(size) == 0 {
		return nil
	}
	if in.memory != nil {
		if bytes, ok := in.memory.Read(uint32(at), uint32(size)); ok {
			return bytes
		}
	}
	panic(fmt.Errorf("actors: import env.%s: %w: %d bytes at %d", name, ErrAddress, uint32(size), uint32(at)))
}
