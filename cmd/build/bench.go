package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/fiberfill/fiberfill/bench"
)

const (
	benchDir     = "web/dist/bench"
	benchReports = "docs/bench"
)

// quickTime bounds a quick run, including the build; go run and the last job need the rest of the 80 s.
const quickTime = 68 * time.Second

func benchCommand(flags *flag.FlagSet) func() error {
	quick := flags.Bool("quick", false, "only the ratios, in Chromium and Node, within 80 s; writes no files")
	only := flags.String("only", "",
		"only what is measured under this name, everywhere: costs, switch, ...; writes no files")
	return func() error {
		end := time.Now().Add(quickTime)
		if err := install("npm", "browsers"); err != nil {
			return err
		}
		if err := prepareBench(); err != nil {
			return err
		}
		if !*quick {
			if err := prepareCosts(); err != nil {
				return err
			}
		}
		node, err := npmTool("node")
		if err != nil {
			return err
		}
		sizes, err := prepareInterpreters(*quick)
		if err != nil {
			return err
		}
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
		defer stop()
		opt := bench.Options{Dir: benchDir, Node: node, Log: os.Stdout, Only: *only, Sizes: sizes}
		if *quick {
			opt.Quick = end
		}
		results, failed := bench.Run(ctx, opt)
		if results == nil {
			return failed
		}
		// Write the measurements even if some failed: they took half an hour.
		if !*quick && *only == "" {
			weights, err := benchWeights()
			if err != nil {
				return err
			}
			if err := bench.Report(benchReports, results, bench.Machine(node), weights); err != nil {
				return err
			}
			fmt.Println("\nthe tables and the plots are in", benchReports)
		}
		fmt.Println()
		lines, missing := results.Ratios()
		for _, line := range lines {
			fmt.Println(line)
		}
		if !*quick {
			fmt.Printf("\n%s\n%s", results.Costs(), results.Alive())
		}
		if len(missing) > 0 && *only == "" {
			failed = errors.Join(failed, fmt.Errorf("these could not be measured; the lines above say why: %s",
				strings.Join(missing, ", ")))
		}
		return failed
	}
}

// prepareBench writes a folder with everything that a page or Node needs to run the benchmark. It builds the script
// itself, so that the benchmark measures the work tree.
func prepareBench() error {
	if err := errors.Join(build(scriptTag), build(scriptProposals), build(scriptUnwind)); err != nil {
		return err
	}
	if err := os.RemoveAll(benchDir); err != nil {
		return err
	}
	if err := os.CopyFS(benchDir, os.DirFS("bench/js")); err != nil {
		return err
	}
	for _, t := range []target{scriptTag, scriptProposals, scriptUnwind} {
		if err := copyFile(filepath.Join(benchDir, filepath.Base(t.out)), t.out); err != nil {
			return err
		}
	}
	if err := copyFile(filepath.Join(benchDir, "fiberfill-lower.wasm"), "jsglue/lower/lower.wasm"); err != nil {
		return err
	}
	// This makes the files modules in Node, too, wherever the folder is copied.
	if err := writeFile(filepath.Join(benchDir, "package.json"), []byte(`{"type":"module"}`+"\n")); err != nil {
		return err
	}
	if err := copyGoLoader(benchDir); err != nil {
		return err
	}
	if err := prepareInstructions(); err != nil {
		return err
	}
	optimiser, err := npmTool("wasm-opt")
	if err != nil {
		return err
	}
	return errors.Join(
		compileGo("bench/channels", filepath.Join(benchDir, "channels.wasm")),
		shell(optimiser, "-O3", "--asyncify", "bench/js/guest.wasm",
			"-o", filepath.Join(benchDir, "guest.asyncify.wasm")),
	)
}

// prepareInstructions adds the files that run guests with stack-switching instructions, and the guest for Asyncify.
func prepareInstructions() error {
	lowering := npmModule
	lowering.entry, lowering.also = "web/src/webassembly.ts", nil
	lowering.out = filepath.Join(benchDir, "lowering", "webassembly.js")
	optimiser, err := npmTool("wasm-opt")
	if err != nil {
		return err
	}
	asyncified := filepath.Join(benchDir, "asyncified.wasm")
	return errors.Join(
		build(lowering),
		copyFile(filepath.Join(benchDir, "lowering", "fiberfill-lower.wasm"), "jsglue/lower/lower.wasm"),
		shell(optimiser, "--asyncify", "-O2", asyncified, "-o", asyncified),
	)
}

// prepareCosts adds the files for the table of costs: the operations in Go, natively and in wasm.
func prepareCosts() error {
	return errors.Join(
		compileGo("bench/costs", filepath.Join(benchDir, "costs.wasm")),
		shell("go", "build", "-trimpath", "-o", filepath.Join(benchDir, "costs.exe"), "./bench/costs"),
	)
}

// copyGoLoader copies the loader of Go programs into dir. It must come from the toolchain that compiles them.
func copyGoLoader(dir string) error {
	goroot, err := output("go", "env", "GOROOT")
	if err != nil {
		return err
	}
	return copyFile(filepath.Join(dir, "wasm_exec.js"), filepath.Join(goroot, "lib", "wasm", "wasm_exec.js"))
}

// benchWeights returns how much a page must load for each contestant, in bytes of brotli: library and guest, without
// the page's own few lines.
func benchWeights() (map[string]int, error) {
	weights := map[string]int{}
	for contestant, files := range map[string][]string{
		"fiberfill": {"fiberfill.js", "guest.wasm"},
		"raw":       {"guest.wasm"},
		"asyncify":  {"guest.asyncify.wasm"},
		"channels":  {"channels.wasm", "wasm_exec.js"},
	} {
		for _, name := range files {
			data, err := os.ReadFile(filepath.Join(benchDir, name))
			if err != nil {
				return nil, err
			}
			weights[contestant] += brotliSize(data)
		}
	}
	return weights, nil
}
