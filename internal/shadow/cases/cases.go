// Package cases reads the table of cases of package shadow, for the tests of the hosts in Go.
package cases

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// A Case is one of ../testdata/cases.mjs, which says what its columns mean.
type Case struct {
	Name    string
	Wasm    []byte // the guest of calls
	Handler []byte // the same as an actor
	Choose  struct {
		Regions string
		Size    uint32
		Pointer json.RawMessage // an index, an export's name, null (there is none), or nothing
	}
	Calls *Calls // nil: not for the server
	Actor *Actor // nil: not for actors
}

// Calls is the expected outcome of calls.
type Calls struct {
	Refusal string // "refused" at instantiation, or a call finds "no room"; the rest is empty then
	Source  string
	Size    uint32
	Why     string
	Ends    []End
	Roam    string // "lives", "dies" or empty
}

// Actor is the expected outcome of an actor.
type Actor struct {
	Refusal   string // "refused" by the spawn; the rest is empty then
	Allocated bool
	Ends      []End
	Roam      string // as of Calls
}

// An End says which call or actor a frame of so many bytes ends.
type End struct {
	Bytes  uint32
	Dead   []string
	Spoilt string // "spoilt" if no call begins afterwards, or empty
}

func (c *Calls) UnmarshalJSON(text []byte) error {
	if text[0] == '"' {
		return json.Unmarshal(text, &c.Refusal)
	}
	type plain Calls
	return json.Unmarshal(text, (*plain)(c))
}

func (a *Actor) UnmarshalJSON(text []byte) error {
	if text[0] == '"' {
		return json.Unmarshal(text, &a.Refusal)
	}
	type plain Actor
	return json.Unmarshal(text, (*plain)(a))
}

func (e *End) UnmarshalJSON(text []byte) error {
	return json.Unmarshal(text, &[]any{&e.Bytes, &e.Dead, &e.Spoilt})
}

// All returns the table.
func All(t *testing.T) []Case {
	t.Helper()
	_, here, _, _ := runtime.Caller(0)
	text, err := os.ReadFile(filepath.Join(filepath.Dir(here), "../testdata/cases.json"))
	if err != nil {
		t.Fatal(err)
	}
	var list []Case
	if err := json.Unmarshal(text, &list); err != nil || len(list) == 0 {
		t.Fatalf("%d cases: %v", len(list), err)
	}
	return list
}
