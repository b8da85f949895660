package lower

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fiberfill/fiberfill/internal/wasm"
	"github.com/fiberfill/fiberfill/internal/wasm/validate"
)

// TestRepository lowers every module of the repository and of the packages that its tests use, also those that use none
// of the instructions: the output is valid, the same every time, and not lowered again.
func TestRepository(t *testing.T) {
	lowered := 0
	root := "../.."
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && strings.HasPrefix(d.Name(), ".") && path != root {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".wasm") {
			return nil
		}
		bin, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if _, invalid := validate.Validate(bin); invalid != nil {
			return nil // a test's, or a component
		}
		r, invalid := Module(bin, Options{All: true})
		if invalid != nil {
			t.Errorf("%s: invalid at %d: %s", path, invalid.At, invalid.Code.Rule())
			return nil
		}
		if r.Refusal.Code != OK {
			if r.Refusal.Code != ReservedName {
				t.Errorf("%s: refused at %d: %s", path, r.Refusal.At, r.Refusal.Code.Text())
			}
			return nil
		}
		if _, invalid := validate.Validate(r.Bytes); invalid != nil {
			t.Errorf("%s: what it is lowered to is invalid at %d: %s", path, invalid.At, invalid.Code.Rule())
		}
		if again, _ := Module(bin, Options{All: true}); !bytes.Equal(again.Bytes, r.Bytes) {
			t.Errorf("%s: lowered to something else the second time", path)
		}
		if again, _ := Module(r.Bytes, Options{All: true}); again.Changed || !bytes.Equal(again.Bytes, r.Bytes) {
			t.Errorf("%s: lowered twice", path)
		}
		lowered++
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if lowered < 10 {
		t.Errorf("only %d modules lowered", lowered)
	}
}

// module builds a module of sections: each is its id and its contents.
func module(sections ...string) []byte {
	var w wasm.Writer
	w.Raw(wasm.Preamble)
	for _, s := range sections {
		w.Byte(s[0])
		w.U32(uint32(len(s) - 1))
		w.Raw(s[1:])
	}
	return w.B
}

func TestRefused(t *testing.T) {
	const imported = "\x02\x01\x01e\x01f\x00\x00"
	for name, c := range map[string]struct {
		bin  []byte
		want Code
	}{
		"a result that nobody can make": {
			module("\x01\x02\x60\x00\x00\x60\x00\x01\x64\x71", imported, "\x03\x01\x01",
				"\x0a\x01\x05\x00\x10\x00\x00\x0b"),
			NoDummy,
		},
		"an import from the driver's name": {
			module("\x01\x01\x60\x00\x00", "\x02\x01\x0f"+Namespace+"\x01f\x00\x00"),
			ReservedName,
		},
		"more values than a function can have parameters": {many(1, 991), TooManyValues},
		"more calls than a br_table can have labels":      {many(65_001, 1), TooManyCalls},
		"more bytes than a function can have":             {manyWithReference(6_000, 900), TooLarge},
	} {
		r, invalid := Module(c.bin, Options{All: true})
		if invalid != nil {
			t.Errorf("%s: invalid at %d: %s", name, invalid.At, invalid.Code.Rule())
			continue
		}
		if r.Refusal.Code != c.want || r.Bytes != nil || c.want.Text() == "" {
			t.Errorf("%s: %v, want code %d", name, r.Refusal, c.want)
		}
	}
}

// many returns a module whose one function calls an import so often, and keeps so many locals.
func many(calls, locals int) []byte { return keeps(calls, locals, "\x01", "") }

// manyWithReference is many with one local more, a reference.
func manyWithReference(calls, locals int) []byte { return keeps(calls, locals, "\x02", "\x01\x6f") }

func keeps(calls, locals int, groups, reference string) []byte {
	var code wasm.Writer
	code.Raw(groups)
	code.U32(uint32(locals))
	code.Raw("\x7e" + reference)
	code.Raw(strings.Repeat("\x10\x00", calls))
	for k := range locals + len(reference)/2 {
		code.Op(wasm.OpLocalGet, uint32(k))
		code.Byte(wasm.OpDrop)
	}
	code.Byte(wasm.OpEnd)
	var section wasm.Writer
	section.Raw("\x0a\x01")
	section.U32(uint32(len(code.B)))
	section.Bytes(code.B)
	return module("\x01\x01\x60\x00\x00", "\x02\x01\x01e\x01f\x00\x00", "\x03\x01\x00", string(section.B))
}

func TestMostValues(t *testing.T) {
	if r, invalid := Module(many(3, 990), Options{All: true}); invalid != nil || !r.Changed {
		t.Errorf("990 locals are refused: %v", r.Refusal)
	}
}

func TestPlain(t *testing.T) {
	bin := module("\x01\x01\x60\x00\x00", "\x03\x01\x00", "\x0a\x01\x02\x00\x0b")
	if r, invalid := Module(bin, Options{}); invalid != nil || r.Changed || &r.Bytes[0] != &bin[0] {
		t.Errorf("a module without the instructions is changed: %v", r)
	}
	if _, invalid := Module(bin[:len(bin)-1], Options{}); invalid == nil {
		t.Error("half a module is lowered")
	}
}

func BenchmarkLower(b *testing.B) {
	bin, err := os.ReadFile("../../node_modules/sql.js/dist/sql-wasm.wasm")
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(bin)))
	for b.Loop() {
		r, _ := Module(bin, Options{All: true})
		b.ReportMetric(float64(len(r.Bytes))/float64(len(bin)), "size")
	}
}
