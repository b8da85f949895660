//go:build !js

package leaktest

func yieldToHost() {}
