// Command mutate breaks the code, one edit at a time, and shows that tests notice:
//
//	go run ./internal/mutate [text]
//
// With a text it makes only the edits whose rules or files contain it. There are two kinds:
//
//   - A [mutation] is written by hand and breaks rules of the four systems. For each of these rules a case of the
//     conformance suite that carries its id has to fail. A rule that no mutation breaks is not proved.
//   - A [mutant] is generated: a condition is negated, a bound is moved, a statement is left out. For each some test of
//     its [target] has to fail, unless it stands in the list of equivalent ones, with the reason why no test can tell
//     it from the code. An entry of that list that no surviving mutant needs is an error, too.
//
// An edit is applied by the go command's -overlay: the work tree stays as it is. A run that crashes or hangs has
// noticed. It ends with status 1 if anything is left unproved.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	only := strings.Join(os.Args[1:], " ")
	unproved := 0
	for _, prove := range []func(only string) (int, error){proveRules, proveMutants} {
		n, err := prove(only)
		if err != nil {
			fmt.Fprintln(os.Stderr, "mutate:", err)
			os.Exit(1)
		}
		unproved += n
	}
	if unproved > 0 {
		fmt.Fprintf(os.Stderr, "mutate: %d are not proved\n", unproved)
		os.Exit(1)
	}
}

// build compiles the tests of a package with a file edited. The error has what the compiler says.
func build(dir, pkg, path string, edited []byte) (binary string, err error) {
	source := filepath.Join(dir, "edited.go")
	if err := os.WriteFile(source, edited, 0o644); err != nil {
		return "", err
	}
	if path, err = filepath.Abs(path); err != nil {
		return "", err
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {path: source}})
	if err != nil {
		return "", err
	}
	list := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(list, overlay, 0o644); err != nil {
		return "", err
	}
	binary = filepath.Join(dir, "mutated.test")
	out, err := exec.Command("go", "test", "-c", "-vet=off", "-overlay", list, "-o", binary, pkg).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return binary, nil
}
