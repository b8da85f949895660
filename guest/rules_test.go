package guest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// The rules of several fibers and one event loop, where the fibers are calls of wasm.

// held is a server without sockets, in the bubble of a test: an answer comes when its gate is closed.
type held []chan struct{}

// open returns when the answer has come to the loop.
func (h held) open(i int) { close(h[i]); synctest.Wait() }

// pipes is a listener that the transport of the test connects to.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

// dial may be called after the listener is closed: a transport goes on dialing for a request that has been cancelled.
func (p pipes) dial(context.Context, string, string) (net.Conn, error) {
	ours, its := net.Pipe()
	select {
	case p.conns <- its:
		return ours, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.conns:
		return conn, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}
func (p pipes) Close() error   { close(p.closed); return nil }
func (p pipes) Addr() net.Addr { return &net.UnixAddr{} }

// bubble runs a test with a server that holds n answers. The answer to path(i) has the value 100+i; the answer to
// path(i)+"?fail" is an error.
func bubble(t *testing.T, n int, test func(t *testing.T, h held)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h := make(held, n)
		for i := range h {
			h[i] = make(chan struct{})
		}
		listener := pipes{make(chan net.Conn), make(chan struct{})}
		server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var i int
			fmt.Sscanf(r.URL.Path, "/%d", &i)
			select {
			case <-h[i]:
			case <-r.Context().Done():
			}
			if r.URL.RawQuery == "fail" {
				w.WriteHeader(http.StatusTeapot)
			}
			fmt.Fprintf(w, `{"id":%d,"value":%d}`, i, 100+i)
		})}
		go server.Serve(listener)
		standard := http.DefaultTransport.(*http.Transport) // what a loop's own is a copy of
		dial := standard.DialContext
		standard.DialContext = listener.dial
		defer func() {
			standard.DialContext = dial
			server.Close()
			synctest.Wait()
		}()
		test(t, h)
	})
}

func path(i int) string { return fmt.Sprintf("http://127.0.0.1/%d", i) }

// logged checks what the loop has done, from the first line of want on. Time stands still, so no turn was cut by its
// budget.
func logged(t *testing.T, g *Guest, want string) {
	t.Helper()
	got := strings.Join(g.Loop.Log(), ", ")
	if !strings.HasSuffix(got, want) {
		t.Errorf("log\n%s\nwant it to end with\n%s", got, want)
	}
}

func TestRules(t *testing.T) {
	t.Run("J-MUX-1 J-MUX-5 J-MUX-6 answers that come while a guest runs wait until it has given way, and are taken "+
		"in their order", func(t *testing.T) {
		bubble(t, 3, func(t *testing.T, h held) {
			g := load(t, watGuest, Options{
				Imports: Page(func(c *Call, code, _ int32) {
					if c.Name != "c" || code != 1 {
						return
					}
					h.open(1) // frames of wasm are on the stack, and of the host on top of them
					h.open(0)
				}),
				Ended: func(c *Call) {
					if c.Name == "a" {
						h.open(2)
					}
				},
			})
			g.Loop.StartLog()
			for i, name := range []string{"a", "b", "c"} {
				call(t, g, name, "item", path(i))
			}
			calls := g.Calls()
			g.Run()
			for i, c := range calls {
				c.want(t, fmt.Sprint(100+i))
			}
			logged(t, g,
				"resumed c, waited c, paused, notified b, notified a, entered, resumed b, finished b, resumed a, "+
					"finished a, paused, "+
					"notified c, entered, resumed c, finished c, completed")
		})
	})

	t.Run("J-MUX-5 nothing enters a fiber from a callback", func(t *testing.T) {
		bubble(t, 1, func(t *testing.T, h held) {
			close(h[0])
			var refused any
			var g *Guest
			g = load(t, watGuest, Options{Imports: Page(func(c *Call, _, _ int32) {
				if c.Name != "b" {
					return
				}
				defer func() { refused = recover() }()
				g.Run()
			})})
			a, b := call(t, g, "a", "item", path(0)), call(t, g, "b", "item", path(0))
			g.Run()
			if refused == nil {
				t.Error("the loop was entered while a fiber ran")
			}
			a.want(t, "100")
			b.want(t, "100")
		})
	})

	t.Run("J-MUX-2 J-MUX-3 J-MUX-4 all ask before the one pause, and each answer enters the loop once, which resumes "+
		"its fiber with the data", func(t *testing.T) {
		const n = 20
		bubble(t, n, func(t *testing.T, h held) {
			next := 0
			g := load(t, watGuest, Options{Ended: func(c *Call) {
				c.want(t, fmt.Sprint(100+next))
				if next++; next < n {
					h.open(next)
				}
			}})
			g.Loop.StartLog()
			want := []string{}
			all := func(lines ...string) {
				for i := range n {
					for _, line := range lines {
						want = append(want, fmt.Sprintf(line, i))
					}
				}
			}
			for i := range n {
				call(t, g, fmt.Sprint("f", i), "item", path(i))
			}
			go func() { synctest.Wait(); close(h[0]) }()
			g.Run()
			all("spawned f%d")
			want = append(want, "entered")
			all("resumed f%d", "waited f%d")
			for i := range n {
				want = append(want, "paused", fmt.Sprint("notified f", i), "entered", fmt.Sprint("resumed f", i),
					fmt.Sprint("finished f", i))
			}
			if got := g.Loop.Log(); !slices.Equal(got, append(want, "completed")) {
				t.Errorf("log\n%s\nwant\n%s", strings.Join(got, ", "), strings.Join(want, ", "))
			}
		})
	})

	t.Run("J-MUX-7 an answer for a fiber that no longer waits is dropped", func(t *testing.T) {
		bubble(t, 2, func(t *testing.T, h held) {
			ctx, cancel := context.WithCancelCause(t.Context())
			reason := errors.New("that is enough")
			g := loadWith(t, ctx, stacks, Options{Imports: Page(func(*Call, int32, int32) { t.Error("nobody logs") })})
			g.Loop.StartLog()
			a, b := call(t, g, "a", "clean_up", path(0)), call(t, g, "b", "clean_up", path(1))
			go func() {
				synctest.Wait()
				cancel(reason) // the requests end, too, and the loop is told of their ends as of answers
			}()
			g.Run()
			for _, c := range []*Call{a, b} {
				if c.State != Cancelled || c.Err != reason {
					t.Errorf("%s: %s, %v", c.Name, c.State, c.Err)
				}
				log := strings.Join(g.Loop.Log(), ",") + ","
				if n, m := strings.Count(log, "resumed "+c.Name+","), strings.Count(log, "finished "+
					""+c.Name+","); n != 2 || m != 1 {
					t.Errorf("%s was resumed %d times and finished %d times:\n%s", c.Name, n, m, log)
				}
			}
			if caught := g.module.ExportedGlobal("caught").Get(); caught != 2 {
				t.Errorf("the cleanup has run %d times, want 2", caught)
			}
		})
	})

	t.Run("J-MUX-8 a wait is answered by success, error or cancel", func(t *testing.T) {
		bubble(t, 2, func(t *testing.T, h held) {
			ctx, cancel := context.WithCancelCause(t.Context())
			reason := errors.New("that is enough")
			g := loadWith(t, ctx, watGuest, Options{})
			good, caught := call(t, g, "good", "item", path(0)), call(t, g, "caught", "item_or", path(0)+"?fail", "-5")
			out, cancelled := call(t, g, "out", "item", path(0)+"?fail"), call(t, g, "cancelled", "item", path(1))
			go func() {
				synctest.Wait()
				h.open(0)
				cancel(reason)
			}()
			g.Run()
			good.want(t, "100")
			caught.want(t, "-5")
			if out.State != Failed || !strings.Contains(out.Err.Error(), "418") {
				t.Errorf("out: %s, %v", out.State, out.Err)
			}
			if cancelled.State != Cancelled || cancelled.Err != reason {
				t.Errorf("cancelled: %s, %v", cancelled.State, cancelled.Err)
			}
		})
	})

	t.Run("J-MUX-10 the loop pauses once while nobody can run, and completes when nothing is outstanding",
		func(t *testing.T) {
			bubble(t, 1, func(t *testing.T, h held) {
				g := load(t, watGuest, Options{})
				g.Loop.StartLog()
				g.Run() // of nobody
				before := len(g.Loop.Log())
				a := call(t, g, "a", "item", path(0))
				go func() {
					time.Sleep(30 * time.Second) // of a clock that moves when all wait
					close(h[0])
				}()
				start := time.Now()
				g.Run()
				a.want(t, "100")
				if took := time.Since(start); took != 30*time.Second {
					t.Errorf("it took %v", took)
				}
				if got := strings.Join(g.Loop.Log()[before:], ", "); got !=
					"spawned a, entered, resumed a, waited a, paused, notified a, entered, resumed a, finished a, "+
						"completed" {
					t.Errorf("log %s", got)
				}
			})
		})

	t.Run("J-ID-1 a call keeps its identity in all its states and for every holder", func(t *testing.T) {
		bubble(t, 2, func(t *testing.T, h held) {
			seen := map[*Call]string{}
			g := load(t, watGuest, Options{
				Imports: Page(func(c *Call, _, _ int32) { seen[c] += fmt.Sprint(c.State, " ") }),
				Ended:   func(c *Call) { seen[c] += fmt.Sprint(c.State) },
			})
			a, b := call(t, g, "a", "item", path(0)), call(t, g, "b", "item", path(1))
			go func() { synctest.Wait(); h.open(1); close(h[0]) }()
			g.Run()
			if want := "running running done"; seen[a] != want || seen[b] != want || len(seen) != 2 {
				t.Errorf("%v", seen)
			}
		})
	})

	t.Run("J-COST-1 a thousand switches between a guest's own fibers are one step of the loop", func(t *testing.T) {
		g := load(t, generators, Options{})
		g.Run() // _initialize
		g.Loop.StartLog()
		sum := call(t, g, "sum", "sum", "1000")
		g.Run()
		sum.want(t, "500500")
		logged(t, g, "spawned sum, entered, resumed sum, finished sum, completed")
	})
}
