// Package browser finds and drives the real browsers that fiberfill is tested in.
//
// Chromium is driven over its debugging protocol: [Start] one for a whole test run, [Browser.Open] a fresh [Tab] for
// each test, and have the tab evaluate functions. Uncaught errors and unhandled rejections of the page are kept until
// [Tab.Uncaught] returns them, so that a test can fail.
//
// [Firefox] and [WebKit] open one page in a fresh browser and wait until the page has sent its result to a server of
// the caller. No debugger is attached, so the page behaves as it does for a user.
//
// They are Debian's packages chromium, firefox-esr and webkit2gtk-driver. The variables CHROMIUM, FIREFOX and
// WEBKITWEBDRIVER name other executables.
package browser

import (
	"context"
	"fmt"
	"os"
	"os/exec"

	"github.com/chromedp/chromedp"
)

// Browser is one running Chromium. Its methods may be called from any goroutine.
type Browser struct {
	ctx  context.Context
	stop func()
}

// Start starts a headless Chromium with an empty profile, which is removed at its end. Close ends the browser; so does
// the end of ctx and, on Linux, any end of this process. If there is no Chromium, the error says what to install.
func Start(ctx context.Context) (*Browser, error) {
	path, err := find("CHROMIUM", "chromium", "chromium", "chromium-browser", "google-chrome")
	if err != nil {
		return nil, err
	}
	ctx, stopAllocator := chromedp.NewExecAllocator(ctx, append(flags(), chromedp.ExecPath(path))...)
	ctx, stopBrowser := chromedp.NewContext(ctx)
	b := &Browser{ctx: ctx, stop: func() { stopBrowser(); stopAllocator() }}
	if err := chromedp.Do(ctx); err != nil { // the first action starts the browser
		b.stop()
		return nil, fmt.Errorf("browser: start %s: %w", path, err)
	}
	return b, nil
}

// Close ends the browser with all its tabs, and returns when it has exited. It may be called more than once.
func (b *Browser) Close() { b.stop() }

// flags returns Chromium's command-line flags. The debugging protocol goes over a pipe, so no port is open.
func flags() []chromedp.ExecAllocatorOption {
	on := func(name string) chromedp.ExecAllocatorOption { return chromedp.Flag(name, true) }
	options := []chromedp.ExecAllocatorOption{
		// the usual browser without a window; the old headless mode was a different browser
		chromedp.Flag("headless", "new"),
		on("no-first-run"),
		on("no-default-browser-check"),

		// Requests to the maker's servers are slow where there is no network, and make results depend on the responses.
		on("disable-background-networking"),
		on("disable-component-update"),
		on("disable-sync"),
		on("disable-quic"),

		// Tabs run side by side, none in front; all must run at full speed.
		on("disable-background-timer-throttling"),
		on("disable-backgrounding-occluded-windows"),
		on("disable-renderer-backgrounding"),

		// Containers often have a tiny /dev/shm; tabs crash when it is full.
		on("disable-dev-shm-usage"),

		// The desktop's keyring would ask for a password.
		chromedp.Flag("password-store", "basic"),

		chromedp.WindowSize(1280, 800),
	}
	// Chromium refuses to run its sandbox as root. Continuous integration is often root, in a container, and opens only
	// our own pages. Everyone else keeps the sandbox; the false must be explicit, because chromedp turns the sandbox
	// off by default.
	return append(options, chromedp.Flag("no-sandbox", os.Getuid() == 0))
}

// find returns the executable that the environment variable names, or else the first of names on the PATH. Debian's
// package has it.
func find(variable, debian string, names ...string) (string, error) {
	if path := os.Getenv(variable); path != "" {
		if _, err := exec.LookPath(path); err != nil {
			return "", fmt.Errorf("browser: %s=%s: %w", variable, path, err)
		}
		return path, nil
	}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("browser: found none of %q on the PATH: install Debian's package %s, or let the variable "+
		"%s name an executable",
		names, debian, variable)
}
