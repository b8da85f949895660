//go:build !js

package fiberhttp_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fiberfill/fiberfill/internal/browser"
)

// serve returns the address of a server that the tests of both worlds use.
func serve(t testing.TB) string {
	arrived, left, next := make(chan struct{}, 16), make(chan struct{}, 16), make(chan struct{}, 16)
	mux := http.NewServeMux()
	mux.HandleFunc("/echo", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Answer", r.Header.Get("X-Question"))
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
		}
		fmt.Fprint(w, r.Method, " ", string(body))
	})
	mux.HandleFunc("/missing", http.NotFound)
	mux.Handle("/moved", http.RedirectHandler("/echo", http.StatusTemporaryRedirect))
	// a line for each request of /next
	mux.HandleFunc("/lines", func(w http.ResponseWriter, r *http.Request) {
		for i := range 3 {
			fmt.Fprintln(w, "line", i)
			w.(http.Flusher).Flush()
			select {
			case <-next:
			case <-r.Context().Done():
				return
			}
		}
	})
	mux.HandleFunc("/next", func(http.ResponseWriter, *http.Request) { next <- struct{}{} })
	// A response that never comes, or ends. /arrived answers when there is such a request, /left when its client has
	// gone.
	never := func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body) // the server notices that the client has gone only after reading it
		arrived <- struct{}{}
		<-r.Context().Done()
		left <- struct{}{}
	}
	mux.HandleFunc("/never", never)
	mux.HandleFunc("/endless", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintln(w, "begun")
		w.(http.Flusher).Flush()
		never(w, r)
	})
	mux.HandleFunc("/arrived", func(http.ResponseWriter, *http.Request) { <-arrived })
	mux.HandleFunc("/left", func(http.ResponseWriter, *http.Request) { <-left })
	// the page of TestInThePage
	mux.Handle("/page/", http.StripPrefix("/page/", http.FileServer(http.Dir(os.Getenv("FIBERHTTP_PAGE")))))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

// base makes the requests, on connections of the test's own.
func base(t testing.TB) http.RoundTripper {
	own := &http.Transport{MaxIdleConnsPerHost: 1000}
	t.Cleanup(own.CloseIdleConnections)
	return own
}

// TestInThePage runs the tests of transport_test.go, compiled for JavaScript, in Chromium.
func TestInThePage(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("FIBERHTTP_PAGE", dir)
	cmd := exec.Command("go", "test", "-c", "-o", filepath.Join(dir, "test.wasm"), ".")
	cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	loader, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "lib/wasm/wasm_exec.js"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "wasm_exec.js"), loader, 0o666); err != nil {
		t.Fatal(err)
	}
	const page = `<!doctype html><link rel="icon" href="data:,"><script src="wasm_exec.js"></script>`
	if err := os.WriteFile(filepath.Join(dir, "index.html"), []byte(page), 0o666); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute) // a test that hangs must not hang this one
	defer cancel()
	chromium, err := browser.Start(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer chromium.Close()
	tab, err := chromium.Open(ctx, serve(t)+"/page/")
	if err != nil {
		t.Fatal(err)
	}
	var result struct {
		Code int
		Out  string
	}
	err = tab.Eval(ctx, `async () => {
		const go = new Go();
		go.argv = ["test", "-test.v"];
		go.env = { FIBERHTTP_SERVER: location.origin };
		let code, out = "";
		go.exit = (c) => { code = c; };
		const decoder = new TextDecoder();
		globalThis.fs.writeSync = (_, bytes) => { out += decoder.decode(bytes); return bytes.length; };
		const { instance } = await WebAssembly.instantiateStreaming(fetch("test.wasm"), go.importObject);
		await go.run(instance);
		return { Code: code ?? 0, Out: out };
	}`, &result)
	if err != nil {
		t.Fatal(err)
	}
	if passed := strings.Count(result.Out, "--- PASS"); result.Code != 0 || passed < 8 {
		t.Errorf("exit code %d, %d tests passed:\n%s", result.Code, passed, result.Out)
	}
}
