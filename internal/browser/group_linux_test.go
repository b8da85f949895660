package browser

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// running returns the processes that run with TMPDIR as it is, by name.
func running(t *testing.T) map[int]string {
	t.Helper()
	found := map[int]string{}
	environments, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range environments {
		environment, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		var pid int
		fmt.Sscanf(file, "/proc/%d/", &pid)
		variables := bytes.Split(environment, []byte{0})
		if pid != os.Getpid() && slices.ContainsFunc(variables, func(v []byte) bool {
			return string(v) == "TMPDIR="+os.TempDir()
		}) {
			name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
			found[pid] = strings.TrimSpace(string(name))
		}
	}
	return found
}

// await returns when the processes of the test are as they should be.
func await(t *testing.T, what string, right func(map[int]string) bool) map[int]string {
	t.Helper()
	for every, end := time.Tick(20*time.Millisecond), time.After(time.Minute); ; {
		now := running(t)
		if right(now) {
			return now
		}
		select {
		case <-every:
		case <-end:
			t.Fatalf("waited for %s, and there is %v", what, now)
		}
	}
}

// pages are the processes that show that a page is open.
var pages = map[string]string{"Firefox": "Web Content", "WebKit": "WebKitWebProces"}

func TestReportersEndWithThisProcess(t *testing.T) {
	server := httptest.NewServer(nil)
	defer server.Close()
	for name := range reporters {
		t.Run(name, func(t *testing.T) {
			t.Setenv("TMPDIR", t.TempDir())
			program := exec.Command(os.Args[0])
			program.Env = append(os.Environ(), openForever+"="+name+" "+server.URL)
			if err := program.Start(); err != nil {
				t.Fatal(err)
			}
			await(t, "a page", func(now map[int]string) bool {
				for _, process := range now {
					if strings.Contains(process, pages[name]) {
						return true
					}
				}
				return false
			})
			program.Process.Kill()
			program.Wait()
			await(t, "the end of all", func(now map[int]string) bool { return len(now) == 0 })
		})
	}
}

func TestCrashInWebKitIsReported(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	opened := make(chan struct{})
	server := httptest.NewServer(nil)
	defer server.Close()
	go func() {
		<-opened
		for pid, process := range running(t) {
			if process == pages["WebKit"] {
				unix.Kill(pid, unix.SIGKILL)
			}
		}
	}()
	_, err := WebKit(t.Context(), server.URL, func(ctx context.Context) ([]byte, error) {
		close(opened)
		return never(ctx)
	})
	if !errors.Is(err, ErrCrashed) {
		t.Errorf("error = %v", err)
	}
	if left := running(t); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
