package guest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fiberfill/fiberfill/internal/leaktest"
	"github.com/fiberfill/fiberfill/internal/shadow/cases"
)

// TestShadowCases plays the table of cases for shadow stacks on the server.
func TestShadowCases(t *testing.T) {
	for _, c := range cases.All(t) {
		if c.Calls == nil {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			leaktest.Goroutines(t)
			want := c.Calls
			stacks := Stacks{Size: c.Choose.Size, Source: Source(c.Choose.Regions)}
			if stacks.Pointer = strings.Trim(string(c.Choose.Pointer), `"`); stacks.Pointer == "null" {
				stacks.Pointer = none
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			t.Cleanup(cancel)
			instantiate := func() *Guest {
				g, err := New(ctx, c.Wasm, Options{Name: "the guest", Stacks: stacks})
				if err == nil {
					t.Cleanup(g.Close)
				} else if want.Refusal != "refused" {
					t.Fatal(err)
				}
				return g
			}
			g := instantiate()
			switch want.Refusal {
			case "refused":
				if g != nil {
					t.Error("it is not refused")
				}
				return
			case "no room":
				keep := call(t, g, "keep", "keep", "1", "32")
				if g.Run(); keep.Err == nil || !strings.Contains(keep.Err.Error(), "no room") {
					t.Errorf("it has room: %v", keep.Err)
				}
				return
			}
			source, size := "none", uint32(0)
			if g.plan.Source != 0 {
				source = string(sources[g.plan.Source])
			}
			if g.regions != nil {
				size = g.plan.Size
			}
			if source != want.Source || size != want.Size || g.plan.Why.String() != want.Why {
				t.Errorf("%s of %d bytes, %q; want %s of %d, %q", source, size, g.plan.Why, want.Source, want.Size,
					want.Why)
			}
			var calls []*Call
			for mark := 1; mark <= 5; mark++ {
				name := fmt.Sprint("keep#", mark)
				calls = append(calls, call(t, g, name, "keep", fmt.Sprint(mark), fmt.Sprint(64*mark)))
			}
			g.Run()
			for i, c := range calls {
				c.want(t, fmt.Sprint(i+1))
			}
			allocated := uint64(0)
			if want.Source == string(Allocator) {
				allocated = 5
			}
			if got := g.module.ExportedGlobal("calls").Get(); got != allocated {
				t.Errorf("the allocator was called %d times, want %d", got, allocated)
			}
			for _, end := range want.Ends {
				g := instantiate()
				if want.Source == string(Grow) {
					freeRising(t, g, 3)
				}
				calls := []*Call{call(t, g, "keep", "keep", "9", "64"),
					call(t, g, "deep", "keep", "8", fmt.Sprint(end.Bytes)), call(t, g, "far", "keep", "6", "64")}
				g.Run()
				dead := []string{}
				for i, c := range calls {
					if c.State != Failed {
						c.want(t, []string{"9", "8", "6"}[i])
					} else if dead = append(dead, c.Name); !strings.Contains(c.Err.Error(), "shadow stack") {
						t.Errorf("%s: %v", c.Name, c.Err)
					}
				}
				if slices.Sort(dead); !slices.Equal(dead, end.Dead) {
					t.Errorf("a frame of %d bytes ends %q, want %q", end.Bytes, dead, end.Dead)
				}
				after := call(t, g, "after", "keep", "5", "64")
				g.Run()
				if end.Spoilt == "" {
					after.want(t, "5")
				} else if after.Err == nil || !strings.Contains(after.Err.Error(), "make a new guest") {
					t.Errorf("after a frame of %d bytes: %v, %v", end.Bytes, after.State, after.Err)
				}
			}
			if want.Roam != "" {
				roams := call(t, g, "roams", "roam")
				g.Run()
				if lives := roams.State == Done; lives != (want.Roam == "lives") {
					t.Errorf("roam: %s, %v", roams.State, roams.Err)
				} else if !lives && !strings.Contains(roams.Err.Error(), "make a new guest") {
					t.Errorf("roam: %v", roams.Err)
				}
			}
		})
	}
}

// freeRising leaves so many free regions of grown memory, of which the lowest will be taken first. The first that are
// ever taken are the highest; of free ones the one that was freed last comes first.
func freeRising(t *testing.T, g *Guest, n int) {
	t.Helper()
	for range n {
		call(t, g, "", "keep", "1", "64")
	}
	g.Run()
}
