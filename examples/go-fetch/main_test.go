//go:build !js

package main

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/fiberfill/fiberfill/internal/webserver"
)

func start(t *testing.T) *webserver.Server {
	server, err := webserver.Start(t.Context(), webserver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return server
}

// The command in the README prints the server's items.
func TestCommand(t *testing.T) {
	const n = 1000
	url := start(t).URL + "/item?ms=20&id="
	out, err := exec.Command("go", "run", ".", "-url", url, "-n", fmt.Sprint(n)).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	lines := strings.Split(string(out), "\n")
	for id := range n {
		if want := fmt.Sprintf("item %d: %d", id, webserver.Value(uint64(id))); lines[id] != want {
			t.Fatalf("line %d is %q, want %q", id+1, lines[id], want)
		}
	}
	if !strings.HasPrefix(lines[n], "1000 items in ") {
		t.Errorf("the last line is %q", lines[n])
	}
}

func TestFailures_name_the_address_and_the_reason(t *testing.T) {
	server := start(t)
	for _, test := range []struct{ path, want string }{
		{"/item?fail=100&id=", "/item?fail=100&id=0: the server answered with status 500"},
		{"/cut?id=", "unexpected EOF"},
		{"/stats?", "/stats?0: the answer has no value"},
		{"/nothing?", "the server answered with status 404"},
	} {
		err := run(t.Context(), &strings.Builder{}, server.URL+test.path, 1)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q in it", test.path, err, test.want)
		}
	}
}

func TestInterrupt(t *testing.T) {
	server := start(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := run(ctx, &strings.Builder{}, server.URL+"/item?ms=60000&id=", 3); err == nil {
		t.Error("run returned no error after an interrupt")
	}
}
