package wasm

import (
	"errors"
	"testing"

	"github.com/tetratelabs/wazero/api"

	"github.com/fiberfill/fiberfill/asyncio/actors"
	"github.com/fiberfill/fiberfill/internal/shadow/cases"
)

// TestShadowCases plays the table of cases for shadow stacks with actors.
func TestShadowCases(t *testing.T) {
	for _, c := range cases.All(t) {
		if c.Actor == nil {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			want := c.Actor
			allocated := uint64(0)
			sleep := Import{Params: []api.ValueType{i32}, Call: func(h *actors.Host, _ api.Memory, stack []uint64) {
				allocated = stack[0]
				h.SleepMs(1)
			}}
			m, err := Compile(t.Context(), c.Handler, Options{Imports: map[string]Import{"sleep_ms": sleep}})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(m.Close)
			w := newWorld(t, actors.Config{})
			if want.Refusal == "refused" {
				if _, err := w.Spawn(m.Guest(), 10, actors.Stack32K); !errors.Is(err, ErrRoom) {
					t.Errorf("it is not refused: %v", err)
				}
				return
			}
			play := func(typ uint32, dies bool) {
				t.Helper()
				id, _ := w.guest(m, actors.Stack32K)
				w.from(id, int32(typ))
				w.steps(8)
				if err := w.ended[id]; (err != nil) != dies || dies && !errors.Is(err, ErrStack) {
					t.Errorf("message %d: ended with %v, want an overflow: %t", typ, err, dies)
				}
			}
			for _, end := range want.Ends {
				play(end.Bytes, len(end.Dead) > 0)
			}
			if (allocated != 0) != want.Allocated || allocated > 1 {
				t.Errorf("the allocator was called %d times", allocated)
			}
			if want.Roam != "" {
				play(0, want.Roam == "dies")
			}
		})
	}
}
