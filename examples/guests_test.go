// Package examples_test runs the guests that need no JavaScript, each against a real HTTP server, on a runtime where a
// waiting call simply blocks. It shows that the guests compute the right results. The browser tests in e2e show that
// many of their calls can wait at once.
package examples_test

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"math"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/fiberfill/fiberfill/internal/webserver"
)

// guest is an instance with a record of its imports' calls.
type guest struct {
	api.Module
	server *webserver.Server
	yields int
	told   []string // "code value" for each call of log
}

func instantiate(t *testing.T, path string) *guest {
	t.Helper()
	ctx := t.Context()
	object := func(fields string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(fields)} }
	server, err := webserver.Start(ctx, webserver.Options{Files: map[string]fs.FS{"/": fstest.MapFS{
		"spaced.json":   object(" { \"title\" : \"an \\\"id\\\": 4 , }\" ,\r\n\t\"id\":3, \"value\":99 } "),
		"no-value.json": object(`{"id":3}`),
		"broken.json":   object(`{"id":3,"value":`),
		"text.json":     object(`{"id":3,"value":"text"}`),
		"escape.json":   object(`{"id":3,"value":4,"title":"\`),
		"empty.json":    object(``),
		"full.json":     object(fill(1024)),
		"long.json":     object(fill(1025)),
	}}})
	if err != nil {
		t.Fatal(err)
	}
	g := &guest{server: server}

	binary, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	runtime := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfig().
		WithCoreFeatures(api.CoreFeaturesV2|experimental.CoreFeaturesExceptionHandling))
	t.Cleanup(func() { runtime.Close(context.Background()) })
	_, err = runtime.NewHostModuleBuilder("env").
		NewFunctionBuilder().WithFunc(fetchText).Export("fetch_text").
		NewFunctionBuilder().WithFunc(func(code, value int32) {
		g.told = append(g.told, fmt.Sprint(code, " ", value))
	}).Export("log").Instantiate(ctx)
	if err != nil {
		t.Fatal(err)
	}
	_, err = runtime.NewHostModuleBuilder("fiberfill").
		NewFunctionBuilder().WithFunc(func() { g.yields++ }).Export("yield").Instantiate(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if g.Module, err = runtime.Instantiate(ctx, binary); err != nil {
		t.Fatal(err)
	}
	return g
}

// fill returns an item of exactly size bytes.
func fill(size int) string {
	const before, after = `{"id":3,"value":7,"title":"`, `"}`
	return before + strings.Repeat("x", size-len(before)-len(after)) + after
}

// fetchText is env.fetch_text, made with net/http. A panic in it becomes the error of the call.
func fetchText(ctx context.Context, m api.Module, url, urlLen, buf, capacity uint32) uint32 {
	text, ok := m.Memory().Read(url, urlLen)
	if !ok {
		panic("fetch_text: the URL is not in memory")
	}
	request, err := http.NewRequestWithContext(ctx, "GET", string(text), nil)
	if err != nil {
		panic(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		panic(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		panic(err)
	}
	if response.StatusCode != http.StatusOK {
		panic(fmt.Errorf("fetch_text: %s", response.Status))
	}
	if !m.Memory().Write(buf, body[:min(len(body), int(capacity))]) {
		panic("fetch_text: the buffer is not in memory")
	}
	return uint32(len(body))
}

// fetch calls an export with the URL of path, which it writes to the second page of the memory, and more arguments.
func (g *guest) fetch(t *testing.T, export, path string, more ...uint64) (int32, error) {
	t.Helper()
	const at = 65536 + 4096
	url := g.server.URL + path
	if !g.Memory().WriteString(at, url) {
		t.Fatal("the memory has no second page")
	}
	results, err := g.ExportedFunction(export).Call(t.Context(), append([]uint64{at, uint64(len(url))}, more...)...)
	if err != nil {
		return 0, err
	}
	return api.DecodeI32(results[0]), nil
}

func TestItem(t *testing.T) {
	for _, name := range []string{"c-fetch", "wat-fetch"} {
		t.Run(name, func(t *testing.T) {
			g := instantiate(t, name+"/guest.wasm")
			for _, id := range []uint64{0, 1, 17, 999, 123456} {
				got, err := g.fetch(t, "item", fmt.Sprintf("/item?id=%d&ms=2", id))
				if err != nil || uint64(got) != webserver.Value(id) {
					t.Errorf("item %d = %d, %v, want %d", id, got, err, webserver.Value(id))
				}
				if want := fmt.Sprint("2 ", webserver.Value(id)); g.told[len(g.told)-1] != want {
					t.Errorf("item %d told %q, want %q last", id, g.told, want)
				}
			}
			for path, want := range map[string]int32{
				"/full.json":     7,
				"/long.json":     -1,
				"/no-value.json": -2,
				"/broken.json":   -2,
				"/text.json":     -2,
				"/empty.json":    -2,
			} {
				if got, err := g.fetch(t, "item", path); err != nil || got != want {
					t.Errorf("%s: %d, %v, want %d", path, got, err, want)
				}
			}
			for _, path := range []string{"/item?id=1&fail=100", "/cut?id=1", "/absent.json"} {
				if got, err := g.fetch(t, "item", path); err == nil {
					t.Errorf("%s: %d and no error", path, got)
				}
			}
		})
	}
}

func TestCReadsAnyObject(t *testing.T) {
	g := instantiate(t, "c-fetch/guest.wasm")
	for path, want := range map[string]int32{
		"/spaced.json":      99,
		"/spaced.json?id=3": 99,
		"/spaced.json?id=4": -3, // the response of another call
		"/escape.json":      -2,
	} {
		if got, err := g.fetch(t, "item", path); err != nil || got != want {
			t.Errorf("%s: %d, %v, want %d", path, got, err, want)
		}
	}
}

func TestCSum(t *testing.T) {
	g := instantiate(t, "c-fetch/guest.wasm")
	var want uint64
	for id := uint64(95); id < 105; id++ {
		want += webserver.Value(id)
	}
	if got, err := g.fetch(t, "sum", "/item?ms=1&id=", 95, 10); err != nil || uint64(got) != want {
		t.Errorf("sum = %d, %v, want %d", got, err, want)
	}
	if got, err := g.fetch(t, "sum", "/no-value.json?id=", 1, 2); err != nil || got != -2 {
		t.Errorf("sum of no values = %d, %v, want -2", got, err)
	}
	if got, err := g.fetch(t, "sum", "/"+strings.Repeat("x", 512), 1, 2); err != nil || got != -1 {
		t.Errorf("sum with a long base = %d, %v, want -1", got, err)
	}
}

func TestCOtherExports(t *testing.T) {
	g := instantiate(t, "c-fetch/guest.wasm")
	ctx := t.Context()
	for _, c := range []struct {
		export string
		args   []uint64
		want   uint64
		yields int
	}{
		{"yielding", []uint64{5}, 5, 5},
		{"overflow", []uint64{20}, 20, 1},
		{"add64", []uint64{math.MaxUint64, 1 << 40}, 1<<40 - 1, 0},
		{"addf", []uint64{api.EncodeF64(0.5), api.EncodeF32(0.25)}, api.EncodeF64(0.75), 0},
	} {
		g.yields = 0
		got, err := g.ExportedFunction(c.export).Call(ctx, c.args...)
		if err != nil || got[0] != c.want || g.yields != c.yields {
			t.Errorf("%s = %v, %v with %d yields, want %d with %d", c.export, got, err, g.yields, c.want, c.yields)
		}
	}
	if _, err := g.ExportedFunction("trap").Call(ctx); err == nil || !strings.Contains(err.Error(), "unreachable") {
		t.Errorf("trap: %v", err)
	}
	if _, err := g.ExportedFunction("endless").Call(ctx, 0); err == nil ||
		!strings.Contains(err.Error(), "stack overflow") {
		t.Errorf("endless: %v", err)
	}
	// The guest must not export its stack pointer: the module editor has to find it.
	if g.ExportedGlobal("__stack_pointer") != nil {
		t.Error("the stack pointer is exported")
	}
}

func TestWATItemOr(t *testing.T) {
	g := instantiate(t, "wat-fetch/guest.wasm")
	// A browser test shows that a rejection gives the default: no host function of this runtime can throw.
	if got, err := g.fetch(t, "item_or", "/item?id=17", 5); err != nil || uint64(got) != webserver.Value(17) {
		t.Errorf("item_or = %d, %v, want %d", got, err, webserver.Value(17))
	}
}
