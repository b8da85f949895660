package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/fiberfill/fiberfill/internal/webserver"
)

// TestMain makes the test binary act as the program, for tests that need a process, such as those of signals.
func TestMain(m *testing.M) {
	if os.Getenv("FIBERFILL_IS_THE_PROGRAM") != "" {
		main()
	}
	if err := os.Chdir("../.."); err != nil { // the examples in help.txt name files relative to the root
		panic(err)
	}
	os.Exit(m.Run())
}

const (
	cGuest   = "examples/c-fetch/guest.wasm"
	watGuest = "examples/wat-fetch/guest.wasm"
	stacks   = "guest/testdata/stacks.wasm"
	files    = "guest/testdata/files.wasm"

	generators = "guest/testdata/generators.wasm"
)

func serve(t *testing.T) *webserver.Server {
	t.Helper()
	// The limit ends a failing test that would never release the server's responses.
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	server, err := webserver.Start(ctx, webserver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return server
}

func program(args ...string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	code = fiberfill(args, strings.NewReader(""), &out, &err)
	return code, out.String(), err.String()
}

func TestHelp(t *testing.T) {
	golden, err := os.ReadFile("cmd/fiberfill/help.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"--help"}, {"-h"}, {"help"}, {"run", "--help"}, {"run", "-h"},
		{"run", "--fibers", "3", "--help"}} {
		if code, out, errs := program(args...); code != 0 || out != string(golden) || errs != "" {
			t.Errorf("%v: exit code %d, stderr %q, and stdout differs from help.txt", args, code, errs)
		}
	}
	for i, line := range strings.Split(string(golden), "\n") {
		if len(line) > 80 && !strings.HasPrefix(line, "  $ ") {
			t.Errorf("help.txt:%d has %d characters", i+1, len(line))
		}
	}
	// Every flag is explained, and every explained flag exists.
	explained := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^  --([a-z-]+) `).FindAllStringSubmatch(string(golden), -1) {
		explained[m[1]] = true
	}
	delete(explained, "version") // the program's
	(&run{}).command(new(int)).Flags().VisitAll(func(f *pflag.Flag) {
		if !explained[f.Name] {
			t.Errorf("--%s is not explained", f.Name)
		}
		delete(explained, f.Name)
	})
	if len(explained) != 0 {
		t.Errorf("there are no flags %v", explained)
	}
}

// TestHelpExamples runs every example of the help and compares its output.
func TestHelpExamples(t *testing.T) {
	server := serve(t)
	examples := regexp.MustCompile(`(?m)^  \$ fiberfill (.*)\n((?:  [^$\n ].*\n)*)`).FindAllStringSubmatch(help, -1)
	if len(examples) < 5 {
		t.Fatalf("%d examples were found in the help", len(examples))
	}
	for _, e := range examples {
		t.Run(e[1], func(t *testing.T) {
			var args []string
			for _, m := range regexp.MustCompile(`'([^']*)'|(\S+)`).FindAllStringSubmatch(strings.ReplaceAll(e[1],
				"SERVER", server.URL), -1) {
				args = append(args, m[1]+m[2])
			}
			code, out, errs := program(args...)
			if code != 0 || strings.Contains(errs, "fiberfill:") {
				t.Errorf("exit code %d, %s", code, errs)
			}
			if want := strings.ReplaceAll("\n"+e[2], "\n  ", "\n")[1:]; want != "" && out != want {
				t.Errorf("printed %q, want %q", out, want)
			}
		})
	}
}

func TestWrongUse(t *testing.T) {
	write := func(name, text string) string {
		path := t.TempDir() + "/" + name
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	preamble := "\x00asm\x01\x00\x00\x00"
	foreign := write("foreign.wasm", preamble+"\x01\x04\x01\x60\x00\x00"+"\x02\x0d\x01\x03env\x05paint\x00\x00")
	otherType := write("type.wasm", preamble+"\x01\x04\x01\x60\x00\x00"+"\x02\x12\x01\x03env\x0afetch_text\x00\x00")
	memory := write("memory.wasm", preamble+"\x02\x0f\x01\x03env\x06memory\x02\x00\x01")
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "no command given; the commands are run, types and completion"},
		{[]string{"walk"}, `unknown command "walk"; the commands are run, types and completion`},
		{[]string{"run"}, "name a wasm file"},
		{[]string{"types"}, "types: name one wasm file"},
		{[]string{"types", "absent.wasm"}, "absent.wasm"},
		{[]string{"types", "go.mod"}, "go.mod cannot be read"},
		{[]string{"run", "--quick", cGuest}, "-quick"},
		{[]string{"run", "--fibers", "0", cGuest, "trap"}, "at least 1"},
		{[]string{"run", "--fibers", "many", cGuest, "trap"}, "many"},
		{[]string{"run", "--concurrency", "0", cGuest, "trap"}, "--concurrency 0: it must be at least 1"},
		{[]string{"run", "--timeout", "-1s", cGuest, "trap"}, "--timeout -1s: it must be more than 0"},
		{[]string{"run", "--timeout", "5", cGuest, "trap"}, "missing unit"},
		{[]string{"run", "--fibers", "2", files, "_start", "{i}"}, "_start is the entry of a program, which runs once"},
		{[]string{"run", "--stack-size", "1000", cGuest, "trap"}, "a multiple of 16 from 1024"},
		{[]string{"run", "--stack-size", "1073741840", cGuest, "trap"}, "a multiple of 16 from 1024 to 1 GiB"},
		{[]string{"run", "--stacks", "heap", cGuest, "trap"}, "allocator, grow, serial or copy"},
		{[]string{"run", "--stacks", "allocator", cGuest, "trap"}, "it exports no malloc"},
		{[]string{"run", "--stack-pointer", "sp", cGuest, "trap"}, `exports no mutable i32 of this name`},
		{[]string{"run", "--stack-pointer", "99", cGuest, "trap"}, `has no such global`},
		{[]string{"run", "--dir", "nowhere", cGuest, "trap"}, "nowhere is not a directory"},
		{[]string{"run", "--dir", "examples", "--dir", "docs:./", cGuest, "trap"}, "examples is shown as / already"},
		{[]string{"run", "--env", "NAME", cGuest, "trap"}, "NAME=VALUE"},
		{[]string{"run", "absent.wasm", "trap"}, "absent.wasm"},
		{[]string{"run", "go.mod", "trap"},
			"go.mod is not a WebAssembly module: such a file begins with the bytes 00 61 73 6d, this one with 6d 6f " +
				"64 75"},
		{[]string{"run", "examples/wat-fetch/guest.wat", "item"}, "WebAssembly text: assemble it"},
		{[]string{"run", write("component.wasm", "\x00asm\x0d\x00\x01\x00"), "item"}, "component"},
		{[]string{"run", write("empty.wasm", ""), "item"}, "empty.wasm is empty"},
		{[]string{"run", write("cut.wasm", preamble+"\x01\x09"), "item"},
			"cut.wasm is not a WebAssembly module that fiberfill can read: at byte 10 it ends in the middle of"},
		{[]string{"run", write("code.wasm",
			preamble+"\x01\x04\x01\x60\x00\x00\x03\x02\x01\x00\x0a\x05\x01\x03\x00\x6a\x0b"), "item"},
			"wazero, the runtime, refuses code.wasm"},
		{[]string{"run", foreign, "item"},
			"foreign.wasm imports what is not there: env.paint(); there are env.fetch_text(i32, i32, i32, i32) -> " +
				"i32, env.log"},
		{[]string{"run", otherType, "item"}, "type.wasm imports what is not there: env.fetch_text(), which is " +
			"given as (i32, i32, i32, i32) -> i32; there are"},
		{[]string{"run", memory, "item"}, "env.memory (a memory)"},
		{[]string{"run", cGuest}, "name what to call: guest.wasm exports add64(i64, i64) -> i64, addf(f64, f32) -> " +
			"f64, "},
		{[]string{"run", cGuest, "items"},
			`guest.wasm exports no function "items"; it exports add64(i64, i64) -> i64, `},
		{[]string{"run", cGuest, "--fibers", "3", "yielding", "1"},
			`--fibers: flags stand before the file: guest.wasm exports no function "--fibers"; it exports add64`},
		{[]string{"run", cGuest, "add64", "1"}, "add64(i64, i64) -> i64: too few arguments, there is none for i64"},
		{[]string{"run", cGuest, "add64", "1", "2", "3"}, `argument 3, "3", is one too many`},
		{[]string{"run", cGuest, "yielding", "1", "--fibers", "3"},
			`--fibers: flags stand before the file: yielding(i32) -> i32: argument 2, "--fibers", is one too many`},
		{[]string{"run", cGuest, "add64", "1", "two"},
			`argument 2, "two", is for a parameter of type i64: it must be a whole number of 64 bits`},
		{[]string{"run", cGuest, "add64", "1", "0.5"}, "a whole number of 64 bits"},
		{[]string{"run", cGuest, "addf", "1", "1e39"},
			"argument 2, \"1e39\", is for a parameter of type f32: it must be a number such as 0.5"},
		{[]string{"run", cGuest, "yielding", "4294967296"}, "a whole number of 32 bits"},
		{[]string{"run", cGuest, "yielding", "text:1"},
			"argument 1 is a text, which takes two parameters of type i32, an address and a length; there is i32"},
		{[]string{"run", "--fibers", "2", cGuest, "yielding", "{j}"}, `"{j}"`},
	} {
		if code, out, errs := program(c.args...); code != exitUsage || !strings.Contains(errs, c.want) ||
			!strings.HasPrefix(errs, "fiberfill: ") || out != "" {
			t.Errorf("%v: exit code %d, %q, want %q in it", c.args, code, errs, c.want)
		}
	}
}

func TestNumbers(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"add64 -9223372036854775808 -1", "9223372036854775807"},
		{"add64 18446744073709551615 0x10", "15"},
		{"addf 0.5 -0.25", "0.25"},
		{"addf 1e300 inf", "+Inf"},
		{"yielding 3", "3"},
	} {
		if code, out, errs := program(append([]string{"run", cGuest}, strings.Fields(c.args)...)...); code != 0 ||
			out != c.want+"\n" {
			t.Errorf("%s: exit code %d, %q, %s, want %s", c.args, code, out, errs, c.want)
		}
	}
}

func TestThousandFibers(t *testing.T) {
	server := serve(t)
	for _, path := range []string{cGuest, watGuest} {
		code, out, errs := program("run", "--fibers", "1000", path, "item", server.URL+"/item?id={i}&ms=20")
		var want strings.Builder
		for i := range 1000 {
			fmt.Fprintf(&want, "item#%d\t%d\n", i, webserver.Value(uint64(i)))
		}
		if code != 0 || out != want.String() || strings.Contains(errs, "fiberfill:") {
			t.Errorf("%s: exit code %d, wrong results:\n%s%s", path, code, out, errs)
		}
	}
}

// A failing fiber is reported; the others return their results.
func TestOneFails(t *testing.T) {
	server := serve(t)
	seed := uint64(0)
	for !webserver.Fails(seed, 11, 50) || webserver.Fails(seed, 10, 50) || webserver.Fails(seed, 12, 50) {
		seed++
	}
	code, out, errs := program("run", "--fibers", "3", watGuest, "item",
		fmt.Sprint(server.URL, "/item?id=1{i}&fail=50&seed=", seed))
	want := fmt.Sprintf("item#0\t%d\nitem#2\t%d\n", webserver.Value(10), webserver.Value(12))
	line := fmt.Sprintf("fiberfill: fiber item#1 failed in export item: env.fetch_text: GET "+
		"%s/item?id=11&fail=50&seed=%d: 500 Internal Server Error\n", server.URL, seed)
	if !strings.Contains(errs, line) || strings.Count(errs, "fiberfill:") != 1 {
		t.Errorf("stderr\n%swant\n%s", errs, line)
	}
	if code != exitFailed || out != want {
		t.Errorf("exit code %d, %q, want %d, %q", code, out, exitFailed, want)
	}
}

func TestOverflow(t *testing.T) {
	code, _, errs := program("run", cGuest, "overflow", "100")
	advice := regexp.MustCompile(`needs more shadow stack than the 65536 bytes it has: at least \d+\. ` +
		`Ask for more by (--stack-size) (\d+)\n`).FindStringSubmatch(errs)
	if code != exitFailed || advice == nil {
		t.Fatalf("exit code %d, %s", code, errs)
	}
	if code, out, errs := program("run", advice[1], advice[2], cGuest, "overflow", "100"); code != 0 || out != "100\n" {
		t.Errorf("with the stack it was advised to ask for: exit code %d, %q, %s", code, out, errs)
	}
	if code, out, errs := program("run", "--stack-size", "0x40000000", cGuest, "overflow", "100"); code != 0 ||
		out != "100\n" {
		t.Errorf("with the largest stack: exit code %d, %q, %s", code, out, errs)
	}
}

// The calls of a guest with fibers of its own run one after another. After a trap, the fibers that it ended are listed.
func TestProposal(t *testing.T) {
	server := serve(t)
	if code, out, errs := program("run", "--fibers", "3", generators, "nap", "1"); code != 0 ||
		out != "nap#0\t1\nnap#1\t2\nnap#2\t3\n" {
		t.Errorf("nap: exit code %d, %q, %s", code, out, errs)
	}
	if code, out, errs := program("run", generators, "twice", server.URL+"/item?id=1"); code != 0 || out == "0\n" {
		t.Errorf("twice: exit code %d, %q, %s", code, out, errs)
	}
	code, _, errs := program("run", generators, "trap")
	for _, pattern := range []string{
		`^fiberfill: fiber trap trapped in export trap: wasm error: unreachable\n` +
			`wasm stack trace:\n\tgenerators\.wasm\.trapper\(`,
		`\nThe guest's own fibers at that moment; the trap has ended the active one and the busy ones:\n` +
			`  FIBER +STATE +FUNCTION\n`,
		`\n  fibers1 1 +busy +table\[\d+\]\n  fibers1 2 +active +table\[\d+\]\n$`,
	} {
		if code != exitFailed || !regexp.MustCompile(pattern).MatchString(errs) {
			t.Errorf("trap: exit code %d, %s is not in\n%s", code, pattern, errs)
		}
	}
	if code, out, errs := program("run", generators, "over"); code != exitFailed || out != "" ||
		!strings.HasPrefix(errs,
			"fiberfill: fiber over trapped in export over: fibers1.resume refused: fiber is moribund [A-STATE-2]: "+
				"fiber 1. Note which have ended\n") {
		t.Errorf("over: exit code %d, %q, %q", code, out, errs)
	}
}

func TestSystem(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/some.txt", []byte("the text\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if code, out, errs := program("run", "--dir", dir+":/", files, "cat", "some.txt"); code != 0 || out != "the "+
		"text\n9\n" {
		t.Errorf("cat: exit code %d, %q, %s", code, out, errs)
	}
	if code, out, errs := program("run", files, "_start", "any", "words"); code != 7 || out != "" || errs != "" {
		t.Errorf("proc_exit: exit code %d, %q, %q, want 7 and nothing", code, out, errs)
	}
}

// proc_exit in a start function ends the command as in a fiber: with the guest's exit code, and without a message. The
// system has no code for 256, of which it would make 0.
func TestExitAtTheStart(t *testing.T) {
	const told = "fiberfill: the guest has exited with code 256; the exit code is 255, the largest that there is\n"
	for exit, want := range map[string]struct {
		code int
		errs string
	}{"\x00": {0, ""}, "\x07": {7, ""}, "\x80\x02": {255, told}} {
		exits := "\x00asm\x01\x00\x00\x00" + "\x01\x08\x02\x60\x01\x7f\x00\x60\x00\x00" +
			"\x02\x24\x01\x16wasi_snapshot_preview1\x09proc_exit\x00\x00" + // function 0
			"\x03\x02\x01\x01" + "\x08\x01\x01" + "\x0a" + string(rune(7+len(exit))) + "\x01" +
			string(rune(5+len(exit))) + "\x00\x41" + exit + "\x10\x00\x0b"
		path := t.TempDir() + "/exits.wasm"
		if err := os.WriteFile(path, []byte(exits), 0o666); err != nil {
			t.Fatal(err)
		}
		if code, out, errs := program("run", path, "any"); code != want.code || out != "" || errs != want.errs {
			t.Errorf("exit code %d, %q, %q, want %v and nothing", code, out, errs, want)
		}
	}
}

func TestCompletionOfAnUnknownShell(t *testing.T) {
	for _, args := range [][]string{{"completion"}, {"completion", "foo"}} {
		if code, out, errs := program(args...); code != exitUsage || out != "" || errs == "" {
			t.Errorf("%v: exit code %d, %q, %q", args, code, out, errs)
		}
	}
}

// If results cannot be written, the disk being full for instance, the command fails.
func TestResultsThatCannotBeWritten(t *testing.T) {
	reader, full := io.Pipe()
	reader.CloseWithError(errors.New("no space left on device"))
	for _, fibers := range []string{"1", "3"} {
		var errs bytes.Buffer
		args := []string{"run", "--fibers", fibers, cGuest, "add64", "1", "2"}
		code := fiberfill(args, strings.NewReader(""), full, &errs)
		if code != exitFailed || errs.String() != "fiberfill: the results cannot be written: no space left on "+
			"device\n" {
			t.Errorf("%s fibers: exit code %d, %q", fibers, code, errs.String())
		}
	}
}
