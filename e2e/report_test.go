package e2e_test

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fiberfill/fiberfill/internal/webserver"
)

// stall makes two calls where one may be started, and resolves to what the console is told when neither moves.
const stall = `async () => {
	const told = new Promise((resolve) => { console.warn = (...all) => resolve(all.map(String).join(" ")); });
	const requests = [];
	const { exports } = await fiberfill.instantiateStreaming(fetch("/examples/c-fetch/guest.wasm"), {
		env: { fetch_text: fiberfill.suspending(() => new Promise((resolve) => requests.push(resolve))), log() {} },
	});
	fiberfill.limits({ soft: 1, hard: 1 });
	const calls = [exports.item("a"), exports.item("b")];
	const text = await told;
	for (const call of calls) call.cancel("enough");
	await Promise.allSettled(calls);
	return text;
}`

// What is told on the console is in a file of its own, beside the script.
func TestReports(t *testing.T) {
	var files record
	tab := open(t, "cost.html", policy, files.keep)
	var got string
	tab.Eval(t, stall, &got)
	for _, want := range []string{"fiberfill: stalled. 1 fibers are started, the hard limit is 1", "1 wait for a place",
		"env.fetch_text: item#1"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q does not say %q", got, want)
		}
	}
	loaded := 0
	for _, path := range files.paths() {
		if path == "/dist/fiberfill-report.js" {
			loaded++
		}
	}
	if loaded != 1 {
		t.Errorf("fiberfill-report.js was loaded %d times", loaded)
	}
}

// What report tells is in that file, too.
func TestReportForBugThreads(t *testing.T) {
	tab := open(t, "cost.html", policy)
	var got string
	tab.Eval(t, `() => fiberfill.report()`, &got)
	for _, want := range []string{"fiberfill 0.", "engine: Mozilla/5.0", "stacks: the engine's (JSPI)", "fibers: 0"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q does not say %q", got, want)
		}
	}
}

// What trace draws is in that file, too.
func TestTraceLoadsItsFile(t *testing.T) {
	tab := open(t, "cost.html", policy)
	var got string
	tab.Eval(t, `async () => {
		const { exports } = await fiberfill.instantiateStreaming(fetch("/examples/c-fetch/guest.wasm"), {
			env: { fetch_text: fiberfill.suspending(async () => (await fetch("/stats")).status), log() {} },
		});
		const drawn = new Promise((resolve) => { console.timeStamp = (...all) => resolve(all.join()); });
		const stop = fiberfill.trace();
		let over = false;
		const text = drawn.finally(() => { over = true; });
		while (!over) await exports.item.with({ name: "traced" })("a");
		stop();
		return text;
	}`, &got)
	if !strings.HasPrefix(got, "traced ") || !strings.Contains(got, ",fiber 1,fiberfill,") {
		t.Errorf("the first span is %s", got)
	}
}

// Without that file the console is told as much as the script knows, and what is missing.
func TestReportsWithoutTheirFile(t *testing.T) {
	tab := open(t, "cost.html", func(o *webserver.Options) {
		script, err := os.ReadFile("../web/dist/fiberfill.js")
		if err != nil {
			t.Fatal(err)
		}
		o.Files["/dist/"] = fstest.MapFS{"fiberfill.js": {Data: script}}
	})
	var got string
	tab.Eval(t, stall, &got)
	for _, want := range []string{"fiberfill: stalled", "fiberfill-report.js, which a report on the console needs, " +
		"cannot be loaded"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q does not say %q", got, want)
		}
	}
}
