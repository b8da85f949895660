package guest

import "testing"

// BenchmarkImport measures a guest's calls of three imports: one adds two numbers, one gets a text, and one may wait
// and lets other fibers run, of which there are none.
func BenchmarkImport(b *testing.B) {
	for _, export := range []string{"add", "text", "wait"} {
		b.Run(export, func(b *testing.B) {
			sum := 0
			g := load(b, "testdata/calls.wasm", Options{Imports: Imports{"host": {
				"add":  func(x, y int32) int32 { return x + y },
				"text": func(_ *Call, text string) { sum += len(text) },
				"wait": func(f *Fiber, x int32) (int32, error) { return x, f.Yield() },
			}}})
			b.ReportAllocs()
			call, err := g.Go(export, export, b.N)
			if err != nil {
				b.Fatal(err)
			}
			b.ResetTimer()
			g.Run()
			if call.Err != nil {
				b.Fatal(call.Err)
			}
		})
	}
}
