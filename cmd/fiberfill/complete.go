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

// completeRun completes the file, and its exports. After them any word may follow.
func completeRun(_ *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	switch len(args) {
	case 0:
		return wasmFiles, cobra.ShellCompDirectiveFilterFileExt
	case 1:
		var names []string
		exportsOf(args[0], func(exports exports) error { // a file that cannot be read has none
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
