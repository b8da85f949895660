package wasm_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/fiberfill/fiberfill/internal/wasm"
	"github.com/fiberfill/fiberfill/internal/wasm/validate"
)

// The core skips exactly the bytes of an instruction that the validator reads: in all code of the repository's modules
// and of SQLite's.
func TestInstructionsAgree(t *testing.T) {
	paths := []string{"../../node_modules/sql.js/dist/sql-wasm.wasm"}
	for _, root := range []string{"../../bench", "../../examples", "../../internal", "../../jsglue"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if filepath.Ext(path) == ".wasm" {
				paths = append(paths, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	instructions := 0
	for _, path := range paths {
		bin, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		m, failed := validate.Decode(bin, nil)
		if failed != nil {
			t.Errorf("%s: %v", path, failed)
			continue
		}
		var b validate.Body
		for f := m.ImportedFuncs; f < len(m.Funcs); f++ {
			for b.Start(m, uint32(f)); b.Next(); instructions++ {
				if b.Op >= wasm.OpContNew && b.Op <= wasm.OpSwitch {
					continue // stack switching, which the core does not know: such a module is lowered or refused
				}
				r := wasm.Reader{Bin: bin, Pos: b.At, End: m.Funcs[f].Body.End}
				if r.Instruction(); r.Code != wasm.OK || r.Pos != b.End {
					t.Fatalf("%s: the instruction %x at byte %d ends at %d, and in the core at %d (code %d)",
						path, b.Op, b.At, b.End, r.Pos, r.Code)
				}
			}
			if b.Err() != nil {
				t.Errorf("%s: %v", path, b.Err())
			}
		}
	}
	if instructions < 100_000 {
		t.Errorf("only %d instructions", instructions)
	}
}
