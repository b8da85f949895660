package wasm

// Opcodes of one byte that this package and what generates code have a use for.
const (
	OpCall          = 0x10
	OpCallRef       = 0x14
	OpReturnCallRef = 0x15
	OpDrop          = 0x1a
	OpEnd           = 0x0b
	OpLocalGet      = 0x20
	OpLocalSet      = 0x21
	OpLocalTee      = 0x22
	OpGlobalGet     = 0x23
	OpGlobalSet     = 0x24
	OpI64Load       = 0x29
	OpMemorySize    = 0x3f
	OpMemoryGrow    = 0x40
	OpI32Const      = 0x41
	OpI64Const      = 0x42
	OpI32Add        = 0x6a
	OpI32Sub        = 0x6b
	OpI32And        = 0x71
	OpI64Or         = 0x84
	OpI64Xor        = 0x85
	OpRefFunc       = 0xd2
)
