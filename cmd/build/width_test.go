package main

import (
	"slices"
	"strings"
	"testing"
)

func TestWideLines(t *testing.T) {
	full := strings.Repeat("ü", maxWidth) // two bytes, one column
	text := strings.Join([]string{"", full, full + ".", "\t" + full[:2*(maxWidth-tabWidth)], "\t" + full}, "\n")
	if got := wideLines(text); !slices.Equal(got, []int{3, 5}) {
		t.Errorf("wide are the lines %v, want 3 and 5", got)
	}
}
