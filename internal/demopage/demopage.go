// Package demopage drives the demo page through its controls, as a visitor does, for the end-to-end tests and for the
// report of HEADLESS=1 make demo.
package demopage

import (
	"context"
	_ "embed"

	"github.com/fiberfill/fiberfill/internal/browser"
)

// Policy is the content security policy of the page: the strict one that fiberfill promises to work with, without
// inline code or foreign origins.
const Policy = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'"

//go:embed drive.js
var driver string

// Settings are the fields of the page's form.
type Settings struct {
	Guest   string `json:"guest"` // c, wat or go
	Fibers  int    `json:"fibers"`
	Latency int    `json:"latency"` // mean, in milliseconds
	Failure int    `json:"failure"` // percent
	Raw     bool   `json:"raw"`     // wait for the run on raw JSPI, too
}

// Result is what the page shows when a run is over, and the timing of its frames.
type Result struct {
	Counters struct {
		Total      float64 // milliseconds
		Sequential float64 // milliseconds: the sum of the requests' own durations
		Right      int     // results equal to the server's value for the id
		Done       int     `json:"count-done"`
		Failed     int     `json:"count-failed"`
		Cancelled  int     `json:"count-cancelled"`
		Most       int     // fibers that waited at the same time
		RawRight   int     `json:"raw-right"` // the same on raw JSPI
	}
	Frames struct {
		Count   int
		Rate    float64 // frames a second, from the start to the last frame of the run
		Longest float64 // milliseconds without a frame
	}
	Status string // the summarising sentence
}

// Run starts a run in a tab that shows the page, and returns when it is over and all its requests are measured.
func Run(ctx context.Context, tab *browser.Tab, settings Settings) (Result, error) {
	var result Result
	err := tab.Eval(ctx, "(settings) => {\n"+driver+"\nreturn drive(window, settings) }", &result, settings)
	return result, err
}

// Idle returns when nothing is under way in the page, neither what it has started by itself nor the run on raw JSPI.
func Idle(ctx context.Context, tab *browser.Tab) error {
	return tab.Eval(ctx, "() => {\n"+driver+"\nreturn idle(window) }", nil)
}

// Begin starts a run, once the page is idle, and returns at once; End returns its result.
func Begin(ctx context.Context, tab *browser.Tab, settings Settings) error {
	begin := "\nawait idle(window); globalThis.begun = drive(window, settings) }"
	return tab.Eval(ctx, "async (settings) => {\n"+driver+begin, nil, settings)
}

// End waits until the run that Begin started is over and returns its result.
func End(ctx context.Context, tab *browser.Tab) (Result, error) {
	var result Result
	err := tab.Eval(ctx, "() => begun", &result)
	return result, err
}
