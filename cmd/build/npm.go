package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// writePackage writes the package into dir: the two bundles, the manifest, the type declarations, the script tag, the
// header for guests in C, README and licence.
//
// esm/ and cjs/ each have a package.json of one line that says which kind of module their .js and .d.ts files are.
// Without it TypeScript would take the declarations of the CommonJS half for an ES module's.
func writePackage(dir string) error {
	for half, t := range map[string]target{"esm": npmModule, "cjs": npmCommonJS} {
		if err := buildInto(filepath.Join(dir, half), t); err != nil {
			return err
		}
	}
	tsc, err := npmTool("tsc")
	if err != nil {
		return err
	}
	types := filepath.Join(dir, "esm", "types")
	if err := shell(tsc, "-p", "web/tsconfig.types.json", "--outDir", types); err != nil {
		return err
	}
	if err := os.CopyFS(filepath.Join(dir, "cjs", "types"), os.DirFS(types)); err != nil {
		return err
	}
	// For who does not read "exports": Parcel, older resolvers of TypeScript, of Jest and others.
	for _, part := range []string{"webassembly", "polyfill", "actors"} {
		manifest := fmt.Sprintf("{\"main\":\"../esm/%[1]s.js\",\"module\":\"../esm/%[1]s.js\","+
			"\"types\":\"../esm/types/web/src/%[1]s.d.ts\"}\n", part)
		if err := writeFile(filepath.Join(dir, part, "package.json"), []byte(manifest)); err != nil {
			return err
		}
	}
	for half, kind := range map[string]string{"esm": "module", "cjs": "commonjs"} {
		if err := writeFile(filepath.Join(dir, half, "package.json"), []byte(`{"type":"`+kind+`"}`+"\n")); err != nil {
			return err
		}
	}
	for to, from := range map[string]string{
		"package.json":             "web/npm/package.json",
		"fiberfill.js":             scriptTag.out,
		"fiberfill-proposals.js":   scriptProposals.out,
		"fiberfill-actors.js":      scriptActors.out,
		"fiberfill-report.js":      scriptReport.out,
		"fiberfill-unwind.js":      scriptUnwind.out,
		"fiberfill-lower.wasm":     "jsglue/lower/lower.wasm",
		"cjs/fiberfill-lower.wasm": "jsglue/lower/lower.wasm",
		"include/fiberfill.h":      "include/fiberfill.h",
		"esm/fiberfill-lower.wasm": "jsglue/lower/lower.wasm",
		"README.md":                "README.md",
		"LICENSE":                  "LICENSE",
	} {
		if err := copyFile(filepath.Join(dir, to), from); err != nil {
			return err
		}
	}
	return checkLower()
}

// packageVersion returns the version of the npm package, as a string of JavaScript.
func packageVersion() (string, error) {
	text, err := os.ReadFile("web/npm/package.json")
	if err != nil {
		return "", err
	}
	var manifest struct{ Version json.RawMessage }
	err = json.Unmarshal(text, &manifest)
	return string(manifest.Version), err
}

// lowerBudget is what the rewriter of modules with stack-switching instructions may weigh in brotli. A page loads it
// only for such a module.
const lowerBudget = 60 * 1024

func checkLower() error {
	text, err := os.ReadFile("jsglue/lower/lower.wasm")
	if err != nil {
		return err
	}
	if n := brotliSize(text); n > lowerBudget {
		return fmt.Errorf("jsglue/lower/lower.wasm weighs %s bytes in brotli, over its budget of %s",
			count(n), count(lowerBudget))
	}
	return nil
}
