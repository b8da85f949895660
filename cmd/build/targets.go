package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/fiberfill/fiberfill/internal/shadow"
)

// target is one bundle: its sources, its output, and its budget.
type target struct {
	entry  string
	also   []string // further entries; they share modules with the first, so that each module exists once
	out    string   // output of the first entry; the others lie beside it
	format api.Format
	minify bool
	budget int // maximum size in brotli, in bytes; 0: no limit
	// It is the script tag or shares objects with it: see privateNames.
	shorten bool
}

// scriptBudget bounds what a page must load before its first fiber runs: 26 KB in brotli.
const scriptBudget = 26 * 1024

// proposalsBudget bounds the additional cost of guests with fibers of their own.
const proposalsBudget = 13*1024 + 256

var (
	scriptTag = target{
		entry: "web/src/script.ts", out: "web/dist/fiberfill.js",
		format: api.FormatIIFE, minify: true, shorten: true, budget: scriptBudget,
	}
	// The script tag loads this when a guest imports the operations of a proposal.
	scriptProposals = target{
		entry: "web/src/proposals.ts", out: "web/dist/fiberfill-proposals.js",
		format: api.FormatESModule, minify: true, shorten: true, budget: proposalsBudget,
	}
	// The script tag loads this where a guest's stacks are fiberfill's own.
	scriptUnwind = target{
		entry: "web/src/unwind.ts", out: "web/dist/fiberfill-unwind.js",
		format: api.FormatESModule, minify: true, shorten: true,
	}
	// The script tag loads this when it has something to tell on the console.
	scriptReport = target{
		entry: "web/src/report.ts", out: "web/dist/fiberfill-report.js",
		format: api.FormatESModule, minify: true, shorten: true,
	}
	// For pages with actors: a module of its own, beside the script tag or without it.
	scriptActors = target{
		entry: "web/src/actors.ts", out: "web/dist/fiberfill-actors.js",
		format: api.FormatESModule, minify: true,
	}
	// The package is not minified: bundlers minify it, and people who debug through it want to read it. It has source
	// maps, for stack traces that name the lines of the sources.
	npmModule = target{
		entry: "web/src/index.ts", also: []string{"web/src/webassembly.ts", "web/src/polyfill.ts", "web/src/actors.ts"},
		out: "web/dist/npm/esm/index.js", format: api.FormatESModule,
	}
	npmCommonJS = target{entry: "web/src/index.ts", out: "web/dist/npm/cjs/index.js", format: api.FormatCommonJS}
	demoScript  = target{entry: "web/demo/demo.ts", out: "web/dist/demo/demo.js", format: api.FormatIIFE, minify: true}
	tryScript   = target{
		entry: "web/instructions/instructions.ts", out: "web/dist/demo/instructions/instructions.js",
		format: api.FormatIIFE, minify: true,
	}
	tryWorker = target{
		entry: "web/instructions/worker.ts", out: "web/dist/demo/instructions/worker.js",
		format: api.FormatESModule, minify: true,
	}
)

func bundleCommand(*flag.FlagSet) func() error { return bundle }

// bundle writes the script tag and the npm package. It makes the package's folder anew each time, so that stale files
// are not published.
func bundle() error {
	for _, t := range []target{scriptTag, scriptProposals, scriptUnwind, scriptReport, scriptActors} {
		if err := build(t); err != nil {
			return err
		}
	}
	if err := copyFile("web/dist/fiberfill-lower.wasm", "jsglue/lower/lower.wasm"); err != nil {
		return err
	}
	return replace("web/dist/npm", writePackage)
}

// minify minifies a script that esbuild has minified; see minify.mjs. Of the script tag it saves 500 bytes in brotli.
// (terser saves as much, unless it is let make closures of functions that are called once per fiber: then 140 more.)
func minify(script []byte, format api.Format) ([]byte, error) {
	node, err := npmTool("node")
	if err != nil {
		return nil, err
	}
	kind := "script"
	if format == api.FormatESModule {
		kind = "module"
	}
	c := exec.Command(node, "cmd/build/minify.mjs", kind)
	c.Stdin, c.Stderr = bytes.NewReader(script), os.Stderr
	return c.Output()
}

// build builds a target of one file.
func build(t target) error {
	return replace(t.out, func(to string) error { return buildInto(filepath.Dir(to), t) })
}

// buildInto bundles one target into a folder and prints its sizes. It fails, and writes nothing, if the bundle is over
// its budget.
func buildInto(dir string, t target) error {
	name := "[name]"
	if len(t.also) == 0 {
		name = strings.TrimSuffix(filepath.Base(t.out), ".js")
	}
	parts := &wasmParts{}
	split := len(t.also) > 0
	version, err := packageVersion()
	if err != nil {
		return err
	}
	whys, err := json.Marshal(shadow.Whys())
	if err != nil {
		return err
	}
	define := map[string]string{
		"SCRIPT_TAG": fmt.Sprint(t.format == api.FormatIIFE),
		"SPLIT":      fmt.Sprint(split),
		"VERSION":    version,
		"WHYS":       string(whys),
	}
	var banner map[string]string
	if t.format == api.FormatCommonJS {
		// In both formats files beside the script are found in the same way.
		define["import.meta.url"] = "FIBERFILL_URL"
		banner = map[string]string{"js": `const FIBERFILL_URL = require("url").pathToFileURL(__filename).href;`}
	}
	pattern, cache, short := "", map[string]any(nil), map[string]string(nil)
	if t.shorten {
		pattern, cache = standIns()
		short = shortNames()
	}
	result := api.Build(api.BuildOptions{
		EntryPoints: append([]string{t.entry}, t.also...),
		EntryNames:  name,
		Outdir:      filepath.Dir(t.out),
		Splitting:   split,
		External:    []string{"./binaryen.js"}, // beside the page for the instructions
		Bundle:      true,
		Format:      t.format,
		// Only Node's CommonJS loader needs a hint which names a file exports; esbuild writes it for the platform node.
		Platform: map[bool]api.Platform{
			true: api.PlatformNode, false: api.PlatformNeutral,
		}[t.format == api.FormatCommonJS],
		// Old enough that an engine without JSPI reports fiberfill's error instead of a SyntaxError.
		Target:            api.ES2022,
		Charset:           api.CharsetASCII,
		MinifyWhitespace:  t.minify,
		MinifySyntax:      t.minify,
		MinifyIdentifiers: t.minify,
		MangleProps:       pattern,
		MangleCache:       cache,
		LegalComments:     api.LegalCommentsNone,
		Define:            define,
		Banner:            banner,
		Plugins:           []api.Plugin{embedWasm(parts, short)},
		Sourcemap:         map[bool]api.SourceMap{false: api.SourceMapLinked}[t.minify],
		Metafile:          true,
		LogLevel:          api.LogLevelWarning,
		// Fields are assigned: of the script tag this saves 130 bytes in brotli.
		TsconfigRaw: `{"compilerOptions":{"useDefineForClassFields":false}}`,
	})
	if len(result.Errors) > 0 {
		return fmt.Errorf("%s does not build", t.entry)
	}
	var text []byte
	scripts := 0
	for i, file := range result.OutputFiles {
		var err error
		switch {
		case strings.HasSuffix(file.Path, ".map"):
			file.Contents, err = portable(file.Contents, filepath.ToSlash(filepath.Dir(t.out)))
		case t.minify:
			file.Contents, err = minify(file.Contents, t.format)
			if t.shorten {
				file.Contents = shorten(file.Contents)
			}
			if t.format == api.FormatIIFE {
				file.Contents = parts.moveToEnd(file.Contents)
			}
		}
		if err != nil {
			return err
		}
		result.OutputFiles[i] = file
		if strings.HasSuffix(file.Path, ".js") {
			scripts++
			text = append(text, file.Contents...)
		}
	}
	if len(t.also) == 0 && scripts != 1 {
		return errors.New(t.entry + " does not build to one file")
	}
	for i, c := range text {
		if c >= 0x80 {
			return fmt.Errorf("%s: byte %d is not ASCII", t.out, i)
		}
	}
	sizes := measure(t, text, parts, result.Metafile)
	if err := sizes.print(os.Stdout); err != nil {
		return err
	}
	for _, file := range result.OutputFiles {
		if err := writeFile(filepath.Join(dir, filepath.Base(file.Path)), file.Contents); err != nil {
			return err
		}
	}
	return nil
}
