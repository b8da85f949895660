package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// privateNames are properties that only fiberfill's own code uses. They are the ones whose shortening saves most: 350
// bytes of the script tag in brotli. In the script tag and the files that it loads they are single letters, and then n
// and a letter; the same in all of them, because they share objects. The npm package keeps the names, for people who
// debug through it.
//
// Exports of the core are among them, which saves 80 bytes more: the scripts have it with short names, too
// (renameExports). Otherwise a name must not be of an import or export of wasm, nor of the public interface, nor in a
// string (that is tested), nor an export of a file that is loaded on demand, nor of the platform.
var privateNames = strings.Fields(`
	abroad after awaited away binding calling cancelledBy claim controller copied copies death deep defers encoded
	entry exportName expose finish firm give given held high hindrance inOrder innermost inspect intact interrupt lent
	lifeOf log_start lose lost mayWait mend notify offer overflow overrun placed pushed reference region saved shape
	size_like_own sound spoilt stackPointer stays substrate swallowed takes tenant thrown thunk trampolines trapped
	turns under unlisten waiters wanders wanted
`)

// letters are in the order that brotli makes least of; so is the n below.
const letters = "deIgkiPSzaVnMTbGqJtOBWFwDjpUYlmXHRxvCZshQuoLKEcyfArN"

// shortNames returns the short name of each private name.
func shortNames() map[string]string {
	short := make(map[string]string, len(privateNames))
	for i, name := range privateNames {
		short[name] = letters[i%len(letters) : i%len(letters)+1]
		if i >= len(letters) {
			short[name] = "n" + short[name]
		}
	}
	return short
}

// Minifiers choose the names of variables by how often each letter occurs. So that they do not depend on the letters
// above, scripts have stand-ins until they are minified.
var standIn = regexp.MustCompile(`QQ(\d\d)QQ`)

// standIns returns the pattern that matches the private names, and the stand-in of each.
func standIns() (pattern string, cache map[string]any) {
	cache = make(map[string]any, len(privateNames))
	quoted := make([]string, len(privateNames))
	for i, name := range privateNames {
		cache[name] = fmt.Sprintf("QQ%02dQQ", i)
		quoted[i] = regexp.QuoteMeta(name)
	}
	return "^(" + strings.Join(quoted, "|") + ")$", cache
}

// shorten puts the short names in place of the stand-ins.
func shorten(script []byte) []byte {
	short := shortNames()
	return standIn.ReplaceAllFunc(script, func(found []byte) []byte {
		i, _ := strconv.Atoi(string(found[2:4]))
		return []byte(short[privateNames[i]])
	})
}
