package main

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// How wasm gets into a script without a further request
//
// `import core from "../core/core.wasm"` yields a Uint8Array. The bytes stand in the script as a string of printable
// ASCII, which survives every charset, proxy and editor. What matters is its size after brotli, and brotli finds
// repetitions only where the same bytes become the same characters wherever they stand. So the code maps byte by byte:
// the 90 values that wasm uses most, which are the small ones (opcodes, indices, short constants), become one character,
// the others a prefix and a character. Measured with brotli 11, above the wasm's own size in brotli:
//
//	                              core, 32 KB   sql.js, 688 KB
//	this code                        +2 %            +2 %
//	hexadecimal                      +8 %            +6 %
//	\xNN of a JavaScript string     +17 %           +13 %
//	base64                          +34 %           +21 %
//
// A table of each file's most frequent bytes instead of "the small ones" saves one percent, less than the table costs.

const (
	singles    = 90   // byte values that take one character
	firstChar  = '#'  // the character for value 0; all others follow in order
	backslash  = '\\' // has to be escaped in a string, so one character is replaced ...
	substitute = '!'  // ... by one that stands before firstChar
	prefixes   = firstChar + singles
)

// encode writes wasm as printable ASCII without quotes and backslashes. decode.js reads it back.
func encode(wasm []byte) string {
	var text strings.Builder
	char := func(v byte) {
		c := firstChar + v
		if c == backslash {
			c = substitute
		}
		text.WriteByte(c)
	}
	for _, b := range wasm {
		if b >= singles {
			text.WriteByte(prefixes + b/singles - 1)
		}
		char(b % singles)
	}
	return text.String()
}

// wasmParts collects what a bundle embeds, for the table of sizes.
type wasmParts struct{ list []wasmPart }

type wasmPart struct {
	path string // relative to the repository
	wasm []byte
	text string
}

// embedWasm is the esbuild plugin that turns the import of a .wasm file into its bytes.
func embedWasm(parts *wasmParts) api.Plugin {
	return api.Plugin{Name: "embed-wasm", Setup: func(b api.PluginBuild) {
		b.OnLoad(api.OnLoadOptions{Filter: `\.wasm$`}, func(args api.OnLoadArgs) (api.OnLoadResult, error) {
			wasm, err := os.ReadFile(args.Path)
			if err != nil {
				return api.OnLoadResult{}, err
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
			parts.list = append(parts.list, wasmPart{filepath.ToSlash(path), wasm, text})
			source := fmt.Sprintf("import decode from \"./cmd/build/decode.js\"\nexport default /* @__PURE__ */ decode(\"%s\", %d)\n", text, len(wasm))
			return api.OnLoadResult{Contents: &source, ResolveDir: root, Loader: api.LoaderJS}, nil
		})
	}}
}
