package oracle

import (
	"testing"

	"github.com/fiberfill/fiberfill/internal/wasm/validate"
)

// Programs are valid, and they do something.
func TestGenerate(t *testing.T) {
	operations, ends := 0, map[byte]int{}
	const programs = 1000
	for seed := range uint64(programs) {
		p := Generate(seed)
		for i, module := range Encode(p) {
			if _, err := validate.Validate(module); err != nil {
				t.Fatalf("seed %d, module %d: %s at byte %d", seed, i, err.Code.Rule(), err.At)
			}
		}
		lines, ops := Run(p)
		operations += ops
		for _, line := range lines {
			ends[line[0]]++
		}
	}
	if operations < 20*programs {
		t.Errorf("%d operations in %d programs, want 20 in each", operations, programs)
	}
	t.Logf("%d operations; returned %d, trapped %d, exceptions %d", operations, ends['r'], ends['t'], ends['e'])
}
