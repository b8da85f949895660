package wasm

// Opcodes. An opcode of a single byte is that byte. An opcode after a prefix is the prefix times 0x1000 plus the number
// that follows. Numeric instructions that are not used by name have no name.
const (
	OpUnreachable        = 0x00
	OpNop                = 0x01
	OpBlock              = 0x02
	OpLoop               = 0x03
	OpIf                 = 0x04
	OpElse               = 0x05
	OpTry                = 0x06 // the older exceptions
	OpCatch              = 0x07
	OpThrow              = 0x08
	OpRethrow            = 0x09
	OpThrowRef           = 0x0a
	OpEnd                = 0x0b
	OpBr                 = 0x0c
	OpBrIf               = 0x0d
	OpBrTable            = 0x0e
	OpReturn             = 0x0f
	OpCall               = 0x10
	OpCallIndirect       = 0x11
	OpReturnCall         = 0x12
	OpReturnCallIndirect = 0x13
	OpCallRef            = 0x14
	OpReturnCallRef      = 0x15
	OpDelegate           = 0x18
	OpCatchAll           = 0x19
	OpDrop               = 0x1a
	OpSelect             = 0x1b
	OpSelectTyped        = 0x1c
	OpTryTable           = 0x1f

	OpLocalGet   = 0x20
	OpLocalSet   = 0x21
	OpLocalTee   = 0x22
	OpGlobalGet  = 0x23
	OpGlobalSet  = 0x24
	OpTableGet   = 0x25
	OpTableSet   = 0x26
	OpI32Load    = 0x28
	OpI64Load    = 0x29
	OpI32Store   = 0x36
	OpI64Store32 = 0x3e
	OpMemorySize = 0x3f
	OpMemoryGrow = 0x40
	OpI32Const   = 0x41
	OpI64Const   = 0x42
	OpF32Const   = 0x43
	OpF64Const   = 0x44
	OpI32Eqz     = 0x45
	OpI32Eq      = 0x46
	opI32GeU     = 0x4f // the last of the comparisons
	OpI32Add     = 0x6a
	OpI32Sub     = 0x6b
	OpI32Mul     = 0x6c
	OpI32And     = 0x71
	OpI32Or      = 0x72
	OpI32Shl     = 0x74
	OpI32ShrU    = 0x76
	OpI64Add     = 0x7c
	OpI64Sub     = 0x7d
	OpI64Mul     = 0x7e
	OpI64Or      = 0x84
	OpI64Xor     = 0x85

	OpRefNull      = 0xd0
	OpRefIsNull    = 0xd1
	OpRefFunc      = 0xd2
	OpRefEq        = 0xd3
	OpRefAsNonNull = 0xd4
	OpBrOnNull     = 0xd5
	OpBrOnNonNull  = 0xd6

	// Stack switching.
	OpContNew        = 0xe0
	OpContBind       = 0xe1
	OpSuspend        = 0xe2
	OpResume         = 0xe3
	OpResumeThrow    = 0xe4
	OpResumeThrowRef = 0xe5
	OpSwitch         = 0xe6

	PrefixGC     = 0xfb
	PrefixBulk   = 0xfc
	PrefixVector = 0xfd
	PrefixAtomic = 0xfe

	OpStructNew        = 0xfb000
	OpStructNewDefault = 0xfb001
	OpStructGet        = 0xfb002
	OpStructGetS       = 0xfb003
	OpStructGetU       = 0xfb004
	OpStructSet        = 0xfb005
	OpArrayNew         = 0xfb006
	OpArrayNewDefault  = 0xfb007
	OpArrayNewFixed    = 0xfb008
	OpArrayNewData     = 0xfb009
	OpArrayNewElem     = 0xfb00a
	OpArrayGet         = 0xfb00b
	OpArrayGetS        = 0xfb00c
	OpArrayGetU        = 0xfb00d
	OpArraySet         = 0xfb00e
	OpArrayLen         = 0xfb00f
	OpArrayFill        = 0xfb010
	OpArrayCopy        = 0xfb011
	OpArrayInitData    = 0xfb012
	OpArrayInitElem    = 0xfb013
	OpRefTest          = 0xfb014
	OpRefTestNull      = 0xfb015
	OpRefCast          = 0xfb016
	OpRefCastNull      = 0xfb017
	OpBrOnCast         = 0xfb018
	OpBrOnCastFail     = 0xfb019
	OpAnyConvertExtern = 0xfb01a
	OpExternConvertAny = 0xfb01b
	OpRefI31           = 0xfb01c
	OpI31GetS          = 0xfb01d
	OpI31GetU          = 0xfb01e

	OpMemoryInit = 0xfc008
	OpDataDrop   = 0xfc009
	OpMemoryCopy = 0xfc00a
	OpMemoryFill = 0xfc00b
	OpTableInit  = 0xfc00c
	OpElemDrop   = 0xfc00d
	OpTableCopy  = 0xfc00e
	OpTableGrow  = 0xfc00f
	OpTableSize  = 0xfc010
	OpTableFill  = 0xfc011

	OpV128Const         = 0xfd00c
	OpI8x16Shuffle      = 0xfd00d
	OpMemoryAtomicFence = 0xfe003
)
