package main

import (
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// What the shells complete, beside commands and flags, which cobra knows.

var wasmFiles = []string{"wasm"}

func completeTypes(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return wasmFiles, cobra.ShellCompDirectiveFilterFileExt
}

// completeRun completes the file, and its exports. Behind them a word may be anything.
func completeRun(_ *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	switch len(args) {
	case 0:
		return wasmFiles, cobra.ShellCompDirectiveFilterFileExt
	case 1:
		var names []string
		exportsOf(args[0], func(exports exports) error { // of a file that cannot be read there are none
			for _, name := range slices.Sorted(maps.Keys(exports)) {
				if strings.HasPrefix(name, begun) {
					names = append(names, name)
				}
			}
			return nil
		})
		return names, cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveDefault
}
