package guest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/fiberfill/fiberfill/internal/webserver"
	"github.com/fiberfill/fiberfill/polyfill"
)

// The scenarios of the proposals, played by guests in C and WAT. A page has to give the same results:
// jsglue/test/scenarios_test.mjs and e2e.
const scenarioDir = "../examples/c-scenarios/"

type scenario struct {
	Name, Guest string
	Names       []string // of those that events are about; else they have numbers
	Steps       []step
}

// A step calls an export. A nil field is not checked.
type step struct {
	Call    string
	Args    []any // numbers; an array is put into the memory, and its address given
	Returns *int32
	Traps   string // a part of the error
	Log     *string
	Live    *[]string // the states of the fibers after it
}

func TestScenarios(t *testing.T) {
	text, err := os.ReadFile(scenarioDir + "scenarios.json")
	if err != nil {
		t.Fatal(err)
	}
	var all struct {
		Events    map[string][]string
		Scenarios []scenario
	}
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	t.Run("wazero", func(t *testing.T) {
		for _, s := range all.Scenarios {
			t.Run(s.Name, func(t *testing.T) { s.play(t, all.Events[s.Guest]) })
		}
	})
}

func (s scenario) play(t *testing.T, events []string) {
	var g *Guest
	var log []string
	g = load(t, scenarioDir+s.Guest+".wasm", Options{Imports: Page(func(_ *Call, code, value int32) {
		log = append(log, s.words(events[code&255], code>>8, value))
		if strings.HasPrefix(log[len(log)-1], "pauses") {
			for _, f := range g.Fibers() {
				if f.State != polyfill.Suspended.String() {
					log = append(log, f.State)
				}
			}
		}
	})})
	inputs := call(t, g, "inputs", "inputs")
	g.Run()
	at := uint32(inputs.Results[0].(int32))
	for i, step := range s.Steps {
		log = nil
		var args []string
		for _, arg := range step.Args {
			switch arg := arg.(type) {
			case float64:
				args = append(args, fmt.Sprint(int32(arg)))
			case []any:
				args = append(args, fmt.Sprint(at))
				for _, n := range arg {
					g.memory.WriteUint32Le(at, uint32(int32(n.(float64))))
					at += 4
				}
			}
		}
		c := call(t, g, "one", step.Call, args...)
		g.Run()
		where := fmt.Sprintf("step %d, %s %v", i+1, step.Call, step.Args)
		switch trap := (*TrapError)(nil); {
		case step.Traps != "" && (!errors.As(c.Err, &trap) || !strings.Contains(c.Err.Error(), step.Traps)):
			t.Errorf("%s: %v, want the trap %q", where, c.Err, step.Traps)
		case step.Traps == "" && c.Err != nil:
			t.Errorf("%s: %v", where, c.Err)
		case step.Returns != nil && c.Results[0].(int32) != *step.Returns:
			t.Errorf("%s returned %d, want %d", where, c.Results[0].(int32), *step.Returns)
		}
		if got := strings.Join(log, ", "); step.Log != nil && got != *step.Log {
			t.Errorf("%s: log\n%s\nwant\n%s", where, got, *step.Log)
		}
		states := []string{}
		for _, f := range g.Fibers() {
			states = append(states, f.State)
		}
		if step.Live != nil && !slices.Equal(states, *step.Live) {
			t.Errorf("%s: the fibers are %v, want %v", where, states, *step.Live)
		}
	}
	emptied(t, g)
}

// words says what has happened: # is the fiber, $ the value, & the fiber whose number is the value.
func (s scenario) words(template string, who, value int32) string {
	name := func(n int32) string {
		if n >= 0 && int(n) < len(s.Names) {
			return s.Names[n]
		}
		return fmt.Sprint(n)
	}
	return strings.NewReplacer("#", name(who), "$", fmt.Sprint(value), "&", name(value)).Replace(template)
}

// Every scenario of the document that guests can play is there.
func TestScenariosAreAll(t *testing.T) {
	text, err := os.ReadFile(scenarioDir + "scenarios.json")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	between := func(r rune) bool { return strings.ContainsRune(`" ,:`, r) }
	for word := range strings.FieldsFuncSeq(string(text), between) {
		if strings.HasPrefix(word, "S-") {
			got[word] = true
		}
	}
	want := []string{"S-ADDER", "S-ARENA-A", "S-ARENA-C", "S-GEN-A", "S-GEN-B", "S-GEN-C", "S-PAUSE-C", "S-SCHED-D",
		"S-TREE"}
	if got := slices.Sorted(maps.Keys(got)); !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// A failed fetch is an exception in the fiber that asked; a second call that runs meanwhile is not affected.
func TestX_EDGE_15(t *testing.T) {
	t.Run("wazero/X-EDGE-15", func(t *testing.T) {
		server := serve(t)
		g := load(t, cGuest, Options{})
		fails := call(t, g, "fails", "item", server.URL+"/item?id=1&fail=100")
		works := call(t, g, "works", "item", server.URL+"/item?id=7")
		g.Run()
		if fails.State != Failed || fails.Err == nil || !strings.Contains(fails.Err.Error(), "500 Internal Server "+
			"Error") {
			t.Errorf("%s, %v", fails.State, fails.Err)
		}
		works.want(t, fmt.Sprint(webserver.Value(7)))
	})
}

// The variants of the fetching fibers; the scenario itself is TestS_FETCH.
func TestFetchVariants(t *testing.T) {
	t.Run("wazero/S-FETCH two in sequence, and one in between", func(t *testing.T) {
		server := serve(t)
		order := ""
		g := load(t, cGuest, Options{Ended: func(c *Call) {
			if order += " " + c.Name; c.Name == "item" {
				release(t, server, 1)
			}
		}})
		sum := call(t, g, "sum", "sum", server.URL+"/hold?id=", "0", "2")
		item := call(t, g, "item", "item", server.URL+"/hold?id=2")
		whenInFlight(t, server, 2, func() {
			release(t, server, 0)
			// for the second of the sum
			asked := func(s webserver.Stats) bool { return s.Requests == 3 && s.InFlight == 2 }
			if _, err := server.Await(t.Context(), asked); err != nil {
				t.Error(err)
			}
			release(t, server, 2)
		})
		g.Run()
		sum.want(t, fmt.Sprint(webserver.Value(0)+webserver.Value(1)))
		item.want(t, fmt.Sprint(webserver.Value(2)))
		if order != " item sum" {
			t.Errorf("they ended in the order%s", order)
		}
	})
	t.Run("wazero/S-FETCH green threads go on while fetches are out", func(t *testing.T) {
		server := serve(t)
		order := ""
		g := load(t, cGuest, Options{Ended: func(c *Call) {
			if order += " " + c.Name; c.Name == "green 2" {
				release(t, server, 0)
			}
		}})
		item := call(t, g, "item", "item", server.URL+"/hold?id=0")
		call(t, g, "green 1", "yielding", "50")
		call(t, g, "green 2", "yielding", "50")
		g.Run()
		item.want(t, fmt.Sprint(webserver.Value(0)))
		if order != " green 1 green 2 item" {
			t.Errorf("they ended in the order%s", order)
		}
	})
	t.Run("wazero/S-FETCH no fibers at all", func(t *testing.T) {
		g := load(t, cGuest, Options{})
		g.Run()
		if calls := g.Calls(); len(calls) != 0 {
			t.Errorf("%v", calls)
		}
	})
}
