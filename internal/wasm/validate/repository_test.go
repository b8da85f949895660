package validate

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

const root = "../../.."

// Every module of the repository is valid, and what npm has installed beside.
func TestRepository(t *testing.T) {
	count := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			switch d.Name() {
			case ".git", ".cache", "node_modules", "dist":
				return fs.SkipDir
			}
			return nil
		}
		if filepath.Ext(path) == ".wasm" {
			count++
			valid(t, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if count < 50 {
		t.Errorf("%d modules found", count)
	}
	valid(t, sqljs)
}

var sqljs = filepath.Join(root, "node_modules", "sql.js", "dist", "sql-wasm.wasm")

func valid(t *testing.T, path string) {
	bin, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Validate(bin); err != nil {
		t.Errorf("%s: %v", path, err)
	}
}

func BenchmarkValidate(b *testing.B) {
	bin, err := os.ReadFile(sqljs)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(bin)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Validate(bin); err != nil {
			b.Fatal(err)
		}
	}
}
