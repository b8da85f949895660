package main

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/fiberfill/fiberfill/bench"
	"github.com/fiberfill/fiberfill/internal/wasm"
	"github.com/fiberfill/fiberfill/internal/wasm/validate"
	"github.com/fiberfill/fiberfill/polyfill/lower"
)

// interpreters are the programs of bench/js/interpreters.js, each with an import that may wait: reading files in two of
// them, and calling the host's functions in QuickJS. The names are as short as npm has them.
var interpreters = []struct{ name, file, module, field string }{
	{"lua", "wasmoon/dist/glue.wasm", "wasi_snapshot_preview1", "fd_read"},
	{"quickjs", "@jitl/quickjs-wasmfile-release-sync/dist/emscripten-module.wasm", "a", "s"},
	{"sqlite", "sql.js/dist/sql-wasm.wasm", "a", "s"},
}

// prepareInterpreters puts them into the benchmark's folder, and returns their sizes. Asyncify takes minutes for them,
// so its output is kept. A quick run makes no such output: if it is missing, prepareInterpreters returns nil.
func prepareInterpreters(quick bool) ([]bench.Size, error) {
	var list []bench.Size
	waiting := map[string][2]string{}
	for _, p := range interpreters {
		bin, err := os.ReadFile(filepath.Join("node_modules", filepath.FromSlash(p.file)))
		if err != nil {
			return nil, err
		}
		asyncified, err := asyncify(bin, p.module+"."+p.field, quick)
		if err != nil {
			return nil, err
		}
		if asyncified == nil {
			fmt.Println("no figures of Lua, QuickJS and SQLite: the first make bench that is not quick keeps what " +
				"they need")
			return nil, nil
		}
		rewritten, err := rewrite(bin, p.module, p.field)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.file, err)
		}
		waiting[p.name] = [2]string{p.module, p.field}
		to := filepath.Join(benchDir, "interpreters", p.name)
		if err := errors.Join(writeFile(to+".wasm", bin), writeFile(to+".asyncify.wasm", asyncified)); err != nil {
			return nil, err
		}
		for contestant, bytes := range map[string][]byte{
			"untouched": bin, "rewritten": rewritten, "asyncifiable": asyncified,
		} {
			compressed, err := keptSize(bytes)
			if err != nil {
				return nil, err
			}
			list = append(list, bench.Size{Program: p.name, Contestant: contestant, Raw: len(bytes),
				Brotli: compressed})
		}
	}
	names, err := json.Marshal(waiting)
	if err != nil {
		return nil, err
	}
	return list, writeFile(filepath.Join(benchDir, "interpreters", "waiting.json"), names)
}

// kept returns the file that make writes, or has written for the same key. If only is set, it makes nothing, and
// returns nil if there is no such file.
func kept(only bool, key string, make func(path string) error) ([]byte, error) {
	path := filepath.Join(".cache", "bench", fmt.Sprintf("%x", sha256.Sum256([]byte(key))))
	if !exists(path) {
		if only {
			return nil, nil
		}
		if err := replace(path, make); err != nil {
			return nil, err
		}
	}
	return os.ReadFile(path)
}

// asyncify returns what Binaryen makes of a program.
func asyncify(bin []byte, waiting string, only bool) ([]byte, error) {
	optimiser, err := npmTool("wasm-opt")
	if err != nil {
		return nil, err
	}
	version, err := output(optimiser, "--version")
	if err != nil {
		return nil, err
	}
	// What clang enables for wasm; with all features Binaryen writes what no engine takes.
	options := []string{"--enable-bulk-memory", "--enable-bulk-memory-opt", "--enable-multivalue",
		"--enable-mutable-globals", "--enable-nontrapping-float-to-int", "--enable-reference-types",
		"--enable-sign-ext", "--enable-call-indirect-overlong", "--asyncify",
		"--pass-arg=asyncify-imports@" + waiting, "-O2"}
	return kept(only, fmt.Sprintf("%s %q %x", version, options, sha256.Sum256(bin)), func(path string) error {
		fmt.Println("wasm-opt", options)
		source := path + ".source"
		if err := os.WriteFile(source, bin, 0o644); err != nil {
			return err
		}
		defer os.Remove(source)
		return shell(optimiser, append(options, source, "-o", path)...)
	})
}

// keptSize returns the size in brotli, which takes seconds to find out.
func keptSize(data []byte) (int, error) {
	text, err := kept(false, fmt.Sprintf("brotli %x", sha256.Sum256(data)), func(path string) error {
		return os.WriteFile(path, []byte(strconv.Itoa(brotliSize(data))), 0o644)
	})
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(string(text))
}

// rewrite returns what fiberfill makes of a guest with one import that waits.
func rewrite(bin []byte, module, field string) ([]byte, error) {
	m, invalid := validate.Decode(bin, nil)
	if invalid != nil {
		return nil, invalid
	}
	marks := make([]byte, m.ImportedFuncs)
	for _, i := range m.Imports {
		if i.Kind == wasm.KindFunc && string(m.Text(i.Module)) == module && string(m.Text(i.Name)) == field {
			marks[i.Index] = 1
		}
	}
	r, invalid := lower.Module(bin, lower.Options{All: true, Imports: marks})
	if invalid != nil {
		return nil, invalid
	}
	if !r.Changed {
		return nil, fmt.Errorf("nothing was rewritten: %s", r.Refusal.Code.Text())
	}
	return r.Bytes, nil
}
