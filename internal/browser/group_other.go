//go:build !linux

package browser

import "os/exec"

// group does nothing here; see group_linux.go.
func group(*exec.Cmd) {}
