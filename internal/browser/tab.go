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

// Tab is one page in a tab of its own, in a profile of its own: it shares no cache, no storage and no process with
// other tabs. A process that other tests have used would already have spent some of what Chromium does not give back.
// One goroutine at a time may use a Tab.
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

// ErrCrashed is why a function of a [Tab] fails when the process of its page has ended; the errors wrap it.
var ErrCrashed = errors.New("the tab crashed")

// Open opens url in a new tab and returns when the page has loaded, its module scripts included, except for what they
// await at top level. Close closes it. The end of ctx ends the opening only.
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
		// The debugger would tell of every request from now on, by several messages that nobody here reads. They cost
		// more than what fiberfill adds to a fetch, and that is measured in these tabs.
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

// Eval calls function, the text of a JavaScript function, async or not, in the page with args as JSON, awaits what it
// returns and decodes that from JSON into result. With a nil result the value is dropped. The error has the text and
// the stack of what the function threw, and the console's messages so far.
func (t *Tab) Eval(ctx context.Context, function string, result any, args ...any) error {
	call := strings.Builder{}
	for i, arg := range args {
		text, err := json.Marshal(arg)
		if err != nil {
			return fmt.Errorf("browser: argument %d: %w", i, err)
		}
		fmt.Fprintf(&call, "%s,", text)
	}
	// The page makes the JSON, and not the debugger: a value that JSON cannot hold is an error here, and not quietly
	// something else.
	expression := fmt.Sprintf("(async (...args) => JSON.stringify(await "+
		"(\n%s\n)(...args)))(%s)", function, call.String())
	var text string
	err := t.do(ctx, chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		yes, no := true, false
		r, err := cdp.Call(ctx, target, runtime.Evaluate, runtime.EvaluateParams{
			Expression:    expression,
			AwaitPromise:  &yes,
			ReturnByValue: &yes,
			UserGesture:   &yes, // a page may open others only for a person
			// By default the page's content security policy is lifted while we evaluate, and a test of that policy
			// would show nothing.
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

// settle declares a function that returns when the page has told of all that had escaped before.
//
//go:embed settle.js
var settle string

// Uncaught returns the uncaught errors and unhandled rejections of the page so far and forgets them. It lets the page
// finish telling of them first.
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

// Messages returns what the page and the browser wrote to the console so far, uncaught errors included, each line with
// its kind in front: "log: hello".
func (t *Tab) Messages() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]string(nil), t.messages...)
}

// Screen makes the page believe in a screen of that size, in CSS pixels, and in a user who likes it dark or light.
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

// Screenshot returns what the tab shows now, as PNG.
func (t *Tab) Screenshot(ctx context.Context) (png []byte, err error) {
	err = t.do(ctx, chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		png, err = chromedp.CaptureScreenshot()(ctx, target)
		return err
	}))
	return png, err
}

// do runs actions in the tab until they are done, ctx is, or the tab crashes.
func (t *Tab) do(ctx context.Context, actions ...chromedp.Action[chromedp.Void]) error {
	both, cancel := context.WithCancelCause(t.ctx)
	defer cancel(nil)
	defer context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })()
	err := chromedp.Do(both, actions...)
	if err != nil && both.Err() != nil {
		return context.Cause(both) // says more than "context canceled"
	}
	return err
}

// note keeps what an event tells. It runs in the loop that reads the browser's messages, so an event that came before
// the answer to a command is noted when the command returns.
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
	case *log.EventEntryAdded: // the browser's own: a refused script, a request that failed
		t.messages = append(t.messages, fmt.Sprintf("%s: %s %s", e.Entry.Level, e.Entry.Text, e.Entry.URL))
	case *runtime.EventExceptionThrown:
		text := describe(e.ExceptionDetails)
		t.uncaught = append(t.uncaught, exception{e.ExceptionDetails.ExceptionID, text})
		t.messages = append(t.messages, "uncaught: "+text)
	case *runtime.EventExceptionRevoked: // a rejection that found a handler after all
		for i, thrown := range t.uncaught {
			if thrown.id == e.ExceptionID {
				t.uncaught = append(t.uncaught[:i], t.uncaught[i+1:]...)
				break
			}
		}
	}
}

// said returns the console's messages as the tail of an error.
func (t *Tab) said() string {
	messages := t.Messages()
	if len(messages) == 0 {
		return ""
	}
	return "\nconsole:\n\t" + strings.Join(messages, "\n\t")
}

// describe returns the text of an exception: for an Error its stack, for anything else the value.
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
