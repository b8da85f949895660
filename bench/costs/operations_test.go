package main

import "testing"

// The cost of an operation means something only if it does its work n times.
func TestOperations(t *testing.T) {
	for name, operation := range operations {
		for _, n := range []int{1, 10} {
			if sum, err := operation(n); err != nil || sum != n {
				t.Errorf("%s of %d sums up to %d, error %v", name, n, sum, err)
			}
		}
	}
}
