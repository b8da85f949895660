package e2e_test

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Every code of an error has an entry in docs/errors.md, with a remedy, and no other code has one.
func TestDocsErrorCodes(t *testing.T) {
	var want []string
	code := regexp.MustCompile(`(?m)^  \| "([a-z-]+)"`)
	for file, prefix := range map[string]string{
		"jsglue/src/errors.ts": "", "jsglue/src/actors/errors.ts": "actors: ",
	} {
		codes := code.FindAllStringSubmatch(read(t, file), -1)
		if len(codes) < 10 {
			t.Fatalf("%s has %d codes", file, len(codes))
		}
		for _, m := range codes {
			want = append(want, prefix+m[1])
		}
	}
	var got []string
	for _, entry := range strings.Split(read(t, "docs/errors.md"), "\n### ")[1:] {
		name, text, _ := strings.Cut(entry, "\n")
		got = append(got, name)
		if !strings.Contains(text, "**Remedy**: ") {
			t.Errorf("docs/errors.md has no remedy for %s", name)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("docs/errors.md has entries for\n%s\nbut the codes are\n%s", strings.Join(got, "\n"),
			strings.Join(want, "\n"))
	}
}

// Every error that Go programs can tell apart stands in the table of docs/errors.md.
func TestDocsGoErrors(t *testing.T) {
	exported := regexp.MustCompile(`(?m)^(?:type ([A-Z]\w*Error) struct|(?:var|\t) ?(Err[A-Z]\w*) += )`)
	listed := anchors(read(t, "docs/errors.md"))
	found := 0
	packages := []string{"guest", "asyncio", "asyncio/tree", "asyncio/actors", "asyncio/actors/wasm", "polyfill/run"}
	for _, folder := range packages {
		files, err := filepath.Glob("../" + folder + "/*.go")
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", folder, err)
		}
		for _, file := range files {
			for _, m := range exported.FindAllStringSubmatch(read(t, file[len("../"):]), -1) {
				found++
				if name := m[1] + m[2]; !listed[name] {
					t.Errorf("docs/errors.md lacks %s of %s", name, folder)
				}
			}
		}
	}
	if found < 15 {
		t.Errorf("found %d errors", found)
	}
}

// In the script tag, too, the stack of an error says which fiber it has ended, and who awaits that.
func TestScriptTagErrorsHaveCallers(t *testing.T) {
	const load = `async (fails) => {
		const { instantiateStreaming, suspending } = fiberfill;
		const fetch_text = suspending(async () => {
			await null;
			throw fails === "frozen" ? Object.freeze(boom) : boom;
		});
		const log = () => {};
		const guest = fetch("/examples/c-fetch/guest.wasm");
		const { exports } = await instantiateStreaming(guest, { env: { fetch_text, log } });
		const boom = new TypeError("no such title");
		async function loads() { return await exports.item.with({ name: "first" })("/item"); }
		async function page() { await loads(); }
		const error = await page().catch((error) => error);
		return [error === boom, error.stack];
	}`
	want := regexp.MustCompile(`^TypeError: no such title\n[\s\S]* at async item \(fiber first\)\n` +
		` +at async loads .*\n +at async page `)
	for _, fails := range []string{"throws", "frozen"} {
		var got []any
		open(t, "bad.html").Eval(t, load, &got, fails)
		stack, _ := got[1].(string)
		if got[0] != true || fails == "throws" && !want.MatchString(stack) {
			t.Errorf("%s: the same error: %v, its stack:\n%v\nwant %s", fails, got[0], got[1], want)
		}
	}
}
