package validate

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/fiberfill/fiberfill/internal/wasm"
)

// validModules returns the valid modules of the tables: they have every construct.
func validModules() (modules [][]byte) {
	for _, c := range bodyTests {
		if c.code == 0 {
			bin, _ := world(c.funcType, c.locals, c.body)
			modules = append(modules, bin)
		}
	}
	for _, c := range moduleTests {
		if c.code == 0 {
			modules = append(modules, c.bin)
		}
	}
	return modules
}

// mutate changes one or two bytes, usually to values that mean something somewhere; rarely it removes a byte or repeats
// one.
func mutate(r *rand.Rand, bin []byte) []byte {
	const meaningful = "\x00\x01\x02\x03\x04\x05\x06\x07\x08\x0a\x0b\x0c\x0f\x10\x12\x1a\x1f\x20\x21\x40\x41\x42\x4e" +
		"\x50\x5d\x5e\x5f\x60\x63\x64\x68\x69\x6c\x6d\x6e\x6f\x70\x75\x77\x78\x7b\x7c\x7d\x7e\x7f" +
		"\x80\xd0\xd2\xd4\xd6\xe0\xe1\xe2\xe3\xe4\xe5\xe6\xfb\xfc\xfd\xfe\xff"
	bin = bytes.Clone(bin)
	for range 1 + r.IntN(2) {
		at := len(wasm.Preamble) + r.IntN(len(bin)-len(wasm.Preamble)+1)
		if at == len(bin) {
			at--
		}
		switch r.IntN(8) {
		case 0:
			bin[at] = byte(r.Uint32())
		case 1:
			bin[at]++
		case 2:
			bin[at]--
		case 3:
			bin = append(bin[:at], bin[min(at+1, len(bin)):]...)
		case 4:
			bin = append(bin[:at+1], bin[at:]...)
		default:
			bin[at] = meaningful[r.IntN(len(meaningful))]
		}
		if len(bin) <= len(wasm.Preamble) {
			break
		}
	}
	return bin
}

// Seeded mutations of every construct are judged as an engine judges them.
func TestMutations(t *testing.T) {
	r := rand.New(rand.NewPCG(14, 2026))
	seeds := validModules()
	var mutants [][]byte
	for i := range 200 * len(seeds) {
		mutants = append(mutants, mutate(r, seeds[i%len(seeds)]))
	}
	verdicts := judge(t, mutants)
	valid, refused := 0, map[Code]int{}
	for i, bin := range mutants {
		if err := verdicts.agree(t, i, bin); err == nil {
			valid++
		} else {
			refused[err.Code]++
		}
	}
	// The mutations reach both sides, and most rules.
	if valid < len(mutants)/20 || len(refused) < 35 {
		t.Errorf("%d of %d are valid, and the others break %d rules", valid, len(mutants), len(refused))
	}
}

// A module that is cut off is refused, unless it is cut after a section that needs no later section. The offset of an
// error is always inside the module.
func TestTruncations(t *testing.T) {
	for _, bin := range validModules() {
		m, err := Validate(bin)
		if err != nil {
			t.Fatal(err)
		}
		ends := map[int]bool{len(wasm.Preamble): true}
		for _, s := range m.Sections {
			ends[s.Contents.End] = true
		}
		for n := range bin {
			_, err := Validate(bin[:n])
			if err == nil && !ends[n] {
				t.Errorf("%x is valid up to byte %d", bin, n)
			}
			if err != nil && (err.At < 0 || err.At > n) {
				t.Errorf("%x up to byte %d: %v", bin, n, err)
			}
		}
	}
}

// Whatever the bytes, Validate ends with a verdict, and the error with a message and an offset in the module.
func FuzzValidate(f *testing.F) {
	for _, bin := range validModules() {
		f.Add(bin)
	}
	f.Fuzz(func(t *testing.T, bin []byte) {
		if _, err := Validate(bin); err != nil && (err.At < 0 || err.At > len(bin) || err.Error() == "") {
			t.Errorf("%v", err)
		}
	})
}
