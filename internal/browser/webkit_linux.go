package browser

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// WebKit opens url in a fresh WebKitGTK with an empty profile, and returns what result returns, as [Firefox] does. The
// context of result ends also when the page's process crashes. When the function WebKit returns, everything that it has
// started has exited, and the profile is removed.
//
// WebKitGTK cannot run without a display, so each has one of its own, Xvfb. Its sandbox is off, as it always is in the
// browser that WebKitWebDriver starts.
func WebKit(ctx context.Context, url string, result func(context.Context) ([]byte, error)) ([]byte, error) {
	path, err := find("WEBKITWEBDRIVER", "webkit2gtk-driver", "WebKitWebDriver")
	if err != nil {
		return nil, err
	}
	home, err := os.MkdirTemp("", "fiberfill-webkit-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(home)
	ctx, display, stopDisplay, err := xvfb(ctx)
	if err != nil {
		return nil, err
	}
	defer stopDisplay()

	var program *exec.Cmd
	ctx, stopDriver, err := start(ctx, func(c *exec.Cmd) {
		program = c
		c.Env = append(os.Environ(),
			"HOME="+home, "XDG_CACHE_HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_DATA_HOME="+home,
			"DISPLAY="+display, "GDK_BACKEND=x11",
			"GST_REGISTRY_DISABLE=yes", "GST_PLUGIN_SYSTEM_PATH=") // no search for plugins of audio and video
	}, path, "--host=127.0.0.1", "--port=0")
	if err != nil {
		return nil, err
	}
	defer stopDriver()
	port, err := listening(ctx, program.Process.Pid)
	if err != nil {
		return nil, err
	}

	driver := webDriver(fmt.Sprintf("http://127.0.0.1:%d/session", port))
	var session struct{ SessionID string }
	if err := driver.do(ctx, "POST", "", map[string]any{"capabilities": map[string]any{}}, &session); err != nil {
		return nil, err
	}
	page := "/" + session.SessionID + "/url"
	if err := driver.do(ctx, "POST", page, map[string]any{"url": url}, nil); err != nil {
		return nil, err
	}
	ctx, crashed := context.WithCancelCause(ctx)
	defer crashed(errDone)
	go func() {
		for every := time.Tick(200 * time.Millisecond); ; {
			select {
			case <-every:
			case <-ctx.Done():
				return
			}
			if err := driver.do(ctx, "GET", page, nil, nil); err != nil {
				crashed(fmt.Errorf("browser: WebKit: %w: %w", ErrCrashed, err))
			}
		}
	}()
	return result(ctx)
}

// xvfb starts an X server and returns its display. The context and stop are as those of start.
func xvfb(ctx context.Context) (alive context.Context, display string, stop func(), err error) {
	path, err := find("XVFB", "xvfb", "Xvfb")
	if err != nil {
		return nil, "", nil, err
	}
	number, write, err := os.Pipe() // the server writes the number of its display when it is ready
	if err != nil {
		return nil, "", nil, err
	}
	defer number.Close()
	alive, stop, err = start(ctx, func(c *exec.Cmd) {
		c.ExtraFiles = []*os.File{write}
		c.Cancel = func() error { return c.Process.Signal(os.Interrupt) } // lets it remove its socket
	}, path, "-displayfd", "3", "-screen", "0", "1280x800x24", "-nolisten", "tcp")
	write.Close()
	if err != nil {
		return nil, "", nil, err
	}
	line, err := io.ReadAll(number)
	if err == nil && len(line) == 0 { // it ends without a display
		<-alive.Done()
		err = context.Cause(alive)
	}
	if err != nil {
		stop()
		return nil, "", nil, err
	}
	return alive, ":" + strings.TrimSpace(string(line)), stop, nil
}

// listening returns the port of 127.0.0.1 at which a process listens, once it does.
func listening(ctx context.Context, pid int) (port int, err error) {
	for every := time.Tick(10 * time.Millisecond); ; {
		select {
		case <-every:
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
		open, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
		if err != nil {
			return 0, err
		}
		sockets := map[string]bool{}
		for _, file := range open {
			if name, err := os.Readlink(file); err == nil { // it may be closed meanwhile
				sockets[name] = true
			}
		}
		table, err := os.ReadFile("/proc/net/tcp")
		if err != nil {
			return 0, err
		}
		const listens = "0A"
		for line := range strings.Lines(string(table)) {
			fields := strings.Fields(line) // number, address, remote address, state, ..., inode at 9
			if len(fields) > 9 && fields[3] == listens && sockets["socket:["+fields[9]+"]"] {
				_, hex, _ := strings.Cut(fields[1], ":")
				port, err := strconv.ParseUint(hex, 16, 16)
				return int(port), err
			}
		}
	}
}

// webDriver is the address of a WebDriver (https://www.w3.org/TR/webdriver2), up to its sessions.
type webDriver string

// do sends a command, and decodes its value into value if there is one.
func (d webDriver) do(ctx context.Context, method, path string, body, value any) error {
	failed := func(err error) error { return fmt.Errorf("browser: WebKit: %s %s: %w", method, path, err) }
	var text bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&text).Encode(body); err != nil {
			return failed(err)
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, string(d)+path, &text)
	if err != nil {
		return failed(err)
	}
	request.Close = true
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx) // more specific than "context canceled"
		}
		return failed(err)
	}
	defer response.Body.Close()
	var answer struct{ Value json.RawMessage }
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return failed(err)
	}
	if response.StatusCode != http.StatusOK {
		return failed(fmt.Errorf("%s", answer.Value))
	}
	if value == nil {
		return nil
	}
	return json.Unmarshal(answer.Value, value)
}
