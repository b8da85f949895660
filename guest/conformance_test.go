package guest

import (
	"flag"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"

	"github.com/fiberfill/fiberfill/internal/leaktest"
	"github.com/fiberfill/fiberfill/polyfill/conformance"
)

var seed = flag.Uint64("seed", 0, "seed of the random scripts; 0: a new one")

// exempt are the parts of the suite that this substrate cannot pass: none. The runtime carries an exception from one
// call to another in a global of type exnref, and a host function may park its goroutine anywhere.
var exempt = map[string]string{}

// TestConformance plays every script there is in wazero. Play counts what a script leaves behind.
func TestConformance(t *testing.T) {
	leaktest.Goroutines(t)
	start := *seed
	if start == 0 {
		start = uint64(time.Now().UnixNano())
	}
	cache := wazero.NewCompilationCache()
	defer cache.Close(t.Context())
	conformance.Check(t, substrate{cache}, exempt, start, 8*time.Second)
}
