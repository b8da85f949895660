package e2e_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/fiberfill/fiberfill/internal/demopage"
	"github.com/fiberfill/fiberfill/internal/webserver"
)

// demoPage is the page that make demo serves, under the same policy.
const demoPage = "dist/demo/index.html"

func demoPolicy(o *webserver.Options) { o.ContentSecurityPolicy = demopage.Policy }

func openDemo(t *testing.T) *tab {
	t.Helper()
	tab := open(t, demoPage, demoPolicy, axe)
	tab.demoIdle(t)
	t.Cleanup(func() { // runs before the tab is closed
		for _, line := range tab.Messages() {
			if strings.Contains(line, "Content Security Policy") {
				t.Error("the page breaks its policy:", line)
			}
		}
	})
	return tab
}

// demoIdle waits until what the page has started is over.
func (tab *tab) demoIdle(t *testing.T) {
	t.Helper()
	ctx, cancel := limit(t)
	defer cancel()
	if err := demopage.Idle(ctx, tab.Tab); err != nil {
		t.Fatal(err)
	}
}

// text returns what an element of the page shows.
func (tab *tab) text(t *testing.T, id string) (text string) {
	t.Helper()
	tab.Eval(t, `(id) => document.getElementById(id).innerText`, &text, id)
	return text
}

func (tab *tab) demo(t *testing.T, settings demopage.Settings) demopage.Result {
	t.Helper()
	ctx, cancel := limit(t)
	defer cancel()
	result, err := demopage.Run(ctx, tab.Tab, settings)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// failures counts the items of a run that the server fails; the page's seed is 1.
func failures(settings demopage.Settings) (n int) {
	for id := range settings.Fibers {
		if webserver.Fails(1, uint64(id), uint64(settings.Failure)) {
			n++
		}
	}
	return n
}

func expectRun(t *testing.T, settings demopage.Settings, result demopage.Result) {
	t.Helper()
	failed := failures(settings)
	n := result.Counters
	if n.Failed != failed || n.Done != settings.Fibers-failed || n.Right != n.Done || n.Cancelled != 0 {
		t.Errorf("%+v: %d done, %d failed, %d cancelled, %d right; want %d done and right, %d failed", settings, n.Done,
			n.Failed, n.Cancelled, n.Right, settings.Fibers-failed, failed)
	}
	// The server takes at least latency/2 for each item.
	if least := float64(settings.Fibers*settings.Latency) / 2; n.Sequential < least || n.Total <= 0 {
		t.Errorf("%+v: one after another %.0f ms, want at least %.0f; in all %.0f ms", settings,
			n.Sequential, least, n.Total)
	}
}

// While 1,000 fibers start, wait and end, the page draws at least 20 frames a second, without a gap of more than a
// quarter of a second, on a machine with two cores and no graphics card. Other programs cost frames too, so an idle
// page is measured at the same time: the frames that it misses are not the demo's fault.
func TestDemoStaysSmooth(t *testing.T) {
	idle := openDemo(t)
	for _, guest := range []string{"c", "wat", "go"} {
		t.Run(guest, func(t *testing.T) {
			settings := demopage.Settings{Guest: guest, Fibers: 1000, Latency: 20, Failure: 2}
			tab := openDemo(t)
			// A hiccup of the machine may hit only one of the pages; a page that really stutters does so each time.
			for attempt := 1; ; attempt++ {
				idle.Eval(t, `() => {
					const start = performance.now();
					const frames = globalThis.frames = { rate: 0, longest: 0, count: 0, end: false };
					let last = start;
					requestAnimationFrame(function frame() {
						const now = performance.now();
						frames.longest = Math.max(frames.longest, now - last);
						frames.rate = (++frames.count * 1000) / (now - start);
						last = now;
						if (!frames.end) requestAnimationFrame(frame);
					});
				}`, nil)
				result := tab.demo(t, settings)
				var control struct{ Rate, Longest float64 }
				idle.Eval(t, `() => { frames.end = true; return frames }`, &control)
				expectRun(t, settings, result)
				frames := result.Frames
				t.Logf("%d frames, %.0f a second, the longest gap %.0f ms; %.0f ms in all; an idle page "+
					"had %.0f a second, %.0f ms",
					frames.Count, frames.Rate, frames.Longest, result.Counters.Total, control.Rate, control.Longest)
				if frames.Rate >= 20*min(1, control.Rate/60) && frames.Longest <= 250+control.Longest {
					return
				}
				if attempt == 3 {
					t.Fatal("want at least 20 frames a second, and no gap over 250 ms")
				}
			}
		})
	}
}

// Ten thousand fibers are the most that the page offers.
func TestDemoRunsTenThousand(t *testing.T) {
	settings := demopage.Settings{Guest: "c", Fibers: 10_000, Latency: 2}
	result := openDemo(t).demo(t, settings)
	expectRun(t, settings, result)
	t.Logf("%.0f frames a second, the longest gap %.0f ms; %.0f ms in all", result.Frames.Rate, result.Frames.Longest,
		result.Counters.Total)
}

func TestDemoCancels(t *testing.T) {
	for _, guest := range []string{"c", "wat", "go"} {
		t.Run(guest, func(t *testing.T) {
			tab := openDemo(t)
			ctx, cancel := limit(t)
			defer cancel()
			// None of the fibers ends by itself before the test does.
			settings := demopage.Settings{Guest: guest, Fibers: 20, Latency: 5000}
			if err := demopage.Begin(ctx, tab.Tab, settings); err != nil {
				t.Fatal(err)
			}
			// the most that a browser sends at once
			tab.Traffic(t, func(now webserver.Stats) bool { return now.InFlight == 6 })

			// A click in the middle of a lane cancels only that lane's fiber.
			var live int
			tab.Eval(t, `async (lane, lanes) => {
				// Six requests may be in flight before the last fiber has started, because a turn ends after its time
				// budget.
				const waiting = document.getElementById("count-waiting");
				while (Number(waiting.value) < lanes) await new Promise(requestAnimationFrame);
				const scroller = document.getElementById("scroller");
				const box = document.getElementById("spacer").getBoundingClientRect();
				const y = box.top + (lane + 0.5) * box.height / lanes;
				const at = { clientX: box.left + 50, clientY: y, pointerType: "mouse" };
				scroller.dispatchEvent(new PointerEvent("click", at));
				const cancelled = document.getElementById("count-cancelled");
				while (cancelled.value !== "1") await new Promise(requestAnimationFrame);
				if (!document.getElementById("readout").textContent.startsWith("item " + lane + ": cancelled")) {
					throw new Error("another lane was chosen");
				}
				return Number(waiting.value);
			}`, &live, 7, 20)
			if live != 19 {
				t.Errorf("after one of 20 was cancelled, %d wait", live)
			}

			tab.Eval(t, `() => document.getElementById("cancel").click()`, nil)
			result, err := demopage.End(ctx, tab.Tab)
			if err != nil {
				t.Fatal(err)
			}
			if n := result.Counters; n.Cancelled != 20 || n.Done != 0 || n.Failed != 0 {
				t.Errorf("%d cancelled, %d done, %d failed, want all 20 cancelled", n.Cancelled, n.Done, n.Failed)
			}
			tab.demoIdle(t)
			for _, claim := range []string{"total", "sequential", "faster", "raw-right", "raw-total", "raw-faster"} {
				if got := tab.text(t, claim); got != "-" {
					t.Errorf("after Cancel the page claims %s: %s", claim, got)
				}
			}
			// The requests have really stopped: the server sees it.
			tab.Traffic(t, func(now webserver.Stats) bool { return now.InFlight == 0 && now.Abandoned >= 6 })
		})
	}
}

// A failed lane is drawn as failed, from its end to the right edge; a lane that is done is not.
func TestDemoShowsFailedLanes(t *testing.T) {
	settings := demopage.Settings{Guest: "c", Fibers: 40, Latency: 20, Failure: 25}
	tab := openDemo(t)
	expectRun(t, settings, tab.demo(t, settings))
	var lanes []string
	tab.Eval(t, `(lanes) => {
		const bars = document.getElementById("bars");
		const style = getComputedStyle(document.documentElement);
		const colour = (name) => style.getPropertyValue(name).trim();
		const context = bars.getContext("2d");
		return Array.from({ length: lanes }, (_, lane) => {
			const middle = Math.floor((lane + 0.5) * bars.height / lanes);
			const pixels = context.getImageData(bars.width - 8, middle, 8, 1).data;
			const seen = new Set();
			for (let i = 0; i < pixels.length; i += 4) {
				seen.add("#" + [...pixels.slice(i, i + 3)].map((part) => part.toString(16).padStart(2, "0")).join(""));
			}
			if (seen.has(colour("--failed")) && seen.has(colour("--failed-2"))) return "failed";
			return seen.has(colour("--done")) ? "done" : [...seen].join();
		});
	}`, &lanes, settings.Fibers)
	for lane, got := range lanes {
		want := "done"
		if webserver.Fails(1, uint64(lane), uint64(settings.Failure)) {
			want = "failed"
		}
		if got != want {
			t.Errorf("lane %d looks %s, want %s", lane, got, want)
		}
	}
}

// The page fits the screen, from phone to desktop, during a run and after it, without sideways scrolling. Every control
// has a name.
func TestDemoFitsTheScreen(t *testing.T) {
	tab := openDemo(t)
	ctx, cancel := limit(t)
	defer cancel()
	fits := func(when string) {
		for _, width := range []int{360, 390, 768, 1440} {
			if err := tab.Screen(ctx, width, 800, width == 768); err != nil {
				t.Fatal(err)
			}
			var got struct{ Page, Screen int }
			tab.Eval(t,
				`() => ({ page: document.documentElement.scrollWidth, screen: document.documentElement.clientWidth })`,
				&got)
			if got.Page > got.Screen {
				t.Errorf("%s the page is %d pixels wide where %d fit", when, got.Page, got.Screen)
			}
		}
	}
	if err := demopage.Begin(ctx, tab.Tab, demopage.Settings{Guest: "wat", Fibers: 1000, Latency: 5000}); err != nil {
		t.Fatal(err)
	}
	tab.Eval(t, `async () => {
		const { rows } = document.getElementById("fibers-live");
		while (!rows[0].textContent.includes("env.fetch_text")) await new Promise(requestAnimationFrame);
	}`, nil)
	fits("while fibers live")
	tab.Eval(t, `() => document.getElementById("cancel").click()`, nil)
	if _, err := demopage.End(ctx, tab.Tab); err != nil {
		t.Fatal(err)
	}
	fits("after the run")
	var nameless []string
	tab.Eval(t, `() => [...document.querySelectorAll("input, button, canvas, progress, [tabindex]")]
		.filter((e) => !e.hidden && !e.closest("[aria-label], [aria-labelledby], label, #scroller"))
		.filter((e) => !e.textContent.trim() && !e.title)
		.map((e) => e.outerHTML)`, &nameless)
	if len(nameless) > 0 {
		t.Errorf("without a name: %q", nameless)
	}
}

// A visitor who only looks sees a run of a hundred fibers, right answers of all, and the same on raw JSPI. The
// timeline is on the first screen.
func TestDemoStartsByItself(t *testing.T) {
	tab := openDemo(t)
	ctx, cancel := limit(t)
	defer cancel()
	status, done := tab.text(t, "status"), tab.text(t, "count-done")
	if !strings.HasPrefix(status, "100 fibers ended") || tab.text(t, "right") != done+" of "+done {
		t.Errorf("%s right: %s", tab.text(t, "right"), status)
	}
	if tab.text(t, "raw-right") == "-" || tab.text(t, "raw-faster") == "-" {
		t.Error("nothing of raw JSPI is shown")
	}
	for _, screen := range [][2]int{{1440, 900}, {390, 844}} {
		if err := tab.Screen(ctx, screen[0], screen[1], false); err != nil {
			t.Fatal(err)
		}
		var end float64
		tab.Eval(t, `() => document.getElementById("raw-bars").getBoundingClientRect().bottom`, &end)
		if end > float64(screen[1]) {
			t.Errorf("at %v both timelines end at %.0f", screen, end)
		}
	}
}

// On raw JSPI the guest's calls share one stack in memory: where enough of them wait, results are lost. fiberfill's
// are all right. Both are shown.
func TestDemoComparesWithRawJspi(t *testing.T) {
	for _, guest := range []string{"c", "wat"} {
		tab := openDemo(t)
		settings := demopage.Settings{Guest: guest, Fibers: 120, Latency: 200, Raw: true}
		result := tab.demo(t, settings)
		expectRun(t, settings, result)
		if n := result.Counters.RawRight; n == 0 || n >= settings.Fibers {
			t.Errorf("%s: %d of %d are right on raw JSPI", guest, n, settings.Fibers)
		}
		if note := tab.text(t, "raw-note"); !strings.Contains(note, "of 120 right: its waiting calls share one stack") {
			t.Error(note)
		}
	}
}

// The page stops raw JSPI long before the tab would end. fiberfill goes on.
func TestDemoHowLongItGoesOn(t *testing.T) {
	tab := openDemo(t)
	var got struct{ Ended, Right, Raw, Deadly int }
	tab.Eval(t, `async () => {
		const button = document.getElementById("reach");
		const over = new Promise((resolve) => button.addEventListener("reach-over", resolve, { once: true }));
		button.click();
		await over;
		const value = (id) => Number(document.getElementById(id).value);
		return { ended: value("reach-ended"), right: value("reach-right"), raw: value("reach-raw-ended"),
			deadly: value("deadly") };
	}`, &got)
	if got.Ended != 150_000 || got.Right != got.Ended || got.Raw < 50_000 || got.Raw >= got.Deadly {
		t.Errorf("%+v: %s", got, tab.text(t, "reach-status"))
	}
	row := regexp.MustCompile(`\| Chromium, raw JSPI \| [\d,]+ † \| ([\d,]+) † \|`)
	m := row.FindStringSubmatch(read(t, "docs/bench/README.md"))
	if m == nil || tab.text(t, "deadly") != m[1] {
		t.Errorf("the page says %s, the benchmark %q", tab.text(t, "deadly"), m)
	}
}

// On a server of plain files, as that of the site, a service worker answers.
func TestDemoOnPlainFiles(t *testing.T) {
	server := httptest.NewServer(http.FileServer(http.Dir("../web/dist")))
	t.Cleanup(server.Close)
	ctx, cancel := limit(t)
	defer cancel()
	opened, err := chromium.Open(ctx, server.URL+"/demo/index.html")
	if err != nil {
		t.Fatal(err)
	}
	tab := &tab{Tab: opened}
	t.Cleanup(tab.Close)
	tab.demoIdle(t)
	if source := tab.text(t, "source"); !strings.Contains(source, "a service worker in the browser answers") {
		t.Error(source)
	}
	result := tab.demo(t, demopage.Settings{Guest: "go", Fibers: 200, Latency: 20, Failure: 20})
	if n := result.Counters; n.Done+n.Failed != 200 || n.Right != n.Done || n.Failed == 0 || n.Done == 0 {
		t.Errorf("%+v", n)
	}
	tab.demoIdle(t)
	var got programShown
	tab.Eval(t, playProgram, &got, "S-FETCH", "f1 is answered first, then f2, then f0", false)
	if !strings.HasPrefix(got.Verdict, "Right") {
		t.Errorf("%s: %q", got.Verdict, got.Checks)
	}
	if escaped := tab.Escaped(t); len(escaped) > 0 {
		t.Errorf("escaped: %q", escaped)
	}
}

// By keyboard a visitor chooses a lane and cancels its fiber.
func TestDemoByKeyboard(t *testing.T) {
	tab := openDemo(t)
	ctx, cancel := limit(t)
	defer cancel()
	settings := demopage.Settings{Guest: "c", Fibers: 20, Latency: 5000}
	if err := demopage.Begin(ctx, tab.Tab, settings); err != nil {
		t.Fatal(err)
	}
	var readout string
	tab.Eval(t, `async () => {
		const by = (id) => document.getElementById(id);
		while (by("count-waiting").value !== "20") await new Promise(requestAnimationFrame);
		const scroller = by("scroller");
		scroller.focus();
		for (const key of ["ArrowDown", "ArrowDown", "ArrowDown", "ArrowUp", "Enter"])
			document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
		while (by("count-cancelled").value !== "1") await new Promise(requestAnimationFrame);
		const text = by("readout").textContent;
		by("cancel").focus();
		document.activeElement.click();
		return text;
	}`, &readout)
	if !strings.HasPrefix(readout, "item 1: cancelled") {
		t.Error(readout)
	}
	if _, err := demopage.End(ctx, tab.Tab); err != nil {
		t.Fatal(err)
	}
}

// The names of tests and rules are of no use to a visitor.
func TestDemoShowsNoIds(t *testing.T) {
	tab := openDemo(t)
	var got programShown
	tab.Eval(t, playProgram, &got, "", "", false)
	var text string
	tab.Eval(t, `() => document.body.innerText`, &text)
	if ids := regexp.MustCompile(`\bS-[A-Z]+(-[A-Z])?\b|\[[A-Z]+-[A-Z0-9]+\]`).FindAllString(text, -1); len(ids) > 0 {
		t.Errorf("the page shows %q", ids)
	}
}

func TestDemoIsAccessible(t *testing.T) {
	tab := openDemo(t)
	tab.accessible(t)
	var got programShown
	tab.Eval(t, playProgram, &got, "", "", false)
	tab.accessible(t)
}

func TestDemoInOthers(t *testing.T) {
	t.Parallel()
	check := func(t *testing.T, got map[string]demopage.Result) {
		for _, guest := range []string{"c", "wat", "go"} {
			settings := demopage.Settings{Guest: guest, Fibers: 200, Latency: 20, Failure: 10}
			expectRun(t, settings, got[guest])
			t.Logf("%s: %.0f frames a second, the longest gap %.0f ms; %.0f ms in all", guest, got[guest].Frames.Rate,
				got[guest].Frames.Longest, got[guest].Counters.Total)
		}
	}
	inOthers(t, "demo.html", "demo.run", check, demoPolicy, func(o *webserver.Options) {
		o.Files["/drive/"] = os.DirFS("../internal/demopage")
	})
}
