package main

import "testing"

// An operation that does not do its work n times has no cost to speak of.
func TestOperations(t *testing.T) {
	for name, operation := range operations {
		for _, n := range []int{1, 10} {
			if sum, err := operation(n); err != nil || sum != n {
				t.Errorf("%s of %d sums up to %d, error %v", name, n, sum, err)
			}
		}
	}
}
