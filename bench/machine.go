package bench

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// Environment is what figures depend on, as a list of names and values.
type Environment [][2]string

// Machine looks at what the benchmark runs on: the machine, and the versions of all that takes part.
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

// after returns what stands behind the first "name:" in a file of the system, or "unknown".
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
