package lower

import (
	"os"
	"testing"

	"github.com/fiberfill/fiberfill/internal/wasm"
	"github.com/fiberfill/fiberfill/internal/wasm/validate"
)

// TestSize: other people's programs, in each of which one import waits, become smaller than with Asyncify (-O2), which
// makes them 1.78, 2.06 and 2.04 times as large.
func TestSize(t *testing.T) {
	for _, c := range []struct {
		file, module, field string
		most                float64
	}{
		{"wasmoon/dist/glue.wasm", "wasi_snapshot_preview1", "fd_read", 1.78},
		{"@jitl/quickjs-wasmfile-release-sync/dist/emscripten-module.wasm", "a", "s", 1.95},
		{"sql.js/dist/sql-wasm.wasm", "a", "s", 2.04},
	} {
		bin, err := os.ReadFile("../../node_modules/" + c.file)
		if err != nil {
			t.Fatal(err)
		}
		m, invalid := validate.Decode(bin, nil)
		if invalid != nil {
			t.Fatal(c.file, invalid)
		}
		marks := make([]byte, m.ImportedFuncs)
		for _, i := range m.Imports {
			if i.Kind == wasm.KindFunc && string(m.Text(i.Module)) == c.module && string(m.Text(i.Name)) == c.field {
				marks[i.Index] = 1
			}
		}
		r, invalid := Module(bin, Options{All: true, Imports: marks})
		if invalid != nil || !r.Changed {
			t.Fatal(c.file, invalid, r.Refusal)
		}
		if is := float64(len(r.Bytes)) / float64(len(bin)); is > c.most {
			t.Errorf("%s becomes %.2f times as large, at most %.2f are wanted", c.file, is, c.most)
		}
	}
}
