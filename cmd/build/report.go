package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"text/tabwriter"
	"time"

	"github.com/fiberfill/fiberfill/internal/browser"
	"github.com/fiberfill/fiberfill/internal/demopage"
)

// reportScreenshot shows the run of the first guest, with its timeline.
const reportScreenshot = "web/dist/demo.png"

// reportPatience only ends a report that hangs: the whole report takes less than a minute.
const reportPatience = 5 * time.Minute

func reportCommand(*flag.FlagSet) func() error {
	return func() error {
		if err := install("browsers"); err != nil {
			return err
		}
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
		defer stop()
		ctx, cancel := context.WithTimeout(ctx, reportPatience)
		defer cancel()
		return report(ctx)
	}
}

// report runs 1,000 fetches with each guest through the page's controls, prints the table and writes the screenshot.
// Its error names the guests with wrong results.
func report(ctx context.Context) error {
	// Everything started here ends with this function.
	ctx, stop := context.WithCancel(ctx)
	server, err := serveDemo(ctx)
	if err != nil {
		stop()
		return err
	}
	defer func() { stop(); server.Wait() }()
	chromium, err := browser.Start(ctx)
	if err != nil {
		return err
	}
	defer chromium.Close()
	fmt.Printf("the demo is at %s, opened in headless Chromium\n\n", server.URL)

	// Remove an earlier run's screenshot.
	if err := os.RemoveAll(reportScreenshot); err != nil {
		return err
	}
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 3, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "guest\tfibers\tright results\ttotal ms\tsequential ms\t")
	var failures []error
	for i, guest := range []struct{ name, value string }{{"C", "c"}, {"WAT", "wat"}, {"Go", "go"}} {
		settings := demopage.Settings{Guest: guest.value, Fibers: 1000, Latency: 40}
		result, err := reportRun(ctx, chromium, server.URL, settings, i == 0)
		if err != nil {
			failures = append(failures, fmt.Errorf("guest %s: %w", guest.name, err))
			continue
		}
		n := result.Counters
		fmt.Fprintf(table, "%s\t%d\t%d\t%.0f\t%.0f\t\n", guest.name, settings.Fibers, n.Right, n.Total, n.Sequential)
		if n.Right != settings.Fibers {
			failures = append(failures, fmt.Errorf("guest %s: %d of %d results are right: %s", guest.name, n.Right,
				settings.Fibers, result.Status))
		}
	}
	table.Flush()
	if exists(reportScreenshot) {
		fmt.Printf("\nscreenshot: %s\n", reportScreenshot)
	}
	return errors.Join(failures...)
}

// reportRun runs the demo once, in a tab of its own.
func reportRun(ctx context.Context, chromium *browser.Browser, url string, settings demopage.Settings,
	screenshot bool) (demopage.Result, error) {
	tab, err := chromium.Open(ctx, url+"/")
	if err != nil {
		return demopage.Result{}, err
	}
	defer tab.Close()
	if err := tab.Screen(ctx, 1440, 1600, false); err != nil {
		return demopage.Result{}, err
	}
	result, err := demopage.Run(ctx, tab, settings)
	if err != nil {
		return result, err
	}
	if escaped, err := tab.Uncaught(ctx); err != nil || len(escaped) > 0 {
		return result, errors.Join(err, fmt.Errorf("escaped in the page: %q", escaped))
	}
	if !screenshot {
		return result, nil
	}
	png, err := tab.Screenshot(ctx)
	if err != nil {
		return result, err
	}
	return result, writeFile(filepath.FromSlash(reportScreenshot), png)
}
