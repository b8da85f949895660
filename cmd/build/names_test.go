package main

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var wasmName = regexp.MustCompile(`"(\w+)"|//export (\w+)`)

// What is shortened is never asked for by a string. (That no name is public is tested in web/npm/reference_test.mjs,
// where the public names are known.)
func TestPrivateNames(t *testing.T) {
	if !slices.IsSorted(privateNames) {
		t.Error("the names are not in order")
	}
	if most := 2 * len(letters); len(privateNames) > most {
		t.Fatalf("%d names, and there are short ones for %d", len(privateNames), most)
	}
	short := shortNames()
	names := slices.Sorted(maps.Keys(short))
	taken := map[string]string{}
	for _, name := range names {
		if other, is := taken[short[name]]; is {
			t.Errorf("%s and %s are both %s", name, other, short[name])
		}
		taken[short[name]] = name
	}
	// Scripts ask instances for their exports, and give them their imports, by plain names.
	for _, pattern := range []string{"../../jsglue/*.wat", "../../jsglue/*/*.wat", "../../jsglue/*/*.go"} {
		paths, err := filepath.Glob(pattern)
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(paths), err)
		}
		for _, path := range paths {
			if strings.Contains(path, "actors") || strings.HasSuffix(path, "_test.go") {
				continue
			}
			core := filepath.Base(filepath.Dir(path)) == "core" // renameExports gives it the short names
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, found := range wasmName.FindAllStringSubmatch(string(text), -1) {
				if slices.Contains(privateNames, found[1]+found[2]) && !(core && found[2] != "") {
					t.Errorf("%s: %s is of an import or export", path, found[0])
				}
			}
		}
	}
	property := regexp.MustCompile(`[.#]([a-zA-Z]{1,2})\b|\b([a-zA-Z]{1,2})\??[:(] `)
	literal := regexp.MustCompile("[\"'`](" + strings.Join(privateNames, "|") + ")[\"'`][^.]")
	files := 0
	for _, folder := range []string{"../../jsglue/src", "../../jsglue/stubs", "../../web/src"} {
		err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || strings.Contains(path, "actors") {
				return err // pages with actors load a module of their own, which shares no objects with the script tag
			}
			files++
			text, err := os.ReadFile(path)
			for i, line := range strings.Split(string(text), "\n") {
				code, _, _ := strings.Cut(line, "//")
				code, _, _ = strings.Cut(code, "/*")
				for _, found := range property.FindAllStringSubmatch(code, -1) {
					if name, is := taken[found[1]+found[2]]; is && len(found[1]+found[2]) == 2 {
						t.Errorf("%s:%d: %s is what %s is shortened to", path, i+1, found[1]+found[2], name)
					}
				}
				if found := literal.FindStringSubmatch(code); found != nil {
					t.Errorf("%s:%d: %s is in a string", path, i+1, found[1])
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if files < 50 {
		t.Errorf("only %d files were read", files)
	}
}
