package main

import (
	"bytes"
	"os"
	"slices"
	"testing"

	"github.com/fiberfill/fiberfill/internal/wasm"
)

// Only the names of exports change.
func TestRenameExports(t *testing.T) {
	core, err := os.ReadFile("../../jsglue/core/core.wasm")
	if err != nil {
		t.Fatal(err)
	}
	before := exportsOf(t, core)
	renamed, err := renameExports(core, map[string]string{"spawn": "x", "yield": "ny"})
	if err != nil {
		t.Fatal(err)
	}
	want := slices.Clone(before)
	for i, name := range want {
		switch name {
		case "spawn":
			want[i] = "x"
		case "yield":
			want[i] = "ny"
		}
	}
	if got := exportsOf(t, renamed); !slices.Equal(got, want) || slices.Equal(got, before) {
		t.Errorf("got %q, want %q", got, want)
	}
	if same, err := renameExports(core, nil); err != nil || !bytes.Equal(same, core) {
		t.Errorf("without names it is not the same module (%v)", err)
	}
	back, err := renameExports(renamed, map[string]string{"x": "spawn", "ny": "yield"})
	if err != nil || !bytes.Equal(back, core) {
		t.Errorf("renamed back it is not the same module (%v)", err)
	}
	if _, err := renameExports(core[:len(core)-1], nil); err == nil {
		t.Error("half a module is accepted")
	}
}

// exportsOf returns the names of a module's exports, in order.
func exportsOf(t *testing.T, bin []byte) (names []string) {
	t.Helper()
	var module wasm.Module
	if code := wasm.Parse(bin, &module); code != wasm.OK {
		t.Fatalf("code %d at byte %d", code, module.At)
	}
	for _, e := range module.Exports {
		names = append(names, string(module.Name(e)))
	}
	return names
}
