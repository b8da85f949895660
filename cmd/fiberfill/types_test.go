package main

import "testing"

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
