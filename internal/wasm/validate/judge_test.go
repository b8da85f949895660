package validate

import (
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/fiberfill/fiberfill/internal/wasm"
)

// verdicts are what V8 says of modules: nothing, or why it refuses one.
type verdicts []string

// judge asks V8, with its own stack switching.
func judge(t *testing.T, modules [][]byte) verdicts {
	t.Helper()
	node, err := filepath.Abs(filepath.Join(root, "node_modules", ".bin", "node"))
	if err == nil {
		_, err = os.Stat(node)
	}
	if err != nil {
		t.Fatalf("Node 26 is not installed (%v): run `npm ci` in the root of the repository", err)
	}
	var file []byte
	for _, bin := range modules {
		file = binary.LittleEndian.AppendUint32(file, uint32(len(bin)))
		file = append(file, bin...)
	}
	path := filepath.Join(t.TempDir(), "modules")
	if err := os.WriteFile(path, file, 0o666); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(node, "--experimental-wasm-wasmfx", "testdata/judge.mjs", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	v := verdicts(strings.Split(string(out), "\n"))
	if len(v) != len(modules)+1 {
		t.Fatalf("%d verdicts on %d modules", len(v)-1, len(modules))
	}
	return v
}

// agree validates module i and fails the test if V8 has another opinion.
func (v verdicts) agree(t *testing.T, i int, bin []byte) *Error {
	t.Helper()
	_, err := Validate(bin)
	if err == nil && v[i] != "" && !v8Refuses.MatchString(v[i]) {
		t.Errorf("module %d %x is valid, but V8 says %s", i, bin, v[i])
	}
	if err != nil && v[i] == "" && (err.At >= len(bin) || !v8Accepts(bin, err)) {
		t.Errorf("module %d %x: %v, but V8 accepts it", i, bin, err)
	}
	return err
}

// Where we differ from V8 and mean to.
var (
	// We accept it.
	v8Refuses = regexp.MustCompile("mix of legacy and new exception|" + // a rule of V8's
		"implementation limit|" +
		"resume_throw_ref.* expected type|" + // V8 takes the operands in the other order
		"has non-void return") // of a tag that is thrown and caught: the proposal says that one may be for both
	// We refuse it, for the instruction or what is wrong.
	v8Accepts = func(bin []byte, err *Error) bool {
		switch bin[err.At] {
		case wasm.OpResumeThrowRef:
			return true // as above
		case wasm.OpRefEq, wasm.OpBrOnNonNull:
			// V8 does not look at the operand in unreachable code, nor at a label without types.
			return err.Code == TypeMismatch
		}
		if err.Code == BadType && bin[err.At] >= byte(V128) && bin[err.At] <= byte(I32) {
			return true // V8 has element segments of numbers, if they are empty
		}
		return err.Code == BadSwitchTag // V8 does not check whether it carries something
	}
)
