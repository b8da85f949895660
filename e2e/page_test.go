package e2e_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/fiberfill/fiberfill/internal/webserver"
)

// A guest runs under the strictest policy that allows wasm at all. The page requests only the script and the guest: no
// other file, no other address.
func TestPolicyAndRequests(t *testing.T) {
	var files record
	tab := open(t, "policy.html", policy, files.keep)
	var got struct {
		Value   int
		Refused bool
		Asked   []string
	}
	tab.Eval(t, "page.run", &got)
	if got.Value != 4711 {
		t.Errorf("the guest returned %d", got.Value)
	}
	if !got.Refused {
		t.Error("the page may eval: the policy is not in force")
	}
	want := []string{"/dist/fiberfill.js", "/policy.js", "/examples/c-fetch/guest.wasm"}
	if slices.Sort(got.Asked); !slices.Equal(got.Asked, slices.Sorted(slices.Values(want))) {
		t.Errorf("the page asked for %q, want %q", got.Asked, want)
	}
	want = append(want, "/policy.html")
	if opened := files.paths(); !slices.Equal(opened, slices.Sorted(slices.Values(want))) {
		t.Errorf("the server was asked for %q, want %q", opened, want)
	}
}

// record records which files a server was asked for.
type record struct {
	mu     sync.Mutex
	opened []string
}

func (r *record) keep(o *webserver.Options) {
	for prefix, tree := range o.Files {
		o.Files[prefix] = recorded{tree, prefix, r}
	}
}

func (r *record) paths() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	slices.Sort(r.opened)
	return slices.Compact(r.opened)
}

type recorded struct {
	fs.FS
	prefix string
	to     *record
}

func (f recorded) Open(name string) (fs.File, error) {
	f.to.mu.Lock()
	f.to.opened = append(f.to.opened, f.prefix+name)
	f.to.mu.Unlock()
	return f.FS.Open(name)
}

// Importing the module, or running a guest, changes no global.
func TestModuleAddsNoGlobal(t *testing.T) {
	tab := open(t, "globals-module.html")
	var got json.RawMessage
	if tab.Eval(t, `() => globals.added()`, &got); string(got) != "[]" {
		t.Errorf("new or changed by importing: %s", got)
	}
	if tab.Eval(t, `() => globals.run()`, &got); string(got) != `[true,"object",[]]` {
		t.Errorf("after a guest: %s", got)
	}
}

// Fibers of a page and of a Go program go on when the page returns from the back-forward cache, even if a turn was cut
// when the page went there. Firefox loses MessageChannel messages that are on their way to such a page.
func TestBackForwardCache(t *testing.T) {
	for _, function := range []string{"cache.guest", "cache.go"} {
		t.Run(function, func(t *testing.T) { inOthers(t, "cache.html", function, returns) })
	}
}

// Responses, modules and traps from another window are recognised.
func TestValuesOfAnotherWindow(t *testing.T) {
	t.Parallel()
	open(t, "windows.html", policy).Eval(t, "windows.run", nil)
	inOthers(t, "windows.html", "windows.run", returns, policy)
}

// In an engine without JSPI importing works, and the first use is refused with an error that names the feature and the
// engines that have it.
func TestNode20IsToldWhatIsMissing(t *testing.T) {
	command := exec.Command("node", "testdata/node20.mjs")
	command.Stderr = os.Stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("node (it must be on the PATH, version 20): %v", err)
	}
	var got struct {
		Version  string
		JSPI     bool
		Touched  bool
		Refusals []struct {
			What, Code, Message string
			FiberError          bool
		}
	}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if got.JSPI {
		t.Fatalf("the node on the PATH is %s, which has JSPI; this test needs version 20, the base of the "+
			"project", got.Version)
	}
	if got.Touched {
		t.Error("importing has touched a global")
	}
	if len(got.Refusals) != 8 {
		t.Errorf("%d answers, want 8", len(got.Refusals))
	}
	for _, r := range got.Refusals {
		if r.Code != "no-jspi" || !r.FiberError {
			t.Errorf("%s: code %q: %s", r.What, r.Code, r.Message)
		}
		for _, word := range []string{"JavaScript Promise Integration", "Chrome", "137", "Firefox", "153", "Safari",
			"27", "Node", "25"} {
			if !strings.Contains(r.Message, word) {
				t.Errorf("%s: %q does not mention %s", r.What, r.Message, word)
			}
		}
	}
}

// A fiber whose wait an event ends goes on within that event, the only time when its transaction is open.
func TestTransactionAcrossImports(t *testing.T) {
	open(t, "indexeddb.html", policy).Eval(t, "indexeddb.run", nil)
	inOthers(t, "indexeddb.html", "indexeddb.run", returns, policy)
}
