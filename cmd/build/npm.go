package main

import (
	"os"
	"path/filepath"
	"strings"
)

// writePackage completes web/dist/npm beside the two bundles: the manifest, the type declarations, the script tag, README and licence.
//
// esm/ and cjs/ each carry a package.json of one line that says how their .js and .d.ts files are to be read. Without it
// TypeScript would take the declarations of the CommonJS half for those of an ES module.
func writePackage() error {
	const dir = "web/dist/npm"
	for half, kind := range map[string]string{"esm": "module", "cjs": "commonjs"} {
		if err := writeFile(filepath.Join(dir, half, "package.json"), []byte(`{"type":"`+kind+`"}`+"\n")); err != nil {
			return err
		}
		if err := writeTypes(filepath.Join(dir, half, "types")); err != nil {
			return err
		}
	}
	for to, from := range map[string]string{
		"package.json": "web/npm/package.json",
		"fiberfill.js": scriptTag.out,
		"README.md":    "README.md",
		"LICENSE":      "LICENSE",
	} {
		if err := copyFile(filepath.Join(dir, to), from); err != nil {
			return err
		}
	}
	return nil
}

// writeTypes has tsc write the declarations of the public API and of all that it names.
func writeTypes(dir string) error {
	tsc, err := npmTool("tsc")
	if err != nil {
		return err
	}
	if err := shell(tsc, "-p", "web/tsconfig.types.json", "--outDir", dir); err != nil {
		return err
	}
	// The sources import each other as .ts; what is published has only the .d.ts beside the .js name.
	return filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(path, []byte(strings.NewReplacer(`.ts"`, `.js"`, `.ts'`, `.js'`).Replace(string(text))), 0o644)
	})
}
