package main

import (
	"fmt"
	"slices"

	"github.com/fiberfill/fiberfill/internal/wasm"
)

// renameExports gives the exports of a module the short names by which a script calls them (shortNames).
func renameExports(bin []byte, short map[string]string) ([]byte, error) {
	var module wasm.Module
	if code := wasm.Parse(bin, &module); code != wasm.OK {
		return nil, fmt.Errorf("code %d at byte %d", code, module.At)
	}
	from, to, _ := module.ExportSection("", 0, 0) // where the section lies
	var list wasm.Writer
	list.U32(uint32(len(module.Exports)))
	for _, e := range module.Exports {
		name := string(module.Name(e))
		if s, ok := short[name]; ok {
			name = s
		}
		list.Name(name)
		list.Op(e.Kind, e.Index)
	}
	w := wasm.Writer{B: slices.Clone(bin[:from])}
	w.Op(wasm.SectionExport, uint32(len(list.B)))
	w.Bytes(list.B)
	return append(w.B, bin[to:]...), nil
}
