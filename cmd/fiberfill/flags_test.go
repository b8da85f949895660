package main

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/fiberfill/fiberfill/internal/webserver"
)

func TestConcurrency(t *testing.T) {
	server := serve(t)
	code, out, errs := program("run", "--fibers", "20", "--concurrency", "3", "--quiet", cGuest, "item",
		server.URL+"/item?id={i}")
	var want strings.Builder
	for i := range uint64(20) {
		fmt.Fprintf(&want, "item#%d\t%d\n", i, webserver.Value(i))
	}
	if code != exitDone || out != want.String() || errs != "" {
		t.Errorf("exit code %d, %q, %q", code, out, errs)
	}
	stats, err := server.Await(t.Context(), func(s webserver.Stats) bool { return s.InFlight == 0 })
	if err != nil || stats.MostInFlight > 3 {
		t.Errorf("%d requests in flight, want at most 3; %v", stats.MostInFlight, err)
	}
}

// The fibers that wait are cancelled; so are those whose turn has not come.
func TestTimeout(t *testing.T) {
	server := serve(t)
	code, out, errs := program("run", "--fibers", "4", "--concurrency", "2", "--timeout", "50ms", cGuest, "item",
		server.URL+"/never")
	if code != exitTimeout || out != "" || !strings.Contains(errs, "fiberfill: the timeout of 50ms is over: "+
		"cancelling the fibers\n") || !strings.HasSuffix(errs, "fiberfill: 4 of 4 fibers were cancelled\n") {
		t.Errorf("exit code %d, %q, %s", code, out, errs)
	}
	if code, _, errs := program("run", "--timeout", "1h", cGuest, "add64", "1", "2"); code != exitDone || errs != "" {
		t.Errorf("in time: exit code %d, %s", code, errs)
	}
}

// Only the fibers that were asked for are counted, not the one that prepares the module.
func TestTimeout_in_initialize(t *testing.T) {
	sleeps := "\x00asm\x01\x00\x00\x00" + "\x01\x08\x02\x60\x01\x7f\x00\x60\x00\x00" +
		"\x02\x16\x01\x09fiberfill\x08sleep_ms\x00\x00" + // function 0
		"\x03\x03\x02\x01\x01" + "\x07\x16\x02\x0b_initialize\x00\x01\x04main\x00\x02" +
		"\x0a\x0d\x02\x08\x00\x41\xa0\x8d\x06\x10\x00\x0b\x02\x00\x0b"
	path := t.TempDir() + "/sleeps.wasm"
	if err := os.WriteFile(path, []byte(sleeps), 0o666); err != nil {
		t.Fatal(err)
	}
	code, out, errs := program("run", "--quiet", "--timeout", "20ms", "--stacks", "serial", path, "main")
	if code != exitTimeout || out != "" || errs != "fiberfill: 1 of 1 fibers were cancelled\n" {
		t.Errorf("exit code %d, %q, %q", code, out, errs)
	}
}

func TestTimeout_of_a_guest_that_never_waits(t *testing.T) {
	// Long enough for the guest to be compiled and to have begun, also on a busy machine.
	p := startProcess(t, "run", "--timeout", "2s", stacks, "spin")
	if code, rest := p.end(); code != exitTimeout || !strings.Contains(rest, "does not wait and cannot be cancelled") {
		t.Errorf("exit code %d, %s", code, rest)
	}
}

func TestQuiet(t *testing.T) {
	if code, out, errs := program("run", "--quiet", "--fibers", "2", cGuest, "trap"); code != exitFailed || out != "" ||
		strings.Count(errs, "fiberfill: fiber trap#") != 2 || strings.Contains(errs, "The fibers at that moment") {
		t.Errorf("exit code %d, %q, %s", code, out, errs)
	}
}

func TestJSON(t *testing.T) {
	server := serve(t)
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--fibers", "2", cGuest, "yielding", "{i}"}, exitDone,
			`{"fiber":"yielding#0","export":"yielding","state":"done","results":[0]}
{"fiber":"yielding#1","export":"yielding","state":"done","results":[1]}
`},
		{[]string{cGuest, "add64", "9007199254740992", "1"}, exitDone,
			`{"fiber":"add64","export":"add64","state":"done","results":["9007199254740993"]}` + "\n"},
		{[]string{cGuest, "addf", "1", "-inf"}, exitDone,
			`{"fiber":"addf","export":"addf","state":"done","results":["-Infinity"]}` + "\n"},
		{[]string{cGuest, "addf", "1", "nan"}, exitDone,
			`{"fiber":"addf","export":"addf","state":"done","results":["NaN"]}` + "\n"},
		{[]string{cGuest, "addf", "0.5", "0.25"}, exitDone,
			`{"fiber":"addf","export":"addf","state":"done","results":[0.75]}` + "\n"},
		{[]string{watGuest, "item", server.URL + "/item?id=1&fail=100"}, exitFailed,
			`{"fiber":"item","export":"item","state":"failed","error":"fiber item failed in export item: ` +
				`env.fetch_text: GET ` + server.URL + `/item?id=1&fail=100: 500 Internal Server Error"}` + "\n"},
		{[]string{"--timeout", "1ms", cGuest, "item", server.URL + "/never"}, exitTimeout,
			`{"fiber":"item","export":"item","state":"cancelled","error":"the timeout of 1ms is over"}` + "\n"},
	} {
		code, out, errs := program(append([]string{"run", "--json"}, c.args...)...)
		if code != c.code || out != c.want {
			t.Errorf("%v: exit code %d, printed\n%swant\n%s%s", c.args, code, out, c.want, errs)
		}
	}
}

// Where a message of package guest names its Go options, the command names its flags: TestOverflow tries the advice.
func TestMessagesNameFlags(t *testing.T) {
	for of, want := range map[string]string{
		"Ask for more by Options.Stacks.Size = 131072":              "Ask for more by --stack-size 131072",
		"a smaller Options.Stacks.Size or":                          "a smaller --stack-size or",
		"name it by Options.Stacks.Pointer":                         "name it by --stack-pointer",
		"have it export malloc; Options.Stacks.Source = guest.Grow": "have it export malloc; --stacks grow",
	} {
		if got := translated.Replace(of); got != want {
			t.Errorf("%q: got %q, want %q", of, got, want)
		}
	}
	// Every option that package guest names in a message has its flag.
	files, err := os.ReadDir("guest")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, file := range files {
		if !strings.HasSuffix(file.Name(), ".go") || strings.HasSuffix(file.Name(), "_test.go") {
			continue
		}
		source, err := os.ReadFile("guest/" + file.Name())
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range regexp.MustCompile(`Options\.Stacks\.(Source = guest\.)?\w+`).FindAllString(string(source),
			-1) {
			found++
			if got := translated.Replace(name); strings.Contains(got, "Options.") {
				t.Errorf("%s: %s is translated to %q", file.Name(), name, got)
			}
		}
		if at := regexp.MustCompile(`"[^"\n]*--stack[^"\n]*"`).FindString(string(source)); at != "" {
			t.Errorf("%s: a message names a flag: %s", file.Name(), at)
		}
	}
	if found < 5 {
		t.Errorf("%d options were found in package guest", found)
	}
}

func TestVersion(t *testing.T) {
	code, out, errs := program("--version")
	pattern := regexp.MustCompile(`^fiberfill \S+ \(wazero \S+, go1\.\S+, \w+/\w+\)\n$`)
	if !pattern.MatchString(out) || code != exitDone || errs != "" {
		t.Errorf("exit code %d, %q, %q", code, out, errs)
	}
}

// The shells ask the program by its command __complete. The last line is cobra's: 4 says that files are no answer, 8
// that the names are endings of files.
func TestCompletion(t *testing.T) {
	for line, want := range map[string]string{
		"":                                "completion\nhelp\nrun\ntypes\n:4\n",
		"run ":                            "wasm\n:8\n",
		"types ":                          "wasm\n:8\n",
		"run --stacks ":                   "allocator\ngrow\nserial\ncopy\n:4\n",
		"run --con":                       "--concurrency\n:4\n",
		"run " + cGuest + " add":          "add64\naddf\n:4\n",
		"run --fibers 2 " + cGuest + " y": "yielding\n:4\n",
		"run absent.wasm ":                ":4\n",
		"run " + cGuest + " item ":        ":0\n",
	} {
		words := strings.Split(line, " ")
		code, out, _ := program(append([]string{"__complete"}, words...)...)
		out = regexp.MustCompile(`\t.*`).ReplaceAllString(out, "") // descriptions
		if code != exitDone || out != want {
			t.Errorf("%q: exit code %d, %q, want %q", line, code, out, want)
		}
	}
	code, script, _ := program("completion", "bash")
	check := exec.Command("bash", "-n")
	check.Stdin = strings.NewReader(script)
	if out, err := check.CombinedOutput(); code != exitDone || err != nil || !strings.Contains(script, "__complete") {
		t.Errorf("the script for bash: exit code %d, %v\n%s", code, err, out)
	}
}

func TestProgressLine(t *testing.T) {
	p := &progress{width: 80, total: 4, over: 1, failed: 1}
	if got, want := p.line(), "[#######.......................] 1 of 4 fibers are over, 1 failed"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for width := 1; width < 200; width++ {
		p.width = width
		if line := p.line(); len(line) >= width {
			t.Errorf("in %d columns the line has %d", width, len(line))
		}
	}
}
