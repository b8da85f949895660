package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/evanw/esbuild/pkg/api"
)

// How wasm gets into a script without a further request
//
// `import core from "../core/core.wasm"` yields a Uint8Array. The script contains the bytes as printable ASCII, which
// survives every charset, proxy and editor. Two things matter: its size after brotli, which finds repetitions because
// equal bytes are equal characters at every position; and the time to decode it before the first fiber. Measured with
// brotli 11, relative to the wasm's own size in brotli, and in Node 26, on a slow machine:
//
//	                              core, 24 KB   sql.js, 688 KB   reading the core back
//	one character a small byte       +3 %            +1 %         1 ms, in JavaScript
//	hexadecimal                     +10 %            +6 %         0.1 ms
//	\xNN of a JavaScript string     +16 %           +13 %         3 to 6 ms, in JavaScript
//	base64                          +30 %           +21 %
//
// The first makes the script tag 470 bytes smaller than the second, and gives the engine a quarter less to read.

// encode writes each byte as a character from $ to ~, all but the backslash. Most bytes of a wasm file are below 91:
// such a byte is the character that many places after $. Each space before a character adds 91, modulo 256. With a
// character other than the space the script tag would be 80 bytes larger: brotli predicts well what follows white
// space.
func encode(bytes []byte) string {
	const first, last, prefix, step = '$', '~', " ", 91
	var codes [256]string
	for before := ""; len(before) < 6; before += prefix {
		for c := first; c <= last; c++ {
			if b := byte(int(c-first) + step*len(before)); c != '\\' && codes[b] == "" {
				codes[b] = before + string(c)
			}
		}
	}
	var text strings.Builder
	for _, b := range bytes {
		text.WriteString(codes[b])
	}
	return text.String()
}

// wasmParts collects what a bundle embeds. esbuild loads files at the same time, in any order.
type wasmParts struct {
	mutex sync.Mutex
	list  []wasmPart // the largest last, so that the same sources make the same script
}

func (p *wasmParts) add(part wasmPart) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.list = append(p.list, part)
	slices.SortFunc(p.list, func(a, b wasmPart) int { return len(a.wasm) - len(b.wasm) })
}

type wasmPart struct {
	path string // relative to the repository
	wasm []byte
	text string
}

// moveToEnd moves the texts of wasm files to the end of a script, into functions that are hoisted. Brotli models what
// comes first, and fits the JavaScript less well if wasm comes first: this saves 100 bytes of the script tag.
func (p *wasmParts) moveToEnd(script []byte) []byte {
	const end = "})();"
	text := strings.TrimSpace(string(script))
	for i, part := range p.list {
		for _, quote := range []string{"`", `"`} {
			literal := quote + part.text + quote
			if call := fmt.Sprintf("wasm%d()", i); strings.Contains(text, literal) && strings.HasSuffix(text, end) {
				text = strings.Replace(text, literal, call, 1)
				text = strings.TrimSuffix(text, end) + ";function " + call + "{return" + literal + "}" + end
			}
		}
	}
	return []byte(text)
}

// embedWasm is the esbuild plugin that turns the import of a .wasm file into its bytes. If names are shortened, those
// of its exports are, too.
func embedWasm(parts *wasmParts, short map[string]string) api.Plugin {
	return api.Plugin{Name: "embed-wasm", Setup: func(b api.PluginBuild) {
		b.OnLoad(api.OnLoadOptions{Filter: `\.wasm$`}, func(args api.OnLoadArgs) (api.OnLoadResult, error) {
			wasm, err := os.ReadFile(args.Path)
			if err != nil {
				return api.OnLoadResult{}, err
			}
			if short != nil {
				if wasm, err = renameExports(wasm, short); err != nil {
					return api.OnLoadResult{}, fmt.Errorf("%s: %w", args.Path, err)
				}
			}
			root, err := os.Getwd()
			if err != nil {
				return api.OnLoadResult{}, err
			}
			path, err := filepath.Rel(root, args.Path)
			if err != nil {
				return api.OnLoadResult{}, err
			}
			text := encode(wasm)
			if short != nil && standIn.MatchString(text) {
				return api.OnLoadResult{}, fmt.Errorf("%s: its text has a stand-in of names.go", args.Path)
			}
			parts.add(wasmPart{filepath.ToSlash(path), wasm, text})
			source := fmt.Sprintf("import decode from \"./cmd/build/decode.js\"\nexport default /* @__PURE__ */ "+
				"decode(\"%s\")\n", text)
			return api.OnLoadResult{Contents: &source, ResolveDir: root, Loader: api.LoaderJS}, nil
		})
	}}
}
