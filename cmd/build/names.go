package main

import (
	"fmt"
	"regexp"
	"strings"
)

// privateNames are properties that only fiberfill's own code uses. They are the ones whose shortening saves most: 350
// bytes of the script tag in brotli. In the script tag and the files that it loads they are single letters, and then n
// and a letter; the same in all of them, because they share objects. The npm package keeps the names, for people who
// debug through it.
//
// A name must not be of the public interface, nor of an import or export of wasm, nor in a string (that is tested), nor
// an export of a file that is loaded on demand, nor of the platform.
var privateNames = strings.Fields(`
	abroad after alone awaited away binding calling cancelledBy claim controller copied copies cursor death deep
	defers encoded entry exportName firm give given held high hindrance inOrder innermost intact interrupt lent
	lifeOf lose lost mayWait offer overflow overrun pushed reference region saved shape sound spoilt stackPointer
	stays substrate swallowed takes tenant thrown thunk trapped turns under unlisten wanders
`)

// letters are in the order that brotli makes least of; so is the n below.
const letters = "lnovHdgYqKPNJIBMytjhuQSaFwObzsWEkGrUximpcZCLDeARTXfV"

// shortNames returns the pattern that matches the private names, and the short name of each.
func shortNames() (pattern string, short map[string]any) {
	short = make(map[string]any, len(privateNames))
	quoted := make([]string, len(privateNames))
	for i, name := range privateNames {
		if short[name] = letters[i%len(letters) : i%len(letters)+1]; i >= len(letters) {
			short[name] = fmt.Sprint("n", short[name])
		}
		quoted[i] = regexp.QuoteMeta(name)
	}
	return "^(" + strings.Join(quoted, "|") + ")$", short
}
