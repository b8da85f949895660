package lower

import (
	"os"
	"testing"

	"github.com/fiberfill/fiberfill/internal/wasm"
	"github.com/fiberfill/fiberfill/internal/wasm/validate"
)

// TestDriver: the numbers by which the rewriter names what the driver has are those of driver.wat, and what it imports
// is what lowered modules share (jsglue/lower/driver.wat).
func TestDriver(t *testing.T) {
	m, err := validate.Decode(driverCode, nil)
	if err != nil {
		t.Fatal(err.Error())
	}
	if m.ImportedFuncs != driverFuncs || len(m.Globals) != driverGlobals || m.ImportedGlobals != driverGlobals {
		t.Errorf("it imports %d functions and %d of %d globals", m.ImportedFuncs, m.ImportedGlobals, len(m.Globals))
	}
	entries := []string{"new", "bind", "suspend", "switch", "resume", "resume_throw",
		"spare", "spareLeaf", "hang", "hangLeaf", "begin", "cannotWait", "leave", "resumeKept"}
	for k, want := range entries {
		if name := string(m.Text(m.Exports[k].Name)); name != want {
			t.Errorf("its function %d is %s, want %s", k, name, want)
		}
	}
	bin, readErr := os.ReadFile("../../jsglue/lower/driver.wasm")
	if readErr != nil {
		t.Fatal(readErr)
	}
	shared, err := validate.Decode(bin, m.Types)
	if err != nil {
		t.Fatal(err.Error())
	}
	types := map[string]validate.Global{}
	for _, e := range shared.Exports {
		if e.Kind == wasm.KindGlobal {
			types[string(shared.Text(e.Name))] = shared.Globals[e.Index]
		}
	}
	names := []string{"state", "exn", "frames", "depth", "nested",
		"deepest", "wait", "below", "ground", "realm"}
	for _, i := range m.Imports {
		if i.Kind != wasm.KindGlobal {
			continue
		}
		name := string(m.Text(i.Name))
		if int(i.Index) < len(names) && name != names[i.Index] {
			t.Errorf("its global %d is %s, want %s", i.Index, name, names[i.Index])
		}
		if g := m.Globals[i.Index]; g.Type != types[name].Type || g.Mutable != types[name].Mutable {
			t.Errorf("its global %s is not of the type that is shared", name)
		}
	}
}
