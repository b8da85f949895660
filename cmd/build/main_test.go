package main

import (
	"strings"
	"testing"
)

// What looks like a flag without its dash must not do what the flag prevents.
func TestWordsThatNoCommandTakes(t *testing.T) {
	for _, args := range [][]string{{"core", "check"}, {"guests", "check"}, {"bundle", "demo"}} {
		if err := dispatch(args); err == nil || !strings.Contains(err.Error(), args[0]+" takes no argument") {
			t.Errorf("%v: %v", args, err)
		}
	}
}
