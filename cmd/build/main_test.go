package main

import (
	"strings"
	"testing"
)

// A flag without its dash must not run what the flag would have prevented.
func TestUnknownArgumentsAreRefused(t *testing.T) {
	for _, args := range [][]string{{"core", "check"}, {"guests", "check"}, {"bundle", "demo"}} {
		if err := dispatch(args); err == nil || !strings.Contains(err.Error(), args[0]+" takes no argument") {
			t.Errorf("%v: %v", args, err)
		}
	}
}
