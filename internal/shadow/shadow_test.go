package shadow

import (
	"encoding/binary"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/fiberfill/fiberfill/internal/wasm"
)

// What no guest of the table of cases shows (testdata/cases.mjs).
func TestChoose(t *testing.T) {
	for _, c := range []struct {
		name  string
		room  int // by how many pages its memory may grow
		guest Guest
		wish  Wish
		want  string // source why size refusal
	}{
		{"no room", 1, Guest{}, Wish{Size: 65552}, "3 8 65552 0"},
		{"just room", 1, Guest{}, Wish{Size: 65536}, "2 0 65536 0"},
		{"own fibers", 9, Guest{Pointer: -1}, Wish{Own: true}, "2 0 1024 0"},
		{"own fibers, and nowhere", 9, Guest{Growth: wasm.Asks}, Wish{Own: true}, "3 5 65536 4"},
	} {
		t.Run(c.name, func(t *testing.T) {
			memory := "\x00asm\x01\x00\x00\x00" + "\x05\x04\x01\x01\x01" + string(rune(1+c.room))
			c.guest.Module = new(wasm.Module)
			if code := wasm.Parse([]byte(memory), c.guest.Module); code != wasm.OK {
				t.Fatalf("code %d at %d", code, c.guest.Module.At)
			}
			c.wish.Allocator = -1
			p := Choose(c.guest, c.wish)
			if got := fmt.Sprint(byte(p.Source), byte(p.Why), p.Size, byte(p.Refusal)); got != c.want {
				t.Errorf("source, why, size and refusal: %s, want %s (%v)", got, c.want, p.Why)
			}
		})
	}
}

// Regions of 1,008 bytes, 192 apart, upwards. An overflow of the fourth.
func TestMend(t *testing.T) {
	const unknown = ^uint32(0)
	for _, c := range []struct {
		name   string
		states []State
		end    uint32
		want   string // the state of each, and how far down
	}{
		{"its guard only", []State{0, 0, 0, Touched}, unknown, "[0 0 0 5] 4600"},
		{"into its neighbour", []State{0, 0, 0, 3}, unknown, "[0 0 8 7] 4600"},
		{"into its neighbour's guard", []State{0, 0, 1, 3}, unknown, "[0 0 13 7] 3400"},
		{"through its neighbour", []State{0, 0, 3, 3}, unknown, "[0 8 15 7] 3400"},
		{"to the lowest guard", []State{1, 3, 3, 3}, unknown, "[13 15 15 7] 1000"},
		{"through all", []State{3, 3, 3, 3}, unknown, "[15 15 15 15] 1000"},
		{"a frame across its neighbour, with the guards whole", []State{0, 0, 0, 0}, 3000, "[0 8 12 4] 3000"},
		{"a frame across all, with the guards whole", []State{0, 0, 0, 0}, 500, "[12 12 12 12] 500"},
		{"a frame that ends between two", []State{0, 0, 0, 0}, 4450, "[0 0 0 4] 4450"},
	} {
		regions := make([]Region, 4)
		for i := range regions {
			low := uint32(1000 + 1200*i)
			regions[i] = Region{low, low + 1008, c.states[i]}
		}
		low := Mend(regions, &regions[3], c.end)
		var states []State
		for _, r := range regions {
			states = append(states, r.State)
		}
		if got := fmt.Sprint(states, low); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestLook(t *testing.T) {
	if word := binary.LittleEndian.Uint32([]byte(Untouched)); word != Word || len(Untouched) != Guard {
		t.Errorf("%d bytes of %#x", len(Untouched), word)
	}
	for at := range Guard {
		guard := []byte(Untouched)
		guard[at]++
		want := Touched
		if at < 16 {
			want |= Through
		}
		if got := Look(guard); got != want {
			t.Errorf("byte %d: %d, want %d", at, got, want)
		}
	}
}

func TestPlace(t *testing.T) {
	for _, c := range []struct {
		at, low uint32
		ok      bool
	}{
		{16, 16, true}, {17, 32, true}, {0, 0, false}, {^uint32(0), 0, false}, {4096 - 1040, 3056, true},
		{4096 - 1039, 3072, false},
	} {
		if low, ok := Place(c.at, 1024, 4096); ok != c.ok || ok && low != c.low {
			t.Errorf("Place(%d) = %d, %t", c.at, low, ok)
		}
	}
}

// The page does some checks itself, where it has to be fast. They use the same numbers as this package.
func TestPageAgrees(t *testing.T) {
	for path, lines := range map[string][]string{
		"../../jsglue/src/guest/regions.ts": {fmt.Sprintf("GUARD = %d;", Guard), fmt.Sprintf("STAGGER = %d;", Stagger),
			fmt.Sprintf("Int32Array.of(%#08x, %#08x)", Word, Word), fmt.Sprintf("TOUCHED = %d;", Touched),
			fmt.Sprintf("THROUGH = %d;", Through), fmt.Sprintf("MENDED = %d;", Mended), fmt.Sprintf("LOST = "+
				"%d;", Lost)},
		"../../jsglue/src/guest/stacks.ts": {
			fmt.Sprintf("BY_NAME = %d;", ByName), fmt.Sprintf("NOWHERE = %d;", NowhereToPlace),
		},
		"../../jsglue/src/actors/guest.ts": {fmt.Sprintf("GUARD = %d;", Guard), fmt.Sprintf("GUARD_WORD = "+
			"%#08x;", Word)},
	} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range lines {
			if !strings.Contains(string(text), line) {
				t.Errorf("%s does not say %s", path, line)
			}
		}
	}
}
