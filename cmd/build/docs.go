package main

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

const (
	siteDir = "web/dist/site"
	// sitePages holds the pages while VitePress builds. It lies below node_modules, where their imports are resolved.
	sitePages = "web/dist/site-pages"
	// sourceAddress is where the site's readers find the files of the repository.
	sourceAddress = "https://github.com/fiberfill/fiberfill/blob/main/"
)

func docsCommand(flags *flag.FlagSet) func() error {
	base := flags.String("base", "/", "the path that the site is served at, with a slash at both ends")
	return func() error {
		if !strings.HasPrefix(*base, "/") || !strings.HasSuffix(*base, "/") {
			return fmt.Errorf("-base %s: the path needs a slash at both ends, as in /fiberfill/", *base)
		}
		if err := demo(); err != nil {
			return err
		}
		return site(*base)
	}
}

// docs writes the site as for the root of a server.
func docs() error { return site("/") }

// site writes the site from docs/, the reference of the package that bundle wrote, and the demo that demo wrote. It
// fails if a link has no target.
func site(base string) error {
	if err := replace(sitePages, writePages); err != nil {
		return err
	}
	vitepress, err := npmTool("vitepress")
	if err != nil {
		return err
	}
	return replace(siteDir, func(dir string) error {
		out, err := filepath.Abs(dir)
		if err != nil {
			return err
		}
		c := exec.Command(vitepress, "build", sitePages)
		c.Env = append(os.Environ(), "SITE_BASE="+base, "SITE_OUT="+out)
		if err := run(c); err != nil {
			return err
		}
		if err := copyDemo(filepath.Join(dir, "demo")); err != nil {
			return err
		}
		return checkLinks(os.DirFS(dir), base)
	})
}

// documentsAddress is where the demo's pages link to if they are not part of the site.
const documentsAddress = "https://github.com/fiberfill/fiberfill#readme"

// copyDemo copies the demo. Its pages link to the site.
func copyDemo(dir string) error {
	if err := os.CopyFS(dir, os.DirFS(demoDir)); err != nil {
		return err
	}
	for page, home := range map[string]string{
		"index.html":              "../index.html",
		"instructions/index.html": "../../index.html",
	} {
		file := filepath.Join(dir, page)
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if !strings.Contains(string(text), documentsAddress) {
			return fmt.Errorf("%s does not link to %s", file, documentsAddress)
		}
		if err := writeFile(file, []byte(strings.ReplaceAll(string(text), documentsAddress, home))); err != nil {
			return err
		}
	}
	return nil
}

// writePages writes what VitePress reads: its settings, the documents, the reference.
func writePages(dir string) error {
	for to, from := range map[string]string{
		".vitepress/config.mjs":      "web/site/config.mjs",
		".vitepress/theme/index.mjs": "web/site/theme/index.mjs",
		".vitepress/theme/style.css": "web/site/theme/style.css",
		"index.md":                   "web/site/index.md",
		"public/icon.svg":            "web/demo/icon.svg",
	} {
		if err := copyFile(filepath.Join(dir, to), from); err != nil {
			return err
		}
	}
	if err := copyDocuments(dir); err != nil {
		return err
	}
	return writeReference(filepath.Join(dir, "reference"))
}

// copyDocuments copies docs. A README.md becomes the index of its folder, and links that leave docs lead to the
// repository.
func copyDocuments(dir string) error {
	return fs.WalkDir(os.DirFS("docs"), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(filepath.Join("docs", name))
		if err != nil {
			return err
		}
		switch path.Ext(name) {
		case ".md":
			text = []byte(siteLinks(string(text), path.Join("docs", path.Dir(name))))
			return writeFile(filepath.Join(dir, indexName(name)), text)
		case ".json":
			return writeFile(filepath.Join(dir, "public", name), text)
		}
		return writeFile(filepath.Join(dir, name), text)
	})
}

// markdownLink matches the target of a link or a picture.
var markdownLink = regexp.MustCompile(`\]\(([^)#:\s]+)(#[^)\s]*)?\)`)

// siteLinks returns a document of a folder of the repository with its links as the site has them.
func siteLinks(text, folder string) string {
	return markdownLink.ReplaceAllStringFunc(text, func(link string) string {
		m := markdownLink.FindStringSubmatch(link)
		target, inside := path.Join(folder, m[1]), m[1]
		if target != "docs" && !strings.HasPrefix(target, "docs/") {
			inside = sourceAddress + target
		} else if path.Ext(target) == ".json" {
			inside = "/" + strings.TrimPrefix(target, "docs/")
		}
		return "](" + indexName(inside) + m[2] + ")"
	})
}

func indexName(name string) string {
	if path.Base(name) == "README.md" && !strings.Contains(name, ":") {
		return path.Join(path.Dir(name), "index.md")
	}
	return name
}

// goPackages are those that a Go program may use.
var goPackages = []string{"asyncio", "asyncio/fiberhttp", "guest", "asyncio/tree", "asyncio/actors",
	"asyncio/actors/wasm", "polyfill", "polyfill/run"}

// writeReference writes the pages that are made from sources: of the npm package, of fiberfill.h, of the Go packages.
func writeReference(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	node, err := npmTool("node")
	if err != nil {
		return err
	}
	if err := shell(node, "web/site/reference.mjs", dir); err != nil {
		return err
	}
	header, err := os.ReadFile("include/fiberfill.h")
	if err != nil {
		return err
	}
	packages := "# Go packages\n\nFor [Go programs](../go.md) and [servers](../server.md), as `go doc` prints it\n" +
		"for a page. [What is stable](../stable.md).\n"
	for _, name := range goPackages {
		c := exec.Command("go", "doc", "-all", "./"+name)
		c.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm") // as natively, and what there is in a page besides
		text, err := outputOf(c)
		if err != nil {
			return err
		}
		packages += "\n## " + name + "\n\n```go\n" + text + "\n```\n"
	}
	return errors.Join(
		writeFile(filepath.Join(dir, "c.md"), []byte("# fiberfill.h\n\nFor guests in C with [fibers of their own]"+
			"(../own-fibers.md).\n\n```c\n"+string(header)+"```\n")),
		writeFile(filepath.Join(dir, "go.md"), []byte(packages)))
}

var (
	pageLink   = regexp.MustCompile(`\s(?:href|src)="([^"]*)"`)
	pageAnchor = regexp.MustCompile(`\sid="([^"]*)"`)
)

// checkLinks fails, with every place, if a page of the site links to a file or an anchor of the site that is not there.
func checkLinks(site fs.FS, base string) error {
	anchors := map[string]map[string]bool{} // of each file
	links := map[string][]string{}
	err := fs.WalkDir(site, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		anchors[name] = map[string]bool{}
		if path.Ext(name) != ".html" {
			return nil
		}
		text, err := fs.ReadFile(site, name)
		for _, m := range pageAnchor.FindAllStringSubmatch(string(text), -1) {
			anchors[name][m[1]] = true
		}
		for _, m := range pageLink.FindAllStringSubmatch(string(text), -1) {
			links[name] = append(links[name], m[1])
		}
		return err
	})
	if err != nil {
		return err
	}
	var dead []error
	for name, targets := range links {
		for _, link := range targets {
			if strings.Contains(link, ":") {
				continue // another site's
			}
			file, anchor, _ := strings.Cut(link, "#")
			file, _, _ = strings.Cut(file, "?")
			if strings.HasSuffix(file, "/") {
				file += "index.html"
			}
			if inside, absolute := strings.CutPrefix(file, base); absolute {
				file = inside
			} else if file == "" {
				file = name
			} else {
				file = path.Join(path.Dir(name), file)
			}
			if has, found := anchors[file]; !found || anchor != "" && !has[anchor] {
				dead = append(dead, fmt.Errorf("%s links to %s, which is not there", name, link))
			}
		}
	}
	return errors.Join(dead...)
}
