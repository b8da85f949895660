package e2e_test

import (
	"encoding/json"
	"os"
	"reflect"
	"testing"
)

// played is a scenario of examples/c-scenarios/scenarios.json, with the expected or the actual results.
type played map[string]any

func expectedScenarios(t *testing.T) []played {
	t.Helper()
	text, err := os.ReadFile("../examples/c-scenarios/scenarios.json")
	if err != nil {
		t.Fatal(err)
	}
	var all struct{ Scenarios []played }
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	if len(all.Scenarios) < 50 {
		t.Fatalf("%d scenarios", len(all.Scenarios))
	}
	return all.Scenarios
}

// The programs of the documents, in C and WAT, do the same in browsers as in Node and on wazero, even if each fiber
// waits a moment at every event that it reports.
func TestScenarios(t *testing.T) {
	check := func(t *testing.T, got []played) {
		for i, want := range expectedScenarios(t) {
			t.Run(want["name"].(string), func(t *testing.T) {
				if i >= len(got) || !reflect.DeepEqual(got[i], want) {
					seen, _ := json.Marshal(got[min(i, len(got)-1)])
					expected, _ := json.Marshal(want)
					t.Errorf("seen\n%s\nwant\n%s", seen, expected)
				}
			})
		}
	}
	t.Run("jspi", func(t *testing.T) {
		tab := open(t, "scenarios.html", policy)
		for name, waits := range map[string]bool{"Chromium": false, "Chromium, and events wait": true} {
			t.Run(name, func(t *testing.T) {
				var got []played
				tab.Eval(t, "(waits) => scenarios.all(waits)", &got, waits)
				check(t, got)
			})
		}
		inOthers(t, "scenarios.html", "scenarios.all", check, policy)
	})
}
