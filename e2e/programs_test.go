package e2e_test

import (
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fiberfill/fiberfill/internal/webserver"
)

// programShown is what the demo shows of a program that it has played.
type programShown struct {
	Verdict string
	Lanes   []string
	Events  []string   // with sender and receiver, as screen readers read them
	Checks  [][]string // name, expected, result, right or wrong
	Titles  []string   // of several programs
	Code    string
	Chosen  []string // the chosen program and input
}

// playProgram chooses a program and an input through the demo's controls, plays it and waits for its end. Without a
// program it plays all programs with all inputs.
const playProgram = `async (scenario, input, slowly) => {
	const by = (id) => document.getElementById(id);
	const form = by("scenario-form");
	const select = by("case");
	const options = () => [...select.options].map(({ text }) => text);
	if (scenario) {
		form.querySelector("[value=" + scenario + "]").click();
		while (!options().includes(input)) await new Promise((resolve) => setTimeout(resolve));
		select.value = input;
		select.dispatchEvent(new Event("change", { bubbles: true }));
	}
	by("slowly").checked = slowly;
	const over = new Promise((resolve) => form.addEventListener("scenario-over", resolve, { once: true }));
	by(scenario ? "play" : "play-all").click();
	await over;
	const texts = (selector) => [...document.querySelectorAll(selector)].map(({ textContent }) => textContent);
	return {
		verdict: by("verdict").textContent,
		lanes: texts("#lane-heads span"),
		events: texts("#lane-events li"),
		checks: [...document.querySelectorAll("#checks tr.right, #checks tr.wrong")].map((row) =>
			[...row.cells].map(({ textContent }) => textContent)),
		titles: texts("#checks [colspan]"),
		code: by("scenario-code").textContent,
		chosen: [form.elements.scenario.value, options()[select.selectedIndex]],
	};
}`

// The programs of the documents in the demo page. Each shows its code, its events as they happen, and the expected
// result beside the actual one.
func TestProgramsInTheDemo(t *testing.T) {
	var files record
	tab := open(t, demoPage, demoPolicy, files.keep)
	t.Cleanup(func() {
		for _, line := range tab.Messages() {
			if strings.Contains(line, "Content Security Policy") {
				t.Error("the page breaks its policy:", line)
			}
		}
	})
	tab.demoIdle(t)
	for _, file := range []string{"fiberfill-proposals.js", "fiberfill-actors.js", "fibers1.wasm"} {
		if slices.Contains(files.paths(), "/dist/demo/"+file) {
			t.Errorf("%s was loaded before anything needed it", file)
		}
	}
	for _, c := range []struct {
		scenario, input, code string
		lanes, events         []string
		checks                [][]string
	}{
		{"S-GEN-A", "four elements", "arrayGenerator(ff_fiber thisTask", []string{"consumer", "generator"},
			[]string{"consumer to generator: spawn", "generator to consumer: identify", "consumer to generator: next",
				"generator to consumer: yield 10", "consumer to generator: next",
				"generator to consumer: yield 20", "consumer to generator: next",
				"generator to consumer: yield 30", "consumer to generator: next",
				"generator to consumer: yield 40", "consumer to generator: next",
				"generator to consumer: returned", "consumer: resumeAgain: trap"},
			[][]string{{"addAllElements([10, 20, 30, 40], 4)", "100", "100", "right"},
				{"events in their order", "all 12", "all 12", "right"}}},
		{"S-GEN-A", "four elements, in WAT", "(func $arrayGenerator (param $thisTask i32)",
			[]string{"consumer", "generator"}, nil,
			[][]string{{"addAllElements([10, 20, 30, 40], 4)", "100", "100", "right"}}},
		{"S-ADDER", "four elements, cancelled after 2", "adderThread(ff_fiber thisThread", []string{"arena", "t0"},
			[]string{"arena to t0: go_ahead", "t0 to arena: pause_", "arena to t0: go_ahead", "t0 to arena: pause_",
				"arena to t0: cancel_thread", "t0 to arena: finish_(30)", "arena to t0: go_ahead",
				"arena: goAhead: trap"},
			[][]string{{"runThread([10, 20, 30, 40], 4, 2)", "30", "30", "right"},
				{"alive after it", "no fiber", "no fiber", "right"}}},
		{"S-ARENA-A", "the first of three finishes", "int cancelingArena(int first, int len)",
			[]string{"arena", "t0", "t1", "t2"},
			[]string{"arena to t0: go_ahead", "t0 to arena: pause_", "arena to t1: go_ahead", "t1 to arena: pause_",
				"arena to t2: go_ahead", "t2 to arena: pause_",
				"arena to t0: go_ahead", "t0 to arena: pause_", "arena to t1: go_ahead", "t1 to arena: finish_(10)",
				"arena to t0: cancel_thread", "t0 to arena: finish_(3)", "arena to t2: cancel_thread",
				"t2 to arena: finish_(5)", "arena to t0: go_ahead", "arena: goAhead: trap"},
			[][]string{{"cancelingArena(0, 3)", "10", "10", "right"}}},
		{"S-FETCH", "f1 is answered first, then f2, then f0", "fetch_text(url, url_len, body, sizeof body)",
			[]string{"scheduler", "f0", "f1", "f2"}, nil,
			[][]string{{"they end in the order", "f1, f2, f0", "f1, f2, f0", "right"},
				{"entries from the event loop", "4", "4", "right"},
				{"pauses", "3", "3", "right"}, {"events in their order", "all 26", "all 26", "right"}}},
		{"S-SLEEP", "50 ms in the middle of a handler", "mk_sleep_ms(50)",
			[]string{"tester T", "actor W", "native N"}, nil,
			[][]string{{"W answers", `"slept"`, `"slept"`, "right"},
				{"failed checks", "nothing", "nothing", "right"}}},
	} {
		t.Run("jspi/"+c.scenario+" "+c.input, func(t *testing.T) {
			var got programShown
			tab.Eval(t, playProgram, &got, c.scenario, c.input, false)
			if !strings.HasPrefix(got.Verdict, "Right") {
				t.Errorf("%s: %q", got.Verdict, got.Checks)
			}
			events := len(got.Events) > 0 && (c.events == nil || slices.Equal(got.Events, c.events))
			if !events || !slices.Equal(got.Lanes, c.lanes) {
				t.Errorf("in the lanes %q:\n%s", got.Lanes, strings.Join(got.Events, "\n"))
			}
			for _, want := range c.checks {
				if !slices.ContainsFunc(got.Checks, func(check []string) bool { return slices.Equal(check, want) }) {
					t.Errorf("%q is not among %q", want, got.Checks)
				}
			}
			if !strings.Contains(got.Code, c.code) {
				t.Errorf("the code shown has no %q:\n%s", c.code, got.Code)
			}
		})
	}
	t.Run("jspi/S-GEN-A event by event", func(t *testing.T) {
		var got programShown
		if tab.Eval(t, playProgram, &got, "S-GEN-A", "no elements", true); !strings.HasPrefix(got.Verdict, "Right") {
			t.Errorf("%s: %q", got.Verdict, got.Checks)
		}
	})
	t.Run("jspi/S-GEN-A S-ADDER S-ARENA-A S-FETCH S-SLEEP all", func(t *testing.T) {
		var got programShown
		tab.Eval(t, playProgram, &got, "", "", false)
		want := 2 // S-FETCH, S-SLEEP
		for _, s := range expectedScenarios(t) {
			switch id, _, _ := strings.Cut(s["name"].(string), " "); id {
			case "S-GEN-A", "S-ADDER", "S-ARENA-A":
				want++
			}
		}
		if len(got.Titles) != want || !strings.HasPrefix(got.Verdict, "Right") {
			t.Errorf("%d programs were played, want %d: %s: %q", len(got.Titles), want, got.Verdict, got.Checks)
		}
		// The controls and the code show the last program.
		if !slices.Equal(got.Chosen, []string{"S-SLEEP", "50 ms in the middle of a handler"}) ||
			!strings.Contains(got.Code, "mk_sleep_ms(50)") {
			t.Errorf("chosen are %q in the end, with the code\n%s", got.Chosen, got.Code)
		}
		for _, check := range got.Checks {
			if check[3] != "right" {
				t.Errorf("%q", check)
			}
		}
	})
}

// overlay is a folder with some files replaced.
type overlay struct{ over, under fs.FS }

func (o overlay) Open(name string) (fs.File, error) {
	if file, err := o.over.Open(name); err == nil {
		return file, nil
	}
	return o.under.Open(name)
}

// A result that differs from the expected one is shown as wrong. Here the test changes the expected sum and events.
func TestProgramsThatGoWrongInTheDemo(t *testing.T) {
	text, err := os.ReadFile("../web/dist/demo/scenarios.json")
	if err != nil {
		t.Fatal(err)
	}
	other := strings.Replace(strings.Replace(string(text), `"returns": 100`, `"returns": 101`, 1), "yield 40",
		"yield 41", 1)
	tab := open(t, demoPage, demoPolicy, func(o *webserver.Options) {
		replaced := fstest.MapFS{"scenarios.json": {Data: []byte(other)}}
		o.Files["/dist/demo/"] = overlay{replaced, os.DirFS("../web/dist/demo")}
	})
	tab.demoIdle(t)
	var got programShown
	tab.Eval(t, playProgram, &got, "S-GEN-A", "four elements", false)
	if !strings.HasPrefix(got.Verdict, "Wrong") {
		t.Error(got.Verdict)
	}
	if len(got.Checks) < 2 || !slices.Equal(got.Checks[0][1:], []string{"101", "100", "wrong"}) ||
		got.Checks[1][3] != "wrong" || !strings.Contains(got.Checks[1][2], "yield 40") {
		t.Errorf("%q", got.Checks)
	}
}

// A user who chooses a program and presses Play before its inputs are offered sees that program, not the previous one.
func TestPlayAtOnceInTheDemo(t *testing.T) {
	var got struct {
		Verdict string
		Lanes   []string
	}
	openDemo(t).Eval(t, `async () => {
		const by = (id) => document.getElementById(id);
		const over = new Promise((resolve) =>
			by("scenario-form").addEventListener("scenario-over", resolve, { once: true }));
		by("slowly").checked = false;
		by("scenario-form").querySelector("[value=S-ADDER]").click();
		by("play").click();
		await over;
		const lanes = [...document.querySelectorAll("#lane-heads span")].map(({ textContent }) => textContent);
		return { verdict: by("verdict").textContent, lanes };
	}`, &got)
	if want := []string{"arena", "t0"}; !strings.HasPrefix(got.Verdict, "Right") || !slices.Equal(got.Lanes, want) {
		t.Errorf("lanes %q, want %q: %s", got.Lanes, want, got.Verdict)
	}
}
