package e2e_test

import (
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/fiberfill/fiberfill/internal/webserver"
)

// axe-core finds nothing serious in any page of the site that `make docs` has built. The tests of the demo and of the
// page for the instructions check those two, while they show something. The pages share one theme, so two of the four
// combinations cover both sizes and both colour schemes.
func TestSiteIsAccessible(t *testing.T) {
	t.Parallel()
	site := os.DirFS("../web/dist/site")
	pages := 0
	err := fs.WalkDir(site, ".", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, ".html") || strings.HasPrefix(name, "demo/") {
			return err
		}
		pages++
		t.Run(name, func(t *testing.T) {
			tab := open(t, name, axe, func(o *webserver.Options) { o.Files["/"] = site })
			tab.accessibleAt(t, desktop, false)
			tab.accessibleAt(t, phone, true)
		})
		return nil
	})
	if err != nil || pages < 20 {
		t.Errorf("the site has %d pages, %v: build it by make docs", pages, err)
	}
}
