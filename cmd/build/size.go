package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/andybalholm/brotli"
)

// sizes holds the sizes of a bundle and of its parts.
type sizes struct {
	target target
	raw    int
	brotli int
	parts  []part
}

// part is a part of a bundle. Its size in brotli is measured alone, so the parts add up to a little more than the
// whole.
type part struct {
	name   string
	raw    int // bytes in the bundle
	brotli int // 0: not measured alone
}

func brotliSize(text []byte) int {
	var out bytes.Buffer
	w := brotli.NewWriterLevel(&out, brotli.BestCompression)
	w.Write(text)
	w.Close()
	return out.Len()
}

// measure splits a bundle into its wasm files, its whole JavaScript, and each source file of the JavaScript.
func measure(t target, text []byte, wasm *wasmParts, metafile string) sizes {
	s := sizes{target: t, raw: len(text), brotli: brotliSize(text)}
	script := string(text)
	for _, w := range wasm.list {
		before, behind, found := strings.Cut(script, w.text)
		if !found {
			continue // nothing in the bundle uses it
		}
		script = before + behind
		s.parts = append(s.parts, part{fmt.Sprintf("%s (%s as wasm, %s in brotli)", w.path, count(len(w.wasm)),
			count(brotliSize(w.wasm))), len(w.text), brotliSize([]byte(w.text))})
	}
	s.parts = append(s.parts, part{"JavaScript", len(script), brotliSize([]byte(script))})

	var meta struct {
		Outputs map[string]struct {
			Inputs map[string]struct{ BytesInOutput int }
		}
	}
	if err := json.Unmarshal([]byte(metafile), &meta); err != nil {
		panic("esbuild wrote a metafile that is not JSON: " + err.Error())
	}
	var files []part
	for path, input := range meta.Outputs[t.out].Inputs {
		if !strings.HasSuffix(path, ".wasm") && input.BytesInOutput > 0 {
			files = append(files, part{"  " + path, input.BytesInOutput, 0})
		}
	}
	slices.SortFunc(files, func(a, b part) int { return b.raw - a.raw })
	s.parts = append(s.parts, files...)
	return s
}

// print writes the table and returns an error if the bundle is over its budget.
func (s sizes) print(w io.Writer) error {
	over := s.target.budget > 0 && s.brotli > s.target.budget
	fmt.Fprintf(w, "%-60s %10s raw %8s brotli\n", s.target.out, count(s.raw), count(s.brotli))
	if s.target.budget == 0 {
		return nil
	}
	for _, p := range s.parts {
		weight := ""
		if p.brotli > 0 {
			weight = count(p.brotli) + " brotli"
		}
		fmt.Fprintf(w, "  %-58s %10s raw %15s\n", p.name, count(p.raw), weight)
	}
	fmt.Fprintf(w, "  budget %s brotli, %s left\n", count(s.target.budget), count(s.target.budget-s.brotli))
	if over {
		return fmt.Errorf("%s is %s bytes over its budget of %s in brotli; the table above names the parts",
			s.target.out, count(s.brotli-s.target.budget), count(s.target.budget))
	}
	return nil
}

// count writes a number with a comma between thousands.
func count(n int) string {
	if n < 0 {
		return "-" + count(-n)
	}
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", count(n/1000), n%1000)
}
