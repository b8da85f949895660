package e2e_test

import (
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fiberfill/fiberfill/internal/webserver"
)

// The first page that README.md shows, letter by letter: what a reader copies works.
func TestReadmePage(t *testing.T) {
	readme := read(t, "../README.md")
	_, rest, found := strings.Cut(readme, "```html\n")
	page, _, closed := strings.Cut(rest, "```")
	if !found || !closed {
		t.Fatal("README.md shows no page in HTML")
	}
	tab := open(t, "index.html", func(o *webserver.Options) {
		o.Files = map[string]fs.FS{"/": fstest.MapFS{
			"index.html":   {Data: []byte(page)},
			"fiberfill.js": {Data: []byte(read(t, "../web/dist/fiberfill.js"))},
			"guest.wasm":   {Data: []byte(read(t, "../examples/c-fetch/guest.wasm"))},
		}}
	})
	var got string
	tab.Eval(t, `async () => {
		while (!document.body.textContent) await new Promise(requestAnimationFrame);
		return document.body.textContent;
	}`, &got)
	sum := uint64(0)
	for id := range uint64(1000) {
		sum += webserver.Value(id)
	}
	if want := fmt.Sprintf("1000 fibers, sum %d", sum); got != want {
		t.Errorf("the page says %q, want %q", got, want)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
