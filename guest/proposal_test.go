package guest

import (
	"context"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/fiberfill/fiberfill/internal/shadow"
	"github.com/fiberfill/fiberfill/polyfill"
	"github.com/fiberfill/fiberfill/polyfill/run"
)

const generators = "testdata/generators.wasm"

// emptied fails the test if the machine of a guest has fibers, or one of its regions is not free.
func emptied(t *testing.T, g *Guest) {
	t.Helper()
	if live := g.Fibers(); len(live) != 0 || g.proposal.system.Live() != 0 {
		t.Errorf("fibers are left: %v, %d", live, g.proposal.system.Live())
	}
	if free, all := len(g.regions.free), len(g.regions.all); free != all {
		t.Errorf("%d of %d regions are free", free, all)
	}
}

// A generator in C, and what is left of a thousand that are released where they wait.
func TestGenerators(t *testing.T) {
	g := load(t, generators, Options{})
	sum := call(t, g, "sum", "sum", "1000")
	g.Run()
	sum.want(t, "500500")
	many := call(t, g, "many", "many", "1000")
	g.Run()
	many.want(t, "0")
	t.Run("A-RELEASE-3 the regions come back", func(t *testing.T) {
		emptied(t, g)
		if n := len(g.regions.all); n > 8 {
			t.Errorf("%d regions were made for two fibers at once and a call", n)
		}
	})
}

// A fiber that is suspended when an entry ends is resumed by later ones, and ends with the guest.
func TestFibersOutliveEntries(t *testing.T) {
	g := load(t, generators, Options{})
	call(t, g, "begin", "begin", "3")
	first, second := call(t, g, "first", "more"), call(t, g, "second", "more")
	g.Run()
	first.want(t, "3")
	second.want(t, "2")
	if live := g.Fibers(); len(live) != 1 || live[0].State != "suspended" || live[0].System != "fibers1" {
		t.Errorf("the fibers are %v", live)
	}
	g.proposal.system.Close()
	emptied(t, g)
}

// A wait inside of a fiber parks the entry as a whole, and wakes the fiber that asked.
func TestWaitInsideOfFibers(t *testing.T) {
	server := serve(t)
	url := server.URL + "/item?id=7"
	response, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(response.Body)
	response.Body.Close()
	if err != nil {
		t.Fatal(err)
	}
	g := load(t, generators, Options{})
	twice := call(t, g, "twice", "twice", url)
	g.Run()
	twice.want(t, fmt.Sprint(2*len(body)))
	emptied(t, g)
}

// An exception from a fetch two fibers down passes through both fibers and out of the entry.
func TestExceptionsLeaveThroughFibers(t *testing.T) {
	t.Run("A-EXC-1", func(t *testing.T) {
		server := serve(t)
		g := load(t, generators, Options{})
		c := call(t, g, "twice", "twice", server.URL+"/item?id=7&fail=100")
		g.Run()
		if c.State != Failed || c.Err == nil || !strings.Contains(c.Err.Error(), "500 Internal Server Error") {
			t.Errorf("%s, %v", c.State, c.Err)
		}
		if live := g.Fibers(); len(live) != 0 { // both have ended by the exception
			t.Errorf("fibers are left: %v", live)
		}
		emptied(t, g)
	})
}

// Cancelling ends the waiting entry by an exception in the fiber that waits. Entries that have not begun never run.
func TestCancelInsideOfFibers(t *testing.T) {
	server := serve(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	reason := errors.New("enough")
	g := loadWith(t, ctx, generators, Options{})
	waits := call(t, g, "waits", "twice", server.URL+"/never")
	queued := call(t, g, "queued", "nap", "1")
	whenInFlight(t, server, 1, func() { cancel(reason) })
	g.Run()
	for _, c := range []*Call{waits, queued} {
		if c.State != Cancelled || !errors.Is(c.Err, reason) {
			t.Errorf("%s: %s, %v", c.Name, c.State, c.Err)
		}
	}
	emptied(t, g)
}

// A trap in a fiber of a fiber ends both and the entry; the fiber of another entry lives on.
func TestTrapsInFibers(t *testing.T) {
	t.Run("K-9", func(t *testing.T) {
		g := load(t, generators, Options{})
		call(t, g, "begin", "begin", "3")
		call(t, g, "more", "more")
		trap := call(t, g, "trap", "trap")
		again := call(t, g, "again", "more")
		g.Run()
		var trapped *TrapError
		if !errors.As(trap.Err, &trapped) || !strings.HasPrefix(trap.Err.Error(),
			"fiber trap trapped in export trap: wasm error: unreachable\n") {
			t.Fatalf("%v", trap.Err)
		}
		states := ""
		for _, f := range trapped.Fibers {
			states += f.State + " "
		}
		if states != "suspended busy active " {
			t.Errorf("the fibers at that moment were %v", trapped.Fibers)
		}
		again.want(t, "2")
	})
	t.Run("A-STATE-2", func(t *testing.T) {
		g := load(t, generators, Options{})
		over := call(t, g, "one", "over")
		g.Run()
		if want := "fiber one trapped in export over: fibers1.resume refused: fiber is moribund " +
			"[A-STATE-2]: fiber 1. Note which have ended"; over.Err == nil || over.Err.Error() != want {
			t.Errorf("%v, want %s", over.Err, want)
		}
		emptied(t, g)
	})
}

// A fiber that needs more shadow stack than it has is told how much.
func TestOverflowInFibers(t *testing.T) {
	g := load(t, generators, Options{Stacks: Stacks{Size: 16384}})
	deep, flat := call(t, g, "deep", "dig", "16"), call(t, g, "flat", "dig", "8")
	g.Run()
	if deep.Err == nil || !strings.Contains(deep.Err.Error(),
		"fiber deep trapped in export dig: it needs more shadow stack than the 16384 bytes it has") {
		t.Errorf("%v", deep.Err)
	}
	flat.want(t, "1")
	emptied(t, g)
}

// A fiber whose stack another fiber has overwritten never runs again.
func TestLostStacks(t *testing.T) {
	g := load(t, generators, Options{Stacks: Stacks{Size: 16384}})
	var taken [3]*region // of these the highest is the first
	for i := range taken {
		var err error
		if taken[i], err = g.regions.take(nil); err != nil {
			t.Fatal(err)
		}
	}
	// One call after the other has the highest, the generator that begins the lowest, and the fiber of dig the middle.
	for _, i := range []int{1, 2, 0} {
		g.regions.give(taken[i])
	}
	call(t, g, "begin", "begin", "3")
	first := call(t, g, "first", "more")
	deep := call(t, g, "deep", "dig", "17")
	second := call(t, g, "second", "more")
	g.Run()
	first.want(t, "3")
	if deep.State != Failed {
		t.Errorf("%s, %v", deep.State, deep.Err)
	}
	if second.Err == nil || !strings.HasPrefix(second.Err.Error(),
		"fiber second trapped in export more: it lost its shadow stack to fiber deep: it needs more") {
		t.Errorf("%v", second.Err)
	}
	emptied(t, g)
}

// proc_exit in a fiber ends all entries, and the fibers with them.
func TestExitInFibers(t *testing.T) {
	g := load(t, "testdata/exits.wasm", Options{})
	exits, queued := call(t, g, "exits", "exit"), call(t, g, "queued", "exit")
	g.Run()
	for _, c := range []*Call{exits, queued} {
		if exit := (*ExitError)(nil); !errors.As(c.Err, &exit) || exit.Code != 7 || exit.Fiber != "exits" {
			t.Errorf("%s: %s, %v", c.Name, c.State, c.Err)
		}
	}
	emptied(t, g)
}

// An allocator must not use the system: it runs on the stack of a fiber that has not begun.
func TestMallocUsesTheSystem(t *testing.T) {
	g := load(t, "testdata/exits.wasm", Options{})
	c := call(t, g, "one", "wrong")
	g.Run()
	if c.Err == nil || !strings.Contains(c.Err.Error(),
		"fibers1.tag refused: it was called inside of the guest's malloc for a fiber's stack") {
		t.Errorf("%v", c.Err)
	}
	emptied(t, g)
}

// A step of a test of wrong input: `put ADDRESS TAG TYPES REF` writes an event, anything else is a call of an
// operation.
func (g *Guest) step(t *testing.T, step string) error {
	words := strings.Fields(step)
	if words[0] == "put" {
		var at, tag, types, ref int64
		if _, err := fmt.Sscan(strings.Join(words[1:], " "), &at, &tag, &types, &ref); err != nil {
			t.Fatalf("%s: %v", step, err)
		}
		b, _ := g.memory.Read(uint32(at), eventSize)
		binary.LittleEndian.PutUint32(b[tagAt:], uint32(tag))
		binary.LittleEndian.PutUint32(b[typesAt:], uint32(types))
		binary.LittleEndian.PutUint64(b[refAt:], uint64(ref))
		return nil
	}
	c := call(t, g, "one", words[0], words[1:]...)
	g.Run()
	return c.Err
}

// The leading parameters of an event block are the guest's own values; the tag's are the last ones (A-HDL-4).
func TestA_HDL_4(t *testing.T) {
	const tag, blocks = "tag 0x41", "0x41 0x412 0x4121" // a tag of an i32 and an f64, and blocks that end so
	g := load(t, "testdata/raw_fibers1.wasm", Options{})
	if err := g.step(t, tag); err != nil {
		t.Fatal(err)
	}
	for block := range strings.FieldsSeq(blocks) {
		if err := g.step(t, "block 1 "+block); err != nil {
			t.Errorf("block %s: %v", block, err)
		}
	}
	for _, block := range []string{"0", "4", "0x14", "0x141", "0x241"} {
		err := g.step(t, "block 1 "+block)
		if err == nil || !strings.Contains(err.Error(), "block refused: wrong number or types of values [A-HDL-4]") {
			t.Errorf("block %s: %v", block, err)
		}
	}
}

//go:embed testdata/refusals.txt
var refusals string

// Every operation refuses numbers that mean nothing to it, with its name and the reason, and changes nothing.
// jsglue/test/proposals_bad_test.mjs plays the same list.
func TestWrongInput(t *testing.T) {
	for line := range strings.Lines(refusals) {
		if line[0] == '#' {
			continue
		}
		words := strings.Split(strings.TrimSpace(line), " | ")
		system, script, want := words[0], words[1], words[2]
		t.Run(system+" "+script, func(t *testing.T) {
			g := load(t, "testdata/raw_"+system+".wasm", Options{})
			steps := strings.Split(script, "; ")
			for i, step := range steps {
				err := g.step(t, step)
				switch last := i == len(steps)-1; {
				case !last && err != nil:
					t.Fatalf("%s: %v", step, err)
				case last && (err == nil || !strings.HasPrefix(err.Error(), "fiber one trapped in export ")):
					t.Errorf("%v, want %s", err, want)
				case last && want == "unreachable":
					if !strings.Contains(err.Error(), "wasm error: unreachable") {
						t.Errorf("%v, want %s", err, want)
					}
				case last && !strings.HasSuffix(err.Error(), ": "+want):
					t.Errorf("%v, want %s", err, want)
				}
			}
			for _, f := range g.Fibers() {
				if f.State != polyfill.Suspended.String() {
					t.Errorf("a fiber is %s", f.State)
				}
			}
		})
	}
}

// A fiber whose stack is too small may trap in any way. The message tells the overflow, not that trap. The fiber does
// not get as far as entering another or returning.
func TestOverflowBeforeATrap(t *testing.T) {
	for _, export := range []string{"go", "large", "returns"} {
		t.Run("K-9 "+export, func(t *testing.T) {
			g := load(t, "testdata/overflows.wasm", Options{})
			c := call(t, g, "one", export)
			g.Run()
			if c.Err == nil || !strings.Contains(c.Err.Error(), "it needs more shadow stack than the 65536 bytes it "+
				"has") {
				t.Errorf("%v", c.Err)
			}
			emptied(t, g)
		})
	}
}

// A function with one local writes one word in 16 bytes.
func TestGuardIsWatchedInEveryWord(t *testing.T) {
	t.Run("K-9", func(t *testing.T) {
		g := load(t, generators, Options{})
		region, err := g.regions.take(nil)
		if err != nil {
			t.Fatal(err)
		}
		for at := region.low; at < region.low+shadow.Guard; at += 4 {
			g.memory.WriteUint32Le(at, 1)
			if g.regions.state(region) == 0 {
				t.Errorf("the word at %d was written to", at-region.low)
			}
			g.regions.mend(region, region.low)
			if g.regions.state(region) != 0 {
				t.Errorf("the word at %d was not mended", at-region.low)
			}
		}
	})
}

// A wrong guest is refused, with the reason, before any of its code runs.
func TestWrongGuests(t *testing.T) {
	for _, c := range []struct{ path, want string }{
		{"testdata/two_systems.wasm",
			"imports from fiberfill/fibers1 and from fiberfill/cont: each is a machine of its own, and one stack " +
				"cannot belong to two"},
		{"testdata/no_table.wasm", "exports no table to call the functions of its fibers by"},
		{"testdata/two_tables.wasm", "exports no table to call the functions of its fibers by"},
		{"testdata/no_memory.wasm", "has no memory: export it"},
		{"testdata/grows.wasm", "there is nowhere to take a stack for each of its fibers from"},
		{"testdata/start.wasm", "import fiberfill/fibers1.tag was called where no fiber runs: in the module's start " +
			"function"},
		{"testdata/no_operation.wasm", "imports what is not there: fiberfill/fibers1.resume(i32), " +
			"fiberfill/fibers1.jump()"},
	} {
		t.Run(c.path, func(t *testing.T) {
			binary, err := os.ReadFile(c.path)
			if err != nil {
				t.Fatal(err)
			}
			_, err = New(t.Context(), binary, Options{Name: c.path})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
}

// An operation traps if there is no stack for the fiber that it enters. Its issuer ends, with all fibers that the
// operation has just taken out of the chain. A fiber that retireto ends gives back its stack first. A JSPI stack cannot
// do that at once, so jsglue/test/proposals_bad_test.mjs expects a refusal in the same case.
func TestNoStack(t *testing.T) {
	for how, c := range []struct {
		what string
		want error
	}{
		{"switch of the parent", run.ErrNoStack},
		{"switch of the child", run.ErrNoStack},
		{"retireto of the parent", nil},
		{"retireto of the child", nil},
	} {
		t.Run("K-9 "+c.what, func(t *testing.T) {
			g := load(t, "testdata/no_stack.wasm", Options{Stacks: Stacks{Size: 300_000}}) // three fit
			one := call(t, g, "one", "go", fmt.Sprint(how))
			g.Run()
			if !errors.Is(one.Err, c.want) {
				t.Errorf("%v, want %v", one.Err, c.want)
			}
			emptied(t, g)
		})
	}
}
