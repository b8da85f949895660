//go:build !js

package main

import (
	"context"
	"os"
	"strings"

	"github.com/fiberfill/fiberfill/guest"
)

// guests are the instances in wazero, by system.
type guests map[string]*guest.Guest

func (all guests) perform(operation string, n int) (int, error) {
	system, export, _ := strings.Cut(operation, ".")
	g := all[system]
	if g == nil {
		binary, err := os.ReadFile("costs/" + system + ".wasm")
		if err != nil {
			return 0, err
		}
		if g, err = guest.New(context.Background(), binary, guest.Options{Name: system}); err != nil {
			return 0, err
		}
		all[system] = g
		if _, err := enter(g, "init"); err != nil {
			return 0, err
		}
	}
	results, err := enter(g, export, n)
	if err != nil {
		return 0, err
	}
	return int(results[0].(int32)), nil
}

func enter(g *guest.Guest, export string, args ...any) ([]any, error) {
	c, err := g.Go(export, export, args...)
	if err != nil {
		return nil, err
	}
	g.Run()
	return c.Results, c.Err
}

func (all guests) close() {
	for _, g := range all {
		g.Close()
	}
}
