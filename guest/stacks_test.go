package guest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fiberfill/fiberfill/internal/shadow"
)

// Calls that overlap keep their stacks apart, whatever the source of the stacks.
func TestStacksApart(t *testing.T) {
	for _, source := range []Source{Allocator, Grow, Serial, Copy} {
		t.Run(string(source), func(t *testing.T) {
			g := load(t, stacks, Options{Stacks: Stacks{Source: source}})
			calls := make([]*Call, 200)
			for i := range calls {
				calls[i] = call(t, g, fmt.Sprint("keep#", i), "keep", fmt.Sprint(i), fmt.Sprint(4+i%7))
			}
			g.Run()
			for i, c := range calls {
				c.want(t, fmt.Sprint(i))
			}
			mallocs := g.module.ExportedGlobal("mallocs").Get()
			if want := map[Source]uint64{Allocator: 200}[source]; mallocs != want {
				t.Errorf("malloc was called %d times, want %d", mallocs, want)
			}
			// The regions are used again.
			again := call(t, g, "again", "keep", "77", "3")
			g.Run()
			again.want(t, "77")
			if after := g.module.ExportedGlobal("mallocs").Get(); after != mallocs {
				t.Errorf("one more call needed %d more regions", after-mallocs)
			}
			if sp := uint32(g.pointer.Get()); sp != g.base {
				t.Errorf("the stack pointer rests at %d, want %d", sp, g.base)
			}
		})
	}
}

// If the collector does not see a frame, it collects what only that frame refers to.
func TestCollector(t *testing.T) {
	said := ""
	g := load(t, "../jsglue/test/testdata/collector.wasm", Options{Warn: func(text string) { said += text }})
	keep := call(t, g, "keep", "keep", "7")
	churn := call(t, g, "churn", "churn", "100000")
	again := call(t, g, "again", "keep", "9")
	g.Run()
	keep.want(t, "21")
	churn.want(t, "-100000")
	again.want(t, "27")
	if g.plan.Source != shadow.Serial || g.plan.Why != shadow.Checks {
		t.Errorf("source %d, %q", g.plan.Source, g.plan.Why)
	}
	if !strings.Contains(said, "-gc=leaking") || strings.Contains(said, "Copy") {
		t.Errorf("it says %q", said)
	}
}

// A fiber that needs more stack than it has ends, with advice that helps. So does a neighbour whose stack it has hit.
func TestOverflow(t *testing.T) {
	for _, c := range []struct {
		source Source
		bytes  int
		dead   string
	}{
		{Grow, 65536 - 64, ""}, {Grow, 65536 - 48, "deep"}, {Grow, 65536 + 256, "deep keep"},
		{Allocator, 65536 - 64, ""}, {Allocator, 65536 - 48, "deep"}, {Allocator, 65536 + 256, "deep keep"},
	} {
		bytes, dead := c.bytes, c.dead
		advice := fmt.Sprint("Ask for more by Options.Stacks.Size = ", 131072*(1+bytes/65536))
		t.Run(fmt.Sprint(c.source, " ", bytes), func(t *testing.T) {
			g := load(t, stacks, Options{Stacks: Stacks{Source: c.source}})
			if c.source == Grow {
				freeRising(t, g, 3)
			}
			// Now regions are taken in the order of addresses: the first is the lower one.
			keep := call(t, g, "keep", "keep", "9", "5")
			deep := call(t, g, "deep", "deep", fmt.Sprint(bytes))
			far := call(t, g, "far", "keep", "8", "5")
			g.Run()
			var died []string
			for _, c := range []*Call{deep, keep, far} {
				if c.State == Done {
					continue
				}
				died = append(died, c.Name)
				if c.State != Failed || !strings.Contains(c.Err.Error(), advice) ||
					!strings.Contains(c.Err.Error(), "fiber "+c.Name+" trapped in export "+c.Export) {
					t.Errorf("%s: %s, %v", c.Name, c.State, c.Err)
				}
			}
			if got := strings.Join(died, " "); got != dead {
				t.Errorf("dead: %q, want %q", got, dead)
			}
			after := call(t, g, "after", "keep", "7", "5")
			g.Run()
			after.want(t, "7")
		})
	}
	t.Run("alone in grown memory", func(t *testing.T) {
		g := load(t, stacks, Options{Stacks: Stacks{Source: Grow}})
		deep := call(t, g, "deep", "deep", fmt.Sprint(65536+256))
		g.Run()
		if deep.Err == nil || strings.Contains(deep.Err.Error(), "make a new guest") {
			t.Errorf("deep: %s, %v", deep.State, deep.Err)
		}
		after := call(t, g, "after", "keep", "7", "5")
		g.Run()
		after.want(t, "7")
	})
	t.Run("through several regions", func(t *testing.T) {
		g := load(t, stacks, Options{Stacks: Stacks{Source: Grow}})
		freeRising(t, g, 6)
		var keep []*Call
		for i := range 5 {
			keep = append(keep, call(t, g, fmt.Sprint("keep#", i), "keep", fmt.Sprint(i), "5"))
		}
		deep := call(t, g, "deep", "deep", fmt.Sprint(3*65536-200))
		g.Run()
		for i, c := range keep {
			if i < 3 {
				c.want(t, fmt.Sprint(i))
			} else if c.Err == nil || !strings.Contains(c.Err.Error(), "lost its shadow stack to fiber deep") {
				t.Errorf("%s: %s, %v", c.Name, c.State, c.Err)
			}
		}
		if deep.Err == nil || !strings.Contains(deep.Err.Error(), "Ask for more by Options.Stacks.Size = 524288") {
			t.Errorf("deep: %s, %v", deep.State, deep.Err)
		}
	})
	t.Run("by a frame that lies across several regions", func(t *testing.T) {
		g := load(t, stacks, Options{Stacks: Stacks{Source: Grow}})
		freeRising(t, g, 6)
		var keep []*Call
		for i := range 5 {
			keep = append(keep, call(t, g, fmt.Sprint("keep#", i), "keep", fmt.Sprint(i), "5"))
		}
		call(t, g, "wide", "wide", fmt.Sprint(2*65536+400))
		g.Run()
		for i, c := range keep {
			if i < 3 {
				c.want(t, fmt.Sprint(i))
			} else if c.Err == nil || !strings.Contains(c.Err.Error(), "lost its shadow stack to fiber wide") {
				t.Errorf("%s: %s %v, %v", c.Name, c.State, c, c.Err)
			}
		}
	})
	t.Run("through regions that are nobody's", func(t *testing.T) {
		g := load(t, stacks, Options{Stacks: Stacks{Source: Grow}})
		keep := func() {
			t.Helper()
			var calls []*Call
			for i := range 6 {
				calls = append(calls, call(t, g, fmt.Sprint("keep#", i), "keep", fmt.Sprint(i), "5"))
			}
			g.Run()
			for i, c := range calls {
				c.want(t, fmt.Sprint(i))
			}
		}
		keep()
		keep() // the last one had the highest region, which is taken first
		deep := call(t, g, "deep", "deep", fmt.Sprint(4*65536))
		g.Run()
		if deep.State != Failed {
			t.Errorf("deep: %s, %v", deep.State, deep.Err)
		}
		keep()
	})
	t.Run("enough", func(t *testing.T) {
		g := load(t, stacks, Options{Stacks: Stacks{Source: Grow, Size: 131072}})
		deep := call(t, g, "deep", "deep", "65792")
		g.Run()
		deep.want(t, "")
	})
}
