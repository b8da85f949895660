package conformance

import (
	"flag"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/fiberfill/fiberfill/internal/leaktest"
)

var (
	seed       = flag.Uint64("seed", 0, "seed of the random tests; 0: a new one")
	operations = flag.Int("operations", defaultOperations(), "random operations to compare, over all systems")
)

// defaultOperations returns a million, or a tenth of it in wasm, where an operation takes much longer.
func defaultOperations() int {
	if runtime.GOOS == "js" {
		return 100_000
	}
	return 1_000_000
}

// length is how many operations a random script has: operands are small numbers.
const length = 100

// The Go substrate and the reference play random scripts alike: a million operations in all, natively.
func TestRandom(t *testing.T) {
	start := *seed
	if start == 0 {
		start = uint64(time.Now().UnixNano())
	}
	for i, s := range Systems {
		t.Run(string(s), func(t *testing.T) {
			t.Logf("replay with: go test ./polyfill/conformance -run TestRandom/%s -seed %d", s, start)
			leaktest.Goroutines(t)
			r := rand.New(rand.NewPCG(start, uint64(i)))
			kinds := map[Kind]int{}
			for range *operations / 4 / length {
				for _, o := range duel(t, Random(s, r, length)) {
					kinds[o.Kind]++
				}
			}
			t.Logf("outcomes by kind: %v", kinds)
			for _, k := range []Kind{Made, Started, Returned, Caught, Left, Exited, Escaped, Trapped} {
				if kinds[k] == 0 {
					t.Errorf("no outcome of kind %d: the scripts get nowhere", k)
				}
			}
		})
	}
}

// duel plays a script on both and returns what the reference records.
func duel(t testing.TB, s Script) []Outcome {
	t.Helper()
	want, err := Duel(Go{}, s)
	if err != nil {
		t.Fatal(err)
	}
	return want
}

func fuzz(f *testing.F, s System) {
	f.Add([]byte("................"))
	f.Fuzz(func(t *testing.T, list []byte) { duel(t, FromBytes(s, list)) })
}

func FuzzFibers1(f *testing.F) { fuzz(f, Fibers1) }
func FuzzFibers2(f *testing.F) { fuzz(f, Fibers2) }
func FuzzStacks(f *testing.F)  { fuzz(f, Stacks) }
func FuzzCont(f *testing.F)    { fuzz(f, Cont) }

func randomBytes(seed uint64, n int) []byte {
	r := rand.New(rand.NewPCG(seed, 0))
	list := make([]byte, n)
	for i := range list {
		list[i] = byte(r.Uint32())
	}
	return list
}
