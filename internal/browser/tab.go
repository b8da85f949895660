package browser

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/inspector"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// Tab is one page in a tab and a profile of its own. It shares no cache, storage or process with other tabs: a process
// used by earlier tests would already have spent some resources that Chromium does not give back. A Tab must not be
// used concurrently.
type Tab struct {
	ctx  context.Context
	stop func()

	mu       sync.Mutex
	uncaught []exception
	messages []string
}

type exception struct {
	id   int64
	text string
}

// ErrCrashed is wrapped by the errors of a [Tab], and of [WebKit], when the page's process has ended.
var ErrCrashed = errors.New("the tab crashed")

// Open opens url in a new tab. It returns when the page has loaded, including its module scripts but not their
// top-level awaits. Call Close to close the tab. The end of ctx ends only the opening.
func (b *Browser) Open(ctx context.Context, url string) (*Tab, error) {
	tabCtx, stop := chromedp.NewContext(b.ctx, chromedp.WithNewBrowserContext())
	tabCtx, crash := context.WithCancelCause(tabCtx)
	t := &Tab{ctx: tabCtx, stop: stop}
	err := chromedp.Listen(tabCtx, func(event any) {
		if _, ok := event.(*inspector.EventTargetCrashed); ok {
			crash(ErrCrashed)
		}
		t.note(event)
	})
	if err == nil {
		// Without this the debugger would send several messages for every request. They cost more than fiberfill adds
		// to a fetch, which is measured in these tabs.
		noNetwork := chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
			_, err := cdp.Call(ctx, target, network.Disable, cdp.Empty{})
			return err
		})
		err = t.do(ctx, chromedp.Navigate(url), noNetwork)
	}
	if err != nil {
		stop()
		return nil, fmt.Errorf("browser: open %s: %w%s", url, err, t.said())
	}
	return t, nil
}

// Close closes the tab. It may be called more than once.
func (t *Tab) Close() { t.stop() }

// Eval calls a JavaScript function, given as text, in the page with args as JSON. It awaits the function's result and
// decodes it from JSON into result; a nil result drops the value. The error has the text and the stack of the thrown
// value, and the console's messages so far.
func (t *Tab) Eval(ctx context.Context, function string, result any, args ...any) error {
	call := strings.Builder{}
	for i, arg := range args {
		text, err := json.Marshal(arg)
		if err != nil {
			return fmt.Errorf("browser: argument %d: %w", i, err)
		}
		fmt.Fprintf(&call, "%s,", text)
	}
	// The page makes the JSON, not the debugger, so that a value that JSON cannot hold is an error instead of quietly
	// changing.
	expression := fmt.Sprintf("(async (...args) => JSON.stringify(await "+
		"(\n%s\n)(...args)))(%s)", function, call.String())
	var text string
	err := t.do(ctx, chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		yes, no := true, false
		r, err := cdp.Call(ctx, target, runtime.Evaluate, runtime.EvaluateParams{
			Expression:    expression,
			AwaitPromise:  &yes,
			ReturnByValue: &yes,
			UserGesture:   &yes, // a page may open others only on a user's gesture
			// By default the debugger lifts the page's content security policy for an evaluation, and a test of that
			// policy would show nothing.
			AllowUnsafeEvalBlockedByCSP: &no,
		})
		if err != nil {
			return err
		}
		if r.ExceptionDetails != nil {
			return errors.New(describe(r.ExceptionDetails))
		}
		if r.Result.Type == runtime.RemoteObjectTypeUndefined {
			text = "null" // JSON.stringify(undefined) is undefined
			return nil
		}
		return json.Unmarshal(r.Result.Value, &text)
	}))
	if err != nil {
		return fmt.Errorf("browser: eval %s: %w%s", function, err, t.said())
	}
	if result == nil {
		return nil
	}
	if err := json.Unmarshal([]byte(text), result); err != nil {
		return fmt.Errorf("browser: eval %s returned %s: %w", function, text, err)
	}
	return nil
}

// settle declares a function that returns when the page has reported every error that had escaped before.
//
//go:embed settle.js
var settle string

// Uncaught returns the uncaught errors and unhandled rejections of the page so far, each only once. It first waits
// until the page has reported them all.
func (t *Tab) Uncaught(ctx context.Context) ([]string, error) {
	if err := t.Eval(ctx, "() => {\n"+settle+"\nreturn settle() }", nil); err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	var texts []string
	for _, e := range t.uncaught {
		texts = append(texts, e.text)
	}
	t.uncaught = nil
	return texts, nil
}

// Messages returns the console's messages so far, from the page and the browser, uncaught errors included. Each line
// begins with its kind: "log: hello".
func (t *Tab) Messages() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]string(nil), t.messages...)
}

// Screen emulates a screen of the given size, in CSS pixels, and a user's preference for dark or light.
func (t *Tab) Screen(ctx context.Context, width, height int, dark bool) error {
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	return t.do(ctx, chromedp.EmulateViewport(int64(width), int64(height)),
		chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
			_, err := cdp.Call(ctx, target, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
				Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
			})
			return err
		}))
}

// Screenshot returns a PNG of what the tab shows now.
func (t *Tab) Screenshot(ctx context.Context) (png []byte, err error) {
	err = t.do(ctx, chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		png, err = chromedp.CaptureScreenshot()(ctx, target)
		return err
	}))
	return png, err
}

// do runs actions in the tab. It ends when they are done, ctx is done, or the tab crashes.
func (t *Tab) do(ctx context.Context, actions ...chromedp.Action[chromedp.Void]) error {
	both, cancel := context.WithCancelCause(t.ctx)
	defer cancel(nil)
	defer context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })()
	err := chromedp.Do(both, actions...)
	if err != nil && both.Err() != nil {
		return context.Cause(both) // more specific than "context canceled"
	}
	return err
}

// note records an event. It runs in the loop that reads the browser's messages, so an event that came before the
// response to a command is recorded when the command returns.
func (t *Tab) note(event any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		var words []string
		for _, arg := range e.Args {
			words = append(words, show(arg))
		}
		t.messages = append(t.messages, fmt.Sprintf("%s: %s", e.Type, strings.Join(words, " ")))
	case *log.EventEntryAdded: // from the browser: a refused script, a failed request
		t.messages = append(t.messages, fmt.Sprintf("%s: %s %s", e.Entry.Level, e.Entry.Text, e.Entry.URL))
	case *runtime.EventExceptionThrown:
		text := describe(e.ExceptionDetails)
		t.uncaught = append(t.uncaught, exception{e.ExceptionDetails.ExceptionID, text})
		t.messages = append(t.messages, "uncaught: "+text)
	case *runtime.EventExceptionRevoked: // a rejection that was handled later
		for i, thrown := range t.uncaught {
			if thrown.id == e.ExceptionID {
				t.uncaught = append(t.uncaught[:i], t.uncaught[i+1:]...)
				break
			}
		}
	}
}

// said returns the console's messages, for the end of an error message.
func (t *Tab) said() string {
	messages := t.Messages()
	if len(messages) == 0 {
		return ""
	}
	return "\nconsole:\n\t" + strings.Join(messages, "\n\t")
}

// describe returns an exception as text: the stack of an Error, any other value itself.
func describe(e *runtime.ExceptionDetails) string {
	if e.Exception == nil {
		return fmt.Sprintf("%s (%s:%d:%d)", e.Text, e.URL, e.LineNumber+1, e.ColumnNumber+1)
	}
	return fmt.Sprintf("%s %s", e.Text, show(e.Exception))
}

func show(o *runtime.RemoteObject) string {
	switch {
	case o.Type == runtime.RemoteObjectTypeString:
		var text string
		if json.Unmarshal(o.Value, &text) == nil {
			return text
		}
	case o.Description != "":
		return o.Description
	case len(o.Value) > 0:
		return string(o.Value)
	}
	return string(o.Type)
}
