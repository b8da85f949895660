package validate

// Tables of the instructions that take and leave the same types wherever they stand. A letter stands for a signature, a
// dot for what is no instruction.
const (
	firstNumeric = 0x45
	numeric      = "a" + "bbbbbbbbbb" + "c" + "dddddddddd" + "eeeeee" + "ffffff" + // 45 comparisons
		"aaa" + "bbbbbbbbbbbbbbb" + "ggg" + "hhhhhhhhhhhhhhh" + // 67 arithmetic of integers
		"iiiiiii" + "jjjjjjj" + "kkkkkkk" + "lllllll" + // 8b of f32, f64
		"cmmnn" + "ooppqq" + "rrsst" + "uuvvw" + // a7 conversions to i32, i64, f32, f64
		"mqrv" + "aaggg" // bc reinterpreted, c0 with the sign extended
	saturating = "mmnn" + "ppqq" // fc00

	// fd000. L and S load and store, M and N load and store a lane, K is a constant and Z a shuffle; x to z and 0
	// extract a lane, 1 to 4 replace one.
	vector = "LLLLLLLLLLLSKZBF" + "FFGHIxx1xx1x1y2z" + "304BBBBBBBBBBBBB" + "BBBBBBBBBBBBBBBB" +
		"BBBBBBBBBBBBBABB" + "BBCDMMMMNNNNLLAA" + "AAADDBBAAAAEEEBB" + "BBBBAABBBBABAAAA" + // 40
		"AABDDBBAAAAEEEBB" + "BBBBABBBBB.BBBBB" + "AA.DD..AAAAEEEB." + ".B...BBBBBB.BBBB" + // 80
		"AA.DD..AAAAEEEB." + ".B...BBBBBBBBBBB" + "AA.ABBBBBBBBAA.A" + "BBBBBBBBAAAAAAAA" + // c0
		"BAAAACCCCCCCCBBBBBBC" // 100 relaxed
	lanes = "\x10\x10\x10\x08\x08\x08\x04\x04\x02\x02\x04\x04\x02\x02" // of fd015 to fd022

	// Loads and stores, from 28: the type, and the exponent of the size.
	memoryType = "ilfdiiiillllll" + "ilfdiilll"
	memorySize = "23230011001122" + "232301012"
)

// A signature is what an instruction takes and leaves.
type signature struct {
	in  [3]Type
	n   byte
	out Type
}

var signatures = [...]signature{
	'a': {[3]Type{I32}, 1, I32},
	'b': {[3]Type{I32, I32}, 2, I32},
	'c': {[3]Type{I64}, 1, I32},
	'd': {[3]Type{I64, I64}, 2, I32},
	'e': {[3]Type{F32, F32}, 2, I32},
	'f': {[3]Type{F64, F64}, 2, I32},
	'g': {[3]Type{I64}, 1, I64},
	'h': {[3]Type{I64, I64}, 2, I64},
	'i': {[3]Type{F32}, 1, F32},
	'j': {[3]Type{F32, F32}, 2, F32},
	'k': {[3]Type{F64}, 1, F64},
	'l': {[3]Type{F64, F64}, 2, F64},
	'm': {[3]Type{F32}, 1, I32},
	'n': {[3]Type{F64}, 1, I32},
	'o': {[3]Type{I32}, 1, I64},
	'p': {[3]Type{F32}, 1, I64},
	'q': {[3]Type{F64}, 1, I64},
	'r': {[3]Type{I32}, 1, F32},
	's': {[3]Type{I64}, 1, F32},
	't': {[3]Type{F64}, 1, F32},
	'u': {[3]Type{I32}, 1, F64},
	'v': {[3]Type{I64}, 1, F64},
	'w': {[3]Type{F32}, 1, F64},
	'A': {[3]Type{V128}, 1, V128},
	'B': {[3]Type{V128, V128}, 2, V128},
	'C': {[3]Type{V128, V128, V128}, 3, V128},
	'D': {[3]Type{V128}, 1, I32},
	'E': {[3]Type{V128, I32}, 2, V128},
	'F': {[3]Type{I32}, 1, V128},
	'G': {[3]Type{I64}, 1, V128},
	'H': {[3]Type{F32}, 1, V128},
	'I': {[3]Type{F64}, 1, V128},
	'K': {out: V128},
	'Z': {[3]Type{V128, V128}, 2, V128},
	'x': {[3]Type{V128}, 1, I32},
	'y': {[3]Type{V128}, 1, I64},
	'z': {[3]Type{V128}, 1, F32},
	'0': {[3]Type{V128}, 1, F64},
	'1': {[3]Type{V128, I32}, 2, V128},
	'2': {[3]Type{V128, I64}, 2, V128},
	'3': {[3]Type{V128, F32}, 2, V128},
	'4': {[3]Type{V128, F64}, 2, V128},
}

// operate checks an instruction of a signature.
func (b *Body) operate(letter byte) {
	s := &signatures[letter]
	for i := int(s.n) - 1; i >= 0; i-- {
		b.pop(s.in[i])
	}
	b.push(s.out)
}
