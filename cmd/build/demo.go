package main

import (
	"context"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"

	"github.com/fiberfill/fiberfill/internal/demopage"
	"github.com/fiberfill/fiberfill/internal/webserver"
)

const demoDir = "web/dist/demo"

// demoFiles are the files that the page loads unchanged, apart from its script: the name in demoDir, and the source.
// The page shows the guests' sources.
var demoFiles = map[string]string{
	"fiberfill.js":   scriptTag.out,
	"c-fetch.wasm":   "examples/c-fetch/guest.wasm",
	"c-fetch.c":      "examples/c-fetch/guest.c",
	"wat-fetch.wasm": "examples/wat-fetch/guest.wasm",
	"wat-fetch.wat":  "examples/wat-fetch/guest.wat",
	"go-fetch.go":    "examples/go-fetch/item.go",

	// The programs of the documents.
	"fiberfill-proposals.js": scriptProposals.out,
	"fiberfill-report.js":    scriptReport.out,
	"fiberfill-unwind.js":    scriptUnwind.out,
	"fiberfill-lower.wasm":   "jsglue/lower/lower.wasm",
	"fiberfill-actors.js":    scriptActors.out,
	"play.mjs":               "examples/c-scenarios/play.mjs",
	"scenarios.json":         "examples/c-scenarios/scenarios.json",
	"fibers1.wasm":           "examples/c-scenarios/fibers1.wasm",
	"fibers1.c":              "examples/c-scenarios/fibers1.c",
	"generator.wasm":         "examples/c-scenarios/generator.wasm",
	"generator.wat":          "examples/c-scenarios/generator.wat",
	"s-fetch.log":            "asyncio/testdata/s-fetch.log",
	"c-actor.wasm":           "examples/c-actor/guest.wasm",
	"c-actor.c":              "examples/c-actor/guest.c",
}

func demoCommand(*flag.FlagSet) func() error { return demo }

// demo writes the page into a self-contained folder.
func demo() error {
	if err := bundle(); err != nil {
		return err
	}
	return replace(demoDir, writePage)
}

func writePage(dir string) error {
	if err := buildInto(dir, demoScript); err != nil {
		return err
	}
	if err := copyPage(dir, "web/demo"); err != nil {
		return err
	}
	if err := tryPage(filepath.Join(dir, "instructions")); err != nil {
		return err
	}
	for to, from := range demoFiles {
		if err := copyFile(filepath.Join(dir, to), from); err != nil {
			return err
		}
	}
	return goGuest(dir)
}

// tryPage writes the page to try the stack-switching instructions, with the assembler that it loads.
func tryPage(dir string) error {
	for _, script := range []target{tryScript, tryWorker} {
		if err := buildInto(dir, script); err != nil {
			return err
		}
	}
	for to, from := range map[string]string{
		"binaryen.js":          "node_modules/binaryen/index.js",
		"fiberfill-lower.wasm": "jsglue/lower/lower.wasm",
	} {
		if err := copyFile(filepath.Join(dir, to), from); err != nil {
			return err
		}
	}
	return copyPage(dir, "web/instructions")
}

// copyPage copies the files of a page that are not scripts: the page itself, its styles, pictures and programs.
func copyPage(dir, source string) error {
	return fs.WalkDir(os.DirFS(source), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		switch filepath.Ext(path) {
		case ".ts", ".mjs", ".go", ".md":
			return nil
		}
		return copyFile(filepath.Join(dir, path), filepath.Join(source, path))
	})
}

// goGuest builds the Go guest and copies its loader beside it.
func goGuest(dir string) error {
	if err := compileGo("examples/go-fetch", filepath.Join(dir, "go-fetch.wasm")); err != nil {
		return err
	}
	return copyGoLoader(dir)
}

func serveCommand(*flag.FlagSet) func() error {
	return func() error {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
		defer stop()
		server, err := serveDemo(ctx)
		if err != nil {
			return err
		}
		fmt.Println("the demo is at", server.URL, "(Ctrl-C ends it)")
		return server.Wait()
	}
}

// serveDemo serves the page that demo wrote until ctx is done.
func serveDemo(ctx context.Context) (*webserver.Server, error) {
	if !exists(filepath.Join(demoDir, "index.html")) {
		return nil, fmt.Errorf("%s is not built yet: go run ./cmd/build demo", demoDir)
	}
	return webserver.Start(ctx, webserver.Options{
		Files:                 map[string]fs.FS{"/": os.DirFS(demoDir)},
		ContentSecurityPolicy: demopage.Policy,
	})
}
