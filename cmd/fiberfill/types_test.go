package main

import (
	"os"
	"strings"
	"testing"
)

// The interface has the exports in order, with the types that JavaScript has.
func TestTypes(t *testing.T) {
	want := `export interface Exports {
  ask(p0: number, p1: number): number;
  ask_or_clean(p0: number, p1: number): number;
  astray(): void;
  astray_answer(): void;
  both(p0: number, p1: bigint): [number, number];
  mix(p0: number, p1: bigint, p2: number, p3: number): bigint;
}
`
	if code, out, errs := program("types", "guest/testdata/binds.wasm"); code != exitDone || out != want || errs != "" {
		t.Errorf("exit code %d, %q\n%s", code, errs, out)
	}
}

// A method named new would be a constructor.
func TestTypesOfNew(t *testing.T) {
	path := t.TempDir() + "/new.wasm"
	module := "\x00asm\x01\x00\x00\x00\x01\x04\x01\x60\x00\x00\x03\x02\x01\x00\x07\x07\x01\x03new\x00\x00" +
		"\x0a\x04\x01\x02\x00\x0b"
	if err := os.WriteFile(path, []byte(module), 0o666); err != nil {
		t.Fatal(err)
	}
	if code, out, errs := program("types", path); code != exitDone || !strings.Contains(out, `  "new"(): void;`) {
		t.Errorf("exit code %d, %q\n%s", code, errs, out)
	}
}
