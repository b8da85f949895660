package e2e_test

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/fiberfill/fiberfill/polyfill/conformance"
)

// exemptPlainly lists the parts of the suite that plain calls cannot pass.
var exemptPlainly = map[string]string{
	"C-SWITCH-7 J-SAND-1 frames of the host between the active code and its base: trap": "the entry's stack is never " +
		"parked: a plain call is the root of the chain, and goes on inside its own operation",
}

// TestConformanceOnOwnStacks plays the suite on stacks of fiberfill's own: by calls of fiberfill's exports, and by
// plain calls, which return at once.
func TestConformanceOnOwnStacks(t *testing.T) {
	t.Parallel()
	seed := withoutHost()
	list := suite(t)
	for i, s := range conformance.Systems {
		list = append(list, conformance.Random(s, rand.New(rand.NewPCG(seed, uint64(i))), 100))
	}
	keys, encoded := encodeAll(t, list)
	text, err := json.Marshal(map[string]any{"scripts": encoded, "traps": words()})
	if err != nil {
		t.Fatal(err)
	}
	for name, program := range map[string]string{
		"Node":    "../node_modules/.bin/node",
		"Node 22": "../node_modules/node22/bin/node",
		"Bun 1.2": "../node_modules/bun12/bin/bun.exe",
	} {
		for way, exempt := range map[string]map[string]string{"promised": exempt, "plain": exemptPlainly} {
			if way == "promised" && name != "Node" {
				continue // jsglue's tests of guests with fibers of their own go this way in the other engines
			}
			t.Run(name+", "+way+" calls", func(t *testing.T) {
				file := filepath.Join(t.TempDir(), "scripts.json")
				if err := os.WriteFile(file, text, 0o644); err != nil {
					t.Fatal(err)
				}
				out, err := exec.Command(program, "testdata/conformance.mjs", file, way).CombinedOutput()
				if err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				played, err := os.ReadFile(file + ".out")
				if err != nil {
					t.Fatal(err)
				}
				var results []result
				if err := json.Unmarshal(played, &results); err != nil {
					t.Fatal(err)
				}
				j := jspi{}
				for i, r := range results {
					j[keys[i]] = r
				}
				conformance.Check(t, j, exempt, seed, 0)
			})
		}
	}
}

// withoutHost returns a seed of random scripts in which no frames of the host lie on a stack.
func withoutHost() uint64 {
	hosts := func(op conformance.Op) bool { return op.Code == conformance.Host }
	for seed := uint64(1); ; seed++ {
		r := rand.New(rand.NewPCG(seed, uint64(slices.Index(conformance.Systems, conformance.Stacks))))
		if !slices.ContainsFunc(conformance.Random(conformance.Stacks, r, 100).Ops, hosts) {
			return seed
		}
	}
}
