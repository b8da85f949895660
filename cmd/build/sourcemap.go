package main

import (
	"encoding/json"
	"path"
	"strings"
)

// portable makes esbuild's source map fit for the package: it names each source by its path in this repository, below
// the package's own folder, where no other file can be meant. Instead of repeating embedded wasm it only says that the
// wasm is embedded. Everything else is in the map, so that the sources need not be published beside it.
//
// dir is the folder of the map in this repository, to which esbuild's paths are relative.
func portable(text []byte, dir string) ([]byte, error) {
	var file struct {
		Version  int      `json:"version"`
		Sources  []string `json:"sources"`
		Contents []string `json:"sourcesContent"`
		Mappings string   `json:"mappings"`
		Names    []string `json:"names"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, err
	}
	for i, source := range file.Sources {
		source = path.Join(dir, strings.TrimPrefix(source, "embed-wasm:"))
		file.Sources[i] = "../src/" + source
		if strings.HasSuffix(source, ".wasm") {
			file.Contents[i] = "// The bytes of " + source + ".\n"
		}
	}
	return json.Marshal(file)
}
