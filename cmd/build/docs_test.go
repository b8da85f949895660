package main

import (
	"strings"
	"testing"
	"testing/fstest"
)

func TestSiteLinks(t *testing.T) {
	for in, want := range map[string]string{
		"[a](errors.md#trap)":              "[a](errors.md#trap)",
		"[a](bench/README.md)":             "[a](bench/index.md)",
		"[a](../examples/c-fetch)":         "[a](" + sourceAddress + "examples/c-fetch)",
		"[a](../README.md#where)":          "[a](" + sourceAddress + "README.md#where)",
		"[a](https://example.com/page.md)": "[a](https://example.com/page.md)",
		"[a](#here)":                       "[a](#here)",
		"![a](architecture.svg)":           "![a](architecture.svg)",
	} {
		if got := siteLinks(in, "docs"); got != want {
			t.Errorf("%s becomes %s, want %s", in, got, want)
		}
	}
}

// A link of a built page whose target is missing fails the build, and says where it stands.
func TestCheckLinks(t *testing.T) {
	page := func(links string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(links)} }
	site := fstest.MapFS{
		"index.html":   page(`<a href="/base/a.html#there"><a href="/base/"><a href="https://example.com/gone">`),
		"a.html":       page(`<h2 id="there"><a href="./b/"><a href="#there"><img src="/base/icon.svg">`),
		"b/index.html": page(`<a href="../a.html">`),
		"icon.svg":     page(""),
	}
	if err := checkLinks(site, "/base/"); err != nil {
		t.Errorf("all links are good: %v", err)
	}
	for _, link := range []string{"./gone.html", "#gone", "/base/a.html#gone", "/base/gone/", "/base/gone.svg"} {
		site["b/index.html"] = page(`<a href="` + link + `">`)
		err := checkLinks(site, "/base/")
		if err == nil || !strings.Contains(err.Error(), "b/index.html links to "+link) {
			t.Errorf("a link to %s: %v", link, err)
		}
	}
}
