package validate

import (
	"os"
	"testing"
)

const sqljs = "../../../node_modules/sql.js/dist/sql-wasm.wasm"

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
