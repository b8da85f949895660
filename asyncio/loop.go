//go:build !tinygo

package asyncio

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fiberfill/fiberfill/asyncio/internal/key"
	"github.com/fiberfill/fiberfill/polyfill"
)

// Loop runs fibers, one at a time, on the goroutine that calls [Loop.Run] or [Loop.Serve]. It drives one [Scheduler]
// and decides nothing itself.
//
// Make a Loop with [NewLoop]. Unless they say otherwise, its methods may be called from any goroutine and from inside
// fibers. Fibers of one loop never run concurrently, so they share memory without locks.
type Loop struct {
	scheduler Scheduler
	ctx       context.Context
	epoch     time.Time
	fibers    []*Fiber // by the Index of their reference
	running   *Fiber
	command   Command   // the scheduler's answer to the fiber that has just parked or ended
	requests  Semaphore // those in flight
	external  int       // parked fibers that an event outside the loop will wake
	suspect   bool      // a fiber has begun to wait, or ended, since breakDeadlock has looked
	stopping  bool      // the loop's goroutine is being torn down
	top       scope
	timer     *time.Timer
	workers   sync.WaitGroup // goroutines that work for fibers
	names     map[polyfill.Fiber]string
	watch     watch // for a fiber that blocks the loop
	transport transport

	posted atomic.Bool   // inbox is not empty; read without the lock
	wake   chan struct{} // capacity 1

	mu      sync.Mutex // guards what follows
	inbox   []message
	asleep  bool // the loop's goroutine is blocked and wants to be woken
	started bool // Run or Serve is under way
}

// message is an event from outside the loop's thread of control. The loop handles messages in the order in which they
// were posted.
type message struct {
	kind  messageKind
	fiber *Fiber
	wait  uint32 // of completeWait and expireWait: the number of the wait that is over
}

type messageKind uint8

const (
	spawnFiber messageKind = iota
	completeWait
	expireWait
	cancelFiber
	cancelAll
)

// NewLoop returns a loop without fibers. The contexts of its fibers descend from ctx: when ctx is done, all fibers of
// the loop are cancelled with its cause. A loop need not be closed. It can have 4 million fibers alive at once and 2^32
// in all; a fiber beyond that fails without starting.
func NewLoop(ctx context.Context) *Loop {
	l := &Loop{ctx: ctx, epoch: time.Now(), wake: make(chan struct{}, 1), requests: requestsOfLoop}
	// The scheduler's limits exist for engines, whose stacks are scarce. A coroutine is 3 KB of ordinary memory, so a
	// Loop bounds only requests.
	l.scheduler.Init(DefaultBudget, polyfill.MaxFibers, polyfill.MaxFibers)
	return l
}

// Run runs fn as the fiber "main" of a new loop. It returns fn's error when all fibers of the loop are over. A panic in
// fn is returned as a [*PanicError]. Run is short for NewLoop, [Loop.Go] and [Loop.Run].
func Run(ctx context.Context, fn func(f *Fiber) error) error {
	l := NewLoop(ctx)
	main := l.Go("main", fn)
	err := l.Run()
	if main.err != nil {
		return main.err
	}
	return err
}

// Go makes a fiber that will call fn, and returns it at once. fn starts when the loop runs, after all fibers made
// earlier. The name appears in errors and in the log; it need not be unique.
//
// The loop's fibers are independent of each other: if one fails, the others go on.
func (l *Loop) Go(name string, fn func(f *Fiber) error) *Fiber {
	f := l.newFiber(l.ctx, nil, name, fn)
	l.post(message{spawnFiber, f, 0})
	return f
}

// Do runs fn as a fiber, waits for its end and returns its error, unchanged. It is how other goroutines use fibers: an
// HTTP server's handlers, for instance, while [Loop.Serve] runs. If the loop does not run, Do waits for it.
//
// The fiber's context descends from ctx, with its values: when ctx is done the fiber is cancelled, as by
// [Fiber.Cancel], and Do returns once it is over. It is also cancelled when the loop's context is done. Do must not be
// called from a fiber, whose loop it would block: it panics for a context of a fiber. Use [Fiber.Go] there.
func (l *Loop) Do(ctx context.Context, name string, fn func(f *Fiber) error) error {
	if ctx.Value(key.Fiber{}) != nil {
		panic("asyncio: Loop.Do: the context is that of a fiber, whose loop would be blocked: use Fiber.Go, or " +
			"Block if it is another loop's")
	}
	f := l.newFiber(ctx, nil, name, fn)
	over := make(chan error, 1)
	f.done = func(err error) { over <- err }
	stop := context.AfterFunc(ctx, func() { f.Cancel(context.Cause(ctx)) })
	defer stop()
	l.post(message{spawnFiber, f, 0})
	select {
	case err := <-over:
		return err
	case <-ctx.Done():
	case <-l.ctx.Done():
	}
	if l.withdraw(f) {
		return f.ended(l.ctx)
	}
	return <-over
}

// runs reports whether the loop runs now.
func (l *Loop) runs() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.started
}

// withdraw takes back the fiber that nobody will start, because the loop does not run, and reports whether it did.
func (l *Loop) withdraw(f *Fiber) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := slices.IndexFunc(l.inbox, func(m message) bool { return m.kind == spawnFiber && m.fiber == f })
	if l.started || at < 0 {
		return false
	}
	l.inbox = slices.Delete(l.inbox, at, at+1)
	f.over = true
	return true
}

// Run runs the loop's fibers on the calling goroutine. It returns when all fibers, and all goroutines that worked for
// them, are over; without fibers, at once. It may be called again after it has returned.
//
// The error joins the errors of the loop's fibers that failed without any fiber waiting for them. A fiber that was
// cancelled and returns the cause, or its Err, has not failed. If the loop's context is done, its cause comes first.
//
// Run panics if the loop is running already. A fiber that calls [runtime.Goexit], as t.FailNow does, ends the goroutine
// that called Run, and with it all other fibers. Their deferred functions run. The loop can then run again, on another
// goroutine.
func (l *Loop) Run() error { return l.run(false) }

// Serve is like [Loop.Run], but when all fibers are over it waits for further ones. It returns the context's cause when
// the loop's context is done. It keeps a program alive whose functions are called from outside. A fiber may wait for a
// channel or a semaphore when no other fiber is there: one that comes later may use it, too.
//
// Failures that no fiber waits for are kept until Serve returns. In a long-running program wait for fibers that may
// fail, or let them return nil.
func (l *Loop) Serve() error { return l.run(true) }

func (l *Loop) run(serve bool) error {
	l.mu.Lock()
	if l.started {
		l.mu.Unlock()
		panic("asyncio: Loop.Run called while the loop is running")
	}
	l.started = true
	l.mu.Unlock()

	unwatch := context.AfterFunc(l.ctx, func() { l.post(message{kind: cancelAll}) })
	defer unwatch()
	finished := false
	defer func() {
		l.watch.end()
		if !finished { // a fiber called Goexit
			l.abandon()
		}
		l.workers.Wait()
		l.transport.close()
		if !finished {
			l.renew()
		}
	}()

	command := Idle
	for {
		if l.posted.Load() {
			l.drain()
		}
		switch command {
		case Idle:
			now := l.now()
			at, timed := l.scheduler.Deadline()
			switch {
			case l.scheduler.Wanted(), timed && at <= now && l.scheduler.Machine.Live() > 0:
				command = l.scheduler.Turn(now)
			case l.scheduler.Machine.Live() == 0 && (!serve || l.ctx.Err() != nil):
				if l.end() {
					finished = true
					return l.result()
				}
			case !timed && l.external == 0 && l.scheduler.Machine.Live() > 0 && l.suspect:
				l.breakDeadlock(serve)
			default:
				l.block(at, timed && l.scheduler.Machine.Live() > 0)
			}
		case TurnOver:
			l.breathe()
			command = l.scheduler.Turn(l.now())
		default:
			f := l.fibers[command.Fiber().Index()]
			l.running = f
			l.watch.begin(l)
			f.resume()
			l.running = nil
			command = l.command
		}
	}
}

// end leaves the running state, unless a message has just come in, and reports whether it did.
func (l *Loop) end() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.inbox) > 0 {
		return false
	}
	l.started = false
	return true
}

func (l *Loop) result() error {
	err := errors.Join(l.top.takeFailures()...)
	if l.ctx.Err() != nil {
		return errors.Join(context.Cause(l.ctx), err)
	}
	return err
}

// now is the scheduler's clock.
func (l *Loop) now() float64 { return milliseconds(time.Since(l.epoch)) }

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// post hands a message to the loop and wakes it if it is blocked.
func (l *Loop) post(m message) {
	if l.put(m) {
		l.wake <- struct{}{}
	}
}

// put hands a message to the loop. If it returns true the loop is blocked, and the caller must send on wake, now or
// later.
func (l *Loop) put(m message) (wake bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.inbox = append(l.inbox, m)
	l.posted.Store(true)
	wake = l.asleep
	l.asleep = false
	return wake
}

// block blocks the goroutine until a message arrives or, if timed, until the clock shows at.
func (l *Loop) block(at float64, timed bool) {
	l.mu.Lock()
	if len(l.inbox) > 0 {
		l.mu.Unlock()
		return
	}
	l.asleep = true
	l.mu.Unlock()
	if !timed {
		<-l.wake
		return
	}
	// At least 1 ns: the clock of a testing/synctest bubble advances only while a goroutine waits.
	d := max(1, time.Duration(math.Round(at*float64(time.Millisecond)))-time.Since(l.epoch))
	if l.timer == nil {
		l.timer = time.NewTimer(d)
	} else {
		l.timer.Reset(d)
	}
	select {
	case <-l.wake:
		l.timer.Stop()
	case <-l.timer.C:
		l.mu.Lock()
		posted := !l.asleep
		l.asleep = false
		l.mu.Unlock()
		if posted {
			<-l.wake // the signal is on its way; left behind, it would wake a later block
		}
	}
}

// drain handles all messages. It runs only between two fibers: a completion must not overtake the wait that it
// completes.
func (l *Loop) drain() {
	l.mu.Lock()
	messages := l.inbox
	l.inbox = nil
	l.posted.Store(false)
	l.mu.Unlock()
	for _, m := range messages {
		switch m.kind {
		case spawnFiber:
			l.spawn(m.fiber)
		case completeWait:
			// The wait of a cancelled fiber ends when its turn comes, see scope.end. The completion of its aborted I/O
			// must not jump the queue.
			if m.fiber.ctx.Err() == nil {
				l.scheduler.Notify(m.fiber.ref, m.wait)
			}
		case expireWait:
			if f := m.fiber; f.ctx.Err() == nil {
				f.expired = l.scheduler.Notify(f.ref, m.wait) || f.expired
			}
		case cancelFiber:
			m.fiber.interrupt()
		case cancelAll:
			for f := range l.top.all() {
				f.follow()
				f.interrupt()
			}
		}
	}
}

// spawn makes f known to the scheduler.
func (l *Loop) spawn(f *Fiber) {
	if f.parent == nil {
		l.top.add(f)
	}
	f.ref = l.scheduler.Spawn()
	if f.ref == 0 {
		f.finish(errTooMany)
		return
	}
	for f.ref.Index() >= len(l.fibers) {
		l.fibers = append(l.fibers, nil)
	}
	l.fibers[f.ref.Index()] = f
	if l.names != nil {
		l.names[f.ref] = f.name
	}
	if f.parent == nil && l.ctx.Err() != nil {
		f.follow()
	}
	if f.ctx.Err() != nil {
		f.interrupt()
	}
}

// follow cancels f with the cause of the loop's context. A context notifies its listeners in any order, so the loop may
// hear of the end before the fibers' contexts do.
func (f *Fiber) follow() { f.cancel(context.Cause(f.loop.ctx)) }

// abandon ends all fibers after one of them has called Goexit.
func (l *Loop) abandon() {
	l.stopping = true
	for f := range l.top.all() {
		f.cancel(errStopped) // so that a fiber that recovers from every panic sees that it is over
	}
	for _, f := range l.fibers {
		switch {
		case f == nil:
		case f.stop != nil:
			f.stop()
		default:
			f.finish(errStopped)
		}
	}
}

// renew leaves the loop as it was when it was made, after abandon: so that it can run again, and so that Do does not
// wait for a Run that has ended. Fibers that were posted meanwhile wait for the next Run.
func (l *Loop) renew() {
	l.scheduler = Scheduler{}
	l.scheduler.Init(DefaultBudget, polyfill.MaxFibers, polyfill.MaxFibers)
	l.fibers, l.running, l.external, l.stopping = nil, nil, 0, false
	l.top, l.requests = scope{}, requestsOfLoop
	if l.names != nil {
		l.StartLog()
	}
	// A Do whose context ended while the loop ran left its fiber to the loop, and waits.
	var left []*Fiber
	l.mu.Lock()
	l.started = false
	l.inbox = slices.DeleteFunc(l.inbox, func(m message) bool {
		over := m.kind == spawnFiber && m.fiber.done != nil && (m.fiber.ctx.Err() != nil || l.ctx.Err() != nil)
		if over {
			left = append(left, m.fiber)
		}
		return over
	})
	l.mu.Unlock()
	for _, f := range left {
		f.over = true
		f.done(f.ended(l.ctx))
	}
}

// StartLog empties the loop's log and starts recording every event of the scheduler. Each event costs memory; the log
// is meant for tests and debugging. Call StartLog before Run or from a fiber.
func (l *Loop) StartLog() {
	l.scheduler.StartLog()
	l.names = make(map[polyfill.Fiber]string)
	for _, f := range l.fibers {
		if f != nil {
			l.names[f.ref] = f.name
		}
	}
}

// Log returns the events recorded since [Loop.StartLog], one line each: the word of [Event.String] and the fiber's
// name, such as "resumed f1". Call it from a fiber or while the loop does not run. A program for JavaScript has one
// thread and may call it at any time.
func (l *Loop) Log() []string {
	lines := make([]string, 0, len(l.scheduler.Log()))
	for _, r := range l.scheduler.Log() {
		line := r.Event.String()
		if r.Fiber != 0 {
			line += " " + l.names[r.Fiber]
		}
		lines = append(lines, line)
	}
	return lines
}
