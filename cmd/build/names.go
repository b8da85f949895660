package main

import (
	"regexp"
	"strings"
)

// privateNames are properties that only fiberfill's own code uses. They are the ones whose shortening saves most: 300
// bytes of the script tag in brotli. In the script tag and the files that it loads they are single letters, the same in
// all of them, because they share objects. The npm package keeps the names, for people who debug through it.
//
// A name must not be of the public interface, nor of an import or export of wasm, nor in a string (that is tested), nor
// an export of a file that is loaded on demand, nor of the platform.
var privateNames = strings.Fields(`
	abroad alone awaited away binding calling cancelledBy copied copies cursor death deep defers encoded entry
	exportName firm given hindrance inOrder intact interrupt lent lifeOf lost lows mayWait overrun reference region
	saved settle shape sound stackPointer substrate swallowed tenant thrown thunk trapped turns unlisten waits
	wanders
`)

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// shortNames returns the pattern that matches the private names, and the short name of each.
func shortNames() (pattern string, short map[string]any) {
	short = make(map[string]any, len(privateNames))
	quoted := make([]string, len(privateNames))
	for i, name := range privateNames {
		short[name] = letters[i : i+1]
		quoted[i] = regexp.QuoteMeta(name)
	}
	return "^(" + strings.Join(quoted, "|") + ")$", short
}
