//go:build !tinygo && !js

package asyncio_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fiberfill/fiberfill/internal/webserver"
)

// node returns Node 26, from npm or from the variable NODE26.
func node(t testing.TB) string {
	t.Helper()
	if path := os.Getenv("NODE26"); path != "" {
		return path
	}
	path, err := filepath.Abs("../node_modules/.bin/node")
	if err == nil {
		_, err = os.Stat(path)
	}
	if err != nil {
		t.Fatalf("there is no Node 26: run npm ci, or set NODE26 to it: %v", err)
	}
	return path
}

var goroot = sync.OnceValues(func() (string, error) {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	return strings.TrimSpace(string(out)), err
})

// build compiles a program for js/wasm and returns the path of the module.
func build(t testing.TB, dir string) string {
	t.Helper()
	wasm := filepath.Join(t.TempDir(), "program.wasm")
	cmd := exec.Command("go", "build", "-o", wasm, ".")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build %s for js/wasm: %v\n%s", dir, err, out)
	}
	return wasm
}

// scenario runs a scenario of testdata/scenarios.mjs with the program and decodes its result into result.
func scenario(t testing.TB, wasm, server, name string, result any) {
	t.Helper()
	root, err := goroot()
	if err != nil {
		t.Fatal(err)
	}
	// After a lost wake-up the program never ends.
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, node(t), "testdata/run.mjs", filepath.Join(root, "lib/wasm/wasm_exec.js"), wasm,
		server, name)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s in Node: %v\n%s%s", name, err, out, stderr.String())
	}
	if err := json.Unmarshal(out, result); err != nil {
		t.Fatalf("%s printed %q: %v", name, out, err)
	}
}

// answers serves each path's own name. /never gets no answer; /arrived answers when that request has come, /left when
// its client has gone.
func answers(t *testing.T) string {
	arrived, left := make(chan struct{}, 16), make(chan struct{}, 16)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/never":
			arrived <- struct{}{}
			<-r.Context().Done()
			left <- struct{}{}
		case "/arrived":
			<-arrived
		case "/left":
			<-left
		}
		fmt.Fprint(w, r.URL.Path)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func TestJS(t *testing.T) {
	program := build(t, "testdata/program")
	for _, test := range []struct{ name, scenario, want string }{
		{"a Go function called from a callback while others wait", "callbacks",
			`{"fromTimer":"200 /a","fromMicrotask":"200 /b","fromFiber":"200 /c","nested":"200 /d",
			"fromPlainFiber":"200 /e","stillWaiting":true}`},
		{"wasm/J-IMP-3 a fiber waits for a Promise, and gets its value", "promises",
			`{"meanwhile":7,"value":"later","thenable":"thenable","twice":["own","kept","first",1,2,3]}`},
		{"wasm/J-EXP-2 J-IMP-3 an error rejects only its own call's Promise", "errors",
			`{"fail":"rejected it did not work",
			"late":"TimeoutError: context deadline exceeded","cancelled":"AbortError: context canceled",
			"panics":"rejected asyncio: fiber panics#1, which runs the exported function panics, panicked: boom",
			"frames":["Error: asyncio: fiber panics#2, which runs the exported function panics, panicked: boom",
				"    at main.init.func (main.go)",
				"    at github.com/fiberfill/fiberfill/asyncio.(*Loop).FuncOf.func (func_js.go)"],
			"unsupported":"rejected asyncio: fiber unsupported#1, which runs the exported function unsupported, ` +
				`panicked: ValueOf: invalid value",
			"rejectedObject":"same","rejectedError":"same","rejectedUndefined":"same","rejectedString":"same",
			"thrown":"same","thrownUndefined":"same",
			"message":"fulfilled Error: one: TypeError: its own",
			"noMessage":"fulfilled a value that JavaScript cannot print",
			"refused":"rejected fetch failed",
			"after":"fulfilled null"}`},
		{"wasm/J-EXP-1 J-EXP-5 each call returns a Promise before its fiber begins; it settles once, as the fiber ends",
			"calls",
			`{"promises":3,"inside":0,"asked":3,"before":["2 c","0 failed a"],"settled":["2 c","0 failed a","1 b"]}`},
		{"wasm/J-EXP-3 the function gets its fiber, then the arguments", "given",
			`{"first":["given#1",1,"two"],"same":true,"second":["given#2"]}`},
		{"wasm/J-EXP-4 a call that does not wait resolves", "without",
			`{"value":"fulfilled null","log":["spawned","entered","resumed","finished","completed"]}`},
		{"wasm/J-IMP-1 the called function gets the arguments, and its caller waits", "asks",
			`{"meanwhile":7,"value":"done","args":[-1,"x"],"same":true,"calls":1,
			"log":["spawned","entered","resumed","waited","paused","notified","entered","resumed","finished",
			"paused"]}`},
		{"wasm/J-IMP-2 a thenable that calls back at once finds its caller suspended", "thenable",
			`{"value":"thenable","log":["spawned","entered","resumed","waited","paused"],
			"after":["spawned","entered","resumed","waited","paused","notified","entered","resumed","finished",
			"completed"]}`},
		{"wasm/J-IMP-5 a fiber that a callback resumed waits again, returns, fails and panics", "again",
			`{"sum":499500,"fails":"rejected no",
			"panics":"rejected asyncio: fiber callThenPanic#1, which runs the exported function callThenPanic, ` +
				`panicked: out of a microtask"}`},
		{"wasm/J-IMP-6 nothing escapes from a microtask", "escapes",
			`{"panics":"rejected asyncio: fiber callThenPanic#1, which runs the exported function callThenPanic, ` +
				`panicked: one",
			"rejected":"same","thenThrows":"same","tooLate":"same","other":"unharmed","escaped":[]}`},
		{"cancelling aborts the request", "cancel",
			`{"inFlight":"same","before":"same","after":"200 /a","listeners":0}`},
		{"a turn ends after its time budget", "budget", `{"timers":3,"spun":true}`},
		{"timers and goroutines of Go go on", "ownWays", `{"slept":true,"blocked":"from a goroutine"}`},
		{"a fiber that blocks the loop in Go's own way is told", "blocks",
			`{"text":"asyncio: fiber stuck#1 has blocked its loop for 5s: it waits in Go's own way, as for a ` +
				`channel, a mutex or time.Sleep, and meanwhile no other fiber runs. Use asyncio's Chan, Mutex, ` +
				`Semaphore and Sleep, or call what blocks in asyncio.Block",
			"ends":["fulfilled null","fulfilled null"]}`},
		{"Serve ends with its context and leaves no goroutine", "stop",
			`{"waited":"rejected stopped","error":"stopped","goroutinesLeft":0,"timersLeft":[]}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got, want any
			if err := json.Unmarshal([]byte(test.want), &want); err != nil {
				t.Fatal(err)
			}
			scenario(t, program, answers(t), test.scenario, &got)
			if !reflect.DeepEqual(got, want) {
				text, _ := json.Marshal(got)
				t.Errorf("got  %s\nwant %s", text, test.want)
			}
		})
	}
}

// net/http makes a program three times as large.
func TestJS_programs_without_fiberhttp_do_without_net_http(t *testing.T) {
	cmd := exec.Command("go", "list", "-deps", ".")
	cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if slices.Contains(strings.Fields(string(out)), "net/http") {
		t.Error("package asyncio imports net/http in the page")
	}
}

// A Go program has the same log in JavaScript as natively.
func TestJS_S_FETCH_order(t *testing.T) {
	for _, dir := range []string{"testdata/program", "../examples/go-fetch"} {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			server := serveGated(t, 3)
			var got struct {
				Order []int
				Log   []string
			}
			scenario(t, build(t, dir), server.URL, "sfetch", &got)
			if !slices.Equal(got.Order, []int{1, 2, 0}) {
				t.Errorf("settled in order %v, want 1 2 0", got.Order)
			}
			names := strings.NewReplacer("text#1", "f0", "text#2", "f1", "text#3", "f2", "item#1", "f0", "item#2", "f1",
				"item#3", "f2")
			if log := names.Replace(withoutBudget(got.Log)); log != logOfSFETCH {
				t.Errorf("log\n%swant\n%s", log, logOfSFETCH)
			}
		})
	}
}

func TestJS_thousand_fetches(t *testing.T) {
	server, err := webserver.Start(t.Context(), webserver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Values, Plain []uint64
		Ms, PlainMs   float64
	}
	scenario(t, build(t, "../examples/go-fetch"), server.URL, "thousand", &got)
	for id := range uint64(1000) {
		if want := webserver.Value(id); got.Values[id] != want || got.Plain[id] != want {
			t.Fatalf("item %d: through Go %d, plainly %d, want %d", id, got.Values[id], got.Plain[id], want)
		}
	}
	t.Logf("1,000 fetches: %.0f ms through Go fibers, %.0f ms by plain fetch", got.Ms, got.PlainMs)
}

// BenchmarkJS reports costs in js/wasm, in ns: a call from JavaScript that does not wait, one that waits for a Promise,
// and a switch.
func BenchmarkJS(b *testing.B) {
	program := build(b, "testdata/program")
	for b.Loop() {
		var costs map[string]float64
		scenario(b, program, "", "costs", &costs)
		for name, ns := range costs {
			b.ReportMetric(ns, name)
		}
	}
}
