package bench

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// Environment lists what the figures depend on, as names and values.
type Environment [][2]string

// Machine returns the environment of the benchmark: the machine, and the versions of the software.
func Machine(node string) Environment {
	return Environment{
		{"date", time.Now().UTC().Format("2006-01-02 15:04 MST")},
		{"processor", fmt.Sprintf("%s, %d cores", after("/proc/cpuinfo", "model name"), runtime.NumCPU())},
		{"memory", after("/proc/meminfo", "MemTotal")},
		{"system", says("uname", "-srm")},
		{"load at the end", says("cat", "/proc/loadavg")},
		{"fiberfill", says("git", "describe", "--always", "--dirty")},
		{"Chromium", says("chromium", "--version")},
		{"Firefox", says("firefox-esr", "--version")},
		{"Node", says(node, "--version")},
		{"Go", runtime.Version()},
		{"Asyncify", says("node_modules/.bin/wasm-opt", "--version")},
	}
}

// says returns the first line that a program prints, or "unknown".
func says(name string, args ...string) string {
	text, err := exec.Command(name, args...).Output()
	line, _, _ := strings.Cut(string(text), "\n")
	if err != nil || line == "" {
		return "unknown"
	}
	return strings.TrimSpace(line)
}

// after returns the text after the first "name:" in a system file, or "unknown".
func after(path, name string) string {
	text, err := os.ReadFile(path)
	if err == nil {
		for line := range strings.Lines(string(text)) {
			if before, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(before) == name {
				return strings.TrimSpace(value)
			}
		}
	}
	return "unknown"
}
